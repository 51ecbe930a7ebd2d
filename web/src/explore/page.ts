/** Brings the maps of a page to life: each stands in an element with its data, and what is there already is hidden. */

import { Explorer } from "./explorer.ts";
import { type Stored, unpack } from "./stored.ts";
import "./explore.css";

for (const place of document.querySelectorAll<HTMLElement>(".unmask-map")) {
  const stored = JSON.parse(place.querySelector("script")!.textContent!) as Stored;
  const root = document.createElement("div");
  root.className = "unmask explore";
  new Explorer(root, unpack(stored), place.dataset.whole !== undefined);
  place.append(root);
  place.classList.add("live"); // last: if anything fails, what was there remains
}
