/** The shapes of raster.ts as outlines, for the legend and for pictures that are saved. */

import { SHAPES } from "./raster.ts";

const PATHS: Record<(typeof SHAPES)[number], string> = {
  circle: "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z",
  square: "M-.88-.88H.88V.88H-.88z",
  triangle: "M0-1.15 1.14.75H-1.14z",
  down: "M0 1.15 1.14-.75H-1.14z",
  diamond: "M0-1.22 1.22 0 0 1.22-1.22 0z",
  plus: "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4z",
  cross: "M-1.03-.47-.47-1.03 0-.55.47-1.03 1.03-.47.55 0 1.03.47.47 1.03 0 .55-.47 1.03-1.03.47-.55 0z",
  star: "M0-1.25Q.31-.31 1.25 0Q.31.31 0 1.25Q-.31.31-1.25 0Q-.31-.31 0-1.25z",
};

export const shapePath = (shape: number): string => PATHS[SHAPES[shape]];
