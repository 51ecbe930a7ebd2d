/** The messages of PROTOCOL.md as types. An array in a message is a Buffer on the wire and a typed array here. */

export type Numbers = Float32Array;
export type Scale = "category" | "ordered" | "number" | "cycle";
export type Value = string | number | null;

/** The values of a column, one per object: numbers, or codes into levels; NaN is missing. */
export interface Values {
  scale: Scale;
  levels?: string[];
  period?: number;
  values: Numbers | Float64Array; // the longer ones where whole numbers need them
}

export interface Fit {
  number: number;
  title: string;
  n_components: number;
  estimator: string;
  stress: number | null;
  stress_in_words: string;
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
  importance: { name: string; standardized: number | null }[];
}

export interface Action {
  id: number;
  parent: number;
  kind: "fit" | "adopt" | "amend" | "forget";
  text: string;
  why: string;
  name?: string;
  fit?: Fit;
}

export interface Known {
  name: string;
  type: string;
  missing: number;
  used: boolean;
  origin: string;
  key: string;
}

export interface Column {
  key: string;
  name: string;
  scale: Scale;
  known: boolean;
}

export interface Job {
  job: number;
  kind: string;
  text: string;
  done: number | null;
  step?: number;
  what?: string;
}

/** What a page remembers about a step with the server. */
export interface View {
  camera: { x: number; y: number; zoom: number } | null;
  axes: [number, number];
  selection: number[];
  colour: string | null;
  shape: string | null;
}

/** All that the page shows, except what has the size of the objects. */
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

export interface MapAnswer {
  step: number;
  axes: string[];
  points: Numbers; // n × p, row by row
  stress: Numbers;
}

export type Place = [number, number] | { object: number };
export type Way =
  | { along: Place[]; axes: [number, number] }
  | { along: "circle" | "arc" }
  | { from_axis: number }
  | { column: string }
  | { groups: Record<string, number[]> | number }
  | { values: Value[] };

export interface Preview extends Values {
  name?: string;
  type: string;
  known: number | null;
  warnings: string[];
}

export interface ContrastRow {
  column: string;
  key: string;
  strength: number | null;
  p_value: number | null;
  text: string;
}

export interface Suggestion {
  kind: string;
  what: string;
  strength: number | null;
  p_value: number | null;
  note: string;
  name: string;
  way?: Way;
}

/** What `read` answers, by what was asked for. */
export interface Readings {
  suggest: { rows: Suggestion[] };
  scree: { stress: (number | null)[]; elbow: number };
  shepard: { dissimilarity: Numbers; distance: Numbers; pairs: number; correlation: number | null };
  stability: { importance: { name: string; low: number; high: number }[]; resamples: number; level: number };
  leak: { rows: { name: string; linear: number | null; neighbours: number | null; reference: number | null }[]; text: string; cure: boolean };
  rivals: { rows: { method: string; text: string; stress: number | null; leak: number | null; neighbours: number | null }[] };
}
export type Reading = keyof Readings;

export interface Part {
  file: string;
  name: string;
  role: string;
  rows: number;
  columns: { name: string; type: string; missing: number }[];
  head: string[][];
}

export interface Problem {
  file: string | null;
  row: number | null;
  column: number | null;
  text: string;
}

export interface Corrections {
  roles: Record<string, string>;
  types: Record<string, string>;
  metric: string | null;
  standardise: boolean;
  labels: string | null;
}

export interface Detected {
  title: string;
  parts: Part[];
  problems: Problem[];
  choices: { metrics: string[]; types: string[]; labels: string[] };
}

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
