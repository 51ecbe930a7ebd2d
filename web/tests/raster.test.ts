import assert from "node:assert/strict";
import { test } from "node:test";
import { type Looks, Raster, SHAPES, blend } from "../src/map/raster.ts";

// The browser's class, as far as it is used.
Object.assign(globalThis, {
  ImageData: class {
    data: Uint8ClampedArray;
    constructor(
      readonly width: number,
      readonly height: number,
    ) {
      this.data = new Uint8ClampedArray(4 * width * height);
    }
  },
});

const size = { width: 60, height: 40 };
const camera = { x: 0, y: 0, zoom: 1 };
const RED = 0xff0000ff;
const BLUE = 0xffff0000;

function draw(points: number[][], change: Partial<Looks> = {}, ratio = 1): Uint32Array {
  const n = points.length;
  const looks: Looks = {
    colours: new Uint32Array(n).fill(RED),
    shapes: new Uint8Array(n),
    hidden: new Uint8Array(n),
    front: new Uint8Array(n),
    radius: 5,
    smooth: true,
    ring: null,
    crowd: null,
    ...change,
  };
  const plane = { xs: Float32Array.from(points, ([x]) => x), ys: Float32Array.from(points, ([, y]) => y) };
  return new Uint32Array(new Raster().draw(plane, looks, camera, size, ratio).data.buffer);
}

const at = (pixels: Uint32Array, x: number, y: number) => pixels[(20 - y) * 60 + 30 + x];
const ink = (pixels: Uint32Array) => pixels.reduce((sum, pixel) => sum + (pixel >>> 24) / 255, 0);

test("a circle has about the area of a circle and the colour of its object", () => {
  const pixels = draw([[0, 0]]);
  assert.equal(at(pixels, 0, 0), RED);
  assert.ok(Math.abs(ink(pixels) - Math.PI * 25) < 2, String(ink(pixels)));
});

test("without smooth edges a pixel is either of the object or not", () => {
  const pixels = draw([[0.3, 0.4]], { smooth: false });
  assert.deepEqual(new Set(pixels), new Set([0, RED]));
  assert.ok(Math.abs(ink(pixels) - Math.PI * 25) < 4, String(ink(pixels)));
});

test("y points up", () => {
  const pixels = draw([[10, 12]]);
  assert.equal(at(pixels, 10, 12), RED);
  assert.equal(at(pixels, 10, -12), 0);
});

test("what is hidden, far away or not a number leaves no mark", () => {
  assert.equal(ink(draw([[0, 0]], { hidden: Uint8Array.from([1]) })), 0);
  assert.equal(
    ink(
      draw([
        [1e9, 0],
        [0, -1e30],
        [NaN, 0],
      ]),
    ),
    0,
  );
});

test("at the border only the part inside is drawn, and nothing on the other side", () => {
  const pixels = draw([[30, 0]]);
  assert.ok(Math.abs(ink(pixels) - (Math.PI * 25) / 2) < 6, String(ink(pixels)));
  for (let row = 0; row < 40; row++)
    for (let column = 0; column < 20; column++) assert.equal(pixels[row * 60 + column], 0);
});

test("those in front are drawn last", () => {
  const colours = Uint32Array.from([BLUE, RED]);
  assert.equal(
    at(
      draw(
        [
          [0, 0],
          [0, 0],
        ],
        { colours },
      ),
      0,
      0,
    ),
    RED,
  );
  assert.equal(
    at(
      draw(
        [
          [0, 0],
          [0, 0],
        ],
        { colours, front: Uint8Array.from([1, 0]) },
      ),
      0,
      0,
    ),
    BLUE,
  );
});

test("a ring keeps neighbours apart", () => {
  const pixels = draw(
    [
      [0, 0],
      [7, 0],
    ],
    { colours: Uint32Array.from([RED, BLUE]), ring: 0xffffffff },
  );
  assert.deepEqual(
    [-1, 1, 7].map((x) => at(pixels, x, 0)),
    [RED, 0xffffffff, BLUE],
  );
});

test("all shapes are about as large, and all differ", () => {
  const drawn = SHAPES.map((_, shape) => draw([[0, 0]], { shapes: Uint8Array.from([shape]), radius: 8 }));
  for (const pixels of drawn) assert.ok(ink(pixels) > 60 && ink(pixels) < 230, String(ink(pixels)));
  assert.equal(new Set(drawn.map((pixels) => pixels.join())).size, SHAPES.length);
});

test("on a fine screen a point covers four times the pixels", () => {
  const share = ink(draw([[0, 0]], {}, 2)) / ink(draw([[0, 0]]));
  assert.ok(Math.abs(share - 4) < 0.15, String(share));
});

test("half a cover mixes half of the colour", () => {
  assert.equal(blend(0, RED, 128) >>> 24, 128);
  const mixed = blend(0xff000000, 0xffffffff, 128);
  assert.equal(mixed >>> 24, 255);
  for (const shift of [0, 8, 16]) assert.ok(Math.abs(((mixed >> shift) & 255) - 128) <= 1);
});

test("where points hide each other, it is seen how many there are", () => {
  const stack = (n: number) => Array.from({ length: n }, () => [0, 0]);
  const of = (n: number) => at(draw(stack(n), { crowd: 0xff000000, smooth: false }), 0, 0) & 255; // red
  assert.equal(of(1), 255);
  assert.ok(of(8) < 255 && of(64) < of(8));
});
