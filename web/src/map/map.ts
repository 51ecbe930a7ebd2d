/** The map: points as pixels on a canvas, everything else above it as SVG. The only file that knows how both are drawn. */

import { render } from "lit-html";
import { type Paper, hex } from "../colour.ts";
import { type Camera, type Point, cameraBetween, toMap, toScreen } from "./camera.ts";
import { inside, isVisible, nearest, rectangle } from "./hits.ts";
import { DIRECTIONS } from "./keys.ts";
import { type Spot, fanOut, placeLabels, spotsOf } from "./labels.ts";
import { looksOf } from "./looks.ts";
import { type Marks, overlay } from "./overlay.ts";
import { memo } from "../memo.ts";
import type { Looks } from "./raster.ts";
import { CLICK, type Drawing, type Tool, endsCurve, isArea, isPath, mark, simplify, unmark } from "./tools.ts";
import { type Directions, axisDirections, between, blendPlanes, project, spaceDirections } from "./turn.ts";
import { MOST_NAMED, MOST_RINGS, MapWindow, REACH, SOME, distance } from "./window.ts";

/** What the map shows; arrays have one entry per object. */
export interface Shown {
  coordinates: string; // names them: the camera moves if and only if this changes
  points: Float32Array; // n × p, row by row
  p: number;
  axes: [number, number];
  space: boolean; // seen in space, not in the plane of two axes
  camera: Camera | null; // where to look from when the coordinates are new; null to see all
  before: Float32Array | null; // where the objects come from, n × p; null if they just appear
  names: string[];
  colours: Uint32Array;
  shapes: Uint8Array;
  hidden: Uint8Array;
  selected: Uint8Array;
  found: Set<number>; // by a search
  focus: number | null;
  tool: Tool;
  path: Point[]; // a finished arrow or curve, while it is named
  outlines: Point[][]; // of a finished lasso, or of groups
  groups: { objects: number[]; name: string }[]; // groups drawn so far
  ellipses: Float32Array | null; // n × p × p
  pictures: Map<number, string> | null; // addresses of thumbnails
  labels: boolean;
  paper: Paper;
  still: boolean; // the user prefers no movement
}

/** What the user did. Objects by place, points in coordinates of the plane. */
export interface Heard {
  choose(objects: number[], how: "only" | "toggle"): void;
  area(objects: number[], tool: Tool, outline: Point[]): void;
  path(points: Point[], objects: (number | null)[], tool: Tool): void;
  clear(): void;
  focus(object: number | null): void;
  camera(camera: Camera): void;
  drawing(marked: number, tool: Tool): void;
}

const MOST_PICTURES = 400;
const DURATION = 650; // milliseconds of a turn or a movement

export class MapView extends MapWindow {
  shown: Shown | null = null;
  private svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  private looksOf = memo(looksOf);
  private unpictured = memo(unpictured);
  private looks: Looks | null = null;
  private drawing: Drawing | null = null;
  private walked: number | null = null; // the object in the focus, also before the next frame shows it: keys may be quicker
  private hover: number | null = null;
  private fan: { spot: Spot; places: Point[] } | null = null;
  private far = false; // the pointer has moved more than a click does
  private turning = 0; // number of the running movement
  private angles = { turn: 0.6, tilt: 0.35 };

  constructor(private heard: Heard) {
    super({ xs: new Float32Array(), ys: new Float32Array() });
    this.svg.setAttribute("aria-hidden", "true");
    this.element.append(this.svg);
  }

  /** Show something else, at once: whoever calls is drawing a frame already. */
  show(shown: Shown): void {
    const last = this.shown;
    this.shown = shown;
    this.walked = shown.focus;
    if (last?.tool !== shown.tool) this.setDrawing(null);
    if (last?.coordinates !== shown.coordinates) this.arrive(last, shown);
    else if (last.points !== shown.points) this.follow(shown);
    else if (last.space !== shown.space || last.axes.join() !== shown.axes.join()) this.turn(last, shown);
    this.looks = this.looksOf(
      shown.colours,
      shown.shapes,
      this.unpictured(shown.hidden, shown.pictures),
      shown.selected,
      shown.paper,
    );
    if (last?.focus !== shown.focus) this.setFan(shown.focus);
    this.drawNow();
  }

