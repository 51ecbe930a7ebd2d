"""Watching a fit and stopping it: the callback of fit, and what verbose prints."""

import re
import time

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    GeneralMDS,
    Numeric,
    Progress,
    SpectralMap,
    UnfinishedWarning,
)
from unmask.dissimilarities import Drill, Geodesic, LocallyLinear, MaximumEntropyUnfolding, MaximumVarianceUnfolding

SEARCHING = [
    ConditionalMDS(n_init=3, random_state=0),
    ConditionalMDS(1, weights="curvilinear", n_init=2, random_state=0),
    ConditionalIsomap(n_init=2, n_neighbors=6, random_state=0),
    GeneralMDS(n_init=3, loss="huber", random_state=0),
]


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 3))


def name_of(estimator):
    return type(estimator).__name__ + ("" if getattr(estimator, "weights", None) is None else "-" + estimator.weights)


# ---- the callback of fit


@pytest.mark.parametrize("estimator", SEARCHING, ids=name_of)
def test_a_callback_sees_the_whole_path_and_changes_nothing(estimator, X):
    heard = []
    watched = clone(estimator).fit(X, callback=heard.append)
    alone = clone(estimator).fit(X)
    np.testing.assert_array_equal(watched.embedding_, alone.embedding_)
    search = [progress for progress in heard if progress.stage == "search"]
    starts = watched.starts_
    assert {progress.n_starts for progress in search} == {len(starts)}
    assert [progress.start for progress in search] == sorted(progress.start for progress in search)
    for number, row in enumerate(starts.itertuples(), 1):
        own = [progress for progress in search if progress.start == number]
        assert [progress.iteration for progress in own] == list(range(row.n_iter + 1))
        assert {progress.kind for progress in own} == {row.kind}
        assert own[-1].stress == starts.iloc[number - 1, 1]
    quantity = "cost" if hasattr(watched, "cost_") else "stress"
    last = [progress.stress for progress in heard if progress.stage == heard[-1].stage]
    if heard[-1].stage == "search":
        best = int(starts["best"].argmax()) + 1
        last = [progress.stress for progress in search if progress.start == best]
    path = getattr(watched, f"{quantity}_path_")
    assert last[-1] == path[-1]
    if heard[-1].stage == "search":
        np.testing.assert_array_equal(last, path)


@pytest.mark.parametrize("estimator", SEARCHING, ids=name_of)
def test_true_stops_the_fit_and_leaves_the_best_map_so_far(estimator, X):
    heard = []

    def stop(progress):
        heard.append(progress)
        return progress.stage == "search" and progress.iteration == 2

    stopped = clone(estimator)
    with pytest.warns(UnfinishedWarning, match="the fit was interrupted in start 1; its map is the best") as said:
        stopped.fit(X, callback=stop)
    assert len(said) == 1
    assert stopped.starts_["n_iter"].tolist() == [2]
    assert stopped.starts_["reason"].tolist() == ["it was interrupted"]
    assert stopped.stop_reason_ == "it was interrupted"
    assert not stopped.converged_
    in_search = [progress for progress in heard if progress.stage == "search"]
    assert [progress.iteration for progress in in_search] == [0, 1, 2]
    np.testing.assert_array_equal(stopped.embedding_.shape, (40, stopped.n_components))


def test_the_best_of_several_starts_is_kept(X):
    mds = ConditionalMDS(n_init=5, random_state=0)
    whole = clone(mds).fit(X)
    with pytest.warns(UnfinishedWarning, match="in start 3;"):
        stopped = mds.fit(X, callback=lambda progress: progress.start == 3 and progress.iteration == 1)
    assert stopped.starts_["n_iter"].tolist() == [*whole.starts_["n_iter"][:2], 1]
    assert stopped.stress_ == pytest.approx(stopped.starts_["stress"].min())
    assert stopped.stress_ == pytest.approx(whole.starts_["stress"][:2].min(), rel=1e-12)


def test_a_callback_that_always_stops_leaves_the_start(X):
    with pytest.warns(UnfinishedWarning):
        stopped = ConditionalIsomap(n_neighbors=6, random_state=0).fit(X, callback=lambda progress: True)
    assert len(stopped.starts_) == 1
    assert stopped.n_iter_ == 0
    assert len(stopped.stress_path_) == 1


