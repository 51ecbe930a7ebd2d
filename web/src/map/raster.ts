/** Draws points into the pixels of an image, on the CPU: many small stamps, each cut once and used for all points.
 *
 * At 100,000 points without a graphics card this draws several times as many frames as WebGL does in software
 * (`make bench-app`), and it works wherever there is a canvas.
 */

import type { Camera, Plane, Size } from "./camera.ts";

export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "down", "plus", "star"] as const;

/** How each object is drawn; the arrays have one entry per object. */
export interface Looks {
  colours: Uint32Array; // as in the pixels: alpha, blue, green, red
  shapes: Uint8Array; // places in SHAPES
  hidden: Uint8Array; // 1: not drawn
  front: Uint8Array; // 1: drawn after the others
  radius: number; // in pixels of the screen
  smooth: boolean; // edges are mixed with what is below; takes twice as long
  ring: number | null; // colour around each point that keeps neighbours apart; null for none
  crowd: number | null; // colour that crowded places tend to, where points hide each other; null for none
}

/** A shape as the pixels it covers, relative to the pixel of its centre. */
interface Stamp {
  reach: number; // no pixel is farther from the centre, in either direction
  solid: Int32Array; // offsets in the image of pixels covered fully
  edge: Int32Array; // offsets of those covered in part
  cover: Uint8Array; // and how much, of 255
}

const CELL = 4; // pixels
const CROWDED = 3; // points in a cell from which on it is shaded
const FINE = 4; // a stamp for every quarter of a pixel, so that slow movements are smooth

export class Raster {
  private pixels = new Uint32Array(0);
  private image: ImageData | null = null;
  private stamps = new Map<string, Stamp>();
  private width = 0;
  private height = 0;
  private order = new Uint32Array(0);
  private counts = new Uint16Array(0); // of points in each cell

  /** Draw all points of a plane; return the image. Sizes are in pixels of the screen, `ratio` of them to one of the page. */
  draw(plane: Plane, looks: Looks, camera: Camera, size: Size, ratio: number): ImageData {
    this.resize(Math.max(1, Math.round(size.width * ratio)), Math.max(1, Math.round(size.height * ratio)));
    this.pixels.fill(0);
    if (looks.crowd !== null)
      this.counts = new Uint16Array(Math.ceil(this.width / CELL) * Math.ceil(this.height / CELL));
    this.stampAll(plane, looks, camera, ratio, this.sort(plane, looks));
    if (looks.crowd !== null) this.shade(looks.crowd);
    return this.image!;
  }

  private resize(width: number, height: number): void {
    if (this.image && this.width === width && this.height === height) return;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.width = width;
    this.height = height;
    this.stamps.clear(); // their offsets depend on the width
  }

  /** List the visible objects, those in front last; return how many there are. */
  private sort({ xs }: Plane, { hidden, front }: Looks): number {
    if (this.order.length < xs.length) this.order = new Uint32Array(xs.length);
    let count = 0;
    for (let i = 0; i < xs.length; i++) if (!hidden[i] && !front[i]) this.order[count++] = i;
    for (let i = 0; i < xs.length; i++) if (!hidden[i] && front[i]) this.order[count++] = i;
    return count;
  }

  private stampAll({ xs, ys }: Plane, looks: Looks, camera: Camera, ratio: number, count: number): void {
    const zoom = camera.zoom * ratio;
    const left = this.width / 2 - camera.x * zoom;
    const top = this.height / 2 + camera.y * zoom;
    const stamps = this.stampsOf(looks.radius * ratio, looks.smooth);
    const rings = looks.ring === null ? null : this.stampsOf((looks.radius + 1.25) * ratio, looks.smooth);
    const margin = (rings ?? stamps)[0].reach;
    for (let at = 0; at < count; at++) {
      const i = this.order[at];
      const x = left + xs[i] * zoom;
      const y = top - ys[i] * zoom;
      if (!(x > -margin && y > -margin && x < this.width + margin && y < this.height + margin)) continue; // also if not a number
      const fineX = Math.floor(x * FINE); // quarters of a pixel
      const fineY = Math.floor(y * FINE);
      const which = looks.shapes[i] * FINE * FINE + (fineY & 3) * FINE + (fineX & 3);
      if (rings) this.stamp(rings[which], fineX >> 2, fineY >> 2, looks.ring!);
      this.stamp(stamps[which], fineX >> 2, fineY >> 2, looks.colours[i]);
      if (looks.crowd !== null) this.countAt(fineX >> 2, fineY >> 2);
    }
  }

  private countAt(x: number, y: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    this.counts[((y / CELL) | 0) * Math.ceil(this.width / CELL) + ((x / CELL) | 0)]++;
  }

