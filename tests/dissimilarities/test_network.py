"""Shortest-path dissimilarities of networks: against networkx, new nodes, errors."""

import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from unmask import MissingDissimilarityWarning
from unmask.dissimilarities import NetworkDissimilarity


@pytest.mark.parametrize("weight", [None, "weight", "absent"])
def test_paths_equal_those_of_networkx(weight):
    club = nx.karate_club_graph()
    length = weight if weight == "weight" else None
    expected = nx.floyd_warshall_numpy(club, weight=length or "none at all")
    found = NetworkDissimilarity(weight).fit(club)
    np.testing.assert_array_equal(found.dissimilarities_, expected)
    assert found.nodes_ == list(club)


@pytest.mark.parametrize("both_ways", [True, False])
def test_a_sparse_matrix_of_edges_is_the_same_network(both_ways):
    club = nx.karate_club_graph()
    adjacency = nx.to_scipy_sparse_array(club)
    given = adjacency if both_ways else sp.triu(adjacency)
    found = NetworkDissimilarity().fit_transform(given)
    np.testing.assert_array_equal(found, NetworkDissimilarity().fit_transform(club))


def test_edges_of_a_sparse_matrix_are_counted_without_a_weight():
    adjacency = nx.to_scipy_sparse_array(nx.karate_club_graph())
    counted = NetworkDissimilarity(None).fit_transform(adjacency)
    np.testing.assert_array_equal(counted, NetworkDissimilarity(None).fit_transform(nx.karate_club_graph()))
    assert adjacency.max() > 1  # the input keeps its lengths


def test_new_nodes_are_reached_through_a_larger_network():
    small, large = nx.path_graph(4), nx.path_graph(6)
    fitted = NetworkDissimilarity().fit(small)
    np.testing.assert_array_equal(fitted.transform(small), fitted.dissimilarities_)
    np.testing.assert_array_equal(fitted.transform(large).loc[5], [5, 4, 3, 2])
    adjacency = nx.to_scipy_sparse_array(large)
    np.testing.assert_array_equal(NetworkDissimilarity().fit(adjacency[:4, :4]).transform(adjacency)[5], [5, 4, 3, 2])
    with pytest.raises(ValueError, match="lacks 1 of the fitted nodes: '3'"):
        fitted.transform(nx.path_graph(3))


def test_parts_are_refused_or_missing():
    parts = nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))
    with pytest.raises(ValueError, match=r"falls into 2 parts \(of 3, 2 nodes\), between which there is no path"):
        NetworkDissimilarity().fit(parts)
    with pytest.warns(MissingDissimilarityWarning, match="2 parts"):
        D = NetworkDissimilarity(on_disconnected="missing").fit_transform(parts)
    assert D.isna().to_numpy().sum() == 12
    np.testing.assert_array_equal(D.loc[0, [0, 1, 2]], [0, 1, 2])


def test_paths_are_the_same_both_ways_to_the_last_bit(rng):
    network = nx.connected_watts_strogatz_graph(40, 4, 0.3, seed=0)
    nx.set_edge_attributes(network, {edge: rng.random() for edge in network.edges}, "weight")
    D = NetworkDissimilarity().fit_transform(network)
    np.testing.assert_array_equal(D, D.T)
    theirs = dict(nx.all_pairs_dijkstra_path_length(network))
    np.testing.assert_allclose(D, [[theirs[a][b] for b in network] for a in network], rtol=1e-14, atol=0)


def test_any_real_number_is_a_length_and_nothing_else():
    network = nx.path_graph(3)
    network[0][1]["weight"] = Fraction(1, 2)
    assert NetworkDissimilarity().fit_transform(network)[0].tolist() == [0.0, 0.5, 1.5]
    for wrong in ("2", [1], -2, 1j):
        network[0][1]["weight"] = wrong
        with pytest.raises(ValueError, match=re.escape(f"edge (0, 1) has length {wrong!r}; lengths must be finite")):
            NetworkDissimilarity().fit(network)
