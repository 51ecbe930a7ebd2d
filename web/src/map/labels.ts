/** Where labels stand: none on top of another, and one for all objects on the same spot. */

import { type Point, type Size, toScreen } from "./camera.ts";
import { type Scene, isVisible } from "./hits.ts";

const MOST_LABELS = 200;
const MOST_NAMES = 3; // in one label; the others are counted

export interface Label {
  objects: number[];
  text: string;
  x: number;
  y: number;
  anchor: "start" | "middle" | "end";
  box: Box;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Spot {
  objects: number[];
  x: number;
  y: number;
}

/** Return the visible objects by the spots they are on; objects that come first lead.
 *
 * Objects no farther than so many pixels from the first of a spot are on it: they share a label and fan out on focus.
 */
export function spotsOf(scene: Scene, objects: Iterable<number>, near: number): Spot[] {
  const cells = new Map<string, Spot[]>();
  const spots: Spot[] = [];
  for (const object of objects) {
    if (!isVisible(scene, object)) continue;
    const { x, y } = toScreen(scene.camera, scene.size, scene.plane.xs[object], scene.plane.ys[object]);
    const [column, row] = [Math.floor(x / near), Math.floor(y / near)];
    const same = around(cells, column, row).find((spot) => Math.hypot(spot.x - x, spot.y - y) <= near);
    if (same) {
      same.objects.push(object);
      continue;
    }
    const spot = { objects: [object], x, y };
    spots.push(spot);
    const key = `${column} ${row}`;
    cells.set(key, [...(cells.get(key) ?? []), spot]);
  }
  return spots;
}

function around(cells: Map<string, Spot[]>, column: number, row: number): Spot[] {
  const found: Spot[] = [];
  for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) found.push(...(cells.get(`${column + dx} ${row + dy}`) ?? []));
  return found;
}

/** Return "Brother / Sister", or with many "a / b / c + 7". */
export function sharedText(names: string[]): string {
  const rest = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(" / ") + (rest > 0 ? ` + ${rest}` : "");
}

/** Return labels that do not overlap, the most important first: beside their points, or where there is room. */
export function placeLabels(spots: Spot[], names: string[], radius: number, widthOf: (text: string) => number, size: Size): Label[] {
  const taken: Box[] = spots.map(({ x, y }) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }));
  const placed: Label[] = [];
  for (const spot of spots) {
    if (placed.length >= MOST_LABELS) break;
    const text = sharedText(spot.objects.map((object) => names[object]));
    const free = ({ box }: Label) => fits(box, size) && !taken.some((other) => overlap(box, other));
    const label = candidates(spot, text, radius, widthOf(text)).find(free);
    if (!label) continue;
    placed.push(label);
    taken.push(label.box);
  }
  return placed;
}

function candidates({ objects, x, y }: Spot, text: string, radius: number, width: number): Label[] {
  const gap = radius + 3;
  const at = (px: number, py: number, anchor: Label["anchor"]): Label => {
    const left = anchor === "start" ? px : anchor === "end" ? px - width : px - width / 2;
    return { objects, text, x: px, y: py, anchor, box: { left, right: left + width, top: py - 11, bottom: py + 3 } };
  };
  return [at(x + gap, y + 4, "start"), at(x - gap, y + 4, "end"), at(x, y - gap - 2, "middle"), at(x, y + gap + 10, "middle")];
}

const fits = (box: Box, size: Size) => box.left >= 0 && box.top >= 0 && box.right <= size.width && box.bottom <= size.height;
const overlap = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Return places around a spot, one for each of its objects, far enough apart for all to be seen. */
export function fanOut({ objects, x, y }: Spot): Point[] {
  const radius = Math.max(26, (objects.length * 20) / (2 * Math.PI));
  return objects.map((_, k) => {
    const angle = (2 * Math.PI * k) / objects.length - Math.PI / 2;
    return { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
  });
}
