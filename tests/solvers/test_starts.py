"""Starts: how many there are, and that none is stuck."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from tests.helpers import noisy_distances
from unmask.solvers import automatic_n_starts, closed_form, given_start, make_starts

from .problems import objective_for


def test_negative_squared_coefficients_become_zero_and_starts_leave_zero(rng):
    """A feature that makes objects more alike has no real coefficient; a start must not be stuck there."""
    n = 30
    V = rng.standard_normal((n, 2))
    D = noisy_distances(rng, n) + 1
    D = D - 0.3 * np.abs(V[:, :1] - V[:, 0])
    D = np.abs(np.triu(D, 1))
    D = D + D.T
    objective, coded = objective_for(D, V, coef="diagonal")
    gram = closed_form(objective.engine, coded, 2).gram
    assert gram[0, 0] == 0
    (start,) = make_starts(objective, coded, "closed-form", 1, rng)
    assert objective.structure.gram(start.theta)[0, 0] > 0


def test_number_of_automatic_starts_falls_with_the_number_of_objects():
    numbers = [automatic_n_starts(n) for n in (3, 14, 30, 100, 299, 300, 100_000)]
    assert numbers == sorted(numbers, reverse=True)
    assert automatic_n_starts(14) >= 100
    assert automatic_n_starts(100_000) == 1


def test_a_given_start_is_the_map_and_the_coefficients_that_were_given(rng):
    """In the user's units, whatever the scales of the dissimilarities and of what is known."""
    V = rng.standard_normal((20, 2)) * [100.0, 0.01]
    objective, coded = objective_for(1e3 * noisy_distances(rng, 20), V)
    U, B = rng.standard_normal((20, 2)), rng.standard_normal((2, 2))
    Z = objective.structure.lift(given_start(objective, coded, U, B).theta) / objective.engine.scale
    np.testing.assert_allclose(pdist(Z), pdist(np.column_stack([U, V @ B])), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_random_maps_are_of_the_size_of_the_dissimilarities(rng, scale):
    D = scale * noisy_distances(rng, 100)
    objective, coded = objective_for(D, p=3)
    squares = [
        np.mean(pdist(objective.structure.lift(start.theta) / objective.engine.scale) ** 2)
        for start in make_starts(objective, coded, "random", 50, rng)
    ]
    assert np.mean(squares) == pytest.approx(np.mean(squareform(D, checks=False) ** 2), rel=0.05)


def test_a_start_does_not_depend_on_how_many_follow_it(rng):
    objective, coded = objective_for(noisy_distances(rng, 20), rng.standard_normal((20, 2)))
    few, many = (list(make_starts(objective, coded, "auto", n, np.random.default_rng(3))) for n in (2, 5))
    assert [start.kind for start in many] == ["closed-form", *["random"] * 4]
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one.theta, other.theta)
    assert len({start.theta[0] for start in many}) == 5


def test_no_direction_of_a_start_is_flat(rng):
    """Dissimilarities on a line, mapped in three dimensions: axes of the closed form that are zero are not for long."""
    x = np.sort(rng.standard_normal(20))
    D = np.abs(np.subtract.outer(x, x))
    objective, coded = objective_for(D, rng.standard_normal((20, 1)), p=3)
    (start,) = make_starts(objective, coded, "closed-form", 1, rng)
    Z = objective.structure.lift(start.theta) / objective.engine.scale
    spread = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False) / np.sqrt(20)
    assert spread.min() > 0.003 * np.sqrt(np.mean(squareform(D) ** 2))
