"""Maximum variance unfolding: optimality conditions, figures that unfold to known shapes, conventions, errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from sklearn.exceptions import ConvergenceWarning

from tests import recordings
from unmask.dissimilarities import MaximumVarianceUnfolding


def map_of(covariance, n_components=2):
    values, vectors = np.linalg.eigh(covariance)
    return vectors[:, : -n_components - 1 : -1] * np.sqrt(values[: -n_components - 1 : -1])


def test_a_chain_is_pulled_straight():
    stairs = np.column_stack([np.arange(1, 16) // 2, np.arange(15) // 2])
    found = MaximumVarianceUnfolding(1, angles=False, tol=1e-8).fit(stairs)
    line = np.arange(15.0)
    np.testing.assert_allclose(found.dissimilarities_, np.abs(line[:, None] - line), rtol=0, atol=1e-5)
    assert found.objective_ == pytest.approx(np.sum((line - line.mean()) ** 2), rel=1e-6)
    assert found.converged_


def test_a_ring_becomes_the_regular_polygon_of_its_edges(rng):
    angle = np.sort(rng.uniform(0, 2 * np.pi, 8))
    edge = np.ones(8)
    D = cdist(np.column_stack([np.cos(angle), np.sin(angle)]), np.column_stack([np.cos(angle), np.sin(angle)])) + 5
    for i in range(8):
        D[i, (i + 1) % 8] = D[(i + 1) % 8, i] = edge[i]
    np.fill_diagonal(D, 0.0)
    found = MaximumVarianceUnfolding(2, angles=False, metric="precomputed", tol=1e-8).fit(D)
    radius = 1 / (2 * np.sin(np.pi / 8))
    # A closed chain of equal links encloses most variance as a regular polygon: N times its squared radius.
    assert found.objective_ == pytest.approx(8 * radius**2, rel=1e-6)


@pytest.mark.filterwarnings("ignore:the neighbourhood graph:unmask.MapWarning")
def test_optimality_conditions_and_duality_gap(rng):
    X = rng.standard_normal((20, 3)).cumsum(axis=0)
    found = MaximumVarianceUnfolding(2, angles=False, tol=1e-6, max_iter=60).fit(X)
    K, L = found.covariance_, found.precision_
    i, j = found.multipliers_.nonzero()
    kept = cdist(X, X)[i, j] ** 2
    np.testing.assert_allclose(found.dissimilarities_[i, j] ** 2, kept, rtol=1e-5, atol=1e-5 * kept.mean())
    np.testing.assert_allclose(K.sum(axis=0), 0, rtol=0, atol=1e-8 * np.trace(K))
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.trace(K)
    # Stationary: the tensions hold every object in place.
    np.testing.assert_allclose(L @ K, K, rtol=0, atol=1e-3 * np.abs(K).max())
    assert found.objective_ == pytest.approx(np.trace(K), rel=1e-12)
    # Any tensions whose Laplacian exceeds the centring matrix bound the variance from above.
    bound = found.multipliers_.toarray()[i, j] @ kept / 2
    assert bound == pytest.approx(found.objective_, rel=1e-3)
    assert np.linalg.eigvalsh(L)[0] > -1e-3 * np.linalg.eigvalsh(L)[-1]


def walk(seed):
    """Return objects with so many features that the kept pairs leave some freedom, angles included."""
    return np.random.default_rng(seed).standard_normal((16, 6)).cumsum(axis=0)


@pytest.mark.parametrize(("seed", "rank"), [(0, 10), (1, 2), (3, 2)])
def test_tensions_prove_the_optimum_with_angles(seed, rank):
    X = walk(seed)
    # The optimum is settled long before the tensions, which at tol=1e-6 are known to a percent or two only.
    found = MaximumVarianceUnfolding(3, tol=1e-8, rank=rank).fit(X)
    i, j = sp.triu(found.multipliers_).nonzero()
    kept, tensions = cdist(X, X)[i, j] ** 2, found.multipliers_.toarray()[i, j]
    assert len(i) > found.graph_.nnz // 2  # angles are among them
    np.testing.assert_allclose(found.dissimilarities_[i, j] ** 2, kept, rtol=1e-4, atol=1e-4)
    # If L is at least s times the centring matrix, tr K <= <L, K> / s for every covariance K that keeps the pairs, and
    # <L, K> is the sum of tensions times what is kept.
    second = np.linalg.eigvalsh(found.precision_)[1]
    bound = tensions @ kept / second
    assert found.objective_ <= bound * (1 + 1e-5)
    assert found.objective_ >= bound * (1 - 5e-3)


def variance_by_a_barrier(i, j, kept, n):
    """Solve the dual semidefinite programme by Newton's method on a barrier; return a bound from each side.

    Tensions w minimise ``w @ kept - mu log det(L_w - centring)``. There ``mu (L_w - centring)^-1`` keeps all pairs, and
    its trace is below ``w @ kept`` by ``mu (n - 1)``.
    """
    difference = np.eye(n)[i] - np.eye(n)[j]
    shifted = 2.0 / n - np.eye(n)  # the constant vector, which no tension moves, has the value 1
    tensions = np.full(len(i), 2.0 / np.linalg.eigvalsh(difference.T @ difference)[1])
    mu = tensions @ kept / n

    def cost(w, mu):
        sign, log_determinant = np.linalg.slogdet(difference.T @ (w[:, None] * difference) + shifted)
        positive = sign > 0 and np.linalg.eigvalsh(difference.T @ (w[:, None] * difference) + shifted)[0] > 0
        return w @ kept - mu * log_determinant if positive else np.inf

    while mu * n > 1e-6 * (tensions @ kept):
        mu /= 4.0
        for _ in range(50):
            inverse = np.linalg.inv(difference.T @ (tensions[:, None] * difference) + shifted)
            products = difference @ inverse @ difference.T
            slope = kept - mu * np.diagonal(products)
            step = -np.linalg.solve(mu * products**2, slope)
            length = 1.0
            while cost(tensions + length * step, mu) > cost(tensions, mu) + 0.1 * length * (slope @ step):
                length /= 2.0
                if length < 1e-8:
                    break
            tensions = tensions + length * step
            if -slope @ step < 1e-6 * mu:
                break
    return mu * (np.trace(inverse) - 1.0), tensions @ kept


@pytest.mark.parametrize(("seed", "angles"), [(0, True), (1, True), (2, True), (1, False)])
def test_variance_is_that_of_a_semidefinite_programme(seed, angles):
    X = walk(seed)
    found = MaximumVarianceUnfolding(3, angles=angles, tol=1e-6, rank=2 if seed == 1 else 10).fit(X)
    i, j = sp.triu(found.multipliers_).nonzero()
    below, above = variance_by_a_barrier(i, j, cdist(X, X)[i, j] ** 2, len(X))
    assert below == pytest.approx(above, rel=1e-4)
    assert found.objective_ == pytest.approx(above, rel=1e-4)


def test_kept_pairs_are_edges_and_pairs_that_share_a_neighbour():
    line = np.arange(5.0)[:, None]
    with_angles, without = (MaximumVarianceUnfolding(1, angles=angles).fit(line) for angles in (True, False))
    edges = {(0, 1), (1, 2), (2, 3), (3, 4)}
    assert set(zip(*sp.triu(without.multipliers_).nonzero(), strict=True)) == edges
    assert set(zip(*sp.triu(with_angles.multipliers_).nonzero(), strict=True)) == edges | {(0, 2), (1, 3), (2, 4)}
    assert (with_angles.rank_, without.rank_) == (4, 3)  # enough for an optimum


@pytest.mark.slow
def test_swiss_roll_is_unrolled():
    X, t = make_swiss_roll(600, random_state=0)
    arc = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    found = MaximumVarianceUnfolding(6).fit(X)
    assert found.violation_ <= 1e-3
    assert procrustes(np.column_stack([arc, X[:, 1]]), map_of(found.covariance_))[2] < 1e-3


@pytest.mark.filterwarnings("ignore:the neighbourhood graph:unmask.MapWarning")
def test_turning_scaling_and_order_change_nothing_else(rng):
    X = rng.standard_normal((25, 3)).cumsum(axis=0)
    turned = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order = rng.permutation(25)
    options = {"n_neighbors": 2, "angles": False, "tol": 1e-6}
    plain = MaximumVarianceUnfolding(**options).fit(X)
    moved = MaximumVarianceUnfolding(**options).fit(7 * X[order] @ turned + 3)
    assert moved.objective_ == pytest.approx(49 * plain.objective_, rel=1e-3)


def test_a_rank_that_is_too_low_grows(rng):
    X = rng.standard_normal((15, 8))
    found = MaximumVarianceUnfolding(5, rank=1).fit(X)
    assert found.converged_
    assert found.violation_ <= 1e-3
    assert found.rank_ > 4


def test_dissimilarities_that_no_coordinates_have_are_said():
    D = 1.0 - np.eye(30)
    D[0, 1:] = D[1:, 0] = 0.4  # all are 1 apart and 0.4 from the first: no point is as near to so many
    with pytest.warns(ConvergenceWarning, match=r"relative violation of .*pass angles=False to keep fewer pairs"):
        found = MaximumVarianceUnfolding(None, rank=2, metric="precomputed").fit(D)
    assert not found.converged_
    assert found.violation_ > 0.01
    assert found.n_iter_ < 60


def slow_for_a_robot(case):
    slow = [pytest.mark.slow] if case.values[0].endswith("robot") else []
    return pytest.param(*case.values, marks=[*case.marks, *slow])


@pytest.mark.parametrize("data", [slow_for_a_robot(case) for case in recordings.ALL])
def test_recordings_are_unfolded_within_the_tolerance(data):
    X = recordings.load(data)
    found = MaximumVarianceUnfolding(recordings.neighbours(data)).fit(X)
    assert found.rank_ == (10 if data.endswith("run") else 20)
    i, j = found.graph_.nonzero()
    assert found.converged_
    kept = found.multipliers_.nonzero()
    target = cdist(X, X)[kept] ** 2
    assert np.linalg.norm(found.dissimilarities_[kept] ** 2 - target) <= 1e-3 * np.linalg.norm(target)
    assert set(zip(i, j, strict=True)) <= set(zip(*kept, strict=True))
    assert found.objective_ > np.sum((X - X.mean(axis=0)) ** 2)  # the data themselves keep every pair
