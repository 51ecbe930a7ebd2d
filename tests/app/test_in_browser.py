"""What may go wrong in the browser: workers that die, reloads, other tabs, strangers, hostile names, narrow windows."""

import io
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from unmask.datasets import load_kinship, make_drawn_faces
from unmask.discovery import Discovery

# A browser is slow to start: of what needs one, the quick tests have the story of kinship.
pytestmark = pytest.mark.slow

ENDLESS = {"n_init": 20_000}
HOSTILE = [
    '<img src=x onerror="window.hacked=1">',
    "\u202egnp.exe \u0645\u0631\u062d\u0628\u0627",
    "W" * 5000,
    "javascript:window.hacked=1",
    "${window.hacked=1}",
    "</text><script>window.hacked=1</script>",
]


def kinship():
    return Discovery(load_kinship().dissimilarities, table=load_kinship().known, title="Kinship")


@pytest.fixture(scope="module")
def fitted():
    """A study with a map, to be branched by each test."""
    study = kinship()
    study.fit(2, n_init=4)
    return study


@pytest.fixture
def bench(open_study, fitted):
    bench = open_study(fitted.branch("Kinship"))
    bench.says("Map 1")
    return bench


def begin_endless_fit(bench):
    bench.session.handle({"id": 1, "do": "fit", "revision": bench.session.revision, "params": ENDLESS})
    bench.page.locator(".job", has_text="stress").wait_for()  # it has begun


def test_what_is_forbidden_is_noticed(bench, windows):
    """The fixture that watches all other tests can fail."""
    bench.page.evaluate("fetch('http://127.0.0.1:9/').catch(() => {})")
    bench.page.evaluate("console.error('broken')")
    bench.until(lambda: len(windows.said) > 1)
    assert any("Content Security Policy" in said for said in windows.said)
    assert "broken" in windows.said
    windows.said.clear()


# ---- workers, reloads, tabs


def test_a_fit_that_is_stopped_keeps_its_map(bench):
    begin_endless_fit(bench)
    bench.button("Stop").click()
    bench.says("Map 2")
    assert not bench.study.step.finished


def test_a_worker_that_is_killed_is_replaced(bench):
    begin_endless_fit(bench)
    before = bench.session.jobs.process_id
    os.kill(before, getattr(signal, "SIGKILL", signal.SIGTERM))
    bench.page.wait_for_selector(".notice >> text=the worker ended unexpectedly")
    bench.button("Fit a map").click()
    bench.says("Map 2")
    assert bench.session.jobs.process_id != before


def test_a_page_that_is_reloaded_finds_its_fit_and_its_view(bench):
    bench.tool("Select")
    bench.drag((0.01, 0.01), (0.99, 0.5))
    bench.says("7 selected")
    bench.until(lambda: len(bench.session.views.get("1", {}).get("selection", ())) == 7)  # once the view has settled
    begin_endless_fit(bench)
    bench.page.reload()
    bench.says("7 selected")
    bench.button("Stop").click()
    bench.says("Map 2")


def test_two_tabs_show_the_same_and_what_is_stale_is_refused(bench, windows):
    other = type(bench)(windows.open(bench.running.origin, beside=bench.page), bench.running)
    other.page.goto(bench.running.origin)  # the cookie is there already
    other.says("Map 1")
    bench.page.get_by_label("Title of the study").fill("Kin")
    bench.press("Enter")
    other.page.wait_for_function("() => document.querySelector('.title').value === 'Kin'")
    bench.session.revision += 1  # a change that has not yet come to the pages
    other.button("Undo").click()
    other.page.wait_for_selector("text=The study had changed in the meantime. This page has caught up")
    assert bench.study.steps, "nothing was undone"
    other.button("Undo").click()
    bench.says("no map yet")
    other.says("no map yet")


# ---- strangers


@pytest.mark.parametrize("fragment", ["", "#token=wrong"])
def test_a_page_without_the_token_says_how_to_come_in(windows, running, fragment):
    windows.expect("403")
    page = windows.open(running.origin)
    page.goto(f"{running.origin}/{fragment}")
    page.wait_for_selector("text=Open the whole address that the terminal shows")
    assert page.evaluate("document.cookie") == ""


def test_another_name_for_this_machine_is_refused(windows, running):
    windows.expect("400 (Bad Request)")
    page = windows.open("http://evil.localhost")
    answer = page.goto(f"http://evil.localhost:{running.port}/")
    assert answer.status == 400
    assert running.origin in page.text_content("body")


