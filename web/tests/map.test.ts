import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fitCamera, toScreen } from "../src/map/camera.ts";
import { Outline, type Scene, inside, nearest, rectangle } from "../src/map/hits.ts";
import { DIRECTIONS, first, next } from "../src/map/keys.ts";
import { fanOut, placeLabels, sharedText, spotsOf } from "../src/map/labels.ts";
import { endsCurve, mark, simplify, unmark } from "../src/map/tools.ts";
import { axisDirections, between, blendPlanes, project, spaceDirections } from "../src/map/turn.ts";

const kinship = JSON.parse(readFileSync("fixed/kinship.json", "utf8"));
const size = { width: 750, height: 560 };

function sceneOf(points: number[][]): Scene {
  const plane = { xs: Float32Array.from(points, ([x]) => x), ys: Float32Array.from(points, ([, y]) => y) };
  return { plane, hidden: new Uint8Array(points.length), camera: fitCamera(plane, size), size };
}

const given = sceneOf(kinship.given.points);
const all = kinship.labels.map((_: string, i: number) => i);

test("a lasso around the upper half of kinship finds the men", () => {
  const scene = sceneOf(kinship.plain.points);
  const men = inside(scene, rectangle({ x: 0, y: 0 }, { x: 750, y: 280 })).map((i) => kinship.labels[i]);
  assert.deepEqual(men.sort(), ["Brother", "Father", "Grandfather", "Grandson", "Nephew", "Son", "Uncle"]);
});

test("only what is visible is found: neither hidden objects nor those outside the window", () => {
  const scene = {
    ...sceneOf([
      [0, 0],
      [1, 0],
      [9, 0],
    ]),
    hidden: Uint8Array.from([0, 1, 0]),
    camera: { x: 0, y: 0, zoom: 100 },
  };
  assert.deepEqual(inside(scene, rectangle({ x: -9e9, y: -9e9 }, { x: 9e9, y: 9e9 })), [0]);
  assert.equal(nearest(scene, { x: 475, y: 280 }, 50), null);
  assert.equal(nearest(scene, { x: 380, y: 280 }, 50), 0);
});

test("a polygon that is not convex has no inside in its bay", () => {
  const bay = new Outline(
    [
      [0, 0],
      [4, 0],
      [4, 4],
      [2, 1],
      [0, 4],
    ].map(([x, y]) => ({ x, y })),
    0,
    4,
  );
  assert.ok(bay.has(0.5, 2));
  assert.ok(!bay.has(2, 3));
});

test("a star of many corners has inside what its angles say", () => {
  const reach = (angle: number) => 2 + Math.cos(9 * angle);
  const corners = Array.from({ length: 720 }, (_, k) => (k * Math.PI) / 360).map((angle) => ({
    x: reach(angle) * Math.cos(angle),
    y: reach(angle) * Math.sin(angle),
  }));
  const star = new Outline(corners, Math.min(...corners.map(({ y }) => y)), Math.max(...corners.map(({ y }) => y)));
  for (let k = 0; k < 2000; k++) {
    const [angle, share] = [(2 * Math.PI * k) / 2000, k % 2 ? 0.99 : 1.01];
    assert.equal(
      star.has(share * reach(angle) * Math.cos(angle), share * reach(angle) * Math.sin(angle)),
      share < 1,
      `at ${angle}`,
    );
  }
});

test("arrow keys reach every object from every other", () => {
  for (const points of [
    kinship.plain.points,
    kinship.given.points,
    [
      [0, 0],
      [0, 0],
      [0, 0],
      [5, 5],
    ],
  ]) {
    const scene = sceneOf(points);
    for (let start = 0; start < points.length; start++) {
      const reached = new Set([start]);
      for (const from of reached)
        for (const direction of Object.values(DIRECTIONS)) {
          const to = next(scene, from, direction);
          if (to !== null) reached.add(to);
        }
      assert.equal(reached.size, points.length, `from ${start}`);
    }
  }
});

test("arrow keys go to the nearest object in their direction", () => {
  const scene = sceneOf([
    [0, 0],
    [2, 0.5],
    [5, 0],
    [0, 3],
    [-1, 0],
  ]);
  assert.deepEqual(
    Object.values(DIRECTIONS).map((direction) => next(scene, 0, direction)),
    [1, 4, 3, null],
  );
  assert.equal(first(scene), 1);
});

