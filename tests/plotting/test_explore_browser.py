"""A map in a real browser, without a network: it names what is under the pointer, is searched, and obeys keys."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unmask.plotting import explore

from ..reports.photograph import browser, visit

# A browser is slow to start: of what needs one, the quick tests have the story of kinship.
pytestmark = pytest.mark.slow

# The middle, and a place in each direction from it; west and nearer west are on one line.
PLACES = pd.DataFrame(
    {"x": [0.0, 1.0, -1.0, 0.0, 0.0, -0.4], "y": [0.0, 0.0, 0.0, 1.0, -1.0, 0.0]},
    index=["middle", "east", "west", "north", "south", "nearer west"],
)
KINDS = pd.Series(["centre", "side", "side", "pole", "pole", None], index=PLACES.index, name="kind")
NASTY = "</script><img src=x onerror=alert(1)><script>alert(2)</script>"
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = """async () => {
  const { violations } = await axe.run();
  return violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 150)).join(" | "));
}"""
READOUT = "document.querySelector('.readout').firstChild.textContent"
DRAWN = """() => {
  const canvas = document.querySelector(".map canvas");
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((value, k) => k % 4 === 3 && value > 0).length;
}"""


@pytest.fixture(scope="module")
def started():
    with browser() as program:
        yield program


@pytest.fixture
def open_map(started, tmp_path):
    """Open a page; at the end nothing was said, nothing was asked of any place, and nothing else ran."""
    visits = []

    def open_it(shown, width=900, scheme="light", **options):
        path = tmp_path / "map.html"
        path.write_text(shown, encoding="utf-8") if isinstance(shown, str) else shown.save(path)
        opened = visit(started, path, width, scheme=scheme, **options)
        found = opened.__enter__()
        visits.append((opened, found))
        found.page.set_default_timeout(10_000)
        return found.page

    yield open_it
    for opened, found in visits:
        try:
            assert (found.said, found.left, found.dialogs) == ([], [], [])
        finally:
            opened.__exit__(None, None, None)


def at(page, x, y):
    """Return where a place of the map is in the window: as `fitCamera` has it, for a map from -1 to 1."""
    box = page.locator(".map").bounding_box()
    room = min(64, box["width"] / 8, box["height"] / 8)
    zoom = min(box["width"] - 2 * room, box["height"] - 2 * room) / 2
    return box["x"] + box["width"] / 2 + x * zoom, box["y"] + box["height"] / 2 - y * zoom


def reads(page, text):
    page.wait_for_function(f"text => {READOUT} === text", arg=text)


def status(page):
    return page.locator("[role=status]").text_content()


def test_hovering_names_the_nearest_object(open_map):
    page = open_map(explore(PLACES, color=KINDS))
    reads(page, "6 objects")
    for name, (x, y) in PLACES.iterrows():
        across, down = at(page, x, y)
        page.mouse.move(across + 5, down - 5)
        reads(page, f"{name} (kind: {'missing' if name == 'nearer west' else KINDS[name]})")
    page.mouse.move(*at(page, 0.6, 0.6))
    reads(page, "6 objects")


def test_objects_on_the_same_spot_are_all_named(open_map):
    page = open_map(explore([[0.0, 0.0], [0.0, 0.001], [1.0, 1.0], [-1.0, -1.0]], labels=list("abcd")))
    page.mouse.move(*at(page, 0, 0))
    page.wait_for_function(f"() => {READOUT}.includes('also here')")
    assert page.evaluate(READOUT) in ("a, also here: b", "b, also here: a")


def test_search_marks_and_walks(open_map):
    page = open_map(explore(PLACES, color=KINDS))
    page.keyboard.press("/")
    page.keyboard.type("WEST")
    reads(page, "6 objects, 2 found")
    assert status(page) == "2 objects found."
    for name in ("west (kind: side)", "nearer west (kind: missing)", "west (kind: side)"):
        page.keyboard.press("Enter")
        reads(page, name)
    page.keyboard.press("Escape")
    reads(page, "6 objects")
    assert page.get_by_role("searchbox").input_value() == ""
    assert page.evaluate("document.activeElement.className") == "map"


def test_keys_walk_zoom_and_clear(open_map):
    page = open_map(explore(PLACES))
    page.get_by_role("application").focus()
    for key, name in [("Left", "middle"), ("Left", "nearer west"), ("Left", "west"), ("Right", "nearer west")]:
        page.keyboard.press(f"Arrow{key}")
        reads(page, name)
        assert status(page) == f"{name}."
    page.keyboard.press("ArrowUp")
    reads(page, "north")
    page.keyboard.press("Escape")
    reads(page, "6 objects")
    page.keyboard.press("+")
    across, down = at(page, 1.25 * 0.4, 0)
    page.mouse.move(2 * at(page, 0, 0)[0] - across, down)  # a quarter farther from the middle than before
    reads(page, "nearer west")
    page.keyboard.press("-")
    page.keyboard.press("0")
    page.mouse.move(*at(page, 1, 0))
    reads(page, "east")


def test_wheel_and_drag(open_map):
    page = open_map(explore(PLACES))
    east, middle = at(page, 1, 0), at(page, 0, 0)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(*east, steps=3)
    page.mouse.up()
    page.mouse.move(east[0], east[1] + 3)
    reads(page, "middle")
    page.mouse.wheel(0, 600)  # what is under the pointer stays there
    page.mouse.move(east[0], east[1] + 1)
    reads(page, "middle")
    page.mouse.move(*middle)
    reads(page, "6 objects")


def test_a_legend_counts_and_hides(open_map):
    page = open_map(explore(PLACES, color=KINDS))
    entries = page.locator(".legend button")
    assert entries.all_text_contents() == [" centre 1", " pole 2", " side 2", " missing 1"]
    before = page.evaluate(DRAWN)
    entries.nth(1).press("Enter")
    page.wait_for_function(f"() => ({DRAWN})() < {before}")
    assert status(page) == "2 objects hidden."
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
    page.mouse.move(*at(page, 0, 1))
    reads(page, "6 objects")


def test_a_table_says_the_same(open_map):
    page = open_map(explore(PLACES, color=KINDS))
    page.get_by_text("Table of objects").click()
    rows = page.locator("tbody tr")
    rows.nth(5).wait_for()
    assert rows.nth(2).locator("th, td").all_text_contents() == ["west", "-1", "0", "side"]
    rows.nth(5).get_by_role("button").click()
    reads(page, "nearer west (kind: missing)")
    assert page.evaluate("document.activeElement.textContent") == "nearer west"


def test_labels_are_text(open_map):
    page = open_map(explore(PLACES, labels=[NASTY, *"abcde"], color=[NASTY, *"abcde"], title=NASTY))
    page.get_by_text("Table of objects").click()
    page.mouse.move(*at(page, 0, 0))
    reads(page, f"{NASTY} ({NASTY})")
    assert page.locator("img").count() == 0


def test_many_objects(open_map):
    U = np.random.default_rng(0).normal(size=(20_000, 2))
    page = open_map(explore(U, color=U[:, 0], labels=[f"object {i}" for i in range(len(U))]))
    reads(page, "20,000 objects")
    page.wait_for_function(f"() => ({DRAWN})() > 20000")
    page.get_by_text("Table of objects").click()
    page.get_by_role("button", name="Last").click()
    page.get_by_text("19,801 to 20,000 of 20,000 objects").wait_for()
    assert page.locator("tbody th").all_inner_texts()[-1] == "object 19999"
    assert page.get_by_role("button", name="Next").is_disabled()
    page.get_by_role("searchbox").fill("object 12345")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {READOUT}.startsWith('object 12345')")


def test_several_maps_in_a_notebook_do_not_clash(open_map):
    frames = [explore(PLACES, title=title)._repr_html_() for title in ("first", "second")]
    page = open_map(f"<!doctype html><meta charset=utf-8><link rel=icon href=data:,>{''.join(frames)}")
    for name in ("first", "second"):
        frame = page.frame_locator(f"iframe[title={name}]")
        assert frame.locator("h1").text_content() == name
        frame.get_by_role("application").focus()
        page.keyboard.press("ArrowLeft")
        frame.locator("strong", has_text="middle").wait_for()
    # The wheel scrolls the notebook, not the map, until this is clicked.
    box = page.locator("iframe[title=first]").bounding_box()
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, 200)
    page.wait_for_function("() => scrollY > 0")


def test_no_eval(started, tmp_path):
    path = explore(PLACES).save(tmp_path / "map.html")
    tried = path.read_text(encoding="utf-8").replace("<script>", "<script>document.title = 'ran';</script><script>", 1)
    path.write_text(tried, encoding="utf-8")
    with visit(started, path, 900) as found:
        reads(found.page, "6 objects")
        assert found.page.title() == "Map"  # another script does not run
        assert len(found.said) == 1
        said = found.page.evaluate(
            "new Promise(done => document.addEventListener('securitypolicyviolation', "
            "event => done(event.violatedDirective)) || setTimeout('document.title = 1'))"
        )
        assert said == "script-src"


def test_without_scripts_the_page_says_so(open_map):
    page = open_map(explore(PLACES), scripts=False)
    assert "drawn by a script" in page.locator("noscript").inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(900, "light"), (390, "dark")])
def test_no_violation_and_nothing_too_wide(open_map, width, scheme):
    if not AXE.exists():
        pytest.skip("axe-core is installed with the packages of web/: run `make web` first")
    page = open_map(explore(PLACES, color=KINDS, title="A map with rather a long title"), width=width, scheme=scheme)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    page.evaluate("document.querySelectorAll('details').forEach(part => (part.open = true))")
    page.locator("tbody tr").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(VIOLATIONS) == []
