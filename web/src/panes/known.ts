/** Known: the features that maps are given, their cells, and the next fit. */

import { html, nothing } from "lit-html";
import { type Acts, asValue } from "../acts.ts";
import type { Known } from "../protocol.ts";
import { memo } from "../memo.ts";
import { type Fitting, type State, currentFit, everyone, isFitting, searched, textOf } from "../store.ts";
import { type Html, ROWS, choice, onlyFound, paged, search, tick, typed } from "./parts.ts";

export const TYPES = ["numeric", "nominal", "ordinal", "cyclic:360", "cyclic:24", "spline"];
const listed = memo(searched);

export function knownPane(state: State, acts: Acts): Html {
  const { study } = state;
  if (!study) return nothing;
  return html`<section class="pane known" aria-labelledby="known-title">
    <h2 id="known-title">Known</h2>
    ${
      study.known.length
        ? html`<ul class="features">${study.known.map((feature) => row(state, acts, feature))}</ul>`
        : html`<p class="quiet">Nothing yet: the map shows everything.</p>`
    }
    ${fitting(state, acts)}
  </section>`;
}

function row(state: State, acts: Acts, feature: Known): Html {
  const { name, type, missing, used, origin, key } = feature;
  const open = state.editing === name;
  return html`<li class=${used ? "" : "aside"}>
    <div class="line">
      ${tick(name, used, (on) => void acts.use(name, on))}
      <button class="plain" aria-expanded=${open} @click=${() => void acts.editCells(open ? null : name, key)}>${open ? "Close" : "Edit"}</button>
    </div>
    <p class="quiet">${type}${missing ? html`, <strong class="missing">${missing} missing</strong>` : ""} · ${origin}</p>
    ${open ? editor(state, acts, feature) : nothing}
  </li>`;
}

function editor(state: State, acts: Acts, { name, key, type }: Known): Html {
  const column = state.columns.get(key);
  const types = (TYPES.includes(type) ? TYPES : [type, ...TYPES]).map((word) => [word, word] as const);
  const change = (object: number, text: string) => void acts.amend(name, { values: { [object]: asValue(text) } });
  const list = listed(everyone(state.labels.length), state.labels, state.query);
  const several = state.labels.length > ROWS;
  const rows = (part: number[]) => html`<div class="scroll">
    <table>
      <caption class="hide">Values of ${name}</caption>
      <thead><tr><th scope="col">Object</th><th scope="col">${name}</th></tr></thead>
      <tbody>
        ${part.map((object) => {
          const [label, text] = [state.labels[object], textOf(column, object)];
          return html`<tr class=${text === "" ? "empty" : ""}>
            <th scope="row">${label}</th>
            <td><input aria-label="${name} of ${label}" placeholder="missing" .value=${text} @change=${(event: Event) => change(object, typed(event))} /></td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
  return html`<div class="editor">
    <label class="field"><span>Name</span><input .value=${name} @change=${(event: Event) => void acts.amend(name, { rename: typed(event) })} /></label>
    ${choice("Type", types, type, (kind) => void acts.amend(name, { kind }))}
    ${several ? search(state, acts) : nothing} ${onlyFound(state, acts)} ${paged(state, acts, list, "object", rows)}
  </div>`;
}

/** How the next map is fitted. */
function fitting(state: State, acts: Acts): Html {
  const fit = currentFit(state);
  const { n_components, adjust, estimator } = state.fitting;
  const set = (change: Partial<Fitting>) => acts.set({ fitting: { ...state.fitting, ...change } });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void acts.fit();
  };
  const p = String(n_components ?? fit?.n_components ?? 2);
  return html`<form class="fitting" @submit=${submit}>
    <button ?disabled=${isFitting(state)}>Fit a map</button>
    <details>
      <summary>How it is fitted</summary>
      <label class="field"><span>Dimensions</span><input type="number" min="1" max="10" .value=${p} @change=${(event: Event) => set({ n_components: Number(typed(event)) })} /></label>
      ${choice("Adjusted", ADJUST, adjust, (value) => set({ adjust: value as Fitting["adjust"] }))}
      ${choice("Method", METHODS, estimator ?? fit?.estimator ?? "mds", (value) => set({ estimator: value }))}
    </details>
  </form>`;
}

const ADJUST = [
  ["auto", "if needed"],
  ["yes", "yes"],
  ["no", "no"],
] as const;
const METHODS = [
  ["mds", "scaling"],
  ["isomap", "Isomap"],
  ["classical", "closed form"],
] as const;
