/** The map as a picture to keep: the same points, labels and ellipses as on the screen, and the legend beside them. */

import { hex } from "../colour.ts";
import { PAPERS } from "./looks.ts";
import type { MapView } from "./map.ts";
import { isVisible } from "./hits.ts";
import { shapePath } from "./shapes.ts";

const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** What colours or shapes mean: the levels of a feature, or its range. */
export interface Key {
  name: string;
  rows?: { shape: number; colour: string | null; text: string }[]; // without a colour, that of the text
  ramp?: { colours: string[]; low: string; high: string };
}

const [ROW, INSET, LETTER, NARROWEST, WIDEST, TITLE] = [18, 14, 7, 120, 260, 36]; // pixels
const cut = (text: string) =>
  text.length * LETTER > WIDEST - 48 ? `${text.slice(0, Math.floor((WIDEST - 48) / LETTER) - 1)}…` : text;

/** Return how much room some keys take beside a map. */
export function widthOf(keys: Key[]): number {
  const texts = keys.flatMap(({ name, rows }) => [name, ...(rows ?? []).map(({ text }) => text)]);
  return keys.length ? Math.min(WIDEST, Math.max(NARROWEST, ...texts.map((text) => 48 + text.length * LETTER))) : 0;
}

/** Return keys as SVG, from x on; of levels for which there is no room, how many they are. */
export function svgOfKeys(keys: Key[], x: number, height: number, ink: string): string {
  const parts: string[] = [];
  let y = INSET;
  keys.forEach(({ name, rows = [], ramp }, at) => {
    parts.push(`<text x="${x}" y="${(y += ROW) - 5}" font-weight="bold">${escape(cut(name))}</text>`);
    if (ramp) {
      const stops = ramp.colours.map(
        (colour, k) => `<stop offset="${k / (ramp.colours.length - 1)}" stop-color="${colour}"/>`,
      );
      parts.push(
        `<linearGradient id="ramp${at}">${stops.join("")}</linearGradient><rect x="${x}" y="${y}" width="90" height="10" fill="url(#ramp${at})"/>`,
      );
      parts.push(
        `<text x="${x}" y="${(y += 2 * ROW) - 12}">${escape(ramp.low)}</text><text x="${x + 90}" y="${y - 12}" text-anchor="end">${escape(ramp.high)}</text>`,
      );
    }
    const room = Math.max(1, Math.floor((height - INSET - y) / ROW));
    const shown = rows.length > room ? rows.slice(0, room - 1) : rows;
    for (const { shape, colour, text } of shown) {
      y += ROW;
      parts.push(
        `<path d="${shapePath(shape)}" fill="${colour ?? ink}" transform="translate(${x + 6} ${y - 9}) scale(5)"/><text x="${x + 18}" y="${y - 5}">${escape(cut(text))}</text>`,
      );
    }
    if (shown.length < rows.length)
      parts.push(`<text x="${x + 18}" y="${(y += ROW) - 5}">and ${rows.length - shown.length} more</text>`);
    y += ROW / 2;
  });
  return parts.join("\n");
}

/** Return what is seen now, and what it means, as the text of an SVG file. */
export function svgOf(map: MapView, keys: Key[], title: string): string {
  const { shown, size, scene } = map;
  if (!shown) return "";
  const marks = map.marks();
  const [paper, ink] = [PAPERS[shown.paper], shown.paper === "light" ? "#1b1f24" : "#e8eaed"];
  const points: string[] = [];
  shown.names.forEach((_, i) => {
    if (!isVisible(scene, i)) return;
    const { x, y } = marks.at(i);
    points.push(
      `<path d="${shapePath(shown.shapes[i])}" fill="${hex(shown.colours[i])}" stroke="${paper}" stroke-width=".2" transform="translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${Math.min(marks.radius, 6)})"/>`,
    );
  });
  const ellipses = marks.ellipses.map(
    ({ x, y, long, short, angle }) =>
      `<ellipse cx="${x}" cy="${y}" rx="${long}" ry="${short}" transform="rotate(${angle} ${x} ${y})" fill="none" stroke="${ink}" stroke-opacity=".4"/>`,
  );
  const labels = marks.labels.map(
    ({ x, y, anchor, text }) =>
      `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escape(text)}</text>`,
  );
  const width = size.width + widthOf(keys);
  // What reaches beyond the map's edge is not to lie below the keys.
  const height = size.height + TITLE;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" fill="${paper}"/>
<g font-family="system-ui, sans-serif" font-size="12" fill="${ink}">
<text x="${INSET}" y="24" font-size="16" font-weight="bold">${escape(title)}</text>
<g transform="translate(0 ${TITLE})">
<svg width="${size.width}" height="${size.height}">
${[...ellipses, ...points, ...labels].join("\n")}
</svg>
${svgOfKeys(keys, size.width + INSET, size.height, ink)}
</g>
</g>
</svg>
`;
}

/** Return the same as the bytes of a PNG file, with twice as many pixels. */
export async function pngOf(map: MapView, keys: Key[], title: string): Promise<Uint8Array> {
  const address = URL.createObjectURL(new Blob([svgOf(map, keys, title)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * (map.size.width + widthOf(keys)), 2 * (map.size.height + TITLE)];
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    return new Uint8Array(await blob!.arrayBuffer());
  } finally {
    URL.revokeObjectURL(address);
  }
}
