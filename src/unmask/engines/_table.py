"""The protocol of engines, and the passes over a square table: an array, or a source that is read in parts."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..kernels import SHARED_FROM, Pairs, Weighting, Workers
from ..problem import WeightGraph, make_graph

# Below this many objects a float32 matrix is passed over in float64: the time is the same and the digits are free.
SINGLE_PRECISION_FROM = 1000


class Engine:
    """Runs the passes over pairs; a subclass has ``stress``, ``point_stress`` and the attributes.

    An engine does not depend on the known features.
    """

    n: int
    scale: float  # the engine works with the user's dissimilarities times this
    total: float  # sum of w delta^2 over the pairs: the stress is reported as a share of it
    graph: WeightGraph  # of the pairs that count
    majorises = True  # a step along the gradient, in the metric of H, never raises the stress
    one_thread = True  # a pass runs on the calling thread alone, so several may run at once

    def stress(self, Z: Array) -> tuple[float, Array]:
        """Return the stress and its half-gradient ``(H - C) Z``."""
        raise NotImplementedError

    def point_stress(self, Z: Array) -> Array:
        """Return each object's share of twice the stress, in double precision whatever the other passes use."""
        raise NotImplementedError

    def last_pass(self, Z: Array, vector: Array) -> tuple[Array, Array | None]:  # noqa: ARG002
        """Return the point stress and, if one reading gives both, all squared dissimilarities times a vector."""
        return self.point_stress(Z), None

    def disparity_table(self, Z: Array) -> Array | None:  # noqa: ARG002
        """Return the disparities of all pairs, NaN where a pair does not count; None at the ratio level."""
        return None


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
        self._dtype = arithmetic_of(pairs)
        if pairs.sums is None or pairs.weighting == Weighting.ARRAY:
            in_one_place = np.zeros((self.n, 1))
            shares, _ = pairs.source.passes_once.last_pass(pairs, in_one_place, in_one_place[:, 0], workers)
            self.total = float(shares.sum()) / 2
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


def arithmetic_of(pairs: Pairs) -> np.dtype[np.float32 | np.float64]:
    """Return the type of the passes' numbers; a scale near the end of single precision's range would overflow in it."""
    single = pairs.source.dtype == np.float32 and pairs.n >= SINGLE_PRECISION_FROM and 1e-30 < pairs.scale < 1e30
    return np.dtype(np.float32 if single else np.float64)
