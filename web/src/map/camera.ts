/** Where the map is looked at from. One zoom for both axes: the aspect is equal by construction. */

export interface Camera {
  x: number; // the place of the map in the middle of the window
  y: number;
  zoom: number; // pixels per unit of the map
}

export interface Size {
  width: number;
  height: number;
}

export type Point = { x: number; y: number };

/** Points of the plane that is shown: one coordinate after the other. */
export interface Plane {
  xs: Float32Array;
  ys: Float32Array;
}

export const toScreen = (camera: Camera, size: Size, x: number, y: number): Point => ({
  x: size.width / 2 + (x - camera.x) * camera.zoom,
  y: size.height / 2 - (y - camera.y) * camera.zoom,
});

export const toMap = (camera: Camera, size: Size, { x, y }: Point): Point => ({
  x: camera.x + (x - size.width / 2) / camera.zoom,
  y: camera.y - (y - size.height / 2) / camera.zoom,
});

/** Return the camera that shows all points, with room for labels at the border. */
export function fitCamera({ xs, ys }: Plane, size: Size): Camera {
  const [left, right] = range(xs);
  const [low, high] = range(ys);
  const room = Math.min(64, size.width / 8, size.height / 8);
  const across = (size.width - 2 * room) / (right - left);
  const along = (size.height - 2 * room) / (high - low);
  const zoom = Math.min(across, along);
  return { x: (left + right) / 2, y: (low + high) / 2, zoom: Number.isFinite(zoom) && zoom > 0 ? zoom : 1 };
}

function range(values: Float32Array): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 0];
}

/** Return the camera after a drag by so many pixels. */
export const pan = (camera: Camera, dx: number, dy: number): Camera => ({
  ...camera,
  x: camera.x - dx / camera.zoom,
  y: camera.y + dy / camera.zoom,
});

/** Return the camera after zooming; what is at the place on the screen stays there. */
export function zoomAt(camera: Camera, size: Size, at: Point, factor: number): Camera {
  const fixed = toMap(camera, size, at);
  const closer = { ...camera, zoom: camera.zoom * factor };
  const moved = toScreen(closer, size, fixed.x, fixed.y);
  return pan(closer, at.x - moved.x, at.y - moved.y);
}
