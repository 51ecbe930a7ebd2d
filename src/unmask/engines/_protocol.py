"""What every engine offers: the passes over pairs, wherever they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from .._typing import Array, IntArray


class Engine(Protocol):
    """Runs the passes over pairs. It does not know what is known."""

    n: int
    scale: float  # the user's dissimilarities times this are what the engine works with
    total: float  # sum of w delta^2 over the pairs: the stress is reported as a share of it
    unit_weights: bool  # every pair has a dissimilarity and counts the same
    every_pair: bool  # every pair has a dissimilarity and counts
    degrees: Array  # diagonal of H
    majorises: bool  # a step along the gradient, in the metric of H, never raises the stress
    one_thread: bool  # a pass runs on the calling thread alone, so several may run at once

    def stress(self, Z: Array) -> tuple[float, Array]:
        """Return the stress and its half-gradient ``(H - C) Z``."""

    def point_stress(self, Z: Array) -> Array:
        """Return each object's share of twice the stress, in double precision whatever the other passes use."""

    def laplacian(self, X: Array) -> Array:
        """Return ``H X``."""

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:
        """Return squared dissimilarities times X; one that does not count is ``offset + |fill_i - fill_j|^2``."""

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the pairs that count, a block at a time."""

    def laplacian_solver(self) -> Callable[[Array], Array]:
        """Return a function that applies the pseudo-inverse of H, factorised once."""
