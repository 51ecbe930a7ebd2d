"""Geodesic: scikit-learn's conventions, agreement with its Isomap, errors."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.manifold import Isomap
from sklearn.metrics import pairwise_distances

from unmask import MapWarning
from unmask.dissimilarities import Geodesic
from unmask.graphs import takes_usearch


def test_paths_equal_those_of_scikit_learn(rng):
    X = rng.standard_normal((80, 3))
    mine = Geodesic(n_neighbors=6).fit(X)
    theirs = Isomap(n_neighbors=6).fit(X)
    np.testing.assert_allclose(mine.dissimilarities_, theirs.dist_matrix_, rtol=1e-12)
    assert mine.n_components_joined_ == 1


def test_parts_are_joined_with_a_warning_that_counts_them_or_refused(rng):
    X = np.concatenate([rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 50])
    with pytest.warns(MapWarning, match="falls into 2 parts, which were joined"):
        joined = Geodesic(n_neighbors=3).fit(X)
    assert np.isfinite(joined.dissimilarities_).all()
    assert joined.n_components_joined_ == 2
    with pytest.raises(ValueError, match="2 parts; raise n_neighbors or radius, or pass on_disconnected='join'"):
        Geodesic(n_neighbors=3, on_disconnected="error").fit(X)


@pytest.mark.parametrize("rule", [{"n_neighbors": 5}, {"n_neighbors": None, "radius": 2.5}])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_fitted_objects_keep_their_paths_and_new_ones_go_through_neighbours(rng, rule, metric):
    X = rng.standard_normal((60, 2))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    data, new = (D[:50, :50], D[50:, :50]) if metric == "precomputed" else (X[:50], X[50:])
    geodesic = Geodesic(metric=metric, **rule).fit(data)
    np.testing.assert_allclose(geodesic.transform(data), geodesic.dissimilarities_, atol=1e-7)
    paths = geodesic.transform(new)
    assert np.all(paths >= D[50:, :50] - 1e-9)  # no path is shorter than the straight line
    lonely = np.full((1, data.shape[1]), 1e6)
    if rule.get("radius"):
        with pytest.raises(ValueError, match="no neighbour among the fitted objects"):
            geodesic.transform(lonely)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("rule", [{"n_neighbors": 4}, {"n_neighbors": None, "radius": 1.2}])
@pytest.mark.filterwarnings("ignore::unmask.MapWarning")
def test_mutual_neighbours_give_fitted_objects_their_paths_back(rng, metric, rule):
    X = rng.standard_normal((40, 3))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    data, new = (D[:30, :30], D[30:, :30]) if metric == "precomputed" else (X[:30], X[30:])
    geodesic = Geodesic(mutual=True, metric=metric, **rule).fit(data)
    np.testing.assert_allclose(geodesic.transform(data), geodesic.dissimilarities_, atol=1e-12)
    if rule["n_neighbors"]:
        assert np.all(geodesic.transform(new) >= D[30:, :30] - 1e-9)


def test_columns_in_another_order_are_matched_by_label(kinship):
    D = kinship.dissimilarities
    plain = Geodesic(6, metric="precomputed").fit(D)
    shuffled = Geodesic(6, metric="precomputed").fit(D.iloc[:, ::-1])
    np.testing.assert_array_equal(shuffled.dissimilarities_, plain.dissimilarities_)
    np.testing.assert_array_equal(plain.transform(D.iloc[:3, ::-1]), plain.dissimilarities_[:3])


def test_hundreds_of_parts_are_joined(rng):
    X = rng.standard_normal((1500, 3))
    with pytest.warns(MapWarning, match="parts, which were joined"):
        geodesic = Geodesic(1, mutual=True).fit(X)
    assert geodesic.n_components_joined_ > 500
    assert np.isfinite(geodesic.dissimilarities_).all()


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.filterwarnings("ignore:the neighbourhood graph:unmask.MapWarning")
def test_fitted_objects_with_many_columns_get_their_own_paths(rng, mutual):
    # scikit-learn finds such distances from products of rows, which puts an object 0.001 from itself here.
    X = rng.standard_normal((40, 30)) + 1e4
    geodesic = Geodesic(4, mutual=mutual).fit(X)
    np.testing.assert_array_equal(geodesic.transform(X), geodesic.dissimilarities_)


def test_ties_among_the_neighbours_of_a_new_object_do_not_depend_on_the_order():
    D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    new = np.array([[2.0, 1.0, 1.0, 2.0]])
    there = Geodesic(1, metric="precomputed").fit(D).transform(new)
    back = Geodesic(1, metric="precomputed").fit(D[::-1, ::-1]).transform(new[:, ::-1])[:, ::-1]
    np.testing.assert_array_equal(there, new)
    np.testing.assert_array_equal(back, new)


def test_a_long_table_of_new_dissimilarities_labels_the_result(rng):
    labels = [f"o{i}" for i in range(8)]
    X = rng.standard_normal((8, 2))
    D = pd.DataFrame(pairwise_distances(X), index=labels, columns=labels)
    geodesic = Geodesic(3, metric="precomputed").set_output(transform="pandas").fit(D)
    new = pd.DataFrame({"new": np.repeat(["x", "y"], 8), "old": labels * 2, "d": np.r_[D["o1"], D["o2"]]})
    found = geodesic.transform(new)
    assert list(found.index) == ["x", "y"]
    np.testing.assert_array_equal(found, geodesic.dissimilarities_[[1, 2]])


def test_parameters_of_minkowski_pass_without_a_warning(rng):
    X = rng.standard_normal((30, 3))
    found = Geodesic(5, metric="minkowski", metric_params={"p": 1}).fit_transform(X)
    np.testing.assert_allclose(found, Geodesic(5, metric="manhattan").fit_transform(X), rtol=1e-12, atol=0)


# ---- neighbours of many objects


@pytest.mark.parametrize(
    ("metric", "n", "columns", "usearch"),
    [
        ("euclidean", 100_000, 50, False),
        ("euclidean", 100_001, 50, True),
        ("cosine", 100_001, 50, True),
        ("euclidean", 10_000_000, 5, False),  # a tree
        ("manhattan", 1_000_000, 50, False),  # which usearch has not
        ("precomputed", 1_000_000, 50, False),
    ],
)
def test_the_search_depends_on_the_metric_and_the_size_alone(metric, n, columns, usearch):
    assert takes_usearch(metric, n, columns) is usearch


def force_usearch(monkeypatch):
    monkeypatch.setattr("unmask.graphs._neighbours.MOST_COMPARISONS", 0)
    monkeypatch.setattr("unmask.graphs._neighbours.ROWS", 300)


def neighbours_of(geodesic):
    return geodesic.graph_.toarray() > 0


@pytest.mark.parametrize("metric", ["euclidean", "l2", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.filterwarnings("ignore:the neighbourhood graph:unmask.MapWarning")
def test_usearch_finds_nearly_all_neighbours_and_the_same_each_time(rng, monkeypatch, metric, mutual):
    pytest.importorskip("usearch")
    X = rng.standard_normal((1000, 12))
    exact = Geodesic(8, metric=metric, mutual=mutual).fit(X)
    force_usearch(monkeypatch)
    found, again = (Geodesic(8, metric=metric, mutual=mutual).fit(X) for _ in range(2))
    both = neighbours_of(found) & neighbours_of(exact)
    assert both.sum() >= 0.95 * neighbours_of(exact).sum()
    np.testing.assert_allclose(found.graph_.toarray()[both], exact.graph_.toarray()[both], rtol=1e-9)
    np.testing.assert_array_equal(found.graph_.toarray(), again.graph_.toarray())
    np.testing.assert_allclose(found.transform(X[:5]), found.dissimilarities_[:5], rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:the neighbourhood graph:unmask.MapWarning")
def test_usearch_takes_duplicates_and_few_objects(rng, monkeypatch):
    pytest.importorskip("usearch")
    force_usearch(monkeypatch)
    X = np.concatenate([rng.standard_normal((90, 6)), np.zeros((10, 6))])
    found = Geodesic(5).fit(X)
    assert np.all(found.dissimilarities_[90:, 90:] == 0)
    assert np.isfinite(found.dissimilarities_).all()
    assert np.isfinite(Geodesic(3).fit(X[:6]).dissimilarities_).all()


def test_without_usearch_many_objects_are_an_error_that_names_the_extra(rng, monkeypatch):
    force_usearch(monkeypatch)
    monkeypatch.setitem(sys.modules, "usearch", None)
    X = rng.standard_normal((50, 6))
    with pytest.raises(ImportError, match=r"neighbours of 50 objects needs the package 'usearch'.*unmask\[graphs\]"):
        Geodesic(5).fit(X)
    assert Geodesic(5, metric="manhattan").fit(X).graph_.nnz  # which is searched for exactly
    assert Geodesic(None, radius=9.0).fit(X).graph_.nnz


@pytest.mark.parametrize("columns", [4, 7])
def test_many_rows_are_searched_for_some_at_a_time(rng, monkeypatch, columns):
    X = np.concatenate([rng.standard_normal((290, columns)), np.zeros((10, columns))])
    whole, heard = Geodesic(4).fit(X), []
    monkeypatch.setattr("unmask.graphs._neighbours.AT_ONCE", 100)
    monkeypatch.setattr("unmask.graphs._neighbours.ROWS", 120)
    parts = Geodesic(4).fit(X, callback=lambda progress: heard.append((progress.stage, progress.iteration)))
    np.testing.assert_allclose(parts.dissimilarities_, whole.dissimilarities_, rtol=1e-6, atol=1e-6)
    assert [iteration for stage, iteration in heard if stage == "graph"][-3:] == [0, 120, 240]
