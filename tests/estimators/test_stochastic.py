"""Many objects: steps against random references, beside the exact fit of the same data."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from unmask import ConditionalMDS, Cyclic
from unmask.checking import UnfinishedMapWarning
from unmask.dissimilarities import Metric
from unmask.estimators import _many
from unmask.kernels import ArraySource
from unmask.solvers import _stochastic

pytestmark = pytest.mark.filterwarnings("ignore::unmask.LeakWarning", "ignore::unmask.ImputedKnownWarning")

N = 1500


@pytest.fixture(autouse=True)
def few_landmarks(monkeypatch):
    """Let 1500 objects be many."""
    monkeypatch.setattr(_stochastic, "LANDMARKS", 400)
    monkeypatch.setattr(_stochastic, "FIRST", 200)
    monkeypatch.setattr(_many, "LANDMARKS", 400)


@pytest.fixture(scope="module")
def features():
    """Five factors in eight columns of which four are known: two numbers, a colour and a size."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(N, 5)) * [1.6, 1.3, 1.2, 1.0, 0.8]
    X = factors @ np.linalg.qr(rng.normal(size=(8, 8)))[0][:5] + 0.3 * rng.normal(size=(N, 8))
    known = pd.DataFrame(
        {
            "length": factors[:, 0] + 0.1 * rng.normal(size=N),
            "width": factors[:, 3] + 0.1 * rng.normal(size=N),
            "colour": np.array(["red", "green", "blue"])[np.digitize(factors[:, 3], [-0.5, 0.5])],
            "size": pd.Categorical.from_codes(np.digitize(factors[:, 0], [-2.0, 0.0, 2.0]), list("SMLX"), ordered=True),
            "hour": np.digitize(factors[:, 4], [-0.5, 0.5]) * 8.0,
        }
    )
    return X, known


def fitted(features, columns, *, solver="stochastic", **parameters):
    X, known = features
    parameters = {"n_components": 2, "solver": solver, "random_state": 0, **parameters}
    return ConditionalMDS(**parameters).fit(X, known=known[columns] if columns else None)


def full_stress(mds, X):
    """Return the stress of a fit over all pairs, by its definition."""
    D = Metric().fit_transform(X)
    pairs = np.triu_indices(len(D), 1)
    return float(np.sum((mds.predict_dissimilarities().to_numpy()[pairs] - D[pairs]) ** 2) / np.sum(D[pairs] ** 2))


CASES = {
    "full": (["length", "width"], {}),
    "diagonal": (["length", "width"], {"coef": "diagonal"}),
    "nominal": (["length", "colour"], {}),
    "ordinal": (["size", "width"], {}),
    "cyclic": (["hour", "length"], {"known_types": {"hour": Cyclic(24)}}),
    "penalty": (["length", "width"], {"leak_penalty": 0.1}),
    "orthogonal": (["length", "width"], {"orthogonal": True}),
    "adjusted": (["length", "width"], {"adjust": True}),
    "nothing known": ([], {}),
    "coefficients alone": (["length", "width"], {"n_components": 0}),
}


@pytest.mark.parametrize("case", CASES)
def test_it_comes_near_to_the_exact_minimum(features, case):
    columns, parameters = CASES[case]
    exact = fitted(features, columns, solver="lbfgs", n_init=1, **parameters)
    mds = fitted(features, columns, **parameters)
    stress = full_stress(mds, features[0])
    assert stress < 1.01 * exact.stress_
    assert abs(stress - mds.stress_) < 4 * mds.stress_se_
    assert 0 < mds.stress_se_ < 0.01 * mds.stress_
    assert mds.converged_
    assert mds.solver_.startswith("stochastic")
    if columns:
        np.testing.assert_allclose(mds.importance_["standardized"], exact.importance_["standardized"], rtol=0.05)


