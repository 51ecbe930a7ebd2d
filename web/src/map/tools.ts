/** What the buttons of the map do with the pointer: each tool turns places on the screen into one gesture. */

import { type Point, type Camera, type Size, toMap } from "./camera.ts";

export type Tool = "pan" | "select" | "lasso" | "arrow" | "curve" | "groups";

export const TOOLS: { tool: Tool; text: string; help: string }[] = [
  { tool: "pan", text: "Pan", help: "Drag moves the map; a click chooses an object." },
  { tool: "select", text: "Select", help: "Click objects, or drag a rectangle around them." },
  { tool: "lasso", text: "Lasso", help: "Draw around objects that belong together." },
  { tool: "arrow", text: "Arrow", help: "Draw a direction in which something grows." },
  { tool: "curve", text: "Curve", help: "Click along a curve; click the last place again to end it." },
  { tool: "groups", text: "Groups", help: "Draw around one group after the other." },
];

/** A drawing that is not finished: places on the map, so that it stays where it is when the camera moves. */
export interface Drawing {
  tool: Tool;
  points: Point[];
  objects: (number | null)[]; // the object that each place was marked at with the keyboard
}

export const isPath = (tool: Tool) => tool === "arrow" || tool === "curve";
export const isArea = (tool: Tool) => tool === "lasso" || tool === "groups" || tool === "select";

/** Whether what a tool draws becomes a feature of the map it is drawn on. */
export const isDrawing = (tool: Tool) => isPath(tool) || tool === "lasso" || tool === "groups";

/** A drag shorter than this, in pixels, is a click. */
export const CLICK = 5;

/** Return a drawing with one more place. */
export const mark = (drawing: Drawing, point: Point, object: number | null = null): Drawing => ({
  ...drawing,
  points: [...drawing.points, point],
  objects: [...drawing.objects, object],
});

export const unmark = (drawing: Drawing): Drawing => ({
  ...drawing,
  points: drawing.points.slice(0, -1),
  objects: drawing.objects.slice(0, -1),
});

/** Whether a place marks the end of a curve: it is on the last one. */
export function endsCurve(drawing: Drawing, at: Point, camera: Camera): boolean {
  const last = drawing.points.at(-1);
  return (
    drawing.points.length > 1 &&
    last !== undefined &&
    Math.hypot(at.x - last.x, at.y - last.y) * camera.zoom <= 2 * CLICK
  );
}

/** Return a path with fewer corners: no place that was left out is farther from it than so many units of the map. */
export function simplify(points: Point[], tolerance: number): Point[] {
  if (points.length < 3) return points;
  const [first, last] = [points[0], points[points.length - 1]];
  let worst = 0;
  let at = 0;
  for (let k = 1; k < points.length - 1; k++) {
    const distance = distanceToLine(points[k], first, last);
    if (distance > worst) [worst, at] = [distance, k];
  }
  if (worst <= tolerance) return [first, last];
  return [...simplify(points.slice(0, at + 1), tolerance).slice(0, -1), ...simplify(points.slice(at), tolerance)];
}

function distanceToLine(point: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const share = length ? Math.max(0, Math.min(1, ((point.x - from.x) * dx + (point.y - from.y) * dy) / length)) : 0;
  return Math.hypot(point.x - from.x - share * dx, point.y - from.y - share * dy);
}

/** Return the places of a gesture on the map. */
export const onMap = (camera: Camera, size: Size, places: Point[]): Point[] =>
  places.map((place) => toMap(camera, size, place));
