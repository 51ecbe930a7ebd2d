"""A real browser: pages are opened in Chromium, from disk, and everything that happens is written down.

Run as a module, ``python -m tests.reports.photograph``, it renews the pictures of the documentation that show pages: a
report, and a map to explore.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..browser import browser


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


def report_picture(folder):
    """Take the picture of a report: the head of the page, wide and narrow, side by side."""
    from unmask.reports import write_report

    from .studies import kinship_study

    path = write_report(kinship_study(), folder / "kinship.html", compare=["partial-dbrda", "mds"])
    height = 1500
    with browser() as started:
        for width in (1280, 390):
            with visit(started, path, width) as found:
                found.page.set_viewport_size({"width": width, "height": height})
                found.page.screenshot(path=folder / f"{width}.png")
    put_together([folder / f"{width}.png" for width in (1280, 390)], "report.png", 0.6)


def explore_picture(folder):
    """Take the picture of a map to explore, in the light and in the dark."""
    from unmask import ConditionalMDS
    from unmask.datasets import load_kinship
    from unmask.plotting import explore

    kin = load_kinship()
    mds = ConditionalMDS(2, metric="precomputed", random_state=0).fit(kin.dissimilarities, known=kin.known[["gender"]])
    gender = kin.known["gender"].map({1: "male", 2: "female"})
    path = explore(mds, color=gender, title="Kinship terms, given gender").save(folder / "map.html")
    schemes = ("light", "dark")
    with browser() as started:
        for scheme in schemes:
            with visit(started, path, 640, scheme=scheme) as found:
                found.page.set_viewport_size({"width": 660, "height": 560})
                found.page.get_by_role("application").focus()
                found.page.keyboard.press("ArrowLeft")
                found.page.wait_for_timeout(200)
                found.page.screenshot(path=folder / f"{scheme}.png")
    put_together([folder / f"{scheme}.png" for scheme in schemes], "explore.png", 1.0)


def put_together(files, name, scale):
    """Put pictures side by side into the documentation."""
    from PIL import Image

    parts = [Image.open(file).convert("RGB") for file in files]
    gap = 40
    both = Image.new("RGB", (sum(part.width for part in parts) + gap * (len(parts) - 1), parts[0].height), "#8a94a3")
    left = 0
    for part in parts:
        both.paste(part, (left, 0))
        left += part.width + gap
    target = Path(__file__).parents[2] / "docs" / "images" / name
    small = both.resize((round(both.width * scale), round(both.height * scale)), Image.Resampling.LANCZOS)
    small.quantize(256, Image.Quantize.MAXCOVERAGE).save(target, optimize=True)
    print(target, target.stat().st_size)


def main():
    """Take all of them."""
    import tempfile

    for take in (report_picture, explore_picture):
        take(Path(tempfile.mkdtemp()))


if __name__ == "__main__":
    main()
