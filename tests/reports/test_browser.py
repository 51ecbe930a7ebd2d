"""The page in a real browser: nothing is said, nothing leaves, nothing is too wide, and everything can be read."""

import pytest

from unmask.reports import write_report

from .photograph import visit
from .studies import NASTY, kinship_study, nasty_study

# A browser is slow to start: of what needs one, the quick tests have the story of kinship.
pytestmark = pytest.mark.slow

WIDTHS = (1280, 390)
STUDIES = {"kinship": kinship_study, "nasty": nasty_study}


@pytest.fixture(scope="module")
def pages(tmp_path_factory, chromium):
    folder = tmp_path_factory.mktemp("pages")
    options = {"scree": False, "bootstrap": 2, "compare": ["partial-dbrda"]}
    return {name: write_report(make(), folder / f"{name}.html", **options) for name, make in STUDIES.items()}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", STUDIES)
def test_nothing_happens_but_a_page(chromium, pages, name, width):
    with visit(chromium, pages[name], width) as found:
        found.page.wait_for_load_state("load")
        # Past everything that a label could have brought to life.
        found.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        found.page.wait_for_timeout(100)
        assert found.said == []
        assert found.left == []
        assert found.dialogs == []
        assert any(url.startswith("file:") for url in found.requests)


def test_what_should_not_happen_would_be_noticed(chromium, pages, tmp_path):
    whole = pages["kinship"].read_text(encoding="utf-8")
    body = '<script>alert(1)</script><img src="http://elsewhere.invalid/x.png" alt="x">'
    without = tmp_path / "without.html"
    without.write_text(whole.replace("Content-Security-Policy", "X").replace("<main", f"{body}<main"), encoding="utf-8")
    with visit(chromium, without, 1280) as found:
        found.page.wait_for_timeout(100)
        assert found.dialogs == ["1"]
        assert found.left == ["http://elsewhere.invalid/x.png"]


def test_the_policy_stops_what_escaping_might_miss(chromium, pages, tmp_path):
    whole = pages["kinship"].read_text(encoding="utf-8")
    body = '<script>alert(1)</script><img src="http://elsewhere.invalid/x.png" onerror="alert(2)" alt="x">'
    broken = tmp_path / "broken.html"
    broken.write_text(whole.replace("<main", f"{body}<main"), encoding="utf-8")
    with visit(chromium, broken, 1280) as found:
        found.page.wait_for_timeout(100)
        assert found.dialogs == []
        assert found.failed == {"http://elsewhere.invalid/x.png": "csp"}  # stopped before it was sent
        assert any("Content Security Policy" in message for message in found.said)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [*WIDTHS, 320, 800])
@pytest.mark.parametrize("name", STUDIES)
def test_nothing_is_wider_than_the_window(chromium, pages, name, width, scheme):
    with visit(chromium, pages[name], width, scheme=scheme) as found:
        assert found.page.evaluate("innerWidth") == width
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        wide = found.page.evaluate(
            """() => [...document.querySelectorAll('body *')]
                .filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 0.5)
                .map(e => e.outerHTML.slice(0, 80))"""
        )
        assert wide == []
        boxes = "[...document.querySelectorAll('.scroll')].map(e => getComputedStyle(e).overflowX)"
        assert set(found.page.evaluate(boxes)) == {"auto"}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", STUDIES)
def test_all_can_be_read(chromium, pages, name, width):
    with visit(chromium, pages[name], width) as found:
        sizes = found.page.evaluate(
            """() => [...document.querySelectorAll('body *')]
                .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
                .map(e => parseFloat(getComputedStyle(e).fontSize))"""
        )
        assert min(sizes) >= 12.5
        scales = found.page.evaluate(
            "[...document.images].map(i => i.naturalWidth ? i.getBoundingClientRect().width / i.naturalWidth : 0)"
        )
        # 0 is a picture that the browser could not read; letters of 9 points are 12 pixels at scale 1.
        assert min(scales) >= 0.75
        assert max(scales) <= 1.001


def test_narrow_screens_get_a_picture_of_their_own(chromium, pages):
    shown = {}
    for width in WIDTHS:
        with visit(chromium, pages["kinship"], width) as found:
            shown[width] = found.page.evaluate("document.querySelector('#pair img').currentSrc")
    assert shown[1280] != shown[390]


def test_the_page_needs_no_script(chromium, pages):
    with visit(chromium, pages["nasty"], 390, scripts=False) as found:
        assert NASTY[0] in found.page.locator("main").text_content()  # folded parts among it
        assert found.page.locator("summary").first.is_visible()
        assert found.said == []


def test_the_keyboard_reaches_everything_that_scrolls_or_links(chromium, pages):
    with visit(chromium, pages["kinship"], 390) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        wanted = found.page.locator("a, summary, [tabindex='0']").count()
        reached = []
        for _ in range(wanted):
            found.page.keyboard.press("Tab")
            focus = "document.activeElement"
            seen = f"[{focus}.outerHTML.slice(0, 120), getComputedStyle({focus}).outlineStyle]"
            reached.append(found.page.evaluate(seen))
        assert len({html for html, _ in reached}) == wanted
        assert {outline for _, outline in reached} == {"solid"}
        assert reached[0][0].startswith('<a href="#content"')


def test_a_table_scrolls_in_its_own_box(chromium, pages):
    with visit(chromium, pages["kinship"], 390) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        box = found.page.locator(".scroll:has(#fits-caption)")
        wider = box.evaluate("e => e.scrollWidth - e.clientWidth")
        assert wider > 0
        box.focus()
        found.page.keyboard.press("ArrowRight")
        # The policy forbids what the driver waits with; scrolling is smooth, so that it takes a while.
        for _ in range(50):
            found.page.wait_for_timeout(100)
            if box.evaluate("e => e.scrollLeft"):
                break
        assert box.evaluate("e => e.scrollLeft") > 0
        assert found.page.evaluate("scrollX") == 0


def test_dark_and_light_differ_and_paper_is_white(chromium, pages):
    ground = "getComputedStyle(document.body).backgroundColor"
    with (
        visit(chromium, pages["kinship"], 1280) as light,
        visit(chromium, pages["kinship"], 1280, scheme="dark") as dark,
    ):
        assert light.page.evaluate(ground) == "rgb(255, 255, 255)"
        assert dark.page.evaluate(ground) == "rgb(20, 24, 31)"
        dark.page.emulate_media(media="print")
        assert dark.page.evaluate(ground) == "rgb(255, 255, 255)"
        assert dark.page.locator("nav").is_visible() is False


def test_the_page_of_kinship_is_short_and_begins_with_one_screen_of_findings(chromium, study, tmp_path):
    path = write_report(study, tmp_path / "whole.html", bootstrap=4)
    with visit(chromium, path, 1400) as found:
        assert found.page.evaluate("document.documentElement.scrollHeight") <= 6000
        findings = "document.querySelector('#findings').getBoundingClientRect()"
        assert found.page.evaluate(f"{findings}.bottom") <= 900
