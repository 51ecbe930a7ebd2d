/** One file of code for the page and one for the notebook, each complete, with the same style; see package.json. */

import { defineConfig } from "vite";

const OUT = "../src/unmask/app/static";
const entries: Record<string, { from: string; to: string; out: string }> = {
  production: { from: "src/page.ts", to: "app", out: OUT },
  widget: { from: "src/widget.ts", to: "widget", out: OUT },
  bench: { from: "fixed/bench.ts", to: "app", out: "build/bench" },
  fixed: { from: "fixed/page.ts", to: "app", out: "build/fixed" },
};

export default defineConfig(({ mode }) => {
  const { from, to, out } = entries[mode];
  return {
    base: "./",
    publicDir: mode === "widget" ? false : "public",
    build: {
      outDir: out,
      emptyOutDir: mode !== "widget",
      target: "es2022",
      modulePreload: false,
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 200,
      rollupOptions: {
        input: { [to]: from },
        preserveEntrySignatures: "strict",
        output: { entryFileNames: `${to}.js`, assetFileNames: "app[extname]", codeSplitting: false },
      },
    },
  };
});
