"""The graph whose nodes are the objects and whose edges are the pairs that count, each with a weight and a length.

What a fit asks about the weights apart from a pass: sums, the Laplacian ``H = diag(W 1) - W`` and its inverse, and what
hangs together. It does not change during a fit, whatever cost is minimised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import Edges, Pairs, Weighting, Which, Workers, rectangle, square_array, strip_height
from ._laplacian import dense_solver, sparse_solver

BLOCK = 256  # rows that are looked at together


class WeightGraph:
    """What every graph of weights offers; some do not read all pairs, and lack the methods that need them."""

    n: int
    unit_weights: bool  # every pair has a dissimilarity and counts the same
    every_pair: bool  # every pair has a dissimilarity and counts

    degrees: Any  # diagonal of H: the sum of each object's weights

    def laplacian(self, X: Array) -> Array:
        """Return ``H X``."""
        raise NotImplementedError

    def solver(self) -> Callable[[Array], Array]:
        """Return a function that applies the pseudo-inverse of H, factorised once."""
        raise NotImplementedError

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        """Return squared dissimilarities times X; one that does not count is ``offset + |fill_i - fill_j|^2``."""
        raise NotImplementedError

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the pairs that count, a block at a time."""
        raise NotImplementedError

    def pair_counts(self) -> IntArray:
        """Return the number of each object's pairs that count."""
        raise NotImplementedError

    def components(self) -> IntArray:
        """Return the number of the connected component that each object is in."""
        raise NotImplementedError

    def squared_rows(self, which: IntArray, columns: Which) -> Iterator[tuple[slice, Array]]:
        """Yield squared dissimilarities of some objects to others, NaN where there is none, a few objects at a time."""
        raise NotImplementedError

    def pairs_of(self, rows: IntArray) -> tuple[Which, Array, Array]:
        """Return the partners of some objects, and the weights and dissimilarities of their pairs, an object a row."""
        unit = np.zeros((self.n, len(rows)))
        unit[rows, range(len(rows))] = 1.0
        delta = np.sqrt(self.squared_product(unit, np.empty((self.n, 0)), 0.0))
        return slice(None), -self.laplacian(unit).T, delta.T


def make_graph(pairs: Pairs | Edges, workers: Workers) -> WeightGraph:
    """Return the graph of pairs in either form."""
    return EdgeGraph(pairs) if isinstance(pairs, Edges) else TableGraph(pairs, workers)


class TableGraph(WeightGraph):
    """The graph of a square table, read a few rows at a time: no N x N temporary."""

    def __init__(self, pairs: Pairs, workers: Workers) -> None:
        self.pairs, self.workers = pairs, workers
        self.n, self.every_pair = pairs.n, pairs.every_pair
        self.unit_weights = pairs.weighting == Weighting.UNIT
        self._passes = pairs.source.passes_once

    @cached_property
    def degrees(self) -> Array:
        if self.unit_weights:
            return np.full(self.n, float(self.n))
        return np.asarray(self._passes.laplacian_pass(self.pairs, np.empty((self.n, 0)), self.workers)[0])

    def laplacian(self, X: Array) -> Array:
        if self.unit_weights:
            return np.asarray(self.n * X - X.sum(axis=0))
        # Whoever asks for this before the degrees spares a reading of the pairs.
        self.degrees, HX = self._passes.laplacian_pass(self.pairs, X, self.workers)
        return np.asarray(HX)

    def solver(self) -> Callable[[Array], Array]:
        if self.unit_weights:
            return lambda X: np.asarray((X - X.mean(axis=0)) / self.n)
        square_array(self.pairs.source, "solver='smacof' where pairs differ in weight", "use solver='lbfgs'")
        return dense_solver(kernels.plain.pair_weights(self.pairs))

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        return np.asarray(self._passes.squared_product(self.pairs, X, fill, offset, self.workers))

    def squared_rows(self, which: IntArray, columns: Which) -> Iterator[tuple[slice, Array]]:
        height = max(1, strip_height(self.n) // 16)
        for first in range(0, len(which), height):
            part = slice(first, min(first + height, len(which)))
            squares = rectangle(self.pairs.source, which[part], columns).astype(np.float64)
            squares *= self.pairs.scale
            yield part, np.square(squares, out=squares)

    def _counting(self, rows: IntArray) -> Array:
        """Return which pairs of some objects count; an object with itself is none."""
        counts = ~np.isnan(self.pairs.source.rows(rows))
        if self.pairs.weighting == Weighting.ARRAY:
            counts &= self.pairs.W[rows] > 0
        counts[np.arange(len(rows)), rows] = False
        return counts

    def _blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield the number of the first row of each block, and which of its pairs count."""
        for first in range(0, self.n, BLOCK):
            yield first, self._counting(np.arange(first, min(first + BLOCK, self.n)))

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        for first, counts in self._blocks():
            rows, columns = np.nonzero(counts)
            above = columns > rows + first
            yield rows[above] + first, columns[above]

    def pair_counts(self) -> IntArray:
        return np.concatenate([np.count_nonzero(counts, axis=1) for _, counts in self._blocks()])

    def components(self) -> IntArray:
        component, number = np.full(self.n, -1), -1
        waiting: IntArray = np.empty(0, dtype=np.int64)
        while (component < 0).any():
            if not len(waiting):
                number += 1
                waiting = np.flatnonzero(component < 0)[:1]
                component[waiting] = number
            reached = self._counting(waiting[:BLOCK]).any(axis=0)
            fresh = np.flatnonzero(reached & (component < 0))
            component[fresh] = number
            waiting = np.concatenate([waiting[BLOCK:], fresh])
        return component


class EdgeGraph(WeightGraph):
    """The graph of a list of pairs: time and memory grow with their number."""

    unit_weights = False
    every_pair = False

    def __init__(self, edges: Edges) -> None:
        self.edges, self.n = edges, edges.n

    @cached_property
    def _weights(self) -> sp.csr_array:
        return self.edges.symmetric(self.edges.weight)

    @cached_property
    def degrees(self) -> Array:
        return np.asarray(self._weights.sum(axis=1))

    def laplacian(self, X: Array) -> Array:
        return np.asarray(self.degrees[:, None] * X - self._weights @ X)

    def solver(self) -> Callable[[Array], Array]:
        return sparse_solver(self._weights)

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        """Model of all pairs (low rank) plus what the edges differ from it (sparse): never N x N."""
        squares = np.einsum("ij,ij->i", fill, fill)
        sums = X.sum(axis=0)
        model = offset * (sums - X) + squares[:, None] * sums + squares @ X - 2.0 * fill @ (fill.T @ X)
        difference = fill[self.edges.rows] - fill[self.edges.columns]
        modelled = offset + np.einsum("ij,ij->i", difference, difference)
        return np.asarray(model + self.edges.symmetric(self.edges.delta**2 - modelled) @ X)

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        yield self.edges.rows, self.edges.columns

    def pair_counts(self) -> IntArray:
        return np.bincount(np.concatenate([self.edges.rows, self.edges.columns]), minlength=self.n)

    def components(self) -> IntArray:
        ends = self.edges.rows.astype(np.int32), self.edges.columns.astype(np.int32)
        graph = sp.coo_array((self.edges.weight, ends), shape=(self.n, self.n))
        return np.asarray(connected_components(graph, directed=False)[1])
