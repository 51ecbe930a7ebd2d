/** The map to look at: points and names on one canvas, pointer and keys. Drawing on the map is for the workbench. */

import { memo } from "../memo.ts";
import { type Camera, type Plane, type Point, type Size, fitCamera, pan, toScreen, zoomAt } from "../map/camera.ts";
import { type Scene, isVisible, nearest } from "../map/hits.ts";
import { DIRECTIONS, first, next } from "../map/keys.ts";
import { type Label, placeLabels, spotsOf } from "../map/labels.ts";
import { type Looks, Raster } from "../map/raster.ts";
import { CLICK } from "../map/tools.ts";
import { h } from "./dom.ts";

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

const FONT = "12px system-ui, sans-serif";
const REACH = 14; // pixels within which the pointer meets an object
const MOST_NAMED = 3000; // with more objects only those that are searched for have labels, and only some
const SOME = 300;
const MOST_RINGS = 500;
const ALIGN: Record<Label["anchor"], CanvasTextAlign> = { start: "left", middle: "center", end: "right" };

export class View {
  readonly element = h("div", { class: "map", tabindex: "0", role: "application", "aria-roledescription": "map" });
  #canvas = h("canvas", { "aria-hidden": "true" });
  #pen = this.#canvas.getContext("2d")!;
  #raster = new Raster();
  #camera: Camera = { x: 0, y: 0, zoom: 1 };
  #size: Size = { width: 0, height: 0 };
  #chosen = { zoom: 1, width: 1, height: 1 }; // the zoom that was chosen, and for which window
  #seen: Seen | null = null;
  #hover: number | null = null;
  #pointers = new Map<number, Point>();
  #start: Point | null = null;
  #waits = false;
  #width = memoByText((text) => this.#pen.measureText(text).width);
  #important = memo(important);

