"""Structures: lift and adjoint are adjoint, the metric is what it claims, penalties have their gradients."""

import numpy as np
import pytest

from tests.helpers import symmetric_weights
from unmask.problem import KnownSpace, Structure, check_known, coef_blocks
from unmask.problem._penalties import LeakPenalty
from unmask.problem.leak import linear_leak
from unmask.problem.linalg import basis_by_group, canonical_correlations, orthonormal_basis, symmetric_root

COEFS = ["full", "diagonal", [["a", "c"], ["b"], ["d"]]]


@pytest.fixture
def setting(rng):
    """Return known values, a weighted Laplacian and a maker of structures."""
    import pandas as pd

    n, p = 9, 2
    table = pd.DataFrame(rng.standard_normal((n, 4)) * [1, 10, 0.1, 3] + [5, 0, 0, 1], columns=list("abcd"))
    W = symmetric_weights(rng, n)
    np.fill_diagonal(W, 0)
    H = np.diag(W.sum(axis=1)) - W

    def make(coef, orthogonal=False):
        known = check_known(table, n, None, coef)
        HV = H @ known.values
        space = KnownSpace(orthonormal_basis(known.values))
        root = np.sqrt(np.diag(H))[:, None]
        if orthogonal:
            # The estimators use one scale for all objects here; a projection in theta is then one of U too.
            return known, space, Structure(n, p, root.max(keepdims=True), coef_blocks(known, HV), space, keep=0.0)
        return known, space, Structure(n, p, root, coef_blocks(known, HV))

    return make, H


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


def test_keeping_part_of_the_known_space_is_undone_by_packing(setting, rng):
    known, space, free = setting[0]("diagonal")
    structure = Structure(free.n, free.p, np.full((1, 1), 2.0), free.blocks, space, keep=0.1)
    U, B = rng.standard_normal((free.n, free.p)), np.eye(known.n_kept)
    np.testing.assert_allclose(structure.unknown(structure.pack(U, B)), U, atol=1e-12)
    theta, G = rng.standard_normal(structure.size), rng.standard_normal((structure.n, structure.k))
    assert np.sum(structure.lift(theta) * G) == pytest.approx(theta @ structure.adjoint(theta, G), rel=1e-12)


def test_leak_penalty_is_the_explained_sum_of_squares_and_has_its_gradient(setting, rng):
    known, space, structure = setting[0]("full")
    Z = rng.standard_normal((structure.n, structure.k))
    U, V = Z[:, :2], known.values
    P = V @ np.linalg.solve(V.T @ V, V.T)
    penalty, G = LeakPenalty(2, space, 0.3 * 5.0), np.zeros_like(Z)
    assert penalty.add_to(G, Z) == pytest.approx(0.3 * 5.0 * np.sum((P @ U) ** 2), rel=1e-10)
    np.testing.assert_allclose(G[:, :2], 0.3 * 5.0 * P @ U, atol=1e-10)
    np.testing.assert_array_equal(G[:, 2:], 0)


@pytest.mark.parametrize("stiffness", [np.inf, 5.0, 1e-310])
def test_stiffened_solver_is_the_inverse_with_the_known_space_held(setting, rng, stiffness):
    make, H = setting
    _, space, _ = make("full")
    inverse = np.linalg.pinv(H)
    solve = space.stiffen(lambda X: inverse @ X, stiffness)
    X = rng.standard_normal((len(H), 2))
    X -= X.mean(axis=0)
    if np.isfinite(stiffness):
        expected = np.linalg.pinv(H + stiffness * space.Q @ space.Q.T) @ X
        np.testing.assert_allclose(solve(X), expected, atol=1e-10)
    else:
        np.testing.assert_allclose(space.Q.T @ solve(X), 0, atol=1e-12)  # stays in the complement
        np.testing.assert_allclose(solve(space.Q), 0, atol=1e-12)


def test_symmetric_root(rng):
    A = rng.standard_normal((4, 2))
    root = symmetric_root(A @ A.T)
    np.testing.assert_allclose(root @ root, A @ A.T, atol=1e-12)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    assert np.linalg.eigvalsh(root).min() > -1e-7


def test_canonical_correlations_of_one_column_each_are_the_correlation(rng):
    x, y = rng.standard_normal((2, 50))
    (r,) = canonical_correlations(x[:, None], (y + x)[:, None] * 1e9 + 1e12)
    assert r == pytest.approx(abs(np.corrcoef(x, x + y)[0, 1]), rel=1e-6)


def test_canonical_correlations_of_equal_spaces_are_one_and_of_nothing_none(rng):
    X = rng.standard_normal((20, 3))
    np.testing.assert_allclose(canonical_correlations(X, X @ rng.standard_normal((3, 3)) + 7), 1)
    assert len(canonical_correlations(X, np.ones((20, 2)))) == 0
    assert len(canonical_correlations(X, np.column_stack([X[:, 0], 2 * X[:, 0]]))) == 1


def test_an_axis_of_rounding_repeats_nothing(rng):
    V = rng.standard_normal((8, 2)) * [1.0, 1e-12]  # known columns have units of their own
    V -= V.mean(axis=0)
    U = rng.standard_normal(8)
    Q = orthonormal_basis(V)
    U = (U - U.mean()) - Q @ (Q.T @ (U - U.mean()))
    assert linear_leak(np.column_stack([U, 1e-18 * V[:, 0]]), V).leak < 1e-12
    assert linear_leak(np.column_stack([U, 1e-3 * V[:, 0]]), V).leak == pytest.approx(0.5, abs=1e-9)
    # The second known column counts, however small its unit is, and a small map beside nothing is a map.
    assert linear_leak(1e-15 * V[:, 1:], V).leak == pytest.approx(1.0)
    assert linear_leak(1e-15 * V[:, 1:], V, beside=1.0).leak == 0.0
    assert linear_leak(np.zeros((8, 2)), V).leak == linear_leak(U[:, None], V[:, :0]).leak == 0.0


def test_what_is_orthogonal_within_groups_stays_so_when_they_are_turned(rng):
    component = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1])
    V, U = rng.standard_normal((12, 2)), rng.standard_normal((12, 2))
    Q = basis_by_group(V, component)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-12)
    left = U - Q @ (Q.T @ U)
    for number, angle in enumerate((0.4, 2.1)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        left[component == number] = left[component == number] @ turn
        within = V[component == number] - V[component == number].mean(axis=0)
        np.testing.assert_allclose(within.T @ left[component == number], 0, atol=1e-12)
    np.testing.assert_array_equal(basis_by_group(V, None), orthonormal_basis(V))
