/** Walking over the map with the arrow keys. */

import { type Scene, isVisible } from "./hits.ts";

export const DIRECTIONS: Record<string, [number, number]> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** Return the visible object that is next from another one in a direction; null if there is none.
 *
 * Near and straight ahead is best: what lies sideways counts twice. Objects on the same spot come one after the other,
 * those with a larger number to the right and above, so that all of them can be reached and left again.
 */
export function next(scene: Scene, from: number, [right, up]: [number, number]): number | null {
  const { xs, ys } = scene.plane;
  let best: number | null = null;
  let least = Infinity;
  for (let i = 0; i < xs.length; i++) {
    if (i === from) continue;
    const [dx, dy] = [xs[i] - xs[from], ys[i] - ys[from]];
    const same = dx === 0 && dy === 0;
    const ahead = same ? Math.sign(i - from) * (right + up) * 1e-12 * Math.abs(i - from) : dx * right + dy * up;
    const aside = Math.abs(dx * up) + Math.abs(dy * right);
    if (ahead <= 0 || aside > 2 * ahead) continue;
    const cost = ahead + 2 * aside;
    if (cost < least && isVisible(scene, i)) [best, least] = [i, cost];
  }
  return best;
}

/** Return the visible object nearest to the middle of the window, where a walk begins. */
export function first(scene: Scene): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (let i = 0; i < scene.plane.xs.length; i++) {
    const distance = Math.hypot(scene.plane.xs[i] - scene.camera.x, scene.plane.ys[i] - scene.camera.y);
    if (distance < least && isVisible(scene, i)) [best, least] = [i, distance];
  }
  return best;
}
