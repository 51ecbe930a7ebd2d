"""The sampled descent: its forces, and the maps it draws."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.neighbours.simulated import batches, told
from unmask.graphs import SearchRows, balanced_neighbours, match_residuals
from unmask.kernels import Workers
from unmask.neighbours import TSNE, UMAP, affinities, descend
from unmask.neighbours._forces import make_grid, smooth_forces, student_forces

MODELS = {"tsne": TSNE(12.0, 12.0), "umap": UMAP(15, 0.1, 1.0)}


def graph_of(X, model, strata, k=None):
    k = min(k or model.n_neighbors, len(X) - 1)
    return affinities(balanced_neighbours(SearchRows(X, "euclidean"), strata, k), model, k, strata)


@pytest.fixture
def places():
    rng = np.random.default_rng(0)
    return (5.0 * rng.normal(size=(300, 2))).astype(np.float32)


@pytest.fixture
def graph():
    graph = sp.random_array((300, 300), density=0.03, rng=np.random.default_rng(1), dtype=np.float32)
    graph = (graph + graph.T).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


def repeated(forces, n, arrays, runs=200):
    """Return the attraction, and mean and standard error of what is sampled over many keys."""
    total = [np.zeros(a.shape) for a in arrays[1:]]
    squares = [np.zeros(a.shape) for a in arrays[1:]]
    for run in range(runs):
        forces(np.uint64(run * 7919 + 1))
        for at, sampled in enumerate(arrays[1:]):
            total[at] += sampled
            squares[at] += sampled.astype(float) ** 2
    means = [t / runs for t in total]
    errors = [np.sqrt(np.maximum(s / runs - m**2, 0) / runs) for s, m in zip(squares, means, strict=True)]
    return arrays[0], means, errors


def test_forces_of_student_are_unbiased(places, graph):
    U, n = places.astype(float), len(places)
    difference = U[:, None] - U[None]
    kernel = 1.0 / (1.0 + (difference**2).sum(axis=2))
    np.fill_diagonal(kernel, 0.0)
    grids = tuple(make_grid(places, n, size) for size in (24, 8, 4))
    edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data
    arrays = np.zeros((n, 2), np.float32), np.zeros((n, 2), np.float32), np.zeros(n, np.float32)
    pull, (push, kernels), errors = repeated(
        lambda key: student_forces(places, 0, n, 0, n, *edges, grids, 4, key, *arrays), n, arrays
    )
    exact = np.einsum("ij,ijk->ik", graph.toarray() * kernel, difference)
    np.testing.assert_allclose(pull, exact, rtol=1e-3, atol=1e-4)
    z = (push - np.einsum("ij,ijk->ik", kernel**2, difference)) / (errors[0] + 1e-9)
    assert abs(z.mean()) < 0.15
    assert 0.8 < z.std() < 1.2
    z = (kernels - kernel.sum(axis=1)) / errors[1]
    assert abs(z.mean()) < 0.25
    assert 0.8 < z.std() < 1.2


def test_forces_of_umap_are_unbiased(places, graph):
    a, b = np.float32(1.577), np.float32(0.895)
    U, n = places.astype(float), len(places)
    difference = U[:, None] - U[None]
    d = np.maximum((difference**2).sum(axis=2), 1e-6)
    edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data
    arrays = np.zeros((n, 2), np.float32), np.zeros((n, 2), np.float32)
    pull, (push,), (error,) = repeated(
        lambda key: smooth_forces(places, 0, n, 0, n, *edges, a, b, 30, key, *arrays), n, arrays
    )
    attraction = graph.toarray() * 2 * b * a * d**b / (d * (1 + a * d**b))
    np.testing.assert_allclose(pull, np.einsum("ij,ijk->ik", attraction, difference), rtol=1e-3, atol=1e-4)
    repulsion = 2 * b / ((1e-3 + d) * (1 + a * d**b)) / n
    np.fill_diagonal(repulsion, 0.0)
    z = (push - np.einsum("ij,ijk->ik", repulsion, difference)) / (error + 1e-9)
    assert abs(z.mean()) < 0.15
    assert 0.8 < z.std() < 1.2


@pytest.mark.parametrize("name", MODELS)
def test_any_number_of_threads_gives_the_same_bits(name):
    X, _, _ = batches(2300)
    graph, start = graph_of(X, MODELS[name], np.zeros(2300, dtype=int)), X[:, :2] / X[:, 0].std()
    maps = [
        descend(graph, start, MODELS[name], max_iter=15, seed=1, workers=Workers(threads)).U for threads in (1, 2, 5)
    ]
    assert all(np.array_equal(maps[0], other) for other in maps[1:])
    other = descend(graph, start, MODELS[name], max_iter=15, seed=2, workers=Workers(1)).U
    assert not np.array_equal(maps[0], other)


@pytest.mark.parametrize("name", MODELS)
def test_levels_are_laid_over_each_other(name):
    X, group, batch = batches(600)
    model, V = MODELS[name], np.eye(3)[batch]
    Z = match_residuals(X, V, batch, seed=0).residuals(X, V)
    start = Z[:, :2] / Z[:, 0].std()
    found = descend(graph_of(Z, model, batch), start * 0.01, model, max_iter=300, seed=0, workers=Workers(1)).U
    plain = descend(graph_of(X, model, batch * 0), start * 0.01, model, max_iter=300, seed=0, workers=Workers(1)).U
    assert told(found, group, among=batch) > 0.95
    assert told(found, batch) < 0.5  # chance: a third
    assert told(plain, batch) > 0.9


def test_it_stops_when_asked():
    X, _, _ = batches(200)
    model = MODELS["umap"]
    graph = graph_of(X, model, np.zeros(200, dtype=int))
    found = descend(graph, X[:, :2], model, max_iter=50, seed=0, workers=Workers(1), report=lambda done, _: done == 7)
    assert (found.n_iter, found.stopped) == (7, True)
