"""Drill: optimality conditions, agreement with scikit-learn's graphical lasso, paths, conventions, errors."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import graphical_lasso
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests import recordings
from unmask import MapWarning
from unmask.dissimilarities import _drill
from unmask.dissimilarities._drill import Drill, _Field


@parametrize_with_checks([Drill()])
@pytest.mark.filterwarnings("ignore")
def test_common_checks(estimator, check):
    check(estimator)


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
    # Neighbours on a line form a tree, for which the optimum is known: correlations multiply along the path.
    X = walk(rng, 6, 40)
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    graph = Drill(1, penalty=0.0, metric="precomputed").fit(D).candidates_
    S = scatter(X)
    scale = np.sqrt(np.diagonal(S))
    C = S / np.outer(scale, scale)
    field = _Field.of(C, _drill.edges(graph), 0.0, scale)
    x, _ = _drill._maximise(field, None, False, 1e-10, 100)
    steps = np.array([C[i, i + 1] for i in range(5)])
    expected = np.array([[np.prod(steps[min(i, j) : max(i, j)]) for j in range(6)] for i in range(6)])
    np.testing.assert_allclose(field.inverse(x), expected, rtol=0, atol=1e-8)


def test_derivatives_agree_with_finite_differences(rng):
    X = walk(rng, 7)
    S = scatter(X)
    scale = np.sqrt(np.diagonal(S))
    field = _Field.of(S / np.outer(scale, scale), np.triu_indices(7, 1), 0.0, scale)
    x = np.where(field.i == field.j, 2.0, 0.1 * rng.standard_normal(len(field.i)))
    steps = 1e-5 * np.eye(len(x))
    W = field.inverse(x)
    slopes = [(field.value(x + s, 0.0) - field.value(x - s, 0.0)) / 2e-5 for s in steps]
    np.testing.assert_allclose(field.gradient(W), slopes, rtol=1e-6, atol=1e-7)
    bends = [(field.gradient(field.inverse(x + s)) - field.gradient(field.inverse(x - s))) / 2e-5 for s in steps]
    np.testing.assert_allclose(field.curvature(W, np.arange(len(x))), bends, rtol=1e-6, atol=1e-7)


def test_a_path_finds_what_single_fits_find_in_fewer_steps(rng):
    X, penalties = walk(rng), (1.0, 0.5, 0.2, 0.1)
    drill = Drill(6, tol=1e-8, warm_start=True)
    path = [deepcopy(drill.set_params(penalty=penalty).fit(X)) for penalty in penalties]
    alone = [Drill(6, penalty=penalty, tol=1e-8).fit(X) for penalty in penalties]
    for warm, cold in zip(path, alone, strict=True):
        scale = np.abs(cold.covariance_).max()
        np.testing.assert_allclose(warm.covariance_, cold.covariance_, rtol=0, atol=1e-5 * scale)
    assert sum(fit.n_iter_ for fit in path) < sum(fit.n_iter_ for fit in alone)
    assert [fit.graph_.nnz for fit in path] == [fit.graph_.nnz for fit in alone]


def test_a_warm_start_on_other_objects_starts_anew(rng):
    drill = Drill(4, warm_start=True).fit(walk(rng, 10))
    X = walk(rng, 12)
    np.testing.assert_array_equal(drill.fit(X).covariance_, Drill(4).fit(X).covariance_)


def test_features_and_their_distances_differ_by_the_number_of_features_only(rng):
    X = walk(rng)
    features = Drill(4, penalty=0.1).fit(X)
    distances = Drill(4, penalty=0.1 * X.shape[1], metric="precomputed").fit(cdist(X, X))
    np.testing.assert_allclose(distances.dissimilarities_, features.dissimilarities_, rtol=1e-4, atol=1e-4)


def test_a_step_uphill_is_not_taken(rng):
    field = _Field.of(np.eye(5), np.triu_indices(5, 1), 0.1, np.ones(5))
    x = (field.i == field.j).astype(np.float64)  # the optimum of uncorrelated objects
    assert _drill._within_signs(field, x, rng.standard_normal(len(x)), np.ones(len(x))) is None
    pulled = np.where(np.abs(field.steepest(x, field.inverse(x))) > 0)[0]
    assert len(pulled) == 0


def test_a_search_that_finds_nothing_better_ends(rng, monkeypatch):
    monkeypatch.setattr(_drill, "_within_signs", lambda *_: None)
    with pytest.warns(ConvergenceWarning, match="Drill stopped after n_iter_=0"):
        assert not Drill(4, penalty=0.0).fit(walk(rng)).converged_


def test_too_few_steps_are_said(rng):
    with pytest.warns(ConvergenceWarning, match=r"stopped after n_iter_=3 Newton steps \(max_iter=3\)"):
        found = Drill(4, max_iter=3).fit(walk(rng))
    assert not found.converged_


def test_what_cannot_be_solved_is_said(rng):
    X = walk(rng)
    X[0] = X[1:].mean(axis=0)
    with pytest.raises(ValueError, match="object 0 is at the mean of all objects"):
        Drill(4).fit(X)


@pytest.mark.parametrize("data", ["walk", *map(recordings.recording, ("simulated run", "recorded run"))])
@pytest.mark.parametrize(("n_neighbors", "penalty"), [(4, 0.0), (4, 0.01), (10, 0.05), (None, 0.05)])
def test_conjugate_gradients_find_what_exact_steps_find(rng, monkeypatch, data, n_neighbors, penalty):
    X = walk(rng, 40, 60) / 5 if data == "walk" else recordings.load(data)
    exact = Drill(n_neighbors, penalty=penalty).fit(X)
    monkeypatch.setattr(_drill, "MOST_DENSE", 0)
    found = Drill(n_neighbors, penalty=penalty).fit(X)
    assert found.converged_
    assert found.violation_ <= 1e-6
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-9)
    size = np.abs(exact.covariance_).max()
    np.testing.assert_allclose(found.covariance_, exact.covariance_, rtol=0, atol=1e-4 * size)
    np.testing.assert_array_equal(found.graph_.toarray() > 0, exact.graph_.toarray() > 0)


def test_products_with_the_second_derivatives_and_their_near_inverse(rng):
    X = walk(rng, 9)
    S = scatter(X)
    scale = np.sqrt(np.diagonal(S))
    field = _Field.of(S / np.outer(scale, scale), np.triu_indices(9, 1), 0.5, scale)
    x = np.where(field.i == field.j, 2.0, 0.1 * rng.standard_normal(len(field.i)))
    free, v = np.flatnonzero(rng.uniform(size=len(x)) < 0.7), rng.standard_normal(len(x))
    own = rng.uniform(size=len(x))
    some = _drill._Curvature(field, x, field.inverse(x), free, own[free])
    np.testing.assert_allclose(some.times(v[free]), some.dense() @ v[free], rtol=1e-10, atol=1e-12)
    every = _drill._Curvature(field, x, field.inverse(x), np.arange(len(x)), 0.0 * own)
    # With all pairs free the near inverse is the inverse.
    np.testing.assert_allclose(every.preconditioner()(every.times(v)), v, rtol=1e-9, atol=1e-9)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": -1.0}, "penalty=-1.0 must be a number of at least 0"),
        ({"n_neighbors": None, "penalty": 0.0}, "n_neighbors=None with penalty=0: a precision of all pairs"),
        ({"warm_start": 1}, "warm_start=1 must be True or False"),
        ({"tol": "x"}, "tol='x' must be a number"),
        ({"max_iter": 0}, "max_iter=0 must be an integer of at least 1"),
    ],
)
def test_bad_parameters(rng, options, message):
    with pytest.raises(ValueError, match=message):
        Drill(**options).fit(walk(rng))


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
