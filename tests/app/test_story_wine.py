"""178 wines, dropped as a table: cultivars, a map that repeats them until it is cured, and what sets wines apart."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from unmask.discovery import Discovery

from .conftest import FEW

# A browser is slow to start: of what needs one, the quick tests have the story of kinship.
pytestmark = pytest.mark.slow

# Around three groups of the first map, in its coordinates.
LOWER_LEFT = [(-5.4, -7), (-5.4, 0.7), (-0.1, 0.7), (-0.1, -7)]
LOWER_RIGHT = [(1.3, -6), (1.3, -1.8), (2, 0.4), (3.1, 1.6), (6, 1.6), (6, -6)]
BETWEEN = [(-0.05, -7), (1.25, -7), (1.25, -1.75), (1.95, 0.45), (3.05, 1.65), (5.5, 1.65)]
UPPER = [(-0.05, 0.75), *BETWEEN, (5.5, 7), (-7, 7), (-7, 0), (-5.45, 0), (-5.45, 0.75)]


def test_wine(open_study, few_starts):
    wine, cultivar = load_wine(return_X_y=True, as_frame=True)
    beside = Discovery(wine, table=wine, metric="seuclidean")
    bench = open_study()
    bench.drop({"wine.csv": wine.to_csv(index=False).encode()}, ".start")
    bench.page.wait_for_selector("text=178 objects, 13 columns")
    assert bench.page.get_by_label("Compare by").input_value() == "seuclidean"
    bench.shot("wine-1")
    bench.button("Make the first map").click()
    bench.says("Map 1")
    assert bench.study.step.stress == pytest.approx(beside.fit(2, **FEW).stress, rel=1e-9)

    bench.tool("Groups")
    for group, area in enumerate((LOWER_LEFT, LOWER_RIGHT, UPPER), 1):
        bench.draw(bench.on_screen([*area, area[0]]))
        bench.page.wait_for_selector(f"text=/Group {group} \\(/")
    bench.shot("wine-2")
    bench.page.get_by_text("How it is fitted").click()
    bench.page.get_by_label("Adjusted").select_option("no")
    bench.name_it("cultivar", "three groups on the map")
    bench.says("Map 2, given cultivar")
    groups = bench.study.known["cultivar"]
    assert sorted(groups.unique()) == ["group 1", "group 2", "group 3"]
    assert adjusted_rand_score(cultivar, groups) > 0.85
    beside.adopt("cultivar", **bench.drawn())
    plain = beside.fit(2, adjust=False, **FEW)
    assert bench.study.step.stress == pytest.approx(plain.stress, rel=1e-9)

    # The leak is said in words, beside what chance would make, and cured by one click.
    words = bench.page.locator(".repeats").text_content()
    assert "still tell something about cultivar" in words
    assert f"leak {plain.leak:.2g}" in words
    assert plain.leak > plain.leak_reference
    bench.shot("wine-3")
    bench.button("Adjust the map").click()
    bench.says("Map 3, given cultivar, adjusted")
    adjusted = beside.fit(2, adjust=True, **FEW)
    assert bench.study.step.stress == pytest.approx(adjusted.stress, rel=1e-9)
    assert bench.study.step.leak < bench.study.step.leak_reference
    assert bench.page.locator(".repeats").text_content().startswith("Adjusted: what cultivar would predict was taken")

    # All columns are ranked, as the library ranks them; one of them is adopted.
    bench.tool("Select")
    bench.drag((0.02, 0.02), (0.45, 0.98))
    bench.button("What sets these apart?").click()
    bench.page.wait_for_selector("text=/What sets .* apart/")
    bench.page.locator(".reading .suggestion").first.wait_for()
    (asked,) = bench.asked("contrast")
    ranked = beside.contrast([beside.material.objects[at] for at in asked["group"]])
    shown = bench.page.locator(".reading .suggestion .name").all()
    assert len(shown) == 14
    assert [cell.text_content() for cell in shown] == list(ranked["column"])
    best = next(name for name in ranked["column"] if name in wine)
    bench.shot("wine-4")
    bench.button(f"Adopt {best}").click()
    bench.page.wait_for_selector(f"text=From column {best}.")
    np.testing.assert_allclose(float(bench.page.get_by_label("Value of 0", exact=True).input_value()), wine[best][0])
    bench.page.get_by_label("Adjusted").select_option("auto")
    bench.button("Condition on it").click()
    bench.says(f"given cultivar, {best}, adjusted")
    beside.adopt(best, column=best)
    assert bench.study.step.stress == pytest.approx(beside.fit(2, adjust="auto", **FEW).stress, rel=1e-9)
