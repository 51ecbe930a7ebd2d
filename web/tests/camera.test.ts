import assert from "node:assert/strict";
import { test } from "node:test";
import { fitCamera, pan, toMap, toScreen, zoomAt } from "../src/map/camera.ts";

const size = { width: 800, height: 400 };
const plane = { xs: Float32Array.from([-3, 5, 1]), ys: Float32Array.from([2, -1, 0]) };

test("all points are in the window, and one unit is as long across as up", () => {
  const camera = fitCamera(plane, size);
  for (let i = 0; i < 3; i++) {
    const { x, y } = toScreen(camera, size, plane.xs[i], plane.ys[i]);
    assert.ok(x > 0 && x < 800 && y > 0 && y < 400);
  }
  const [origin, across, up] = [
    toScreen(camera, size, 0, 0),
    toScreen(camera, size, 1, 0),
    toScreen(camera, size, 0, 1),
  ];
  assert.equal(across.x - origin.x, origin.y - up.y);
});

test("a place on the screen is a place on the map, and back", () => {
  const camera = { x: 2, y: -7, zoom: 13 };
  const { x, y } = toMap(camera, size, toScreen(camera, size, 4.5, 1.25));
  assert.ok(Math.abs(x - 4.5) < 1e-12 && Math.abs(y - 1.25) < 1e-12);
});

test("zooming keeps the place under the pointer", () => {
  const at = { x: 123, y: 321 };
  const camera = { x: 2, y: -7, zoom: 13 };
  const before = toMap(camera, size, at);
  const after = toMap(zoomAt(camera, size, at, 2.5), size, at);
  assert.ok(Math.hypot(before.x - after.x, before.y - after.y) < 1e-9);
});

test("a drag moves the map with the pointer", () => {
  const camera = { x: 0, y: 0, zoom: 10 };
  const moved = toScreen(pan(camera, 30, 20), size, 0, 0);
  assert.deepEqual(moved, { x: 430, y: 220 });
});

test("a single point, or none, can be looked at", () => {
  assert.deepEqual(fitCamera({ xs: Float32Array.from([3]), ys: Float32Array.from([4]) }, size), {
    x: 3,
    y: 4,
    zoom: 1,
  });
  assert.deepEqual(fitCamera({ xs: new Float32Array(), ys: new Float32Array() }, size), { x: 0, y: 0, zoom: 1 });
});