  /** Where points hide each other, shade them by how many there are. */
  private shade(crowd: number): void {
    const { width, height, pixels, counts } = this;
    const across = Math.ceil(width / CELL);
    const covers = Uint8Array.from(counts, (n) => (n > CROWDED ? Math.min(200, 50 * Math.log2(n / CROWDED)) : 0));
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const cover = covers[((y / CELL) | 0) * across + ((x / CELL) | 0)];
        if (cover && pixels[y * width + x]) pixels[y * width + x] = blend(pixels[y * width + x], crowd, cover);
      }
  }

  private stamp(stamp: Stamp, x: number, y: number, colour: number): void {
    const { width, height, pixels } = this;
    const { reach, solid, edge, cover } = stamp;
    if (x < reach || y < reach || x >= width - reach || y >= height - reach) return this.clipped(stamp, x, y, colour);
    const centre = y * width + x;
    for (let k = 0; k < solid.length; k++) pixels[centre + solid[k]] = colour;
    for (let k = 0; k < edge.length; k++) pixels[centre + edge[k]] = blend(pixels[centre + edge[k]], colour, cover[k]);
  }

  /** Stamp a point that reaches over the border. */
  private clipped({ reach, solid, edge, cover }: Stamp, x: number, y: number, colour: number): void {
    const inside = (offset: number) => {
      const row = Math.round(offset / this.width);
      const column = offset - row * this.width;
      return (
        Math.abs(column) <= reach && x + column >= 0 && x + column < this.width && y + row >= 0 && y + row < this.height
      );
    };
    const centre = y * this.width + x;
    for (const offset of solid) if (inside(offset)) this.pixels[centre + offset] = colour;
    edge.forEach((offset, k) => {
      if (inside(offset)) this.pixels[centre + offset] = blend(this.pixels[centre + offset], colour, cover[k]);
    });
  }

  private stampsOf(radius: number, smooth: boolean): Stamp[] {
    const all: Stamp[] = [];
    for (let shape = 0; shape < SHAPES.length; shape++)
      for (let fine = 0; fine < FINE * FINE; fine++) {
        const key = `${shape} ${radius} ${smooth} ${fine}`;
        let stamp = this.stamps.get(key);
        if (!stamp)
          this.stamps.set(
            key,
            (stamp = this.cut(shape, radius, smooth, ((fine & 3) + 0.5) / FINE, ((fine >> 2) + 0.5) / FINE)),
          );
        all.push(stamp);
      }
    return all;
  }

  /** Cut a stamp: how much of each pixel is inside the shape, by a grid of 4 × 4 places in it. */
  private cut(shape: number, radius: number, smooth: boolean, dx: number, dy: number): Stamp {
    const reach = Math.ceil(radius * 1.3) + 1;
    const solid: number[] = [];
    const edge: number[] = [];
    const cover: number[] = [];
    for (let row = -reach; row <= reach; row++)
      for (let column = -reach; column <= reach; column++) {
        let hits = 0;
        for (let k = 0; k < 16; k++) {
          const x = (column + ((k & 3) + 0.5) / 4 - dx) / radius;
          const y = (row + ((k >> 2) + 0.5) / 4 - dy) / radius;
          hits += isInside(shape, x, y) ? 1 : 0;
        }
        if (hits === 16 || (hits >= 8 && !smooth)) solid.push(row * this.width + column);
        else if (hits && smooth) {
          edge.push(row * this.width + column);
          cover.push(Math.round((hits * 255) / 16));
        }
      }
    return { reach, solid: Int32Array.from(solid), edge: Int32Array.from(edge), cover: Uint8Array.from(cover) };
  }
}

/** Mix a colour into a pixel, which may be empty. */
export function blend(below: number, colour: number, cover: number): number {
  const alpha = below >>> 24;
  if (alpha === 0) return ((colour & 0xffffff) | (cover << 24)) >>> 0;
  const rest = 255 - cover;
  const total = cover + (((alpha * rest + 127) / 255) | 0);
  const share = ((cover << 8) / total) | 0; // of 256: the colour's part in what is seen
  const redBlue = ((colour & 0xff00ff) * share + (below & 0xff00ff) * (256 - share)) / 256;
  const green = (((colour >> 8) & 0xff) * share + ((below >> 8) & 0xff) * (256 - share)) >> 8;
  return ((redBlue & 0xff00ff) | (green << 8) | (total << 24)) >>> 0;
}

/** Whether a place is inside a shape whose size is about that of the unit circle; y points down. */
export function isInside(shape: number, x: number, y: number): boolean {
  const across = Math.abs(x);
  const along = Math.abs(y);
  switch (SHAPES[shape]) {
    case "circle":
      return x * x + y * y <= 1;
    case "square":
      return across <= 0.88 && along <= 0.88;
    case "triangle":
      return y <= 0.75 && across <= (y + 1.15) * 0.6;
    case "down":
      return y >= -0.75 && across <= (1.15 - y) * 0.6;
    case "diamond":
      return across + along <= 1.22;
    case "plus":
      return Math.max(across, along) <= 1.1 && Math.min(across, along) <= 0.4;
    case "cross":
      return Math.max(across + along, Math.abs(across - along)) <= 1.5 && Math.abs(across - along) <= 0.55;
    default: // star of four points
      return Math.sqrt(across) + Math.sqrt(along) <= 1.12;
  }
}
