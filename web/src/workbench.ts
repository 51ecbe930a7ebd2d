/** The whole page, from the state to HTML, and the maps that stand in it. The same in a browser and in a notebook. */

import { html, nothing, render } from "lit-html";
import { Acts } from "./acts.ts";
import type { Channel } from "./channel.ts";
import { coloursOf, shapesOf } from "./colour.ts";
import { FLOATS } from "./map/camera.ts";
import { MapView, type Shown } from "./map/map.ts";
import { isDrawing } from "./map/tools.ts";
import { memo } from "./memo.ts";
import { historyPane } from "./panes/history.ts";
import { knownPane } from "./panes/known.ts";
import { mapPane, tablePane } from "./panes/map.ts";
import { type Html, percent, typed } from "./panes/parts.ts";
import { readPane } from "./panes/read.ts";
import { recognisePane } from "./panes/recognise.ts";
import { startPane } from "./panes/start.ts";
import { takePane } from "./panes/take.ts";
import { type Pane, type RunningJob, type State, Store, found, hiddenObjects, isUnsaved, rounded } from "./store.ts";

const PANES: [Pane, string][] = [
  ["recognise", "Recognise"],
  ["read", "Read"],
  ["table", "Table"],
  ["history", "History"],
  ["take", "Take away"],
];

const NARROW = 760; // pixels; as in style.css

/** Put the workbench into an element; return a function that takes it out again. A page of its own asks before it is left unsaved. */
export function mount(root: HTMLElement, channel: Channel, isPage = false): () => void {
  const store = new Store();
  const acts = new Acts(store, channel);
  const map = new MapView({
    choose: (objects, how) => acts.choose(objects, how),
    area: (objects, tool, outline) => acts.area(objects, tool, outline),
    path: (points, objects, tool) => void acts.path(points, objects, tool),
    clear: () => acts.clear(),
    focus: (focus) => acts.set({ focus }),
    camera: (camera) => acts.looked(camera),
    drawing: (marked) => store.state.marked !== marked && acts.set({ marked }),
  });
  const beside = new MapView({
    choose: (objects, how) => acts.choose(objects, how),
    area: (objects) => acts.choose(objects, "only"),
    path: () => {},
    clear: () => acts.clear(),
    focus: (focus) => acts.set({ focus }),
    camera: () => {},
    drawing: () => {},
  });
  map.floats = FLOATS;
  root.classList.add("unmask");
  let waits = false;
  let gone = false;
  let naming = 0;
  const draw = () => {
    waits = false;
    if (gone) return;
    render(page(store.state, acts, map, beside), root);
    showMaps(store.state, acts, map, beside);
    if (naming !== store.state.naming && root.clientWidth > NARROW) root.querySelector<HTMLElement>(".naming")?.focus();
    naming = store.state.naming;
  };
  store.listen(() => {
    if (!waits) requestAnimationFrame(draw);
    waits = true;
  });
  const undress = followPreferences(acts);
  const leaving = (event: BeforeUnloadEvent) => {
    if (isUnsaved(store.state)) event.preventDefault();
  };
  if (isPage) addEventListener("beforeunload", leaving);
  acts.set({});
  return () => {
    gone = true;
    undress();
    removeEventListener("beforeunload", leaving);
    render(nothing, root);
  };
}

/** Follow what the user prefers: a dark page, no movement. */
function followPreferences(acts: Acts): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const follow = () => acts.set({ paper: dark.matches ? "dark" : "light", still: still.matches });
  for (const query of [dark, still]) query.addEventListener("change", follow);
  follow();
  return () => [dark, still].forEach((query) => query.removeEventListener("change", follow));
}

function page(state: State, acts: Acts, map: MapView, beside: MapView): Html {
  if (state.shutOut) return shutOut();
  if (!state.study)
    return html`<main class="start"><p role="status">${state.connected ? "Loading …" : "Connecting …"}</p></main>`;
  if (state.starting) return html`${notices(state, acts)}${startPane(state, acts)}`;
  return html`${header(state, acts)} ${notices(state, acts)}
    <main class="bench">
      ${mapPane(state, acts, map, beside)}
      <div class="side">
        ${knownPane(state, acts)}
        <nav aria-label="Panes">
          ${PANES.map(
            ([pane, text]) =>
              html`<button
                aria-current=${pane === state.pane ? "page" : "false"}
                @click=${() => acts.openPane(pane)}
              >${text}</button>`,
          )}
        </nav>
        <div class="reading">${side(state, acts, map)}</div>
      </div>
    </main>`;
}

/** The workbench was started anew, or this is not the address that it gave. */
const shutOut = () => html`<main class="start" role="alert">
  <h1>This page may not come in</h1>
  <p>Open the whole address that the terminal shows, with all that follows <code>#token=</code>: it is another one at every start.</p>
</main>`;

function side(state: State, acts: Acts, map: MapView): Html {
  if (state.pane === "recognise") return recognisePane(state, acts);
  if (state.pane === "read") return readPane(state, acts);
  if (state.pane === "table") return tablePane(state, acts);
  if (state.pane === "history") return historyPane(state, acts);
  return takePane(state, acts, map);
}

