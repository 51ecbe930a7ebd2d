/** Start: files that are dropped, pasted or picked, what was found in them, and data sets to try. */

import { html, nothing } from "lit-html";
import type { Acts } from "../acts.ts";
import type { Corrections, Detected, FoundColumn, Part } from "../protocol.ts";
import { type Starting, type State, isUnsaved } from "../store.ts";
import { type Html, bareChoice, choice, count } from "./parts.ts";
import { smallMap } from "./small.ts";

const ROLES = [
  ["dissimilarities", "how objects differ, pair by pair"],
  ["features", "columns that describe each object"],
] as const;
const BESIDE = [["table", "further columns of the same objects"]] as const;
const USES = [
  ["compare", "compare"],
  ["known", "known"],
  ["colour", "colour"],
  ["ignore", "ignore"],
] as const;
const TYPES: Record<string, string> = {
  numeric: "number",
  nominal: "category",
  ordinal: "order",
  "cyclic:360": "angle",
  "cyclic:24": "hour",
  spline: "number, bent",
};
const METRICS: Record<string, string> = {
  seuclidean: "distance, columns standardised",
  euclidean: "distance, columns as they are",
  cityblock: "sum of differences",
  cosine: "angle between rows",
  correlation: "correlation of rows",
  braycurtis: "Bray-Curtis",
  gower: "Gower, for mixed columns",
};

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
  const over = (event: DragEvent) => event.preventDefault();
  return html`<main class="start" @drop=${drop} @dragover=${over} @paste=${paste}>
    <h1>See what the known features hide</h1>
    ${starting.begin ? question(state, starting.begin, acts) : nothing}
    ${starting.detected ? found(starting, starting.detected, acts) : invitation(starting, acts, pick)}
    ${starting.busy ? html`<p role="status" class="quiet">Reading …</p>` : nothing}
    ${
      state.study && state.study.n > 0
        ? html`<p><button class="plain" @click=${() => acts.stay()}>Back to the study</button></p>`
        : nothing
    }
  </main>`;
}

function invitation(starting: Starting, acts: Acts, pick: (event: Event) => void): Html {
  return html`<p>A map of your objects that shows only what is not yet known. Name what you see, and look again.</p>
    <label class="drop">
      <strong>Drop files here</strong>
      <span>or paste a table, or</span>
      <input type="file" multiple @change=${pick} />
      <span class="quiet">How objects differ, or columns that describe them; pictures of them; a saved study.</span>
    </label>
    <h2>Or try</h2>
    <ul class="datasets">
      ${starting.datasets.map(
        ({ name, text, objects }) => html`<li>
          <button ?disabled=${starting.busy} @click=${() => void acts.begin(name)}>
            ${smallMap(starting.maps[name], 2)}
            <strong>${name}</strong><span>${text}</span><span class="quiet">${count(objects, "object")}</span>
          </button>
        </li>`,
      )}
    </ul>`;
}

/** Whether the study that is shown may be lost. */
function question(state: State, begin: () => void, acts: Acts): Html {
  const title = `“${state.study?.title}”`;
  const unsaved = isUnsaved(state);
  return html`<div class="warning" role="alert">
    <p>${title} ${unsaved ? "is not saved. If another study begins, it is lost." : "was taken away as a file."}</p>
    <div class="actions">
      <button class="main" @click=${() => void acts.takeAway("study")}>Take it away as a file</button>
      <button @click=${begin}>${unsaved ? "Begin, and lose it" : "Begin"}</button>
      <button @click=${() => acts.stay()}>Go back to it</button>
    </div>
  </div>`;
}

/** What was found in the files, to be corrected before anything is done with it. */
function found(starting: Starting, detected: Detected, acts: Acts): Html {
  const { corrections, busy } = starting;
  const waits = busy || detected.problems.length > 0;
  return html`<section aria-labelledby="found-title">
    <h2 id="found-title">Found</h2>
    ${detected.parts.map((part) => file(part, detected, acts, corrections))}
    <div class="actions">
      <button class="main" ?disabled=${waits} @click=${() => void acts.begin()}>Make the first map</button>
      <button @click=${() => acts.dropFiles()}>Other files</button>
    </div>
  </section>`;
}

