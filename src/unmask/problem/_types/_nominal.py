"""Unordered levels, and what all features of levels share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, IntArray
from ...checking import is_missing, quote
from ._base import Coding, FeatureType
from ._cells import cells_of, looks_nominal, occurring_levels, require_no_numbers_as_text


@dataclass(frozen=True)
class LevelCoding(Coding):
    """Levels, each of which has a row of coded columns: its vertex."""

    has_levels = True

    name: str
    levels: tuple[Any, ...]

    def encode(self, column: Any) -> Array:
        vertices, positions = self.vertices(), _positions(column, self.levels, self.name)
        assert vertices is not None
        coded = vertices[positions]
        coded[positions < 0] = np.nan
        return np.asarray(coded)


@dataclass(frozen=True)
class NominalCoding(LevelCoding):
    """Levels at the corners of a regular simplex with edges of length 1: L - 1 columns for L levels."""

    kind = "nominal"

    @property
    def suffixes(self) -> tuple[str, ...]:
        if len(self.levels) == 2:
            return (f"[{self.levels[1]}]",)
        return tuple(f"[{c + 1}]" for c in range(max(1, len(self.levels) - 1)))

    def vertices(self) -> Array:
        number = len(self.levels)
        corners = np.zeros((number, max(1, number - 1)))
        for c in range(number - 1):  # Helmert's contrasts, each column of the same length
            corners[: c + 1, c] = -1.0
            corners[c + 1, c] = c + 1.0
            corners[:, c] /= np.sqrt(2.0 * (c + 1) * (c + 2))
        return corners

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        """Return the level with the largest share in a mixture of levels, and that share."""
        vertices = self.vertices()
        system = np.vstack([vertices.T, np.ones(len(vertices))])
        shares = np.linalg.lstsq(system, np.append(coded, 1.0), rcond=None)[0]
        return self.levels[int(np.argmax(shares))], float(shares.max())


@dataclass(frozen=True)
class Nominal(FeatureType):
    """A feature of unordered levels.

    Parameters
    ----------
    levels : sequence, optional
        The levels; by default those that occur.
    """

    coding = NominalCoding
    signature = "Nominal([…])"
    forms = ("nominal",)
    by_name = True

    levels: tuple[Any, ...] | None = None

    def learn(self, column: Any, name: str) -> NominalCoding:
        levels = occurring_levels(column) if self.levels is None else check_levels(self.levels, column, name)
        return NominalCoding(name, levels)

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        if not looks_nominal(column):
            return False
        require_no_numbers_as_text(column, name)
        return True


def check_levels(levels: Any, column: Any, name: str) -> tuple[Any, ...]:
    """Return the declared levels that occur, in their order; raise if one that occurs is not declared."""
    levels = tuple(levels)
    others = [level for level in occurring_levels(column) if level not in levels]
    if others or len(set(levels)) < len(levels):
        raise ValueError(
            f"known_types: the levels declared for {name!r} ({quote(levels)}) must be distinct and hold all that "
            f"occur; {f'missing: {quote(others)}' if others else 'some are repeated'}."
        )
    present = set(occurring_levels(column))
    return tuple(level for level in levels if level in present)


def _positions(column: Any, levels: tuple[Any, ...], name: str) -> IntArray:
    """Return each cell's level as a number, -1 where it is missing."""
    place = {level: position for position, level in enumerate(levels)}
    cells = cells_of(column)
    unseen = [cell for cell in cells if not is_missing(cell) and cell not in place]
    if unseen:
        raise ValueError(
            f"known: {quote(dict.fromkeys(unseen))} in column {name!r} did not occur in the fit; its levels are "
            f"{quote(levels)}. A level without data has no place."
        )
    return np.array([-1 if is_missing(cell) else place[cell] for cell in cells], dtype=np.int64)
