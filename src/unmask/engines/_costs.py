"""A general cost instead of the stress."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import Cost, Workers
from ._memory import MemoryEngine


class CostEngine:
    """Passes that compute a general cost; everything else is as for the stress of the same pairs.

    The loop works in the units of the stress, in which a typical dissimilarity is about 1; the cost is computed in the
    user's. ``unit`` multiplies the cost so that its gradient is of the size of the parameters.
    """

    majorises = False

    def __init__(self, base: MemoryEngine, cost: Cost, workers: Workers, unit: float = 1.0, total: float = 1.0) -> None:
        self.base, self.cost, self.unit, self.total = base, cost, unit, total
        self.workers = workers
        self._passes = kernels.general()
        self.n, self.scale = base.n, base.scale
        self.unit_weights, self.every_pair = base.unit_weights, base.every_pair
        self.degrees, self.one_thread = base.degrees, base.one_thread

    def stress(self, Z: Array) -> tuple[float, Array]:
        value, G = self._passes.cost_pass(self.cost, Z / self.scale, self.workers)
        return self.unit * value, G * (self.unit / self.scale)

    def point_stress(self, Z: Array) -> Array:
        """Return twice each object's share of the cost, in the user's units."""
        return np.asarray(2.0 * self._passes.point_costs(self.cost, Z / self.scale, self.workers))

    def laplacian(self, X: Array) -> Array:
        return self.base.laplacian(X)

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        return self.base.squared_product(X, fill, offset)

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        return self.base.observed_pairs()

    def laplacian_solver(self) -> Callable[[Array], Array]:
        return self.base.laplacian_solver()
