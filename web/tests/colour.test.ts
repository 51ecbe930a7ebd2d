import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MOST_COLOURS,
  MOST_SIGNS,
  type Paper,
  channels,
  coloursOf,
  fade,
  levelColour,
  levelShape,
  mix,
  pixel,
  shapesOf,
  stops,
} from "../src/colour.ts";

const PAPERS: Record<Paper, string> = { light: "#ffffff", dark: "#15181d" };
const papers: Paper[] = ["light", "dark"];

const linear = (value: number) =>
  value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
const luminance = (colour: string) =>
  channels(colour).reduce((sum, value, k) => sum + linear(value) * [0.2126, 0.7152, 0.0722][k], 0);
const contrast = (a: string, b: string) => {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
};

// Machado, Oliveira and Fernandes (2009), full severity, on linear red, green and blue.
const EYES: Record<string, number[][]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Return a colour as eyes of some kind see it, in OKLab, where distances are about as large as they look. */
function seen(colour: string, eyes: string): number[] {
  const light = channels(colour).map(linear);
  const [r, g, b] = EYES[eyes].map((row) =>
    Math.max(
      0,
      row.reduce((sum, weight, k) => sum + weight * light[k], 0),
    ),
  );
  const [l, m, s] = [
    Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
    Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b),
    Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b),
  ];
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const difference = (a: string, b: string, eyes: string) =>
  Math.hypot(...seen(a, eyes).map((value, k) => value - seen(b, eyes)[k]));

for (const paper of papers) {
  test(`levels stand out from ${paper} paper`, () => {
    for (let level = 0; level < MOST_COLOURS; level++)
      assert.ok(
        contrast(levelColour(paper, level), PAPERS[paper]) >= 3,
        `${levelColour(paper, level)}: ${contrast(levelColour(paper, level), PAPERS[paper])}`,
      );
  });

  for (const eyes of Object.keys(EYES))
    test(`levels on ${paper} paper can be told apart, ${eyes}`, () => {
      for (let a = 0; a < MOST_COLOURS; a++)
        for (let b = 0; b < a; b++) {
          const far = difference(levelColour(paper, a), levelColour(paper, b), eyes);
          // Under 0.02 one sees no difference; tritanopia is so rare that half of the margin is enough.
          assert.ok(
            far >= (eyes === "tritanopia" ? 0.05 : 0.08),
            `${levelColour(paper, a)} and ${levelColour(paper, b)}: ${far.toFixed(3)}`,
          );
        }
    });

  test(`numbers become lighter on ${paper} paper`, () => {
    const lightness = stops(paper, "number").map(luminance);
    assert.deepEqual(
      lightness,
      [...lightness].sort((a, b) => a - b),
    );
  });

  for (const eyes of Object.keys(EYES))
    test(`opposite places of a cycle differ on ${paper} paper, ${eyes}`, () => {
      const around = stops(paper, "cycle");
      assert.equal(around[0], around[6]);
      for (let k = 0; k < 3; k++)
        assert.ok(
          difference(around[k], around[k + 3], eyes) >= 0.12,
          `${around[k]} and ${around[k + 3]}: ${difference(around[k], around[k + 3], eyes)}`,
        );
    });
}

test("missing values have a colour of their own, and a cycle ends where it begins", () => {
  const values = Float32Array.from([0, 12, 24, 36, NaN]);
  const [start, half, end, more, missing] = coloursOf({ scale: "cycle", period: 24, values }, 5, "light");
  assert.equal(start, end);
  assert.equal(half, more);
  assert.notEqual(start, half);
  assert.equal(missing, coloursOf({ scale: "number", values: Float32Array.from([1, NaN]) }, 2, "light")[1]);
});

test("levels differ in colour and shape as long as there are signs, and only then come again", () => {
  const levels = Array.from({ length: MOST_SIGNS + 1 }, (_, k) => String(k));
  const column = { scale: "category", levels, values: Float32Array.from([...levels.keys(), NaN]) } as const;
  for (const paper of papers) {
    const [colours, shapes] = [coloursOf(column, levels.length + 1, paper), shapesOf(column, levels.length + 1)];
    const signs = [...colours].map((colour, i) => `${colour} ${shapes[i]}`);
    assert.equal(new Set(signs.slice(0, MOST_SIGNS)).size, MOST_SIGNS);
    assert.equal(signs[MOST_SIGNS], signs[0]);
    assert.equal(signs.indexOf(signs.at(-1)!), signs.length - 1, "missing is like no level");
    assert.deepEqual(
      signs.slice(0, MOST_SIGNS),
      levels.slice(0, MOST_SIGNS).map((_, k) => `${pixel(levelColour(paper, k))} ${levelShape(k)}`),
    );
  }
});

test("colours are mixed and stored as pixels", () => {
  assert.equal(mix("#000000", "#ff8040", 0.5), "#804020");
  assert.equal(pixel("#010203"), 0xff030201);
  assert.equal(fade(pixel("#000000"), pixel("#ffffff"), 1), 0xffffffff);
});
