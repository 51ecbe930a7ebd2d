"""Engines: the same numbers wherever the pass runs."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances, symmetric_weights, with_missing
from unmask.checking import check_dissimilarities
from unmask.engines import EdgeEngine, TableEngine, make_engine
from unmask.kernels import Workers, plain
from unmask.problem import build_pairs

N = 40


def engine_for(D, weights=None, scheme=None, threads=1):
    workers = Workers(threads)
    checked = check_dissimilarities(D, workers=workers)
    return make_engine(build_pairs(checked, scheme, weights, workers), workers)


@pytest.fixture
def sparse_case(rng):
    """Return dissimilarities and the same sparse weights as an array and as a sparse matrix."""
    W = symmetric_weights(rng, N)
    W[np.triu(rng.uniform(size=W.shape) < 0.6, 1)] = 0
    W = np.triu(W, 1) + np.triu(W, 1).T
    return noisy_distances(rng, N), W, sp.csr_matrix(W)


def test_edges_and_memory_agree(sparse_case, rng):
    D, W, sparse = sparse_case
    dense, edges = engine_for(D, W), engine_for(D, sparse)
    assert isinstance(dense, TableEngine)
    assert isinstance(edges, EdgeEngine)
    Z, X = rng.standard_normal((N, 3)), rng.standard_normal((N, 2))
    Z[1] = Z[0]
    assert edges.total == pytest.approx(dense.total, rel=1e-12)
    np.testing.assert_allclose(edges.graph.degrees, dense.graph.degrees)
    for mine, other in zip(edges.stress(Z), dense.stress(Z), strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)
    np.testing.assert_allclose(edges.point_stress(Z), dense.point_stress(Z))
    np.testing.assert_allclose(edges.graph.laplacian(X), dense.graph.laplacian(X), rtol=0, atol=1e-12)
    right = X - X.mean(axis=0)
    np.testing.assert_allclose(edges.graph.solver()(right), dense.graph.solver()(right), rtol=0, atol=1e-12)


def test_edges_fill_what_has_no_weight(sparse_case, rng):
    """Squared dissimilarities outside the edges are modelled, as missing ones are in memory."""
    D, W, sparse = sparse_case
    holes = D.copy()
    holes[W == 0] = np.nan
    np.fill_diagonal(holes, 0)
    with pytest.warns(UserWarning, match="missing"):
        memory = engine_for(holes)
    X, fill = rng.standard_normal((N, 2)), rng.standard_normal((N, 3))
    edges = engine_for(D, sparse)
    expected = memory.graph.squared_product(X, fill, 0.4)
    np.testing.assert_allclose(
        edges.graph.squared_product(X, fill, 0.4), expected, rtol=0, atol=1e-11 * np.abs(expected).max()
    )


@pytest.mark.parametrize("scheme", [None, "sammon"])
def test_laplacian_solver_is_the_pseudo_inverse(rng, scheme):
    engine = engine_for(noisy_distances(rng, N), scheme=scheme)
    W = plain.pair_weights(engine.pairs)
    H = np.diag(W.sum(axis=1)) - W
    X = rng.standard_normal((N, 2))
    X -= X.mean(axis=0)
    expected = np.linalg.pinv(H) @ X
    np.testing.assert_allclose(engine.graph.solver()(X), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(engine.graph.laplacian(X), H @ X, rtol=0, atol=1e-12 * np.abs(H).max())


def test_laplacian_solver_with_weights_over_many_orders_of_magnitude(rng):
    """H + 11' would drown the tiny weights; solving grounded does not."""
    W = symmetric_weights(rng, N) * 1e-9
    W[0, 1] = W[1, 0] = 1.0
    engine = engine_for(noisy_distances(rng, N), W)
    X = rng.standard_normal((N, 1))
    X -= X.mean()
    np.testing.assert_allclose(engine.graph.laplacian(engine.graph.solver()(X)), X, rtol=0, atol=1e-8)


def test_unit_weights_need_no_factorisation(rng):
    engine = engine_for(noisy_distances(rng, N))
    X = rng.standard_normal((N, 2))
    np.testing.assert_allclose(engine.graph.solver()(X), (X - X.mean(axis=0)) / N)
    assert engine.graph.unit_weights


def test_observed_pairs_are_all_pairs_that_count(rng):
    D = with_missing(rng, noisy_distances(rng, 600), 0.3)
    with pytest.warns(UserWarning, match="missing"):
        engine = engine_for(D)
    seen = {
        (int(i), int(j)) for rows, columns in engine.graph.observed_pairs() for i, j in zip(rows, columns, strict=True)
    }
    expected = {(int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(~np.isnan(D), 1)), strict=True)}
    assert seen == expected


def test_large_single_precision_input_is_passed_over_in_single_precision(rng):
    D = noisy_distances(rng, 1000).astype(np.float32)
    D = np.maximum(D, D.T)
    engine, Z = engine_for(D), rng.standard_normal((1000, 2))
    exact = engine.point_stress(Z).sum() / 2
    assert engine.stress(Z)[0] != exact
    assert engine.stress(Z)[0] == pytest.approx(exact, rel=1e-5)
