"""Chain, ring and tree as graphs, and as candidates of the spectral methods."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask.dissimilarities import (
    AcyclicLocallyLinear,
    Drill,
    LaplacianEigenmaps,
    LocallyLinear,
    MaximumEntropyUnfolding,
    MaximumVarianceUnfolding,
)
from unmask.graphs import structured_graph


def edges_of(graph):
    i, j = graph.tocoo().coords
    return {(int(a), int(b)) for a, b in zip(i, j, strict=True) if a < b}


def test_chain_and_ring_follow_the_rows(rng):
    D = squareform(pdist(rng.standard_normal((5, 2))))
    chain = structured_graph(D, "chain")
    assert edges_of(chain) == {(0, 1), (1, 2), (2, 3), (3, 4)}
    assert edges_of(structured_graph(D, "ring")) == edges_of(chain) | {(0, 4)}
    assert chain[1, 2] == chain[2, 1] == D[1, 2]


def test_no_tree_is_shorter(rng):
    D = squareform(pdist(rng.standard_normal((5, 2))))
    pairs = list(itertools.combinations(range(5), 2))

    def joins_all(tree):
        reached = {0}
        for _ in range(4):
            reached |= {b for pair in tree for a, b in (pair, pair[::-1]) if a in reached}
        return len(reached) == 5

    lengths = [sum(D[pair] for pair in tree) for tree in itertools.combinations(pairs, 4) if joins_all(tree)]
    assert len(lengths) == 5**3  # Cayley
    assert structured_graph(D, "tree").sum() / 2 == pytest.approx(min(lengths))


def test_equal_objects_are_part_of_the_tree():
    D = squareform(pdist(np.array([[0.0], [0.0], [1.0], [1.0], [5.0]])))
    assert {(0, 1), (2, 3)} < edges_of(structured_graph(D, "tree"))
    assert len(edges_of(structured_graph(D, "tree"))) == 4


@pytest.mark.parametrize("method", [LaplacianEigenmaps, LocallyLinear, MaximumEntropyUnfolding, Drill])
@pytest.mark.parametrize("graph", ["chain", "ring", "tree"])
def test_every_method_takes_a_structure(method, graph, rng):
    X = rng.standard_normal((12, 30)).cumsum(axis=0)
    options = {"penalty": 0.0} if method is Drill else {}
    fitted = method(graph=graph, **options).fit(X)
    assert edges_of(fitted.graph_) == edges_of(structured_graph(squareform(pdist(X)), graph))
    assert np.isfinite(fitted.dissimilarities_).all()
    assert fitted.transform(X[:2] + 1e-3).shape == (2, 12)


def test_along_a_chain_entropy_adds_squared_lengths(rng):
    X = rng.standard_normal((9, 4)).cumsum(axis=0)
    steps = np.sum(np.diff(X, axis=0) ** 2, axis=1)
    fitted = MaximumEntropyUnfolding(graph="chain", tol=1e-10).fit(X)
    expected = np.abs(np.subtract.outer(*[np.concatenate([[0.0], steps.cumsum()])] * 2))
    np.testing.assert_allclose(fitted.dissimilarities_**2, expected, rtol=1e-4)


def test_variance_stretches_a_chain(rng):
    X = rng.standard_normal((8, 3)).cumsum(axis=0)
    places = np.concatenate([[0.0], np.linalg.norm(np.diff(X, axis=0), axis=1).cumsum()])
    fitted = MaximumVarianceUnfolding(graph="chain", angles=False, tol=1e-6).fit(X)
    np.testing.assert_allclose(fitted.dissimilarities_, np.abs(np.subtract.outer(places, places)), rtol=1e-3)


def test_few_objects_need_no_neighbours(rng):
    assert LaplacianEigenmaps(graph="chain").fit(rng.standard_normal((4, 2))).graph_.nnz == 6


def test_what_is_no_structure_is_refused(rng):
    with pytest.raises(ValueError, match="graph='star'"):
        LaplacianEigenmaps(graph="star").fit(rng.standard_normal((9, 2)))
    with pytest.raises(TypeError, match="graph"):
        AcyclicLocallyLinear(graph="chain")
