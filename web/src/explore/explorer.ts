/** One map to look at: hover, zoom, pan, search and keys, a legend, and a table that says the same. */

import { type Paper, extent, stops, howMany } from "../colour.ts";
import { shapePath } from "../map/shapes.ts";
import { memo } from "../memo.ts";
import { digits, found, hiddenObjects, textOf } from "../store.ts";
import { button, h, s } from "./dom.ts";
import { looksOf } from "../map/looks.ts";
import { type Colour, type Material, along, colourOf, objectColours, objectShapes, shapeOf } from "./stored.ts";
import { View } from "./view.ts";

const ROWS = 200; // of the table at once
const MOST_HERE = 4; // names of objects on the same spot; the others are counted
const LONGEST = 48; // letters of a name on the map; all of them stand below it and in the table
const STRETCHES = 48; // of a colour scale
const HELP = "Arrow keys walk from object to object, + and − zoom, 0 shows all, / searches, Escape clears.";

const many = (n: number) => n.toLocaleString("en");
const count = (n: number) => `${many(n)} object${n === 1 ? "" : "s"}`;

export class Explorer {
  #query = "";
  #focus: number | null = null;
  #hover: number | null = null;
  #hiddenLevels = new Set<number>();
  #paper: Paper = "light";
  #n: number;
  #short: string[];
  #columns: Map<string, Colour>;
  #view: View;
  #amid: boolean; // other things, which the wheel scrolls
  #search = h("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  #readout = h("span");
  #status = h("p", { class: "hide", role: "status", "aria-live": "polite" });
  #legend = h("div", { class: "legend" });
  #table = h("div");
  #listed: string | null = null; // what was searched for when the table was made
  #tableOf = h("details", {}, h("summary", {}, "Table of objects"), this.#table);
  #looksOf = memo(looksOf);
  #colours = memo(objectColours);
  #shapes = memo(objectShapes);
  #flags = memo((members: Set<number>) => Uint8Array.from({ length: this.#n }, (_, i) => (members.has(i) ? 1 : 0)));

