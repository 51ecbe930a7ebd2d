/** What stands above the points of a map: labels, rings, drawings, ellipses, thumbnails. From places on the screen to SVG. */

import { type TemplateResult, nothing, svg } from "lit-html";
import type { Point, Size } from "./camera.ts";
import type { Label, Spot } from "./labels.ts";
import type { Ellipse } from "./map.ts";
import type { Tool } from "./tools.ts";

export interface Marks {
  size: Size;
  labels: Label[];
  pictures: (Point & { href: string; colour: string; selected: boolean; faded: boolean })[];
  rings: Point[];
  focus: number | null;
  at: (object: number) => Point;
  name: (object: number) => string;
  radius: number;
  fan: { spot: Spot; places: Point[]; names: string[]; focus: number | null } | null;
  drawing: { tool: Tool; points: Point[] } | null;
  path: Point[];
  outlines: Point[][];
  tags: (Point & { name: string })[];
  ellipses: Ellipse[];
}

type Drawn = TemplateResult | typeof nothing;

export function overlay(marks: Marks): Drawn {
  const named = new Set(marks.fan?.spot.objects ?? (marks.focus === null ? [] : [marks.focus])); // by what follows
  return svg`
    <defs>
      <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto-start-reverse">
        <path d="M0 0 8 4 0 8z" class="head"></path>
      </marker>
    </defs>
    ${marks.ellipses.map(({ x, y, long, short, angle }) => svg`<ellipse class="ellipse" cx=${x} cy=${y} rx=${long} ry=${short} transform="rotate(${angle} ${x} ${y})"></ellipse>`)}
    ${marks.pictures.map(
      ({ x, y, href, colour, selected, faded }) => svg`<g opacity=${faded ? 0.35 : 1}>
      <rect class="card" x=${x - 22} y=${y - 22} width="44" height="44" rx="4" stroke=${colour} stroke-width=${selected ? 3.5 : 1.5}></rect>
      <image href=${href} x=${x - 20} y=${y - 20} width="40" height="40"></image></g>`,
    )}
    ${marks.rings.map(({ x, y }) => svg`<circle class="ring found" cx=${x} cy=${y} r=${marks.radius + 4}></circle>`)}
    ${marks.outlines.map((points) => svg`<polygon class="area kept" points=${corners(points)}></polygon>`)}
    ${marks.path.length ? line(marks.path, "path") : nothing}
    ${marks.labels.filter(({ objects }) => !objects.some((object) => named.has(object))).map(({ x, y, anchor, text }) => svg`<text class="label" x=${x} y=${y} text-anchor=${anchor}>${text}</text>`)}
    ${marks.tags.map(({ x, y, name }) => svg`<text class="tag" x=${x} y=${y} text-anchor="middle">${name}</text>`)}
    ${marks.drawing ? drawn(marks.drawing) : nothing}
    ${marks.fan ? fan(marks) : marks.focus !== null ? focus(marks, marks.focus) : nothing}`;
}

const corners = (points: Point[]) => points.map(({ x, y }) => `${x},${y}`).join(" ");

function line(points: Point[], kind: string): Drawn {
  return svg`<polyline class="under" points=${corners(points)}></polyline><polyline class=${kind} points=${corners(points)} marker-end=${points.length > 1 ? "url(#head)" : nothing}></polyline>`;
}

function drawn({ tool, points }: { tool: Tool; points: Point[] }): Drawn {
  if (tool === "arrow" || tool === "curve")
    return svg`${line(points, "path")}${points.length < 40 ? points.map(({ x, y }) => svg`<circle class="corner" cx=${x} cy=${y} r="4"></circle>`) : nothing}`;
  if (tool === "select" && points.length === 2) {
    const [a, b] = points;
    return svg`<rect class="area" x=${Math.min(a.x, b.x)} y=${Math.min(a.y, b.y)} width=${Math.abs(a.x - b.x)} height=${Math.abs(a.y - b.y)}></rect>`;
  }
  return svg`<polygon class="area" points=${corners(points)}></polygon>`;
}

function focus({ at, radius, name, size }: Marks, object: number): Drawn {
  const { x, y } = at(object);
  const right = x < size.width / 2;
  return svg`<circle class="focus" cx=${x} cy=${y} r=${radius + 4}></circle>
    <text class="label strong" x=${right ? x + radius + 7 : x - radius - 7} y=${y + 4} text-anchor=${right ? "start" : "end"}>${name(object)}</text>`;
}

/** Objects on the same spot, each on a leg of its own. */
function fan({ fan, radius, focus }: Marks): Drawn {
  const { spot, places, names } = fan!;
  return svg`${places.map(({ x, y }, k) => {
    const inFocus = spot.objects[k] === focus;
    const side = x > spot.x + 1 ? 1 : x < spot.x - 1 ? -1 : 0;
    return svg`<line class="leg" x1=${spot.x} y1=${spot.y} x2=${x} y2=${y}></line>
      <circle class=${inFocus ? "leaf in" : "leaf"} cx=${x} cy=${y} r=${Math.min(radius, 8)}></circle>
      <text class=${inFocus ? "label strong" : "label"} x=${x + side * 11} y=${side ? y + 4 : y < spot.y ? y - 11 : y + 20} text-anchor=${["end", "middle", "start"][side + 1]}>${names[k]}</text>`;
  })}`;
}
