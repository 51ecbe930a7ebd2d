/** Which objects are at a place of the screen, inside a lasso or a rectangle, or next in a direction. */

import { type Camera, type Plane, type Point, type Size, toMap, toScreen } from "./camera.ts";

/** What is needed to find objects on the screen; only visible ones are ever found. */
export interface Scene {
  plane: Plane;
  hidden: Uint8Array;
  camera: Camera;
  size: Size;
}

/** Whether an object is drawn and inside the window. */
export function isVisible({ plane, hidden, camera, size }: Scene, object: number): boolean {
  const { x, y } = toScreen(camera, size, plane.xs[object], plane.ys[object]);
  return !hidden[object] && x >= 0 && y >= 0 && x <= size.width && y <= size.height;
}

/** Return the visible object nearest to a place of the screen, at most so many pixels away; null if there is none. */
export function nearest(scene: Scene, at: Point, within: number): number | null {
  const { xs, ys } = scene.plane;
  const { x, y } = toMap(scene.camera, scene.size, at);
  let best: number | null = null;
  let least = (within / scene.camera.zoom) ** 2;
  for (let i = 0; i < xs.length; i++) {
    const distance = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
    if (distance <= least && isVisible(scene, i)) [best, least] = [i, distance];
  }
  return best;
}

/** Return the visible objects inside a polygon of places on the screen. */
export function inside({ plane, hidden, camera, size }: Scene, polygon: Point[]): number[] {
  // In coordinates of the map, so that nothing need be converted per object.
  const corners = polygon.map((place) => toMap(camera, size, place));
  const window = boxOf([toMap(camera, size, { x: 0, y: 0 }), toMap(camera, size, { x: size.width, y: size.height })]);
  const box = boxOf(corners);
  const [left, right] = [Math.max(box.left, window.left), Math.min(box.right, window.right)];
  const [low, high] = [Math.max(box.low, window.low), Math.min(box.high, window.high)];
  const outline = new Outline(corners, box.low, box.high);
  const { xs, ys } = plane;
  const found: number[] = [];
  for (let i = 0; i < xs.length; i++) {
    const x = xs[i];
    const y = ys[i];
    if (x >= left && x <= right && y >= low && y <= high && !hidden[i] && outline.has(x, y)) found.push(i);
  }
  return found;
}

const BANDS = 256;

/** A polygon whose edges are sorted into bands by height: of a lasso of hundreds of corners each point meets only a few. */
export class Outline {
  private edges: Float64Array; // four numbers each: both ends
  private bands: number[][] = Array.from({ length: BANDS }, () => []); // where the edges begin that meet a band
  private scale: number;

  constructor(
    corners: Point[],
    private low: number,
    high: number,
  ) {
    this.scale = high > low ? BANDS / (high - low) : 0;
    this.edges = Float64Array.from(corners.flatMap((a, k) => [a.x, a.y, corners.at(k - 1)!.x, corners.at(k - 1)!.y]));
    for (let at = 0; at < this.edges.length; at += 4) {
      const [from, to] = [
        this.band(Math.min(this.edges[at + 1], this.edges[at + 3])),
        this.band(Math.max(this.edges[at + 1], this.edges[at + 3])),
      ];
      for (let band = from; band <= to; band++) this.bands[band].push(at);
    }
  }

  private band(y: number): number {
    return Math.max(0, Math.min(BANDS - 1, Math.floor((y - this.low) * this.scale)));
  }

  /** Whether a place is inside: a ray from it crosses the border an odd number of times. */
  has(x: number, y: number): boolean {
    const { edges } = this;
    let odd = false;
    for (const at of this.bands[this.band(y)]) {
      const ay = edges[at + 1];
      const by = edges[at + 3];
      if (ay > y !== by > y && x < ((edges[at + 2] - edges[at]) * (y - ay)) / (by - ay) + edges[at]) odd = !odd;
    }
    return odd;
  }
}

function boxOf(corners: Point[]): { left: number; right: number; low: number; high: number } {
  const box = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
  for (const { x, y } of corners) {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.low = Math.min(box.low, y);
    box.high = Math.max(box.high, y);
  }
  return box;
}

export const rectangle = (a: Point, b: Point): Point[] => [a, { x: b.x, y: a.y }, b, { x: a.x, y: b.y }];
