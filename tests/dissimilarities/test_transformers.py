"""One door for `metric=`: a name, a function or a transformer, wherever dissimilarities are computed."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    MapWarning,
    MissingDissimilarityWarning,
)
from unmask.discovery import Discovery
from unmask.dissimilarities import Geodesic, LocallyLinear, MaximumEntropyUnfolding, Metric, make_transformer
from unmask.inspection import scree
from unmask.plotting import plot_shepard

FAST = {"n_init": 2, "random_state": 0}


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 4))


@pytest.fixture
def animals():
    return pd.DataFrame(
        {
            "mass": [40.0, 4.0, 0.03, 5400.0, 0.05, 60.0, 3.5, 0.4],
            "group": ["mammal", "mammal", "bird", "mammal", "bird", "mammal", "bird", "bird"],
            "flies": [False, False, True, False, True, False, True, True],
            "diet": ["meat", "meat", "seed", "plant", None, "plant", "meat", "seed"],
        },
        index=["wolf", "cat", "sparrow", "elephant", "swift", "goat", "eagle", "jay"],
    )


# ---- names, functions and transformers of the library


def test_geodesic_as_a_metric_is_conditional_isomap(X):
    known = X[:, 1]
    composed = ConditionalMDS(2, metric=Geodesic(n_neighbors=8), **FAST).fit(X, known=known)
    isomap = ConditionalIsomap(2, n_neighbors=8, **FAST).fit(X, known=known)
    np.testing.assert_array_equal(composed.embedding_, isomap.embedding_)
    np.testing.assert_array_equal(composed.metric_.dissimilarities_, isomap.geodesic_.dissimilarities_)
    np.testing.assert_array_equal(composed.transform(X[:4], known=known[:4]), isomap.transform(X[:4], known=known[:4]))


def test_geodesic_of_dissimilarities_as_a_metric(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    composed = ConditionalMDS(2, metric=Geodesic(6, metric="precomputed"), **FAST).set_output(transform="pandas")
    isomap = ConditionalIsomap(2, n_neighbors=6, metric="precomputed", **FAST).fit(D, known=known)
    map_ = composed.fit_transform(D, known=known)
    np.testing.assert_array_equal(map_, isomap.embedding_)
    assert list(map_.index) == list(D.index)
    assert composed.__sklearn_tags__().input_tags.pairwise
    long = D.iloc[:2].stack().reset_index()
    np.testing.assert_array_equal(
        composed.transform(long, known=known.iloc[:2]), isomap.transform(D[:2], known=known[:2])
    )


def test_gower_takes_a_mixed_table(animals):
    known = animals["flies"].astype(float)
    mds = ConditionalMDS(1, metric="gower", **FAST).set_output(transform="pandas")
    embedding = mds.fit_transform(animals, known=known)
    D = Metric("gower").fit_transform(animals)
    expected = ConditionalMDS(1, metric="precomputed", **FAST).fit(D, known=known.to_numpy())
    np.testing.assert_array_equal(embedding, expected.embedding_)
    assert list(embedding.index) == list(animals.index)
    np.testing.assert_allclose(mds.transform(animals.iloc[:2], known=known.iloc[:2]), embedding.iloc[:2], atol=1e-7)
    assert list(mds.feature_names_in_) == list(animals.columns)


def test_missing_pairs_of_a_metric_are_told_once(rng):
    X = rng.standard_normal((12, 2))
    X[0, 0] = X[1, 1] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ConditionalMDS(1, metric="nan_euclidean", **FAST).fit(X)
    assert [type(warning.message) for warning in caught] == [MissingDissimilarityWarning]
    with (
        pytest.warns(MissingDissimilarityWarning),
        pytest.raises(ValueError, match="2 cells of dissimilarities are missing"),
    ):
        ConditionalClassicalMDS(1, metric="nan_euclidean").fit(X)


@pytest.mark.parametrize("metric", ["cosine", lambda x, y: float(np.abs(x - y).max())])
def test_names_and_functions_are_those_of_metric(X, metric):
    mds = ConditionalMDS(2, metric=metric, **FAST).fit(X)
    expected = ConditionalMDS(2, metric="precomputed", **FAST).fit(Metric(metric).fit_transform(X))
    np.testing.assert_array_equal(mds.embedding_, expected.embedding_)
    np.testing.assert_array_equal(mds.transform(X[:3]), expected.transform(Metric(metric).fit(X).transform(X[:3])))
    assert not hasattr(mds, "metric_")


def test_single_precision_stays(X):
    mds = ConditionalMDS(2, metric="cityblock", **FAST).fit(X.astype(np.float32))
    assert mds.embedding_.dtype == mds.transform(X[:2]).dtype == np.float32
    frame = pd.DataFrame(X.astype(np.float32))
    assert ConditionalMDS(2, metric="cityblock", **FAST).fit(frame).embedding_.dtype == np.float32


def test_a_fitted_map_does_not_keep_the_table_of_a_metric(X):
    mds = ConditionalMDS(2, **FAST).fit(X)
    assert len(pickle.dumps(mds._map.transformer)) < 8 * len(X) ** 2
    with pytest.raises(AttributeError, match="dissimilarities_"):
        _ = mds._map.transformer.dissimilarities_


def test_dissimilarities_taken_for_features_are_noticed_in_a_sparse_matrix(kinship):
    import scipy.sparse as sp

    with pytest.warns(MapWarning, match="symmetric table of 14 rows"):
        ConditionalMDS(2, **FAST).fit(sp.csr_array(kinship.dissimilarities.to_numpy(float)))


# ---- the graph and the spectral methods


def test_geodesic_by_any_metric(animals, X):
    D = Metric("gower").fit_transform(animals)
    by_name = Geodesic(5, metric="gower").fit(animals)
    expected = Geodesic(5, metric="precomputed").fit(D)
    np.testing.assert_array_equal(by_name.dissimilarities_, expected.dissimilarities_)
    np.testing.assert_array_equal(by_name.transform(animals[:2]), expected.dissimilarities_[:2])
    learnt = Geodesic(5, metric="seuclidean").fit_transform(X)
    given = Geodesic(5, metric="seuclidean", metric_params={"V": X.var(axis=0, ddof=1)}).fit_transform(X)
    np.testing.assert_allclose(learnt, given, rtol=1e-12, atol=0)
    nested = ConditionalIsomap(2, n_neighbors=5, metric=Metric("gower"), **FAST).fit(animals)
    assert nested.geodesic_.dissimilarities_.shape == (8, 8)
    assert not hasattr(nested, "metric_")


@pytest.mark.parametrize("make", [MaximumEntropyUnfolding, LocallyLinear])
def test_spectral_methods_by_any_metric(X, make):
    by_transformer = make(6, metric=Metric("cityblock")).fit(X)
    expected = make(6, metric="cityblock").fit(X)
    np.testing.assert_array_equal(by_transformer.dissimilarities_, expected.dissimilarities_)
    np.testing.assert_array_equal(by_transformer.transform(X[:3]), expected.transform(X[:3]))


# ---- inspection, pictures, studies


def test_inspection_and_pictures_go_through_the_same_door(X, animals):
    import matplotlib.pyplot as plt

    for metric in ("cityblock", Geodesic(6)):
        D = make_transformer(metric).fit_transform(X)
        found = scree(ConditionalMDS(metric=metric, **FAST), X, max_components=2)
        expected = scree(ConditionalMDS(metric="precomputed", **FAST), D, max_components=2)
        pd.testing.assert_frame_equal(found, expected)
    mds = ConditionalMDS(2, metric="gower", **FAST).fit(animals)
    ax = plot_shepard(mds, animals.iloc[::-1])
    drawn = np.sort(ax.collections[0].get_offsets()[:, 0])
    D = Metric("gower").fit_transform(animals).to_numpy()
    np.testing.assert_allclose(drawn, np.sort(D[np.triu_indices(8, 1)]), rtol=1e-12, atol=0)
    plt.close(ax.figure)


def test_a_study_of_features(animals):
    study = Discovery(animals, metric="gower", table=animals[["group"]])
    assert list(study.dissimilarities.index) == list(animals.index)
    np.testing.assert_array_equal(study.dissimilarities, Metric("gower").fit_transform(animals))
    with pytest.raises(ValueError, match="'gowers' is not known; did you mean 'gower'"):
        Discovery(animals, metric="gowers")
