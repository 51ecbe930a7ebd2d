"""Features of levels, without and with an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...checking import is_missing, quote
from .._blocks import MonotoneBlock
from ._base import Coding, FeatureType, cells_of, is_ordered, looks_nominal, occurring_levels


@dataclass(frozen=True)
class LevelCoding(Coding):
    """Levels, each of which has a row of coded columns: its vertex."""

    has_levels = True

    name: str
    levels: tuple[Any, ...]

    def encode(self, column: Any) -> Array:
        place = {level: position for position, level in enumerate(self.levels)}
        cells = cells_of(column)
        unseen = [cell for cell in cells if not is_missing(cell) and cell not in place]
        if unseen:
            raise ValueError(
                f"known: {quote(dict.fromkeys(unseen))} in column {self.name!r} did not occur in the fit; its levels "
                f"are {quote(self.levels)}. A level without data has no place."
            )
        vertices = self.vertices()
        assert vertices is not None
        rows = np.vstack([vertices, np.full(vertices.shape[1], np.nan)])  # the last is that of a missing cell
        return np.asarray(rows[[-1 if is_missing(cell) else place[cell] for cell in cells]])


@dataclass(frozen=True)
class NominalCoding(LevelCoding):
    """Levels at the corners of a regular simplex with edges of length 1: L - 1 columns for L levels."""

    kind = "nominal"

    @property
    def suffixes(self) -> tuple[str, ...]:  # type: ignore[override]
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
class OrdinalCoding(LevelCoding):
    """Levels in an order: a column for each step from one to the next."""

    kind = "ordinal"
    block = MonotoneBlock
    ordered = True

    @property
    def suffixes(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"[>={level}]" for level in self.levels[1:]) or ("",)

    def vertices(self) -> Array:
        number = len(self.levels)
        return np.tri(number, max(1, number - 1), -1)

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        # The levels are on a line, where many mixtures have one place: only the place was estimated.
        levels = np.linalg.norm(places - places[0], axis=1)
        along = float(np.linalg.norm(here - places[0]))
        nearest = int(np.argmin(np.abs(levels - along)))
        off = along - levels[nearest]
        beyond = np.abs(levels - levels[nearest])[(levels - levels[nearest]) * off > 0]
        return self.levels[nearest], float(1.0 - abs(off) / beyond.min()) if len(beyond) else 1.0


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
    recognises = staticmethod(looks_nominal)

    levels: tuple[Any, ...] | None = None

    def learn(self, column: Any, name: str) -> NominalCoding:
        return NominalCoding(name, _levels(self.levels, column, name))


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
    recognises = staticmethod(is_ordered)

    levels: tuple[Any, ...] | None = None

    def learn(self, column: Any, name: str) -> OrdinalCoding:
        levels = _levels(self.levels, column, name)
        if self.levels is None and not is_ordered(column) and any(isinstance(level, str) for level in levels):
            raise ValueError(
                f"known_types: {name!r} is declared ordinal but holds text ({quote(levels)}) without an order; "
                f"declare Ordinal([{levels[0]!r}, …]) from lowest to highest, or pass an ordered categorical."
            )
        return OrdinalCoding(name, levels)


def _levels(declared: Any, column: Any, name: str) -> tuple[Any, ...]:
    """Return the levels that occur, in the declared order; raise if one that occurs is not declared."""
    occurring = occurring_levels(column)
    if declared is None:
        return occurring
    levels = tuple(declared)
    others = [level for level in occurring if level not in levels]
    if others or len(set(levels)) < len(levels):
        raise ValueError(
            f"known_types: the levels declared for {name!r} ({quote(levels)}) must be distinct and hold all that "
            f"occur; {f'missing: {quote(others)}' if others else 'some are repeated'}."
        )
    return tuple(level for level in levels if level in occurring)
