"""A general cost instead of the stress."""

from __future__ import annotations

import numpy as np

from .. import kernels
from .._typing import Array
from ..kernels import Cost, Workers
from ._table import Engine, TableEngine


class CostEngine(Engine):
    """Passes that compute a general cost; the graph and the units are those of the stress of the same pairs.

    The loop works in the units of the stress, in which a typical dissimilarity is about 1; the cost is computed in the
    user's. ``unit`` multiplies the cost so that its gradient is of the size of the parameters.
    """

    majorises = False

    def __init__(self, base: TableEngine, cost: Cost, workers: Workers, unit: float = 1.0, total: float = 1.0) -> None:
        self.base, self.cost, self.unit, self.total = base, cost, unit, total
        self.workers = workers
        self.n, self.scale, self.graph, self.one_thread = base.n, base.scale, base.graph, base.one_thread

    def stress(self, Z: Array) -> tuple[float, Array]:
        value, G = kernels.general.cost_pass(self.cost, Z / self.scale, self.workers)
        return self.unit * value, G * (self.unit / self.scale)

    def point_stress(self, Z: Array) -> Array:
        """Return twice each object's share of the cost, in the user's units."""
        return np.asarray(2.0 * kernels.general.point_costs(self.cost, Z / self.scale, self.workers))