FOREIGN = """async (origin) => {
  const socket = await new Promise((done) => {
    const tried = new WebSocket(origin.replace("http", "ws") + "/socket");
    tried.onopen = () => done("open");
    tried.onerror = () => done("refused");
  });
  const body = new FormData();
  body.append("file", new Blob(["a,b"]), "a.csv");
  await fetch(origin + "/upload", { method: "POST", body, credentials: "include", mode: "no-cors" }).catch(() => {});
  const read = await fetch(origin + "/", { credentials: "include" }).then(() => "read", () => "unreadable");
  return [socket, read];
}"""


def test_another_site_of_this_machine_is_refused_though_the_browser_has_the_cookie(bench, windows):
    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = windows.open("http://127.0.0.1", beside=bench.page)
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        heard = len(bench.running.asked)
        assert page.evaluate(FOREIGN, bench.running.origin) == ["refused", "unreadable"]
        assert len(bench.running.asked) == heard
        assert not bench.session.files._kept
    finally:
        server.shutdown()
        server.server_close()
    windows.said.clear()  # the browser says that all of it was refused


# ---- hostile names and files


def hostile_study():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(len(HOSTILE), 2))
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    table = pd.DataFrame({HOSTILE[0]: HOSTILE, HOSTILE[1]: rng.normal(size=len(HOSTILE))}, index=HOSTILE)
    study = Discovery(pd.DataFrame(far, HOSTILE, HOSTILE), table=table, title=HOSTILE[0])
    study.fit(2, n_init=2)
    study.adopt(HOSTILE[0], values=pd.Series(HOSTILE, HOSTILE), why=HOSTILE[1])
    study.forget(HOSTILE[0])
    return study


@pytest.mark.parametrize("width", [1300, 390])
def test_hostile_labels_are_text(open_study, width):
    bench = open_study(hostile_study(), viewport={"width": width, "height": 844})
    bench.says("Map 1")
    bench.button("Table").click()
    table = bench.page.get_by_role("table", name="Objects of the map")
    for label in (HOSTILE[0], HOSTILE[-1], "W" * 119 + "…"):
        table.get_by_role("checkbox", name=label, exact=True).wait_for()
    table.get_by_role("checkbox").nth(1).check()
    bench.select("Colour", HOSTILE[0])
    for pane in ("Read", "Table", "History", "Take away", "Recognise"):
        bench.button(pane).click()
        assert bench.too_wide <= 0, pane
    bench.page.get_by_role("searchbox").fill("gnp")
    bench.press("Enter")
    bench.says("At \u2068\u202egnp.exe")  # isolated: what follows is not turned around
    assert bench.page.evaluate("window.hacked") is None
    assert bench.page.locator("img, script:not([src])").count() == 0


def test_hostile_files_are_refused_or_shown_as_text(open_study, windows):
    from PIL import Image

    faces = make_drawn_faces(6, random_state=0)
    bomb = io.BytesIO()
    Image.new("1", (9000, 9000)).save(bomb, "PNG")
    bench = open_study()
    bench.drop(
        {
            f"{HOSTILE[0]}.csv".replace("/", "_"): faces.dissimilarities.to_csv().encode(),
            "evil.svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.hacked=1'/>",
        },
        ".start",
    )
    bench.page.wait_for_selector("text=evil.svg is no kind of file that is read here")
    bench.page.wait_for_selector("h3 >> text=<img src=x")
    assert ["400 (Bad Request)" in said for said in windows.said] == [True]
    windows.said.clear()  # the browser says that an upload was refused
    for name, content in {"face 1.png": b"<svg onload='window.hacked=1'/>", "face 2.png": bomb.getvalue()}.items():
        bench.drop({name: content}, ".start")
        bench.page.get_by_text(f"{name}: a picture").wait_for()
        bench.button("Make the first map").click()
        bench.page.locator(".notice", has_text=name).wait_for()
        bench.button("Other files").click()
        bench.drop({"faces.csv": faces.dissimilarities.to_csv().encode()}, ".start")
        bench.page.locator("h3", has_text="faces.csv").wait_for()
    bench.button("Make the first map").click()
    bench.says("Map 1")
    assert bench.page.evaluate("window.hacked") is None


def test_a_study_that_was_taken_away_is_dropped_again(bench, open_study, tmp_path):
    bench.button("Take away").click()
    with bench.page.expect_download() as taken:
        bench.button("Study (zip)").click()
    again = open_study()
    again.drop({"broken.zip": b"PK"}, ".start")
    again.page.locator(".notice").wait_for()
    again.drop({"kinship.zip": taken.value.path().read_bytes()}, ".start")
    again.says("Map 1")
    pd.testing.assert_frame_equal(again.study.embedding, bench.study.embedding)


