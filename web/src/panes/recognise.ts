/** Recognise: the values that a gesture or a suggestion made, to be looked at, corrected, named and conditioned on. */

import { html, nothing, svg } from "lit-html";
import type { Acts } from "../acts.ts";
import { coloursOf, extent, hex, howMany } from "../colour.ts";
import type { Preview } from "../protocol.ts";
import { memo } from "../memo.ts";
import { type Draft, type State, digits, everyone, searched, textOf } from "../store.ts";
import { TYPES } from "./known.ts";
import { type Html, ROWS, choice, count, onlyFound, paged, percent, search, typed } from "./parts.ts";

const MOST_TICKS = 2000;
const listed = memo(searched);

export function recognisePane(state: State, acts: Acts): Html {
  const { draft } = state;
  return html`<section class="pane" aria-labelledby="recognise-title">
    <h2 id="recognise-title">Recognise</h2>
    ${draft ? form(state, acts, draft) : invitation()}
  </section>`;
}

const invitation = () => html`<p>What does the map show that nobody told it?</p>
  <ul class="hints">
    <li>Objects that belong together: <strong>Lasso</strong>, or <strong>Groups</strong> for several.</li>
    <li>Something that grows in one direction: <strong>Arrow</strong>.</li>
    <li>Something that goes along a bend: <strong>Curve</strong>.</li>
  </ul>
  <p class="quiet">Then name it, and look at what is left when it is known.</p>`;

/** The form stands before its values are there: a name can be typed, and entered, at once. */
function form(state: State, acts: Acts, draft: Draft): Html {
  const { from, preview } = draft;
  const submit = (event: Event) => {
    event.preventDefault();
    void acts.condition();
  };
  // Nothing that was typed is lost by a key.
  const leave = (event: KeyboardEvent) => event.key === "Escape" && !draft.name && acts.clear();
  const types = [
    ["", preview ? `${preview.type} (by its values)` : "by its values"] as const,
    ...TYPES.map((type) => [type, type] as const),
  ];
  return html`<form novalidate @submit=${submit} @keydown=${leave}>
    <p>From ${["lasso", "selection", "groups", "arrow", "curve"].includes(from) ? `your ${from}` : from}.</p>
    <label class="field"><span>Name</span><input class="naming" placeholder="what it is" .value=${draft.name} @input=${(event: Event) => acts.edit({ name: typed(event) })} /></label>
    ${draft.groups.length ? groupNames(acts, draft) : nothing}
    <label class="field"><span>Why</span><textarea rows="2" placeholder="what you saw" .value=${draft.why} @input=${(event: Event) => acts.edit({ why: typed(event) })}></textarea></label>
    ${choice("Type", types, draft.type, (type) => acts.edit({ type }))}
    ${
      preview
        ? html`<p class="knownness">${knownness(preview.known)}</p>
          ${preview.warnings.map((text) => html`<p class="warning">${text}</p>`)}
          ${preview.levels ? bars(state, preview) : strip(state, preview)} ${list(state, acts, draft, preview)}`
        : nothing
    }
    <div class="actions">
      <button class="main" title="Make it known, and fit a map of what else there is">Condition on it</button>
      <button type="button" @click=${() => acts.clear()}>Discard</button>
    </div>
  </form>`;
}

function groupNames(acts: Acts, draft: Draft): Html {
  const rename = (k: number, event: Event) => {
    if (!acts.renameGroup(k, typed(event))) (event.target as HTMLInputElement).value = draft.groupNames[k];
  };
  return html`${draft.groupNames.map((name, k) => html`<label class="field"><span>Group ${k + 1} (${draft.groups[k].length})</span><input .value=${name} @change=${(event: Event) => rename(k, event)} /></label>`)}
    ${draft.preview?.levels?.includes("other") ? html`<p class="quiet">Everything else is in the group “other”.</p>` : nothing}`;
}

function knownness(share: number | null): string {
  if (share === null) return "Nothing is known yet that could explain it.";
  return `${percent(share)} of it follows from what is known already.`;
}

