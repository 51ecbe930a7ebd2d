"""Dynamic time warping: a plain twin, series of any length, without the package or its compiled part."""

import sys

import numpy as np
import pandas as pd
import pytest
from dtaidistance import dtw

from unmask.dissimilarities import Metric


def twin(x, y, window=None, penalty=0.0):
    """Fill the whole table of costs."""
    band = max(len(x), len(y)) if window is None else window
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0
    for i in range(len(x)):
        for j in range(len(y)):
            beyond = i - j - max(0, len(x) - len(y)), j - i - max(0, len(y) - len(x))
            if max(beyond) < band:
                shift = min(cost[i, j + 1], cost[i + 1, j]) + penalty**2
                cost[i + 1, j + 1] = (x[i] - y[j]) ** 2 + min(cost[i, j], shift)
    return np.sqrt(cost[-1, -1])


def series(rng, n=12):
    return [rng.standard_normal(length).cumsum() for length in rng.integers(2, 15, n)]


@pytest.mark.parametrize("params", [{}, {"window": 1}, {"window": 3}, {"penalty": 0.5}, {"window": 2, "penalty": 0.1}])
def test_agrees_with_a_plain_twin(rng, params):
    X, new = series(rng), series(rng, 3)
    fitted = Metric("dtw", metric_params=params).fit(X)
    expected = [[twin(x, y, **params) for y in X] for x in X]
    np.testing.assert_allclose(fitted.dissimilarities_, expected, rtol=1e-12, atol=1e-14)
    expected = [[twin(x, y, **params) for y in X] for x in new]
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=1e-12, atol=1e-14)


def test_one_by_one_is_the_euclidean_distance(rng):
    X = rng.standard_normal((10, 6))
    D = Metric("dtw", metric_params={"window": 1}).fit_transform(X)
    np.testing.assert_allclose(D, Metric().fit_transform(X), rtol=1e-12, atol=1e-14)


def test_a_pause_costs_nothing():
    D = Metric("dtw").fit_transform([[0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 1.0, 2.0], [0.0, 1.0, 2.5]])
    np.testing.assert_allclose(D, [[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]], rtol=1e-14, atol=0)


def test_a_table_pads_short_series_with_nan(rng):
    X = series(rng)
    table = pd.DataFrame([pd.Series(x) for x in X])
    np.testing.assert_array_equal(Metric("dtw").fit_transform(table), Metric("dtw").fit_transform(X))


def test_python_part_warns_and_gives_the_same(rng, monkeypatch):
    X = series(rng)
    compiled = Metric("dtw").fit_transform(X)
    monkeypatch.setattr(dtw, "dtw_cc", None)
    with pytest.warns(RuntimeWarning, match="dtaidistance lacks its compiled part"):
        plain = Metric("dtw").fit_transform(X)
    np.testing.assert_allclose(plain, compiled, rtol=1e-12, atol=1e-14)


def test_without_the_package(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "dtaidistance.dtw", None)
    with pytest.raises(ImportError, match=r"'dtw' needs the package 'dtaidistance'.*pip install 'unmask\[series\]'"):
        Metric("dtw").fit(series(rng))
