"""The graph whose nodes are the objects and whose edges are the pairs that count, each with a weight and a length.

It answers what a fit asks about the weights apart from a pass: sums, the Laplacian ``H = diag(W 1) - W`` and its
inverse, and connected components. It does not change during a fit, whatever cost is minimised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import Edges, Pairs, Weighting, Which, Workers, rectangle, square_array, strip_height

BLOCK = 256  # rows that are read together


class WeightGraph:
    """What every graph of weights offers; some do not read all pairs, and lack the methods that need them."""

    n: int
    unit_weights = False  # every pair has a dissimilarity and counts the same
    every_pair = False  # every pair has a dissimilarity and counts

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
        return sum(
            (np.bincount(np.concatenate(pairs), minlength=self.n) for pairs in self.observed_pairs()),
            np.zeros(self.n, dtype=np.int64),
        )

    def components(self) -> IntArray:
        """Return the number of each object's connected component."""
        component = np.arange(self.n)
        for rows, columns in self.observed_pairs():
            ends = component[rows], component[columns]
            joined = sp.coo_array((np.ones(len(rows)), ends), shape=(self.n, self.n))
            component = connected_components(joined, directed=False)[1][component]
            if not component.any():
                break
        return component

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
        # Asking for this before the degrees saves a reading of the pairs.
        self.degrees, HX = self._passes.laplacian_pass(self.pairs, X, self.workers)
        return np.asarray(HX)

    def solver(self) -> Callable[[Array], Array]:
        if self.unit_weights:
            return lambda X: np.asarray((X - X.mean(axis=0)) / self.n)
        square_array(self.pairs.source, "solver='smacof' where pairs differ in weight", "use solver='lbfgs'")
        return _pseudo_inverse(kernels.plain.pair_weights(self.pairs))

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        return np.asarray(self._passes.squared_product(self.pairs, X, fill, offset, self.workers))

    def squared_rows(self, which: IntArray, columns: Which) -> Iterator[tuple[slice, Array]]:
        height = max(1, strip_height(self.n) // 16)
        for first in range(0, len(which), height):
            part = slice(first, min(first + height, len(which)))
            squares = rectangle(self.pairs.source, which[part], columns).astype(np.float64)
            squares *= self.pairs.scale
            yield part, np.square(squares, out=squares)

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        for first in range(0, self.n, BLOCK):
            block = np.arange(first, min(first + BLOCK, self.n))
            counts = ~np.isnan(self.pairs.source.rows(block))
            if self.pairs.weighting == Weighting.ARRAY:
                counts &= self.pairs.W[block] > 0
            counts &= np.arange(self.n) > block[:, None]
            rows, columns = np.nonzero(counts)
            yield rows + first, columns


class EdgeGraph(WeightGraph):
    """The graph of a list of pairs: time and memory grow with their number."""

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
        return _pseudo_inverse(self._weights)

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        """Return a model of all pairs (low rank) plus the edges' difference from it (sparse): never N x N."""
        squares = np.einsum("ij,ij->i", fill, fill)
        sums = X.sum(axis=0)
        model = offset * (sums - X) + squares[:, None] * sums + squares @ X - 2.0 * fill @ (fill.T @ X)
        difference = fill[self.edges.rows] - fill[self.edges.columns]
        modelled = offset + np.einsum("ij,ij->i", difference, difference)
        return np.asarray(model + self.edges.symmetric(self.edges.delta**2 - modelled) @ X)

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        yield self.edges.rows, self.edges.columns


def _pseudo_inverse(weights: Array | sp.csr_array) -> Callable[[Array], Array]:
    """Return the pseudo-inverse of H for a symmetric matrix of weights, dense or sparse, factorised once.

    For a right side whose columns sum to zero in each component (a gradient's do), the system with one coordinate of
    each component held at 0 is solved and the means taken out. Compared with H + c11' this needs no constant c of the
    right size, and an M-matrix loses no digits in its factorisation even where weights are tiny (Sammon's).
    """
    n, component = weights.shape[0], connected_components(sp.csr_array(weights), directed=False)[1]
    members = sp.csr_array((np.ones(n), (component, np.arange(n))))
    size = np.bincount(component)[:, None]
    last = np.zeros(len(size), dtype=np.int64)
    last[component] = np.arange(n)
    free = np.setdiff1d(np.arange(n), last)
    inner: Callable[[Array], Array]
    if sp.issparse(weights):
        H = sp.csr_array(sp.diags_array(np.asarray(weights.sum(axis=1))) - weights)
        lu = splu(sp.csc_array(H[free][:, free]))
        inner = lambda X: lu.solve(np.ascontiguousarray(X))  # noqa: E731
    else:
        H = np.diag(weights.sum(axis=1)) - weights
        factor = scipy.linalg.cho_factor(H[np.ix_(free, free)], overwrite_a=True, check_finite=False)
        inner = lambda X: scipy.linalg.cho_solve(factor, X, check_finite=False)  # noqa: E731

    def centred(X: Array) -> Array:
        return np.asarray(X - ((members @ X) / size)[component])

    def solve(X: Array) -> Array:
        out = np.zeros_like(X)
        out[free] = inner(centred(X)[free])
        return centred(out)

    return solve
