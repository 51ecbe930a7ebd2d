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
    n, done, metric = len(X), 0, search.effective_metric_
    if takes_usearch(metric, *X.shape):
        threads, done = max(search.n_jobs or 1, 0), n  # 0 threads: every core
        index = usearch_index(X, metric, EXPANSION, threads, lambda added: report(added, 2 * n))
    elif n <= AT_ONCE:
        lengths, neighbours = search.kneighbors(n_neighbors=k)
        return lengths, neighbours
    found = []
    for rows in (slice(first, min(first + ROWS, n)) for first in range(0, n, ROWS)):
        report(done + rows.start, done + n)
        if done:
            lengths, neighbours = index(X[rows], min(k + SPARE, n))
            lengths = np.where(np.isfinite(lengths), _exact(metric, X[rows], X[neighbours]), np.inf)
        else:
            lengths, neighbours = search.kneighbors(X[rows], n_neighbors=k + 1)
        found.append(_others(rows, lengths, neighbours, k))
    lengths, neighbours = (np.concatenate(side) for side in zip(*found, strict=True))
    return lengths, neighbours


def usearch_index(
    X: Array, metric: str, expansion: int, threads: int, report: Callable[[int], Any] = lambda _: None
) -> Callable[[Array, int], tuple[Array, IntArray]]:
    """Return a function of rows and k that finds almost always the k nearest rows of X, by usearch.

    It returns lengths in single precision, infinite where fewer were found, and positions. Rows are added by one
    thread, in their order: the graph in which usearch searches, and so the result, is the same every time.
    """
    from usearch.index import Index

    name = USEARCH[metric]
    index = Index(ndim=X.shape[1], metric=name, dtype="f32", expansion_search=expansion)
    for first in range(0, len(X), ROWS):
        report(first)
        rows = np.ascontiguousarray(X[first : first + ROWS], dtype=np.float32)
        index.add(np.arange(first, first + len(rows)), rows, threads=1)

    def search(asked: Array, k: int) -> tuple[Array, IntArray]:
        found: Any = index.search(np.ascontiguousarray(asked, dtype=np.float32), k, threads=threads)
        there = np.arange(k) < np.asarray(found.counts)[:, None]
        lengths = np.sqrt(np.maximum(found.distances, 0.0)) if name == "l2sq" else found.distances
        return np.where(there, lengths, np.inf), np.where(there, found.keys.astype(np.intp), 0)

    return search


def _exact(metric: str, rows: Array, others: Array) -> Array:
    """Return the lengths from each row to several others, (rows, number)."""
    i = np.repeat(np.arange(len(rows)), others.shape[1])
    kind = "cosine" if metric == "cosine" else "euclidean"
    lengths = paired_distances(rows[i], others.reshape(len(i), -1), metric=kind).astype(np.float64)
    return np.asarray(lengths**2 if metric == "sqeuclidean" else lengths).reshape(others.shape[:2])


def _others(rows: slice, lengths: Array, neighbours: IntArray, k: int) -> tuple[Array, IntArray]:
    """Return the k nearest candidates of some rows. A row itself is none, and of duplicates not always the first.

    Where fewer were found the row itself stands for those that are missing, which makes no edge.
    """
    own = np.arange(rows.start, rows.stop)[:, None]
    lengths = np.where(neighbours == own, np.inf, lengths)
    order = np.argsort(lengths, axis=1, kind="stable")[:, :k]
    lengths = np.take_along_axis(lengths, order, axis=1)
    return lengths, np.where(np.isfinite(lengths), np.take_along_axis(neighbours, order, axis=1), own)


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
