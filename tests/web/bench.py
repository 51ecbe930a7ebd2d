"""The page of the workbench in a browser, and what one does with it by mouse and keys; with a server and without."""

import base64
import os
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
SOON = 300_000  # milliseconds within which something happens, even on a very busy machine

# What axe finds that keeps people out.
VIOLATIONS = """async () => {
  const { violations } = await axe.run();
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  return serious.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 150)).join(" | "));
}"""

# Files that are dropped on the page, as a browser hands them over.
DROP = """([target, files]) => {
  const dropped = new DataTransfer();
  for (const [name, data] of files)
    dropped.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name));
  document.querySelector(target).dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true }));
}"""

# The part of the map beside and below the cards that float on it.
FREE = """() => {
  const map = document.querySelector(".map").getBoundingClientRect();
  const floats = getComputedStyle(document.querySelector(".looks-card")).position === "absolute";
  const right = floats ? document.querySelector(".looks-card").getBoundingClientRect().left : map.right;
  const top = floats ? document.querySelector(".tools-card").getBoundingClientRect().bottom : map.top;
  return [map.left, top, right, map.bottom];
}"""

# How the element that has the keyboard is called.
FOCUSED = """() => {
  const at = document.activeElement;
  return (at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent).trim();
}"""


class Windows:
    """Windows of a browser. What they say on the console, and what they ask of any other place, is written down."""

    def __init__(self, chromium):
        self._chromium, self._contexts, self.said, self._expected = chromium, [], [], []

    def open(self, *own, beside=None, **options):
        """Open an empty window, perhaps beside another, whose page may ask for what begins like one of some."""
        settings = {"viewport": {"width": 1300, "height": 900}, "reduced_motion": "reduce", **options}
        context = beside.context if beside is not None else self._chromium.new_context(**settings)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SOON)
        page.on("console", lambda message: self._hear(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        allowed = (*own, *(address.replace("http", "ws", 1) for address in own), "blob:")
        page.on("request", lambda request: request.url.startswith(allowed) or self.said.append(request.url))
        return page

    def expect(self, text):
        """Do not write down what has this in it, whenever it comes: the browser says that something was refused."""
        self._expected.append(text)

    def _hear(self, said):
        if not any(text in said for text in self._expected):
            self.said.append(said)

    def close(self):
        for context in dict.fromkeys(self._contexts):
            context.close()


class Bench:
    """The page, and what one does with it."""

    def __init__(self, page):
        self.page = page

    # ---- looking

    def button(self, name, *, exact=True):
        return self.page.get_by_role("button", name=name, exact=exact)

    def place(self, across, down):
        """Return a place of the part of the map on which nothing floats, by shares of its width and height."""
        left, top, right, bottom = self.page.evaluate(FREE)
        return left + across * (right - left), top + down * (bottom - top)

    def point(self, label):
        """Where the point with a label is: left of the beginning of its text."""
        box = self.page.locator(".map .label", has_text=label).first.bounding_box()
        return box["x"] - 9, box["y"] + box["height"] / 2

    def labels(self):
        return {
            label.text_content(): (label.get_attribute("x"), label.get_attribute("y"))
            for label in self.page.locator(".map .label").all()
        }

    def says(self, text):
        """Wait until the summary of the map says something."""
        self.page.wait_for_function("text => document.querySelector('.summary')?.textContent.includes(text)", arg=text)

    @property
    def said(self):
        """What the summary of the map says."""
        return self.page.locator("#summary").text_content()

    def drawn_anew(self):
        """Wait until the page has been drawn after whatever was done last."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def until(self, holds):
        """Wait until something holds; the page goes on meanwhile."""
        while not holds():
            self.drawn_anew()

    @property
    def too_wide(self):
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth") - self.page.viewport_size["width"]

    def load_axe(self):
        axe = WEB / "node_modules" / "axe-core" / "axe.min.js"
        if not axe.exists():
            pytest.skip("axe, which looks for what keeps people out, is not there: run `make test-web` first")
        self.page.evaluate(axe.read_text(encoding="utf-8"))

    def violations(self):
        return self.page.evaluate(VIOLATIONS)

    def shot(self, name, **options):
        """Take a picture for the documentation, if ``UNMASK_SHOTS`` names a folder for them."""
        folder = os.environ.get("UNMASK_SHOTS")
        if not folder:
            return
        from PIL import Image

        self.page.mouse.move(0, 0)
        self.page.wait_for_timeout(400)
        path = Path(folder) / f"workbench-{name}.png"
        self.page.screenshot(path=path, **options)
        Image.open(path).convert("RGB").quantize(192, dither=Image.Dither.NONE).save(path, optimize=True)

    # ---- by mouse

    def tool(self, name):
        """Take a tool, and wait until the map has heard of it."""
        self.button(name).click()
        self.page.locator("button[aria-pressed=true]", has_text=name).wait_for()

    def drag(self, *corners):
        """Draw with the pointer; corners as shares of the map's width and height."""
        self.draw([self.place(*corner) for corner in corners])

    def draw(self, places):
        """Draw with the pointer from one place of the screen to the next."""
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=4)
        self.page.mouse.up()

    def select(self, name, option):
        if name in ("Axes", "Shape"):
            self.page.evaluate("document.querySelector('.looks-card details').open = true")
        self.page.get_by_role("combobox", name=name, exact=True).select_option(label=option)

    def drop(self, files, target="main"):
        """Drop files, by name, on the page."""
        self.page.locator(target).wait_for()
        sent = [(name, base64.b64encode(content).decode()) for name, content in files.items()]
        self.page.evaluate(DROP, [target, sent])

    def name_it(self, name, why=""):
        """Name what was drawn, and condition on it."""
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label("Why").fill(why)
        self.button("Condition on it").click()

    # ---- by keys

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, name, *, back=False):
        """Press Tab until something has the keyboard whose name begins so."""
        for _ in range(200):
            self.press("Shift+Tab" if back else "Tab")
            if self.page.evaluate(FOCUSED).startswith(name):
                return
        raise AssertionError(f"Tab does not come to {name}")
