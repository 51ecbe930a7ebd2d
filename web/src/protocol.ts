/** Messages of the server as types. Made of app/_protocol.py by tools/page_types.py: change them there. */

export type Value = string | number | null;
export type Place = [number, number] | { object: number };
export type Way =
  | { along: Place[]; axes: [number, number] }
  | { along: "circle" | "arc" }
  | { from_axis: number }
  | { column: string }
  | { groups: Record<string, number[]> | number }
  | { values: Value[] };

export interface Request {
  do: string;
  revision?: number;
  [field: string]: unknown;
}

export interface Event {
  event: "state" | "progress" | "done" | "failed" | "notice";
  [field: string]: any;
}

export type Answer = { [field: string]: any };

/** A column as it is drawn: numbers, or codes into levels, one per object. */
export interface Values {
  scale: "category" | "ordered" | "number" | "cycle";
  levels?: string[];
  period?: number;
  values: Float32Array | Float64Array;
}

/** How much a known feature counts. */
export interface Importance {
  name: string;
  standardized: number | null;
}

/** A step: numbers are null where there are none. */
export interface Fit {
  number: number;
  title: string;
  n_components: number;
  estimator: string;
  stress: number | null;
  shown_stress: number | null;
  known_stress: number | null;
  leak: number | null;
  leak_reference: number | null;
  leak_in_words: string;
  free_leak: number | null;
  adjusted: boolean;
  converged: boolean;
  finished: boolean;
  seconds: number;
  known: string[];
  warnings: string[];
  importance: Importance[];
}

/** Something that was done. */
export interface Action {
  id: number;
  parent: number;
  kind: "fit" | "adopt" | "amend" | "forget";
  text: string;
  why: string;
  name?: string;
  fit?: Fit;
}

/** A feature that was ever known; its type is written as on the command line. */
export interface Known {
  name: string;
  type: string;
  missing: number;
  used: boolean;
  origin: string;
  key: string;
}

/** A column that the map can be coloured by; its key is such as `known:gender` or `table:degree`. */
export interface Column {
  key: string;
  name: string;
  scale: "category" | "ordered" | "number" | "cycle";
  known: boolean;
}

/** Something that the worker does or will do. */
export interface Job {
  job: number;
  kind: string;
  text: string;
  done: number | null;
  step?: number;
  what?: string;
}

/** The place in the middle of the window, and pixels per unit of the map. */
export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

/** What a page remembers about a step with the server. */
export interface View {
  camera: Camera | null;
  axes: [number, number];
  selection: number[];
  colour: string | null;
  shape: string | null;
}

/** All that the page shows, except what has the size of the objects; n is 0 if no study has begun. */
export interface Study {
  study: number;
  revision: number;
  title: string;
  n: number;
  here: number;
  step: number | null;
  tree: Action[];
  known: Known[];
  columns: Column[];
  undo: string | null;
  redo: string | null;
  jobs: Job[];
  pictures: boolean;
  saved: string | null;
  views: Record<string, View>;
}

/** The map of a step, and each object's part of the stress. */
export interface MapAnswer {
  step: number;
  axes: string[];
  points: Float32Array;
  stress: Float32Array;
}

/** A feature before it is adopted, and how much of it is known already. */
export interface Preview {
  scale: "category" | "ordered" | "number" | "cycle";
  levels?: string[];
  period?: number;
  values: Float32Array | Float64Array;
  name?: string;
  type: string;
  known: number | null;
  warnings: string[];
}

/** How a group differs from the others in a column. */
export interface ContrastRow {
  column: string;
  key: string;
  strength: number | null;
  p_value: number | null;
  text: string;
}

/** Something that the map may show. */
export interface Suggestion {
  kind: string;
  what: string;
  strength: number | null;
  p_value: number | null;
  note: string;
  name: string;
  way?: any;
}

/** A column of a file: some of its values, and its use: compare, known, colour or ignore. */
export interface FoundColumn {
  name: string;
  type: string;
  missing: number;
  values: string[];
  use: string;
}

/** A file that was dropped; raters are columns of a list of pairs that may name who judged. */
export interface Part {
  file: string;
  name: string;
  role: string;
  rows: number;
  columns: FoundColumn[];
  objects: string[];
  detected: string;
  raters: string[];
}

/** What is wrong with a file, perhaps at a row and a column, from 1. */
export interface Problem {
  file: string | null;
  row: number | null;
  column: number | null;
  text: string;
}

/** What may be chosen of what was found. */
export interface Choices {
  metrics: string[];
  types: string[];
  labels: string[];
}

/** What was found in the files that were dropped. */
export interface Detected {
  title: string;
  parts: Part[];
  problems: Problem[];
  choices: Choices;
}

/** Reading `suggest`. */
export interface Suggested {
  rows: Suggestion[];
}

/** Reading `chance`: the stress of a map of random data. */
export interface Chance {
  stress: number | null;
}

/** Reading `scree`: the stress of 0, 1, 2 … dimensions. */
export interface Scree {
  stress: (number | null)[];
  elbow: number;
}

/** Reading `shepard`: some of the pairs, and how many there are. */
export interface Shepard {
  dissimilarity: Float32Array;
  distance: Float32Array;
  pairs: number;
  correlation: number | null;
}

/** Between which numbers the importance of a feature lies. */
export interface Interval {
  name: string;
  low: number;
  high: number;
}

/** Reading `stability`. */
export interface Stable {
  importance: Interval[];
  resamples: number;
  level: number;
}

/** How far the map repeats a known feature. */
export interface LeakRow {
  name: string;
  linear: number | null;
  neighbours: number | null;
  reference: number | null;
}

/** Reading `leak`; cure: whether adjusting would mend it. */
export interface Leak {
  rows: LeakRow[];
  text: string;
  cure: boolean;
}

/** Another method. */
export interface RivalRow {
  method: string;
  text: string;
  stress: number | null;
  leak: number | null;
  neighbours: number | null;
}

/** Reading `rivals`. */
export interface Rivals {
  rows: RivalRow[];
}

/** What `read` answers, by what was asked for. */
export interface Readings {
  suggest: Suggested;
  chance: Chance;
  scree: Scree;
  shepard: Shepard;
  stability: Stable;
  leak: Leak;
  rivals: Rivals;
}

/** What a user changed of what was found in files. */
export interface Corrections {
  roles: Record<string, string>;
  uses: Record<string, string>;
  types: Record<string, string>;
  metric: string | null;
  labels: string | null;
  alike: boolean;
  rater: string | null;
}
export type Reading = keyof Readings;
