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

/** Pixels at each side of a window that are kept free of points: for labels, and for what floats on the map. */
export interface Margins {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

export const FLOATS: Margins = { top: 116, right: 260, bottom: 48, left: 64 }; // as wide as the cards in style.css

/** Return the camera that shows all points, with room for labels and floating cards at the border. */
export function fitCamera({ xs, ys }: Plane, size: Size, floats: Margins | null = null): Camera {
  const [left, right] = range(xs);
  const [low, high] = range(ys);
  const room = Math.min(64, size.width / 8, size.height / 8);
  const margins = floats && size.width > 640 ? floats : { top: room, right: room, bottom: room, left: room };
  const across = (size.width - margins.left - margins.right) / (right - left);
  const along = (size.height - margins.top - margins.bottom) / (high - low);
  const fitted = Math.min(across, along);
  const zoom = Number.isFinite(fitted) && fitted > 0 ? fitted : 1;
  return {
    x: (left + right) / 2 + (margins.right - margins.left) / 2 / zoom,
    y: (low + high) / 2 + (margins.top - margins.bottom) / 2 / zoom,
    zoom,
  };
}

/** Return the camera on the way from one to another. */
export const cameraBetween = (from: Camera, to: Camera, share: number): Camera => ({
  x: from.x + (to.x - from.x) * share,
  y: from.y + (to.y - from.y) * share,
  zoom: from.zoom * (to.zoom / from.zoom) ** share,
});

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
