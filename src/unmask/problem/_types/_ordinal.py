"""Ordered levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...checking import quote
from .._blocks import MonotoneBlock
from ._base import FeatureType
from ._cells import is_ordered, occurring_levels
from ._nominal import LevelCoding, check_levels


@dataclass(frozen=True)
class OrdinalCoding(LevelCoding):
    """Levels in an order: a column for each step from one to the next."""

    kind = "ordinal"
    block = MonotoneBlock
    ordered = True

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(f"[>={level}]" for level in self.levels[1:]) or ("",)

    def vertices(self) -> Array:
        number = len(self.levels)
        steps = np.zeros((number, max(1, number - 1)))
        steps[:, : number - 1] = np.tri(number, number - 1, -1)
        return steps

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        # Levels on a line: many mixtures are in one place, and only the place was estimated.
        levels = np.linalg.norm(places - places[0], axis=1)
        along = float(np.linalg.norm(here - places[0]))
        nearest = int(np.argmin(np.abs(levels - along)))
        off = along - levels[nearest]
        beyond = np.abs(levels - levels[nearest])[(levels - levels[nearest]) * off > 0]
        return self.levels[nearest], float(1.0 - abs(off) / beyond.min()) if len(beyond) else 1.0


@dataclass(frozen=True)
class Ordinal(FeatureType):
    """A feature of ordered levels, whose distances are estimated.

    Parameters
    ----------
    levels : sequence, optional
        The levels from lowest to highest; by default those of an ordered categorical, or numbers in their order.
    """

    coding = OrdinalCoding
    signature = "Ordinal([…])"
    forms = ("ordinal", "ordinal:low<mid<high")
    by_name = True

    levels: tuple[Any, ...] | None = None

    def learn(self, column: Any, name: str) -> OrdinalCoding:
        if self.levels is not None:
            return OrdinalCoding(name, check_levels(self.levels, column, name))
        levels = occurring_levels(column)
        if not is_ordered(column) and any(isinstance(level, str) for level in levels):
            raise ValueError(
                f"known_types: {name!r} is declared ordinal but holds text ({quote(levels)}) without an order; "
                f"declare Ordinal([{levels[0]!r}, …]) from lowest to highest, or pass an ordered categorical."
            )
        return OrdinalCoding(name, levels)

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        return is_ordered(column)

    @classmethod
    def from_text(cls, options: str) -> Ordinal:
        names = [level.strip() for level in options.split("<")]
        if len(names) < 2 or not all(names):
            raise ValueError
        return cls(tuple(_numbers(names) or names))

    @property
    def options(self) -> str:
        return "" if self.levels is None else "<".join(map(str, self.levels))


def _numbers(names: list[str]) -> list[float] | None:
    """Return levels as numbers if they all are: the columns of a file are read in the same way."""
    try:
        return [float(name) for name in names]
    except ValueError:
        return None
