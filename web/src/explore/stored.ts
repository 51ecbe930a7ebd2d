/** A map as a page holds it: places and values as 16-bit whole numbers, names as text. `plotting/_explore.py` writes it. */

import {
  type Paper,
  coloursOf,
  levelColour,
  levelShape,
  missingColour,
  mix,
  pixel,
  shapesOf,
  stops,
} from "../colour.ts";
import type { Values } from "../protocol.ts";

export interface Stored {
  title: string;
  axes: string[]; // one, if all objects lie on a line
  places: string; // x and y of each object, from 0 to 65534 along the longer side of the map
  middle: [number, number];
  half: number; // of the longer side
  names: string[] | null; // null: objects have numbers only
  colour: StoredColour | null;
}

export interface StoredColour {
  name: string;
  codes: string; // places in the levels, or shares of the way from low to high; the largest number for what is missing
  levels?: string[];
  shares?: number[]; // of levels that are numbers, where on the scale they stand
  range?: [number, number]; // of numbers
  whole?: 2 | 4; // of whole numbers: codes have so many bytes, and count from low
}

export interface Colour extends Values {
  name: string;
  shares?: number[];
}

/** The map, ready to be shown. Its unit is half of its longer side, so that numbers of any size can be drawn. */
export interface Material {
  title: string;
  axes: string[];
  points: Float32Array;
  names: string[];
  isNamed: boolean;
  colour: Colour | null;
  coordinate(object: number, axis: number): number;
}

const MOST = 65534;
const MISSING = { levels: 255, numbers: MOST + 1 };

export function unpack(stored: Stored): Material {
  const places = shorts(stored.places);
  const step = (2 * stored.half) / MOST;
  const decimals = Math.min(100, Math.max(0, Math.ceil(-Math.log10(step || 1))));
  const points = Float32Array.from(places, (place) => (2 * place) / MOST - 1);
  return {
    title: stored.title,
    axes: stored.axes.map((axis, k) => axis || `dimension ${k + 1}`),
    points,
    names: stored.names ?? Array.from({ length: places.length / 2 }, (_, i) => `object ${i}`),
    isNamed: stored.names !== null,
    colour: stored.colour && unpackColour(stored.colour),
    coordinate: (object, axis) =>
      Number((stored.middle[axis] + stored.half * points[2 * object + axis]).toFixed(decimals)), // no digits that were not kept
  };
}

function unpackColour({ name, codes, levels, shares, range, whole }: StoredColour): Colour {
  if (levels)
    return {
      name,
      shares,
      levels,
      scale: "category",
      values: Float32Array.from(bytes(codes), (code) => (code === MISSING.levels ? NaN : code)),
    };
  const [low, high] = range!;
  const value = (code: number) => (code === MISSING.numbers ? NaN : low + (high - low) * (code / MOST));
  if (!whole) return { name, shares, scale: "number", values: Float32Array.from(shorts(codes), value) };
  const missing = 2 ** (8 * whole) - 1;
  return {
    name,
    shares,
    scale: "number",
    values: Float64Array.from(wholes(codes, whole), (code) => (code === missing ? NaN : low + code)),
  };
}

const bytes = (text: string): Uint8Array => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Return numbers of two bytes, the smaller byte first. */
const shorts = (text: string): Uint16Array => Uint16Array.from(wholes(text, 2));

function wholes(text: string, size: 2 | 4): number[] {
  const all = new DataView(bytes(text).buffer);
  return Array.from({ length: all.byteLength / size }, (_, i) =>
    size === 2 ? all.getUint16(2 * i, true) : all.getUint32(4 * i, true),
  );
}

// ---- what levels look like

export function colourOf({ levels, shares }: Colour, level: number, paper: Paper): string {
  if (level < 0) return missingColour(paper);
  return shares && levels ? along(stops(paper, "number"), shares[level]) : levelColour(paper, level);
}

export const shapeOf = ({ shares }: Colour, level: number): number => (shares ? 0 : levelShape(level));

export function objectColours(colour: Colour | null, n: number, paper: Paper): Uint32Array {
  if (!colour?.levels) return coloursOf(colour, n, paper);
  const table = [...colour.levels.keys(), -1].map((level) => pixel(colourOf(colour, level, paper)));
  return Uint32Array.from(colour.values, (code) => table[Number.isNaN(code) ? table.length - 1 : code]);
}

export function objectShapes(colour: Colour | null, n: number): Uint8Array {
  return shapesOf(colour?.shares ? null : colour, n);
}

/** Return the colour that is so far along a scale, from 0 to 1. */
export function along(colours: string[], share: number): string {
  const at = share * (colours.length - 1);
  const before = Math.min(Math.floor(at), colours.length - 2);
  return mix(colours[before], colours[before + 1], at - before);
}
