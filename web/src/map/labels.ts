/** Where labels stand: none on top of another, and one for all objects on the same spot. */

import { type Point, type Size, toScreen } from "./camera.ts";
import { type Scene, isVisible } from "./hits.ts";

const MOST_LABELS = 200;
const SQUARE = 32; // pixels
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
  x: number; // of its first object
  y: number;
  reach: number; // to the farthest of the others
}

/** Return the visible objects by the spots they are on; objects that come first lead.
 *
 * Objects no farther than so many pixels from the first of a spot are on it: they share a label and fan out on focus.
 */
export function spotsOf(scene: Scene, objects: Iterable<number>, near: number): Spot[] {
  const cells = new Map<number, Spot[]>();
  const spots: Spot[] = [];
  for (const object of objects) {
    if (!isVisible(scene, object)) continue;
    const { x, y } = toScreen(scene.camera, scene.size, scene.plane.xs[object], scene.plane.ys[object]);
    const [column, row] = [Math.floor(x / near), Math.floor(y / near)];
    const same = around(cells, column, row).find((spot) => Math.hypot(spot.x - x, spot.y - y) <= near);
    if (same) {
      same.objects.push(object);
      same.reach = Math.max(same.reach, Math.hypot(same.x - x, same.y - y));
      continue;
    }
    const spot = { objects: [object], x, y, reach: 0 };
    spots.push(spot);
    const there = cells.get(row * 65536 + column);
    if (there) there.push(spot);
    else cells.set(row * 65536 + column, [spot]);
  }
  return spots;
}

function around(cells: Map<number, Spot[]>, column: number, row: number): Spot[] {
  const found: Spot[] = [];
  for (const dx of [-1, 0, 1])
    for (const dy of [-1, 0, 1]) found.push(...(cells.get((row + dy) * 65536 + column + dx) ?? []));
  return found;
}

/** Return "Brother / Sister", or with many "a / b / c + 7". */
export function sharedText(names: string[]): string {
  const rest = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(" / ") + (rest > 0 ? ` + ${rest}` : "");
}

/** Return labels that do not overlap, the most important first: beside their points, or where there is room. */
export function placeLabels(
  spots: Spot[],
  names: string[],
  radius: number,
  widthOf: (text: string) => number,
  size: Size,
): Label[] {
  const taken = new Boxes();
  for (const { x, y } of spots) taken.add({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius });
  const placed: Label[] = [];
  for (const spot of spots) {
    if (placed.length >= MOST_LABELS) break;
    const text = sharedText(spot.objects.map((object) => names[object]));
    const label = candidates(spot, text, radius, widthOf(text)).find(({ box }) => fits(box, size) && !taken.meets(box));
    if (!label) continue;
    placed.push(label);
    taken.add(label.box);
  }
  return placed;
}

/** Boxes by the squares of a grid that they touch, so that only a few need be compared. */
class Boxes {
  private squares = new Map<number, Box[]>();

  add(box: Box): void {
    for (const square of this.touched(box)) {
      const there = this.squares.get(square);
      if (there) there.push(box);
      else this.squares.set(square, [box]);
    }
  }

  meets(box: Box): boolean {
    return this.touched(box).some((square) => this.squares.get(square)?.some((other) => overlap(box, other)));
  }

  private touched({ left, right, top, bottom }: Box): number[] {
    const found: number[] = [];
    for (let row = Math.floor(top / SQUARE); row <= Math.floor(bottom / SQUARE); row++)
      for (let column = Math.floor(left / SQUARE); column <= Math.floor(right / SQUARE); column++)
        found.push(row * 65536 + column);
    return found;
  }
}

function candidates({ objects, x, y, reach }: Spot, text: string, radius: number, width: number): Label[] {
  const gap = radius + reach + 3;
  const at = (px: number, py: number, anchor: Label["anchor"]): Label => {
    const left = anchor === "start" ? px : anchor === "end" ? px - width : px - width / 2;
    return { objects, text, x: px, y: py, anchor, box: { left, right: left + width, top: py - 11, bottom: py + 3 } };
  };
  return [
    at(x + gap, y + 4, "start"),
    at(x - gap, y + 4, "end"),
    at(x, y - gap - 2, "middle"),
    at(x, y + gap + 10, "middle"),
  ];
}

const fits = (box: Box, size: Size) =>
  box.left >= 0 && box.top >= 0 && box.right <= size.width && box.bottom <= size.height;
const overlap = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Return places around a spot, one for each of its objects, far enough apart for all to be seen. */
export function fanOut({ objects, x, y }: Spot): Point[] {
  const radius = Math.max(26, (objects.length * 20) / (2 * Math.PI));
  return objects.map((_, k) => {
    const angle = (2 * Math.PI * k) / objects.length - Math.PI / 2;
    return { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
  });
}
