/** The state of the page: one object that is replaced, never changed, and whoever wants to hear of it. */

import { type Paper, extent } from "./colour.ts";
import type { Point } from "./map/camera.ts";
import type { Tool } from "./map/tools.ts";
import { memo } from "./memo.ts";
import type { ContrastRow, Corrections, Detected, Job, MapAnswer, Preview, Study, Values, Way } from "./protocol.ts";

export type Pane = "recognise" | "read" | "table" | "history" | "take";

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
  outlines: Point[][]; // of a lasso, or of groups
}

/** How the next map is fitted. */
export interface Fitting {
  n_components: number | null; // null: as the map that is shown
  adjust: "auto" | "yes" | "no";
  estimator: string | null;
}

export interface RunningJob extends Job {
  stress?: number | null;
  stopping?: boolean;
}

export interface Starting {
  files: { file: string; name: string }[];
  corrections: Corrections;
  detected: Detected | null;
  datasets: { name: string; text: string; objects: number }[];
  maps: Record<string, Float32Array>; // of the data sets, by name
  busy: boolean;
  begin: (() => void) | null; // what waits for the word that the study that is shown may be lost
}

export interface State {
  connected: boolean;
  shutOut: boolean; // the server does not know this page
  study: Study | null; // null until the server has said hello
  labels: string[];
  maps: Map<number, MapAnswer>;
  shown: number | null; // the step whose map is shown
  before: Float32Array | null; // the map that was seen before it
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
  pages: WeakMap<object, number>; // of lists that are shown in parts; another list begins at its beginning
  show: { labels: boolean; pictures: boolean; ellipses: boolean };
  fitting: Fitting;
  pane: Pane;
  draft: Draft | null;
  naming: number; // another one: the field for the name wants the keyboard
  groups: number[][]; // drawn with the tool "groups" so far
  contrast: { rows: ContrastRow[] | null; of: number } | null;
  compare: number | null; // a step beside the one that is shown
  editing: string | null; // the known feature whose cells are listed
  marked: number; // places of the drawing under way
  taken: number | null; // the revision of the study that was taken away last
  notice: { text: string; level: "info" | "warning" } | null;
  starting: Starting | null; // not null: the screen Start
  paper: Paper;
  still: boolean;
}

export const noCorrections = (): Corrections => ({
  roles: {},
  uses: {},
  types: {},
  metric: null,
  labels: null,
  alike: false,
  rater: null,
});
export const freshStart = (): Starting => ({
  files: [],
  corrections: noCorrections(),
  detected: null,
  datasets: [],
  maps: {},
  busy: false,
  begin: null,
});

export const empty = (): State => ({
  connected: false,
  shutOut: false,
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
  pages: new WeakMap(),
  show: { labels: true, pictures: true, ellipses: false },
  fitting: { n_components: null, adjust: "auto", estimator: null },
  pane: "recognise",
  draft: null,
  naming: 0,
  groups: [],
  contrast: null,
  compare: null,
  editing: null,
  marked: 0,
  taken: null,
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

const LONGEST = 120; // letters of a label
const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/; // what is written from right to left, or says so

/** Return a label as it is shown: not endless, and without turning around the words that follow it. */
export function shownLabel(label: string): string {
  const short = label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label;
  return TURNS.test(short) ? `\u2068${short}\u2069` : short;
}

/** Return the map that is shown; null if there is none. */
export const currentMap = (state: State): MapAnswer | null =>
  state.shown === null ? null : (state.maps.get(state.shown) ?? null);

/** Return the fit whose map is shown. */
export const currentFit = (state: State) => state.study?.tree.find(({ id }) => id === state.shown)?.fit ?? null;

/** Why nothing can be drawn on the map of a running fit. */
export const MOVING = "This map is still being fitted: draw on it when it has come to rest, or press Stop.";

/** Whether something was done with the study that is neither saved nor taken away: more than the first map. */
export function isUnsaved({ study, taken }: Pick<State, "study" | "taken">): boolean {
  return study !== null && study.n > 0 && study.saved === null && study.revision !== taken && study.tree.length > 1;
}

/** Whether a map is being fitted. */
export const isFitting = (state: State): boolean =>
  [...state.jobs.values()].some(({ kind }) => kind === "fit" || kind === "without");

/** Return the objects whose labels contain what is searched for. */
export const found = (state: Pick<State, "labels" | "query">): Set<number> =>
  matches(state.labels, state.query.trim().toLowerCase());

const matches = memo(
  (labels: string[], query: string) =>
    new Set(query ? labels.flatMap((label, i) => (label.toLowerCase().includes(query) ? [i] : [])) : []),
);

/** Return the objects of a list that are searched for; all of them if nothing is. */
export const searched = (list: Uint32Array, labels: string[], query: string): Uint32Array =>
  query.trim() ? list.filter((object) => found({ labels, query }).has(object)) : list;

/** Return 0, 1, 2 … */
export const counting = (n: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => i);
export const everyone = memo(counting);

/** Say which objects are not drawn: those of levels that were put out in the legend. */
export const hiddenObjects = (state: Pick<State, "colour" | "columns" | "hiddenLevels" | "labels">): Uint8Array =>
  hiddenBy(
    state.colour === null ? undefined : state.columns.get(state.colour),
    state.hiddenLevels,
    state.labels.length,
  );

const hiddenBy = memo((column: Values | undefined, levels: Set<number>, n: number) => {
  const hidden = new Uint8Array(n);
  if (column?.levels && levels.size)
    column.values.forEach((code, i) => (hidden[i] = levels.has(Number.isNaN(code) ? -1 : code) ? 1 : 0));
  return hidden;
});

/** Return the value of an object in a column, to be read. */
export function textOf(column: Values | undefined | null, object: number): string {
  const value = column?.values[object];
  if (column == null || value === undefined || Number.isNaN(value)) return "";
  return column.levels ? (column.levels[value] ?? "") : digits(value, largest(column.values));
}

const largest = memo((values: ArrayLike<number>) => Math.max(...extent(values).map(Math.abs)));

/** Return a number with about four digits, a whole one with all of them; what is nothing beside another number, but for rounding, is 0. */
export function digits(value: number | null | undefined, beside = 0): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  if (Math.abs(value) < 1e-6 * Math.abs(beside)) return "0";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  const before = Math.floor(Math.log10(Math.abs(value))) + 1; // digits before the point
  return String(Number(value.toPrecision(before < 4 ? 4 : Math.min(before + 2, 15))));
}

/** Return a number with three digits. */
export const rounded = (value: number | null | undefined): string =>
  value === null || value === undefined || !Number.isFinite(value) ? "–" : digits(Number(value.toPrecision(3)), 1);
