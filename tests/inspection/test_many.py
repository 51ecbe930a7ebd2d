"""Inspection of many objects without a table of all pairs: samples that say so, or a refusal with a way out."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone

from tests.many import N, let_few_be_many, no_square, some_features
from unmask import ConditionalIsomap, ConditionalMDS, inspection
from unmask.dissimilarities import Metric
from unmask.inspection import _resampling, bootstrap, neighbourhood_scores, shepard, stress_per_point
from unmask.plotting import plot_shepard

pytestmark = pytest.mark.filterwarnings("ignore::unmask.LeakWarning")
STOCHASTIC = ConditionalMDS(2, solver="stochastic", n_init=1, tol=1e-5, random_state=0)


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Let a few thousand objects be many."""
    let_few_be_many(monkeypatch)


@pytest.fixture(scope="module")
def fitted():
    """Return a fit, its features and what was known."""
    with pytest.MonkeyPatch.context() as patch:
        let_few_be_many(patch)
        features, known, _ = some_features()
        return clone(STOCHASTIC).fit(features, known=known), features, known


def test_shepards_table_is_of_a_sample_and_says_so(fitted):
    mds, features, _ = fitted
    with no_square():
        table = shepard(features, mds, metric="euclidean")
    assert len(table) == 300 * 299 // 2
    assert table.attrs["sample"] == "300 of 3,000 objects, picked at random"
    row = table.iloc[7]
    pair = features.loc[[row["i"], row["j"]]].to_numpy()
    assert row["dissimilarity"] == pytest.approx(np.linalg.norm(pair[0] - pair[1]))
    assert row["distance"] == pytest.approx(mds.predict_dissimilarities([row["i"], row["j"]]).iloc[0, 1])
    stress = (table["residual"] ** 2).sum() / (table["disparity"] ** 2).sum()
    assert stress == pytest.approx(mds.stress_, rel=0.1)
    assert stress_per_point(features, mds, metric="euclidean")["stress"].sum() == pytest.approx(stress)


def test_a_map_without_labels_is_sampled_too(fitted):
    mds, features, _ = fitted
    X = features.to_numpy()
    plain = shepard(X, mds.embedding_, metric="cityblock")
    i, j = plain.loc[11, ["i", "j"]].astype(int)
    assert plain.loc[11, "dissimilarity"] == pytest.approx(np.abs(X[i] - X[j]).sum())
    assert plain.loc[11, "distance"] == pytest.approx(np.linalg.norm(mds.embedding_[i] - mds.embedding_[j]))


def test_shepards_diagram_says_which_pairs_it_shows(fitted):
    mds, features, _ = fitted
    with no_square():
        ax = plot_shepard(mds, features, ax=Figure().add_subplot())
    assert ax.get_xlabel() == "dissimilarity (pairs among 300 of 3,000 objects, picked at random)"


def test_neighbourhoods_of_some_objects_are_like_those_of_all(fitted, monkeypatch):
    mds, features, _ = fitted
    with no_square():
        some = neighbourhood_scores(features, mds, metric="euclidean")
    assert some.attrs["sample"] == "neighbours of 400 of 3,000 objects, picked at random"
    monkeypatch.undo()
    every = neighbourhood_scores(features, mds, metric="euclidean")
    np.testing.assert_allclose(some, every, atol=0.02)
    assert not every.attrs


@pytest.mark.parametrize(
    "name", ["permutation_test", "dimension_test", "choose_n_components", "scree", "jackknife", "bootstrap"]
)
def test_what_refits_all_pairs_refuses_at_once(fitted, name, monkeypatch):
    _, features, known = fitted
    monkeypatch.setattr(ConditionalMDS, "fit", lambda *_, **__: pytest.fail("a fit began"))
    monkeypatch.setattr(Metric, "_square", lambda *_: pytest.fail("a table is made"))
    if name == "bootstrap":  # an array of weights is a table of all pairs
        with pytest.raises(ValueError, match="pass a sample of the objects"):
            bootstrap(STOCHASTIC, features, known, weights=np.ones((3, 3)))
        return
    with pytest.raises(ValueError, match=rf"{name} needs all pairs.* 3,000 objects.*random sample.*such as 2,000"):
        getattr(inspection, name)(STOCHASTIC, features, known)


def test_other_functions_refuse_at_once(fitted):
    _, features, known = fitted
    for function in (inspection.compare, inspection.partial_dbrda, inspection.dbrda_test):
        with no_square(), pytest.raises(ValueError, match=r"needs all pairs.*3,000 objects.*random sample"):
            function(features, known, metric="euclidean")


