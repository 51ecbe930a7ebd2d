"""A graph of neighbours as scikit-learn and scanpy store it: each object's own neighbours, one way."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from unmask import ConditionalIsomap, ConditionalMDS, MissingDissimilarityWarning
from unmask.dissimilarities import Geodesic, LandmarkRows

EVERY_EDGE = {"n_neighbors": None, "radius": np.inf, "metric": "precomputed"}


# Of few objects the graph becomes a square table, of many a list of edges.
@pytest.fixture(params=[60, 600], ids=["few", "many"])
def points(request, rng):
    return rng.normal(size=(request.param, 3))


@pytest.fixture
def graph(points):
    return kneighbors_graph(points, 10, mode="distance")


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.coo_array, lambda graph: graph.maximum(graph.T)])
def test_an_edge_stored_one_way_counts(points, graph, make):
    expected = Geodesic(10).fit(points)
    for options in (EVERY_EDGE, {"n_neighbors": 10, "metric": "precomputed"}):
        found = Geodesic(**options).fit(make(graph))
        np.testing.assert_allclose(found.dissimilarities_, expected.dissimilarities_, rtol=1e-12)
        assert (abs(found.graph_ - expected.graph_) > 1e-12).nnz == 0
    assert (abs(graph - graph.T) > 0).nnz > 0  # it has a direction


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.filterwarnings("ignore:the neighbourhood graph falls into")
def test_fewer_neighbours_than_are_stored(points, graph, mutual):
    found = Geodesic(5, mutual=mutual, metric="precomputed").fit(graph)
    expected = Geodesic(5, mutual=mutual).fit(points)
    if expected.n_components_joined_ == 1:
        np.testing.assert_allclose(found.dissimilarities_, expected.dissimilarities_, rtol=1e-12)
    if mutual:
        np.testing.assert_allclose(found._reach, expected._reach, rtol=1e-12)


def test_paths_to_landmarks_need_no_square(graph):
    found = Geodesic(10, metric="precomputed", n_landmarks=7, random_state=0).fit(graph)
    assert isinstance(found.dissimilarities_, LandmarkRows)
    expected = Geodesic(10, metric="precomputed").fit(graph).dissimilarities_
    np.testing.assert_allclose(found.dissimilarities_.strip, expected[found.dissimilarities_.references], rtol=1e-12)


def test_isomap_takes_the_graph_and_scaling_names_it(points, graph):
    found = ConditionalIsomap(metric="precomputed", n_neighbors=10, n_init=1, random_state=0).fit(
        graph, known=points[:, :1]
    )
    expected = ConditionalIsomap(n_neighbors=10, n_init=1, random_state=0).fit(points, known=points[:, :1])
    assert found.stress_ == pytest.approx(expected.stress_, rel=1e-9)
    with pytest.raises(
        ValueError, match=r"from object .* but none from object .*ConditionalIsomap\(metric='precomputed'\)"
    ):
        ConditionalMDS(metric="precomputed").fit(graph)


def test_a_new_object_is_placed_by_its_distances_to_its_neighbours(points, graph):
    isomap = ConditionalIsomap(metric="precomputed", n_neighbors=10, n_init=1, random_state=0).fit(graph)
    new = np.full((1, len(points)), np.nan)
    row = graph.tocsr()[[0]]
    new[0, row.indices], new[0, 0] = row.data, 0.0
    np.testing.assert_allclose(isomap.transform(new), isomap.embedding_[:1], atol=1e-6)


def test_parts_without_any_edge_between_them(rng):
    clusters = [kneighbors_graph(rng.normal(size=(300, 2)), 8, mode="distance") for _ in range(2)]
    graph = sp.block_diag(clusters)
    with (
        pytest.warns(UserWarning, match="falls into 2 parts"),
        pytest.raises(ValueError, match="between which all dissimilarities are missing; fit each part on its own"),
    ):
        Geodesic(8, metric="precomputed").fit(graph)


def test_a_table_with_gaps_still_says_so(rng):
    D = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    D[0, 7] = D[7, 0] = np.nan
    with pytest.warns(MissingDissimilarityWarning):
        Geodesic(3, metric="precomputed").fit(D)