function header(state: State, acts: Acts): Html {
  const { title, undo, redo, saved } = state.study!;
  return html`<header>
    <span class="brand" aria-hidden="true">unmask</span>
    <input class="title" aria-label="Title of the study" .value=${title} @change=${(event: Event) => void acts.rename(typed(event))} />
    <button ?disabled=${!undo} title=${undo ?? ""} @click=${() => void acts.undo()}>Undo</button>
    <button ?disabled=${!redo} title=${redo ?? ""} @click=${() => void acts.redo()}>Redo</button>
    <span class="quiet saved">${saved ? `saved as ${saved}` : isUnsaved(state) ? "not saved" : ""}</span>
    <div class="jobs" role="status">
      ${[...state.jobs.values()].filter(({ kind }) => kind !== "read").map((job) => jobLine(job, acts))}
    </div>
  </header>`;
}

function jobLine({ job, text, done, stress, stopping }: RunningJob, acts: Acts): Html {
  const stop = html`<button class="plain" @click=${() => void acts.cancel(job)}>Stop</button>`;
  const restart = html`stopping … <button class="plain" @click=${() => void acts.restart()}>Restart the worker</button>`;
  return html`<span class="job">
    <progress max="1" value=${done ?? nothing} aria-label=${text}></progress> ${text} ${done === null ? "" : percent(done)}
    ${stress ? `stress ${rounded(stress)}` : ""} ${stopping ? restart : stop}
  </span>`;
}

function notices(state: State, acts: Acts): Html {
  return html`<div role="alert">
    ${state.connected ? nothing : html`<p class="notice warning">The connection to the server is lost; trying again …</p>`}
    ${state.notice ? html`<p class="notice ${state.notice.level}">${state.notice.text} <button class="plain" @click=${() => acts.set({ notice: null })}>Close</button></p>` : nothing}
  </div>`;
}

// ---- from the state to what the maps show

function showMaps(state: State, acts: Acts, map: MapView, beside: MapView): void {
  if (!state.study || state.starting || !state.labels.length) return;
  const shown = whatToShow(state, acts);
  if (!shown) return;
  map.element.setAttribute("aria-label", "Map. Arrow keys walk from object to object, Enter marks, Escape clears.");
  map.element.setAttribute("aria-describedby", "summary");
  map.show(shown);
  const other = state.compare === null ? undefined : state.maps.get(state.compare);
  if (!other) return;
  beside.element.setAttribute("aria-label", "Map beside it");
  beside.show({
    ...shown,
    coordinates: `beside ${other.step}`,
    points: other.points,
    p: other.axes.length,
    axes: [0, 1],
    space: false,
    camera: null,
    before: null,
    path: [],
    outlines: [],
    groups: [],
    ellipses: null,
    tool: "pan",
  });
}

function whatToShow(state: State, acts: Acts): Shown | null {
  const map = state.shown === null ? undefined : state.maps.get(state.shown);
  const points = state.live?.points ?? map?.points;
  if (!points) return null;
  const n = state.labels.length;
  const p = state.live?.p ?? map!.axes.length;
  const draft = state.live ? null : (state.draft?.preview ?? null); // what was drawn is seen on the map, before it has a name
  const colour = draft ?? (state.colour === null ? null : (state.columns.get(state.colour) ?? null));
  const shape = state.shape === null ? colour : (state.columns.get(state.shape) ?? null);
  const axes: [number, number] = p < 2 ? [0, 1] : state.live ? [0, 1] : state.axes;
  return {
    coordinates: state.live ? "live" : String(state.shown),
    points,
    p,
    axes,
    selected: flags(state.selection, n),
    space: state.space && !state.live && p > 2,
    camera: state.live || state.space ? null : acts.cameraFor(`${state.shown}: ${axes.join(" ")}`),
    before: state.live ? sameSize(map?.points, points) : state.before,
    names: state.labels,
    colours: colours(colour, n, state.paper),
    shapes: shapes(shape, n),
    hidden: hiddenObjects(state),
    found: found(state),
    focus: state.focus,
    tool: state.live && isDrawing(state.tool) ? "pan" : state.tool, // what is drawn belongs to a map that stays
    path: state.draft?.path ?? [],
    outlines: state.draft?.outlines ?? [],
    groups: draft ? state.draft!.groups.map((objects, k) => ({ objects, name: state.draft!.groupNames[k] })) : [],
    ellipses: state.show.ellipses ? (state.readings.get(`${state.shown} ellipses`)?.axes ?? null) : null,
    pictures: state.show.pictures && state.pictures.size ? state.pictures : null,
    labels: state.show.labels,
    paper: state.paper,
    still: state.still,
  };
}

const sameSize = (points: Float32Array | undefined, other: Float32Array) =>
  points?.length === other.length ? points : null;

// Of the size of the objects, and mostly the same as before.
const colours = memo(coloursOf);

const shapes = memo(shapesOf);

const flags = memo((members: Set<number>, n: number) => {
  const found = new Uint8Array(n);
  for (const member of members) found[member] = 1;
  return found;
});