def test_missing_known_cells_are_estimated_as_by_the_exact_fit(features):
    X, known = features
    known = known[["length", "width"]].copy()
    rows = np.arange(0, N, 100)
    truth = known["length"].to_numpy()[rows]
    known.loc[rows, "length"] = np.nan
    mds = ConditionalMDS(2, solver="stochastic", random_state=0).fit(X, known=known)
    exact = ConditionalMDS(2, solver="lbfgs", n_init=1, random_state=0).fit(X, known=known)
    found, wanted = (fit.known_imputed_["value"].to_numpy(dtype=float) for fit in (mds, exact))
    assert np.corrcoef(found, truth)[0, 1] > np.corrcoef(wanted, truth)[0, 1] - 0.05
    assert full_stress(mds, X) < 1.015 * exact.stress_
    assert np.isfinite(mds.known_imputed_[["lower", "upper"]].to_numpy()).all()


def test_sammon_weights(features):
    X, known = features
    parameters = {"n_components": 2, "weights": "sammon", "random_state": 0}
    exact = ConditionalMDS(**parameters, solver="lbfgs", n_init=1).fit(X, known=known[["length"]])
    mds = ConditionalMDS(**parameters, solver="stochastic").fit(X, known=known[["length"]])
    assert mds.stress_ == pytest.approx(exact.stress_, rel=0.015)


def test_stress_per_point_adds_up_and_tells_the_same_objects(features):
    exact, mds = (fitted(features, ["length"], solver=solver, n_init=1) for solver in ("lbfgs", "stochastic"))
    assert mds.stress_per_point_.sum() == pytest.approx(mds.stress_)
    assert mds.stress_per_point_.corr(exact.stress_per_point_) > 0.9


def test_the_same_seed_gives_the_same_map_with_any_number_of_threads(features):
    first, second = (fitted(features, ["length"], n_jobs=threads) for threads in (1, 2))
    other = fitted(features, ["length"], random_state=1)
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    assert first.stress_ == second.stress_
    assert not np.array_equal(first.embedding_, other.embedding_)


def test_an_array_and_its_features_give_the_same_map(features):
    X, known = features
    D = Metric().fit_transform(X)
    by_features = fitted(features, ["length"])
    precomputed = ConditionalMDS(metric="precomputed", solver="stochastic", random_state=0)
    by_array = precomputed.fit(D, known=known[["length"]])
    np.testing.assert_allclose(by_array.embedding_, by_features.embedding_, atol=1e-6)


class Slices:
    """A source that knows slices only, as anybody may write one."""

    def __init__(self, D):
        self._D, self.n, self.dtype = D, len(D), D.dtype

    def tile(self, rows, columns):
        assert isinstance(rows, slice)
        assert isinstance(columns, slice)
        return self._D[rows, columns]

    def rows(self, which):
        return self._D[which]


def test_a_source_that_knows_slices_only_is_read_by_rows(features):
    X, known = features
    mds = ConditionalMDS(metric="precomputed", solver="stochastic", random_state=0)
    mds.fit(Slices(Metric().fit_transform(X)), known=known[["length"]])
    assert mds.stress_ == pytest.approx(fitted(features, ["length"]).stress_, rel=0.05)
    assert abs(full_stress(mds, X) - mds.stress_) < 4 * mds.stress_se_


