"""Wasserstein distances: agreement with scipy, closed forms, errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from unmask.dissimilarities import Metric


def samples(rng, n=20):
    return [rng.normal(rng.normal(), size=size) for size in rng.integers(1, 30, n)]


def test_samples_agree_with_scipy(rng):
    X, new = samples(rng), samples(rng, 4)
    fitted = Metric("wasserstein").fit(X)
    expected = [[wasserstein_distance(x, y) for y in X] for x in X]
    np.testing.assert_allclose(fitted.dissimilarities_, expected, rtol=1e-12, atol=1e-14)
    expected = [[wasserstein_distance(x, y) for y in X] for x in new]
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("order", [1, 2, 3.5])
def test_samples_of_equal_size_are_matched_in_order(rng, order):
    X = rng.standard_normal((15, 8))
    ordered = np.sort(X, axis=1)
    expected = (np.abs(ordered[:, None] - ordered[None]) ** order).mean(axis=2) ** (1 / order)
    found = Metric("wasserstein", metric_params={"order": order}).fit_transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_a_shift_costs_itself_at_any_order(rng):
    sample = rng.standard_normal(11)
    for order in (1, 2, 4):
        D = Metric("wasserstein", metric_params={"order": order}).fit_transform([sample, np.repeat(sample, 3) + 2.5])
        np.testing.assert_allclose(D[0, 1], 2.5, rtol=1e-12, atol=0)


@pytest.mark.parametrize("order", [1, 2])
def test_no_transport_is_cheaper(rng, order):
    # The definition itself, as a linear programme over all ways to carry.
    x, y, a, b = rng.standard_normal(4), rng.standard_normal(5), rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(5))
    cost = np.abs(x[:, None] - y[None]) ** order
    margins = np.vstack([np.kron(np.eye(4), np.ones(5)), np.kron(np.ones(4), np.eye(5))])
    best = linprog(cost.ravel(), A_eq=margins, b_eq=np.concatenate([a, b])).fun ** (1 / order)
    positions = np.concatenate([x, y])  # not sorted
    weights = np.array([np.concatenate([a, np.zeros(5)]), np.concatenate([np.zeros(4), b])])
    params = {"positions": positions, "order": order}
    found = Metric("wasserstein_histogram", metric_params=params).fit_transform(weights)[0, 1]
    np.testing.assert_allclose(found, best, rtol=1e-7, atol=0)


@pytest.mark.parametrize("positions", [None, [0.0, 1.0, 5.0, 2.5, 2.5, -3.0]])
def test_histograms_agree_with_scipy(rng, positions):
    X = rng.poisson(2.0, (25, 6)) + np.eye(25, 6)
    X[6:, 2] += 1
    places = np.arange(6) if positions is None else positions
    fitted = Metric("wasserstein_histogram", metric_params={"positions": positions}).fit(X)
    expected = [[wasserstein_distance(places, places, x, y) for y in X] for x in X]
    np.testing.assert_allclose(fitted.dissimilarities_, expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(fitted.transform(7 * X[:3]), expected[:3], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("order", [1, 2])
def test_histograms_are_samples_counted(rng, order):
    counts = rng.integers(0, 4, (10, 5)) + np.eye(10, 5, dtype=int)
    counts[5:, 0] += 1
    values = [np.repeat(np.arange(5.0), row) for row in counts]
    params = {"order": order}
    histograms = Metric("wasserstein_histogram", metric_params=params).fit_transform(counts)
    found = Metric("wasserstein", metric_params=params).fit_transform(values)
    np.testing.assert_allclose(histograms, found, rtol=1e-7, atol=1e-8)


def test_a_table_pads_short_samples_with_nan(rng):
    X = samples(rng)
    table = pd.DataFrame([pd.Series(x) for x in X], index=[f"s{i}" for i in range(20)])
    fitted = Metric("wasserstein").fit(table)
    expected = Metric("wasserstein").fit_transform(X)
    np.testing.assert_array_equal(fitted.dissimilarities_, expected)
    series = Metric("wasserstein").fit(pd.Series(X, index=table.index))
    np.testing.assert_array_equal(series.dissimilarities_, expected)
    assert list(series.get_feature_names_out()) == list(fitted.get_feature_names_out()) == list(table.index)
    assert hasattr(fitted, "n_features_in_")
    assert not hasattr(fitted.fit(X), "n_features_in_")


def test_a_single_place():
    assert not Metric("wasserstein_histogram").fit_transform([[1.0], [2.0]]).any()


def test_samples_in_a_series_of_polars():
    samples = [[1.0, 2.0], [3.0], [0.0, 4.0, 8.0]]
    found = Metric("wasserstein").fit_transform(pl.Series(samples))
    np.testing.assert_array_equal(found, Metric("wasserstein").fit_transform(samples))