def test_stages_after_the_search_are_stopped_too(X):
    def stop(progress):
        return progress.stage == "curvilinear" and progress.iteration == 1

    whole = ConditionalMDS(1, weights="curvilinear", n_init=1, random_state=0).fit(X)
    with pytest.warns(UnfinishedWarning):
        stopped = ConditionalMDS(1, weights="curvilinear", n_init=1, random_state=0).fit(X, callback=stop)
    assert stopped.radius_ > whole.radius_
    assert stopped.stop_reason_ == "it was interrupted"


def test_values_that_move_within_their_errors_are_a_stage(X, rng):
    stages = []
    known = X[:, :1] + 0.1 * rng.standard_normal((40, 1))
    mds = ConditionalMDS(n_init=1, known_types={"known0": Numeric(error=0.1)}, random_state=0)
    mds.fit(X, known=known, callback=lambda progress: stages.append(progress.stage))
    assert list(dict.fromkeys(stages)) == ["search", "errors"]


@pytest.mark.parametrize(
    "estimator",
    [
        ConditionalMDS(n_init=2),
        GeneralMDS(n_init=2),
        GeneralMDS(n_init=2, distance="cityblock", distance_parameter=1e-9),
    ],
    ids=["mds", "general", "cityblock"],
)
def test_the_map_on_demand_is_that_of_the_moment(estimator, X):
    seen = []
    estimator.set_params(random_state=0, max_iter=20, tol=0)
    metric = "cityblock" if getattr(estimator, "distance", None) == "cityblock" else "euclidean"
    estimator.set_params(metric="precomputed")
    D = squareform(pdist(X, metric))
    with pytest.warns(ConvergenceWarning):
        estimator.fit(D, callback=lambda progress: seen.append((progress, progress.embedding())))
    total = 1.0 if isinstance(estimator, GeneralMDS) else np.sum(squareform(D) ** 2)
    for progress, embedding in seen:
        assert embedding.shape == (40, 2)
        stress = np.sum((pdist(embedding, metric) - squareform(D)) ** 2) / total
        assert progress.stress == pytest.approx(stress, rel=1e-6)
    best = int(estimator.starts_["best"].argmax()) + 1
    last = [embedding for progress, embedding in seen if progress.start == best][-1]
    np.testing.assert_allclose(last, estimator.embedding_, atol=1e-9)


def test_a_stage_without_a_map_says_so(X):
    seen = []
    Geodesic(n_neighbors=6).fit(X, callback=seen.append)
    assert repr(seen) == repr([Progress("graph"), Progress("paths")])  # nan is not equal to itself
    with pytest.raises(ValueError, match=r"there is no map in the stage 'graph'; look at progress\.stage"):
        seen[0].embedding()
    with pytest.raises(AttributeError):
        seen[0].iteration = 3


def test_isomap_has_three_stages(X):
    stages = []
    ConditionalIsomap(n_neighbors=6, n_init=1).fit(X, callback=lambda progress: stages.append(progress.stage))
    assert list(dict.fromkeys(stages)) == ["graph", "paths", "search"]


def test_starts_side_by_side_are_heard_one_at_a_time(rng):
    X = rng.standard_normal((220, 3))
    inside, most, heard = 0, 0, []

    def listen(progress):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        heard.append(progress)
        time.sleep(1e-4)  # another thread would come in now
        inside -= 1

    mds = ConditionalMDS(n_init=6, tol=1e-4, n_jobs=2, random_state=0).fit(X, callback=listen)
    assert most == 1
    for number, row in enumerate(mds.starts_.itertuples(), 1):
        own = [progress for progress in heard if progress.start == number]
        assert [progress.iteration for progress in own] == list(range(row.n_iter + 1))
        assert own[-1].stress == row.stress


def test_a_callback_stops_starts_that_run_side_by_side(rng):
    X = rng.standard_normal((220, 3))
    with pytest.warns(UnfinishedWarning):
        mds = ConditionalMDS(n_init=6, n_jobs=2, random_state=0).fit(X, callback=lambda p: p.iteration == 4)
    assert 1 <= len(mds.starts_) <= 2
    assert mds.starts_["n_iter"].max() == 4


