/** The map as a picture to keep: the same points, labels and ellipses as on the screen. */

import { hex } from "../colour.ts";
import { PAPERS } from "./looks.ts";
import type { MapView } from "./map.ts";
import { isVisible } from "./hits.ts";
import { shapePath } from "./shapes.ts";

const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Return what is seen now as the text of an SVG file. */
export function svgOf(map: MapView): string {
  const { shown, size, scene } = map;
  if (!shown) return "";
  const marks = map.marks();
  const [paper, ink] = [PAPERS[shown.paper], shown.paper === "light" ? "#1b1f24" : "#e8eaed"];
  const points: string[] = [];
  shown.names.forEach((_, i) => {
    if (!isVisible(scene, i)) return;
    const { x, y } = marks.at(i);
    points.push(`<path d="${shapePath(shown.shapes[i])}" fill="${hex(shown.colours[i])}" stroke="${paper}" stroke-width=".2" transform="translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${Math.min(marks.radius, 6)})"/>`);
  });
  const ellipses = marks.ellipses.map(({ x, y, long, short, angle }) => `<ellipse cx="${x}" cy="${y}" rx="${long}" ry="${short}" transform="rotate(${angle} ${x} ${y})" fill="none" stroke="${ink}" stroke-opacity=".4"/>`);
  const labels = marks.labels.map(({ x, y, anchor, text }) => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escape(text)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}">
<rect width="100%" height="100%" fill="${paper}"/>
${[...ellipses, ...points].join("\n")}
<g font-family="system-ui, sans-serif" font-size="12" fill="${ink}">
${labels.join("\n")}
</g>
</svg>
`;
}

/** Return the same as the bytes of a PNG file, with twice as many pixels. */
export async function pngOf(map: MapView): Promise<Uint8Array> {
  const address = URL.createObjectURL(new Blob([svgOf(map)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * map.size.width, 2 * map.size.height];
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    return new Uint8Array(await blob!.arrayBuffer());
  } finally {
    URL.revokeObjectURL(address);
  }
}
