/** The state of the page: one object that is replaced, never changed, and whoever wants to hear of it. */

import type { Paper } from "./colour.ts";
import type { Point } from "./map/camera.ts";
import type { Tool } from "./map/tools.ts";
import { memo } from "./memo.ts";
import type { ContrastRow, Corrections, Detected, Job, MapAnswer, Preview, Study, Values, Way } from "./protocol.ts";

export type Pane = "recognise" | "read" | "history" | "take";

/** A feature that was recognised and is not adopted yet. */
export interface Draft {
  from: string; // what was drawn, in words
  way: Way;
  preview: Preview | null; // null until the server has answered
  name: string;
  why: string;
  type: string; // "" for what the values suggest
  corrections: Record<number, string>; // by object; text as it was typed
  sort: "value" | "name";
  groups: number[][]; // members of the groups drawn, if any
  groupNames: string[];
  path: Point[];
}

export interface RunningJob extends Job {
  stress?: number | null;
}

export interface Starting {
  files: { file: string; name: string }[];
  corrections: Corrections;
  detected: Detected | null;
  datasets: { name: string; text: string; objects: number }[];
  busy: boolean;
}

export interface State {
  connected: boolean;
  study: Study | null; // null until the server has said hello
  labels: string[];
  maps: Map<number, MapAnswer>;
  shown: number | null; // the step whose map is shown
  before: Float32Array | null; // the map before it, aligned to it
  live: { points: Float32Array; p: number } | null; // the map of a running fit
  columns: Map<string, Values>;
  pictures: Map<number, string>;
  readings: Map<string, any>; // by "step what"
  asked: Set<string>; // readings that were asked for and are not there yet
  jobs: Map<number, RunningJob>;
  tool: Tool;
  axes: [number, number];
  space: boolean;
  selection: Set<number>;
  focus: number | null;
  colour: string | null;
  shape: string | null;
  hiddenLevels: Set<number>; // of the column that colours
  query: string;
  show: { labels: boolean; pictures: boolean; ellipses: boolean; table: boolean };
  pane: Pane;
  draft: Draft | null;
  groups: number[][]; // drawn with the tool "groups" so far
  contrast: { rows: ContrastRow[] | null; of: number } | null;
  compare: number | null; // a step beside the one that is shown
  editing: string | null; // the known feature whose cells are listed
  marked: number; // places of the drawing under way
  notice: { text: string; level: "info" | "warning" } | null;
  starting: Starting | null; // not null: the screen Start
  paper: Paper;
  still: boolean;
}

export const noCorrections = (): Corrections => ({ roles: {}, types: {}, metric: null, standardise: true, labels: null });
export const freshStart = (): Starting => ({ files: [], corrections: noCorrections(), detected: null, datasets: [], busy: false });

export const empty = (): State => ({
  connected: false,
  study: null,
  labels: [],
  maps: new Map(),
  shown: null,
  before: null,
  live: null,
  columns: new Map(),
  pictures: new Map(),
  readings: new Map(),
  asked: new Set(),
  jobs: new Map(),
  tool: "pan",
  axes: [0, 1],
  space: false,
  selection: new Set(),
  focus: null,
  colour: null,
  shape: null,
  hiddenLevels: new Set(),
  query: "",
  show: { labels: true, pictures: true, ellipses: false, table: false },
  pane: "recognise",
  draft: null,
  groups: [],
  contrast: null,
  compare: null,
  editing: null,
  marked: 0,
  notice: null,
  starting: null,
  paper: "light",
  still: false,
});

export class Store {
  state = empty();
  private listeners: (() => void)[] = [];

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }
}

/** Return the map that is shown; null if there is none. */
export const currentMap = (state: State): MapAnswer | null => (state.shown === null ? null : (state.maps.get(state.shown) ?? null));

/** Return the fit whose map is shown. */
export const currentFit = (state: State) => state.study?.tree.find(({ id }) => id === state.shown)?.fit ?? null;

/** Return the objects whose labels contain what is searched for. */
export const found = (state: State): Set<number> => matches(state.labels, state.query.trim().toLowerCase());

const matches = memo((labels: string[], query: string) => new Set(query ? labels.flatMap((label, i) => (label.toLowerCase().includes(query) ? [i] : [])) : []));

/** Say which objects are not drawn: those of levels that were put out in the legend. */
export const hiddenObjects = (state: State): Uint8Array =>
  hiddenBy(state.colour === null ? undefined : state.columns.get(state.colour), state.hiddenLevels, state.labels.length);

const hiddenBy = memo((column: Values | undefined, levels: Set<number>, n: number) => {
  const hidden = new Uint8Array(n);
  if (column?.levels && levels.size) column.values.forEach((code, i) => (hidden[i] = levels.has(Number.isNaN(code) ? -1 : code) ? 1 : 0));
  return hidden;
});

/** Return the value of an object in a column, to be read. */
export function textOf(column: Values | undefined | null, object: number): string {
  const value = column?.values[object];
  if (column == null || value === undefined || Number.isNaN(value)) return "";
  return column.levels ? (column.levels[value] ?? "") : digits(value);
}

/** Return a number with about four digits. */
export function digits(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(4)));
}