/** One tick per object along a line. */
function strip(state: State, preview: Preview): Html {
  const [low, high] = extent(preview.values);
  const place = (value: number) => 4 + (292 * (value - low)) / (high - low || 1);
  const colours = coloursOf(preview, preview.values.length, state.paper);
  const all = byValue(preview.values).filter((i) => !Number.isNaN(preview.values[i]));
  const every = Math.ceil(all.length / MOST_TICKS);
  const shown = [...all.filter((_, k) => k % every === 0 || k === all.length - 1)];
  return html`<figure class="chart">
    <svg viewBox="0 0 300 40" role="img" aria-label="Values from ${digits(low, high)} to ${digits(high, low)}">
      <line class="axis" x1="4" x2="296" y1="24" y2="24"></line>
      ${shown.map((i) => svg`<circle cx=${place(preview.values[i])} cy="24" r=${state.selection.has(i) || state.focus === i ? 6 : 4} fill=${hex(colours[i])} fill-opacity=".8"><title>${state.labels[i]}: ${digits(preview.values[i])}</title></circle>`)}
      <text x="4" y="11">${digits(low, high)}</text><text x="296" y="11" text-anchor="end">${digits(high, low)}</text>
    </svg>
    ${every > 1 ? html`<figcaption>Every ${every}th of ${count(all.length, "value")} is drawn.</figcaption>` : nothing}
  </figure>`;
}

function bars(state: State, preview: Preview): Html {
  const sizes = preview.levels!.map((_, level) => howMany(preview.values, (code) => code === level));
  const colours = coloursOf({ ...preview, values: Float32Array.from(sizes.keys()) }, sizes.length, state.paper);
  const most = Math.max(...sizes, 1);
  return html`<figure class="chart">
    <svg viewBox="0 0 300 ${22 * sizes.length}" role="img" aria-label=${preview.levels!.map((level, k) => `${level}: ${sizes[k]}`).join(", ")}>
      ${sizes.map(
        (
          size,
          k,
        ) => svg`<rect x="110" y=${22 * k + 4} height="14" width=${(160 * size) / most} fill=${hex(colours[k])}></rect>
        <text x="104" y=${22 * k + 15} text-anchor="end">${clip(preview.levels![k])}</text><text x=${116 + (160 * size) / most} y=${22 * k + 15}>${size}</text>`,
      )}
    </svg>
  </figure>`;
}

const clip = (text: string) => (text.length > 16 ? `${text.slice(0, 15)}…` : text);
/** The values, one row per object, to be sorted and corrected. */
function list(state: State, acts: Acts, draft: Draft, preview: Preview): Html {
  const list = listed(
    draft.sort === "value" ? byValue(preview.values) : byName(state.labels),
    state.labels,
    state.query,
  );
  const correct = (object: number, text: string) => {
    const corrections = { ...draft.corrections };
    if (text === textOf(preview, object)) delete corrections[object];
    else corrections[object] = text;
    acts.edit({ corrections });
  };
  const heading = (sort: Draft["sort"], text: string) =>
    html`<th scope="col" aria-sort=${draft.sort === sort ? "ascending" : "none"}><button type="button" class="plain" @click=${() => acts.edit({ sort })}>${text}${draft.sort === sort ? " ↑" : ""}</button></th>`;
  const corrected = Object.keys(draft.corrections).length;
  const rows = (part: number[]) => html`<div class="scroll">
      <table>
        <caption class="hide">Values</caption>
        <thead><tr>${heading("name", "Object")}${heading("value", "Value")}</tr></thead>
        <tbody>
          ${part.map(
            (object) => html`<tr class=${object in draft.corrections ? "changed" : ""}>
            <th scope="row">${state.labels[object]}</th>
            <td><input aria-label="Value of ${state.labels[object]}" .value=${draft.corrections[object] ?? textOf(preview, object)} @focus=${() => acts.set({ focus: object })} @change=${(event: Event) => correct(object, typed(event))} /></td>
          </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  return html`${state.labels.length > ROWS ? search(state, acts) : nothing} ${onlyFound(state, acts)} ${paged(state, acts, list, "object", rows)}
    ${corrected ? html`<p>${count(corrected, "value")} corrected by hand. <button type="button" class="plain" @click=${() => acts.edit({ corrections: {} })}>Take back</button></p>` : nothing}`;
}

/** Return the objects by their values, the smallest first; those without one come last. */
export const byValue = memo((values: Float32Array | Float64Array): Uint32Array => {
  const keys = Float64Array.from(values, (value) => (Number.isNaN(value) ? Infinity : value));
  return everyone(keys.length)
    .slice()
    .sort((a, b) => keys[a] - keys[b]);
});

const byName = memo((labels: string[]): Uint32Array => {
  const { compare } = new Intl.Collator();
  return everyone(labels.length)
    .slice()
    .sort((a, b) => compare(labels[a], labels[b]));
});
