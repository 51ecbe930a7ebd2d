"""Disparities instead of dissimilarities: fitted anew at every pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import pdist

from .. import kernels
from .._typing import Array
from ..kernels import ArraySource, Pairs, Weighting, Workers, square_array
from ..problem import make_level
from ._table import TableEngine


class LevelEngine(TableEngine):
    """Passes in which each pair's dissimilarity is its best admissible transformation, given the distances.

    For a cone of transformations the stress with the best disparities of a fixed sum of squares is a function of the
    coordinates alone, and its gradient is the usual one with these disparities: the solvers need not know of them. A
    pass takes a list of all distances, a regression, and the usual pass over a table of disparities.
    """

    def __init__(self, pairs: Pairs, workers: Workers, level: str, ties: str = "primary") -> None:
        super().__init__(pairs, workers)
        D = square_array(pairs.source, f"level={level!r}", "use level='ratio'")
        i, j = np.triu_indices(self.n, 1)
        delta = D[i, j].astype(np.float64) * pairs.scale
        weights = pairs.W[i, j].astype(np.float64) * pairs.factor if pairs.weighting == Weighting.ARRAY else None
        counts = ~np.isnan(delta) if weights is None else ~np.isnan(delta) & (weights > 0)
        self._every = bool(counts.all())
        self._counts, self._flat = counts, (i * self.n + j)[counts]
        self._delta = delta[counts]
        self._weights = None if weights is None else weights[counts]
        self._level = make_level(level, ties, self._delta, self._weights)

    def disparities(self, Z: Array) -> Array:
        """Return the disparities of the pairs that count, in the engine's units."""
        distances = pdist(Z)
        fitted = self._level(distances if self._every else distances[self._counts])
        size = float(np.sum(fitted**2 if self._weights is None else self._weights * fitted**2))
        if size == 0.0:  # all objects in one place: any disparities are as good
            return self._delta
        return np.asarray(fitted * np.sqrt(self.total / size))

    def disparity_table(self, Z: Array) -> Array:
        """Return the disparities as a square table in the engine's units, NaN where a pair does not count."""
        table = self._upper(Z)
        i, j = np.triu_indices(self.n, 1)
        table[j, i] = table[i, j]
        return table

    def _upper(self, Z: Array) -> Array:
        table = np.full((self.n, self.n), np.nan)
        np.fill_diagonal(table, 0.0)
        table.ravel()[self._flat] = self.disparities(Z)
        return table

    def _with(self, table: Array) -> Pairs:
        return replace(self.pairs, source=ArraySource(table), scale=1.0, sums=None)

    def stress(self, Z: Array) -> tuple[float, Array]:
        stress, G = kernels.fused.stress_pass(self._with(self._upper(Z)), Z, self.workers)
        return stress, G

    def last_pass(self, Z: Array, vector: Array) -> tuple[Array, None]:
        pairs = self._with(self.disparity_table(Z))
        return np.asarray(pairs.source.passes_once.last_pass(pairs, Z, vector, self.workers)[0]), None
