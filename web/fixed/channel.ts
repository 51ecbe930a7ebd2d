/** A channel without a server, for looking at the page and for its tests: kinship terms, or any number of points.
 *
 * It knows just enough to answer. What a gesture measures is computed here only for that; in the workbench the server
 * does it, by `discovery`.
 */

import { type Channel, Refusal } from "../src/channel.ts";
import type { Action, Answer, Event, Request, Study, Values, Way } from "../src/protocol.ts";
import kinship from "./kinship.json";

interface Fixed {
  labels: string[];
  maps: Map<number, number[][]>;
  stress: Map<number, number[]>;
  columns: Map<string, Values>;
  study: Study;
}

const ROUND_TRIP = 20; // milliseconds; no server answers at once

export class FixedChannel implements Channel {
  onEvent: (event: Event) => void = () => {};
  onConnection: (connected: boolean) => void = () => {};
  onShutOut = () => {};
  asked: Request[] = [];

  constructor(private fixed: Fixed) {}

  async upload(file: File): Promise<string> {
    this.asked.push({ do: "upload", name: file.name });
    return `file ${this.asked.length}`;
  }

  async ask(request: Request): Promise<Answer> {
    this.asked.push(request);
    await new Promise((done) => setTimeout(done, ROUND_TRIP));
    const answer = this.answers[request.do]?.(request);
    if (!answer) throw new Refusal(`Fixed data cannot do ${request.do}.`);
    return { ok: true, ...answer };
  }

  private answers: Record<string, (request: any) => Answer> = {
    hello: () => ({ state: this.fixed.study }),
    objects: () => ({ labels: this.fixed.labels }),
    column: ({ key }) => ({ ...this.fixed.columns.get(key)! }),
    map: ({ step }) => this.map(step),
    view: () => ({}),
    preview: ({ way }) => this.preview(way),
    adopt: ({ name, why }) => this.adopt(name, why),
    fit: () => this.fit(),
    go: ({ to }) => this.go(to),
    undo: () => this.go(this.fixed.study.tree.find(({ id }) => id === this.fixed.study.here)!.parent),
    redo: () => this.go(this.fixed.study.tree.find(({ parent }) => parent === this.fixed.study.here)!.id),
    contrast: () => ({
      rows: [
        { column: "gender", key: "table:gender", strength: 1, p_value: 0.0004, text: "all 7 are 2, against 0 of 7" },
      ],
    }),
    read: ({ what, step }) => ({ result: this.read(what, step) }),
    ellipses: () => ({ result: { axes: this.ellipses() } }),
    pictures: ({ objects }) => ({
      pictures: objects.map((object: number) => ({ object, mime: "image/svg+xml", data: face })),
    }),
    datasets: () => ({
      rows: [
        { name: "kinship", text: "How people sort 14 kinship terms", objects: 14 },
        { name: "car brands", text: "Ten brands, judged by many", objects: 10 },
      ],
    }),
    examples: () => ({ maps: {} }),
    detect: () => detected,
    begin: () => this.go(1),
    cancel: ({ job }) => {
      this.onEvent({ event: "failed", job, kind: "fit", error: "Stopped.", cancelled: true });
      return {};
    },
  };

  private map(step: number): Answer {
    const rows = this.fixed.maps.get(step)!;
    return {
      step,
      axes: rows[0].map((_, k) => `axis${k + 1}`),
      points: Float32Array.from(rows.flat()),
      stress: Float32Array.from(this.fixed.stress.get(step)!),
    };
  }

  private change(change: Partial<Study>): void {
    const { study } = this.fixed;
    this.fixed.study = { ...study, revision: study.revision + 1, ...change };
    this.onEvent({ event: "state", state: this.fixed.study });
  }

  private go(to: number): Answer {
    const { tree } = this.fixed.study;
    const fits = new Set(tree.filter(({ fit }) => fit).map(({ id }) => id));
    const parents = new Map(tree.map(({ id, parent }) => [id, parent]));
    let step = to;
    while (step && !fits.has(step)) step = parents.get(step)!;
    const text = (id: number | undefined) => tree.find((action) => action.id === id)?.text ?? null;
    this.change({
      here: to,
      step: step || null,
      n: this.fixed.labels.length,
      undo: text(to || undefined),
      redo: text(tree.find(({ parent }) => parent === to)?.id),
    });
    return {};
  }

  private adopt(name: string, why: string): Answer {
    if (this.fixed.study.known.some((known) => known.name === name))
      throw new Refusal(`name='${name}' is taken by a feature of this study; choose another name.`);
    const tree = this.fixed.study.tree.map((action) =>
      action.id === 2 ? { ...action, text: `${name}, from your lasso`, name, why } : action,
    );
    this.change({
      tree,
      known: [
        { name, type: "nominal", missing: 0, used: true, origin: "given groups", key: this.fixed.study.columns[0].key },
      ],
    });
    return { action: 2 };
  }

