"""Neighbours of every object in every stratum of the known features.

Where a known feature dominates, no nearest neighbour has another level of it, and no map of the plain graph can lay
levels over each other. A balanced graph shares the neighbours of each object over all strata, by their sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from .._typing import Array, IntArray
from ._neighbours import TREE_COLUMNS, USEARCH, usearch_index

FEWEST = 4  # neighbours in every stratum
# Comparing all pairs of rows takes about six seconds of one core for so many rows x rows x columns.
MOST_EXACT = 1e11
ROWS = 8192  # that are searched for at once
EXPANSION = 64  # candidates that usearch keeps on its way; with 64, 97% of the nearest of 100,000 rows are found


class Nearest(NamedTuple):
    """The nearest objects in one stratum for some rows, nearest first; infinitely far where there are too few."""

    rows: IntArray
    neighbours: IntArray  # rows x number
    lengths: Array
    stratum: int
    share: float  # of all objects that are in the stratum


class Search(Protocol):
    """Finds near ones among the objects for the rows of a table: the objects themselves, or new ones."""

    n_rows: int

    def nearest(self, rows: IntArray, among: IntArray, k: int) -> tuple[Array, IntArray]:
        """Return lengths to the k nearest of some objects, in any order, and which these are."""


class SearchRows:
    """Neighbours by the rows of features: exact while that takes seconds, by usearch beyond."""

    def __init__(self, X: Array, metric: Any, new: Array | None = None, threads: int = 1, **params: Any) -> None:
        self._X, self._asked, self._metric, self._threads, self._params = X, new, metric, threads, params
        self.n_rows = len(X if new is None else new)
        work = float(len(X)) * self.n_rows * X.shape[1]
        self._indexed = work > MOST_EXACT and X.shape[1] > TREE_COLUMNS and metric in USEARCH
        self._last: tuple[Any, Any] = None, None

    def nearest(self, rows: IntArray, among: IntArray, k: int) -> tuple[Array, IntArray]:
        if self._last[0] is not among:
            X = self._X[among]
            indexed = self._indexed and usearch_index(X, self._metric, EXPANSION, self._threads)
            self._last = among, indexed or self._exact(X)
        search, asked = self._last[1], self._X if self._asked is None else self._asked
        blocks = [search(asked[rows[first : first + ROWS]], k) for first in range(0, len(rows), ROWS)]
        lengths, positions = (np.concatenate(side) for side in zip(*blocks, strict=True))
        return lengths, among[positions]

    def _exact(self, X: Array) -> Any:
        method = "brute" if X.shape[1] > TREE_COLUMNS and self._metric in USEARCH else "auto"
        jobs = {"n_jobs": self._threads, "metric_params": self._params or None}
        search = NearestNeighbors(algorithm=method, metric=self._metric, **jobs).fit(X)
        return lambda asked, k: search.kneighbors(asked, n_neighbors=k)


class SearchTable:
    """Neighbours by a table of dissimilarities: rows are asked for, columns are the objects. NaN is never near."""

    def __init__(self, D: Array) -> None:
        self._D, self.n_rows = D, len(D)

    def nearest(self, rows: IntArray, among: IntArray, k: int) -> tuple[Array, IntArray]:
        found = []
        for first in range(0, len(rows), ROWS):
            part = self._D[np.ix_(rows[first : first + ROWS], among)].astype(np.float64)
            part[np.isnan(part)] = np.inf
            best = np.argpartition(part, k - 1, axis=1)[:, :k] if k < len(among) else np.argsort(part, axis=1)
            found.append((np.take_along_axis(part, best, axis=1), among[best]))
        lengths, neighbours = (np.concatenate(side) for side in zip(*found, strict=True))
        return lengths, neighbours


class SearchEdges:
    """Neighbours among the stored entries of a sparse table of dissimilarities; other pairs are never near."""

    def __init__(self, graph: sp.csr_array) -> None:
        self._graph, self.n_rows = sp.csr_array(graph), graph.shape[0]

    def nearest(self, rows: IntArray, among: IntArray, k: int) -> tuple[Array, IntArray]:
        part = self._graph[rows][:, among]
        lengths, neighbours = np.full((len(rows), k), np.inf), np.full((len(rows), k), among[0])
        for row in range(len(rows)):
            stored = slice(part.indptr[row], part.indptr[row + 1])
            best = np.argsort(part.data[stored], kind="stable")[:k]
            lengths[row, : len(best)] = part.data[stored][best]
            neighbours[row, : len(best)] = among[part.indices[stored][best]]
        return lengths, neighbours


def balanced_neighbours(
    search: Search, strata: IntArray, k: int, strata_of_new: IntArray | None = None
) -> Iterator[Nearest]:
    """Yield the nearest objects of every row in every stratum, together about k, none the object itself.

    Parameters
    ----------
    search
        Over the objects themselves, or over new ones if ``strata_of_new`` is given.
    strata
        A number for each object; a single one gives the plain graph.
    """
    n, sizes = len(strata), np.bincount(strata)
    asked = strata if strata_of_new is None else strata_of_new
    for stratum, size in enumerate(sizes):
        number = k if len(sizes) == 1 else max(FEWEST, round(k * size / n))
        among = np.flatnonzero(strata == stratum)
        for inside in (True, False):
            rows = np.flatnonzero((asked == stratum) == inside)
            itself = int(inside and strata_of_new is None)
            wanted = min(number, size - itself)
            if len(rows) and wanted > 0:
                lengths, neighbours = search.nearest(rows, among, wanted + itself)
                if itself:
                    lengths = np.where(neighbours == rows[:, None], np.inf, lengths)
                order = np.argsort(lengths, axis=1, kind="stable")[:, :wanted]
                nearest = np.take_along_axis(neighbours, order, axis=1)
                yield Nearest(rows, nearest, np.take_along_axis(lengths, order, axis=1), stratum, size / n)
