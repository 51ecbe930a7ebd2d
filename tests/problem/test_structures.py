"""Structures: lift and adjoint are adjoint, the metric is what it claims, the known space is held."""

import numpy as np
import pytest

from tests.helpers import noisy_distances, symmetric_weights
from unmask.checking import check_dissimilarities
from unmask.kernels import Workers
from unmask.problem import KnownSpace, Problem, build_pairs, check_known, make_graph, make_structure
from unmask.problem.linalg import orthonormal_basis

COEFS = ["full", "diagonal", [["a", "c"], ["b"], ["d"]]]


@pytest.fixture
def setting(rng):
    """Return known values, a weighted Laplacian and a maker of structures."""
    import pandas as pd

    n, p = 9, 2
    table = pd.DataFrame(rng.standard_normal((n, 4)) * [1, 10, 0.1, 3] + [5, 0, 0, 1], columns=list("abcd"))
    workers = Workers(1)
    checked = check_dissimilarities(noisy_distances(rng, n), workers=workers)
    pairs = build_pairs(checked, None, symmetric_weights(rng, n), workers)
    graph = make_graph(pairs, workers)

    def make(coef, orthogonal=False):
        known = check_known(table, n, None, coef)
        space = KnownSpace(orthonormal_basis(known.values))
        return known, space, make_structure(Problem(pairs, known, p, orthogonal), graph)

    return make, graph.laplacian(np.eye(n))


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("coef", COEFS)
def test_adjoint_is_the_transpose_of_lift(setting, rng, coef, orthogonal):
    _, _, structure = setting[0](coef, orthogonal)
    theta, G = rng.standard_normal(structure.size), rng.standard_normal((structure.n, structure.k))
    assert np.sum(structure.lift(theta) * G) == pytest.approx(theta @ structure.adjoint(theta, G), rel=1e-12)


@pytest.mark.parametrize("coef", COEFS)
def test_coefficients_are_measured_in_the_metric_of_the_weights(setting, rng, coef):
    """tr((VB)'H(VB)) is the squared length of the coefficients' part of theta."""
    make, H = setting
    _, _, structure = make(coef)
    theta = rng.standard_normal(structure.size)
    VB = structure.lift(theta)[:, structure.p :]
    assert np.trace(VB.T @ H @ VB) == pytest.approx(np.sum(theta[structure.n_unknown :] ** 2), rel=1e-10)


@pytest.mark.parametrize("coef", COEFS)
def test_pack_and_lift_are_inverse(setting, rng, coef):
    known, _, structure = setting[0](coef)
    U, B = rng.standard_normal((structure.n, structure.p)), np.zeros((4, 4))
    for group in known.groups:
        B[np.ix_(group, group)] = rng.standard_normal((len(group), len(group)))
    theta = structure.pack(U, B)
    np.testing.assert_allclose(structure.unknown(theta), U, rtol=1e-12)
    np.testing.assert_allclose(structure.gram(theta), B @ B.T, atol=1e-12)
    Z = structure.lift(theta)
    VB = known.values @ B
    for distances in [lambda X: ((X[:, None] - X[None]) ** 2).sum(axis=2)]:
        np.testing.assert_allclose(distances(Z), distances(np.column_stack([U, VB])), atol=1e-12)


def test_orthogonal_maps_are_uncorrelated_with_the_known_features(setting, rng):
    known, _, structure = setting[0]("full", orthogonal=True)
    U = structure.unknown(rng.standard_normal(structure.size))
    np.testing.assert_allclose(known.values.T @ U, 0, atol=1e-12)


def test_a_held_solver_is_the_inverse_on_the_complement_of_the_known_space(setting, rng):
    make, H = setting
    _, space, _ = make("full")
    inverse = np.linalg.pinv(H)
    solve = space.hold(lambda X: inverse @ X)
    X = rng.standard_normal((len(H), 2))
    X -= X.mean(axis=0)
    P = np.eye(len(H)) - space.Q @ space.Q.T
    np.testing.assert_allclose(solve(X), np.linalg.pinv(P @ H @ P) @ X, atol=1e-10)
    np.testing.assert_allclose(space.Q.T @ solve(X), 0, atol=1e-12)  # stays in the complement
    np.testing.assert_allclose(solve(space.Q), 0, atol=1e-12)