  // ---- where the points are

  private directions({ axes, p, space }: Shown): Directions {
    return space ? spaceDirections([0, 1, 2], p, this.angles.turn, this.angles.tilt) : axisDirections(axes, p);
  }

  /** New coordinates: move there if it is known from where, and look at all of them, or as the user last did. */
  private arrive(last: Shown | null, shown: Shown): void {
    const to = project(shown.points, shown.p, this.directions(shown));
    const from = shown.before && project(shown.before, shown.p, this.directions(shown));
    this.hover = this.fan = null;
    this.setDrawing(null);
    const camera = shown.camera ?? (this.hasSize ? this.fit(to) : null);
    if (!from || !camera || shown.still || !last) {
      this.turning++; // whatever moves stops
      if (camera) this.aim(camera);
      this.plane = to;
      return;
    }
    const look = this.camera;
    this.move((share) => {
      this.plane = blendPlanes(from, to, share);
      this.aim(cameraBetween(look, camera, share));
    });
  }

  /** The map of a running fit has changed; all of it stays in sight. */
  private follow(shown: Shown): void {
    this.turning++;
    this.plane = project(shown.points, shown.p, this.directions(shown));
    if (this.hasSize) this.aim(this.fit(this.plane));
  }

  /** Other axes of the same map. */
  private turn(last: Shown, shown: Shown): void {
    const [from, to] = [this.directions(last), this.directions(shown)];
    const look = this.camera;
    const target = shown.camera ?? this.fit(project(shown.points, shown.p, to));
    this.setDrawing(null);
    const step = (share: number) => {
      this.plane = project(shown.points, shown.p, between(from, to, share));
      this.aim(cameraBetween(look, target, share));
    };
    if (shown.still) step(1);
    else this.move(step);
  }

  private move(step: (share: number) => void): void {
    const number = ++this.turning;
    const begin = performance.now();
    const frame = (now: number) => {
      if (number !== this.turning) return;
      const share = Math.min(1, Math.max(0, (now - begin) / DURATION));
      step(share * share * (3 - 2 * share)); // slow at both ends
      this.draw();
      if (share < 1) requestAnimationFrame(frame);
      else this.heard.camera(this.camera);
    };
    step(0);
    requestAnimationFrame(frame);
  }

  // ---- the camera

  protected override firstCamera(): Camera {
    return this.shown?.camera ?? super.firstCamera();
  }

  override look(camera: Camera): void {
    super.look(camera);
    if (this.fan) this.setFan(this.hover ?? this.shown?.focus ?? null); // where it is now
    this.heard.camera(camera);
  }

  // ---- drawing

  protected get hidden(): Uint8Array {
    return this.shown?.hidden ?? new Uint8Array();
  }

  drawNow(): void {
    if (!this.shown || !this.looks || !this.hasSize) return;
    this.drawPoints(this.looks, window.devicePixelRatio || 1);
    this.svg.setAttribute("viewBox", `0 0 ${this.size.width} ${this.size.height}`);
    render(overlay(this.marks()), this.svg as unknown as HTMLElement);
  }

