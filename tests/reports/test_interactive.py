"""A report whose maps can be explored: one script, allowed by its hash; where it does not run, still pictures."""

import html
import re

import pytest

from unmask.plotting import hash_source
from unmask.reports import write_report

from .photograph import browser, visit
from .studies import NASTY, QUICK, kinship_study, nasty_study

# A browser is slow to start: of what needs one, the quick tests have the story of kinship.
pytestmark = pytest.mark.slow

SCRIPTS = re.compile(r"<script>(.*?)</script>", re.DOTALL)
HELD = re.compile(r'<script type="application/json">')


@pytest.fixture(scope="module")
def started():
    with browser() as program:
        yield program


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interactive")
    made = {"kinship": kinship_study(), "nasty": nasty_study()}
    return {name: write_report(s, folder / f"{name}.html", **QUICK, interactive=True) for name, s in made.items()}


def test_the_policy_allows_exactly_that_script(pages):
    for path in pages.values():
        page = path.read_text(encoding="utf-8")
        (script,) = SCRIPTS.findall(page)
        policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
        assert re.findall(r"script-src ([^;]*)", policy) == [hash_source(script)]
        assert "default-src 'none'" in policy


def test_every_map_of_a_step_the_last_on_top_and_that_of_the_stress_can_be_explored(pages):
    page = pages["kinship"].read_text(encoding="utf-8")
    assert len(HELD.findall(page)) == 1 + 3 + 1
    held = re.findall(r'<div class="unmask-map">.*?</div>', page, re.DOTALL)
    assert all('class="picture"><img' in one for one in held)


@pytest.mark.parametrize("width", [1280, 390])
def test_maps_come_to_life_and_nothing_else(started, pages, width):
    with visit(started, pages["nasty"], width, scheme="dark") as found:
        page = found.page
        assert page.locator(".unmask-map").count() == page.locator(".live").count() > 0
        assert page.locator(".live .picture:visible").count() == 0
        page.get_by_role("application").first.focus()
        page.keyboard.press("ArrowLeft")
        named = page.locator(".live").first.locator("strong").text_content()
        assert any(named[:20] == " ".join(label.split())[:20] for label in NASTY if label.isprintable())
        page.keyboard.press("/")
        page.keyboard.type("漢字")
        page.wait_for_function("() => document.querySelector('[role=status]').textContent.startsWith('1 object found')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.emulate_media(media="print")
        assert page.locator(".live .picture:visible").count() == page.locator(".live").count()
        assert (found.said, found.left, found.dialogs) == ([], [], [])


def test_without_scripts_the_still_pictures_remain(started, pages):
    with visit(started, pages["kinship"], 1280, scripts=False) as found:
        assert found.page.locator(".unmask-map .picture:visible").count() == 5
        assert found.page.locator(".live").count() == 0


def test_no_other_script_runs(started, pages, tmp_path):
    broken = tmp_path / "broken.html"
    whole = pages["kinship"].read_text(encoding="utf-8")
    broken.write_text(whole.replace("<main", "<script>alert(1)</script><main"), encoding="utf-8")
    with visit(started, broken, 1280) as found:
        found.page.locator(".live").first.wait_for()
        assert found.dialogs == []
        assert any("Content Security Policy" in message for message in found.said)
