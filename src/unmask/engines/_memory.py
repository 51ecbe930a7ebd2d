"""Dissimilarities in memory as a square array."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import Pairs, Weighting, Workers
from ._laplacian import dense_solver

# Below this many objects a float32 matrix is passed over in float64: the time is the same and the digits are free.
SINGLE_PRECISION_FROM = 1000
BLOCK = 256


class MemoryEngine:
    """The compiled passes over an array in memory.

    The arithmetic follows the array: float32 dissimilarities of many objects are passed over in float32, which is
    twice as fast and, the stress being summed in float64, loses nothing that can be seen on a map.
    """

    majorises = True

    def __init__(self, pairs: Pairs, workers: Workers) -> None:
        self.pairs = pairs
        self.workers = workers
        self.n = pairs.n
        self.scale = pairs.scale
        self.unit_weights = pairs.weighting == Weighting.UNIT
        self.every_pair = pairs.every_pair
        self._passes = kernels.fused()
        self.one_thread = self._passes.n_chunks(pairs.n) == 1
        # A scale near the end of single precision's range would overflow; such data are passed over in double.
        single = pairs.values.dtype == np.float32 and pairs.n >= SINGLE_PRECISION_FROM and 1e-30 < pairs.scale < 1e30
        self._dtype = np.dtype(np.float32 if single else np.float64)
        self.total = float(self._passes.pair_sums(pairs, workers)[2])
        self.degrees = (
            np.full(self.n, float(self.n)) if self.unit_weights else self._weighted_laplacian(np.empty((self.n, 0)))[0]
        )

    def stress(self, Z: Array) -> tuple[float, Array]:
        stress, G = self._passes.stress_pass(self.pairs, Z.astype(self._dtype, copy=False), self.workers)
        return stress, G

    def point_stress(self, Z: Array) -> Array:
        return np.asarray(self._passes.point_stress(self.pairs, Z, self.workers))

    def laplacian(self, X: Array) -> Array:
        if self.unit_weights:
            return np.asarray(self.n * X - X.sum(axis=0))
        return self._weighted_laplacian(X)[1]

    def _weighted_laplacian(self, X: Array) -> tuple[Array, Array]:
        degrees, HX = self._passes.laplacian_pass(self.pairs, X, self.workers)
        return degrees, HX

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        return np.asarray(self._passes.squared_product(self.pairs, X, fill, offset, self.workers))

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        for first in range(0, self.n, BLOCK):
            counts = ~np.isnan(self.pairs.values[first : first + BLOCK])
            if self.pairs.weighting == Weighting.ARRAY:
                counts &= self.pairs.W[first : first + BLOCK] > 0
            rows, columns = np.nonzero(counts)
            above = columns > rows + first
            yield rows[above] + first, columns[above]

    def laplacian_solver(self) -> Callable[[Array], Array]:
        if self.unit_weights:
            return lambda X: np.asarray((X - X.mean(axis=0)) / self.n)
        return dense_solver(kernels.plain.pair_weights(self.pairs))