  /** Return all that is drawn above the points. */
  marks(): Marks {
    const shown = this.shown!;
    const radius = shown.pictures ? 24 : this.looks!.radius;
    const here = (object: number) => this.at(object);
    const screen = (points: Point[]) => points.map(({ x, y }) => toScreen(this.camera, this.size, x, y));
    const spots = spotsOf(this.scene, this.important(), this.sameSpot);
    const some = shown.selected.includes(1);
    const pictured = shown.pictures
      ? spots
          .flatMap((spot) => spot.objects)
          .filter((object) => shown.pictures!.has(object))
          .slice(0, MOST_PICTURES)
      : [];
    return {
      size: this.size,
      labels: shown.labels ? placeLabels(spots, shown.names, radius, (text) => this.width(text), this.size) : [],
      pictures: pictured.map((object) => ({
        ...here(object),
        href: shown.pictures!.get(object)!,
        colour: hex(shown.colours[object]),
        selected: shown.selected[object] === 1,
        faded: some && !shown.selected[object],
      })),
      rings: [...shown.found]
        .filter((object) => isVisible(this.scene, object))
        .slice(0, MOST_RINGS)
        .map(here),
      focus: this.hover ?? shown.focus,
      at: here,
      radius,
      fan: this.fan && {
        ...this.fan,
        names: this.fan.spot.objects.map((object) => shown.names[object]),
        focus: shown.focus,
      },
      name: (object) => shown.names[object],
      drawing: this.drawing && { tool: this.drawing.tool, points: screen(this.drawing.points) },
      path: screen(shown.path),
      outlines: shown.outlines.map(screen),
      tags:
        shown.groups.length < 2
          ? []
          : shown.groups.flatMap(({ objects, name }) =>
              tagOf(objects.filter((object) => isVisible(this.scene, object)).map(here), name),
            ),
      ellipses: shown.ellipses
        ? ellipsesOf(
            shown,
            this.directions(shown),
            spots.flatMap((spot) => spot.objects).slice(0, 500),
            here,
            this.camera.zoom,
          )
        : [],
    };
  }

  /** Points that overlap are on the same spot. */
  private get sameSpot(): number {
    return 2 * this.looks!.radius;
  }

  /** List the objects whose labels matter, the most important first. */
  private important(): Set<number> {
    const { focus, found, selected, names } = this.shown!;
    const few = names.length <= MOST_NAMED;
    const most = few ? names.length : SOME;
    const listed = new Set<number>(focus === null ? [] : [focus]);
    for (const i of found) if (listed.size < most) listed.add(i);
    for (let i = selected.indexOf(1); i >= 0 && listed.size < most; i = selected.indexOf(1, i + 1)) listed.add(i);
    if (few) for (let i = 0; i < names.length; i++) listed.add(i);
    return listed;
  }

  // ---- pointer

  protected leave(): void {
    this.setHover(null, null);
  }

  protected down(event: PointerEvent): void {
    if (!this.shown || event.button !== 0) return;
    const at = this.press(event);
    this.far = false;
    if (!this.start)
      this.setDrawing(null); // a second finger: they zoom
    else if (this.tool !== "pan" && this.tool !== "curve")
      this.setDrawing(mark({ tool: this.tool, points: [], objects: [] }, this.onMap(at)));
  }

  protected moved(event: PointerEvent): void {
    const at = this.place(event);
    const last = this.pointers.get(event.pointerId);
    if (!last) return this.setHover(this.objectAt(at), at);
    this.pointers.set(event.pointerId, at);
    if (this.pointers.size === 2) return this.drag(event.pointerId, last, at);
    if (!this.start) return;
    this.far ||= distance(this.start, at) >= CLICK;
    if (this.shown!.space && !isArea(this.tool)) return this.spin(at.x - last.x, at.y - last.y);
    if (this.tool === "pan") return this.drag(event.pointerId, last, at);
    if (this.tool === "curve") {
      if (!this.far) return;
      this.drawing ??= mark({ tool: "curve", points: [], objects: [] }, this.onMap(this.start));
    }
    const { tool, points } = this.drawing!;
    const corners = tool === "lasso" || tool === "groups" || tool === "curve";
    this.setDrawing(
      corners
        ? mark(this.drawing!, this.onMap(at))
        : mark({ tool, points: [points[0]], objects: [null] }, this.onMap(at)),
    );
  }

  protected up(event: PointerEvent): void {
    const at = this.place(event);
    const start = super.lift(event);
    if (!start) return;
    if (this.far)
      this.finishDrag(start, at); // also where it began: a lasso that was closed
    else this.click(at);
  }

  /** A pointer that is taken away gives up the drawing. */
  protected override lift(event: PointerEvent): null {
    super.lift(event);
    this.setDrawing(null);
    return null;
  }

