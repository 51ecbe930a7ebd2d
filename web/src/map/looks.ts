/** How points look: smaller the more there are, and faded where others are in front. */

import { type Paper, fade, pixel } from "../colour.ts";
import type { Looks } from "./raster.ts";

export const PAPERS: Record<Paper, string> = { light: "#ffffff", dark: "#15181d" }; // as in style.css and explore.css

export function looksOf(
  own: Uint32Array,
  shapes: Uint8Array,
  hidden: Uint8Array,
  front: Uint8Array,
  paper: Paper,
): Looks {
  const n = own.length;
  const back = pixel(PAPERS[paper]);
  const colours = front.includes(1) ? own.map((colour, i) => (front[i] ? colour : fade(colour, back, 0.65))) : own;
  const radius = n <= 200 ? 6 : n <= 2000 ? 4.5 : n <= 20000 ? 3.5 : 2.5;
  const crowd = n > 20000 && colours === own ? pixel(paper === "light" ? "#000000" : "#ffffff") : null;
  return { colours, shapes, hidden, front, radius, ring: n <= 5000 ? back : null, crowd, smooth: n <= 20000 };
}
