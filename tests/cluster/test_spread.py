"""What else the workers share: features with the stochastic solver, placing, paths, starts, tests and resampling."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest

from tests.cluster.conftest import distributed
from unmask import Checkpoint, ConditionalIsomap, ConditionalMDS
from unmask.cluster import ClusterError, SpreadObjects
from unmask.dissimilarities import Geodesic, Metric
from unmask.inspection import bootstrap, dimension_test, jackknife, permutation_test

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
    monkeypatch.setattr("unmask.estimators._reading.LANDMARKS", 400)


@pytest.fixture(scope="module")
def features():
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, 4)).astype(np.float32), rng.standard_normal((N, 1))


def quick(**params):
    return ConditionalMDS(n_init=1, random_state=0, max_iter=10, **params)


def fitted(estimator, X, known=None, **others):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, known=known, **others)


@pytest.mark.parametrize("form", ["array", pytest.param("frame", marks=pytest.mark.slow)])
def test_features_go_with_the_stochastic_solver(client, features, form, monkeypatch):
    X, known = features
    names = list("abcd")
    if form == "array":
        spread = da.from_array(X, chunks=(1000, 2))
    else:
        spread = pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
    asked, ask = [], SpreadObjects.run
    monkeypatch.setattr(
        SpreadObjects,
        "run",
        lambda self, name, tasks: asked.extend([name] * len(tasks)) or ask(self, name, tasks),
    )
    mine = fitted(quick(solver="stochastic"), spread, known)
    other = fitted(quick(solver="stochastic"), X if form == "array" else pd.DataFrame(X, columns=names), known)
    assert mine.stress_ == pytest.approx(other.stress_, rel=1e-6)  # single precision
    np.testing.assert_allclose(mine.embedding_, other.embedding_, atol=1e-3)
    assert asked.count("references") >= 2 * 10
    assert sum(name.startswith("place") for name in asked) >= 2


def test_new_objects_are_placed_where_they_lie(client, features):
    X, known = features
    mds = fitted(quick(solver="stochastic"), X, known)
    placed = mds.transform(da.from_array(X, chunks=(500, 2)), known=known)
    assert isinstance(placed, da.Array)
    assert placed.shape == (N, 2)
    np.testing.assert_allclose(placed[:40].compute(), mds.transform(X[:40], known=known[:40]), atol=1e-6)


@pytest.mark.slow
def test_double_precision_is_the_same_to_the_tenth_digit(client, features):
    X = features[0].astype(np.float64)
    mine = fitted(quick(solver="stochastic"), da.from_array(X, chunks=(900, 4)))
    other = fitted(quick(solver="stochastic"), X)
    assert mine.stress_ == pytest.approx(other.stress_, rel=1e-10)


def test_a_metric_is_computed_by_the_workers(client, features, monkeypatch):
    X, names, compute = features[0][:700].astype(np.float64), [], client.compute
    monkeypatch.setattr(client, "compute", lambda a, **k: names.extend(one.key for one in a) or compute(a, **k))
    mine = fitted(quick(solver="lbfgs"), da.from_array(X, chunks=(300, 4)))
    assert mine.stress_ == pytest.approx(fitted(quick(solver="lbfgs"), X).stress_, rel=1e-10)
    assert sum(name.startswith("unmask-block-") for name in names) == 6


def test_sizes_of_chunks_that_dask_does_not_know_are_computed(client, features):
    X, known = features[0][:60].astype(np.float64), features[1][:60]
    array = da.from_array(X, chunks=(25, 4))
    unknown = array[array[:, 0] < np.inf]
    assert np.isnan(unknown.shape[0])
    mds = fitted(quick(), unknown, known)
    assert mds.stress_ == pytest.approx(fitted(quick(), X, known).stress_, rel=1e-10)
    np.testing.assert_allclose(mds.transform(unknown, known=known).compute(), mds.transform(X, known=known), atol=1e-8)
    assert np.isnan(unknown.shape[0])  # what was given is as it was
    with pytest.raises(ValueError, match=r"does not know; call X.compute_chunk_sizes\(\)"):
        quick(metric="precomputed").fit(unknown)


def test_known_columns_of_a_table_are_named_as_with_pandas(client, features):
    frame = pd.DataFrame(features[0][:60].astype(np.float64), columns=list("abcd"))
    parts = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)
    here = fitted(quick(), frame, ["d"])
    mds = fitted(quick(), parts, ["d"])
    assert mds.stress_ == pytest.approx(here.stress_, rel=1e-10)
    assert list(mds.feature_names_in_) == list("abc")
    np.testing.assert_allclose(
        mds.transform(parts, known=["d"]).compute(), here.transform(frame, known=["d"]), atol=1e-8
    )
    with pytest.raises(ValueError, match="known names 'e', but X has the columns 'a', 'b', 'c', 'd'"):
        mds.transform(parts, known=["e"])


def test_a_client_that_is_closed_in_the_middle_is_an_error_in_a_sentence(client, features, tmp_path):
    table, file = da.from_array(Metric().fit_transform(features[0][:400]), chunks=200), tmp_path / "fit.npz"
    with distributed.Client(client.scheduler.address) as other:
        assert distributed.default_client() is other
        closing = [Checkpoint(file, every=50), lambda progress: progress.iteration == 3 and other.close()]
        with pytest.raises(ClusterError, match=r"client was closed in the middle .* connect another .* init=path"):
            quick(metric="precomputed").fit(table, callback=closing)
    resumed, whole = (fitted(quick(metric="precomputed", init=init), table) for init in (file, "auto"))
    assert resumed.stress_path_[0] == pytest.approx(whole.stress_path_[3], rel=1e-8)


@pytest.mark.slow
def test_new_objects_of_a_table_are_placed_in_parts(client, features):
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(features[0][:300], columns=list("abcd"))
    known = pd.DataFrame({"k": features[1][:300, 0]})
    mds = fitted(quick(), frame[:200].reset_index(drop=True), known[:200])
    parts, beside = (dd.from_pandas(table, npartitions=3) for table in (frame, known))
    placed = mds.transform(parts, known=beside).compute()
    np.testing.assert_allclose(placed, mds.transform(frame, known=known), atol=1e-6)
    np.testing.assert_allclose(mds.transform(parts, known=known).compute(), placed)  # what is in memory is cut alike
    with pytest.raises(ValueError, match="known has 300 rows and X has 200"):
        mds.transform(da.from_array(features[0][:200], chunks=100), known=known)


# Which settles: threads of one process have their filters of warnings in common.
SETTLES = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0, tol=1e-5)
SEVERAL = ConditionalMDS(metric="precomputed", n_init=4, random_state=0, max_iter=20)
BY_JOBLIB = {
    "landmark paths": lambda X, *_: Geodesic(8, n_landmarks=20, random_state=0).fit_transform(X).strip,
    "restarts": lambda _, D, known: fitted(SEVERAL, D, known).starts_["stress"],
    "permutation_test": lambda _, D, known: permutation_test(SETTLES, D, known, n_permutations=3)["permuted"],
    "dimension_test": lambda _, D, __: dimension_test(SETTLES, D, n_permutations=3).to_numpy(dtype=float),
    "bootstrap": lambda _, D, known: bootstrap(SETTLES, D, known, n_resamples=3, random_state=0).covariances,
    "jackknife": lambda _, D, known: jackknife(SETTLES, D[:9, :9], known[:9]).covariances,
}


@pytest.mark.parametrize("what", BY_JOBLIB)
def test_what_joblib_spreads_is_done_by_the_workers(client, features, monkeypatch, what):
    X, known = features[0][:90].astype(np.float64), pd.DataFrame({"k": features[1][:90, 0]})
    data = X, Metric().fit_transform(X), known
    here = BY_JOBLIB[what](*data)
    sent, run = [], client.submit
    monkeypatch.setattr(client, "submit", lambda *a, **k: sent.append(1) or run(*a, **k))
    with joblib.parallel_config(backend="dask"):
        there = BY_JOBLIB[what](*data)
    assert len(sent) >= 2
    np.testing.assert_allclose(there, here, rtol=1e-10)


@pytest.mark.slow
def test_an_isomap_is_that_of_one_process(client, features):
    X = features[0][:300].astype(np.float64)
    isomap = ConditionalIsomap(n_neighbors=8, n_landmarks=40, n_init=1, random_state=0, max_iter=15)
    with joblib.parallel_config(backend="dask"):
        mine = fitted(isomap, X).stress_
    assert mine == pytest.approx(fitted(isomap, X).stress_, rel=1e-10)