  /** `whole`: the page is nothing but this map; otherwise it is one of many things, which can be scrolled past. */
  constructor(
    private root: HTMLElement,
    private material: Material,
    whole: boolean,
  ) {
    const { names, colour, points } = material;
    this.#n = names.length;
    this.#short = names.map((name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name));
    this.#columns = new Map(colour ? [["colour", colour]] : []);
    this.#amid = !whole || window.parent !== window;
    const plane = { xs: points.filter((_, k) => k % 2 === 0), ys: points.filter((_, k) => k % 2 === 1) };
    this.#view = new View(plane, {
      hover: (object) => this.#update(() => (this.#hover = object)),
      focus: (object) => this.#update(() => (this.#focus = object)),
      clear: () => this.#clear(),
    });
    this.#build();
    this.#listen(whole);
    this.#update(() => {});
  }

  #build(): void {
    const { title, colour, axes } = this.material;
    const painted = colour?.name ? `, coloured by ${colour.name}` : "";
    this.#view.element.setAttribute("aria-label", `${title || "Map"}: ${count(this.#n)}${painted}. ${HELP}`);
    const wheel = this.#amid ? " The wheel zooms once the map was clicked, or with Ctrl." : "";
    this.root.append(
      h(
        "div",
        { class: "bar" },
        title ? h("h1", {}, h("bdi", {}, title)) : null,
        h("label", { class: "field" }, h("span", {}, "Search"), this.#search),
        h(
          "div",
          { class: "tools", role: "group", "aria-label": "Zoom" },
          button({ title: "Nearer (+)", "aria-label": "Zoom in" }, () => this.#view.zoom(1.4), "+"),
          button({ title: "Farther (-)", "aria-label": "Zoom out" }, () => this.#view.zoom(1 / 1.4), "−"),
          button({ title: "Show all objects (0)" }, () => this.#view.lookAtAll(), "All"),
        ),
      ),
      h("div", { class: "stage" }, this.#view.element, colour ? this.#legend : null),
      h(
        "p",
        { class: "readout", "aria-hidden": "true" },
        this.#readout,
        h("span", { class: "quiet" }, axes.map((axis, k) => `${"→↑"[k]} ${axis}`).join(", ")),
      ),
      this.#status,
      h(
        "div",
        { class: "more" },
        this.#tableOf,
        h(
          "details",
          {},
          h("summary", {}, "Keys"),
          h("p", { class: "quiet" }, `${HELP} Enter in the search goes to the next object that was found.${wheel}`),
        ),
      ),
    );
  }

  #listen(whole: boolean): void {
    (whole ? document : this.root).addEventListener("keydown", (event) => this.#key(event as KeyboardEvent));
    if (this.#amid) this.root.addEventListener("wheel", (event) => this.#wheel(event), { capture: true });
    this.#search.addEventListener("input", () => this.#update(() => (this.#query = this.#search.value)));
    this.#search.addEventListener("keydown", (event) => this.#searchKey(event));
    this.#tableOf.addEventListener("toggle", () => this.#update(() => {}));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => this.#update(() => (this.#paper = dark.matches ? "dark" : "light"));
    dark.addEventListener("change", follow);
    this.#paper = dark.matches ? "dark" : "light";
  }

  // ---- what the user does

  #key(event: KeyboardEvent): void {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === this.#search) return;
    event.preventDefault();
    this.#search.focus();
  }

  /** The wheel scrolls past the map until it is clicked, unless Ctrl is held. */
  #wheel(event: WheelEvent): void {
    if (!event.ctrlKey && document.activeElement !== this.#view.element) event.stopPropagation();
  }

  #searchKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.#clear();
      this.#view.element.focus();
    } else if (event.key === "Enter") {
      const matching = [...this.#found];
      if (matching.length) this.#goTo(matching.find((object) => object > (this.#focus ?? -1)) ?? matching[0]);
    }
  }

  #clear(): void {
    this.#search.value = "";
    this.#update(() => ([this.#focus, this.#query] = [null, ""]));
  }

  #goTo(object: number): void {
    this.#view.reveal(object);
    this.#update(() => (this.#focus = object));
  }

  #toggle(level: number): void {
    const levels = new Set(this.#hiddenLevels);
    if (!levels.delete(level)) levels.add(level);
    this.#update(() => (this.#hiddenLevels = levels));
  }

  // ---- what is seen

  get #found(): Set<number> {
    return found({ labels: this.material.names, query: this.#query });
  }

  get #hidden(): Uint8Array {
    return hiddenObjects({
      colour: "colour",
      columns: this.#columns,
      hiddenLevels: this.#hiddenLevels,
      labels: this.material.names,
    });
  }

  #update(change: () => void): void {
    const [paper, levels] = [this.#paper, this.#hiddenLevels];
    change();
    const { colour, isNamed } = this.material;
    const matching = this.#found;
    const colours = this.#colours(colour, this.#n, this.#paper);
    const looks = this.#looksOf(
      colours,
      this.#shapes(colour, this.#n),
      this.#hidden,
      this.#flags(matching),
      this.#paper,
    );
    this.#view.show({ looks, names: this.#short, labels: isNamed, found: matching, focus: this.#focus });
    this.#readout.replaceChildren(...this.#described());
    this.#status.textContent = this.#summary();
    if (!this.#legend.firstChild || paper !== this.#paper || levels !== this.#hiddenLevels) this.#drawLegend();
    if (this.#tableOf.open && this.#listed !== this.#query) this.#drawTable(matching, 0);
  }

  #described(): (Node | string)[] {
    const object = this.#hover ?? this.#focus;
    const { names } = this.material;
    if (object === null) return [count(this.#n), this.#query.trim() ? `, ${many(this.#found.size)} found` : ""];
    const others = this.#view.sameSpot(object).slice(1);
    const rest = others.length - MOST_HERE;
    const here =
      others
        .slice(0, MOST_HERE)
        .map((other) => names[other])
        .join(", ") + (rest > 0 ? ` and ${many(rest)} more` : "");
    const value = this.#value(object);
    return [h("strong", {}, h("bdi", {}, names[object])), value && ` (${value})`, here && `, also here: ${here}`];
  }

  /** What an object is coloured by, in words. */
  #value(object: number): string {
    const { colour } = this.material;
    if (!colour) return "";
    const value = textOf(colour, object) || "missing";
    return colour.name ? `${colour.name}: ${value}` : value;
  }

  /** Say in words what has changed, for those who do not see it. */
  #summary(): string {
    const parts: string[] = [];
    if (this.#query.trim()) parts.push(`${count(this.#found.size)} found.`);
    if (this.#hiddenLevels.size) parts.push(`${count(this.#hidden.reduce((sum, flag) => sum + flag, 0))} hidden.`);
    if (this.#focus !== null)
      parts.push([this.material.names[this.#focus], this.#value(this.#focus)].filter(Boolean).join(", ") + ".");
    return parts.join(" ");
  }

  #drawLegend(): void {
    const { colour } = this.material;
    if (!colour) return;
    const inside = this.#legend.contains(document.activeElement)
      ? [...this.#legend.querySelectorAll("button")].indexOf(document.activeElement as HTMLButtonElement)
      : -1;
    const heading = colour.name ? h("p", { class: "name" }, h("bdi", {}, colour.name)) : "";
    this.#legend.replaceChildren(
      heading,
      ...(colour.levels ? [this.#levels(colour, colour.levels)] : this.#scale(colour)),
    );
    if (inside >= 0) this.#legend.querySelectorAll("button")[inside].focus();
  }

  #levels(colour: Colour, levels: string[]): Node {
    const numbers = [...levels.map(() => 0), 0];
    for (const code of colour.values) numbers[Number.isNaN(code) ? levels.length : code]++;
    const entry = (text: string, level: number, n: number) => {
      const sign = s(
        "svg",
        { class: "sign", viewBox: "-1.4 -1.4 2.8 2.8", "aria-hidden": "true" },
        s("path", { d: shapePath(shapeOf(colour, level)), fill: colourOf(colour, level, this.#paper) }),
      );
      const pressed = String(!this.#hiddenLevels.has(level));
      return h(
        "li",
        {},
        button(
          { class: "plain", "aria-pressed": pressed, title: "Show or hide" },
          () => this.#toggle(level),
          sign,
          " ",
          h("bdi", {}, text),
          " ",
          h("span", { class: "quiet" }, many(n)),
        ),
      );
    };
    const missing = numbers[levels.length];
    return h(
      "ul",
      {},
      ...levels.map((text, level) => entry(text, level, numbers[level])),
      missing ? entry("missing", -1, missing) : null,
    );
  }

  #scale(colour: Colour): Node[] {
    const [low, high] = extent(colour.values);
    const colours = stops(this.#paper, "number");
    // Stretch by stretch: a gradient would need a name, and there may be several maps in a page.
    const parts = Array.from({ length: STRETCHES }, (_, k) =>
      s("rect", { x: String(k), width: "1.1", height: "9", fill: along(colours, k / (STRETCHES - 1)) }),
    );
    const bar = s(
      "svg",
      { viewBox: `0 0 ${STRETCHES} 9`, preserveAspectRatio: "none", "aria-hidden": "true" },
      ...parts,
    );
    const missing = howMany(colour.values, Number.isNaN);
    const counted = `${count(this.#n - missing)}${missing ? `, ${many(missing)} missing` : ""}`;
    return [
      h("div", { class: "gradient" }, h("span", {}, digits(low)), bar, h("span", {}, digits(high))),
      h("p", { class: "quiet" }, counted),
    ];
  }

  #drawTable(matching: Set<number>, page: number): void {
    this.#listed = this.#query;
    const { names, axes, colour, coordinate } = this.material;
    const objects = this.#query.trim() ? [...matching] : [...names.keys()];
    const head = ["Object", ...axes, ...(colour ? [colour.name || "Colour"] : [])].map((text) =>
      h("th", { scope: "col" }, text),
    );
    const from = ROWS * page;
    const rows = objects.slice(from, from + ROWS).map((object) => {
      const name = button(
        { class: "plain", title: "Show on the map" },
        () => this.#goTo(object),
        h("bdi", {}, names[object]),
      );
      const cells = [
        ...axes.map((_, axis) => digits(coordinate(object, axis))),
        ...(colour ? [textOf(colour, object) || "missing"] : []),
      ];
      return h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((cell) => h("td", {}, cell)));
    });
    const table = h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows));
    const turn = (text: string, to: number) =>
      button(
        to < 0 || ROWS * to >= objects.length ? { disabled: "" } : {},
        () => {
          this.#drawTable(matching, to);
          [...this.#table.querySelectorAll("button")]
            .find((other) => other.textContent === text && !other.disabled)
            ?.focus();
        },
        text,
      );
    const parts = [
      turn("First", 0),
      turn("Previous", page - 1),
      turn("Next", page + 1),
      turn("Last", Math.ceil(objects.length / ROWS) - 1),
    ];
    const where = h(
      "span",
      { class: "quiet", role: "status" },
      `${many(from + 1)} to ${many(from + rows.length)} of ${count(objects.length)}`,
    );
    const pages =
      objects.length > ROWS
        ? h("div", { class: "pages", role: "group", "aria-label": "Pages of the table" }, ...parts, where)
        : "";
    this.#table.replaceChildren(
      h("div", { class: "scroll", role: "region", "aria-label": "Table of objects", tabindex: "0" }, table),
      pages,
    );
  }
}
