"""Neighbourhood graphs: which objects count as near each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import paired_distances
from sklearn.neighbors import NearestNeighbors

from .._typing import Array, IntArray

BLOCK = 512
# Metrics that usearch has, by their names there.
USEARCH = {"euclidean": "l2sq", "l2": "l2sq", "sqeuclidean": "l2sq", "cosine": "cos"}
# Up to so many rows times rows times columns all pairs are compared: 100,000 rows of 50 columns take 30 CPU s.
MOST_COMPARISONS = 5e11
# With no more columns than these a tree is fast, whatever the number of rows.
TREE_COLUMNS = 5
# More rows than these are searched for some at a time, so that there is progress to report.
AT_ONCE, ROWS = 20_000, 4096
# usearch is asked for so many rows more than are wanted, and looks at so many on its way (of 100,000 rows in 50 columns
# it then finds 97% of the nearest).
SPARE, EXPANSION = 8, 128

Report = Callable[[int, int], None]


# ---- dissimilarities


def are_near(lengths: Array, n_neighbors: int | None, radius: float | None) -> NDArray[np.bool_]:
    """Return for each row which objects are near; NaN and infinity never are.

    All as near as the k-th nearest are, so that the order of the objects does not matter. Without a number of
    neighbours those within the radius are near, and without a radius all.
    """
    known = np.where(np.isnan(lengths), np.inf, lengths)
    if n_neighbors is None:
        bound: Any = np.inf if radius is None else radius
    else:
        bound = np.partition(known, n_neighbors - 1, axis=1)[:, n_neighbors - 1 : n_neighbors]
    return np.asarray((known <= bound) & np.isfinite(known))


def near_pairs(
    rows: Callable[[IntArray], Array],
    n: int,
    n_neighbors: int | None,
    radius: float | None = None,
    place: IntArray | None = None,
) -> sp.csr_array:
    """Return the directed graph of near objects with their lengths; ``rows`` reads lengths from some objects to all.

    Time grows with N squared; temporaries are a block of rows. With the place of each object in an order, only objects
    with a later place are neighbours. Neighbours at a distance of 0 stay stored.
    """
    found = []
    for first in range(0, n, BLOCK):
        which = np.arange(first, min(first + BLOCK, n))
        block = np.array(rows(which), dtype=np.float64)
        block[np.arange(len(which)), which] = np.inf
        if place is not None:
            block[place <= place[which, None]] = np.inf
        i, j = np.nonzero(are_near(block, n_neighbors, radius))
        found.append((i + first, j, block[i, j]))
    i, j, lengths = (np.concatenate(side) for side in zip(*found, strict=True))
    return sp.csr_array((lengths, j, np.searchsorted(i, np.arange(n + 1))), shape=(n, n))


def graph_from_dissimilarities(
    D: Array, *, n_neighbors: int | None, radius: float | None, mutual: bool
) -> sp.csr_array:
    """Return the symmetric graph of near pairs of a square table."""
    return undirected(near_pairs(D.__getitem__, len(D), n_neighbors, radius), mutual=mutual)


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


# ---- features


def nearest_neighbours(search: NearestNeighbors, X: Array, k: int, report: Report) -> tuple[Array, IntArray]:
    """Return the lengths to the k nearest other rows of X, on which the search was fitted, and which rows these are.

    No N x N array is made. ``report`` is called with how many rows are done, and how many there are.
    """
    if takes_usearch(search.effective_metric_, *X.shape):
        return _nearly_nearest(search, X, k, report)
    if len(X) <= AT_ONCE:
        lengths, neighbours = search.kneighbors(n_neighbors=k)
        return lengths, neighbours
    found = []
    for rows in _blocks(len(X), report):
        lengths, neighbours = search.kneighbors(X[rows], n_neighbors=k + 1)
        found.append(_others(rows, lengths, neighbours, k))
    return _stacked(found)


def search_algorithm(metric: Any, n: int, columns: int) -> str:
    """Return how scikit-learn is to search: of many rows in more than a few columns by comparing all pairs.

    A tree takes 9.7 CPU s for 20,000 normal rows in 10 columns, comparing all pairs less than 1.
    """
    return "brute" if metric in USEARCH and n > AT_ONCE and columns > TREE_COLUMNS else "auto"


def takes_usearch(metric: Any, n: int, columns: int) -> bool:
    """Return whether comparing all pairs would take more than about half a minute, and usearch has the metric."""
    return metric in USEARCH and columns > TREE_COLUMNS and n * n * columns > MOST_COMPARISONS


def _nearly_nearest(search: NearestNeighbors, X: Array, k: int, report: Report) -> tuple[Array, IntArray]:
    """Return almost always the nearest rows, by usearch; the lengths are exact.

    Rows are added by one thread, in their order: the graph in which usearch searches, and so the result, is the same
    every time.
    """
    from usearch.index import Index

    metric = search.effective_metric_
    n, threads = len(X), max(search.n_jobs or 1, 0)  # 0: every core
    index = Index(ndim=X.shape[1], metric=USEARCH[metric], dtype="f32", expansion_search=EXPANSION)
    single = np.ascontiguousarray(X, dtype=np.float32)
    for rows in _blocks(n, lambda done, total: report(done, 2 * total)):
        index.add(np.arange(n)[rows], single[rows], threads=1)
    found = []
    for rows in _blocks(n, lambda done, total: report(total + done, 2 * total)):
        matches: Any = index.search(single[rows], min(k + SPARE, n), threads=threads)
        own = np.arange(n)[rows, None]
        # Where fewer were found, the row itself stands for those that are missing, and is dropped with them.
        there = np.arange(matches.keys.shape[1]) < np.asarray(matches.counts)[:, None]
        neighbours = np.where(there, matches.keys.astype(np.int64), own)
        i, j = np.repeat(np.arange(n)[rows], neighbours.shape[1]), neighbours.ravel()
        lengths = paired_distances(X[i], X[j], metric="cosine" if metric == "cosine" else "euclidean")
        lengths = np.asarray(lengths**2 if metric == "sqeuclidean" else lengths, dtype=np.float64)
        found.append(_others(rows, lengths.reshape(neighbours.shape), neighbours, k))
    return _stacked(found)


def _others(rows: slice, lengths: Array, neighbours: IntArray, k: int) -> tuple[Array, IntArray]:
    """Return the k nearest candidates of some rows. A row itself is none, and of duplicates not always the first."""
    own = np.arange(rows.start, rows.stop)[:, None]
    lengths = np.where(neighbours == own, np.inf, lengths)
    order = np.argsort(lengths, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(lengths, order, axis=1), np.take_along_axis(neighbours, order, axis=1)


def _blocks(n: int, report: Report) -> Iterator[slice]:
    for first in range(0, n, ROWS):
        report(first, n)
        yield slice(first, min(first + ROWS, n))


def _stacked(found: list[tuple[Array, IntArray]]) -> tuple[Array, IntArray]:
    lengths, neighbours = (np.concatenate(side) for side in zip(*found, strict=True))
    return lengths, neighbours


# ---- undirected graphs


def graph_of_nearest(lengths: Array, neighbours: IntArray, *, mutual: bool) -> sp.csr_array:
    """Return the symmetric graph of each row's nearest neighbours, as :func:`nearest_neighbours` finds them."""
    n, k = neighbours.shape
    return symmetric_graph(np.repeat(np.arange(n), k), neighbours.ravel(), lengths.ravel(), n, mutual=mutual)


def undirected(directed: Any, *, mutual: bool = False) -> sp.csr_array:
    """Return the symmetric graph of a directed one; see :func:`symmetric_graph`."""
    i, j = directed.tocoo().coords
    return symmetric_graph(i, j, directed.data, directed.shape[0], mutual=mutual)


def symmetric_graph(i: IntArray, j: IntArray, length: Array, n: int, *, mutual: bool = False) -> sp.csr_array:
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