def test_an_error_in_a_callback_is_the_users(X):
    with pytest.raises(ZeroDivisionError):
        ConditionalMDS(n_init=2).fit(X, callback=lambda progress: 1 / progress.iteration)
    with pytest.raises(TypeError, match=r"callback=3 must be a function of one argument, an unmask\.Progress"):
        ConditionalMDS(n_init=2).fit(X, callback=3)


def test_a_fit_within_a_callback_is_a_fit_of_its_own(X):
    heard = []

    def fit_another(progress):
        heard.append(progress.stage)
        if progress.iteration == 1:
            Geodesic(n_neighbors=6).fit(X)
            ConditionalClassicalMDS().fit(X)
            ConditionalMDS(n_init=1).fit(X)

    mds = ConditionalMDS(n_init=1, random_state=0).fit(X, callback=fit_another)
    assert heard == ["search"] * (mds.n_iter_ + 1)


def test_callbacks_are_routed_through_a_pipeline(X):
    heard = []
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(Geodesic(n_neighbors=6), ConditionalMDS(metric="precomputed", n_init=1))
        pipe.fit(X, callback=lambda progress: heard.append(progress.stage))
    assert list(dict.fromkeys(heard)) == ["graph", "paths", "search"]


@pytest.mark.parametrize(
    "unfolding",
    [
        MaximumVarianceUnfolding(4),
        MaximumEntropyUnfolding(4),
        MaximumEntropyUnfolding(4, constraints="equal"),
        Drill(4, penalty=0.1),
    ],
    ids=str,
)
def test_unfolding_can_be_watched_and_stopped(unfolding, X):
    heard = []
    watched = clone(unfolding).fit(X, callback=heard.append)
    np.testing.assert_array_equal(watched.dissimilarities_, clone(unfolding).fit(X).dissimilarities_)
    assert repr(heard[0]) == repr(Progress("graph"))
    assert [progress.iteration for progress in heard[1:]] == list(range(1, watched.n_iter_ + 1))
    assert {(progress.stage, progress.max_iter) for progress in heard[1:]} == {("unfolding", unfolding.max_iter)}
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        stopped = clone(unfolding).fit(X, callback=lambda progress: progress.iteration == 2)
    assert stopped.n_iter_ == 2
    assert not stopped.converged_


def test_a_spectral_map_lets_its_transformer_be_watched_and_stopped(X):
    alone, heard = [], []
    MaximumVarianceUnfolding(4).fit(X, callback=alone.append)
    watched = SpectralMap(MaximumVarianceUnfolding(4))
    U = watched.fit_transform(X, callback=heard.append)
    np.testing.assert_array_equal(U, SpectralMap(MaximumVarianceUnfolding(4)).fit_transform(X))
    assert repr(heard) == repr(alone)
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        watched.fit(X, callback=lambda progress: progress.iteration == 2)
    assert watched.dissimilarity_.n_iter_ == 2


def test_what_does_not_iterate_tells_its_stage(X):
    heard = []
    LocallyLinear(6).fit_transform(X, callback=heard.append)
    assert repr(heard) == repr([Progress("graph")])


# ---- verbose


def test_lines_of_starts_that_run_side_by_side_are_whole(rng, capsys):
    X = rng.standard_normal((220, 3))
    with pytest.warns(ConvergenceWarning):
        mds = ConditionalMDS(n_init=6, max_iter=15, tol=0, n_jobs=2, random_state=0, verbose=2).fit(X)
    lines = capsys.readouterr().out.splitlines()
    pattern = re.compile(r"start \d of 6, iteration \d+, stress 0\.\d+( \((closed-form|random), not converged\))?")
    assert [line for line in lines if not pattern.fullmatch(line)] == []
    assert len(lines) == (mds.starts_["n_iter"] + 1).sum() + 6
    for number, stress in enumerate(mds.starts_["stress"], 1):
        own = [line for line in lines if line.startswith(f"start {number} of 6,")]
        assert [int(re.search(r"iteration (\d+)", line)[1]) for line in own] == [*range(16), 15]
        assert f"stress {stress:.6g} (" in own[-1]
