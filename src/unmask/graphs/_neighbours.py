"""Neighbourhood graphs: which objects count as near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from .._typing import Array, IntArray

BLOCK = 512
# Approximate search looks for this many times the neighbours wanted.
WIDER = 3


def graph_from_dissimilarities(
    D: Array, *, n_neighbors: int | None, radius: float | None, mutual: bool
) -> sp.csr_array:
    """Return the symmetric graph of near pairs of a square table; NaN is never near.

    All objects as near as the k-th nearest are neighbours, so the graph does not depend on the objects' order. Time
    grows with N squared; temporaries are a block of rows.
    """
    pairs = []
    for first in range(0, len(D), BLOCK):
        block = np.array(D[first : first + BLOCK], dtype=np.float64)
        block[np.arange(len(block)), np.arange(first, first + len(block))] = np.nan
        i, j = np.nonzero(_near(block, n_neighbors, radius))
        pairs.append((i + first, j))
    i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return symmetric_graph(i, j, D[i, j].astype(np.float64), len(D), mutual=mutual)


def _near(block: Array, n_neighbors: int | None, radius: float | None) -> Any:
    """Tell for each row which entries are near: up to the k-th smallest, or within the radius."""
    if n_neighbors is None:
        return block <= (np.inf if radius is None else radius)
    filled = np.where(np.isnan(block), np.inf, block)
    bound = np.partition(filled, n_neighbors - 1, axis=1)[:, n_neighbors - 1 : n_neighbors]
    return (filled <= bound) & np.isfinite(filled)


def graph_from_edges(
    i: IntArray, j: IntArray, length: Array, n: int, *, n_neighbors: int | None, radius: float | None, mutual: bool
) -> sp.csr_array:
    """Return the symmetric graph of near pairs among those that are given, each once.

    As of a square table, all objects as near as the k-th nearest are neighbours; of fewer than k edges all count.
    """
    ends, others, lengths = np.concatenate([i, j]), np.concatenate([j, i]), np.tile(length.astype(np.float64), 2)
    if n_neighbors is None:
        near = lengths <= (np.inf if radius is None else radius)
    else:
        near = lengths <= edges_reach(i, j, length, n, n_neighbors)[ends]
    return symmetric_graph(ends[near], others[near], lengths[near], n, mutual=mutual)


def edges_reach(i: IntArray, j: IntArray, length: Array, n: int, n_neighbors: int) -> Array:
    """Return how far the k-th nearest of each object's edges reaches; infinity where it has fewer."""
    ends, lengths = np.concatenate([i, j]), np.tile(length.astype(np.float64), 2)
    order = np.lexsort((lengths, ends))
    last = np.searchsorted(ends[order], np.arange(n)) + n_neighbors - 1
    found = np.searchsorted(ends[order], np.arange(n), side="right") > last
    reach = np.full(n, np.inf)
    reach[found] = lengths[order][last[found]]
    return reach


def graph_from_features(
    search: NearestNeighbors, *, n_neighbors: int | None, radius: float | None, mutual: bool
) -> sp.csr_array:
    """Return the symmetric graph of near rows of the table a search was fitted on; no N x N array is made."""
    if n_neighbors is None:
        directed = search.radius_neighbors_graph(radius=radius, mode="distance").tocoo()
    else:
        directed = search.kneighbors_graph(n_neighbors=n_neighbors, mode="distance").tocoo()
    return symmetric_graph(directed.row, directed.col, directed.data, directed.shape[0], mutual=mutual)


def graph_from_approximate_neighbours(
    X: Array, *, n_neighbors: int, mutual: bool, metric: Any, metric_params: dict[str, Any] | None, n_jobs: int | None
) -> sp.csr_array:
    """Return the symmetric graph of approximately the nearest rows, by pynndescent in about N log N time."""
    import pynndescent

    # Searching for more than are wanted finds the wanted ones far more surely. The seed makes a fit repeatable.
    sought = min(WIDER * n_neighbors + 1, len(X) - 1)
    index = pynndescent.NNDescent(
        X, metric=metric, metric_kwds=metric_params, n_neighbors=sought, random_state=0, n_jobs=n_jobs
    )
    neighbours, lengths = index.neighbor_graph
    # An object is its own nearest neighbour, though not always the first of duplicates: it goes to the end.
    lengths = np.where(neighbours == np.arange(len(X))[:, None], np.inf, lengths)
    order = np.argsort(lengths, axis=1, kind="stable")[:, :n_neighbors]
    i = np.repeat(np.arange(len(X)), n_neighbors)
    j, length = (np.take_along_axis(table, order, axis=1).ravel() for table in (neighbours, lengths))
    return symmetric_graph(i, j, length.astype(np.float64), len(X), mutual=mutual)


def symmetric_graph(i: IntArray, j: IntArray, length: Array, n: int, *, mutual: bool) -> sp.csr_array:
    """Return the union of directed edges with their reverses, or with ``mutual`` the edges that go both ways.

    Edges of length 0 (duplicates) stay stored.
    """
    low, high = np.minimum(i, j).astype(np.int64), np.maximum(i, j).astype(np.int64)
    _, first, count = np.unique(low * n + high, return_index=True, return_counts=True)
    kept = first[(count == 2) | (not mutual)]
    kept = kept[low[kept] != high[kept]]
    # Older versions of scipy's graph routines take 32-bit indices only.
    low, high = low[kept].astype(np.int32), high[kept].astype(np.int32)
    ends = np.concatenate([low, high]), np.concatenate([high, low])
    return sp.csr_array((np.tile(length[kept], 2), ends), shape=(n, n))
