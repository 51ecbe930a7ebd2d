/** History: everything that was done, as a tree with small maps. */

import { html, nothing } from "lit-html";
import type { Acts } from "../acts.ts";
import { coloursOf, shapesOf } from "../colour.ts";
import type { Action } from "../protocol.ts";
import { type State, rounded } from "../store.ts";
import { type Html } from "./parts.ts";
import { smallMap } from "./small.ts";

export function historyPane(state: State, acts: Acts): Html {
  const { study } = state;
  if (!study) return nothing;
  const path = pathTo(study.tree, study.here);
  return html`<section class="pane" aria-labelledby="history-title">
    <h2 id="history-title">History</h2>
    <ol class="tree">
      <li><button class="node" aria-current=${study.here === 0 ? "step" : "false"} @click=${() => void acts.go(0)}>The beginning</button></li>
      ${branch(state, acts, 0, path)}
    </ol>
  </section>`;
}

/** Return the ids on the way to an action. */
export function pathTo(tree: Action[], here: number): Set<number> {
  const parents = new Map(tree.map(({ id, parent }) => [id, parent]));
  const path = new Set<number>();
  for (let at = here; at && !path.has(at); at = parents.get(at) ?? 0) path.add(at);
  return path;
}

/** What follows an action: a line goes straight on, and where there are several ways each is indented. */
function branch(state: State, acts: Acts, from: number, path: Set<number>): Html[] {
  const shown: Html[] = [];
  let ways = state.study!.tree.filter(({ parent }) => parent === from);
  while (ways.length === 1) {
    shown.push(node(state, acts, ways[0], path));
    const { id } = ways[0];
    ways = state.study!.tree.filter(({ parent }) => parent === id);
  }
  return [
    ...shown,
    ...ways.map(
      (way) =>
        html`<li><ol class="tree">${node(state, acts, way, path)} ${branch(state, acts, way.id, path)}</ol></li>`,
    ),
  ];
}

function node(state: State, acts: Acts, action: Action, path: Set<number>): Html {
  const { id, fit, text, why } = action;
  const here = state.study!.here === id;
  return html`<li class=${path.has(id) ? "on-path" : "off-path"}>
    <button class="node" aria-current=${here ? "step" : "false"} @click=${() => void acts.go(id)}>
      ${fit ? small(state, id) : nothing}<span>${text}${why ? html`<br /><em>${why}</em>` : nothing}${fit ? html`<br /><span class="quiet">stress ${rounded(fit.shown_stress)}</span>` : nothing}</span>
    </button>
    <span class="node-acts">
      ${fit && id !== state.shown ? html`<button class="plain" @click=${() => void acts.compareWith(state.compare === id ? null : id)}>${state.compare === id ? "Close" : "Beside"}</button>` : nothing}
      ${path.has(id) && !fit ? html`<button class="plain" @click=${() => void acts.without(id)}>Without it</button>` : nothing}
    </span>
  </li>`;
}

function small(state: State, step: number): Html {
  const map = state.maps.get(step);
  const column = state.colour === null ? null : (state.columns.get(state.colour) ?? null);
  const n = state.labels.length;
  return smallMap(map?.points, map?.axes.length ?? 0, coloursOf(column, n, state.paper), shapesOf(column, n));
}
