/** The legend: what colours and shapes mean, with counts; levels can be put out. */

import { html, nothing, svg } from "lit-html";
import type { Acts } from "../acts.ts";
import { MOST_COLOURS, MOST_SIGNS, extent, howMany, levelColour, levelShape, missingColour, stops } from "../colour.ts";
import { memo } from "../memo.ts";
import type { Key } from "../map/picture.ts";
import { SHAPES } from "../map/raster.ts";
import type { Values } from "../protocol.ts";
import { type State, counting, digits } from "../store.ts";
import { type Html, count, paged } from "./parts.ts";
import { shapePath } from "../map/shapes.ts";

export function legend(state: State, acts: Acts): Html {
  if (state.draft?.preview) return nothing;
  const colour = state.colour === null ? undefined : state.columns.get(state.colour);
  const shape = state.shape === null ? undefined : state.columns.get(state.shape);
  return html`<div class="legend">
    ${colour ? (colour.levels ? levels(state, acts, colour, nameOf(state, state.colour)) : gradient(state, colour, nameOf(state, state.colour))) : nothing}
    ${shape?.levels && state.shape !== state.colour ? shapes(state, acts, shape, nameOf(state, state.shape)) : nothing}
  </div>`;
}

/** Return the same for a picture: levels that are put out are not on it. */
export function keysOf(state: State): Key[] {
  if (state.draft?.preview) return [];
  const column = (key: string | null) => (key === null ? undefined : state.columns.get(key));
  const [colour, shape] = [column(state.colour), column(state.shape)];
  const own = state.shape === null || state.shape === state.colour;
  const keys: Key[] = [];
  if (colour?.levels) {
    const rows = colour.levels.map((text, level) => ({
      shape: own ? levelShape(level) : 0,
      colour: levelColour(state.paper, level),
      text,
      level,
    }));
    if (counts(colour).at(-1)) rows.push({ shape: 0, colour: missingColour(state.paper), text: "missing", level: -1 });
    keys.push({ name: nameOf(state, state.colour), rows: rows.filter(({ level }) => !state.hiddenLevels.has(level)) });
  } else if (colour) {
    const [low, high] = rangeOf(colour);
    keys.push({
      name: nameOf(state, state.colour),
      ramp: { colours: stops(state.paper, colour.scale), low: digits(low, high), high: digits(high, low) },
    });
  }
  if (shape?.levels && !own)
    keys.push({
      name: nameOf(state, state.shape),
      rows: shape.levels.map((text, level) => ({ shape: levelShape(level), colour: null, text })),
    });
  return keys;
}

const nameOf = (state: State, key: string | null) =>
  state.study?.columns.find((column) => column.key === key)?.name ?? "";
const rangeOf = (column: Values): [number, number] =>
  column.scale === "cycle" ? [0, column.period ?? 1] : extent(column.values);

/** Count the objects of each level; those of none come last. */
function countLevels({ levels, values }: Values): number[] {
  const found = new Array<number>((levels?.length ?? 0) + 1).fill(0);
  for (const code of values) found[Number.isNaN(code) ? found.length - 1 : code]++;
  return found;
}

const [counts, countsOfShapes] = [memo(countLevels), memo(countLevels)];

function levels(state: State, acts: Acts, column: Values, name: string): Html {
  const names = column.levels!;
  const numbers = counts(column);
  const own = state.shape === null || state.shape === state.colour; // shapes differ together with colours
  const entry = (text: string, level: number, n: number, colour: string) => html`<li>
    <button class="plain" aria-pressed=${!state.hiddenLevels.has(level)} title="Show or hide" @click=${() => acts.toggleLevel(level)}>
      ${sign(own ? levelShape(level) : 0, colour)} ${text} <span class="quiet">${n}</span>
    </button>
  </li>`;
  const rows = (part: number[]) =>
    html`<ul>${part.map((level) => entry(names[level], level, numbers[level], levelColour(state.paper, level)))}</ul>`;
  return html`<h3>${name}</h3>
    ${paged(state, acts, everyLevel(names.length), "level", rows)}
    ${numbers[names.length] ? html`<ul>${entry("missing", -1, numbers[names.length], missingColour(state.paper))}</ul>` : nothing} ${again(names.length, own)}`;
}

const [everyLevel, everyShape] = [memo(counting), memo(counting)];

/** Say where levels cannot be told apart. */
function again(n: number, own: boolean): Html {
  if (own && n > MOST_SIGNS)
    return html`<p class="quiet">There are ${MOST_SIGNS} signs: from level ${MOST_SIGNS + 1} on they come again. Put out levels here to tell them apart.</p>`;
  if (!own && n > MOST_COLOURS)
    return html`<p class="quiet">There are ${MOST_COLOURS} colours: from level ${MOST_COLOURS + 1} on they come again. With shapes as the colour, ${MOST_SIGNS} levels can be told apart.</p>`;
  return nothing;
}

function gradient(state: State, column: Values, name: string): Html {
  const [low, high] = rangeOf(column);
  const colours = stops(state.paper, column.scale);
  const missing = howMany(column.values, Number.isNaN);
  return html`<h3>${name}${column.scale === "cycle" ? " (cyclic)" : ""}</h3>
    <div class="gradient">
      <span>${digits(low, high)}</span>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <defs><linearGradient id="ramp">${colours.map((colour, k) => svg`<stop offset=${k / (colours.length - 1)} stop-color=${colour}></stop>`)}</linearGradient></defs>
        <rect width="100" height="10" fill="url(#ramp)"></rect>
      </svg>
      <span>${digits(high, low)}</span>
    </div>
    <p class="quiet">${count(column.values.length - missing, "object")}${missing ? `, ${missing} missing` : ""}</p>`;
}

function shapes(state: State, acts: Acts, column: Values, name: string): Html {
  const numbers = countsOfShapes(column);
  const names = column.levels!;
  const rows = (part: number[]) =>
    html`<ul>${part.map((level) => html`<li>${sign(levelShape(level), "currentColor")} ${names[level]} <span class="quiet">${numbers[level]}</span></li>`)}</ul>`;
  return html`<h3>${name}</h3>
    ${paged(state, acts, everyShape(names.length), "level", rows)}
    ${names.length > SHAPES.length ? html`<p class="quiet">There are ${SHAPES.length} shapes: from level ${SHAPES.length + 1} on they come again.</p>` : nothing}`;
}

const sign = (shape: number, colour: string) =>
  html`<svg class="sign" viewBox="-1.4 -1.4 2.8 2.8" aria-hidden="true"><path d=${shapePath(shape)} fill=${colour}></path></svg>`;
