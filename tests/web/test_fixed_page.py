"""The page of the workbench in a browser, on fixed data and without a server: the map, its tools and its keys."""

import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from .bench import WEB, Bench, Windows

# A browser is slow to start: of what needs one, the quick tests have the story of kinship.
pytestmark = pytest.mark.slow

POLICY = "; ".join(
    ["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "connect-src 'self'"]
)
MEN = ["Brother", "Father", "Grandfather", "Grandson", "Nephew", "Son", "Uncle"]


# How many pixels of the map are not empty.
DRAWN = """() => {
  const canvas = document.querySelector(".map canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((value, k) => k % 4 === 3 && value > 0).length;
}"""


# Press keys on the map, and wait for a frame.
PRESS = """async (keys) => {
  const map = document.querySelector(".map");
  for (const key of keys) map.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame);
}"""


class Handler(SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    if not (WEB / "node_modules").exists() or shutil.which("npx") is None:
        pytest.skip("the page on fixed data is made with Node: run `make test-web` first")
    folder = tmp_path_factory.mktemp("fixed")
    made = ["npx", "vite", "build", "--mode", "fixed", "--logLevel", "error", "--emptyOutDir", "--outDir", str(folder)]
    subprocess.run(made, cwd=WEB, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_page(chromium, address):
    """Open the page; at the end nothing was said on the console, and nothing was asked of any other place."""
    windows = Windows(chromium)

    def open_it(query="", **options):
        page = windows.open(address.rsplit("/", 1)[0], **options)
        page.goto(f"{address}?{query}")
        page.wait_for_selector(".map, .start h1")
        if "start" not in query:
            page.wait_for_selector(".map .label, .map canvas[width]")
        return FixedBench(page)

    yield open_it
    windows.close()
    assert windows.said == []


# Nothing is drawn until releaseFrames is called.
HOLD_FRAMES = """() => {
  const [draw, held] = [window.requestAnimationFrame, []];
  window.requestAnimationFrame = (frame) => held.push(frame);
  window.releaseFrames = () => {
    window.requestAnimationFrame = draw;
    held.forEach((frame) => draw(frame));
  };
}"""


class FixedBench(Bench):
    """The page on fixed data, whose channel remembers what it was asked."""

    def asked(self, what):
        return [request for request in self.page.evaluate("channel.asked") if request["do"] == what]

    def lasso_the_men(self):
        self.tool("Lasso")
        self.drag((0.01, 0.01), (0.99, 0.01), (0.99, 0.5), (0.01, 0.5))
        self.says("7 selected")

    def go_to_second_map(self):
        self.button("History").click()
        self.button("given gender", exact=False).click()
        self.says("given gender")


def test_who_types_faster_than_the_page_draws_is_heard(open_page):
    bench = open_page()
    bench.lasso_the_men()
    bench.page.get_by_label("Name").focus()
    bench.page.evaluate(HOLD_FRAMES)
    bench.page.keyboard.type("gender")
    bench.press("Enter")
    bench.page.evaluate("releaseFrames()")
    bench.says("given gender")


def test_a_lasso_becomes_a_known_feature_and_the_next_map(open_page):
    bench = open_page()
    labels = bench.page.evaluate("channel.fixed.labels")
    bench.lasso_the_men()
    (preview,) = bench.asked("preview")
    assert sorted(labels[i] for i in preview["way"]["groups"]["group 1"]) == MEN
    bench.page.get_by_label("Name").fill("gender")
    bench.page.get_by_label("Why").fill("men above")
    bench.page.get_by_label("Value of Aunt").fill("")
    bench.page.get_by_label("Value of Aunt").press("Tab")
    bench.button("Condition on it").click()
    bench.says("given gender")
    (adopted,) = bench.asked("adopt")
    assert adopted["name"] == "gender"
    assert adopted["why"] == "men above"
    assert adopted["corrections"] == {str(labels.index("Aunt")): None}
    assert adopted["revision"] == 1
    assert "Brother / Sister" in bench.labels()


def test_a_lasso_may_end_where_it_began(open_page):
    bench = open_page()
    bench.tool("Lasso")
    bench.drag((0.01, 0.01), (0.99, 0.01), (0.99, 0.5), (0.01, 0.5), (0.01, 0.01))
    bench.says("7 selected")


def test_an_arrow_and_a_curve_are_places_on_the_map(open_page):
    bench = open_page()
    bench.tool("Arrow")
    bench.drag((0.2, 0.5), (0.8, 0.5))
    bench.page.wait_for_selector("text=From your arrow.")
    bench.tool("Curve")
    corners = [(0.2, 0.8), (0.3, 0.4), (0.5, 0.2), (0.8, 0.2)]
    for corner in [*corners, corners[-1]]:
        bench.page.mouse.click(*bench.place(*corner))
    bench.page.wait_for_selector("text=From your curve.")
    arrow, curve = (request["way"] for request in bench.asked("preview"))
    (x1, y1), (x2, y2) = arrow["along"]
    assert arrow["axes"] == [0, 1]
    assert x1 < x2
    assert y1 == pytest.approx(y2)
    assert len(curve["along"]) == 4


def test_a_drawing_that_was_not_finished_is_taken_back(open_page):
    bench = open_page()
    bench.tool("Curve")
    for corner in [(0.2, 0.8), (0.3, 0.4)]:
        bench.page.mouse.click(*bench.place(*corner))
    bench.page.wait_for_selector("text=2 places marked")
    bench.page.keyboard.press("Backspace")
    bench.page.wait_for_selector("text=1 place marked")
    bench.page.keyboard.press("Escape")
    bench.page.wait_for_selector("text=place marked", state="detached")
    assert bench.asked("preview") == []


def test_escape_and_empty_space_clear(open_page):
    bench = open_page()
    bench.lasso_the_men()
    bench.page.keyboard.press("Escape")
    bench.page.wait_for_selector(".chosen", state="detached")
    bench.lasso_the_men()
    bench.page.mouse.click(*bench.place(0.02, 0.98))
    bench.page.wait_for_selector(".chosen", state="detached")


def test_nothing_but_new_coordinates_moves_the_camera(open_page):
    bench = open_page()
    bench.page.mouse.move(*bench.place(0.5, 0.5))
    bench.page.mouse.wheel(0, -150)
    bench.page.mouse.move(*bench.place(0.02, 0.98))
    before = bench.labels()
    bench.select("Colour", "generation")
    bench.page.get_by_role("searchbox").fill("mother")
    bench.button("Table").click()
    bench.button("Read").click()
    bench.says("objects found")
    assert bench.labels() == before
    bench.go_to_second_map()
    assert bench.labels() != before


def test_only_visible_points_are_selected(open_page):
    bench = open_page()
    bench.select("Colour", "gender")
    bench.page.locator(".legend button").first.click()
    bench.says("7 hidden")
    bench.tool("Select")
    bench.drag((0.01, 0.01), (0.99, 0.99))
    bench.says("7 selected")


def test_groups_are_drawn_one_after_the_other(open_page):
    bench = open_page()
    bench.tool("Groups")
    bench.drag((0.01, 0.01), (0.99, 0.01), (0.99, 0.5), (0.01, 0.5))
    bench.page.wait_for_selector("text=Group 1 (7)")
    bench.drag((0.01, 0.5), (0.99, 0.5), (0.99, 0.99), (0.01, 0.99))
    bench.page.wait_for_selector("text=Group 2 (7)")
    bench.page.get_by_label("Group 2 (7)").fill("women")
    bench.page.get_by_label("Group 2 (7)").press("Tab")
    bench.page.wait_for_selector(".chart >> text=women")
    assert set(bench.asked("preview")[-1]["way"]["groups"]) == {"group 1", "women"}


def test_objects_on_the_same_spot_fan_out(open_page):
    bench = open_page()
    bench.go_to_second_map()
    bench.page.mouse.move(*bench.point("Brother / Sister"))
    bench.page.wait_for_selector(".leaf")
    assert {"Brother", "Sister"} <= set(bench.labels())
    leaf = bench.page.locator(".leaf").nth(1).bounding_box()
    bench.page.mouse.click(leaf["x"] + leaf["width"] / 2, leaf["y"] + leaf["height"] / 2)
    bench.says("At Sister, selected")
    bench.page.mouse.move(*bench.place(0.02, 0.98))
    assert [label for label in bench.labels() if "Sister" in label] == ["Sister"]


def test_everything_by_keys(open_page):
    bench = open_page()
    bench.button("Arrow").focus()
    bench.page.keyboard.press("Enter")
    bench.page.locator(".map").focus()
    bench.page.keyboard.press("ArrowLeft")
    bench.says("At ")
    focus = bench.page.locator(".map .label.strong").text_content()
    assert [text for text in bench.page.locator(".map .label").all_text_contents() if focus in text] == [focus]
    for _ in range(14):
        bench.page.keyboard.press("ArrowUp")
    bench.page.keyboard.press("Enter")
    bench.page.wait_for_selector("text=1 place marked")
    for _ in range(14):
        bench.page.keyboard.press("ArrowDown")
    bench.page.keyboard.press("Enter")
    bench.page.wait_for_selector("text=From your arrow.")
    start, end = bench.asked("preview")[0]["way"]["along"]
    labels = bench.page.evaluate("channel.fixed.labels")
    assert labels[start["object"]] == "Grandfather"
    assert labels[end["object"]] == "Grandmother"


def test_keys_that_are_quicker_than_frames_are_all_heard(open_page):
    keys = ["ArrowLeft", "ArrowLeft", "ArrowUp", "Enter"]
    heard = []
    for parts in ([[key] for key in keys], [keys]):  # one a frame, or all before the next
        bench = open_page()
        bench.tool("Select")
        for part in parts:
            bench.page.evaluate(PRESS, part)
        bench.says(", selected")
        heard.append(bench.page.locator("#summary").text_content())
    assert heard[0] == heard[1]


def test_a_search_that_is_quicker_than_frames_is_heard(open_page):
    bench = open_page()
    bench.page.evaluate(
        """() => {
          const field = document.querySelector("input[type=search]");
          field.value = "niece";
          field.dispatchEvent(new Event("input", { bubbles: true }));
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
        }"""
    )
    bench.says("At Niece")


def test_a_list_replaces_the_lasso(open_page):
    bench = open_page()
    bench.button("Table").click()
    for name in ("Aunt", "Niece"):
        bench.page.get_by_role("checkbox", name=name, exact=True).press("Space")
    bench.says("2 selected")
    bench.button("They belong together").press("Enter")
    bench.page.wait_for_selector("text=Group 1 (2)")
    labels = bench.page.evaluate("channel.fixed.labels")
    assert [labels[i] for i in bench.asked("preview")[0]["way"]["groups"]["group 1"]] == ["Aunt", "Niece"]


def test_pairs_of_axes_and_space(open_page):
    bench = open_page("deep")
    before = bench.labels()
    bench.select("Axes", "1 and 3")
    bench.page.wait_for_function(
        "before => document.querySelector('.map .label').getAttribute('y') !== before",
        arg=next(iter(before.values()))[1],
    )
    bench.tool("Arrow")
    bench.drag((0.2, 0.5), (0.8, 0.5))
    bench.page.wait_for_selector("text=From your arrow.")
    assert bench.asked("preview")[0]["way"]["axes"] == [0, 2]
    bench.select("Axes", "1, 2 and 3 in space")
    bench.page.wait_for_function(
        "() => [...document.querySelectorAll('.tools button')].filter(b => b.disabled).length === 2"
    )


def test_labels_are_text(open_page):
    bench = open_page("hostile&pictures")
    bench.button("Table").click()
    bench.page.wait_for_selector("text=<img src=x")
    assert bench.page.locator(".map image").count() == 14
    assert bench.page.evaluate("window.hacked") is None


def test_problems_stand_at_their_cell(open_page):
    bench = open_page("start")
    bench.page.set_input_files(
        "input[type=file]", files=[{"name": "wine.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}]
    )
    bench.page.wait_for_selector("text=Row 2, column 1: “13,2” is not a number")
    assert bench.button("Make the first map").is_disabled()
    bench.button("Other files").click()
    bench.button("kinship", exact=False).click()
    bench.says("Map 1")


def test_many_points_are_drawn(open_page):
    bench = open_page("n=20000")
    bench.says("20,000 objects")
    bench.tool("Select")
    bench.drag((0.3, 0.3), (0.7, 0.7))
    bench.page.wait_for_selector(".chosen")
    assert bench.page.evaluate(DRAWN) > 20_000


def test_what_was_drawn_is_reached_in_one_column(open_page):
    bench = open_page(viewport={"width": 390, "height": 844})
    bench.lasso_the_men()
    bench.button("Name what you drew").click()
    bench.page.wait_for_function("document.querySelector('.side').getBoundingClientRect().top < 100")
    assert bench.page.get_by_label("Name", exact=True).is_visible()


def test_other_methods_are_named_beside_this_map(open_page):
    bench = open_page()
    bench.button("Read").click()
    bench.page.get_by_text("Would a simpler method have done?").click()
    table = bench.page.get_by_role("group", name="Other methods")
    table.wait_for()
    this, other = table.locator("tbody th").all_inner_texts()
    assert this == "this map"
    assert other == "mds\nMetric scaling, told nothing"
    assert table.locator("tbody td").all_inner_texts()[3:] == ["0.07", "0.98", "0.7"]


def rows(bench, caption):
    """Return the names of the rows of a table, once it is there."""
    names = bench.page.get_by_role("table", name=caption, exact=True).locator("tbody th")
    names.first.wait_for()
    return names.all_inner_texts()


def test_every_row_of_a_long_list_can_be_reached(open_page):
    bench = open_page("n=1001")
    bench.button("Table").click()
    seen = [rows(bench, "Objects of the map")]
    while bench.button("Next").is_enabled():
        bench.button("Next").click()
        bench.page.wait_for_selector(f"text={200 * len(seen) + 1:,} to")
        seen.append(rows(bench, "Objects of the map"))
    assert [name for part in seen for name in part] == [f"object {i}" for i in range(1001)]
    bench.page.get_by_role("spinbutton", name="Page").fill("3")
    bench.page.keyboard.press("Enter")
    bench.page.wait_for_selector("text=401 to 600 of 1,001 objects")
    assert rows(bench, "Objects of the map") == seen[2]
    bench.page.get_by_role("searchbox").first.fill("object 99")
    bench.page.wait_for_selector("text=Only objects with “object 99” in their name.")
    assert rows(bench, "Objects of the map") == [f"object {i}" for i in (99, *range(990, 1000))]


def test_every_value_can_be_corrected(open_page):
    bench = open_page("n=1001")
    bench.tool("Arrow")
    bench.drag((0.2, 0.5), (0.8, 0.5))
    bench.page.wait_for_selector("text=From your arrow.")
    order = bench.page.evaluate("channel.preview(channel.asked.at(-1).way).values")
    ranked = sorted(range(1001), key=order.__getitem__)
    bench.page.wait_for_selector("text=1 to 200 of 1,001 objects")
    bench.page.get_by_role("spinbutton", name="Page").fill("6")
    bench.page.keyboard.press("Enter")
    bench.page.wait_for_selector("text=1,001 to 1,001 of")
    assert rows(bench, "Values") == [f"object {ranked[-1]}"]
    bench.page.get_by_role("searchbox").first.fill("object 777")
    bench.page.get_by_label("Value of object 777").fill("1.5")
    bench.name_it("breadth")
    bench.page.wait_for_function("() => channel.asked.some(({ do: what }) => what === 'adopt')")
    assert bench.asked("adopt")[0]["corrections"] == {"777": "1.5"}


@pytest.mark.parametrize(("width", "scheme"), [(1300, "light"), (390, "dark")])
def test_no_serious_violation_and_nothing_too_wide(open_page, width, scheme):
    bench = open_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    bench.lasso_the_men()
    bench.page.wait_for_selector("text=Condition on it")
    assert bench.button("Name what you drew").is_visible() == (width == 390)
    bench.select("Colour", "generation")
    bench.load_axe()
    for pane in ("Recognise", "Read", "Table", "History", "Take away"):
        bench.button(pane).click()
        bench.page.get_by_role("heading", name="Table of objects" if pane == "Table" else pane, exact=True).wait_for()
        bench.page.evaluate("document.querySelectorAll('details').forEach(part => (part.open = true))")
        bench.page.wait_for_timeout(300)
        assert bench.page.evaluate("document.documentElement.scrollWidth") <= width
        assert bench.violations() == [], pane


def test_pictures_of_the_map_can_be_taken_away(open_page):
    bench = open_page()
    bench.button("Take away").click()
    files = {}
    for kind in ("SVG", "PNG"):
        with bench.page.expect_download() as found:
            bench.button(f"Picture ({kind})").click()
        files[kind] = Path(found.value.path()).read_bytes()
    assert files["PNG"].startswith(b"\x89PNG")
    text = files["SVG"].decode()
    assert all(f">{name}</text>" in text for name in MEN)
