/** How points look, as on the map of the workbench: smaller the more there are, faded where others are searched for. */

import { type Paper, fade, pixel } from "../colour.ts";
import type { Looks } from "../map/raster.ts";

export const PAPERS: Record<Paper, string> = { light: "#ffffff", dark: "#15181d" }; // as in explore.css

export function looksOf(own: Uint32Array, shapes: Uint8Array, hidden: Uint8Array, found: Uint8Array, paper: Paper): Looks {
  const n = own.length;
  const back = pixel(PAPERS[paper]);
  const colours = found.includes(1) ? own.map((colour, i) => (found[i] ? colour : fade(colour, back, 0.65))) : own;
  const radius = n <= 200 ? 6 : n <= 2000 ? 4.5 : n <= 20000 ? 3.5 : 2.5;
  return { colours, shapes, hidden, front: found, radius, ring: n <= 5000 ? back : null, smooth: n <= 20000 };
}