  constructor(private plane: Plane, private heard: Heard) {
    this.element.append(this.#canvas);
    new ResizeObserver(() => this.#resize()).observe(this.element);
    this.#listen();
  }

  show(seen: Seen): void {
    this.#seen = seen;
    this.#draw();
  }

  /** Objects that overlap a given one, which comes first. */
  sameSpot(object: number): number[] {
    const { x, y } = this.#at(object);
    const near = 2 * this.#seen!.looks.radius;
    const all = Array.from(this.plane.xs.keys()).filter((i) => i !== object && isVisible(this.#scene, i));
    return [object, ...all.filter((i) => distance(this.#at(i), { x, y }) <= near)];
  }

  // ---- the camera

  get #scene(): Scene {
    return { plane: this.plane, hidden: this.#seen!.looks.hidden, camera: this.#camera, size: this.#size };
  }

  #at(object: number): Point {
    return toScreen(this.#camera, this.#size, this.plane.xs[object], this.plane.ys[object]);
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const isFirst = !this.#size.width;
    this.#size = { width, height };
    // In a window of another size all that was seen is seen.
    if (isFirst) this.lookAtAll();
    else this.#camera = { ...this.#camera, zoom: this.#chosen.zoom * Math.min(width / this.#chosen.width, height / this.#chosen.height) };
    this.#draw();
  }

  #look(camera: Camera): void {
    this.#camera = camera;
    this.#chosen = { zoom: camera.zoom, ...this.#size };
    this.#draw();
  }

  lookAtAll(): void {
    this.#look(fitCamera(this.plane, this.#size));
  }

  zoom(factor: number): void {
    this.#look(zoomAt(this.#camera, this.#size, { x: this.#size.width / 2, y: this.#size.height / 2 }, factor));
  }

  /** Move the map if an object is not seen. */
  reveal(object: number): void {
    if (!isVisible(this.#scene, object)) this.#look({ ...this.#camera, x: this.plane.xs[object], y: this.plane.ys[object] });
  }

  // ---- drawing

  #draw(): void {
    if (this.#waits) return;
    this.#waits = true;
    requestAnimationFrame(() => {
      this.#waits = false;
      if (this.#seen && this.#size.width) this.#drawNow(this.#seen);
    });
  }

  #drawNow({ looks, names, labels, found, focus }: Seen): void {
    const pen = this.#pen;
    const ratio = window.devicePixelRatio || 1;
    const image = this.#raster.draw(this.plane, looks, this.#camera, this.#size, ratio);
    if (this.#canvas.width !== image.width || this.#canvas.height !== image.height) [this.#canvas.width, this.#canvas.height] = [image.width, image.height];
    pen.putImageData(image, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(this.element);
    pen.strokeStyle = pen.fillStyle = style.color;
    const paper = style.backgroundColor;
    pen.lineWidth = 1.5;
    for (const object of [...found].filter((i) => isVisible(this.#scene, i)).slice(0, MOST_RINGS)) this.#ring(object, looks.radius + 3);
    pen.font = FONT;
    const named = this.#hover ?? focus;
    if (labels) {
      const spots = spotsOf(this.#scene, this.#important(names.length, found, focus), 2 * looks.radius);
      for (const label of placeLabels(spots, names, looks.radius, this.#width, this.#size))
        if (named === null || !label.objects.includes(named)) this.#write(label.text, label.x, label.y, ALIGN[label.anchor], paper);
    }
    if (named === null || !isVisible(this.#scene, named)) return;
    const { x, y } = this.#at(named);
    const side = x < this.#size.width / 2 ? 1 : -1;
    pen.lineWidth = 2.5;
    this.#ring(named, looks.radius + 4);
    pen.font = `bold ${FONT}`;
    this.#write(names[named], x + side * (looks.radius + 8), y + 4, side > 0 ? "left" : "right", paper);
  }

  #ring(object: number, radius: number): void {
    const { x, y } = this.#at(object);
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

  #listen(): void {
    const on = <K extends keyof HTMLElementEventMap>(event: K, act: (event: HTMLElementEventMap[K]) => void) => this.element.addEventListener(event, act, { passive: false });
    on("pointerdown", (event) => this.#down(event));
    on("pointermove", (event) => this.#moved(event));
    on("pointerup", (event) => this.#up(event));
    on("pointercancel", (event) => {
      this.#pointers.delete(event.pointerId);
      this.#start = null;
    });
    on("pointerleave", () => this.#setHover(null));
    on("wheel", (event) => {
      event.preventDefault();
      this.#look(zoomAt(this.#camera, this.#size, this.#place(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015))));
    });
    on("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.#key(event.key)) event.preventDefault();
    });
  }

  #place(event: MouseEvent): Point {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left - this.element.clientLeft, y: event.clientY - box.top - this.element.clientTop };
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    const at = this.#place(event);
    this.#pointers.set(event.pointerId, at);
    this.#start = this.#pointers.size === 1 ? at : null;
  }

  #moved(event: PointerEvent): void {
    const at = this.#place(event);
    const last = this.#pointers.get(event.pointerId);
    if (!last) return this.#setHover(nearest(this.#scene, at, REACH));
    this.#pointers.set(event.pointerId, at);
    const other = [...this.#pointers].find(([key]) => key !== event.pointerId)?.[1];
    if (!other) return this.#look(pan(this.#camera, at.x - last.x, at.y - last.y));
    const moved = pan(this.#camera, (at.x - last.x) / 2, (at.y - last.y) / 2);
    this.#look(zoomAt(moved, this.#size, other, distance(at, other) / Math.max(1, distance(last, other))));
  }

  /** A drag that is short is a click: on an object, or on empty space, which clears. */
  #up(event: PointerEvent): void {
    const at = this.#place(event);
    this.#pointers.delete(event.pointerId);
    const start = this.#start;
    this.#start = null;
    if (!start || distance(start, at) >= CLICK) return;
    const object = nearest(this.#scene, at, REACH);
    if (object === null) this.heard.clear();
    else this.heard.focus(object);
  }

  #setHover(object: number | null): void {
    if (object === this.#hover) return;
    this.#hover = object;
    this.heard.hover(object);
    this.#draw();
  }

  // ---- keys

  #key(key: string): boolean {
    if (key in DIRECTIONS) this.#walk(DIRECTIONS[key]);
    else if (key === "Escape") this.heard.clear();
    else if (key === "+" || key === "=") this.zoom(1.25);
    else if (key === "-") this.zoom(0.8);
    else if (key === "0") this.lookAtAll();
    else return false;
    return true;
  }

  #walk(direction: [number, number]): void {
    const from = this.#seen!.focus;
    const to = from === null || !isVisible(this.#scene, from) ? first(this.#scene) : next(this.#scene, from, direction);
    if (to !== null) this.heard.focus(to);
  }
}

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

/** List the objects whose names matter, the most important first: what was searched for, or all if they are not too many. */
function important(n: number, found: Set<number>, focus: number | null): Set<number> {
  const others = found.size ? [...found].slice(0, SOME) : Array.from({ length: n <= MOST_NAMED ? n : 0 }, (_, i) => i);
  return new Set(focus === null ? others : [focus, ...others]);
}

function memoByText(compute: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    if (!known.has(text)) known.set(text, compute(text));
    return known.get(text)!;
  };
}
