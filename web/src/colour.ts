/** Colours that most colour-blind people can tell apart, for light and dark paper (tests/colour.test.ts checks it). */

import { SHAPES } from "./map/raster.ts";
import type { Values } from "./protocol.ts";

export type Paper = "light" | "dark";

// Of the same column, shapes differ together with colours, so that nothing hangs on colour alone.
const CATEGORIES: Record<Paper, string[]> = {
  light: ["#0061a6", "#d05100", "#048278", "#8c2373", "#6a4e01", "#7d6ddf", "#1d1d1c", "#83997c"],
  dark: ["#58a6ff", "#ff8c45", "#349ea8", "#f5a5d1", "#e8ce4c", "#8970fc", "#f1f1f1", "#8eb68f"],
};
const MISSING: Record<Paper, string> = { light: "#a8a8a8", dark: "#6a6a6a" };
// From low to high, as in cividis and viridis: lightness alone tells the order.
const NUMBERS: Record<Paper, string[]> = {
  light: ["#2a0a4a", "#3b3c86", "#2e6e8e", "#1f9a8a", "#4fae55"],
  dark: ["#4f74b8", "#3f97a8", "#3fb98b", "#8fd25c", "#fde74c"],
};
// Around: dark, blue, pale, red, dark; the two sides differ in hue and the two ends of each in lightness.
const CYCLE: Record<Paper, string[]> = {
  light: ["#2b1a3f", "#3d4fa8", "#5f9fc4", "#a79fb0", "#c97b52", "#96304a", "#2b1a3f"],
  dark: ["#7a6a94", "#7f95f0", "#9ed2ee", "#f3ecf2", "#f5b48c", "#d9607c", "#7a6a94"],
};

/** So many levels have a colour of their own; from then on colours come again with other shapes, as in the plots of Python. */
export const MOST_COLOURS = 8;
export const MOST_SIGNS = MOST_COLOURS * SHAPES.length;

export const levelColour = (paper: Paper, level: number): string => CATEGORIES[paper][level % MOST_COLOURS];
export const levelShape = (level: number): number =>
  level >= 0 ? (level + Math.floor(level / MOST_COLOURS)) % SHAPES.length : 0;
export const missingColour = (paper: Paper): string => MISSING[paper];
export const stops = (paper: Paper, scale: string): string[] => (scale === "cycle" ? CYCLE : NUMBERS)[paper];

/** Return the colour of each object. */
export function coloursOf(column: Values | null, n: number, paper: Paper): Uint32Array {
  if (!column) return new Uint32Array(n).fill(pixel(levelColour(paper, 0)));
  const missing = pixel(MISSING[paper]);
  const { values } = column;
  if (column.levels) {
    const table = CATEGORIES[paper].map(pixel);
    return Uint32Array.from(values, (code) => (code >= 0 ? table[code % MOST_COLOURS] : missing));
  }
  const table = ramp(stops(paper, column.scale));
  const [low, high] = column.scale === "cycle" ? [0, column.period ?? 1] : extent(values);
  const spread = high - low || 1;
  return Uint32Array.from(values, (value) => {
    if (Number.isNaN(value)) return missing;
    const share = (value - low) / spread;
    return table[Math.round((column.scale === "cycle" ? share - Math.floor(share) : share) * 255)];
  });
}

/** Return the shape of each object. */
export const shapesOf = (column: Values | null, n: number): Uint8Array =>
  column?.levels ? Uint8Array.from(column.values, levelShape) : new Uint8Array(n);

/** Return how many values are so. */
export function howMany(values: ArrayLike<number>, is: (value: number) => boolean): number {
  let n = 0;
  for (let i = 0; i < values.length; i++) if (is(values[i])) n++;
  return n;
}

export function extent(values: ArrayLike<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return low <= high ? [low, high] : [0, 1];
}

function ramp(colours: string[]): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, k) => {
    const at = (k / 255) * (colours.length - 1);
    const before = Math.min(Math.floor(at), colours.length - 2);
    return pixel(mix(colours[before], colours[before + 1], at - before));
  });
}

/** Return red, green and blue of a colour like #0a7fff. */
export const channels = (colour: string): number[] => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

export function mix(from: string, to: string, share: number): string {
  const [a, b] = [channels(from), channels(to)];
  return (
    "#" +
    a
      .map((value, k) =>
        Math.round(value + (b[k] - value) * share)
          .toString(16)
          .padStart(2, "0"),
      )
      .join("")
  );
}

/** Return a colour as it stands in the pixels of an image: alpha, blue, green, red. */
export function pixel(colour: string): number {
  const [red, green, blue] = channels(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Return the colour of a pixel. */
export const hex = (colour: number): string =>
  "#" + [0, 8, 16].map((shift) => ((colour >> shift) & 255).toString(16).padStart(2, "0")).join("");

/** Return a pixel mixed with the paper, for what is not in the focus. */
export function fade(colour: number, paper: number, share: number): number {
  const [own, other] = [Math.round(256 * (1 - share)), Math.round(256 * share)];
  const redBlue = (((colour & 0xff00ff) * own + (paper & 0xff00ff) * other) / 256) & 0xff00ff;
  const green = ((((colour >> 8) & 255) * own + ((paper >> 8) & 255) * other) >> 8) << 8;
  return (0xff000000 | redBlue | green) >>> 0;
}