  private finishDrag(start: Point, at: Point): void {
    const drawing = this.drawing;
    if (!drawing) return;
    this.setDrawing(null);
    if (drawing.tool === "select") this.heard.area(inside(this.scene, rectangle(start, at)), "select", []);
    else if (isArea(drawing.tool))
      this.heard.area(
        inside(
          this.scene,
          drawing.points.map(({ x, y }) => toScreen(this.camera, this.size, x, y)),
        ),
        drawing.tool,
        drawing.points,
      );
    else this.finishPath({ ...drawing, points: simplify(drawing.points, 3 / this.camera.zoom), objects: [] });
  }

  /** A click: an object is chosen or a curve goes on; on empty space everything is cleared. */
  private click(at: Point): void {
    const object = this.objectAt(at);
    if (this.tool === "curve" && !this.shown!.space) return this.markCurve(this.onMap(at), null);
    this.setDrawing(null);
    if (object === null) return this.heard.clear();
    this.heard.focus(object);
    this.heard.choose([object], this.tool === "pan" ? "only" : "toggle");
  }

  private markCurve(point: Point, object: number | null): void {
    const drawing = this.drawing ?? { tool: "curve" as Tool, points: [], objects: [] };
    if (endsCurve(drawing, point, this.camera)) {
      this.setDrawing(null);
      return this.finishPath(drawing);
    }
    this.setDrawing(mark(drawing, point, object));
  }

  private finishPath(drawing: Drawing): void {
    const objects = drawing.points.map((_, k) => drawing.objects[k] ?? null);
    if (drawing.points.length > 1) this.heard.path(drawing.points, objects, drawing.tool);
  }

  private spin(dx: number, dy: number): void {
    this.angles.turn += dx * 0.01;
    this.angles.tilt = Math.max(-1.5, Math.min(1.5, this.angles.tilt + dy * 0.01));
    this.plane = project(this.shown!.points, this.shown!.p, this.directions(this.shown!));
    this.draw();
  }

  private objectAt(at: Point): number | null {
    if (this.fan) {
      const nearby = this.fan.places.findIndex((place) => distance(place, at) <= REACH);
      if (nearby >= 0) return this.fan.spot.objects[nearby];
    }
    return nearest(this.scene, at, this.shown?.pictures ? 22 : REACH);
  }

  /** What the pointer is over; objects on the same spot fan out, and stay so while the pointer is among them. */
  private setHover(object: number | null, at: Point | null): void {
    const among = this.fan && at && distance(this.fan.spot, at) <= distance(this.fan.spot, this.fan.places[0]) + REACH;
    if (object === this.hover && (object !== null || !this.fan || among)) return;
    this.hover = object;
    if (!among) this.setFan(object ?? this.shown?.focus ?? null);
    this.draw();
  }

  private setFan(object: number | null): void {
    this.fan = null;
    if (object === null || !this.shown || this.shown.names.length > MOST_NAMED || !isVisible(this.scene, object))
      return;
    const others = this.shown.names.map((_, i) => i).filter((i) => i !== object);
    const spot = spotsOf(this.scene, [object, ...others], this.sameSpot)[0];
    spot.objects.sort((a, b) => a - b);
    if (spot.objects.length > 1) this.fan = { spot, places: fanOut(spot) };
  }

  private get tool(): Tool {
    return this.shown?.tool ?? "pan";
  }

  private onMap(at: Point): Point {
    return toMap(this.camera, this.size, at);
  }

  private setDrawing(drawing: Drawing | null): void {
    const changed = (drawing?.points.length ?? 0) !== (this.drawing?.points.length ?? 0);
    this.drawing = drawing;
    if (changed) this.heard.drawing(drawing?.points.length ?? 0, this.tool);
    this.draw();
  }

  // ---- keys

  protected key(key: string): boolean {
    if (!this.shown) return false;
    if (key in DIRECTIONS) this.walk(DIRECTIONS[key]);
    else if (key === "Enter" || key === " ") this.enter();
    else if (key === "Backspace" && this.drawing)
      this.setDrawing(this.drawing.points.length > 1 ? unmark(this.drawing) : null);
    else if (key === "Escape") this.drawing ? this.setDrawing(null) : this.heard.clear();
    else return false;
    return true;
  }