  private fit(): Answer {
    let done = 0;
    const timer = setInterval(() => {
      done += 0.25;
      this.onEvent({ event: "progress", job: 1, done, text: "fitting a map", stress: 0.1 / done });
      if (done < 1) return;
      clearInterval(timer);
      this.go(3);
      this.onEvent({ event: "done", job: 1, kind: "fit", text: "", action: 3 });
    }, 60);
    return { job: 1 };
  }

  private preview(way: Way): Answer {
    const n = this.fixed.labels.length;
    if ("groups" in way && typeof way.groups === "object") {
      const levels = [...Object.keys(way.groups), "other"];
      const values = new Float32Array(n).fill(levels.length - 1);
      Object.values(way.groups).forEach((group, code) => group.forEach((object) => (values[object] = code)));
      return { type: "nominal", scale: "category", levels, values, known: null, warnings: [] };
    }
    if ("column" in way)
      return {
        type: "nominal",
        ...this.fixed.columns.get(`table:${way.column}`)!,
        known: 0.02,
        warnings: [],
        name: way.column,
      };
    if (!("along" in way) || typeof way.along === "string") throw new Refusal("Fixed data cannot do that.");
    const rows = this.fixed.maps.get(this.fixed.study.step!)!;
    const [a, b] = way.axes;
    const path = way.along.map((place) =>
      Array.isArray(place) ? place : [rows[place.object][a], rows[place.object][b]],
    );
    return {
      type: "numeric",
      scale: "number",
      values: Float32Array.from(rows, (row) => along(path, row[a], row[b])),
      known: this.fixed.study.known.length ? 0.04 : null,
      warnings: [],
    };
  }

  private read(what: string, step: number): unknown {
    const n = this.fixed.labels.length;
    if (what === "scree") return { stress: kinship.scree, elbow: 2 };
    if (what === "suggest")
      return {
        rows: [
          {
            kind: "column",
            what: "gender",
            strength: 0.98,
            p_value: 0.001,
            note: "",
            name: "gender",
            way: { column: "gender" },
          },
          { kind: "order", what: "order around a circle", strength: 0.4, p_value: 0.31, note: "", name: "order" },
        ],
      };
    if (what === "chance") return { stress: 0.2 };
    if (what === "leak")
      return {
        rows: [{ name: "gender", linear: 0.1, neighbours: 0.2, reference: 0.4 }],
        text: "The map does not repeat what is known, beyond chance.",
        cure: false,
      };
    if (what === "stability")
      return { importance: [{ name: "gender", low: 18, high: 25 }], resamples: 50, level: 0.95 };
    if (what === "rivals")
      return {
        rows: [{ method: "mds", text: "Metric scaling, told nothing", stress: 0.07, leak: 0.98, neighbours: 0.7 }],
      };
    const rows = this.fixed.maps.get(step)!;
    const pairs = rows.flatMap((_, i) => rows.slice(0, i).map((__, j) => [i, j]));
    const distance = pairs.map(([i, j]) => Math.hypot(...rows[i].map((value, k) => value - rows[j][k])));
    return {
      dissimilarity: Float32Array.from(pairs, ([i, j]) => kinship.dissimilarities[i]?.[j] ?? 0),
      distance: Float32Array.from(distance),
      pairs: (n * (n - 1)) / 2,
      correlation: 0.93,
    };
  }

  private ellipses(): Float32Array {
    const rows = this.fixed.maps.get(this.fixed.study.step!)!;
    const p = rows[0].length;
    return Float32Array.from(
      rows.flatMap((_, i) =>
        Array.from({ length: p * p }, (__, k) => (k % (p + 1) === 0 ? 2 + (i % 3) + (k ? 0 : 2) : k % 2)),
      ),
    );
  }
}

/** Return how far along a path the nearest place to a point is; before its beginning and after its end it goes straight on. */
function along(path: number[][], x: number, y: number): number {
  let [best, least, before] = [0, Infinity, 0];
  for (let k = 1; k < path.length; k++) {
    const [[ax, ay], [bx, by]] = [path[k - 1], path[k]];
    const length = Math.hypot(bx - ax, by - ay);
    let share = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length ** 2;
    if (k > 1) share = Math.max(0, share);
    if (k < path.length - 1) share = Math.min(1, share);
    const distance = Math.hypot(ax + share * (bx - ax) - x, ay + share * (by - ay) - y);
    if (distance < least) [best, least] = [before + share * length, distance];
    before += length;
  }
  return best;
}

