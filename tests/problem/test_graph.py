"""The graph of the weights: the same of a table and of a list of its pairs, and as H = diag(W 1) - W says."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances, symmetric_weights
from unmask.checking import check_dissimilarities
from unmask.kernels import Workers
from unmask.problem import build_pairs, make_graph

N = 30


@pytest.fixture(params=["table", "list"])
def case(request, rng):
    """Return a graph and its weights, a third of which are 0."""
    W = np.triu(symmetric_weights(rng, N) * (rng.uniform(size=(N, N)) > 1 / 3), 1)
    W += W.T
    workers = Workers(1)
    checked = check_dissimilarities(noisy_distances(rng, N), workers=workers)
    given = W if request.param == "table" else sp.csr_array(W)
    pairs = build_pairs(checked, None, given, workers)
    graph = make_graph(pairs, workers)
    # Weights are kept up to a common factor.
    return graph, W * graph.degrees.sum() / W.sum()


def test_degrees_and_the_laplacian_are_those_of_the_weights(case, rng):
    graph, W = case
    H, X = np.diag(W.sum(axis=1)) - W, rng.standard_normal((N, 3))
    np.testing.assert_allclose(graph.degrees, W.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(graph.laplacian(X), H @ X, rtol=0, atol=1e-12 * np.abs(H).max() * N)
    np.testing.assert_allclose(graph.solver()(H @ X), X - X.mean(axis=0), rtol=0, atol=1e-9)


def test_pairs_that_count_are_those_with_a_weight(case):
    graph, W = case
    rows, columns = (np.concatenate(ends) for ends in zip(*graph.observed_pairs(), strict=True))
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == set(zip(*np.nonzero(np.triu(W)), strict=True))
    np.testing.assert_array_equal(graph.pair_counts(), (W > 0).sum(axis=1))
    assert not graph.every_pair
    assert graph.components().tolist() == [0] * N
