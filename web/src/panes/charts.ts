/** Two small charts, as SVG. */

import { html, nothing, svg } from "lit-html";
import { extent } from "../colour.ts";
import { rounded } from "../store.ts";
import type { Html } from "./parts.ts";

/** Stress for 0, 1, 2 … dimensions; a click on a bar chooses the number. */
export function screeChart(stress: (number | null)[], elbow: number, now: number, choose: (p: number) => void): Html {
  const most = Math.max(...stress.map((value) => value ?? 0), 1e-12);
  const width = 300 / stress.length;
  return html`<figure class="chart scree">
    <div class="bars" role="group" aria-label="Stress by number of dimensions; the curve bends most at ${elbow}">
      <svg viewBox="0 0 300 100" aria-hidden="true">
        ${stress.map((value, p) => svg`<rect class=${p === elbow ? "bar elbow" : "bar"} x=${p * width + 3} width=${width - 6} y=${100 - (90 * (value ?? 0)) / most} height=${(90 * (value ?? 0)) / most}></rect>`)}
      </svg>
      <div class="picks">
        ${stress.map((value, p) => html`<button class="plain" ?disabled=${p === 0} aria-pressed=${p === now} title="Fit a map of ${p} dimensions" @click=${() => choose(p)}>${p}<span class="quiet">${rounded(value)}</span></button>`)}
      </div>
    </div>
    <figcaption>What maps of so many dimensions leave unexplained. It bends most at ${elbow}; choose a number to fit.</figcaption>
  </figure>`;
}

/** Distances on the map against dissimilarities. */
export function shepardChart(x: Float32Array, y: Float32Array, pairs: number): Html {
  const [right, top] = [extent(x)[1], extent(y)[1]];
  const most = Math.max(right, top) || 1;
  const step = Math.max(1, Math.ceil(x.length / 1500));
  const places: Html[] = [];
  for (let k = 0; k < x.length; k += step)
    places.push(svg`<circle cx=${30 + (260 * x[k]) / most} cy=${200 - (190 * y[k]) / most} r="2"></circle>`);
  return html`<figure class="chart">
    <svg viewBox="0 0 300 225" role="img" aria-label="Distances against dissimilarities, ${pairs} pairs">
      <line class="axis" x1="30" y1="200" x2="290" y2="200"></line><line class="axis" x1="30" y1="200" x2="30" y2="10"></line>
      <line class="ideal" x1="30" y1="200" x2="290" y2="10"></line>
      <g class="dots">${places}</g>
      <text x="290" y="216" text-anchor="end">dissimilarity</text><text x="8" y="12" transform="rotate(-90 12 12)" text-anchor="end">distance</text>
    </svg>
  </figure>`;
}

/** Bars with names, perhaps with intervals. */
export function barChart(rows: { name: string; value: number | null; low?: number; high?: number }[]): Html {
  const most = Math.max(...rows.map(({ value, high }) => Math.max(value ?? 0, high ?? 0)), 1e-12);
  const place = (value: number) => 110 + (150 * value) / most;
  return html`<figure class="chart">
    <svg viewBox="0 0 300 ${22 * rows.length}" role="img" aria-label=${rows.map(({ name, value }) => `${name}: ${rounded(value)}`).join(", ")}>
      ${rows.map(
        (
          { name, value, low, high },
          k,
        ) => svg`<rect class="bar" x="110" y=${22 * k + 4} height="14" width=${place(value ?? 0) - 110}></rect>
        ${low === undefined || high === undefined ? nothing : svg`<line class="interval" x1=${place(low)} x2=${place(high)} y1=${22 * k + 11} y2=${22 * k + 11}></line>`}
        <text x="104" y=${22 * k + 15} text-anchor="end">${name.length > 16 ? `${name.slice(0, 15)}…` : name}</text><text x=${place(Math.max(value ?? 0, high ?? 0)) + 5} y=${22 * k + 15}>${rounded(value)}</text>`,
      )}
    </svg>
  </figure>`;
}

/** A strength between 0 and 1 as a bar, with its number. */
export function strengthBar(strength: number | null): Html {
  const share = Math.max(0, Math.min(1, strength ?? 0));
  return html`<svg class="strength" viewBox="0 0 300 12" role="img" aria-label="strength ${rounded(strength)}">
    <rect class="track" width="250" height="8" y="2"></rect><rect class="bar" width=${250 * share} height="8" y="2"></rect>
    <text x="300" y="11" text-anchor="end">${rounded(strength)}</text>
  </svg>`;
}
