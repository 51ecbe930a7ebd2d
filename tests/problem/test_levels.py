"""Measurement levels: disparities are the nearest admissible transformation of the dissimilarities."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from unmask.checking import Dissimilarities
from unmask.kernels import ArraySource
from unmask.problem import Curve, make_level, ranked

CASES = [("interval", "primary"), ("ordinal", "primary"), ("ordinal", "secondary"), ("spline", "primary")]


def problem(rng, number=24, weighted=False, tied=True):
    delta = rng.uniform(1, 3, number)
    delta = np.round(delta, 1) if tied else delta
    return delta, rng.uniform(0, 3, number), rng.uniform(0.2, 4, number) if weighted else None


def bounded_least_squares(design, free, distances, weights):
    """Return design @ b for the best b, at least 0 unless free: a general solver, nothing of the levels' own."""
    root = np.ones(len(distances)) if weights is None else np.sqrt(weights)
    lower = np.where(free, -np.inf, 0.0)
    b = lsq_linear(root[:, None] * design, root * distances, (lower, np.inf), tol=1e-14, max_iter=1000).x
    return design @ b


@pytest.mark.parametrize("weighted", [False, True])
def test_interval_disparities_are_the_best_line_that_rises_and_stays_above_zero(rng, weighted):
    delta, distances, weights = problem(rng, weighted=weighted)
    for d in (distances, delta + 0.1 * distances, 5 - delta, 3 * delta - 3):
        # a + b delta with b >= 0 and a + b min(delta) >= 0: both are coefficients of this design.
        design = np.column_stack([np.ones_like(delta), delta - delta.min()])
        expected = bounded_least_squares(design, [False, False], d, weights)
        np.testing.assert_allclose(make_level("interval", "primary", delta, weights)(d), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_secondary_ordinal_disparities_are_the_best_steps_over_distinct_dissimilarities(rng, weighted):
    delta, distances, weights = problem(rng, weighted=weighted)
    design = (delta[:, None] >= np.unique(delta)).astype(float)
    expected = bounded_least_squares(design, np.arange(design.shape[1]) == 0, distances, weights)
    found = make_level("ordinal", "secondary", delta, weights)(distances)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_primary_ordinal_disparities_break_ties_by_the_distances(rng, weighted):
    delta, distances, weights = problem(rng, weighted=weighted)
    order = np.lexsort((distances, delta))
    design = np.tri(len(delta))[np.argsort(order)]
    expected = bounded_least_squares(design, np.arange(len(delta)) == 0, distances, weights)
    found = make_level("ordinal", "primary", delta, weights)(distances)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    # Untying can only help.
    tied = make_level("ordinal", "secondary", delta, weights)(distances)
    cost = np.ones(len(delta)) if weights is None else weights
    assert np.sum(cost * (found - distances) ** 2) < np.sum(cost * (tied - distances) ** 2)


@pytest.mark.parametrize(("name", "ties"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_disparities_are_the_projection_onto_a_cone(rng, name, ties, weighted):
    """For the projection P(d): P(d) is orthogonal to d - P(d), P(sd) = s P(d), and it is admissible itself."""
    delta, distances, weights = problem(rng, weighted=weighted)
    cost = np.ones(len(delta)) if weights is None else weights
    level = make_level(name, ties, delta, weights)
    fitted = level(distances)
    assert np.sum(cost * fitted * (distances - fitted)) == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(level(7.5 * distances), 7.5 * fitted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(level(fitted), fitted, rtol=0, atol=1e-7)
    order = np.lexsort((fitted, delta))
    assert np.all(np.diff(fitted[order]) >= -1e-9)
    assert fitted.min() >= 0


@pytest.mark.parametrize("name", ["interval", "spline"])
def test_lines_are_their_own_disparities(rng, name):
    delta, _, _ = problem(rng, tied=False)
    np.testing.assert_allclose(make_level(name, "primary", delta, None)(2 * delta - 1), 2 * delta - 1, atol=1e-7)


KINDS_OF_DELTA = {
    "continuous": lambda rng: rng.uniform(1, 3, 30),
    "from zero": lambda rng: np.r_[0.0, rng.exponential(1, 29)],
    "far from zero": lambda rng: rng.uniform(100, 101, 30),
    "tied": lambda rng: rng.integers(1, 6, 30).astype(float),
    "one far out": lambda rng: np.r_[rng.uniform(0, 1, 29), 50.0],
    "two values": lambda rng: rng.permutation(np.repeat([1.0, 2.0], 15)),
}


def stress_of(delta_hat, distances, cost):
    """Return the stress with disparities of the best size, as a share of the distances' sum of squares."""
    return np.sum(cost * (delta_hat - distances) ** 2) / np.sum(cost * distances**2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS_OF_DELTA)
def test_what_one_level_permits_the_next_permits_too(rng, kind, weighted):
    """Every multiple is a line, every line that is nowhere negative a spline, and every spline keeps the order."""
    for _ in range(20):
        delta = KINDS_OF_DELTA[kind](rng)
        weights = rng.uniform(0.2, 4, len(delta)) if weighted else None
        cost = np.ones(len(delta)) if weights is None else weights
        for distances in (rng.uniform(0, 3, len(delta)), delta * rng.lognormal(0, 0.2, len(delta)), delta):
            multiple = delta * np.sum(cost * delta * distances) / np.sum(cost * delta**2)
            names = (("interval", "primary"), ("spline", "primary"), ("ordinal", "secondary"), ("ordinal", "primary"))
            found = [multiple, *(make_level(*name, delta, weights)(distances) for name in names)]
            stresses = [stress_of(disparities, distances, cost) for disparities in found]
            assert np.all(np.diff(stresses) <= 1e-12), stresses


def test_a_spline_bends_where_a_line_cannot(rng):
    delta = np.sort(rng.uniform(0, 3, 60))
    bent = np.minimum(delta, 1.5) ** 2
    errors = [np.sum((make_level(name, "primary", delta, None)(bent) - bent) ** 2) for name in ("interval", "spline")]
    assert errors[1] < 0.1 * errors[0]


@pytest.mark.parametrize("values", [[1.0, 2.0], [5.0], [1.0, 2.0, 2.5], [0.0, 1.0]])
def test_splines_over_a_few_tied_dissimilarities_still_rise(rng, values):
    """Quantiles of tied values coincide; as knots they would make splines that fall."""
    delta = np.repeat(values, 9)
    fitted = make_level("spline", "primary", delta, None)(rng.uniform(1, 2, len(delta)) + delta)
    assert np.all(np.diff(fitted) >= -1e-12)
    np.testing.assert_allclose(np.ptp(fitted.reshape(-1, 9), axis=1), 0, atol=1e-12)
    assert fitted.min() > 0


# ---- ranks and curves


def test_ranks_are_shares_of_the_pairs_with_the_mean_for_ties():
    D = np.array([[0, 5.0, 5, np.nan], [5, 0, 9, 1], [5, 9, 0, 7], [np.nan, 1, 7, 0]])
    expected = np.array([[0, 2.5, 2.5, np.nan], [2.5, 0, 5, 1], [2.5, 5, 0, 4], [np.nan, 1, 4, 0]]) / 5
    ranks = ranked(Dissimilarities(ArraySource(D), None, missing=1, largest=9.0))
    np.testing.assert_array_equal(ranks.array_for("this"), expected)
    assert ranks.largest == 1.0
    assert ranked(replace(ranks, source=ArraySource(D.astype(np.float32)))).source.dtype == np.float32


def square(pairs, n=3):
    table = np.zeros((n, n))
    table[np.triu_indices(n, 1)] = pairs
    return table + table.T


def test_a_curve_joins_the_fitted_pairs_and_goes_on_as_its_level_allows():
    D, found = square([1.0, 2.0, 4.0]), square([0.5, 1.0, 5.0])
    straight, flat = Curve(D, found, ordinal=False), Curve(D, found, ordinal=True)
    new = np.array([1.0, 1.5, 3.0, 4.0, np.nan])
    for curve in (straight, flat):
        np.testing.assert_allclose(curve(new), [0.5, 0.75, 3.0, 5.0, np.nan], rtol=0, atol=1e-12)
    np.testing.assert_allclose(straight(np.array([5.0, 0.5, -9.0])), [7.0, 0.25, 0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(flat(np.array([5.0, 0.5])), [5.0, 0.5], rtol=0, atol=1e-12)


def test_a_curve_takes_the_mean_of_ties_and_leaves_out_pairs_that_do_not_count():
    D, found = square([2.0, 2.0, np.nan]), square([1.0, 3.0, np.nan])
    curve = Curve(D, found, ordinal=False)
    np.testing.assert_array_equal(curve(np.array([1.0, 2.0, 9.0])), [2.0, 2.0, 2.0])
