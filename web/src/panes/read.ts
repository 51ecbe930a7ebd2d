/** Read: what the map may show, and how far it can be trusted. Everything is asked for when it is opened, and kept. */

import { html, nothing } from "lit-html";
import type { Acts } from "../acts.ts";
import type { ContrastRow, Reading, Readings, Suggestion } from "../protocol.ts";
import { type State, currentFit, currentMap, digits, rounded } from "../store.ts";
import { barChart, screeChart, shepardChart, strengthBar } from "./charts.ts";
import { type Html, count, pValue, percent } from "./parts.ts";

export function readPane(state: State, acts: Acts): Html {
  const fit = currentFit(state);
  return html`<section class="pane" aria-labelledby="read-title">
    <h2 id="read-title">Read</h2>
    ${contrast(state, acts)}
    ${
      fit
        ? html`${fit.warnings.map((text) => html`<p class="warning">${text}</p>`)} ${part(state, acts, "suggest", "What could it show?", suggestions)}
        ${fit.known.length ? part(state, acts, "leak", "Does it repeat what is known?", leak) : nothing}
        ${fit.known.length ? importance(state, acts) : nothing} ${part(state, acts, "scree", "How many dimensions?", scree)}
        ${part(state, acts, "shepard", "How well does it fit?", shepard)} ${worst(state, acts)}
        ${part(state, acts, "rivals", "Would a simpler method have done?", rivals)}`
        : html`<p class="quiet">There is no map to read yet.</p>`
    }
  </section>`;
}

/** A part that is fetched when it is opened. */
function part<R extends Reading>(
  state: State,
  acts: Acts,
  what: R,
  title: string,
  show: (result: Readings[R], state: State, acts: Acts) => Html,
): Html {
  const key = `${state.shown} ${what}`;
  const result = state.readings.get(key) as Readings[R] | undefined;
  const job = [...state.jobs.values()].find((running) => running.what === what && running.step === state.shown);
  const waiting = html`<p>${job && job.text !== what ? job.text : "Computing"} … ${job ? html`<button class="plain" @click=${() => void acts.cancel(job.job)}>Stop</button>` : nothing}</p>`;
  const opened = (event: Event) => (event.target as HTMLDetailsElement).open && void acts.read(what);
  const body =
    result !== undefined
      ? show(result, state, acts)
      : state.asked.has(key)
        ? waiting
        : html`<button @click=${() => void acts.read(what)}>Find out</button>`;
  return html`<details @toggle=${opened}><summary>${title}</summary>${body}</details>`;
}

function contrast(state: State, acts: Acts): Html {
  if (!state.contrast) return nothing;
  const { rows, of } = state.contrast;
  const sure = rows?.filter(({ p_value }) => p_value !== null && p_value <= LEVEL) ?? [];
  const others = rows?.filter((row) => !sure.includes(row)) ?? [];
  const listed = (some: ContrastRow[]) =>
    html`<ul class="plain-list">${some.map((row) => contrastRow(row, acts))}</ul>`;
  return html`<h3>What sets ${count(of, "object")} apart?</h3>
    ${rows === null ? html`<p>Comparing …</p>` : nothing} ${rows?.length === 0 ? html`<p class="quiet">There are no columns to compare.</p>` : nothing}
    ${listed(sure)} ${others.length ? html`<details class="folded"><summary>${count(others.length, "column")} that chance may make</summary>${listed(others)}</details>` : nothing}`;
}

function contrastRow({ column, key, strength, p_value, text }: ContrastRow, acts: Acts): Html {
  const adopt = () => void acts.recognise({ from: `column ${column}`, way: { column }, name: column });
  return html`<li class="suggestion">
    <div class="line">
      <strong class="name">${column}</strong>
      <span>
        <button class="plain" aria-label="Colour by ${column}" @click=${() => void acts.paint("colour", key)}>Colour</button>
        ${key.startsWith("table:") ? html`<button class="plain" aria-label="Adopt ${column}" @click=${adopt}>Adopt</button>` : nothing}
      </span>
    </div>
    ${strengthBar(strength)} <span class="quiet">${text}; <i>p</i> ${pValue(p_value)}</span>
  </li>`;
}

const LEVEL = 0.05; // of a suggestion that is folded if its p-value is larger

/** What could be seen on the map: the strong ones as bars, those that chance may make folded. */
const suggestions = ({ rows }: Readings["suggest"], _: State, acts: Acts): Html => {
  const sure = rows.filter(({ p_value }) => p_value === null || !(p_value > LEVEL));
  const others = rows.filter((row) => !sure.includes(row));
  const listed = (some: Suggestion[]) => html`<ul class="plain-list">${some.map((row) => suggestion(row, acts))}</ul>`;
  return html`${sure.length ? listed(sure) : html`<p class="quiet">Nothing stands out beyond chance.</p>`}
    ${others.length ? html`<details class="folded"><summary>${others.length} more that chance may make</summary>${listed(others)}</details>` : nothing}`;
};

