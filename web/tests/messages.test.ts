import assert from "node:assert/strict";
import { test } from "node:test";
import { Acts, asValue } from "../src/acts.ts";
import { AnyChannel, type Channel, Refusal } from "../src/channel.ts";
import { decode } from "../src/msgpack.ts";
import type { Request, Study } from "../src/protocol.ts";
import { Store, digits, hiddenObjects, isUnsaved, textOf } from "../src/store.ts";

const PACKED =
  "iKJpZAOkbmFtZaLDhKRub25lwKNmYXLR/tSkaGFsZss/4AAAAAAAAKZwb2ludHPHDAEAAIA/AAAAQAAAQECkZGF0YcQBYaRsaXN0kcM=";

test("a message of the server is read", () => {
  // encode({"id": 3, "name": "Ä", "none": None, "far": -300, "half": 0.5, "points": f4 [1, 2, 3], "data": b"a", "list": [True]})
  const message = decode(Uint8Array.from(atob(PACKED), (letter) => letter.charCodeAt(0)));
  const points = Float32Array.from([1, 2, 3]);
  const data = Uint8Array.from([97]);
  assert.deepEqual(message, { id: 3, name: "Ä", none: null, far: -300, half: 0.5, points, data, list: [true] });
});

test("a message that is cut off is an error", () =>
  assert.throws(() => decode(Uint8Array.from([0xa5, 65])), /shorter/));

class Echo extends AnyChannel {
  sent: any[] = [];
  protected send(message: object): void {
    this.sent.push(message);
  }
  async upload(): Promise<string> {
    return "";
  }
  hear(message: object): void {
    this.receive(message);
  }
  drop(): void {
    this.lose();
  }
}

test("answers go to whoever asked, in any order", async () => {
  const channel = new Echo();
  const [first, second] = [channel.ask({ do: "a" }), channel.ask({ do: "b" })];
  channel.hear({ id: 2, ok: true, text: "b" });
  channel.hear({ id: 1, ok: false, error: "no", stale: true });
  assert.equal((await second).text, "b");
  await assert.rejects(first, (error: Refusal) => error.stale && error.message === "no");
});

test("whoever waits hears that the connection is lost", async () => {
  const channel = new Echo();
  const waiting = channel.ask({ do: "a" });
  channel.drop();
  await assert.rejects(waiting, /lost/);
});

// ---- acts, with a server that is written down here

const study: Study = {
  study: 1,
  revision: 5,
  title: "t",
  n: 3,
  here: 1,
  step: 1,
  known: [],
  undo: null,
  redo: null,
  jobs: [],
  pictures: false,
  saved: null,
  views: {},
  columns: ["known:g", "table:h"].map((key) => ({ key, name: key, scale: "number", known: key === "known:g" })),
  tree: [{ id: 1, parent: 0, kind: "fit", text: "fit 1", why: "" }],
};

function workbench(change: Partial<Study> = {}, answers: Record<string, (request: any) => any> = {}) {
  const asked: Request[] = [];
  const known: Record<string, (request: any) => any> = {
    hello: () => ({ state: { ...study, ...change } }),
    objects: () => ({ labels: ["a", "b", "c"] }),
    map: ({ step }) => ({
      step,
      axes: ["axis1", "axis2"],
      points: Float32Array.from([0, 0, 1, step === 1 ? 9 : 0, 0, 1]),
      stress: new Float32Array(3),
    }),
    view: () => ({}),
    preview: () => ({
      type: "numeric",
      scale: "number",
      values: Float32Array.from([1, 2, 3]),
      known: 0.5,
      warnings: [],
    }),
    column: ({ key }) => ({ scale: "number", values: Float32Array.from([1, 2, 3]), key }),
    ...answers,
  };
  const channel: Channel = {
    async ask(request) {
      if (request.what === "chance") return { result: { stress: 0.2 } }; // of every map that is shown
      asked.push(request);
      if (!known[request.do]) throw new Refusal(`cannot ${request.do}`);
      return known[request.do](request);
    },
    upload: async () => "f1",
    onEvent: () => {},
    onConnection: () => {},
    onShutOut: () => {},
  };
  const store = new Store();
  const acts = new Acts(store, channel);
  return { asked, channel, store, acts };
}

