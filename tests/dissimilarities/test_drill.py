"""Drill: optimality conditions, agreement with scikit-learn's graphical lasso, conventions, errors."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import graphical_lasso
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from tests import recordings
from unmask import MapWarning
from unmask.dissimilarities import Drill


def walk(rng, n=14, p=30):
    return rng.standard_normal((n, p)).cumsum(axis=0)


def scatter(X):
    Y = X - X.mean(axis=0)
    return Y @ Y.T / X.shape[1]


@pytest.mark.parametrize(("n_neighbors", "penalty"), [(3, 0.0), (3, 0.05), (3, 1.0), (None, 0.05), (None, 1.0)])
def test_optimality_conditions(rng, n_neighbors, penalty):
    X = walk(rng)
    S, p = scatter(X), X.shape[1]
    found = Drill(n_neighbors, penalty=penalty, tol=1e-8).fit(X)
    P, K = found.precision_ * p, found.covariance_ / p
    np.testing.assert_allclose(P @ K, np.eye(14), rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.diagonal(K), np.diagonal(S), rtol=1e-6, atol=0)
    candidate = found.candidates_.toarray() > 0
    used = (P != 0) & ~np.eye(14, dtype=bool)
    assert not (used & ~candidate).any()
    np.testing.assert_array_equal(found.graph_.toarray() > 0, used)
    size = np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))
    slope = (K - S) / size
    bound = penalty / size
    np.testing.assert_allclose(slope[used], (bound * np.sign(P))[used], rtol=0, atol=1e-7)
    idle = candidate & ~used
    assert np.all(np.abs(slope[idle]) <= bound[idle] + 1e-7)
    objective = np.linalg.slogdet(P)[1] - np.sum(S * P) - penalty * np.abs(P[used]).sum()
    assert found.objective_ == pytest.approx(objective, rel=1e-9)
    assert found.violation_ <= 1e-8


def test_all_pairs_agree_with_the_graphical_lasso(rng):
    X = walk(rng)
    S, p = scatter(X), X.shape[1]
    found = Drill(None, penalty=0.5).fit(X)
    covariance, precision = graphical_lasso(S, alpha=0.5, tol=1e-9, enet_tol=1e-9, max_iter=1000)
    np.testing.assert_allclose(found.covariance_ / p, covariance, rtol=1e-4, atol=1e-4 * covariance.max())
    np.testing.assert_allclose(found.precision_ * p, precision, rtol=0, atol=1e-4 * precision.max())


def test_a_chain_has_the_markov_covariance(rng):
    # The optimum of a chain is known: correlations multiply along the path.
    X = walk(rng, 6, 40)
    found = Drill(graph="chain", penalty=0.0, tol=1e-10).fit(X)
    S = scatter(X)
    scales = np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))
    steps = np.diagonal(S / scales, 1)
    expected = np.array([[np.prod(steps[min(i, j) : max(i, j)]) for j in range(6)] for i in range(6)])
    np.testing.assert_allclose(found.covariance_ / X.shape[1] / scales, expected, rtol=0, atol=1e-8)


def test_features_and_their_distances_differ_by_the_number_of_features_only(rng):
    X = walk(rng)
    features = Drill(4, penalty=0.1).fit(X)
    distances = Drill(4, penalty=0.1 * X.shape[1], metric="precomputed").fit(cdist(X, X))
    np.testing.assert_allclose(distances.dissimilarities_, features.dissimilarities_, rtol=1e-4, atol=1e-4)


def test_uncorrelated_objects_are_the_optimum_at_once():
    # Centred indicator columns: all covariances are equal and below the penalty.
    found = Drill(None, penalty=0.1).fit(np.eye(5))
    assert found.n_iter_ == 0
    assert found.graph_.nnz == 0


def test_too_few_steps_are_said(rng):
    with pytest.warns(ConvergenceWarning, match=r"stopped after n_iter_=3 Newton steps \(max_iter=3\)"):
        found = Drill(4, max_iter=3).fit(walk(rng))
    assert not found.converged_


def test_what_cannot_be_solved_is_said(rng):
    X = walk(rng)
    X[0] = X[1:].mean(axis=0)
    with pytest.raises(ValueError, match="object 0 has no variance"):
        Drill(4).fit(X)


@pytest.mark.parametrize("n_neighbors", [10, 20, None])
def test_a_small_penalty_is_optimal_too(rng, n_neighbors):
    # Many entries change sign on the way.
    X = walk(rng, 40, 60) / 5
    found = Drill(n_neighbors, penalty=0.001).fit(X)
    assert found.converged_
    S, P = scatter(X), found.precision_ * 60
    size = np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))
    slope, used = (np.linalg.inv(P) - S) / size, (P != 0) & ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(slope[used], (0.001 * np.sign(P) / size)[used], rtol=0, atol=1e-6)
    idle = (found.candidates_.toarray() > 0) & ~used
    assert np.all(np.abs(slope[idle]) <= 0.001 / size[idle] + 1e-6)


@pytest.mark.slow
def test_a_thousand_objects():
    X = load_digits().data[:1000]
    with pytest.warns(MapWarning, match="2 parts"):
        found = Drill(6, penalty=0.5).fit(X)
    assert found.converged_
    assert 0 < found.graph_.nnz < found.candidates_.nnz
    S, P = scatter(X), found.precision_ * X.shape[1]
    slope, used = np.linalg.inv(P) - S, (P != 0) & ~np.eye(1000, dtype=bool)
    size = np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))
    np.testing.assert_allclose((slope / size)[used], (0.5 * np.sign(P) / size)[used], rtol=0, atol=1e-6)
    idle = (found.candidates_.toarray() > 0) & ~used
    assert np.all(np.abs(slope[idle]) <= 0.5 + 1e-6 * size[idle])


@pytest.mark.parametrize("data", recordings.ALL)
def test_the_exact_optimum_on_recordings(data):
    X = recordings.load(data)
    found = Drill(recordings.neighbours(data), penalty=0.0).fit(X)
    i, j = found.candidates_.nonzero()
    assert found.converged_
    # Without a penalty, variances and the covariances of neighbours are those of the data.
    Y = X - X.mean(axis=0)
    np.testing.assert_allclose(found.covariance_[i, j], (Y @ Y.T)[i, j], rtol=0, atol=1e-4)
    assert found.graph_.nnz == found.candidates_.nnz
