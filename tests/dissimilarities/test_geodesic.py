"""Geodesic: scikit-learn's conventions, agreement with its Isomap, errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.manifold import Isomap
from sklearn.utils.estimator_checks import parametrize_with_checks

from unmask.dissimilarities import DisconnectedGraphWarning, Geodesic


@parametrize_with_checks([Geodesic()])
@pytest.mark.filterwarnings("ignore")
def test_common_checks(estimator, check):
    check(estimator)


def test_paths_equal_those_of_scikit_learn(rng):
    X = rng.standard_normal((80, 3))
    mine = Geodesic(n_neighbors=6).fit(X)
    theirs = Isomap(n_neighbors=6).fit(X)
    np.testing.assert_allclose(mine.dissimilarities_, theirs.dist_matrix_, rtol=1e-12)
    assert mine.n_components_joined_ == 1


def test_parts_are_joined_with_a_warning_that_counts_them_or_refused(rng):
    X = np.concatenate([rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 50])
    with pytest.warns(DisconnectedGraphWarning, match="falls into 2 parts, which were joined"):
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
        with pytest.raises(ValueError, match=r"no fitted object within radius=2\.5"):
            geodesic.transform(lonely)


def test_labels_travel_with_the_paths(kinship):
    geodesic = Geodesic(6, metric="precomputed").set_output(transform="pandas")
    paths = geodesic.fit_transform(kinship.dissimilarities.astype(float))
    assert isinstance(paths, pd.DataFrame)
    assert list(paths.index) == list(paths.columns) == list(kinship.dissimilarities.index)
    assert list(Geodesic(2).fit(np.eye(4)).get_feature_names_out()) == [f"geodesic{i}" for i in range(4)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": None}, "give one of them"),
        ({"n_neighbors": 3, "radius": 1.0}, "give one of them"),
        ({"n_neighbors": 0}, "n_neighbors=0 must be at least 1"),
        ({"n_neighbors": 10}, "n_neighbors=10 but there are n_samples=10 objects; an object has at most 9 neighbours"),
        ({"n_neighbors": None, "radius": 0.0}, "radius=0.0 must be above 0"),
        ({"on_disconnected": "ignore"}, "on_disconnected='ignore' is not one of 'join', 'error'"),
        ({"dtype": "int8"}, "dtype='int8' is not one of"),
    ],
)
def test_bad_parameters(rng, options, message):
    with pytest.raises(ValueError, match=message):
        Geodesic(**options).fit(rng.standard_normal((10, 3)))


def test_bad_dissimilarities():
    with pytest.raises(ValueError, match="must be square"):
        Geodesic(2, metric="precomputed").fit(np.ones((4, 3)))
    with pytest.raises(ValueError, match="Negative values in data: X holds -1"):
        Geodesic(2, metric="precomputed").fit(-np.ones((4, 4)))
