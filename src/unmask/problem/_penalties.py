"""Penalties: something added to the stress, with its own value and half-gradient in Z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array
from ._structures import KnownSpace


@dataclass(frozen=True)
class LeakPenalty:
    """``strength`` times the part of U's sum of squares that the known features explain, 0 when they are uncorrelated.

    It is strength * degree * |Q'U|^2, with the mean of H's diagonal to bring it into the units of the stress: for unit
    weights that is the sum over pairs of the squared distances within what is explained.
    """

    strength: float
    degree: float
    space: KnownSpace
    p: int

    def add_to(self, G: Array, Z: Array) -> float:
        """Return the penalty at Z and add its half-gradient to G."""
        explained = self.space.Q.T @ Z[:, : self.p]
        G[:, : self.p] += self.strength * self.degree * (self.space.Q @ explained)
        return float(self.strength * self.degree * np.sum(explained**2))
