"""Placing new objects on a finished map."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from unmask.solvers import _placement
from unmask.solvers._placement import fingerprint_vector, place


def test_placement_finds_the_global_minimum_on_a_grid(rng):
    n, p = 15, 2
    U, c = rng.standard_normal((n, p)), rng.uniform(0, 0.5, (4, n))
    delta = rng.uniform(0.5, 3, (4, n))
    weight = rng.uniform(0.2, 1, (4, n))
    weight[1, :5] = 0
    placed = place(delta, weight, U, c, c, np.zeros(n))
    axis = np.linspace(-4, 4, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for row in range(4):

        def stress(u, row=row):
            d = np.sqrt(((u[:, None] - U[None]) ** 2).sum(axis=2) + c[row])
            return (weight[row] * (delta[row] - d) ** 2).sum(axis=1)

        assert stress(placed[row : row + 1])[0] <= stress(grid).min() + 1e-9


def test_placement_of_nothing_and_in_no_dimension():
    one, c = np.ones((2, 5)), np.zeros((2, 5))
    assert place(one, one, np.empty((5, 0)), c, c, np.zeros(5)).shape == (2, 0)


# ---- one rule at a time


@pytest.fixture
def fitted(rng):
    """A map, what is known about its objects, and their exact dissimilarities."""
    U, known = rng.standard_normal((12, 2)), rng.standard_normal((12, 1))
    return U, known, np.sqrt(cdist(U, U) ** 2 + cdist(known, known) ** 2)


def placed_at(delta, weight, U, c, fingerprints=None):
    return place(delta, weight, U, c, c, np.zeros(len(U)) if fingerprints is None else fingerprints)


def test_exact_dissimilarities_lead_to_the_point_itself(fitted, rng):
    U, known, _ = fitted
    new, new_known = rng.standard_normal((5, 2)), rng.standard_normal((5, 1))
    c = cdist(new_known, known) ** 2
    delta = np.sqrt(cdist(new, U) ** 2 + c)
    np.testing.assert_allclose(placed_at(delta, np.ones_like(delta), U, c), new, atol=1e-6)


def test_on_a_line_between_two_objects_the_place_is_the_weighted_mean():
    """At a from 0 and at b from 1, between them, w(a - u)^2 + v(b - (1 - u))^2 is least at a mean of a and 1 - b."""
    delta, weight = np.array([[0.5, 0.9]]), np.array([[3.0, 1.0]])
    placed = placed_at(delta, weight, np.array([[0.0], [1.0]]), np.zeros((1, 2)))
    assert placed.item() == pytest.approx((3 * 0.5 + 1 * (1 - 0.9)) / 4, abs=1e-9)


def test_what_has_no_weight_may_hold_anything(fitted, rng):
    U, _, D = fitted
    delta, weight, c = D[:3] * rng.uniform(0.8, 1.2, (3, 12)), np.ones((3, 12)), np.zeros((3, 12))
    weight[:, 4] = 0
    delta[:, 4] = 1e6
    nearest = delta.copy()
    nearest[:, 4] = 0
    np.testing.assert_array_equal(placed_at(nearest, weight, U, c), placed_at(delta, weight, U, c))


def test_places_turn_with_the_map_and_grow_with_the_dissimilarities(fitted, rng):
    U, _, D = fitted
    delta, one, c = D[:4] * rng.uniform(0.8, 1.2, (4, 12)), np.ones((4, 12)), np.zeros((4, 12))
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    placed = placed_at(delta, one, U, c)
    np.testing.assert_allclose(placed_at(3 * delta, one, 3 * U @ turn, c), 3 * placed @ turn, atol=1e-5)


def test_objects_are_placed_alike_however_many_go_into_a_block(fitted, rng, monkeypatch):
    U, _, D = fitted
    delta, one, c = D * rng.uniform(0.8, 1.2, (12, 12)), np.ones((12, 12)), np.zeros((12, 12))
    together = placed_at(delta, one, U, c)
    monkeypatch.setattr(_placement, "BLOCK_CELLS", 1)
    np.testing.assert_allclose(placed_at(delta, one, U, c), together, rtol=0, atol=1e-12)


def test_a_fitted_object_is_told_from_its_likes_by_its_other_dissimilarities(fitted):
    """Objects 0 and 1 are at dissimilarity 0 but apart on the map; each row finds its own point, to the last bit."""
    U, _, D = fitted
    D[0, 1] = D[1, 0] = 0
    prints = D**2 @ fingerprint_vector(12)
    placed = placed_at(D[:2], np.ones((2, 12)), U, np.zeros((2, 12)), prints)
    np.testing.assert_array_equal(placed, U[:2])


def test_an_object_like_two_fitted_ones_and_itself_none_gets_the_place_that_fits_better(fitted):
    U, _, D = fitted
    delta = D[1:2].copy()
    delta[0, 0] = 0  # like object 0 as well, of which nothing else agrees
    placed = placed_at(delta, np.ones((1, 12)), U, np.zeros((1, 12)), np.full(12, 1e9))
    np.testing.assert_array_equal(placed, U[1:2])


def test_no_dissimilarity_but_another_value_known_is_no_likeness(fitted):
    U, known, D = fitted
    c = cdist(known[:1] + 0.5, known) ** 2
    placed = place(D[:1], np.ones((1, 12)), U, c, c, D**2 @ fingerprint_vector(12))
    assert np.abs(placed - U[:1]).max() > 1e-3