test("objects on the same spot share a label", () => {
  const spots = spotsOf(given, all, 12);
  const labels = placeLabels(spots, kinship.labels, 6, (text) => 7 * text.length, size);
  assert.ok(labels.some(({ text }) => text === "Brother / Sister"));
  assert.equal(labels.flatMap(({ objects }) => objects).length, 14);
  for (const { objects, box } of labels)
    for (const object of objects) {
      const { x, y } = toScreen(given.camera, size, given.plane.xs[object], given.plane.ys[object]);
      assert.ok(
        x + 6 <= box.left || x - 6 >= box.right || y + 6 <= box.top || y - 6 >= box.bottom,
        kinship.labels[object],
      );
    }
});

test("no label is on top of another, on a point, or outside the window", () => {
  const points = Array.from({ length: 300 }, (_, i) => [Math.sin(i * 12.9898) * 50, Math.sin(i * 78.233) * 50]);
  const scene = sceneOf(points);
  const spots = spotsOf(scene, points.keys(), 6);
  const labels = placeLabels(
    spots,
    points.map((_, i) => `object ${i}`),
    3,
    (text) => 7 * text.length,
    size,
  );
  assert.ok(labels.length > 20);
  const apart = (a: any, b: any) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
  labels.forEach(({ box }, k) => {
    for (const other of labels.slice(0, k)) assert.ok(apart(box, other.box));
    for (const { x, y } of spots) assert.ok(apart(box, { left: x - 3, right: x + 3, top: y - 3, bottom: y + 3 }));
    assert.ok(box.left >= 0 && box.right <= 750);
  });
});

test("many names on one spot are counted", () => {
  assert.equal(sharedText(["Brother", "Sister"]), "Brother / Sister");
  assert.equal(sharedText([..."abcdefg"]), "a / b / c + 4");
});

test("objects that fan out are far enough apart", () => {
  for (const n of [2, 5, 40]) {
    const places = fanOut({ objects: [...Array(n).keys()], x: 0, y: 0, reach: 0 });
    assert.ok(Math.hypot(places[0].x - places[1].x, places[0].y - places[1].y) >= 19);
  }
});

test("a drawn path is simplified without going astray", () => {
  const points = Array.from({ length: 101 }, (_, k) => ({ x: k, y: k < 50 ? 0.01 * (k % 2) : k - 50 }));
  const simple = simplify(points, 0.5);
  assert.ok(simple.length <= 4);
  assert.deepEqual([simple[0], simple.at(-1)], [points[0], points[100]]);
  assert.ok(simple.some(({ x }) => Math.abs(x - 50) <= 1));
});

test("a curve ends where its last place is marked again", () => {
  const camera = { x: 0, y: 0, zoom: 10 };
  let drawing = mark({ tool: "curve", points: [], objects: [] }, { x: 0, y: 0 });
  assert.ok(!endsCurve(drawing, { x: 0, y: 0 }, camera));
  drawing = mark(drawing, { x: 5, y: 0 }, 3);
  assert.ok(endsCurve(drawing, { x: 5.1, y: 0 }, camera));
  assert.ok(!endsCurve(drawing, { x: 0, y: 0 }, camera));
  assert.deepEqual(unmark(drawing).objects, [null]);
});

test("a turn begins and ends at its axes, and on the way nothing is stretched", () => {
  const [from, to] = [axisDirections([0, 1], 4), axisDirections([1, 3], 4)];
  assert.deepEqual(between(from, to, 0), from);
  assert.deepEqual(between(from, to, 1), to);
  for (const [a, b] of [between(from, to, 0.3), spaceDirections([0, 1, 2], 4, 0.7, 0.4)]) {
    const dot = (u: number[], v: number[]) => u.reduce((sum, value, k) => sum + value * v[k], 0);
    assert.ok(Math.abs(dot(a, a) - 1) < 1e-12 && Math.abs(dot(b, b) - 1) < 1e-12 && Math.abs(dot(a, b)) < 1e-12);
  }
});

test("points are seen along their axes; one axis lies across", () => {
  const points = Float32Array.from([1, 2, 3, 4, 5, 6]);
  assert.deepEqual(project(points, 3, axisDirections([0, 2], 3)), {
    xs: Float32Array.from([1, 4]),
    ys: Float32Array.from([3, 6]),
  });
  assert.deepEqual(project(points, 1, axisDirections([0, 1], 1)).ys, new Float32Array(6));
  const [a, b] = [project(points, 3, axisDirections([0, 1], 3)), project(points, 3, axisDirections([2, 1], 3))];
  assert.deepEqual(blendPlanes(a, b, 0.5).xs, Float32Array.from([2, 5]));
});
