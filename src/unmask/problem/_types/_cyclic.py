"""Features that come round, such as hours and directions."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..._typing import Array
from .._blocks import CommonBlock
from ._base import Coding, FeatureType
from ._cells import to_numbers


@dataclass(frozen=True)
class CyclicCoding(Coding):
    """A point on a circle whose circumference is the period, so that near values are as far apart as they differ."""

    kind = "cyclic"
    block = CommonBlock

    name: str
    period: float

    @property
    def suffixes(self) -> tuple[str, ...]:
        return ("[cos]", "[sin]")

    @property
    def _radius(self) -> float:
        return self.period / (2 * np.pi)

    def encode(self, column: Any) -> Array:
        angle = to_numbers(column, self.name) / self._radius
        return self._radius * np.column_stack([np.cos(angle), np.sin(angle)])

    def vertices(self) -> Array | None:
        angle = np.arange(12) * (2 * np.pi / 12)  # mixtures of these fill the disc but for its rim
        return np.asarray(self._radius * np.column_stack([np.cos(angle), np.sin(angle)]))

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        angle = float(np.arctan2(coded[1], coded[0])) % (2 * np.pi)
        return angle * self._radius, float(np.hypot(*coded)) / self._radius


@dataclass(frozen=True)
class Cyclic(FeatureType):
    """A feature that comes round: hours of the day (``Cyclic(24)``), directions (``Cyclic(360)``).

    It becomes a sine and a cosine with one common coefficient.

    Parameters
    ----------
    period : float
        The value at which the feature is back where it was at 0.
    """

    coding = CyclicCoding
    signature = "Cyclic(period)"
    forms = ("cyclic:24",)

    period: float

    def learn(self, column: Any, name: str) -> CyclicCoding:
        if isinstance(self.period, bool) or not isinstance(self.period, Real) or not 0 < self.period < np.inf:
            raise ValueError(f"known_types: Cyclic({self.period!r}) of {name!r} needs a period above 0.")
        return CyclicCoding(name, float(self.period))

    @classmethod
    def from_text(cls, options: str) -> Cyclic:
        return cls(float(options))

    @property
    def options(self) -> str:
        return f"{self.period:.15g}"