const emptyStudy: Study = {
  study: 1,
  revision: 1,
  title: "",
  n: 0,
  here: 0,
  step: null,
  tree: [],
  known: [],
  columns: [],
  undo: null,
  redo: null,
  jobs: [],
  pictures: false,
  saved: null,
  views: {},
};

/** Kinship terms: the map of what nobody was told, the one given gender, and one of three dimensions. */
export function kinshipData({ hostile = false, pictures = false, start = false, deep = false } = {}): Fixed {
  const labels = kinship.labels.map((label) =>
    hostile && label === "Aunt" ? '<img src=x onerror="window.hacked=1">' : label,
  );
  const maps = [kinship.plain, kinship.given, kinship.deep];
  const action = (id: number, parent: number, from: any): Action => ({
    id,
    parent,
    kind: "fit",
    text: `map ${from.fit.number}, ${from.fit.title}`,
    why: "",
    fit: { ...from.fit, shown_stress: from.fit.stress, known_stress: 0.4 },
  });
  const tree: Action[] = [
    action(1, 0, kinship.plain),
    { id: 2, parent: 1, kind: "adopt", text: "gender, from your lasso", why: "men and women apart", name: "gender" },
    action(3, 2, kinship.given),
    action(4, 1, kinship.deep),
  ];
  const columns = new Map<string, Values>(
    Object.entries(kinship.columns).map(([name, { levels, values }]) => [
      `table:${name}`,
      { scale: "category", levels, values: Float32Array.from(values) },
    ]),
  );
  columns.set("table:clock", {
    scale: "cycle",
    period: 24,
    values: Float32Array.from(labels, (_, i) => (i === 3 ? NaN : (i * 24) / 14)),
  });
  columns.set("table:age", { scale: "number", values: Float32Array.from(labels, (_, i) => 3 * i * i) });
  return {
    labels,
    maps: new Map([1, 3, 4].map((id, k) => [id, maps[k].points])),
    stress: new Map([1, 3, 4].map((id, k) => [id, maps[k].stress_per_point])),
    columns,
    study: {
      ...emptyStudy,
      title: "kinship",
      n: start ? 0 : 14,
      here: deep ? 4 : 1,
      step: start ? null : deep ? 4 : 1,
      tree,
      pictures,
      saved: "kinship.zip",
      undo: tree[0].text,
      redo: tree[1].text,
      columns: [...columns].map(([key, { scale }]) => ({ key, name: key.slice(6), scale, known: false })),
    },
  };
}

/** Any number of points in five clouds. */
export function cloudData(n: number): Fixed {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const points = Array.from({ length: n }, (_, i) => {
    const angle = (2 * Math.PI * (i % 5)) / 5;
    const spread = Math.sqrt(-2 * Math.log(random())) * 12;
    const turn = 2 * Math.PI * random();
    return [40 * Math.cos(angle) + spread * Math.cos(turn), 40 * Math.sin(angle) + spread * Math.sin(turn)];
  });
  const base = kinshipData();
  const tree = base.study.tree.slice(0, 1);
  const columns = new Map<string, Values>([
    [
      "table:cloud",
      { scale: "category", levels: ["a", "b", "c", "d", "e"], values: Float32Array.from(points, (_, i) => i % 5) },
    ],
  ]);
  return {
    labels: points.map((_, i) => `object ${i}`),
    maps: new Map([[1, points]]),
    stress: new Map([[1, points.map(() => 1 / n)]]),
    columns,
    study: {
      ...base.study,
      title: "cloud",
      n,
      tree,
      columns: [{ key: "table:cloud", name: "cloud", scale: "category", known: false }],
    },
  };
}

const alcohol = { name: "alcohol", type: "numeric", missing: 0, values: ["14.2", "13.1"], use: "compare" };
const tint = { name: "colour", type: "nominal", missing: 2, values: ["red"], use: "colour" };
const detected = {
  title: "wine",
  parts: [
    {
      file: "file 1",
      name: "wine.csv",
      role: "features",
      rows: 178,
      columns: [alcohol, tint],
      objects: ["1", "2", "3"],
      detected: "",
      raters: [],
    },
  ],
  problems: [{ file: "file 1", row: 2, column: 1, text: "“13,2” is not a number; write 13.2." }],
  choices: {
    metrics: ["euclidean", "cityblock", "cosine"],
    types: ["numeric", "nominal", "ordinal"],
    labels: ["colour"],
  },
};

// A drawn face, as the bytes of a picture.
const face = new TextEncoder().encode(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 44 44"><rect width="44" height="44" fill="#fff"/><circle cx="22" cy="22" r="18" fill="#fd9"/><circle cx="15" cy="18" r="3"/><circle cx="29" cy="18" r="3"/><path d="M13 28q9 8 18 0" stroke="#000" stroke-width="2" fill="none"/></svg>',
);