const settle = () => new Promise((done) => setTimeout(done, 5));

test("the page fetches labels and the map, once", async () => {
  const { channel, store, asked } = workbench();
  channel.onConnection(true);
  await settle();
  assert.deepEqual(store.state.labels, ["a", "b", "c"]);
  assert.equal(store.state.shown, 1);
  channel.onEvent({ event: "state", state: { ...study, revision: 6 } });
  await settle();
  assert.deepEqual(
    asked.map((request) => request.do),
    ["hello", "objects", "map"],
  );
});

test("a new step comes from the old one", async () => {
  const { channel, store } = workbench();
  channel.onConnection(true);
  await settle();
  channel.onEvent({ event: "state", state: { ...study, revision: 6, here: 2, step: 2 } });
  await settle();
  assert.equal(store.state.shown, 2);
  assert.equal(store.state.before![3], 9);
});

test("what is drawn on a new map stays, when a second state tells of the same map", async () => {
  const answers: (() => void)[] = [];
  const { acts, channel, store } = workbench(
    {},
    {
      map: ({ step }) => {
        const answer = { step, axes: ["axis1", "axis2"], points: new Float32Array(6), stress: new Float32Array(3) };
        return step === 2 ? new Promise((done) => answers.push(() => done(answer))) : answer;
      },
    },
  );
  channel.onConnection(true);
  await settle();
  channel.onEvent({ event: "state", state: { ...study, revision: 6, here: 2, step: 2 } });
  channel.onEvent({ event: "state", state: { ...study, revision: 7, here: 2, step: 2 } });
  await settle();
  answers[0]();
  await settle();
  await acts.path(
    [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ],
    [null, 2],
    "arrow",
  );
  answers[1]();
  await settle();
  assert.equal(store.state.shown, 2);
  assert.equal(store.state.draft?.from, "arrow");
});

test("a feature without a name is not adopted, and the page says so", async () => {
  const { acts, channel, asked, store } = workbench({}, { adopt: () => ({ action: 2 }) });
  channel.onConnection(true);
  await settle();
  await acts.path(
    [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ],
    [null, 2],
    "arrow",
  );
  acts.edit({ name: "  " });
  await acts.condition();
  assert.ok(!asked.some((request) => request.do === "adopt"));
  assert.match(store.state.notice!.text, /name/i);
});

test("an arrow asks once for its values, and adopting carries revision, corrections and why", async () => {
  const { acts, channel, asked, store } = workbench({}, { adopt: () => ({ action: 2 }), fit: () => ({ job: 4 }) });
  channel.onConnection(true);
  await settle();
  asked.length = 0;
  await acts.path(
    [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ],
    [null, 2],
    "arrow",
  );
  assert.deepEqual(asked, [{ do: "preview", way: { along: [[0, 0], { object: 2 }], axes: [0, 1] } }]);
  acts.edit({ name: " size ", why: "it grows", corrections: { 1: "2.5", 2: "" } });
  await acts.condition();
  assert.deepEqual(asked[1], {
    do: "adopt",
    name: "size",
    way: asked[0].way,
    why: "it grows",
    corrections: { 1: "2.5", 2: null },
    revision: 5,
  });
  assert.deepEqual(asked[2], { do: "fit", adjust: "auto", revision: 5 });
  assert.equal(store.state.jobs.get(4)?.kind, "fit");
});

test("an object is in the last group that was drawn around it, and in no other", async () => {
  const { acts, store } = workbench();
  acts.area([0, 1], "groups");
  acts.area([1, 2], "groups");
  await settle();
  assert.deepEqual(store.state.groups, [[0], [1, 2]]);
  assert.deepEqual(store.state.draft!.way, { groups: { "group 1": [0], "group 2": [1, 2] } });
});

test("groups keep their names and corrections when another one is drawn", async () => {
  const { acts, store } = workbench();
  acts.area([0], "groups");
  acts.area([1], "groups");
  await settle();
  assert.ok(acts.renameGroup(0, "women"));
  assert.ok(acts.renameGroup(1, "men"));
  acts.edit({ corrections: { 2: "men", 1: "women" }, type: "nominal" });
  await settle();
  acts.area([0, 1], "groups"); // nothing is left of both
  acts.area([0], "groups");
  await settle();
  const draft = store.state.draft!;
  assert.deepEqual(draft.way, { groups: { "group 1": [1], "group 2": [0] } });
  assert.deepEqual([draft.corrections, draft.type], [{ 2: "men" }, "nominal"]);
});

