/** Map: its buttons, what it is coloured by, a search, a summary in words, and a table that says the same. */

import { html, nothing } from "lit-html";
import type { Acts } from "../acts.ts";
import type { MapView } from "../map/map.ts";
import { memo } from "../memo.ts";
import { TOOLS, type Tool, isDrawing, isPath } from "../map/tools.ts";
import {
  MOVING,
  type State,
  currentFit,
  currentMap,
  everyone,
  found,
  hiddenObjects,
  isFitting,
  rounded,
  searched,
  textOf,
} from "../store.ts";
import type { Column, Readings } from "../protocol.ts";
import { legend } from "./legend.ts";
import { type Html, choice, count, onlyFound, paged, search, tick } from "./parts.ts";

const listed = memo(searched);
const hiddenCount = memo((hidden: Uint8Array) => hidden.reduce((sum, flag) => sum + flag, 0));

/** The map, and what floats on it. */
export function mapPane(state: State, acts: Acts, map: MapView, beside: MapView): Html {
  const fits = state.study?.tree ?? [];
  const other = state.compare === null ? undefined : fits.find(({ id }) => id === state.compare)?.fit;
  const older = other && other.number < (currentFit(state)?.number ?? 0);
  const close = html`<button class="plain" @click=${() => void acts.compareWith(null)}>Close</button>`;
  const besideIt =
    other &&
    html`<figure><figcaption>Map ${other.number}, ${other.title} ${close}</figcaption>${beside.element}</figure>`;
  const shown = currentFit(state);
  return html`<section class=${other ? "stage two" : "stage"} aria-labelledby="map-title">
    <h2 id="map-title" class="hide">Map</h2>
    ${tools(state, acts, map)}
    <div class="maps">
      ${older ? besideIt : nothing}
      <figure>${other && shown ? html`<figcaption>Map ${shown.number}, ${shown.title}</figcaption>` : nothing}${map.element}</figure>
      ${older ? nothing : besideIt}
    </div>
    ${looks(state, acts)}
    <div class="status">
      ${chosen(state, acts)} ${state.draft ? html`<p class="below"><button class="main" @click=${(event: Event) => showDraft(event, acts)}>Name what you drew</button></p>` : nothing}
      ${repeats(state, acts)}
      <p class="summary" id="summary" aria-live="polite">${summary(state)}</p>
    </div>
  </section>`;
}

/** Go to what was drawn, which is below the map where there is one column. */
function showDraft(event: Event, acts: Acts): void {
  acts.openPane("recognise");
  (event.target as Element).closest(".unmask")!.querySelector(".side")!.scrollIntoView();
}

function tools(state: State, acts: Acts, map: MapView): Html {
  const { tool } = state;
  const out = (own: Tool) => (state.space && isPath(own)) || (state.live !== null && isDrawing(own));
  const { help } = TOOLS.find((entry) => entry.tool === tool)!;
  return html`<div class="card tools-card">
    <div class="tools" role="toolbar" aria-label="Tools of the map">
      ${TOOLS.map((entry) => html`<button aria-pressed=${entry.tool === tool} ?disabled=${out(entry.tool)} title=${entry.help} @click=${() => acts.set({ tool: entry.tool, groups: [] })}>${entry.text}</button>`)}
      <span class="gap"></span>
      <button title="Nearer" aria-label="Zoom in" @click=${() => map.zoom(1.4)}>+</button>
      <button title="Farther" aria-label="Zoom out" @click=${() => map.zoom(1 / 1.4)}>−</button>
      <button title="Show all objects" @click=${() => map.lookAtAll()}>All</button>
    </div>
    <p class="quiet help">${state.live ? MOVING : help} ${state.marked ? `${count(state.marked, "place")} marked; Esc starts again.` : ""}</p>
  </div>`;
}

/** Pairs of axes, if there are more than two. */
function axes(state: State, acts: Acts): Html {
  const p = currentMap(state)?.axes.length ?? 0;
  if (p < 3) return nothing;
  const pairs: [number, number][] = [];
  for (let a = 0; a < p; a++) for (let b = a + 1; b < p; b++) pairs.push([a, b]);
  const options = [
    ...pairs.map(([a, b]) => [`${a} ${b}`, `${a + 1} and ${b + 1}`] as const),
    ["space", "1, 2 and 3 in space"] as const,
  ];
  const set = (value: string) =>
    value === "space" ? acts.seeSpace() : acts.setAxes(value.split(" ").map(Number) as [number, number]);
  return choice("Axes", options, state.space ? "space" : state.axes.join(" "), set);
}

/** Say in words what the map shows. */
export function summary(state: State): string {
  const fit = currentFit(state);
  if (!state.study) return "";
  if (!fit)
    return state.live || isFitting(state)
      ? "The first map is being fitted."
      : `${count(state.study.n, "object")}; no map yet.`;
  const { number, title, n_components } = fit;
  const parts = [
    `Map ${number}, ${title}: ${count(state.study.n, "object")} in ${count(n_components, "dimension")}, stress ${stressOf(state)}.`,
  ];
  if (!fit.finished) parts.push("It was ended early.");
  const hidden = hiddenCount(hiddenObjects(state));
  if (hidden) parts.push(`${hidden} hidden.`);
  if (state.query.trim()) parts.push(`${count(found(state).size, "object")} found.`);
  if (state.selection.size) parts.push(`${state.selection.size} selected.`);
  if (state.focus !== null) parts.push(`At ${describe(state, state.focus)}.`);
  return parts.join(" ");
}

