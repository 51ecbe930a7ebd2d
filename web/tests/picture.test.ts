import assert from "node:assert/strict";
import { test } from "node:test";
import { svgOfKeys, widthOf } from "../src/map/picture.ts";

const rows = (n: number) =>
  Array.from({ length: n }, (_, k) => ({ shape: k % 8, colour: "#0061a6", text: `level ${k}` }));
const count = (text: string, what: string) => text.split(what).length - 1;

test("a picture without colours needs no room for their meaning", () => {
  assert.equal(widthOf([]), 0);
  assert.equal(svgOfKeys([], 100, 400, "#000"), "");
});

test("levels have their signs and names, and text stays text", () => {
  const key = { name: "<b>", rows: [{ shape: 0, colour: null, text: `"a" & b` }] };
  const drawn = svgOfKeys([key], 100, 400, "#123456");
  assert.match(drawn, /&#60;b&#62;/);
  assert.match(drawn, /&#34;a&#34; &#38; b/);
  assert.match(drawn, /fill="#123456"/);
});

test("of more levels than there is room for, the number of those left out is said", () => {
  const drawn = svgOfKeys([{ name: "kind", rows: rows(64) }], 100, 400, "#000");
  const shown = count(drawn, "<path");
  assert.match(drawn, new RegExp(`and ${64 - shown} more`));
  const lowest = Math.max(...[...drawn.matchAll(/ y="([\d.]+)"/g)].map(([, y]) => Number(y)));
  assert.ok(shown > 10 && lowest < 400);
  assert.equal(count(svgOfKeys([{ name: "kind", rows: rows(5) }], 100, 400, "#000"), "more"), 0);
});

test("numbers have their range, and long names are cut", () => {
  const drawn = svgOfKeys(
    [{ name: "n".repeat(300), ramp: { colours: ["#000", "#fff"], low: "-1.5", high: "20" } }],
    100,
    400,
    "#000",
  );
  assert.equal(count(drawn, "<stop"), 2);
  assert.match(drawn, />-1.5<.*>20</);
  assert.match(drawn, /n…</);
  assert.equal(widthOf([{ name: "n".repeat(300) }]), 260);
});