function file(part: Part, detected: Detected, acts: Acts, corrections: Corrections): Html {
  const { name, role, rows, columns } = part;
  const problems = detected.problems.filter((problem) => problem.file === part.file);
  const where = (row: number | null, column: number | null) =>
    row === null ? "" : `Row ${row}${column === null ? "" : `, column ${column}`}: `;
  const set = (chosen: string) => void acts.correct({ roles: { ...corrections.roles, [part.file]: chosen } });
  const roles = role === "table" ? [...BESIDE, ...ROLES] : ROLES;
  const others = part.objects.length < rows ? " …" : "";
  const size = `${count(rows, "object")}${columns.length ? `, ${count(columns.length, "column")}` : ""}`;
  if (role === "pictures") return html`<p class="quiet">${name}: a picture</p>`;
  return html`<article>
    <h3>${name}</h3>
    <p class="quiet">${size}${part.objects.length ? `: ${part.objects.join(", ")}${others}` : ""}</p>
    ${role === "study" ? nothing : choice("It holds", roles, role, set)}
    ${problems.map(({ row, column, text }) => html`<p class="warning">${where(row, column)}${text}</p>`)}
    ${role === "dissimilarities" ? pairs(part, acts, corrections) : nothing}
    ${columns.length ? columnsOf(part, detected, acts, corrections) : nothing}
    ${role === "features" ? comparison(detected, acts, corrections) : nothing}
  </article>`;
}

/** What the numbers of pairs mean, and who gave them. */
function pairs(part: Part, acts: Acts, { alike, rater }: Corrections): Html {
  const meanings = [["", "less alike"] as const, ["alike", "more alike"] as const];
  const raters = [["", "detected"] as const, ...part.raters.map((name) => [name, name] as const)];
  return html`${part.detected ? html`<p class="quiet">${part.detected}</p>` : nothing}
    <div class="looks">
      ${choice("Larger means", meanings, alike ? "alike" : "", (value) => void acts.correct({ alike: value !== "" }))}
      ${
        part.raters.length
          ? choice("Raters", raters, rater ?? "", (value) => void acts.correct({ rater: value || null }))
          : nothing
      }
    </div>`;
}

/** One row per column, with one plain choice each. */
function columnsOf(part: Part, detected: Detected, acts: Acts, corrections: Corrections): Html {
  const types = detected.choices.types.map((type) => [type, TYPES[type] ?? type] as const);
  const uses = part.role === "features" ? USES : USES.filter(([use]) => use !== "compare");
  const use =
    ({ name }: FoundColumn) =>
    (value: string) =>
      void acts.correct({ uses: { ...corrections.uses, [name]: value } });
  const type =
    ({ name }: FoundColumn) =>
    (value: string) =>
      void acts.correct({ types: { ...corrections.types, [name]: value } });
  const listed = (own: string) => (types.some(([value]) => value === own) ? types : [[own, own] as const, ...types]);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Columns of ${part.name}">
    <table class="found">
      <caption class="hide">Columns of ${part.name}</caption>
      <thead><tr><th scope="col">Column</th><th scope="col">Use it to</th><th scope="col">It is a</th><th scope="col">Values</th></tr></thead>
      <tbody>
        ${part.columns.map(
          (column) => html`<tr>
            <th scope="row">${column.name}</th>
            <td>${bareChoice(`Use of ${column.name}`, uses, column.use, use(column))}</td>
            <td>${bareChoice(`Type of ${column.name}`, listed(column.type), column.type, type(column))}</td>
            <td>
              ${column.values.join(", ")} …
              ${column.missing ? html`<span class="missing">${column.missing} missing</span>` : nothing}
            </td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function comparison({ choices }: Detected, acts: Acts, corrections: Corrections): Html {
  const metrics = choices.metrics.map((name) => [name, METRICS[name] ?? name] as const);
  const labels = [
    ["", "their numbers, or the first column"] as const,
    ...choices.labels.map((name) => [name, name] as const),
  ];
  return html`<div class="looks">
    ${choice("Compare by", metrics, corrections.metric ?? "seuclidean", (metric) => void acts.correct({ metric }))}
    ${choice("Names of objects", labels, corrections.labels ?? "", (name) => void acts.correct({ labels: name || null }))}
  </div>`;
}