def test_no_table_of_all_pairs_is_made():
    X = np.random.default_rng(0).normal(size=(6000, 5))
    ConditionalMDS(solver="stochastic", random_state=0).fit(X[:N])  # compiled
    tracemalloc.start()
    ConditionalMDS(solver="stochastic", random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 6000 * 8 / 4


def test_new_objects_are_placed_and_fitted_ones_return(features):
    X, known = features
    mds = fitted(features, ["length"])
    np.testing.assert_allclose(mds.transform(X[:20], known=known[["length"]][:20]), mds.embedding_[:20])
    moved = mds.transform(X[:20] + 1e-3, known=known[["length"]][:20])
    assert np.abs(moved - mds.embedding_[:20]).max() < 0.2 * mds.embedding_.std()
    assert mds.score(X[:50] + 0.01, known=known[["length"]][:50]) > 0.8


def test_new_objects_are_placed_by_some_fitted_ones(features, monkeypatch):
    monkeypatch.setattr("unmask.estimators._conditional_mds.PARTNERS", 300)
    X, known = features
    D = Metric().fit_transform(X)
    mds = fitted(features, ["length"])
    placed = mds.transform(X[:50], known=known[["length"]][:50])
    assert np.median(np.abs(placed - mds.embedding_[:50])) < 0.1 * mds.embedding_.std()
    # Where two places fit nearly as well it need not be the same one; but none fits worse than that of the fit.
    known_part = mds.predict_dissimilarities().to_numpy() ** 2 - cdist(mds.embedding_, mds.embedding_) ** 2
    partners = mds._partners

    def misfit(places):
        squares = cdist(places, mds.embedding_[partners]) ** 2 + known_part[:50, partners]
        return np.sum((np.sqrt(np.maximum(squares, 0.0)) - D[:50, partners]) ** 2, axis=1)

    assert np.all(misfit(placed) <= (1 + 1e-9) * misfit(mds.embedding_[:50]))
    ready = ConditionalMDS(metric="precomputed", solver="stochastic", random_state=0).fit(D, known=known[["length"]])
    np.testing.assert_allclose(ready.transform(D[:50], known=known[["length"]][:50]), placed, atol=1e-4)


def test_it_is_heard_and_stopped(features):
    X, known = features
    heard = []

    def stop_soon(progress):
        heard.append(progress)
        return progress.stage == "stochastic" and progress.iteration == 3

    with pytest.warns(UnfinishedMapWarning):
        mds = ConditionalMDS(solver="stochastic", random_state=0).fit(X, known=known[["length"]], callback=stop_soon)
    assert {progress.stage for progress in heard} == {"landmarks", "stochastic"}
    assert mds.n_iter_ == 3
    assert not mds.converged_
    assert heard[-1].embedding().shape == (N, 2)


def test_a_given_start_is_followed(features):
    exact = fitted(features, [], solver="lbfgs", n_init=1)
    mds = fitted(features, [], init=(exact.embedding_, None))
    assert mds.starts_["kind"].tolist() == ["given"]
    assert full_stress(mds, features[0]) < 1.005 * exact.stress_


def test_it_is_cloned_and_pickled(features):
    mds = fitted(features, ["length"])
    again = pickle.loads(pickle.dumps(mds))
    np.testing.assert_array_equal(again.embedding_, mds.embedding_)
    assert clone(mds).solver == "stochastic"


@pytest.mark.parametrize(
    ("parameters", "fit", "message"),
    [
        ({"level": "ordinal"}, {}, "level='ordinal', which fits a transformation to all pairs"),
        ({"weights": "curvilinear"}, {}, "weights='curvilinear', which follow the distances"),
        ({}, {"weights": np.ones((N, N))}, "an array of weights"),
        ({"known_error": {"length": 0.1}}, {}, "known_error, which weighs"),
    ],
)
def test_what_needs_all_pairs_is_refused(features, parameters, fit, message):
    X, known = features
    with pytest.raises(ValueError, match=f"{message}.*use solver='lbfgs'"):
        ConditionalMDS(solver="stochastic", **parameters).fit(X, known=known[["length"]], **fit)


def test_missing_dissimilarities_are_refused(features):
    D = Metric().fit_transform(features[0])
    D[:, 7] = D[7] = np.nan
    D[7, 7] = 0.0
    with pytest.raises(ValueError, match="solver='stochastic' needs all"):
        ConditionalMDS(metric="precomputed", solver="stochastic").fit(D)


def test_automatic_choice(features, monkeypatch):
    assert fitted(features, [], solver="auto", n_init=1, max_iter=5, tol=1.0).solver_.startswith("lbfgs: 1,500 objects")
    assert fitted(features, [], solver="lbfgs", n_init=1, max_iter=5, tol=1.0).solver_ == "lbfgs: as asked for"
    monkeypatch.setattr(_many, "LONGEST_PASS", 1e-6)
    mds = fitted(features, [], solver="auto")
    assert mds.solver_.startswith("stochastic: 1,500 objects, a pass over all pairs would take about")
    ordinal = ConditionalMDS(level="interval", n_init=1, max_iter=5, tol=1.0).fit(features[0][:600])
    assert "but there is level='interval'" in ordinal.solver_
    assert fitted((features[0][:300], None), [], solver="auto", n_init=1).solver_.startswith("lbfgs: with 300 objects")


def test_an_array_is_a_source_by_number():
    D = np.arange(16.0).reshape(4, 4)
    at = np.array([2, 0])
    np.testing.assert_array_equal(ArraySource(D).tile(at, np.array([1])), D[np.ix_(at, [1])])