def test_the_page_asks_before_a_study_that_is_saved_nowhere_is_lost(bench):
    bench.study.adopt("side", values=[1.0, 2.0] * 7)
    bench.session.changed()
    bench.button("Take away").click()
    bench.button("Begin another study …").click()
    bench.button("kinship", exact=False).click()
    bench.page.get_by_text("is not saved. If another study begins, it is lost.").wait_for()
    with bench.page.expect_download():
        bench.button("Take it away as a file").click()
    bench.page.get_by_text("was taken away as a file").wait_for()
    bench.button("Go back to it").click()
    bench.says("Map 1")
    assert bench.asked("begin") == []


# ---- for everyone


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_no_serious_violation_and_nothing_too_wide(open_study, few_starts, width, scheme):
    bench = open_study(viewport={"width": width, "height": 844}, color_scheme=scheme)
    bench.page.wait_for_selector(".datasets button")
    bench.load_axe()
    assert bench.violations() == []
    bench.shot(f"start-{width}")
    bench.button("faces", exact=False).click()
    bench.page.wait_for_function("() => document.querySelectorAll('.map image').length === 20")
    bench.tool("Lasso")
    bench.drag((0.01, 0.01), (0.99, 0.01), (0.99, 0.5), (0.01, 0.5))
    bench.page.wait_for_selector("text=From your lasso.")
    for pane in ("Recognise", "Read", "History", "Take away"):
        bench.button(pane).click()
        bench.page.get_by_role("heading", name=pane, exact=True).wait_for()
        assert bench.too_wide <= 0, pane
        assert bench.violations() == [], pane
    bench.button("Recognise").click()
    bench.shot(f"bench-{width}", full_page=True)


def test_levels_have_signs_of_their_own_and_where_they_have_not_the_legend_says_so(open_study):
    n = 70
    levels = {"name": [f"object {i}" for i in range(n)], "twenty": [f"level {i % 20:02}" for i in range(n)]}
    places = np.random.default_rng(0).normal(size=(n, 2))
    study = Discovery(places, table=pd.DataFrame(levels), metric="euclidean", title="Many levels")
    study.fit(2, n_init=1)
    bench = open_study(study)
    signs = bench.page.locator(".legend li path")
    bench.select("Colour", "twenty")
    signs.nth(19).wait_for()
    drawn = {(sign.get_attribute("d"), sign.get_attribute("fill")) for sign in signs.all()}
    assert len(drawn) == 20
    assert "come again" not in bench.page.locator(".legend").inner_text()
    bench.select("Colour", "name")
    signs.nth(69).wait_for()
    assert len({(sign.get_attribute("d"), sign.get_attribute("fill")) for sign in signs.all()}) == 64
    bench.page.wait_for_selector("text=There are 64 signs: from level 65 on they come again.")
    bench.select("Shape", "twenty")
    bench.page.wait_for_selector("text=There are 8 colours: from level 9 on they come again.")
    bench.page.wait_for_selector("text=There are 8 shapes: from level 9 on they come again.")


def test_pictures_of_the_map_say_what_its_colours_and_shapes_mean(open_study):
    kin = load_kinship()
    table = kin.known.assign(gender=np.where(kin.known["gender"] == 1, "male", "female <b>"))
    study = Discovery(kin.dissimilarities, table=table, title="Kinship")
    study.fit(2, n_init=1)
    bench = open_study(study)

    def taken(kind):
        with bench.page.expect_download() as file:
            bench.button(f"Picture ({kind})").click()
        return file.value.path().read_bytes()

    bench.button("Take away").click()
    bare = Image.open(io.BytesIO(taken("PNG")))
    bench.select("Colour", "degree")
    bench.select("Shape", "gender")
    bench.page.locator(".legend li path").nth(1).wait_for()
    drawn = ElementTree.fromstring(taken("SVG"))
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {*kin.dissimilarities.index, "degree", "1", "3", "gender", "male", "female <b>"} <= set(texts)
    image = Image.open(io.BytesIO(taken("PNG")))
    assert image.width == 2 * float(drawn.get("width")) > bare.width
    assert image.height == bare.height
    beside = np.asarray(image.convert("L"))[:, bare.width :]
    assert (beside < 128).any()
