/** Take away: what was found, as files. */

import { html } from "lit-html";
import { type Acts, download } from "../acts.ts";
import { pngOf, svgOf } from "../map/picture.ts";
import type { MapView } from "../map/map.ts";
import { type State, currentFit } from "../store.ts";
import { keysOf } from "./legend.ts";
import { type Html, count } from "./parts.ts";

const FILES = [
  ["report", "Report", "one page that tells what was asked and found"],
  ["csv", "Tables (CSV)", "maps and features"],
  ["parquet", "Tables (Parquet)", "the same, for programs"],
  ["study", "Study (zip)", "everything, to go on elsewhere"],
  ["script", "Script", "Python code that makes the same maps"],
] as const;

export function takePane(state: State, acts: Acts, map: MapView): Html {
  const none = state.shown === null;
  const { title: name = "", n = 0 } = state.study ?? {};
  const title = `${name ? `${name}: ` : ""}${count(n, "object")}, ${currentFit(state)?.title ?? ""}`;
  const save = (name: string, mime: string, data: Uint8Array) => download({ name, mime, data });
  const svgFile = () => save("map.svg", "image/svg+xml", new TextEncoder().encode(svgOf(map, keysOf(state), title)));
  const pngFile = async () => save("map.png", "image/png", await pngOf(map, keysOf(state), title));
  return html`<section class="pane" aria-labelledby="take-title">
    <h2 id="take-title">Take away</h2>
    <ul class="plain-list">
      ${FILES.map(([what, text, help]) => html`<li><button @click=${() => void acts.takeAway(what)}>${text}</button> <span class="quiet">${help}</span></li>`)}
      <li><button ?disabled=${none} @click=${() => void pngFile()}>Picture (PNG)</button> <button ?disabled=${none} @click=${svgFile}>Picture (SVG)</button> <span class="quiet">the map as it is seen now, with its legend</span></li>
      <li><button ?disabled=${state.selection.size === 0} @click=${() => void acts.copyNames()}>Names of the selection</button> <span class="quiet">${state.selection.size} selected</span></li>
    </ul>
    <p><button class="plain" @click=${() => void acts.startAnew()}>Begin another study …</button></p>
  </section>`;
}
