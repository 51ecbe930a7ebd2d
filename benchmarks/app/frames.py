"""The map of 100,000 points in a browser without a graphics card, beside the least that WebGL2 can do."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

BUILD = Path(__file__).parents[2] / "web" / "build"
WINDOW = {"width": 1000, "height": 900}
ROUNDS = 7
SECONDS = 3  # of each round
POINTS = 100_000


@dataclass(frozen=True)
class Frames:
    """Frames per second of both; the ratio is the median of rounds, in each of which both ran one after the other."""

    ours: float
    webgl: float
    ratio: float


@dataclass(frozen=True)
class Lasso:
    """Seconds from the end of a lasso until its selection is drawn, and those of a frame of the same page."""

    seconds: float
    frame: float

    @property
    def frames(self) -> float:
        """How many frames that is."""
        return self.seconds / self.frame


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@contextmanager
def pages(folder: str) -> Iterator[Any]:
    """Serve a folder of web/build, and yield a function that opens a page of it in Chromium."""
    from playwright.sync_api import sync_playwright

    if not (BUILD / folder / "app.js").exists():
        raise SystemExit(
            f"web/build/{folder} is not there; run npm ci and npm run bench in web/, as make bench-app does."
        )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=BUILD / folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])

        def page(query: str) -> Any:
            opened = browser.new_page(viewport=WINDOW)
            opened.goto(f"http://127.0.0.1:{server.server_port}/index.html?{query}")
            opened.wait_for_selector(".map")
            return opened

        try:
            yield page
        finally:
            browser.close()
            server.shutdown()


def measure_frames() -> Frames:
    """Count the frames of the moving map, and of a bare cloud of points."""
    with pages("bench") as page:
        both = [page(f"n={POINTS}"), page(f"n={POINTS}&webgl")]
        counted: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for opened, found in zip(both, counted, strict=True):
                opened.bring_to_front()
                found.append(opened.evaluate(f"measure({SECONDS})"))
    ours, webgl = map(median, counted)
    return Frames(ours, webgl, median(a / b for a, b in zip(*counted, strict=True)))


# A lasso around half of the map; the selection is there when the page says so, and the frame after that is drawn.
LASSO = """async () => {
  const map = document.querySelector(".map"), box = map.getBoundingClientRect();
  const send = (kind, x, y) => map.dispatchEvent(new PointerEvent(kind, {
    pointerId: 1, button: 0, bubbles: true, clientX: box.left + x * box.width, clientY: box.top + y * box.height }));
  map.setPointerCapture = () => {};
  const frame = () => new Promise(requestAnimationFrame);
  const until = async (there) => {
    for (let k = 0; !document.querySelector(".chosen") === there; k++) {
      if (k > 600) throw new Error("the selection did not change");
      await frame();
    }
  };
  send("pointerdown", 0.01, 0.01);
  for (const [x, y] of [[0.5, 0.01], [0.5, 0.5], [0.5, 0.99], [0.01, 0.99]]) {
    send("pointermove", x, y);
    await frame();
  }
  await frame();
  const begin = performance.now();
  send("pointerup", 0.01, 0.9);
  await until(true);
  await frame();
  const taken = performance.now() - begin;
  document.querySelector(".chosen button:last-child").click();
  await until(false);
  return taken / 1000;
}"""

# The page moves its map by dragging: one frame after each movement.
DRAG = """async () => {
  const map = document.querySelector(".map"), box = map.getBoundingClientRect();
  const frame = () => new Promise(requestAnimationFrame);
  const send = (kind, x) => map.dispatchEvent(new WheelEvent("wheel", { deltaY: x, bubbles: true, cancelable: true,
    clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
  await frame();
  const begin = performance.now();
  for (let k = 0; k < 20; k++) { send("wheel", k % 2 ? 20 : -20); await frame(); }
  return (performance.now() - begin) / 20000;
}"""


def measure_lasso() -> Lasso:
    """Draw a lasso on the page itself, with all its panes."""
    with pages("fixed") as page:
        opened = page(f"n={POINTS}")
        opened.wait_for_function("document.querySelector('.summary')?.textContent.includes('100,000')")
        opened.get_by_role("button", name="Lasso").click()
        opened.wait_for_selector("button[aria-pressed=true] >> text=Lasso")  # the map has heard of it
        taken = [(opened.evaluate(LASSO), opened.evaluate(DRAG)) for _ in range(ROUNDS)]
    return Lasso(median(seconds for seconds, _ in taken), median(frame for _, frame in taken))
