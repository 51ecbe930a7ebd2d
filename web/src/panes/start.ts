/** Start: files that are dropped, pasted or picked, what was found in them, and data sets to try. */

import { html, nothing } from "lit-html";
import type { Acts } from "../acts.ts";
import type { Detected, Part, Problem } from "../protocol.ts";
import { type Starting, type State, isUnsaved } from "../store.ts";
import { type Html, bareChoice, choice, count, tick } from "./parts.ts";

const ROLES = [
  ["dissimilarities", "dissimilarities"],
  ["features", "features to compare objects by"],
  ["known", "what is known"],
  ["table", "further columns"],
  ["pictures", "pictures"],
] as const;

export function startPane(state: State, acts: Acts): Html {
  const starting = state.starting!;
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void acts.addFiles(event.dataTransfer?.files ?? []);
  };
  const pick = (event: Event) => void acts.addFiles((event.target as HTMLInputElement).files ?? []);
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length && text.includes("\n")) files.push(new File([text], "pasted.csv", { type: "text/csv" }));
    if (files.length) event.preventDefault();
    void acts.addFiles(files);
  };
  return html`<main class="start" @drop=${drop} @dragover=${(event: DragEvent) => event.preventDefault()} @paste=${paste}>
    <h1>See what the known features hide</h1>
    <p>A map of your objects that shows only what is not yet known. Name what you recognise, and look again.</p>
    <label class="drop"><input type="file" multiple @change=${pick} /><span>Drop files here, paste a table, or choose files: dissimilarities or features, known features, pictures, or a saved study.</span></label>
    ${starting.begin ? question(state, starting.begin, acts) : nothing}
    ${starting.busy ? html`<p role="status">Working …</p>` : nothing} ${starting.detected ? found(starting, starting.detected, acts) : nothing}
    <h2>Or try</h2>
    <ul class="datasets">
      ${starting.datasets.map(({ name, text, objects }) => html`<li><button ?disabled=${starting.busy} @click=${() => void acts.begin(name)}><strong>${name}</strong><span>${text}</span><span class="quiet">${count(objects, "object")}</span></button></li>`)}
    </ul>
    ${state.study && state.study.n > 0 ? html`<p><button class="plain" @click=${() => acts.stay()}>Back to the study</button></p>` : nothing}
  </main>`;
}

/** Whether the study that is shown may be lost. */
function question(state: State, begin: () => void, acts: Acts): Html {
  return html`<div class="warning" role="alert">
    <p>${isUnsaved(state) ? `“${state.study?.title}” is not saved. If another study begins, it is lost.` : `“${state.study?.title}” was taken away as a file.`}</p>
    <div class="actions">
      <button class="main" @click=${() => void acts.takeAway("study")}>Take it away as a file</button>
      <button @click=${begin}>${isUnsaved(state) ? "Begin, and lose it" : "Begin"}</button>
      <button @click=${() => acts.stay()}>Go back to it</button>
    </div>
  </div>`;
}

/** What was found in the files, to be corrected before anything is done with it. */
function found(starting: Starting, detected: Detected, acts: Acts): Html {
  const { corrections } = starting;
  const features = detected.parts.some(({ role }) => role === "features");
  const metrics = detected.choices.metrics.map((name) => [name, name] as const);
  const metric = corrections.metric ?? metrics[0]?.[0] ?? "";
  const labels = [["", "numbers"] as const, ...detected.choices.labels.map((name) => [name, name] as const)];
  const whole = detected.problems.filter(({ row }) => row === null);
  return html`<section aria-labelledby="found-title">
    <h2 id="found-title">Found</h2>
    ${whole.map(({ text }) => html`<p class="warning">${text}</p>`)} ${detected.parts.map((part) => file(part, detected, acts, starting))}
    ${features
      ? html`<div class="looks">${choice("Compare by", metrics, metric, (metric) => void acts.correct({ metric }))}
          ${metric === "euclidean" ? tick("Standardise columns", corrections.standardise, (standardise) => void acts.correct({ standardise })) : nothing}
          ${choice("Names of objects", labels, corrections.labels ?? "", (column) => void acts.correct({ labels: column || null }))}</div>
          ${beside(detected, metric)}`
      : nothing}
    <div class="actions">
      <button class="main" ?disabled=${starting.busy || detected.problems.length > 0} @click=${() => void acts.begin()}>Make the first map</button>
      <button @click=${() => acts.dropFiles()}>Other files</button>
    </div>
  </section>`;
}

/** Say which columns objects are not compared by: a distance takes numbers only. */
function beside({ parts }: Detected, metric: string): Html {
  const columns = parts.filter(({ role }) => role === "features").flatMap((part) => part.columns);
  const others = columns.filter(({ type }) => metric === "gower" ? type.startsWith("cyclic") : !["numeric", "spline"].includes(type)).map(({ name }) => name);
  if (!others.length || others.length === columns.length) return nothing;
  const named = others.slice(0, 5).join(", ") + (others.length > 5 ? ` and ${others.length - 5} more` : "");
  return html`<p class="quiet">Objects are compared by ${count(columns.length - others.length, "column")}; ${named} stand${others.length === 1 ? "s" : ""} beside the map, to colour by.</p>`;
}

function file(part: Part, detected: Detected, acts: Acts, { corrections }: Starting): Html {
  const problems = detected.problems.filter((problem) => problem.file === part.file && problem.row !== null);
  const types = detected.choices.types.map((type) => [type, type] as const);
  return html`<article>
    <h3>${part.name}</h3>
    <p class="quiet">${count(part.rows, "row")}, ${count(part.columns.length, "column")}</p>
    ${choice("It holds", [...ROLES], part.role, (role) => void acts.correct({ roles: { ...corrections.roles, [part.file]: role } }))}
    <div class="scroll">
      <table>
        <caption class="hide">The beginning of ${part.name}</caption>
        <thead>
          <tr><th scope="col">Object</th>${part.columns.map(({ name, type, missing }) => html`<th scope="col">${name}${missing ? html` <span class="missing">${missing} missing</span>` : nothing}
            ${part.role === "dissimilarities" ? nothing : bareChoice(`Type of ${name}`, types, type, (chosen) => void acts.correct({ types: { ...corrections.types, [name]: chosen } }))}</th>`)}</tr>
        </thead>
        <tbody>
          ${part.head.map((row, r) => html`<tr><th scope="row">${row[0]}</th>${row.slice(1).map((cell, c) => html`<td class=${at(problems, r, c) ? "wrong" : ""}>${cell}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>
    ${problems.map(({ row, column, text }) => html`<p class="warning">Row ${row}${column === null ? "" : `, column ${column}`}: ${text}</p>`)}
  </article>`;
}

/** Whether there is a problem in a cell, counted from 0. */
const at = (problems: Problem[], row: number, column: number) => problems.some((problem) => problem.row === row + 1 && (problem.column === null || problem.column === column + 1));