/** Return the stress of the map that is shown, beside that of a map of random data. */
export function stressOf(state: State): string {
  const fit = currentFit(state)!;
  const chance = state.readings.get(`${state.shown} chance`) as Readings["chance"] | undefined;
  const beside = [
    chance?.stress ? `by chance ${rounded(chance.stress)}` : "",
    fit.known.length ? `known features alone ${rounded(fit.known_stress)}` : "",
  ];
  const words = beside.filter((text) => text && !text.endsWith("–")).join(", ");
  return `${rounded(fit.shown_stress)}${words ? ` (${words})` : ""}`;
}

/** Say in words if the map repeats what is known, and cure it by one click; or that this was done. */
function repeats(state: State, acts: Acts): Html {
  const fit = currentFit(state);
  if (!fit?.known.length || state.live) return nothing;
  const names = fit.known.join(", ");
  if (fit.adjusted)
    return html`<p class="quiet repeats">Adjusted: what ${names} would predict was taken off this map${fit.free_leak ? ` (leak before: ${rounded(fit.free_leak)})` : ""}.</p>`;
  if (!(fit.leak! > fit.leak_reference!)) return nothing;
  return html`<div class="repeats warning" role="status">
    <p>This map repeats what is known: the places of the objects still tell something about ${names} (leak ${fit.leak_in_words}).
      Adjusting takes that off the map, and the fit stays as good as it is.</p>
    <button class="main" ?disabled=${isFitting(state)} @click=${() => void acts.fit({ adjust: true })}>Adjust the map</button>
  </div>`;
}

function describe(state: State, object: number): string {
  const value = state.colour === null ? "" : textOf(state.columns.get(state.colour), object);
  return `${state.labels[object]}${value ? ` (${value})` : ""}${state.selection.has(object) ? ", selected" : ""}`;
}

/** What can be done with the selection. */
function chosen(state: State, acts: Acts): Html {
  if (!state.selection.size) return nothing;
  const together = () => void acts.recogniseGroups([[...state.selection].sort((a, b) => a - b)], "selection");
  return html`<div class="chosen">
    <strong>${count(state.selection.size, "object")} selected</strong>
    <button @click=${together}>They belong together</button>
    <button @click=${() => void acts.compareGroups()}>What sets these apart?</button>
    <button @click=${() => acts.clear()}>Clear</button>
  </div>`;
}

/** What colours and shapes show, the legend, the search, and what else is drawn. */
function looks(state: State, acts: Acts): Html {
  const columns = state.study?.columns ?? [];
  const named = ({ key, name, known }: Column) => [key, known ? `${name} (known)` : name] as const;
  const drawn = state.draft?.preview ? [["draft", "what you drew"] as const] : [];
  const options = [...drawn, ["", "nothing"] as const, ...columns.map(named)];
  const levelled = columns.filter(({ scale }) => scale === "category" || scale === "ordered");
  const shapes = [["", "as the colour"] as const, ...levelled.map(({ key, name }) => [key, name] as const)];
  const { show } = state;
  const paint = (key: string) => void acts.paint("colour", key || null);
  return html`<div class="card looks-card">
    ${search(state, acts)} ${choice("Colour", options, drawn.length ? "draft" : (state.colour ?? ""), paint)} ${legend(state, acts)}
    <details>
      <summary>Options</summary>
      ${choice("Shape", shapes, state.shape ?? "", (key) => void acts.paint("shape", key || null))} ${axes(state, acts)}
      ${tick("Labels", show.labels, (labels) => acts.set({ show: { ...show, labels } }))}
      ${tick("Uncertainty", show.ellipses, (on) => void acts.showEllipses(on))}
      ${state.study?.pictures ? tick("Pictures", show.pictures, (pictures) => acts.set({ show: { ...show, pictures } })) : nothing}
      <p class="quiet">On the map: arrows walk to the next object, Enter selects it or marks it as a place of a drawing, Enter on the last place ends a curve or a lasso, Backspace takes a place back, Esc clears, + and − zoom, 0 shows all.</p>
    </details>
  </div>`;
}

/** The map as a table; ticking its rows does what a lasso does. */
export const tablePane = (state: State, acts: Acts): Html => html`<section class="pane" aria-labelledby="table-title">
  <h2 id="table-title">Table of objects</h2>
  ${table(state, acts)}
</section>`;

function table(state: State, acts: Acts): Html {
  const map = currentMap(state);
  if (!map) return nothing;
  const p = map.axes.length;
  const list = listed(everyone(state.labels.length), state.labels, state.query);
  const column = state.colour === null ? null : state.columns.get(state.colour);
  const rows = (part: number[]) => html`<div class="scroll">
    <table>
      <caption class="hide">Objects of the map</caption>
      <thead><tr><th scope="col">Object</th>${axesOf(p).map((axis) => html`<th scope="col">${axis}</th>`)}<th scope="col">stress</th>${column ? html`<th scope="col">${state.study!.columns.find(({ key }) => key === state.colour)?.name}</th>` : nothing}</tr></thead>
      <tbody>
        ${part.map(
          (object) => html`<tr>
          <th scope="row">${tick(state.labels[object], state.selection.has(object), () => acts.choose([object], "toggle"))}</th>
          ${map.axes.map((_, k) => html`<td>${rounded(map.points[object * p + k])}</td>`)}
          <td>${rounded(map.stress[object])}</td>
          ${column ? html`<td>${textOf(column, object)}</td>` : nothing}
        </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
  return html`${onlyFound(state, acts)} ${paged(state, acts, list, "object", rows)}`;
}

/** A flat map is turned onto the one before it: its directions are no axes. */
const axesOf = (p: number) => (p === 2 ? ["across", "up"] : Array.from({ length: p }, (_, k) => `axis ${k + 1}`));
