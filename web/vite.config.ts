/** One file of code for the page, one for the notebook, and one for a map alone, each complete; see package.json. */

import { defineConfig } from "vite";

const OUT = "../src/unmask/app/static";
const entries: Record<string, { from: string; to: string; out: string }> = {
  production: { from: "src/page.ts", to: "app", out: OUT },
  widget: { from: "src/widget.ts", to: "widget", out: OUT },
  explore: { from: "src/explore/page.ts", to: "explore", out: "../src/unmask/plotting/static" },
  bench: { from: "fixed/bench.ts", to: "app", out: "build/bench" },
  fixed: { from: "fixed/page.ts", to: "app", out: "build/fixed" },
};

export default defineConfig(({ mode }) => {
  const { from, to, out } = entries[mode];
  return {
    base: "./",
    publicDir: mode === "widget" || mode === "explore" ? false : "public",
    build: {
      outDir: out,
      emptyOutDir: mode !== "widget",
      target: "es2022",
      modulePreload: false,
      assetsInlineLimit: 0,
      cssCodeSplit: mode !== "explore", // of a plain script it would become a part
      chunkSizeWarningLimit: 200,
      rollupOptions: {
        input: { [to]: from },
        preserveEntrySignatures: "strict",
        // Inside a page a script is a plain one, and keeps its names to itself.
        output: { entryFileNames: `${to}.js`, assetFileNames: mode === "explore" ? "explore[extname]" : "app[extname]", codeSplitting: false, format: mode === "explore" ? "iife" : "es" },
      },
    },
  };
});