const suggestion = (row: Suggestion, acts: Acts): Html => html`<li class="suggestion">
  <div class="line"><strong>${row.what}</strong>${row.way ? html`<button class="plain" @click=${() => void acts.recogniseSuggestion(row)}>Look at it</button>` : nothing}</div>
  ${strengthBar(row.strength)}
  <span class="quiet"><i>p</i> ${pValue(row.p_value)}${row.note ? `; ${row.note}` : ""}</span>
</li>`;

const leak = ({ rows, text, cure }: Readings["leak"], _: State, acts: Acts): Html => html`<p>${text}</p>
  <div class="scroll" tabindex="0" role="group" aria-label="How far the map tells each feature"><table>
    <thead><tr><th scope="col">Feature</th><th scope="col">linear</th><th scope="col">by chance</th><th scope="col">by neighbours</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row">${row.name}</th>${scores(row.linear, row.reference, row.neighbours)}</tr>`)}</tbody>
  </table></div>
  ${cure ? html`<button class="main" @click=${() => void acts.fit({ adjust: true })}>Adjust the map for what is known</button>` : nothing}`;

function importance(state: State, acts: Acts): Html {
  const fit = currentFit(state)!;
  const stable = state.readings.get(`${state.shown} stability`) as Readings["stability"] | undefined;
  const rows = fit.importance.map(({ name, standardized }) => ({
    name,
    value: standardized,
    ...stable?.importance.find((row) => row.name === name),
  }));
  const asked = state.asked.has(`${state.shown} stability`);
  return html`<details><summary>How much do known features count?</summary>
    ${barChart(rows)}
    ${
      stable
        ? html`<p class="quiet">Lines: ${percent(stable.level)} intervals from ${count(stable.resamples, "resample")}.</p>`
        : html`<button ?disabled=${asked} @click=${() => void acts.read("stability")}>${asked ? "Resampling …" : "How sure is that?"}</button>`
    }
  </details>`;
}

const scree = ({ stress, elbow }: Readings["scree"], state: State, acts: Acts): Html =>
  screeChart(stress, elbow, currentFit(state)!.n_components, (p) => void acts.fit({ n_components: p }));

const shepard = ({ dissimilarity, distance, pairs, correlation }: Readings["shepard"]): Html =>
  html`${shepardChart(dissimilarity, distance, pairs)}<p class="quiet">${count(pairs, "pair")}${pairs > dissimilarity.length ? `, of which ${dissimilarity.length} are drawn` : ""}; correlation ${rounded(correlation)}.</p>`;

/** The objects that the map represents worst. */
function worst(state: State, acts: Acts): Html {
  const map = currentMap(state);
  if (!map) return nothing;
  const order = [...map.stress.keys()].sort((a, b) => map.stress[b] - map.stress[a]).slice(0, 8);
  return html`<details><summary>Which objects fit badly?</summary>
    <p class="quiet">Those with the largest parts of the stress, ${rounded(currentFit(state)!.stress)} in all.</p>
    <ol>${order.map((object) => html`<li><button class="plain" @click=${() => acts.set({ focus: object })}>${state.labels[object]}</button> <span class="quiet">${rounded(map.stress[object])}</span></li>`)}</ol>
  </details>`;
}

const rivals = ({ rows }: Readings["rivals"], state: State): Html => {
  const fit = currentFit(state)!;
  const row = (name: string, note: string, ...found: (number | null)[]) =>
    html`<tr><th scope="row">${name}${note ? html`<br /><span class="quiet">${note}</span>` : nothing}</th>${scores(...found)}</tr>`;
  return html`<p class="quiet">The smaller the stress, the better a map fits; the smaller the leak, the less it repeats of what is known.</p>
    <div class="scroll" tabindex="0" role="group" aria-label="Other methods"><table>
      <thead><tr><th scope="col">Method</th><th scope="col">stress</th><th scope="col">leak</th><th scope="col">by neighbours</th></tr></thead>
      <tbody>${row("this map", "", fit.stress, fit.known.length ? fit.leak : null, null)}${rows.map(({ method, text, stress, leak, neighbours }) => row(method, text, stress, leak, neighbours))}</tbody>
    </table></div>`;
};

/** Cells of numbers around 0 and 1, with as many digits as say something. */
const scores = (...found: (number | null)[]) =>
  found.map(
    (value) => html`<td>${value === null ? "–" : digits(Math.abs(value) < 0.0005 ? 0 : Number(value.toFixed(3)))}</td>`,
  );