  private walk(direction: [number, number]): void {
    const to = this.walkFrom(this.walked, direction);
    if (to === null) return;
    this.hover = null;
    this.walked = to;
    this.heard.focus(to);
  }

  /** Enter chooses the object in the focus, or marks it as the next corner of a drawing. */
  private enter(): void {
    const object = this.walked;
    if (object === null) return;
    const point = { x: this.plane.xs[object], y: this.plane.ys[object] };
    if (this.tool === "pan" || this.tool === "select") this.heard.choose([object], "toggle");
    else if (this.tool === "curve") this.markCurve(point, object);
    else if (this.tool === "arrow") this.markArrow(point, object);
    else this.markArea(point, object);
  }

  private markArrow(point: Point, object: number): void {
    const drawing = mark(this.drawing ?? { tool: "arrow", points: [], objects: [] }, point, object);
    if (drawing.points.length < 2) return this.setDrawing(drawing);
    this.setDrawing(null);
    this.finishPath(drawing);
  }

  /** A lasso by keys has objects as its corners, which are in it; it ends at its first or last corner. */
  private markArea(point: Point, object: number): void {
    const drawing = this.drawing ?? { tool: this.tool, points: [], objects: [] };
    const { points, objects } = drawing;
    const ends = object === objects[0] || object === objects.at(-1);
    if (!ends) return this.setDrawing(mark(drawing, point, object));
    this.setDrawing(null);
    const corners = points.map(({ x, y }) => toScreen(this.camera, this.size, x, y));
    const members = new Set([...inside(this.scene, corners), ...objects.filter((corner) => corner !== null)]);
    this.heard.area(
      [...members].sort((a, b) => a - b),
      drawing.tool,
      points,
    );
  }

  /** Whether a drawing of places is under way. */
  get isDrawing(): boolean {
    return this.drawing !== null && (isPath(this.tool) || isArea(this.tool));
  }
}

/** Return the name of a group with its place: in the middle of its objects. */
function tagOf(points: Point[], name: string): (Point & { name: string })[] {
  if (!points.length) return [];
  const middle = (key: "x" | "y") => points.map((point) => point[key]).sort((a, b) => a - b)[points.length >> 1];
  return [{ x: middle("x"), y: middle("y"), name }];
}

/** Say which points are not drawn: also those that have a picture, which is the point. */
const unpictured = (hidden: Uint8Array, pictures: Map<number, string> | null): Uint8Array =>
  pictures && hidden.length <= MOST_PICTURES ? hidden.map((flag, i) => (pictures.has(i) ? 1 : flag)) : hidden;

export interface Ellipse extends Point {
  long: number;
  short: number;
  angle: number; // degrees, clockwise on the screen
}

/** Return the ellipses of uncertainty as they are seen along two directions. */
function ellipsesOf(
  shown: Shown,
  [across, up]: Directions,
  objects: number[],
  here: (object: number) => Point,
  zoom: number,
): Ellipse[] {
  const p = shown.p;
  return objects.map((object) => {
    let [xx, xy, yy] = [0, 0, 0]; // the half axes, as they are seen, times themselves
    for (let k = 0; k < p; k++) {
      let [x, y] = [0, 0];
      for (let axis = 0; axis < p; axis++) {
        const part = shown.ellipses![(object * p + k) * p + axis];
        x += part * across[axis];
        y += part * up[axis];
      }
      [xx, xy, yy] = [xx + x * x, xy + x * y, yy + y * y];
    }
    const middle = (xx + yy) / 2;
    const half = Math.hypot((xx - yy) / 2, xy);
    const long = Math.sqrt(middle + half) * zoom;
    const short = Math.sqrt(Math.max(0, middle - half)) * zoom;
    return { ...here(object), long, short, angle: (-Math.atan2(2 * xy, xx - yy) * 90) / Math.PI };
  });
}
