/** A map the size of a stamp. */

import { html, svg } from "lit-html";
import { hex } from "../colour.ts";
import { fitCamera } from "../map/camera.ts";
import { shapePath } from "../map/shapes.ts";
import { axisDirections, project } from "../map/turn.ts";
import type { Html } from "./parts.ts";

const MOST_POINTS = 400;
const SIZE = { width: 96, height: 72 };

/** Points row by row, with p numbers each; without colours all are of the accent. */
export function smallMap(
  points: Float32Array | undefined,
  p: number,
  colours?: Uint32Array,
  shapes?: Uint8Array,
): Html {
  const drawn: Html[] = [];
  if (points && p) {
    const plane = project(points, p, axisDirections([0, Math.min(1, p - 1)], p));
    const { x, y, zoom } = fitCamera(plane, SIZE);
    const n = plane.xs.length;
    for (let i = 0; i < n; i += Math.max(1, Math.ceil(n / MOST_POINTS))) {
      const place = `${(48 + (plane.xs[i] - x) * zoom).toFixed(1)} ${(36 - (plane.ys[i] - y) * zoom).toFixed(1)}`;
      const fill = colours ? hex(colours[i]) : "currentColor";
      drawn.push(
        svg`<path d=${shapePath(shapes?.[i] ?? 0)} transform="translate(${place}) scale(2.2)" fill=${fill}></path>`,
      );
    }
  }
  return html`<svg class="small" viewBox="0 0 96 72" aria-hidden="true">${drawn}</svg>`;
}
