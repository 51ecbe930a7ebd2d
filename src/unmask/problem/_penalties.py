"""Penalties: something added to the stress, with its own value and half-gradient in Z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._typing import Array
from ._structures import KnownSpace


class Penalty(Protocol):
    """A term added to the stress."""

    @property
    def strength(self) -> float: ...
    def add_to(self, G: Array, Z: Array) -> float:
        """Return the penalty at Z and add its half-gradient to G."""


@dataclass(frozen=True)
class LeakPenalty:
    """``strength`` times the part of U's weighted sum of squares that the known features explain.

    With P = HV(V'HV)^-1 V'H it is strength * tr(U'PU): in the units of the stress, 0 when U is uncorrelated with V.
    """

    strength: float
    space: KnownSpace
    p: int

    def add_to(self, G: Array, Z: Array) -> float:
        explained = self.space.HQ.T @ Z[:, : self.p]
        G[:, : self.p] += self.strength * (self.space.HQ @ explained)
        return float(self.strength * np.sum(explained**2))
