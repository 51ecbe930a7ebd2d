/** A window onto a map: its points on a canvas, where it looks from, and moving that by wheel, fingers and keys.
 *
 * The map of the workbench and the map alone extend it by what else is drawn, and by what pointer and keys do besides.
 */

import {
  type Camera,
  type Margins,
  type Plane,
  type Point,
  type Size,
  fitCamera,
  pan,
  toScreen,
  zoomAt,
} from "./camera.ts";
import { type Scene, isVisible } from "./hits.ts";
import { first, next } from "./keys.ts";
import { type Looks, Raster } from "./raster.ts";

export const FONT = "12px system-ui, sans-serif"; // of labels
export const REACH = 14; // pixels within which the pointer meets an object
export const MOST_NAMED = 3000; // with more objects only some of those in the focus have labels
export const SOME = 300;
export const MOST_RINGS = 500; // around what was found

export abstract class MapWindow {
  readonly element = document.createElement("div");
  camera: Camera = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 0, height: 0 };
  floats: Margins | null = null; // what lies on the map, where its window is wide enough
  protected canvas = document.createElement("canvas");
  protected pointers = new Map<number, Point>();
  protected start: Point | null = null; // where the only pointer went down
  private raster = new Raster();
  private drawn: unknown[] = []; // what the points were last drawn from
  private image: ImageData | null = null;
  private chosen = { zoom: 1, width: 1, height: 1 }; // the zoom that was chosen, and for which window
  private waits = false;
  private stale = false; // something has changed since the last drawing
  private widths = new Map<string, number>();
  private ruler = document.createElement("canvas").getContext("2d")!;

  constructor(public plane: Plane) {
    this.element.className = "map";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "application");
    this.element.setAttribute("aria-roledescription", "map");
    this.canvas.setAttribute("aria-hidden", "true");
    this.element.append(this.canvas);
    this.ruler.font = FONT;
    Object.assign(this.element, { view: this }); // for tests: where objects are on the screen
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.listen();
  }

  protected abstract get hidden(): Uint8Array;
  abstract drawNow(): void;
  protected abstract down(event: PointerEvent): void;
  protected abstract moved(event: PointerEvent): void;
  protected abstract up(event: PointerEvent): void;
  protected abstract leave(): void;
  /** Do what a key is for; false if it is for nothing. */
  protected abstract key(key: string): boolean;

  private listen(): void {
    const on = <K extends keyof HTMLElementEventMap>(event: K, act: (event: HTMLElementEventMap[K]) => void) =>
      this.element.addEventListener(event, act, { passive: false });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.moved(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.lift(event));
    on("pointerleave", () => this.leave());
    on("wheel", (event) => {
      event.preventDefault();
      this.look(
        zoomAt(this.camera, this.size, this.place(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015))),
      );
    });
    on("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && (this.key(event.key) || this.zoomKey(event.key)))
        event.preventDefault();
    });
  }

  // ---- the camera

  get scene(): Scene {
    return { plane: this.plane, hidden: this.hidden, camera: this.camera, size: this.size };
  }

  protected get hasSize(): boolean {
    return this.size.width > 0;
  }

  /** Return where an object is on the screen. */
  protected at(object: number): Point {
    return toScreen(this.camera, this.size, this.plane.xs[object], this.plane.ys[object]);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const isFirst = !this.hasSize;
    this.size = { width, height };
    if (isFirst) this.aim(this.firstCamera());
    else
      this.camera = {
        ...this.camera,
        zoom: this.chosen.zoom * Math.min(width / this.chosen.width, height / this.chosen.height),
      };
    this.draw();
  }

  protected firstCamera(): Camera {
    return this.fit(this.plane);
  }

  protected fit(plane: Plane): Camera {
    return fitCamera(plane, this.size, this.floats);
  }

  /** Set the camera. In a window of another size all that is seen in this one will be seen. */
  protected aim(camera: Camera): void {
    this.camera = camera;
    this.chosen = { zoom: camera.zoom, ...this.size };
  }

  look(camera: Camera): void {
    this.aim(camera);
    this.draw();
  }

  lookAtAll(): void {
    this.look(this.fit(this.plane));
  }

  zoom(factor: number): void {
    this.look(zoomAt(this.camera, this.size, { x: this.size.width / 2, y: this.size.height / 2 }, factor));
  }

  // ---- drawing

  /** Draw in the next frame, unless somebody draws before. */
  draw(): void {
    this.stale = true;
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      if (this.stale) this.drawNow();
    });
  }

  /** Draw the points, which are most of the work, unless they are there as they are to be; `anew` where something was drawn on them. */
  protected drawPoints(looks: Looks, ratio: number, anew = false): void {
    this.stale = false;
    const from = [this.plane, looks, this.camera, this.size, ratio];
    const same = from.every((part, k) => part === this.drawn[k]);
    if (same && !anew) return;
    this.drawn = from;
    if (!same) this.image = this.raster.draw(this.plane, looks, this.camera, this.size, ratio);
    const { width, height } = this.image!;
    if (this.canvas.width !== width || this.canvas.height !== height)
      [this.canvas.width, this.canvas.height] = [width, height];
    this.canvas.getContext("2d")!.putImageData(this.image!, 0, 0);
  }

  /** Return how wide a label is. */
  protected width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) this.widths.set(text, (width = this.ruler.measureText(text).width));
    return width;
  }

  // ---- pointer and keys

  protected place(event: MouseEvent): Point {
    const box = this.element.getBoundingClientRect();
    return {
      x: event.clientX - box.left - this.element.clientLeft,
      y: event.clientY - box.top - this.element.clientTop,
    };
  }

  /** A pointer goes down; return where. */
  protected press(event: PointerEvent): Point {
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    const at = this.place(event);
    this.pointers.set(event.pointerId, at);
    this.start = this.pointers.size === 1 ? at : null;
    return at;
  }

  /** A pointer goes up; return where the only one went down. */
  protected lift(event: PointerEvent): Point | null {
    this.pointers.delete(event.pointerId);
    const start = this.start;
    this.start = null;
    return start;
  }

  /** Move the camera with the pointer, or with two of them. */
  protected drag(id: number, last: Point, at: Point): void {
    const other = [...this.pointers].find(([key]) => key !== id)?.[1];
    if (!other) return this.look(pan(this.camera, at.x - last.x, at.y - last.y));
    const moved = pan(this.camera, (at.x - last.x) / 2, (at.y - last.y) / 2);
    this.look(zoomAt(moved, this.size, other, distance(at, other) / Math.max(1, distance(last, other))));
  }

  private zoomKey(key: string): boolean {
    if (key === "+" || key === "=") this.zoom(1.25);
    else if (key === "-") this.zoom(0.8);
    else if (key === "0") this.lookAtAll();
    else return false;
    return true;
  }

  /** Return the object that a walk in a direction comes to. */
  protected walkFrom(from: number | null, direction: [number, number]): number | null {
    return from === null || !isVisible(this.scene, from) ? first(this.scene) : next(this.scene, from, direction);
  }
}

export const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);
