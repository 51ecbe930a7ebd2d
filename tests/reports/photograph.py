"""A real browser: pages are opened in Chromium, from disk, and everything that happens is written down.

Run as a module, ``python -m tests.reports.photograph``, it renews the picture of a report in the documentation.
"""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def browser():
    """Start the browser that is on the path; a test that needs one is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="drives the browser: pip install playwright")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is on the path, for example: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # Without the sandbox, which a container does not allow; pages are our own, and nothing of them runs.
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


@dataclass
class Visit:
    """An open page and what happened: messages on the console, errors, requests that left it, dialogs."""

    page: object
    said: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    failed: dict = field(default_factory=dict)
    dialogs: list = field(default_factory=list)

    @property
    def left(self):
        """Requests for anything but the page itself and what it holds."""
        return [url for url in self.requests if url != self.page.url and not url.startswith("data:")]


@contextmanager
def visit(started, path, width, *, scheme="light", scripts=True):
    """Open a page from disk in a window of some width."""
    context = started.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts, offline=True
    )
    found = Visit(context.new_page())
    found.page.on("console", lambda message: found.said.append(f"{message.type}: {message.text}"))
    found.page.on("pageerror", lambda error: found.said.append(f"error: {error}"))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.on("requestfailed", lambda request: found.failed.update({request.url: request.failure}))
    found.page.on("dialog", lambda dialog: (found.dialogs.append(dialog.message), dialog.dismiss()))
    found.page.goto(Path(path).resolve().as_uri())
    try:
        yield found
    finally:
        context.close()


def main():
    """Take the picture of the documentation: the head of the page, wide and narrow, side by side."""
    import tempfile

    from PIL import Image

    from unmask.reports import write_report

    from .studies import kinship_study

    folder = Path(tempfile.mkdtemp())
    path = write_report(kinship_study(), folder / "kinship.html", compare=["partial-dbrda", "mds"])
    height = 1720
    with browser() as started:
        for width, place in ((1280, 0), (390, "document.querySelector('#pair').offsetTop - 16")):
            with visit(started, path, width) as found:
                found.page.set_viewport_size({"width": width, "height": height})
                found.page.evaluate(f"window.scrollTo({{top: {place}, behavior: 'instant'}})")
                found.page.screenshot(path=folder / f"{width}.png")
    wide, narrow = (Image.open(folder / f"{width}.png").convert("RGB") for width in (1280, 390))
    both = Image.new("RGB", (wide.width + narrow.width + 40, height), "#8a94a3")
    both.paste(wide, (0, 0))
    both.paste(narrow, (wide.width + 40, 0))
    target = Path(__file__).parents[2] / "docs" / "images" / "report.png"
    small = both.resize((both.width * 3 // 5, both.height * 3 // 5), Image.Resampling.LANCZOS)
    small.quantize(256, Image.Quantize.MAXCOVERAGE).save(target, optimize=True)
    print(target, target.stat().st_size)


if __name__ == "__main__":
    main()
