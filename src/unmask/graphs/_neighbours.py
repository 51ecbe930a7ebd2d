"""Which objects are joined: those near each other, or those next to each other in a known structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
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
STRUCTURES = ("chain", "ring", "tree")

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


def reach_of(directed: sp.csr_array, n_neighbors: int) -> Array:
    """Return the length of the k-th shortest edge of each row; infinity where a row has fewer."""
    row, starts = directed.tocoo().coords[0], directed.indptr
    ordered = directed.data[np.lexsort((directed.data, row))]
    last = starts[:-1] + n_neighbors - 1
    reach = np.full(len(last), np.inf)
    reach[last < starts[1:]] = ordered[last[last < starts[1:]]]
    return reach


def structured_graph(D: Array, structure: str) -> sp.csr_array:
    """Return the symmetric graph of a structure, with dissimilarities as lengths.

    A chain joins each object to the next one in the order of the rows, a ring the last to the first as well; a tree
    joins all objects by the smallest total length.
    """
    i = np.arange(len(D))
    j = np.roll(i, -1)
    if structure == "chain":
        i, j = i[:-1], j[:-1]
    elif structure == "tree":
        # An edge of length 0 would count as none; its own rank, all of them above 0, leaves the tree the same.
        ranks = np.unique(D, return_inverse=True)[1].reshape(D.shape) + 1
        i, j = minimum_spanning_tree(np.triu(ranks, 1)).tocoo().coords
    return symmetric_graph(i, j, D[i, j].astype(np.float64), len(D))


# ---- features


def search_algorithm(metric: Any, n: int, columns: int) -> str:
    """Return how scikit-learn is to search: of many rows in more than a few columns by comparing all pairs.

    A tree takes 9.7 CPU s for 20,000 normal rows in 10 columns, comparing all pairs less than 1.
    """
    return "brute" if metric in USEARCH and n > AT_ONCE and columns > TREE_COLUMNS else "auto"


def takes_usearch(metric: Any, n: int, columns: int) -> bool:
    """Return whether comparing all pairs would take more than about half a minute, and usearch has the metric."""
    return metric in USEARCH and columns > TREE_COLUMNS and n * n * columns > MOST_COMPARISONS


def nearest_neighbours(search: NearestNeighbors, X: Array, k: int, report: Report) -> tuple[Array, IntArray]:
    """Return the lengths to the k nearest other rows of X, on which the search was fitted, and which rows these are.

    No N x N array is made. ``report`` is called with how many rows are done, and how many there are.
    """
    n, done = len(X), 0
    if takes_usearch(search.effective_metric_, *X.shape):
        ask, done = _usearch(search, X, k, lambda added: report(added, 2 * n)), n
    elif n <= AT_ONCE:
        lengths, neighbours = search.kneighbors(n_neighbors=k)
        return lengths, neighbours
    else:

        def ask(rows: slice) -> tuple[Array, IntArray]:
            lengths, neighbours = search.kneighbors(X[rows], n_neighbors=k + 1)
            return lengths, neighbours

    found = []
    for rows in (slice(first, min(first + ROWS, n)) for first in range(0, n, ROWS)):
        report(done + rows.start, done + n)
        lengths, neighbours = ask(rows)
        found.append(_others(rows, lengths, neighbours, k))
    lengths, neighbours = (np.concatenate(side) for side in zip(*found, strict=True))
    return lengths, neighbours


def _usearch(
    search: NearestNeighbors, X: Array, k: int, report: Callable[[int], None]
) -> Callable[[slice], tuple[Array, IntArray]]:
    """Return a function that finds almost always the nearest rows for some of the rows; the lengths are exact.

    Rows are added by one thread, in their order: the graph in which usearch searches, and so the result, is the same
    every time.
    """
    from usearch.index import Index

    metric, own = search.effective_metric_, np.arange(len(X))
    index = Index(ndim=X.shape[1], metric=USEARCH[metric], dtype="f32", expansion_search=EXPANSION)
    single = np.ascontiguousarray(X, dtype=np.float32)
    for first in range(0, len(X), ROWS):
        report(first)
        index.add(own[first : first + ROWS], single[first : first + ROWS], threads=1)

    def ask(rows: slice) -> tuple[Array, IntArray]:
        # 0 threads: every core
        matches: Any = index.search(single[rows], min(k + SPARE, len(X)), threads=max(search.n_jobs or 1, 0))
        # Where fewer were found, the row itself stands for those that are missing, and is dropped with them.
        there = np.arange(matches.keys.shape[1]) < np.asarray(matches.counts)[:, None]
        neighbours = np.where(there, matches.keys.astype(np.int64), own[rows, None])
        i, j = np.repeat(own[rows], neighbours.shape[1]), neighbours.ravel()
        lengths = paired_distances(X[i], X[j], metric="cosine" if metric == "cosine" else "euclidean")
        lengths = np.asarray(lengths**2 if metric == "sqeuclidean" else lengths, dtype=np.float64)
        return lengths.reshape(neighbours.shape), neighbours

    return ask


def _others(rows: slice, lengths: Array, neighbours: IntArray, k: int) -> tuple[Array, IntArray]:
    """Return the k nearest candidates of some rows. A row itself is none, and of duplicates not always the first."""
    lengths = np.where(neighbours == np.arange(rows.start, rows.stop)[:, None], np.inf, lengths)
    order = np.argsort(lengths, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(lengths, order, axis=1), np.take_along_axis(neighbours, order, axis=1)


# ---- undirected graphs


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
