"""What every engine offers: the passes over pairs, wherever they run."""

from __future__ import annotations

from typing import Protocol

from .._typing import Array
from ..problem import WeightGraph


class Engine(Protocol):
    """Runs the passes over pairs: two methods. It does not know what is known."""

    n: int
    scale: float  # the user's dissimilarities times this are what the engine works with
    total: float  # sum of w delta^2 over the pairs: the stress is reported as a share of it
    majorises: bool  # a step along the gradient, in the metric of H, never raises the stress
    one_thread: bool  # a pass runs on the calling thread alone, so several may run at once

    @property
    def graph(self) -> WeightGraph:
        """The graph of the pairs that count."""

    def stress(self, Z: Array) -> tuple[float, Array]:
        """Return the stress and its half-gradient ``(H - C) Z``."""

    def point_stress(self, Z: Array) -> Array:
        """Return each object's share of twice the stress, in double precision whatever the other passes use."""
