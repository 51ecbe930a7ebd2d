"""Dissimilarities as a square table: an array, or a source that is read a part at a time."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..kernels import SHARED_FROM, Pairs, Weighting, Workers
from ..problem import make_graph
from ._protocol import Engine

# Below this many objects a float32 matrix is passed over in float64: the time is the same and the digits are free.
SINGLE_PRECISION_FROM = 1000


class TableEngine(Engine):
    """The compiled passes over a square table.

    The arithmetic follows the table: float32 dissimilarities of many objects are passed over in float32, which is
    twice as fast and, the stress being summed in float64, loses nothing that can be seen on a map.
    """

    def __init__(self, pairs: Pairs, workers: Workers) -> None:
        self.pairs, self.workers = pairs, workers
        self.n, self.scale = pairs.n, pairs.scale
        self.graph = make_graph(pairs, workers)
        self._passes = pairs.source.passes
        self.one_thread = pairs.n < SHARED_FROM and not pairs.source.on_workers
        # A scale near the end of single precision's range would overflow; such data are passed over in double.
        single = pairs.source.dtype == np.float32 and pairs.n >= SINGLE_PRECISION_FROM and 1e-30 < pairs.scale < 1e30
        self._dtype = np.dtype(np.float32 if single else np.float64)
        if pairs.sums is None or pairs.weighting == Weighting.ARRAY:
            in_one_place = np.zeros((self.n, 1))
            self.total = float(self.last_pass(in_one_place, in_one_place[:, 0])[0].sum()) / 2
        else:  # the sums are known, and weights follow a rule
            sammon = pairs.weighting == Weighting.SAMMON
            self.total = pairs.factor * (pairs.sums.lengths if sammon else pairs.sums.squares)

    def stress(self, Z: Array) -> tuple[float, Array]:
        found: tuple[float, Array] = self._passes.stress_pass(
            self.pairs, Z.astype(self._dtype, copy=False), self.workers
        )
        return found

    def point_stress(self, Z: Array) -> Array:
        return self.last_pass(Z, np.zeros(self.n))[0]

    def last_pass(self, Z: Array, vector: Array) -> tuple[Array, Array | None]:
        shares, products = self.pairs.source.passes_once.last_pass(self.pairs, Z, vector, self.workers)
        # Weights may leave out pairs that a new object would bring.
        return shares, None if self.pairs.weighting == Weighting.ARRAY else products
