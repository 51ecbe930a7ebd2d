/** What the user can do: each act asks the server and puts the answer into the store. */

import { type Channel, Refusal } from "./channel.ts";
import type { Camera, Point } from "./map/camera.ts";
import { type Tool, isDrawing, isPath } from "./map/tools.ts";
import type {
  Answer,
  Corrections,
  Event,
  Place,
  Reading,
  Request,
  Study,
  Suggestion,
  Value,
  View,
  Way,
} from "./protocol.ts";
import {
  type Draft,
  MOVING,
  type Pane,
  type State,
  type Store,
  found,
  freshStart,
  isFitting,
  isUnsaved,
  noCorrections,
  shownLabel,
} from "./store.ts";

const SETTLED = 400; // milliseconds without a change until a view is sent to the server

export class Acts {
  private cameras = new Map<string, Camera>(); // by coordinates
  private over = new Set<number>(); // jobs that have ended
  private names: string[] = []; // of the objects, as they came
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private store: Store,
    private channel: Channel,
  ) {
    channel.onEvent = (event) => this.hear(event);
    channel.onConnection = (connected) => {
      this.set({ connected });
      if (connected) void this.hello();
    };
    channel.onShutOut = () => this.set({ shutOut: true });
  }

  /** Show another part of a list. */
  turn(list: object, page: number): void {
    this.state.pages.set(list, page);
    this.set({});
  }

  private get state(): State {
    return this.store.state;
  }

  set(change: Partial<State>): void {
    this.store.set(change);
  }

  // ---- talking

  /** Ask; say it if the server refuses, and return null. */
  async ask(request: Request): Promise<Answer | null> {
    try {
      return await this.channel.ask(request);
    } catch (error) {
      const stale = error instanceof Refusal && error.stale;
      const text = stale
        ? "The study had changed in the meantime. This page has caught up; please try again."
        : String((error as Error).message);
      this.set({ notice: { text, level: "warning" } });
      return null;
    }
  }

  /** Ask for a change of the study as it is shown. */
  private change(request: Request): Promise<Answer | null> {
    return this.ask({ ...request, revision: this.state.study?.revision ?? 0 });
  }

  private async hello(): Promise<void> {
    const answer = await this.ask({ do: "hello", protocol: 1 });
    if (!answer) return;
    const { n, tree, jobs } = answer.state as Study;
    await this.take(answer.state);
    if (n && !tree.length && !jobs.length) await this.fit(); // a study that was just begun opens on a map
  }

  private hear(event: Event): void {
    const jobs = new Map(this.state.jobs);
    const job = jobs.get(event.job);
    if (event.event === "done" || event.event === "failed") this.over.add(event.job);
    switch (event.event) {
      case "state":
        void this.take(event.state);
        return;
      case "notice":
        this.set({ notice: { text: event.text, level: event.level } });
        return;
      case "progress": {
        const known = job ?? { job: event.job, kind: "fit", text: "", done: null };
        jobs.set(event.job, { ...known, text: event.text, done: event.done, stress: event.stress });
        const p = event.points && this.state.labels.length ? event.points.length / this.state.labels.length : 0;
        this.set({ jobs, ...(p >= 1 ? { live: { points: event.points, p } } : {}) });
        return;
      }
      case "failed":
        jobs.delete(event.job);
        this.forgetAsked(job?.step, job?.what);
        this.set({
          jobs,
          ...this.withoutLive(),
          // Nobody asked for the comparison with chance.
          ...(job?.what === "chance"
            ? {}
            : { notice: { text: event.error, level: event.cancelled ? "info" : "warning" } }),
        });
        return;
      case "done":
        jobs.delete(event.job);
        this.set({ jobs, ...this.withoutLive() });
        this.finished(event);
    }
  }

  /** Nothing moves any more, unless a map is coming that is to begin where the moving one ended. */
  private withoutLive(): Partial<State> {
    return isFitting(this.state) && this.state.study?.step !== this.state.shown ? {} : { live: null };
  }

  private finished(event: Event): void {
    if (event.what !== undefined) this.keep(event.step, event.what, event.result);
    else if (event.result?.name) download(event.result);
  }

  private keep(step: number, what: string, result: unknown): void {
    this.forgetAsked(step, what);
    this.set({ readings: new Map(this.state.readings).set(`${step} ${what}`, result) });
  }

  private forgetAsked(step?: number, what?: string): void {
    const asked = new Set(this.state.asked);
    asked.delete(`${step} ${what}`);
    this.set({ asked });
  }

  /** Take over the state of the study, and fetch what is new in it. */
  private async take(study: Study): Promise<void> {
    const last = this.state.study;
    const other = !last || last.study !== study.study || last.n !== study.n;
    const columns = new Map(
      [...this.state.columns].filter(
        ([key]) => !other && (last.revision === study.revision || !key.startsWith("known:")),
      ),
    );
    const jobs = new Map(study.jobs.map((job) => [job.job, { ...this.state.jobs.get(job.job), ...job }]));
    this.set({ study, jobs, columns, ...(other ? this.fresh(study) : this.painted(study, this.state)) });
    if (study.step === this.state.shown && !isFitting(this.state)) this.set({ live: null });
    if (study.n === 0) return this.loadDatasets();
    if (other) await this.loadNames();
    await Promise.all([
      this.arrive(study),
      ...[this.state.colour, this.state.shape].map((key) => this.loadColumn(key)),
    ]);
    if (other && study.pictures) void this.loadPictures();
  }

  private async loadNames(): Promise<void> {
    this.names = (await this.ask({ do: "objects" }))?.labels ?? [];
    this.set({ labels: this.names.map(shownLabel) });
  }

  private fresh(study: Study): Partial<State> {
    for (const url of this.state.pictures.values()) URL.revokeObjectURL(url);
    this.cameras.clear();
    return {
      labels: [],
      maps: new Map(),
      shown: null,
      before: null,
      live: null,
      pictures: new Map(),
      readings: new Map(),
      asked: new Set(),
      selection: new Set(),
      focus: null,
      colour: null,
      shape: null,
      hiddenLevels: new Set(),
      query: "",
      draft: null,
      groups: [],
      contrast: null,
      compare: null,
      editing: null,
      taken: null,
      starting: study.n === 0 ? freshStart() : null,
    };
  }

  // ---- maps

  async loadMap(step: number): Promise<void> {
    if (this.state.maps.has(step)) return;
    const answer = await this.ask({ do: "map", step });
    if (answer) this.set({ maps: new Map(this.state.maps).set(step, answer as any) });
  }

  /** Show the map of the step where the study is now, coming from the one that was shown. */
  private async arrive(study: Study): Promise<void> {
    const { step } = study;
    const last = this.state.shown;
    if (step === null) return this.set({ shown: null, before: null, draft: null, groups: [] });
    if (step === last) return;
    // Another state may come while this waits. Whoever shows the map first clears the draft; a second time would lose a new one.
    const overtaken = () => this.state.study?.step !== step || this.state.shown !== last;
    await this.loadMap(step);
    if (overtaken()) return;
    const seen = this.state.live?.points ?? (last === null ? null : this.state.maps.get(last)?.points);
    const before = seen && seen.length === this.state.maps.get(step)?.points.length ? seen : null;
    this.set({
      shown: step,
      before,
      live: null,
      draft: null,
      groups: [],
      contrast: null,
      marked: 0,
      space: false,
      ...this.restored(study, step),
    });
    if (this.state.compare === step) this.set({ compare: null });
    await Promise.all([this.loadColumn(this.state.colour), this.loadColumn(this.state.shape), this.read("chance")]);
  }

  private restored(study: Study, step: number): Partial<State> {
    const view: View | undefined = study.views[step];
    if (!view) return { axes: [0, 1] };
    if (view.camera) this.cameras.set(coordinatesOf(step, view.axes), view.camera);
    return {
      axes: view.axes,
      selection: new Set(view.selection),
      hiddenLevels: new Set(),
      ...this.painted(study, view),
    };
  }

  /** Return what colours and shapes show; a feature that was undone is shown by the column of the same name. */
  private painted(study: Study, { colour, shape }: Pick<State, "colour" | "shape">): Partial<State> {
    const keys = new Set(study.columns.map(({ key }) => key));
    const there = (key: string | null) =>
      [key, key?.replace(/^known:/, "table:")].find((own) => own && keys.has(own)) ?? null;
    return { colour: there(colour), shape: there(shape) };
  }

  cameraFor(coordinates: string): Camera | null {
    return this.cameras.get(coordinates) ?? null;
  }

  looked(camera: Camera): void {
    const { shown, axes, space } = this.state;
    if (shown === null || space) return;
    this.cameras.set(coordinatesOf(shown, axes), camera);
    this.rememberView();
  }

  /** Leave the view with the server, once it has settled, so that a reload finds it. */
  private rememberView(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { shown, axes, selection, colour, shape } = this.state;
      if (shown === null || !this.state.connected) return;
      const camera = this.cameras.get(coordinatesOf(shown, axes)) ?? null;
      void this.ask({ do: "view", step: shown, view: { camera, axes, selection: [...selection], colour, shape } });
    }, SETTLED);
  }

  setAxes(axes: [number, number]): void {
    this.set({ axes, space: false, draft: null, groups: [] });
    this.rememberView();
  }

  /** Look at three axes at once; a path needs a plane to be drawn in. */
  seeSpace(): void {
    this.set({ space: true, draft: null, groups: [], tool: isPath(this.state.tool) ? "pan" : this.state.tool });
  }

  async loadColumn(key: string | null): Promise<void> {
    if (key === null || this.state.columns.has(key)) return;
    const answer = await this.ask({ do: "column", key });
    if (answer) this.set({ columns: new Map(this.state.columns).set(key, answer as any) });
  }

  private async loadPictures(): Promise<void> {
    const answer = await this.ask({ do: "pictures", objects: this.state.labels.map((_, i) => i) });
    const pictures = new Map<number, string>();
    for (const { object, mime, data } of answer?.pictures ?? [])
      pictures.set(object, URL.createObjectURL(new Blob([data], { type: mime })));
    this.set({ pictures });
  }

  async paint(what: "colour" | "shape", key: string | null): Promise<void> {
    await this.loadColumn(key);
    this.set(what === "colour" ? { colour: key, hiddenLevels: new Set() } : { shape: key });
    this.rememberView();
  }

  toggleLevel(level: number): void {
    const hiddenLevels = toggled(this.state.hiddenLevels, [level]);
    this.set({ hiddenLevels });
  }

  // ---- choosing objects

  choose(objects: number[], how: "only" | "toggle"): void {
    this.set({ selection: how === "only" ? new Set(objects) : toggled(this.state.selection, objects), contrast: null });
    this.rememberView();
  }

  /** Put the focus on the next object that was found. */
  nextFound(): void {
    const objects = [...found(this.state)];
    const { focus } = this.state;
    if (objects.length) this.set({ focus: objects.find((object) => object > (focus ?? -1)) ?? objects[0] });
  }

  clear(): void {
    this.set({ selection: new Set(), focus: null, draft: null, groups: [], contrast: null });
    this.rememberView();
  }

  /** A lasso, a rectangle, or one more group was drawn. */
  area(objects: number[], tool: Tool, outline: Point[] = []): void {
    if (this.moves(tool)) return;
    if (tool !== "groups") {
      this.set({ selection: new Set(objects), contrast: null });
      this.rememberView();
      if (tool === "lasso" && objects.length) void this.recogniseGroups([objects], "lasso", { outlines: [outline] });
      return;
    }
    if (!objects.length) return;
    const taken = new Set(objects);
    const { draft, groups: drawn } = this.state;
    const names = draft?.from === "groups" ? draft.groupNames : [];
    const left = drawn.map((group, k) => ({
      group: group.filter((object) => !taken.has(object)),
      name: names[k] ?? `group ${k + 1}`,
    }));
    const gone = left.filter(({ group }) => !group.length);
    if (gone.length)
      this.set({
        notice: { text: `Nothing is left of ${gone.map(({ name }) => `“${name}”`).join(", ")}.`, level: "info" },
      });
    const kept = left.filter(({ group }) => group.length);
    const groups = [...kept.map(({ group }) => group), objects];
    this.set({ groups });
    const outlines = [...(draft?.from === "groups" ? draft.outlines : []), outline];
    void this.recogniseGroups(groups, "groups", { names: kept.map(({ name }) => name), drawn: objects, outlines });
  }

  /** Whether something was drawn on the map of a running fit, which no feature can be read off; says why not. */
  private moves(tool: Tool): boolean {
    const moves = this.state.live !== null && isDrawing(tool);
    if (moves) this.set({ notice: { text: MOVING, level: "info" } });
    return moves;
  }

  // ---- recognising

  /** Begin a draft of groups, or go on with it: names given so far stay, and so do corrections of objects not drawn around now. */
  async recogniseGroups(
    groups: number[][],
    from: string,
    { names, drawn = groups.flat(), outlines = [] }: { names?: string[]; drawn?: number[]; outlines?: Point[][] } = {},
  ): Promise<void> {
    const { draft } = this.state;
    const before = draft?.groups.length ? draft : null;
    const groupNames = [...(names ?? before?.groupNames.slice(0, groups.length) ?? [])];
    while (groupNames.length < groups.length) groupNames.push(freeName(groupNames));
    const corrections = { ...before?.corrections };
    const redrawn = drawn.filter((object) => takeOut(corrections, object)).length;
    if (redrawn)
      this.set({ notice: { text: `${redrawn} corrected by hand, and drawn around now: as drawn.`, level: "info" } });
    await this.recognise({
      from,
      way: groupsWay(groups, groupNames),
      groups,
      groupNames,
      outlines,
      corrections,
      type: before?.type ?? "",
      name: draft?.name,
      why: draft?.why,
    });
  }

  /** Call a group of the draft something else; false if another one is called so. */
  renameGroup(k: number, name: string): boolean {
    const { draft } = this.state;
    if (!draft) return false;
    if (draft.groupNames.some((other, at) => at !== k && other.trim() === name.trim())) {
      this.set({
        notice: {
          text: `Another group is called “${name.trim()}”; choose another name, or draw around both as one group.`,
          level: "warning",
        },
      });
      return false;
    }
    const old = draft.groupNames[k];
    const corrections = Object.fromEntries(
      Object.entries(draft.corrections).map(([object, text]) => [object, text === old ? name : text]),
    );
    this.edit({ groupNames: draft.groupNames.map((other, at) => (at === k ? name : other)), corrections });
    return true;
  }

  async path(points: Point[], objects: (number | null)[], tool: Tool): Promise<void> {
    if (this.moves(tool)) return;
    const places = points.map(({ x, y }, k): Place => (objects[k] === null ? [x, y] : { object: objects[k] }));
    await this.recognise({ from: tool, way: { along: places, axes: this.state.axes }, path: points });
  }

  async recogniseSuggestion({ what, name, way }: Suggestion): Promise<void> {
    if (way) await this.recognise({ from: what, way, name });
  }

  /** Begin a draft and ask for its values: one round trip. */
  async recognise(begun: Partial<Draft> & { from: string; way: Way }): Promise<void> {
    const draft: Draft = {
      preview: null,
      type: "",
      corrections: {},
      sort: "value",
      groups: [],
      groupNames: [],
      path: [],
      outlines: [],
      ...begun,
      name: begun.name ?? "",
      why: begun.why ?? "",
    };
    this.set({ draft, pane: "recognise", naming: this.state.naming + (draft.from === "groups" ? 0 : 1) });
    await this.preview();
  }

  private async preview(): Promise<void> {
    const asked = this.state.draft;
    if (!asked) return;
    const answer = await this.ask({ do: "preview", way: asked.way, ...(asked.type ? { kind: asked.type } : {}) });
    const draft = this.state.draft;
    if (draft?.way !== asked.way || draft.type !== asked.type) return; // something else was drawn meanwhile
    if (!answer) return this.set({ draft: null });
    this.set({ draft: { ...draft, preview: answer as any, name: draft.name || answer.name || "" } });
  }

  edit(change: Partial<Draft>): void {
    const { draft } = this.state;
    if (!draft) return;
    const edited = { ...draft, ...change };
    if (change.groupNames) edited.way = groupsWay(edited.groups, edited.groupNames);
    this.set({ draft: edited });
    if (change.groupNames || change.type !== undefined) void this.preview();
  }

  /** Adopt the draft, and fit given it. */
  async condition(): Promise<void> {
    const { draft } = this.state;
    if (!draft) return;
    const unnamed = !draft.name.trim()
      ? "Name it first: what is it that you see?"
      : draft.groupNames.some((name) => !name.trim())
        ? "Name each group first."
        : null;
    if (unnamed) return this.set({ notice: { text: unnamed, level: "info" }, naming: this.state.naming + 1 });
    const corrections = Object.fromEntries(
      Object.entries(draft.corrections).map(([object, text]) => [object, asValue(text)]),
    );
    const kind = draft.type ? { kind: draft.type } : {};
    const adopted = await this.change({
      do: "adopt",
      name: draft.name.trim(),
      way: draft.way,
      why: draft.why,
      corrections,
      ...kind,
    });
    if (!adopted) return;
    this.set({ draft: null, groups: [], selection: new Set() });
    const key = this.state.study?.known.find(({ name }) => name === draft.name.trim())?.key;
    if (key) await this.paint("colour", key); // to be seen on the next map, should that repeat it
    await this.fit();
  }

  async compareGroups(): Promise<void> {
    const group = [...this.state.selection];
    this.set({ contrast: { rows: null, of: group.length }, pane: "read" });
    const answer = await this.ask({ do: "contrast", group });
    this.set({ contrast: answer ? { rows: answer.rows, of: group.length } : null });
  }

  // ---- what is known

  async use(name: string, on: boolean): Promise<void> {
    await this.change({ do: "use", name, on });
  }

  async amend(name: string, change: { values?: Record<number, Value>; kind?: string; rename?: string }): Promise<void> {
    await this.change({ do: "amend", name, ...change });
  }

  async editCells(name: string | null, key?: string): Promise<void> {
    if (key) await this.loadColumn(key);
    this.set({ editing: name });
  }

  // ---- the loop

  /** Fit the next map, as the options say; what they leave open is as in the map that is shown. */
  async fit(options: Record<string, unknown> = {}): Promise<void> {
    const { n_components, estimator, adjust } = this.state.fitting;
    const chosen = { ...(n_components ? { n_components } : {}), ...(estimator ? { estimator } : {}) };
    const answer = await this.change({
      do: "fit",
      adjust: adjust === "auto" ? adjust : adjust === "yes",
      ...chosen,
      ...options,
    });
    if (answer) this.begun(answer.job, "fit", "fitting a map");
  }

  private begun(job: number, kind: string, text: string, more: object = {}): void {
    if (this.over.has(job)) return; // it ended before its beginning was heard of
    const known = this.state.jobs.get(job); // the state of the study may have come before the answer
    this.set({ jobs: new Map(this.state.jobs).set(job, { job, kind, text, done: null, ...known, ...more }) });
  }

  async cancel(job: number): Promise<void> {
    const running = this.state.jobs.get(job);
    if (running) this.set({ jobs: new Map(this.state.jobs).set(job, { ...running, stopping: true }) });
    await this.ask({ do: "cancel", job });
  }

  /** End the worker with a job that does not stop. */
  async restart(): Promise<void> {
    await this.ask({ do: "restart" });
  }

  async go(to: number): Promise<void> {
    await this.change({ do: "go", to });
  }

  async undo(): Promise<void> {
    await this.change({ do: "undo" });
  }

  async redo(): Promise<void> {
    await this.change({ do: "redo" });
  }

  async without(action: number): Promise<void> {
    const answer = await this.change({ do: "without", action });
    if (answer) this.begun(answer.job, "without", "repeating what followed");
  }

  async rename(title: string): Promise<void> {
    await this.change({ do: "title", title });
  }

  async compareWith(step: number | null): Promise<void> {
    if (step !== null) await this.loadMap(step);
    this.set({ compare: step });
  }

  // ---- reading

  async read(what: Reading | "ellipses"): Promise<void> {
    const step = this.state.shown;
    if (step === null) return;
    const key = `${step} ${what}`;
    if (this.state.readings.has(key) || this.state.asked.has(key)) return;
    this.set({ asked: new Set(this.state.asked).add(key) });
    const answer = await this.ask(what === "ellipses" ? { do: "ellipses", step } : { do: "read", step, what });
    if (!answer) this.forgetAsked(step, what);
    else if (answer.result !== undefined) this.keep(step, what, answer.result);
    else this.begun(answer.job, "read", what, { step, what });
  }

  async showEllipses(ellipses: boolean): Promise<void> {
    this.set({ show: { ...this.state.show, ellipses } });
    if (ellipses) await this.read("ellipses");
  }

  openPane(pane: Pane): void {
    this.set({ pane });
    if (pane === "history") for (const { id, fit } of this.state.study?.tree ?? []) if (fit) void this.loadMap(id);
  }

  // ---- beginning and taking away

  private async loadDatasets(): Promise<void> {
    const answer = await this.ask({ do: "datasets" });
    this.starting({ datasets: answer?.rows ?? [] });
    const maps = await this.ask({ do: "examples" });
    this.starting({ maps: maps?.maps ?? {} });
  }

  async startAnew(): Promise<void> {
    this.set({ starting: freshStart() });
    await this.loadDatasets();
  }

  async addFiles(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      this.starting({ busy: true });
      try {
        const name = await this.channel.upload(file);
        this.starting({ files: [...(this.state.starting?.files ?? []), { file: name, name: file.name }] });
      } catch (error) {
        this.set({ notice: { text: `${file.name}: ${(error as Error).message}`, level: "warning" } });
      }
    }
    this.starting({ busy: false });
    const study = this.state.starting?.files.find(({ name }) => name.toLowerCase().endsWith(".zip"));
    await (study ? this.goOn(study.file) : this.detect());
  }

  /** Go on with a study that was saved; if it is none, its file is forgotten. */
  private async goOn(file: string, sure = false): Promise<void> {
    if (!sure && isUnsaved(this.state)) return this.starting({ begin: () => void this.goOn(file, true) });
    this.starting({ busy: true, begin: null });
    if (await this.change({ do: "begin", study: file })) return this.set({ starting: null });
    this.starting({ busy: false, files: this.state.starting!.files.filter((other) => other.file !== file) });
    await this.detect();
  }

  async correct(change: Partial<Corrections>): Promise<void> {
    const { starting } = this.state;
    if (!starting) return;
    this.starting({ corrections: { ...starting.corrections, ...change } });
    await this.detect();
  }

  private async detect(): Promise<void> {
    const { starting } = this.state;
    if (!starting?.files.length) return;
    this.starting({ busy: true });
    const answer = await this.ask({
      do: "detect",
      files: starting.files.map(({ file }) => file),
      corrections: starting.corrections,
    });
    const now = this.state.starting;
    if (now?.files !== starting.files || now.corrections !== starting.corrections) return; // corrected again meanwhile
    this.starting({ busy: false, ...(answer ? { detected: answer as any } : {}) });
  }

  /** Begin a study; first ask whether the one before may be lost, if it would be. */
  async begin(dataset?: string, sure = false): Promise<void> {
    const { starting } = this.state;
    if (!starting) return;
    if (!sure && isUnsaved(this.state)) return this.starting({ begin: () => void this.begin(dataset, true) });
    this.starting({ busy: true, begin: null });
    const { files, corrections, detected } = starting;
    const what = dataset
      ? { dataset }
      : { files: files.map(({ file }) => file), corrections, title: detected?.title ?? "" };
    const answer = await this.change({ do: "begin", ...what });
    if (answer) this.set({ starting: null });
    else this.starting({ busy: false });
  }

  /** Begin nothing, and go back to the study that there is. */
  stay(): void {
    this.set({ starting: null });
  }

  dropFiles(): void {
    this.starting({ files: [], detected: null, corrections: noCorrections(), begin: null });
  }

  private starting(change: Partial<NonNullable<State["starting"]>>): void {
    const { starting } = this.state;
    if (starting) this.set({ starting: { ...starting, ...change } });
  }

  async takeAway(what: string): Promise<void> {
    const revision = this.state.study?.revision ?? null;
    const answer = await this.ask({ do: "take", what });
    if (!answer) return;
    if (what === "study") this.set({ taken: revision });
    if (answer.job !== undefined) this.begun(answer.job, "take", `making the ${what}`);
    else download(answer as any);
  }

  async copyNames(): Promise<void> {
    const names = [...this.state.selection].map((object) => this.names[object]);
    try {
      await navigator.clipboard.writeText(names.join("\n"));
      this.set({ notice: { text: `${names.length} names were copied.`, level: "info" } });
    } catch {
      download({ data: new TextEncoder().encode(names.join("\n")), name: "names.txt", mime: "text/plain" });
    }
  }
}

