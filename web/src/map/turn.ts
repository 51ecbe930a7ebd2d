/** Which plane of the map is shown: a pair of its axes, a turn from one pair to another, or a view in space. */

import type { Plane } from "./camera.ts";

/** Two directions in the space of the map, across and up; each has as many numbers as the map has axes. */
export type Directions = [number[], number[]];

export function axisDirections(axes: [number, number], p: number): Directions {
  const unit = (axis: number) => Array.from({ length: p }, (_, k) => (k === axis ? 1 : 0));
  return [unit(axes[0]), p > 1 ? unit(axes[1]) : unit(-1)];
}

/** Return the directions on the way between two pairs, which stay at right angles and of length 1.
 *
 * The straight way between them is made orthonormal again at each moment.
 */
export function between(from: Directions, to: Directions, share: number): Directions {
  const mixed = from.map((direction, k) => direction.map((value, axis) => value * (1 - share) + to[k][axis] * share));
  const across = unit(mixed[0]) ?? to[0];
  const overlap = dot(across, mixed[1]);
  const up = unit(mixed[1].map((value, axis) => value - overlap * across[axis])) ?? to[1];
  return [across, up];
}

/** Return the directions of a view in space, after turning it around by two angles. */
export function spaceDirections(axes: [number, number, number], p: number, turn: number, tilt: number): Directions {
  const across = new Array<number>(p).fill(0);
  const up = new Array<number>(p).fill(0);
  across[axes[0]] = Math.cos(turn);
  across[axes[2]] = Math.sin(turn);
  up[axes[0]] = Math.sin(turn) * Math.sin(tilt);
  up[axes[1]] = Math.cos(tilt);
  up[axes[2]] = -Math.cos(turn) * Math.sin(tilt);
  return [across, up];
}

const dot = (a: number[], b: number[]) => a.reduce((sum, value, k) => sum + value * b[k], 0);

function unit(direction: number[]): number[] | null {
  const length = Math.sqrt(dot(direction, direction));
  return length > 1e-6 ? direction.map((value) => value / length) : null;
}

/** Return the points (n × p, row by row) as they are seen along two directions. */
export function project(points: Float32Array, p: number, [across, up]: Directions): Plane {
  const n = p ? points.length / p : 0;
  const plane = { xs: new Float32Array(n), ys: new Float32Array(n) };
  for (let i = 0; i < n; i++) {
    let x = 0;
    let y = 0;
    for (let k = 0; k < p; k++) {
      x += points[i * p + k] * across[k];
      y += points[i * p + k] * up[k];
    }
    plane.xs[i] = x;
    plane.ys[i] = y;
  }
  return plane;
}

/** Return the plane on the way from one to another, for objects that move. */
export function blendPlanes(from: Plane, to: Plane, share: number): Plane {
  const mix = (a: Float32Array, b: Float32Array) => b.map((value, i) => a[i] + (value - a[i]) * share);
  return { xs: mix(from.xs, to.xs), ys: mix(from.ys, to.ys) };
}
