import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PAPERS } from "../src/map/looks.ts";
import { type Stored, along, colourOf, objectColours, objectShapes, shapeOf, unpack } from "../src/explore/stored.ts";

const base64 = (bytes: number[]) => btoa(String.fromCharCode(...bytes));
const shorts = (numbers: number[]) => base64(numbers.flatMap((number) => [number & 255, number >> 8]));
const stored: Stored = {
  title: "",
  axes: ["", "width"],
  places: shorts([0, 0, 65534, 32767]),
  middle: [10, -1],
  half: 5,
  names: null,
  colour: null,
};

test("places come back, in units of half the longer side and in their own", () => {
  const { points, names, isNamed, axes, coordinate } = unpack(stored);
  assert.deepEqual([...points], [-1, -1, 1, 0]);
  assert.deepEqual([coordinate(0, 0), coordinate(1, 0), coordinate(0, 1), coordinate(1, 1)], [5, 15, -6, -1]);
  assert.deepEqual([names, isNamed, axes], [["object 0", "object 1"], false, ["dimension 1", "width"]]);
});

test("numbers come back, and what is missing is missing", () => {
  const { colour } = unpack({ ...stored, colour: { name: "age", codes: shorts([0, 65534, 65535]), range: [2, 4] } });
  assert.deepEqual([...colour!.values], [2, 4, NaN]);
  assert.equal(colour!.levels, undefined);
});

test("whole numbers come back as they are", () => {
  const short = unpack({
    ...stored,
    colour: { name: "", codes: shorts([0, 345, 65535]), range: [12000, 12345], whole: 2 },
  }).colour!;
  assert.deepEqual([...short.values], [12000, 12345, NaN]);
  const codes = base64([0, 0, 0, 0, 0xbb, 0x6c, 3, 0, 255, 255, 255, 255]);
  const long = unpack({ ...stored, colour: { name: "", codes, range: [20015736, 20240315], whole: 4 } }).colour!;
  assert.deepEqual([...long.values], [20015736, 20015736 + 0x36cbb, NaN]);
});

test("more levels than colours have other shapes", () => {
  const levels = Array.from({ length: 32 }, (_, k) => String(k));
  const { colour } = unpack({ ...stored, colour: { name: "", codes: base64([0, 31, 255]), levels } });
  for (const paper of ["light", "dark"] as const)
    assert.equal(
      new Set(levels.map((_, level) => `${colourOf(colour!, level, paper)} ${shapeOf(colour!, level)}`)).size,
      32,
    );
  assert.deepEqual([...objectShapes(colour, 3)], [0, shapeOf(colour!, 31), 0]);
  assert.equal(new Set(objectColours(colour, 3, "dark")).size, 3);
});

test("grades have the colours of a scale and one shape", () => {
  const { colour } = unpack({
    ...stored,
    colour: { name: "", codes: base64([0, 1]), levels: ["1", "3"], shares: [0, 1] },
  });
  assert.deepEqual(
    [0, 1].map((level) => shapeOf(colour!, level)),
    [0, 0],
  );
  assert.notEqual(colourOf(colour!, 0, "light"), colourOf(colour!, 1, "light"));
  assert.equal(along(["#000000", "#808080", "#ffffff"], 0.75), "#c0c0c0");
});

test("colours of the page are those of the workbench", () => {
  const colours = (file: string) => readFileSync(file, "utf8").match(/--[a-z-]+: #[0-9a-f]{6}/g)!;
  const own = colours("src/explore/explore.css");
  const all = new Set(colours("src/style.css"));
  assert.ok(own.length >= 12);
  for (const colour of own) assert.ok(all.has(colour), colour);
  assert.deepEqual(
    own.filter((colour) => colour.startsWith("--paper")),
    Object.values(PAPERS).map((paper) => `--paper: ${paper}`),
  );
});
