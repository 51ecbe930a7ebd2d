"""t-SNE and UMAP given known features."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import kneighbors_graph

from tests.neighbours.simulated import batches, told
from unmask import (
    ConditionalTSNE,
    ConditionalUMAP,
    KnownFeatureWarning,
    LeakWarning,
    MapWarning,
    Nominal,
    UnfinishedWarning,
)

UMAP, TSNE = ConditionalUMAP(random_state=0), ConditionalTSNE(random_state=0)
both = pytest.mark.parametrize("estimator", [UMAP, TSNE], ids=["umap", "tsne"])


def short(estimator, **params):
    """Return an unfitted estimator of few iterations."""
    return clone(estimator).set_params(**{"max_iter": 20, **params})


def quietly(estimator, X, known=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, known=known)


@pytest.fixture(scope="module")
def simulated():
    return batches(n=450, shift=15.0)


@pytest.fixture(scope="module")
def named(simulated):
    return pd.DataFrame({"batch": pd.Categorical.from_codes(simulated[2], list("abc"))})


@pytest.fixture(scope="module")
def maps(simulated, named):
    return {kind: quietly(kind(random_state=0), simulated[0], named) for kind in (ConditionalUMAP, ConditionalTSNE)}


# ---- what the maps show


@both
def test_groups_show_and_batches_do_not(estimator, simulated, maps):
    X, group, batch = simulated
    plain = quietly(clone(estimator), X).embedding_
    given = maps[type(estimator)].embedding_
    assert told(plain, batch) > 0.9
    assert told(given, batch) < 0.65
    assert told(plain, group, among=batch) < told(given, group, among=batch)
    assert told(given, group, among=batch) > 0.85


@both
def test_new_objects_come_to_lie_among_their_group(estimator, simulated, named):
    X, group, _ = simulated
    fitted = quietly(clone(estimator), X[:300], named[:300])
    placed = fitted.transform(X[300:], known=named[300:].reset_index(drop=True))
    nearest = np.argsort(cdist(placed, fitted.embedding_), axis=1)[:, :10]
    counts = (group[nearest][:, :, None] == np.arange(5)).sum(axis=1)
    assert np.mean(counts.argmax(axis=1) == group[300:]) > 0.9


@both
def test_a_fitted_object_returns_to_its_place(estimator, simulated, named, maps):
    fitted = maps[type(estimator)]
    np.testing.assert_array_equal(fitted.transform(simulated[0][:30], known=named[:30]), fitted.embedding_[:30])


@both
def test_threads_and_pickles_change_nothing(estimator, simulated, named):
    X, *_ = simulated
    one = quietly(short(estimator, n_jobs=1), X, named)
    two = quietly(short(estimator, n_jobs=2), X, named)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    again = pickle.loads(pickle.dumps(one))
    shifted = X[:9] + 0.3
    np.testing.assert_array_equal(again.transform(shifted, known=named[:9]), two.transform(shifted, known=named[:9]))


@pytest.mark.parametrize("known", ["number", "numbers", "cycle"])
def test_strata_of_numbers(known):
    rng = np.random.default_rng(1)
    group = rng.integers(4, size=400)
    values = {"number": rng.uniform(size=(400, 1)), "numbers": rng.uniform(size=(400, 2))}
    values["cycle"] = values["number"]
    effect = 8.0 * values[known] @ rng.standard_normal((values[known].shape[1], 6))
    X = 4.0 * rng.standard_normal((4, 6))[group] + effect + 0.5 * rng.standard_normal((400, 6))
    types = {"known0": "cyclic:1"} if known == "cycle" else None
    fitted = quietly(clone(UMAP).set_params(known_types=_types(types)), X, values[known])
    assert fitted.leak_ < 0.5
    assert told(fitted.embedding_, group) > 0.9


def _types(types):
    from unmask import Cyclic

    return None if types is None else {"known0": Cyclic(1.0)}


def test_aligned_levels_share_more_of_their_neighbours(simulated, named, maps):
    aligned = quietly(short(UMAP, align=True), simulated[0], named)
    batch = simulated[2]

    def across(fitted):
        edges = fitted.graph_.tocoo()
        return edges.data[batch[edges.row] != batch[edges.col]].sum() / edges.data.sum()

    assert across(aligned) > across(maps[ConditionalUMAP]) > 0.05


# ---- forms of data


@both
def test_features_in_every_form(estimator, simulated, named):
    X, *_ = simulated
    expected = quietly(short(estimator), X, named)
    frame = pd.DataFrame(X).rename(columns=str)
    by_name = quietly(short(estimator), frame.assign(batch=named["batch"]), "batch")
    np.testing.assert_array_equal(by_name.embedding_, expected.embedding_)
    sparse = quietly(short(estimator), sp.csr_matrix(X), named)
    np.testing.assert_array_equal(sparse.embedding_, expected.embedding_)
    assert quietly(short(estimator, metric="cosine"), sp.random(200, 300, 0.2, random_state=0)).embedding_.shape == (
        200,
        2,
    )


@both
def test_a_table_and_a_graph_of_neighbours(estimator, simulated, named):
    X, group, _ = simulated
    D = cdist(X, X)
    labels = [f"o{i}" for i in range(len(X))]
    table = quietly(
        clone(estimator).set_params(metric="precomputed"), pd.DataFrame(D, labels, labels), named.set_axis(labels)
    )
    assert list(table.object_names_[:2]) == ["o0", "o1"]
    np.testing.assert_array_equal(table.transform(D[:5], known=named[:5]), table.embedding_[:5])
    graph = kneighbors_graph(X, 60, mode="distance")
    neighbours = quietly(clone(estimator).set_params(metric="precomputed"), graph)
    assert told(neighbours.embedding_, group) > 0.9
    here = np.repeat(np.arange(5), len(X)), np.tile(np.arange(len(X)), 5)
    stored = sp.csr_array((D[:5].ravel(), here), shape=(5, len(X)))  # with their own zeros
    np.testing.assert_array_equal(neighbours.transform(stored), neighbours.embedding_[:5])
    other = quietly(short(estimator, metric="chebyshev"), X, named)
    assert other.transform(X[:5] + 0.1, known=named[:5]).shape == (5, 2)


@both
def test_a_start_is_used(estimator, simulated):
    init = np.random.default_rng(3).standard_normal((450, 2))
    stopped = short(estimator, init=init)
    with pytest.warns(UnfinishedWarning, match="interrupted after 0 of 20"):
        stopped.fit(simulated[0], callback=lambda progress: True)
    np.testing.assert_allclose(stopped.embedding_, init, atol=1e-6)


@both
def test_a_callback_sees_every_iteration_and_may_stop(estimator, simulated):
    seen = []

    def stop(progress):
        seen.append((progress.stage, progress.iteration))
        assert progress.stage == "graph" or progress.embedding().shape == (450, 2)
        return progress.iteration == 4

    fitted = short(estimator)
    with pytest.warns(UnfinishedWarning):
        fitted.fit(simulated[0], callback=stop)
    assert seen == [("graph", 0), *(("neighbours", i) for i in range(5))]
    assert fitted.n_iter_ == 4
    assert fitted.stop_reason_ == "it was interrupted"


# ---- what is reported


def test_neighbours_that_tell_a_feature_are_warned_of():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 60)
    X = 8.0 * rng.standard_normal((3, 5))[group] + rng.standard_normal((180, 5))
    batch = np.where(rng.uniform(size=180) < 0.9, group == 0, group == 1)  # goes with the first group
    with pytest.warns(LeakWarning, match="neighbours on the map tell known0"):
        fitted = clone(UMAP).fit(X, known=np.where(batch, "a", "b"))
    row = fitted.knn_leak_.loc["known0"]
    assert row["score"] > row["reference"]
    assert "neighbours on it tell" in str(fitted.summary())


@both
def test_a_summary_and_a_picture(estimator, maps):
    fitted = maps[type(estimator)]
    text = str(fitted.summary())
    assert text.startswith(f"{type(estimator).__name__}: a map of 450 objects in 2 dimensions, given batch")
    assert "% of the weight joins 3 strata" in text
    assert list(fitted.known_summary_.index) == ["batch"]
    assert 0.0 <= fitted.leak_ <= 1.0
    assert fitted.plot() is not None
    assert list(fitted.get_feature_names_out()) == [f"{type(estimator).__name__.lower()}{i}" for i in range(2)]


# ---- bad cases


def test_a_level_with_one_object(simulated):
    X, _, batch = simulated
    levels = np.array(list("abc"))[batch]
    levels[7] = "alone"
    fitted = quietly(short(UMAP), X, levels)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(X[:9], known=levels[:9])).all()


def test_constant_and_collinear_known_features(simulated, named):
    X, *_ = simulated
    more = named.assign(one=1.0, copy=named["batch"])
    with pytest.warns(KnownFeatureWarning):
        fitted = short(UMAP).set_params(known_types={"copy": Nominal()}).fit(X, known=more)
    assert set(fitted.known_redundant_.index) == {"one", "copy"}


def test_nothing_left_is_warned_of():
    known = np.random.default_rng(0).uniform(size=(80, 2))
    with pytest.warns(MapWarning, match="the map shows noise"):
        short(UMAP).fit(known @ np.ones((2, 4)), known=known)


@both
def test_duplicates_and_parts_that_no_edge_joins(estimator):
    rng = np.random.default_rng(0)
    same = quietly(short(estimator), np.repeat(rng.standard_normal((5, 3)), 30, axis=0), np.tile(["a", "b"], 75))
    assert np.isfinite(same.embedding_).all()
    assert np.isfinite(quietly(short(estimator), np.ones((50, 3))).embedding_).all()
    parts = np.vstack([rng.standard_normal((200, 2)), 1e6 + rng.standard_normal((200, 2))])
    fitted = quietly(clone(estimator).set_params(n_jobs=1), parts)
    assert told(fitted.embedding_, np.repeat([0, 1], 200)) > 0.95


@both
def test_fewer_objects_than_neighbours(estimator):
    X = np.random.default_rng(0).standard_normal((9, 3))
    with pytest.warns(MapWarning, match="there are 9 objects, fewer than"):
        fitted = short(estimator).fit(X)
    assert np.isfinite(fitted.embedding_).all()


@both
@pytest.mark.parametrize(
    ("params", "data", "named"),
    [
        ({}, lambda X: np.where(X > 2, np.nan, X), "NaN"),
        ({}, lambda X: X[:, :0], "0 feature"),
        ({"metric": "precomputed"}, lambda X: -cdist(X, X), "Negative"),
        ({"metric": "precomputed"}, lambda X: np.where(cdist(X, X) > 9, np.nan, cdist(X, X)), "NaN"),
        ({"metric": "precomputed"}, sp.csr_array, "needs a column"),
        ({"metric": "precomputed"}, lambda X: -sp.csr_array(cdist(X, X)), "Negative"),
        ({"init": np.zeros((3, 2))}, lambda X: X, "init"),
        ({"init": "random"}, lambda X: X, "init"),
        ({"align": "yes"}, lambda X: X, "align"),
        ({"max_iter": 0}, lambda X: X, "max_iter"),
        ({"known_types": {"batch": Nominal()}}, lambda X: X, "known_types"),
        ({"metric": "chebyshev"}, lambda X: np.zeros((20_001, 2)), "at most 20,000"),
    ],
)
def test_what_cannot_be_is_refused(estimator, simulated, params, data, named):
    with pytest.raises(ValueError, match=named):
        clone(estimator).set_params(**params).fit(data(simulated[0]))


@pytest.mark.parametrize(
    "estimator",
    [
        ConditionalTSNE(perplexity=0.5),
        ConditionalTSNE(early_exaggeration=0.5),
        ConditionalUMAP(n_neighbors=1),
        ConditionalUMAP(min_dist=-1.0),
        ConditionalUMAP(min_dist=2.0),
    ],
)
def test_parameters_of_the_models_are_checked(estimator, simulated):
    with pytest.raises(ValueError, match=r"perplexity|early_exaggeration|n_neighbors|min_dist"):
        estimator.fit(simulated[0])


def test_missing_known_cells_are_refused(simulated):
    known = np.where(np.arange(450) % 9 == 0, np.nan, 1.0 * np.arange(450))
    with pytest.raises(ValueError, match=r"50 missing cells .*ConditionalMDS"):
        clone(UMAP).fit(simulated[0], known=known)


def test_new_objects_need_known_features_and_neighbours(simulated, named, maps):
    with pytest.raises(ValueError, match="known is needed"):
        maps[ConditionalUMAP].transform(simulated[0][:3])
    graph = kneighbors_graph(simulated[0], 20, mode="distance")
    fitted = quietly(short(UMAP, metric="precomputed"), graph)
    with pytest.raises(ValueError, match="new object 1 has no neighbour"):
        fitted.transform(sp.csr_array(np.vstack([graph[[0]].toarray(), np.zeros((1, 450))])))
