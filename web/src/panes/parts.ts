/** Small parts that several panes share. */

import { type TemplateResult, html, nothing } from "lit-html";

export type Html = TemplateResult | typeof nothing;

/** Return "1 object" or "14 objects". */
export const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

export const percent = (share: number | null | undefined) => (share === null || share === undefined || !Number.isFinite(share) ? "–" : `${Math.round(100 * share)}%`);

export const pValue = (p: number | null) => (p === null ? "–" : p < 0.001 ? "< .001" : p.toFixed(3).replace(/^0/, ""));

/** A choice of one of several, with its label before it; each option is a value and its text. */
export const choice = (label: string, options: (readonly [string, string])[], chosen: string, on: (value: string) => void): Html =>
  html`<label class="field"><span>${label}</span> ${bareChoice(label, options, chosen, on)}</label>`;

/** The same without a label that is seen. */
export function bareChoice(label: string, options: (readonly [string, string])[], chosen: string, on: (value: string) => void): Html {
  return html`<select aria-label=${label} .value=${chosen} @change=${(event: Event) => on((event.target as HTMLSelectElement).value)}>
    ${options.map(([value, text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}
  </select>`;
}

/** A box to tick. */
export function tick(label: string, on: boolean, change: (on: boolean) => void, disabled = false): Html {
  return html`<label class="tick"
    ><input type="checkbox" .checked=${on} ?disabled=${disabled} @change=${(event: Event) => change((event.target as HTMLInputElement).checked)} />${label}</label
  >`;
}

export const typed = (event: Event) => (event.target as HTMLInputElement).value;
