"""Placing new objects: the compiled loop equals its plain twin and finds the lowest place."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from unmask.kernels import Workers, placing

from . import twins
from .modes import compiled_only


def make_new_objects(rng, n, m, p=2, q=2, noise=0.2):
    fitted, new = rng.standard_normal((n, p + q)), rng.standard_normal((m, p + q))
    delta = cdist(new, fitted) * np.abs(1 + noise * rng.standard_normal((m, n)))
    U = fitted[:, :p] + 0.1 * rng.standard_normal((n, p))
    return delta, new[:, p:], U, fitted[:, p:]


def compiled(delta, weight, known, U, fitted_known, fingerprints=None, threads=1):
    prints = np.zeros(len(U)) if fingerprints is None else fingerprints
    with Workers(threads) as workers:
        return placing.place(delta, weight, known, U, fitted_known, fitted_known, prints, workers)


def stresses(places, delta, weight, known, U, fitted_known):
    squares = cdist(places, U, "sqeuclidean")
    if known.shape[1]:
        squares = squares + cdist(known, fitted_known, "sqeuclidean")
    return np.sum(weight * (delta - np.sqrt(squares)) ** 2, axis=1)


@pytest.mark.parametrize("n", [7, 60, 700])
@pytest.mark.parametrize("q", [0, 2])
def test_compiled_places_equal_the_plain_ones(rng, n, q):
    delta, known, U, fitted_known = make_new_objects(rng, n, 20, q=q)
    weight = rng.uniform(0.2, 1.0, delta.shape)
    weight[rng.uniform(size=delta.shape) < 0.2] = 0.0
    expected = twins.place(delta, weight, known, U, fitted_known, fitted_known, np.zeros(n))
    np.testing.assert_allclose(compiled(delta, weight, known, U, fitted_known), expected, atol=1e-6)


@compiled_only
def test_many_fitted_objects_place_as_low_as_all_starts_on_all_of_them(rng):
    # With more than a few hundred fitted objects the starts are followed on a part of them.
    delta, known, U, fitted_known = make_new_objects(rng, 3000, 30, noise=0.8)
    weight = np.ones_like(delta)
    reached = compiled(delta, weight, known, U, fitted_known)
    expected = twins.place(delta, weight, known, U, fitted_known, fitted_known, np.zeros(len(U)))
    problem = (delta, weight, known, U, fitted_known)
    np.testing.assert_allclose(stresses(reached, *problem), stresses(expected, *problem), rtol=1e-9)


def test_exact_distances_give_the_exact_place(rng):
    fitted, new = rng.standard_normal((400, 5)), rng.standard_normal((9, 5))
    delta = cdist(new, fitted)
    placed = compiled(delta, np.ones_like(delta), new[:, 3:], fitted[:, :3], fitted[:, 3:])
    np.testing.assert_allclose(placed, new[:, :3], atol=1e-6)


@compiled_only
def test_the_number_of_threads_changes_nothing(rng):
    delta, known, U, fitted_known = make_new_objects(rng, 300, 50)
    one, two = (compiled(delta, np.ones_like(delta), known, U, fitted_known, threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_placement_finds_the_global_minimum_on_a_grid(rng):
    n = 15
    U, fitted_known, known = rng.standard_normal((n, 2)), rng.uniform(0, 0.5, (n, 2)), rng.uniform(0, 0.5, (4, 2))
    delta, weight = rng.uniform(0.5, 3, (4, n)), rng.uniform(0.2, 1, (4, n))
    weight[1, :5] = 0
    placed = compiled(delta, weight, known, U, fitted_known)
    axis = np.linspace(-4, 4, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for row, place in enumerate(placed):
        problem = (delta[row], weight[row], np.repeat(known[row : row + 1], len(grid), 0), U, fitted_known)
        own = (*problem[:2], known[row : row + 1], *problem[3:])
        assert stresses(place[None], *own)[0] <= stresses(grid, *problem).min() + 1e-9


def test_in_no_dimension_there_is_nothing_to_place():
    one, known = np.ones((2, 5)), np.zeros((2, 1))
    assert compiled(one, one, known, np.empty((5, 0)), np.zeros((5, 1))).shape == (2, 0)


# ---- one rule at a time


@pytest.fixture
def fitted(rng):
    """A map, what is known about its objects, and their exact dissimilarities."""
    U, known = rng.standard_normal((12, 2)), rng.standard_normal((12, 1))
    return U, known, np.sqrt(cdist(U, U) ** 2 + cdist(known, known) ** 2)


def placed_at(delta, weight, U, fingerprints=None):
    return compiled(delta, weight, np.empty((len(delta), 0)), U, np.empty((len(U), 0)), fingerprints)


def test_on_a_line_between_two_objects_the_place_is_the_weighted_mean():
    """At a from 0 and at b from 1, between them, w(a - u)^2 + v(b - (1 - u))^2 is least at a mean of a and 1 - b."""
    delta, weight = np.array([[0.5, 0.9]]), np.array([[3.0, 1.0]])
    placed = placed_at(delta, weight, np.array([[0.0], [1.0]]))
    assert placed.item() == pytest.approx((3 * 0.5 + 1 * (1 - 0.9)) / 4, abs=1e-9)


def test_what_has_no_weight_may_hold_anything(fitted, rng):
    U, _, D = fitted
    delta, weight = D[:3] * rng.uniform(0.8, 1.2, (3, 12)), np.ones((3, 12))
    weight[:, 4] = 0
    delta[:, 4] = 1e6
    nearest = delta.copy()
    nearest[:, 4] = 0
    np.testing.assert_array_equal(placed_at(nearest, weight, U), placed_at(delta, weight, U))


def test_places_turn_with_the_map_and_grow_with_the_dissimilarities(fitted, rng):
    U, _, D = fitted
    delta, one = D[:4] * rng.uniform(0.8, 1.2, (4, 12)), np.ones((4, 12))
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    placed = placed_at(delta, one, U)
    np.testing.assert_allclose(placed_at(3 * delta, one, 3 * U @ turn), 3 * placed @ turn, atol=1e-5)


def test_a_fitted_object_is_told_from_its_likes_by_its_other_dissimilarities(fitted):
    """Objects 0 and 1 are at dissimilarity 0 but apart on the map; each row finds its own point, to the last bit."""
    U, _, D = fitted
    D[0, 1] = D[1, 0] = 0
    prints = D**2 @ placing.fingerprint_vector(12)
    placed = placed_at(D[:2], np.ones((2, 12)), U, prints)
    np.testing.assert_array_equal(placed, U[:2])


def test_an_object_like_two_fitted_ones_and_itself_none_gets_the_place_that_fits_better(fitted):
    U, _, D = fitted
    delta = D[1:2].copy()
    delta[0, 0] = 0  # like object 0 as well, of which nothing else agrees
    placed = placed_at(delta, np.ones((1, 12)), U, np.full(12, 1e9))
    np.testing.assert_array_equal(placed, U[1:2])


def test_no_dissimilarity_but_another_value_known_is_no_likeness(fitted):
    U, known, D = fitted
    prints = D**2 @ placing.fingerprint_vector(12)
    placed = compiled(D[:1], np.ones((1, 12)), known[:1] + 0.5, U, known, prints)
    assert np.abs(placed - U[:1]).max() > 1e-3


@compiled_only
def test_no_step_leaves_objects_where_they_are_triangulated(rng):
    delta, known, U, fitted_known = make_new_objects(rng, 40, 5)
    with Workers(1) as workers:
        arguments = np.ones_like(delta), known, U, fitted_known, fitted_known, np.zeros(40), workers
        placed = placing.place(delta, *arguments, most_starts=1, most_steps=0)
    centred, c = U - U.mean(axis=0), cdist(known, fitted_known, "sqeuclidean")
    rest = delta**2 - c - np.sum(centred**2, axis=1)
    np.testing.assert_allclose(placed, U.mean(axis=0) - 0.5 * rest @ np.linalg.pinv(centred).T, atol=1e-9)
