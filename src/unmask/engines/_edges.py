"""Only the pairs with a weight, as a list: for sparse weights, and for dissimilarities of few pairs."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..kernels import Edges, Workers
from ..problem import make_graph
from ._table import Engine


class EdgeEngine(Engine):
    """Passes over a list of weighted pairs; time and memory grow with their number, not with N squared."""

    def __init__(self, edges: Edges, level: str = "ratio") -> None:
        if level != "ratio":
            raise ValueError(
                f"level={level!r} with sparse weights: transformed dissimilarities are kept as a square table, so that "
                "nothing would be saved; pass weights.toarray(), or level='ratio'."
            )
        self.edges = edges
        self.n, self.scale = edges.n, edges.scale
        self.graph = make_graph(edges, Workers(1))
        self.total = float(np.sum(edges.weight * edges.delta**2))

    def _distances(self, Z: Array) -> Array:
        difference = Z[self.edges.rows] - Z[self.edges.columns]
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", difference, difference)))

    def stress(self, Z: Array) -> tuple[float, Array]:
        edges, d = self.edges, self._distances(Z)
        stress = float(np.sum(edges.weight * (edges.delta - d) ** 2))
        ratio = np.divide(edges.delta, d, out=np.zeros_like(d), where=d > 0)
        L = edges.symmetric(edges.weight * (1.0 - ratio))
        return stress, np.asarray(L.sum(axis=1)[:, None] * Z - L @ Z)

    def point_stress(self, Z: Array) -> Array:
        error = self.edges.weight * (self.edges.delta - self._distances(Z)) ** 2
        ends = np.concatenate([self.edges.rows, self.edges.columns])
        return np.asarray(np.bincount(ends, np.tile(error, 2), minlength=self.n), dtype=np.float64)
