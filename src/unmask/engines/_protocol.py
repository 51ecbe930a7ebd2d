"""What every engine offers: the passes over pairs, wherever they run."""

from __future__ import annotations

from .._typing import Array
from ..problem import WeightGraph


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
