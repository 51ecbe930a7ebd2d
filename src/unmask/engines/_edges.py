"""Only the pairs with a weight, as a list: for sparse weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..problem import Edges
from ._laplacian import sparse_solver


class EdgeEngine:
    """Passes over a list of weighted pairs; time and memory grow with their number, not with N squared."""

    unit_weights = False
    every_pair = False
    one_thread = True
    majorises = True

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        self.n = edges.n
        self.scale = edges.scale
        self.total = float(np.sum(edges.weight * edges.delta**2))
        self._W = self._symmetric(edges.weight)
        self.degrees = np.asarray(self._W.sum(axis=1))

    def _symmetric(self, values: Array) -> sp.csr_array:
        """Return the symmetric sparse matrix with these values on the edges."""
        shape = (self.n, self.n)
        upper = sp.csr_array((values, (self.edges.rows, self.edges.columns)), shape=shape)
        return sp.csr_array(upper + upper.T)

    def _distances(self, Z: Array) -> Array:
        difference = Z[self.edges.rows] - Z[self.edges.columns]
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", difference, difference)))

    def stress(self, Z: Array) -> tuple[float, Array]:
        edges, d = self.edges, self._distances(Z)
        stress = float(np.sum(edges.weight * (edges.delta - d) ** 2))
        ratio = np.divide(edges.delta, d, out=np.zeros_like(d), where=d > 0)
        L = self._symmetric(edges.weight * (1.0 - ratio))
        return stress, np.asarray(L.sum(axis=1)[:, None] * Z - L @ Z)

    def point_stress(self, Z: Array) -> Array:
        error = self.edges.weight * (self.edges.delta - self._distances(Z)) ** 2
        ends = np.concatenate([self.edges.rows, self.edges.columns])
        return np.asarray(np.bincount(ends, np.tile(error, 2), minlength=self.n), dtype=np.float64)

    def laplacian(self, X: Array) -> Array:
        return np.asarray(self.degrees[:, None] * X - self._W @ X)

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        """Model of all pairs (low rank) plus what the edges differ from it (sparse): never N x N."""
        squares = np.einsum("ij,ij->i", fill, fill)
        sums = X.sum(axis=0)
        model = offset * (sums - X) + squares[:, None] * sums + squares @ X - 2.0 * fill @ (fill.T @ X)
        difference = fill[self.edges.rows] - fill[self.edges.columns]
        modelled = offset + np.einsum("ij,ij->i", difference, difference)
        return np.asarray(model + self._symmetric(self.edges.delta**2 - modelled) @ X)

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        yield self.edges.rows, self.edges.columns

    def laplacian_solver(self) -> Callable[[Array], Array]:
        return sparse_solver(self._W)