/** Name the coordinates that a map shows: the camera moves when this changes. */
export const coordinatesOf = (step: number, axes: [number, number]) => `${step}: ${axes.join(" ")}`;

/** Return the first of “group 1”, “group 2”, … that no group has. */
function freeName(names: string[]): string {
  let k = names.length + 1;
  while (names.includes(`group ${k}`)) k++;
  return `group ${k}`;
}

/** Take an entry out, if there is one, and say whether there was. */
const takeOut = (entries: Record<number, string>, key: number): boolean => key in entries && delete entries[key];

const groupsWay = (groups: number[][], names: string[]): Way => ({
  groups: Object.fromEntries(groups.map((group, k) => [names[k], group])),
});

/** Return what was typed into a cell: nothing is missing; of text the server knows by the feature whether it is a number. */
export const asValue = (text: string): string | null => text.trim() || null;

function toggled<T>(set: Set<T>, members: T[]): Set<T> {
  const changed = new Set(set);
  for (const member of members) if (!changed.delete(member)) changed.add(member);
  return changed;
}

/** Let the browser save a file: from an address of the server, or from bytes. */
export function download({
  url,
  data,
  name,
  mime,
}: {
  url?: string;
  data?: Uint8Array;
  name: string;
  mime?: string;
}): void {
  const link = document.createElement("a");
  const own = data ? URL.createObjectURL(new Blob([data as BlobPart], { type: mime ?? "" })) : null;
  link.href = own ?? url ?? "";
  link.download = name;
  link.click();
  if (own) setTimeout(() => URL.revokeObjectURL(own), 1000);
}
