/** Small parts that several panes share. */

import { type TemplateResult, html, nothing } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { live } from "lit-html/directives/live.js";
import type { Acts } from "../acts.ts";
import type { State } from "../store.ts";

export type Html = TemplateResult | typeof nothing;

/** Return "1 object" or "14 objects". */
export const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

export const percent = (share: number | null | undefined) =>
  share === null || share === undefined || !Number.isFinite(share) ? "–" : `${Math.round(100 * share)}%`;

export const pValue = (p: number | null) => (p === null ? "–" : p < 0.001 ? "< .001" : p.toFixed(3).replace(/^0/, ""));

/** A choice of one of several, with its label before it; each option is a value and its text. */
export const choice = (
  label: string,
  options: readonly (readonly [string, string])[],
  chosen: string,
  on: (value: string) => void,
): Html => html`<label class="field"><span>${label}</span> ${bareChoice(label, options, chosen, on)}</label>`;

/** The same without a label that is seen. */
export function bareChoice(
  label: string,
  options: readonly (readonly [string, string])[],
  chosen: string,
  on: (value: string) => void,
): Html {
  return html`<select aria-label=${label} @change=${(event: Event) => on((event.target as HTMLSelectElement).value)}>
    ${options.map(([value, text]) => html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`)}
  </select>`;
}

/** A box to tick. */
export function tick(label: string, on: boolean, change: (on: boolean) => void, disabled = false): Html {
  return html`<label class="tick"
    ><input type="checkbox" .checked=${on} ?disabled=${disabled} @change=${(event: Event) => change((event.target as HTMLInputElement).checked)} />${label}</label
  >`;
}

/** Names that are searched for, on the map and in all lists. */
export const search = (state: State, acts: Acts): Html =>
  html`<label class="field"><span>Search</span><input type="search" .value=${state.query} @input=${(event: Event) => acts.set({ query: typed(event) })} @keydown=${(event: KeyboardEvent) => event.key === "Enter" && acts.nextFound()} /></label>`;

export const ROWS = 200; // of a list that are shown at once

/** A list, so many rows at a time, and the way to all others. What was typed into a row does not stay in the place of another. */
export function paged(state: State, acts: Acts, list: Uint32Array, what: string, rows: (part: number[]) => Html): Html {
  const last = Math.max(0, Math.ceil(list.length / ROWS) - 1);
  const at = Math.min(state.pages.get(list) ?? 0, last);
  const turn = (page: number) => acts.turn(list, Math.max(0, Math.min(last, page || 0)));
  const part = [...list.subarray(ROWS * at, ROWS * (at + 1))];
  return html`${keyed(list, html`${keyed(at, rows(part))}`)}
    ${
      last
        ? html`<div class="pages" role="group" aria-label="Pages of the list">
          <button type="button" ?disabled=${at === 0} @click=${() => turn(at - 1)}>Previous</button>
          <label>Page <input type="number" min="1" max=${last + 1} .value=${String(at + 1)} @change=${(event: Event) => turn(Math.round(Number(typed(event))) - 1)} /></label> of ${(last + 1).toLocaleString("en")}
          <button type="button" ?disabled=${at === last} @click=${() => turn(at + 1)}>Next</button>
          <span class="quiet" role="status">${(ROWS * at + 1).toLocaleString("en")} to ${(ROWS * at + part.length).toLocaleString("en")} of ${count(list.length, what)}</span>
        </div>`
        : nothing
    }`;
}

/** Say that a list has only what is searched for. */
export const onlyFound = (state: State, acts: Acts): Html =>
  state.query.trim()
    ? html`<p class="quiet">Only objects with “${state.query.trim()}” in their name. <button type="button" class="plain" @click=${() => acts.set({ query: "" })}>Show all</button></p>`
    : nothing;

export const typed = (event: Event) => (event.target as HTMLInputElement).value;