def test_a_table_for_which_there_is_no_memory_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"takes 29,802 GB, for which there is no memory; use .*stochastic"):
        Metric().fit(np.zeros((2_000_000, 1)))


def test_coefficients_are_resampled_by_objects(fitted):
    mds, features, known = fitted
    with no_square():
        stability = bootstrap(STOCHASTIC, features, known, n_resamples=4)
    assert (stability.sample, stability.n_resamples, len(stability.covariances)) == (300, 4, 0)
    assert list(stability.objects.columns) == ["axis1", "axis2"]
    assert len(stability.objects) == N
    np.testing.assert_allclose(stability.importance["standardized"], mds.importance_["standardized"])
    assert (stability.importance["se"] > 0).all()
    assert (stability.importance["se"] < 0.1 * stability.importance["standardized"]).all()


def test_what_is_known_may_be_named(fitted):
    _, features, known = fitted
    both = features.assign(size=known["size"])
    named, given = (
        bootstrap(STOCHASTIC, *data, n_resamples=2) for data in ((both, ["size"]), (features, known[["size"]]))
    )
    pd.testing.assert_frame_equal(named.coef, given.coef)


def test_paths_are_resampled_exactly_or_refused(fitted):
    _, features, known = fitted
    isomap = ConditionalIsomap(2, n_neighbors=8, solver="stochastic", n_init=1, tol=1e-4, random_state=0)
    few, sizes = features.iloc[:300], known[["size"]].iloc[:300]
    found = bootstrap(isomap, few, sizes, n_resamples=2)
    exact = bootstrap(clone(isomap).set_params(solver="lbfgs"), few, sizes, n_resamples=2)
    pd.testing.assert_frame_equal(found.coef, exact.coef)
    assert (found.sample, len(found.covariances)) == (0, 300)
    with pytest.raises(ValueError, match=r"Geodesic.*needs all pairs.*3,000 objects are more than.*random sample"):
        bootstrap(isomap, features, known, n_resamples=2)


def test_paths_from_landmarks_are_refused(fitted):
    _, features, known = fitted
    with pytest.raises(ValueError, match="n_landmarks=30: bootstrap needs the paths between all objects; leave it out"):
        bootstrap(ConditionalIsomap(n_landmarks=30), features.iloc[:100], known.iloc[:100])


def test_a_level_that_samples_miss_is_named(fitted):
    _, features, known = fitted
    rare = known.assign(kind=["rare", "rare", *known["kind"].iloc[2:]])
    with pytest.raises(
        ValueError, match=r"kind.* has a level so rare that 300 objects picked at random have none; join"
    ):
        bootstrap(STOCHASTIC, features, rare, n_resamples=3)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["stochastic", "lbfgs"])
def test_intervals_from_samples_of_objects_cover_what_all_sets_agree_on(solver, monkeypatch):
    """40 sets of 1,200 objects of one population: the 95% intervals hold the mean over all sets in 34 or more.

    With a coverage of .95, fewer have a probability of .003. Nor are they twice as wide as they need to be.
    """
    monkeypatch.setattr(_resampling, "SEEDS", 5)
    estimator = ConditionalMDS(2, solver=solver, tol=1e-7, n_init=1, random_state=0)
    sets = [one_of_many(seed) for seed in range(40)]
    found = [bootstrap(estimator, *one, n_resamples=20, random_state=0).importance.loc["size"] for one in sets]
    estimates, low, high, errors = (
        np.array([row[name] for row in found]) for name in ("standardized", "low", "high", "se")
    )
    inside = int(np.sum((low <= estimates.mean()) & (estimates.mean() <= high)))
    ratio = float(errors.mean() / estimates.std(ddof=1))
    print(f"{solver}: {inside} of {len(found)} inside; standard error / standard deviation {ratio:.2f}")
    assert inside >= 34
    assert ratio < 2.0


def one_of_many(seed):
    """Return 1,200 objects and their size; the columns load on the factors in the same way in all sets."""
    loadings, rng = np.random.default_rng(0).normal(size=(4, 10)), np.random.default_rng(1000 + seed)
    factors = rng.normal(size=(1200, 4)) * [3, 2, 1, 2]
    return factors @ loadings / 2 + rng.normal(size=(1200, 10)), pd.DataFrame({"size": factors[:, 3] / 2})
