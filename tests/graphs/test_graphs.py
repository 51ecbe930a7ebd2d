"""Graphs: neighbours, joining, shortest paths, each against a plain computation."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from tests.helpers import noisy_distances, with_missing
from unmask.graphs import (
    components,
    join_components,
    near_pairs,
    nearest_neighbours,
    shortest_paths,
    symmetric_graph,
    undirected,
)


def graph_of(D, n_neighbors=None, radius=None, mutual=False):
    return undirected(near_pairs(D.__getitem__, len(D), n_neighbors, radius), mutual=mutual)


def floyd_warshall(graph):
    D = np.where(graph.toarray() > 0, graph.toarray(), np.inf)
    np.fill_diagonal(D, 0)
    for via in range(len(D)):
        D = np.minimum(D, D[:, via : via + 1] + D[via])
    return D


def plain_neighbours(D, k, mutual):
    """All objects at most as far as the k-th nearest, one row at a time."""
    near = np.zeros(D.shape, bool)
    for i in range(len(D)):
        others = np.delete(D[i], i)
        near[i] = D[i] <= np.sort(others[~np.isnan(others)])[k - 1]
        near[i, i] = False
    return near & near.T if mutual else near | near.T


@pytest.mark.parametrize("k", [4, 5, 6])
def test_geodesics_of_kinship_equal_an_independent_computation_exactly(kinship, k):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    graph = graph_of(D, k)
    np.testing.assert_array_equal(graph.toarray() > 0, plain_neighbours(D, k, False))
    np.testing.assert_array_equal(shortest_paths(graph), floyd_warshall(graph))


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("n", [20, 600])
def test_neighbours_with_missing_dissimilarities(rng, n, mutual):
    D = with_missing(rng, noisy_distances(rng, n), 0.2)
    graph = graph_of(D, 3, mutual=mutual)
    expected = plain_neighbours(D, 3, mutual)
    np.testing.assert_array_equal(graph.toarray() > 0, expected)
    np.testing.assert_array_equal(graph.toarray()[expected], D[expected])


@pytest.mark.parametrize("mutual", [False, True])
def test_features_and_their_distances_give_the_same_graph(rng, mutual):
    X = rng.uniform(size=(60, 3))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    search = NearestNeighbors().fit(X)
    lengths, neighbours = nearest_neighbours(search, X, 4, lambda *_: None)
    ends = np.repeat(np.arange(60), 4), neighbours.ravel()
    nearest = symmetric_graph(*ends, lengths.ravel(), 60, mutual=mutual)
    expected = graph_of(D, 4, mutual=mutual)
    np.testing.assert_allclose(nearest.toarray(), expected.toarray(), atol=1e-12)
    within = undirected(search.radius_neighbors_graph(radius=0.4, mode="distance"), mutual=mutual)
    expected = graph_of(D, radius=0.4, mutual=mutual)
    np.testing.assert_allclose(within.toarray(), expected.toarray(), atol=1e-12)


def test_duplicates_are_joined_by_edges_of_length_zero():
    D = np.abs(np.subtract.outer([0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0]))
    graph = graph_of(D, 2)
    assert components(graph)[0] == 1
    np.testing.assert_array_equal(shortest_paths(graph), D)


def test_components_are_joined_by_the_shortest_edges_between_them():
    points = np.array([0.0, 1.0, 10.0, 11.0, 13.0, 100.0, 101.0])
    D = np.abs(np.subtract.outer(points, points))
    graph = graph_of(D, 1)
    assert components(graph)[0] == 3
    joined = join_components(graph, lambda rows: D[rows])
    assert components(joined)[0] == 1
    added = {(int(i), int(j)) for i, j in zip(*np.nonzero(joined.toarray() - graph.toarray()), strict=True) if i < j}
    assert added == {(1, 2), (4, 5)}
    assert join_components(joined, lambda rows: D[rows]) is joined
    D[:2, 2:] = D[2:, :2] = np.nan
    with pytest.raises(ValueError, match="2 parts between which all dissimilarities are missing"):
        join_components(graph, lambda rows: D[rows])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shortest_paths_are_symmetric_to_the_last_bit(rng, dtype):
    D = noisy_distances(rng, 700)
    graph = graph_of(np.maximum(D, D.T), 6)
    paths = shortest_paths(graph, dtype)
    assert paths.dtype == dtype
    np.testing.assert_array_equal(paths, paths.T)
    np.testing.assert_allclose(paths, floyd_warshall(graph), rtol=1e-12 if dtype == np.float64 else 1e-6)
