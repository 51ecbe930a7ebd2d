"""Placing new objects: the compiled loop equals its plain twin and finds the lowest place."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from unmask.kernels import Workers, placing, plain


def make_new_objects(rng, n, m, p=2, q=2, noise=0.2):
    fitted, new = rng.standard_normal((n, p + q)), rng.standard_normal((m, p + q))
    delta = cdist(new, fitted) * np.abs(1 + noise * rng.standard_normal((m, n)))
    U = fitted[:, :p] + 0.1 * rng.standard_normal((n, p))
    return delta, new[:, p:], U, fitted[:, p:]


def compiled(delta, weight, known, U, fitted_known, fingerprints=None, threads=1):
    prints = np.zeros(len(U)) if fingerprints is None else fingerprints
    with Workers(threads) as workers:
        return placing().place(delta, weight, known, U, fitted_known, fitted_known, prints, workers)


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
    expected = plain.place(delta, weight, known, U, fitted_known, fitted_known, np.zeros(n))
    np.testing.assert_allclose(compiled(delta, weight, known, U, fitted_known), expected, atol=1e-6)


def test_many_fitted_objects_place_as_low_as_all_starts_on_all_of_them(rng):
    # With more than a few hundred fitted objects the starts are followed on a part of them.
    delta, known, U, fitted_known = make_new_objects(rng, 3000, 30, noise=0.8)
    weight = np.ones_like(delta)
    reached = compiled(delta, weight, known, U, fitted_known)
    expected = plain.place(delta, weight, known, U, fitted_known, fitted_known, np.zeros(len(U)))
    problem = (delta, weight, known, U, fitted_known)
    np.testing.assert_allclose(stresses(reached, *problem), stresses(expected, *problem), rtol=1e-9)


def test_exact_distances_give_the_exact_place(rng):
    fitted, new = rng.standard_normal((400, 5)), rng.standard_normal((9, 5))
    delta = cdist(new, fitted)
    placed = compiled(delta, np.ones_like(delta), new[:, 3:], fitted[:, :3], fitted[:, 3:])
    np.testing.assert_allclose(placed, new[:, :3], atol=1e-6)


def test_a_fitted_object_returns_to_its_own_point_to_the_bit(rng):
    fitted = rng.standard_normal((80, 3))
    D = cdist(fitted, fitted)
    D[3], D[:, 3], D[3, 3] = D[5], D[:, 5], 0.0  # 3 and 5 are alike in all dissimilarities but those to each other
    D[3, 5] = D[5, 3] = 0.0
    U = rng.standard_normal((80, 2))
    prints = D**2 @ placing().fingerprint_vector(80)
    nothing = np.empty((80, 0))
    placed = compiled(D, np.ones_like(D), nothing, U, nothing, prints)
    alike = [i for i in range(80) if i not in (3, 5)]
    np.testing.assert_array_equal(placed[alike], U[alike])


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
