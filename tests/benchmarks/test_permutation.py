"""The simulation behind docs/reading.md is that of permutation_test, and the page shows the numbers that were found."""

import json

import numpy as np
import pytest
from benchmarks.adjusted.page import renew

from benchmarks import permutation
from unmask import ConditionalMDS
from unmask.kernels import OneBlasThread, Workers
from unmask.problem import check_known


@pytest.fixture(scope="module")
def found():
    return json.loads(permutation.RESULTS.read_text(encoding="utf-8"))


def test_page_shows_the_numbers_that_were_found(found):
    text = permutation.PAGE.read_text(encoding="utf-8")
    assert renew(text, permutation.tables(found), "make permutation") == text


def test_levels_hold(found):
    for name in permutation.ADJUST:
        levels = [cell["level"][name] for cell in found["cells"]]
        assert len(levels) == 24
        assert np.mean(levels) <= 0.055
        assert max(permutation.lower_limit(level, found["sets"]) for level in levels) <= 0.05


@pytest.mark.parametrize("way", permutation.WAYS)
@pytest.mark.filterwarnings("ignore::unmask.AdjustmentWarning", "ignore::unmask.LeakWarning")
def test_statistics_are_those_of_fits(way):
    D, known = permutation.numbered_set(16, 0.3, way, 0)
    with OneBlasThread(), Workers(1) as workers:
        found = permutation.Maps(D, workers).statistics(check_known(known, 16, None, "auto"))
    for name, adjust in permutation.ADJUST.items():
        options = {"metric": "precomputed", "init": "closed-form", "tol": permutation.TOL, "random_state": 0}
        fitted = ConditionalMDS(permutation.DIMENSIONS, adjust=adjust, **options).fit(D, known=known)
        expected = fitted.importance_["standardized"] if adjust else [-fitted.stress_] * 2
        np.testing.assert_allclose(found[name], expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("way", permutation.WAYS)
def test_decisions_are_those_of_the_function(way):
    assert permutation.compare(16, 0.8, way) >= 5  # of six: the function follows more starts


def test_known_features_are_as_correlated_as_the_cell_says(rng):
    for rho in permutation.CORRELATIONS:
        _, known = permutation.make_set(1000, rho, "along", rng)
        assert np.corrcoef(known.T)[0, 1] == pytest.approx(rho, abs=0.15)  # five standard errors
