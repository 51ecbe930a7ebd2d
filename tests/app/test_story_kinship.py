"""Fourteen kinship terms in the browser, by mouse and by keys alone: gender, degree, generation."""

import pytest
from scipy.stats import spearmanr

from unmask.datasets import load_kinship
from unmask.discovery import Discovery

WOMEN = ["Aunt", "Daughter", "Granddaughter", "Grandmother", "Mother", "Niece", "Sister"]
GENERATIONS = ["Grandfather", "Father", "Son", "Grandson"]


def kinship():
    return Discovery(load_kinship().dissimilarities, title="Kinship")


@pytest.fixture
def beside():
    """The same study in the library, one step behind the page."""
    study = kinship()
    study.fit(2)
    return study


def assert_same(bench, beside, name):
    """Adopt in the library what was drawn on the page; values and map are the same."""
    beside.adopt(name, **bench.drawn())
    assert bench.study.known[name].equals(beside.known[name])
    assert bench.study.step.stress == pytest.approx(beside.fit(2, adjust="auto").stress, rel=1e-9)


def test_kinship_by_mouse(open_study, beside):
    bench = open_study(kinship())
    bench.says("Map 1")
    bench.tool("Lasso")
    bench.drag((0.01, 0.99), (0.99, 0.99), (0.99, 0.5), (0.01, 0.5))
    bench.says("7 selected")
    bench.shot("kinship-1")
    bench.name_it("gender", "women below, men above")
    bench.says("Map 2, given gender")
    assert_same(bench, beside, "gender")
    assert sorted(bench.drawn()["groups"]["group 1"]) == WOMEN
    assert "Brother / Sister" in bench.labels()
    bench.tool("Arrow")
    bench.draw(bench.at("Father", "Uncle"))
    bench.page.wait_for_selector("text=From your arrow.")
    bench.shot("kinship-2")
    bench.name_it("degree", "from the nearest kin to the most distant")
    bench.says("Map 3, given gender, degree")
    assert_same(bench, beside, "degree")
    bench.tool("Curve")
    for place in bench.at(*GENERATIONS, GENERATIONS[-1]):
        bench.page.mouse.click(*place)
    bench.page.wait_for_selector("text=From your curve.")
    bench.shot("kinship-3")
    bench.name_it("generation", "from grandparents to grandchildren")
    bench.says("Map 4, given gender, degree, generation")
    assert_same(bench, beside, "generation")
    truth = load_kinship().known
    assert abs(spearmanr(bench.study.known["degree"], truth["degree"]).statistic) > 0.8
    assert abs(spearmanr(bench.study.known["generation"], truth["generation"]).statistic) > 0.85
    bench.button("History").click()
    bench.page.wait_for_selector(".tree .small path")
    bench.shot("kinship-4")


def mark(bench, label):
    """Find an object by the search, go back to the map, and mark it there."""
    bench.tab_to("Search")
    bench.press("ControlOrMeta+a")
    bench.page.keyboard.type(label)
    bench.says("found")
    for _ in range(4):
        before = bench.said
        bench.press("Enter")
        bench.page.wait_for_function("text => document.querySelector('#summary').textContent !== text", arg=before)
        if f"At {label}" in bench.said:
            break
    bench.says(f"At {label}")
    bench.tab_to("Map.", back=True)
    bench.press("Enter")


def take(bench, tool):
    bench.tab_to(tool, back=True)
    bench.press("Enter")
    bench.tab_to("Map.")


def name_it(bench, name):
    bench.page.wait_for_selector(".naming:focus")
    bench.page.keyboard.type(name)
    bench.press("Enter")


@pytest.mark.slow
def test_kinship_by_keys_alone(open_study, beside):
    bench = open_study(kinship())
    bench.says("Map 1")
    bench.tab_to("Table")
    bench.press("Enter")
    for name in sorted(WOMEN):
        bench.tab_to(name)
        bench.press("Space")
    bench.says("7 selected")
    bench.tab_to("They belong together", back=True)
    bench.press("Enter")
    name_it(bench, "gender")
    bench.says("Map 2, given gender")
    assert_same(bench, beside, "gender")
    take(bench, "Arrow")
    mark(bench, "Father")
    mark(bench, "Uncle")
    name_it(bench, "degree")
    bench.says("Map 3, given gender, degree")
    assert bench.drawn()["along"] == ["Father", "Uncle"]
    assert_same(bench, beside, "degree")
    take(bench, "Curve")
    for label in GENERATIONS:
        mark(bench, label)
    bench.press("Enter")
    name_it(bench, "generation")
    bench.says("Map 4, given gender, degree, generation")
    assert bench.drawn()["along"] == GENERATIONS
    assert_same(bench, beside, "generation")