test("a group that is dropped takes its name along, and no other", async () => {
  const { acts, store } = workbench();
  acts.area([0], "groups");
  acts.area([1], "groups");
  await settle();
  acts.renameGroup(0, "women");
  acts.renameGroup(1, "men");
  acts.area([0, 2], "groups");
  await settle();
  assert.deepEqual(store.state.draft!.way, { groups: { men: [1], "group 2": [0, 2] } });
  assert.match(store.state.notice!.text, /left of “women”/);
});

test("two groups do not get the same name", async () => {
  const { acts, store } = workbench();
  acts.area([0], "groups");
  acts.area([1], "groups");
  await settle();
  assert.equal(acts.renameGroup(1, " group 1 "), false);
  assert.deepEqual(store.state.draft!.way, { groups: { "group 1": [0], "group 2": [1] } });
  assert.match(store.state.notice!.text, /Another group is called “group 1”/);
});

test("nothing is read off the map of a running fit", async () => {
  const { acts, asked, store } = workbench();
  store.set({ live: { points: new Float32Array(6), p: 2 } });
  acts.area([0, 1], "lasso");
  acts.area([0, 1], "groups");
  await acts.path(
    [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ],
    [null, null],
    "arrow",
  );
  assert.deepEqual([asked, store.state.draft, store.state.groups], [[], null, []]);
  assert.match(store.state.notice!.text, /still being fitted/);
  acts.area([0, 1], "select");
  assert.equal(store.state.selection.size, 2);
});

test("a step that was left while its map was fetched is not shown", async () => {
  let aligned = (): void => {};
  const points = { step: 1, axes: ["a", "b"], points: new Float32Array(6), stress: new Float32Array(3) };
  const { channel, store } = workbench(
    {},
    {
      map: ({ step }) => (step === 2 ? new Promise((done) => (aligned = () => done(points))) : { ...points, step }),
    },
  );
  channel.onConnection(true);
  await settle();
  channel.onEvent({ event: "state", state: { ...study, revision: 6, here: 2, step: 2 } });
  await settle();
  channel.onEvent({ event: "state", state: { ...study, revision: 7, here: 3, step: 3 } });
  await settle();
  assert.equal(store.state.shown, 3);
  aligned();
  await settle();
  assert.equal(store.state.shown, 3);
});

test("another study begins only when the one that is shown is saved, taken away, or may be lost", async () => {
  const more = [1, 2].map((id) => ({ ...study.tree[0], id, parent: id - 1 }));
  const { acts, channel, asked, store } = workbench(
    { tree: more },
    { datasets: () => ({ rows: [] }), begin: () => ({}), take: () => ({ job: 3 }) },
  );
  channel.onConnection(true);
  await settle();
  const begun = () => asked.filter((request) => request.do === "begin");
  await acts.startAnew();
  await acts.begin("kinship");
  assert.deepEqual(begun(), []);
  store.state.starting!.begin!();
  await settle();
  assert.deepEqual(begun(), [{ do: "begin", dataset: "kinship", revision: 5 }]);
  await acts.startAnew();
  await acts.takeAway("study");
  await acts.begin("kinship");
  assert.equal(begun().length, 2);
  for (const [change, unsaved] of [
    [{ tree: more }, true],
    [{}, false],
    [{ tree: more, saved: "x" }, false],
  ] as const)
    assert.equal(isUnsaved({ study: { ...study, ...change }, taken: 4 }), unsaved);
});

test("a refusal is said, and a stale page is told to try again", async () => {
  const { acts, store } = workbench(
    {},
    {
      go: () => {
        throw new Refusal("old", true);
      },
    },
  );
  await acts.undo();
  assert.equal(store.state.notice?.text, "cannot undo");
  await acts.go(0);
  assert.match(store.state.notice!.text, /caught up/);
});

