"""What else the workers share: features with the stochastic solver, placing, paths, starts, tests and resampling."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest

from tests.cluster.conftest import distributed
from unmask import ConditionalIsomap, ConditionalMDS
from unmask.cluster import SpreadObjects
from unmask.dissimilarities import Geodesic, Metric
from unmask.inspection import bootstrap, permutation_test

da = pytest.importorskip("dask.array")
N = 1500


@pytest.fixture(scope="module")
def client():
    """Return the ambient client of two workers in this process, which costs no time to begin."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def few_landmarks(monkeypatch):
    """Let the stochastic solver begin with fewer objects, so that it is quick."""
    monkeypatch.setattr("unmask.solvers._stochastic.LANDMARKS", 400)
    monkeypatch.setattr("unmask.solvers._stochastic.FIRST", 200)
    monkeypatch.setattr("unmask.estimators._many.LANDMARKS", 400)


@pytest.fixture(scope="module")
def features():
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, 4)).astype(np.float32), rng.standard_normal((N, 1))


def quick(**params):
    return ConditionalMDS(n_init=1, random_state=0, max_iter=10, **params)


def fitted(estimator, X, known=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, known=known)


@pytest.mark.parametrize("form", ["array", "frame"])
def test_features_go_with_the_stochastic_solver(client, features, form, monkeypatch):
    X, known = features
    names = list("abcd")
    if form == "array":
        spread = da.from_array(X, chunks=(1000, 2))
    else:
        spread = pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
    asked, submit = [], SpreadObjects.submit
    monkeypatch.setattr(SpreadObjects, "submit", lambda self, name, *a: asked.append(name) or submit(self, name, *a))
    mine = fitted(quick(solver="stochastic"), spread, known)
    other = fitted(quick(solver="stochastic"), X if form == "array" else pd.DataFrame(X, columns=names), known)
    assert mine.stress_ == pytest.approx(other.stress_, rel=1e-6)  # single precision
    np.testing.assert_allclose(mine.embedding_, other.embedding_, atol=1e-3)
    assert sum(name.startswith("references") for name in asked) >= 2 * 10
    assert sum(name.startswith("place") for name in asked) >= 2


def test_new_objects_are_placed_where_they_lie(client, features):
    X, known = features
    mds = fitted(quick(solver="stochastic"), X, known)
    placed = mds.transform(da.from_array(X, chunks=(500, 2)), known=known)
    assert isinstance(placed, da.Array)
    assert placed.shape == (N, 2)
    np.testing.assert_allclose(placed[:40].compute(), mds.transform(X[:40], known=known[:40]), atol=1e-6)


def test_double_precision_is_the_same_to_the_tenth_digit(client, features):
    X = features[0].astype(np.float64)
    mine = fitted(quick(solver="stochastic"), da.from_array(X, chunks=(900, 4)))
    other = fitted(quick(solver="stochastic"), X)
    assert mine.stress_ == pytest.approx(other.stress_, rel=1e-10)


def test_a_metric_is_computed_by_the_workers(client, features):
    X = features[0][:700].astype(np.float64)
    mine = fitted(quick(solver="lbfgs"), da.from_array(X, chunks=(300, 4)))
    assert mine.stress_ == pytest.approx(fitted(quick(solver="lbfgs"), X).stress_, rel=1e-10)


def test_new_objects_of_a_table_are_placed_in_parts(client, features):
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(features[0][:300], columns=list("abcd"))
    known = pd.DataFrame({"k": features[1][:300, 0]})
    mds = fitted(quick(), frame[:200].reset_index(drop=True), known[:200])
    parts, beside = (dd.from_pandas(table, npartitions=3) for table in (frame, known))
    placed = mds.transform(parts, known=beside).compute()
    np.testing.assert_allclose(placed, mds.transform(frame, known=known), atol=1e-6)
    with pytest.raises(ValueError, match="sizes that are not known yet"):
        mds.transform(parts, known=known)
    with pytest.raises(ValueError, match="known has 300 rows and X has 200"):
        mds.transform(da.from_array(features[0][:200], chunks=100), known=known)


def test_landmark_paths_starts_tests_and_resampling_by_joblib(client, features, monkeypatch):
    X, known = features[0][:120].astype(np.float64), pd.DataFrame({"k": features[1][:120, 0]})
    D = Metric().fit_transform(X)

    def results():
        paths = Geodesic(8, n_landmarks=20, random_state=0).fit_transform(X).strip
        several = fitted(ConditionalMDS(metric="precomputed", n_init=4, random_state=0, max_iter=20), D, known)
        # Which settles: threads of one process have their filters of warnings in common.
        mds = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0, tol=1e-5)
        tested = permutation_test(mds, D, known, n_permutations=5)["permuted"].to_numpy()
        shaken = bootstrap(mds, D, known, n_resamples=3, random_state=0).covariances
        return paths, several.starts_["stress"].to_numpy(), tested, shaken

    here = results()
    sent = []
    run = client.submit
    monkeypatch.setattr(client, "submit", lambda *a, **k: sent.append(1) or run(*a, **k))
    with joblib.parallel_config(backend="dask"):
        there = results()
    assert sent
    for mine, other in zip(there, here, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10)


def test_an_isomap_is_that_of_one_process(client, features):
    X = features[0][:300].astype(np.float64)
    isomap = ConditionalIsomap(n_neighbors=8, n_landmarks=40, n_init=1, random_state=0, max_iter=15)
    with joblib.parallel_config(backend="dask"):
        mine = fitted(isomap, X).stress_
    assert mine == pytest.approx(fitted(isomap, X).stress_, rel=1e-10)
