/** The map to look at: points and names on one canvas, pointer and keys. Drawing on the map is for the workbench. */

import type { Plane } from "../map/camera.ts";
import { isVisible, nearest } from "../map/hits.ts";
import { DIRECTIONS } from "../map/keys.ts";
import { type Label, placeLabels, spotsOf } from "../map/labels.ts";
import type { Looks } from "../map/raster.ts";
import { CLICK } from "../map/tools.ts";
import { FONT, MOST_NAMED, MOST_RINGS, MapWindow, REACH, SOME, distance } from "../map/window.ts";
import { memo } from "../memo.ts";

/** What is seen; arrays have one entry per object. */
export interface Seen {
  looks: Looks;
  names: string[];
  labels: boolean;
  found: Set<number>;
  focus: number | null;
}

/** What the user did. */
export interface Heard {
  hover(object: number | null): void;
  focus(object: number): void;
  clear(): void;
}

const ALIGN: Record<Label["anchor"], CanvasTextAlign> = { start: "left", middle: "center", end: "right" };

export class View extends MapWindow {
  #pen = this.canvas.getContext("2d")!;
  #seen: Seen | null = null;
  #hover: number | null = null;
  #important = memo(important);

  constructor(
    plane: Plane,
    private heard: Heard,
  ) {
    super(plane);
  }

  show(seen: Seen): void {
    this.#seen = seen;
    this.draw();
  }

  /** Objects that overlap a given one, which comes first. */
  sameSpot(object: number): number[] {
    const here = this.at(object);
    const near = 2 * this.#seen!.looks.radius;
    const all = Array.from(this.plane.xs.keys()).filter((i) => i !== object && isVisible(this.scene, i));
    return [object, ...all.filter((i) => distance(this.at(i), here) <= near)];
  }

  /** Move the map if an object is not seen. */
  reveal(object: number): void {
    if (!isVisible(this.scene, object))
      this.look({ ...this.camera, x: this.plane.xs[object], y: this.plane.ys[object] });
  }

  protected get hidden(): Uint8Array {
    return this.#seen!.looks.hidden;
  }

  // ---- drawing

  drawNow(): void {
    if (!this.#seen || !this.hasSize) return;
    const { looks, names, labels, found, focus } = this.#seen;
    const pen = this.#pen;
    const ratio = window.devicePixelRatio || 1;
    this.drawPoints(looks, ratio, true);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(this.element);
    pen.strokeStyle = pen.fillStyle = style.color;
    const paper = style.backgroundColor;
    pen.lineWidth = 1.5;
    for (const object of [...found].filter((i) => isVisible(this.scene, i)).slice(0, MOST_RINGS))
      this.#ring(object, looks.radius + 3);
    pen.font = FONT;
    const named = this.#hover ?? focus;
    if (labels) {
      const spots = spotsOf(this.scene, this.#important(names.length, found, focus), 2 * looks.radius);
      for (const label of placeLabels(spots, names, looks.radius, (text) => this.width(text), this.size))
        if (named === null || !label.objects.includes(named))
          this.#write(label.text, label.x, label.y, ALIGN[label.anchor], paper);
    }
    if (named === null || !isVisible(this.scene, named)) return;
    const { x, y } = this.at(named);
    const side = x < this.size.width / 2 ? 1 : -1;
    pen.lineWidth = 2.5;
    this.#ring(named, looks.radius + 4);
    pen.font = `bold ${FONT}`;
    this.#write(names[named], x + side * (looks.radius + 8), y + 4, side > 0 ? "left" : "right", paper);
  }

  #ring(object: number, radius: number): void {
    const { x, y } = this.at(object);
    this.#pen.beginPath();
    this.#pen.arc(x, y, radius, 0, 7);
    this.#pen.stroke();
  }

  /** Text with a rim in the colour of the paper, which keeps it readable on points. */
  #write(text: string, x: number, y: number, align: CanvasTextAlign, paper: string): void {
    const pen = this.#pen;
    const ink = pen.strokeStyle;
    pen.textAlign = align;
    [pen.strokeStyle, pen.lineWidth, pen.lineJoin] = [paper, 3, "round"];
    pen.strokeText(text, x, y);
    pen.strokeStyle = ink;
    pen.fillText(text, x, y);
  }

  // ---- pointer

  protected down(event: PointerEvent): void {
    if (event.button === 0) this.press(event);
  }

  protected moved(event: PointerEvent): void {
    const at = this.place(event);
    const last = this.pointers.get(event.pointerId);
    if (!last) return this.#setHover(nearest(this.scene, at, REACH));
    this.pointers.set(event.pointerId, at);
    this.drag(event.pointerId, last, at);
  }

  /** A drag that is short is a click: on an object, or on empty space, which clears. */
  protected up(event: PointerEvent): void {
    const at = this.place(event);
    const start = this.lift(event);
    if (!start || distance(start, at) >= CLICK) return;
    const object = nearest(this.scene, at, REACH);
    if (object === null) this.heard.clear();
    else this.heard.focus(object);
  }

  protected leave(): void {
    this.#setHover(null);
  }

  #setHover(object: number | null): void {
    if (object === this.#hover) return;
    this.#hover = object;
    this.heard.hover(object);
    this.draw();
  }

  // ---- keys

  protected key(key: string): boolean {
    if (key in DIRECTIONS) this.#walk(DIRECTIONS[key]);
    else if (key === "Escape") this.heard.clear();
    else return false;
    return true;
  }

  #walk(direction: [number, number]): void {
    const to = this.walkFrom(this.#seen!.focus, direction);
    if (to !== null) this.heard.focus(to);
  }
}

/** List the objects whose names matter, the most important first: what was searched for, or all if they are not too many. */
function important(n: number, found: Set<number>, focus: number | null): Set<number> {
  const others = found.size ? [...found].slice(0, SOME) : Array.from({ length: n <= MOST_NAMED ? n : 0 }, (_, i) => i);
  return new Set(focus === null ? others : [focus, ...others]);
}