test("known columns are fetched anew when the study changes, others are not", async () => {
  const { acts, channel, store, asked } = workbench();
  channel.onConnection(true);
  await settle();
  await acts.paint("colour", "known:g");
  await acts.paint("shape", "table:h");
  asked.length = 0;
  channel.onEvent({ event: "state", state: { ...study, revision: 6 } });
  await settle();
  assert.deepEqual(
    asked.map(({ do: act, key }) => [act, key]),
    [["column", "known:g"]],
  );
  assert.ok(store.state.columns.has("known:g"));
});

test("a reload finds the view of the step", async () => {
  const camera = { x: 1, y: 2, zoom: 3 };
  const { acts, channel, store } = workbench({
    views: { 1: { camera, axes: [0, 1], selection: [2], colour: "table:h", shape: null } },
  });
  channel.onConnection(true);
  await settle();
  assert.deepEqual([...store.state.selection], [2]);
  assert.equal(store.state.colour, "table:h");
  assert.deepEqual(acts.cameraFor("1: 0 1"), camera);
});

test("a job that the state told of before its answer is still known by what was asked", async () => {
  const { acts, channel, store } = workbench(
    {},
    {
      read: () => {
        channel.onEvent({
          event: "state",
          state: { ...study, jobs: [{ job: 9, kind: "scree", text: "scree", done: 0.5 }] },
        });
        return { job: 9 };
      },
    },
  );
  channel.onConnection(true);
  await settle();
  await acts.read("scree");
  assert.deepEqual(store.state.jobs.get(9), {
    job: 9,
    kind: "scree",
    text: "scree",
    done: 0.5,
    step: 1,
    what: "scree",
  });
  channel.onEvent({ event: "failed", job: 9, kind: "scree", error: "no", cancelled: false });
  assert.equal(store.state.asked.size, 0);
});

test("a job that ended before its answer came is not running", async () => {
  const { acts, channel, store } = workbench(
    {},
    {
      fit: () => {
        channel.onEvent({ event: "done", job: 3, kind: "fit", text: "" });
        return { job: 3 };
      },
    },
  );
  await acts.fit({});
  assert.equal(store.state.jobs.size, 0);
});

test("readings are kept by step, and a job that failed can be asked for again", async () => {
  const { acts, channel, store, asked } = workbench({}, { read: () => ({ job: 9 }) });
  channel.onConnection(true);
  await settle();
  await acts.read("scree");
  await acts.read("scree");
  assert.equal(asked.filter((request) => request.do === "read").length, 1);
  channel.onEvent({ event: "failed", job: 9, kind: "read", error: "worker died", cancelled: false });
  await acts.read("scree");
  assert.equal(asked.filter((request) => request.do === "read").length, 2);
  channel.onEvent({ event: "done", job: 10, kind: "read", step: 1, what: "scree", result: { stress: [1], elbow: 1 } });
  assert.deepEqual(store.state.readings.get("1 scree"), { stress: [1], elbow: 1 });
  assert.equal(store.state.asked.size, 0);
});

test("what is typed into a cell", () => {
  assert.deepEqual(["", " 2.5 ", "two", "007"].map(asValue), [null, "2.5", "two", "007"]);
});

test("values and numbers as text", () => {
  const levels = { scale: "category" as const, levels: ["x", "y"], values: Float32Array.from([1, NaN]) };
  assert.deepEqual([textOf(levels, 0), textOf(levels, 1), textOf(null, 0)], ["y", "", ""]);
  assert.deepEqual(
    [12345, 20240315, 1, -7, 2 ** 31].map((value) => digits(value, 20240315)),
    ["12345", "20240315", "1", "-7", "2147483648"],
  );
  assert.deepEqual([digits(12345.678), digits(123.456), digits(1e-9, 1)], ["12345.68", "123.5", "0"]);
  assert.deepEqual([digits(0.123456), digits(0), digits(null), digits(0.00001)], ["0.1235", "0", "–", "1.0e-5"]);
});

test("levels that were put out in the legend hide their objects", () => {
  const store = new Store();
  const values = { scale: "category" as const, levels: ["x", "y"], values: Float32Array.from([1, NaN, 0]) };
  store.set({
    labels: ["a", "b", "c"],
    colour: "k",
    columns: new Map([["k", values]]),
    hiddenLevels: new Set([-1, 0]),
  });
  assert.deepEqual([...hiddenObjects(store.state)], [0, 1, 1]);
});
