"""What a type of known feature is: how it is declared, and what becomes of a column."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..._typing import Array
from .._blocks import CoefBlock


class Coding:
    """How one known feature is coded: what its type learnt from a column, applied to new values in the same way."""

    kind: ClassVar[str]  # the type's name, in tables and on the command line
    block: ClassVar[type[CoefBlock] | None] = None  # its coefficients; None: as ``coef`` says, with other features
    is_number: ClassVar[bool] = False  # one column of numbers, of which a missing one is estimated with an interval
    has_levels: ClassVar[bool] = False
    ordered: ClassVar[bool] = False  # whether the levels have an order

    name: str
    levels: tuple[Any, ...] = ()
    lower: float = -np.inf  # of the feature's values
    upper: float = np.inf
    error: float = 0.0  # standard deviation of its measurement error, in the feature's own units

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return what is added to the feature's name for each coded column."""
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the bounds in coded units."""
        return self.lower, self.upper

    def encode(self, column: Any) -> Array:
        """Return the coded columns; a row of NaN where the cell is missing."""
        raise NotImplementedError

    def vertices(self) -> Array | None:
        """Return the coded rows that a missing cell is a mixture of; None if any number within the bounds will do."""
        return None

    def restore(self, coded: Array) -> Array:
        """Return coded numbers in the feature's own units."""
        return coded

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        """Return the value nearest to an estimated row, and how sure it is (1: it is that value).

        ``here`` is where the row is among the fitted coordinates, and ``places`` where the levels are.
        """
        raise NotImplementedError


class FeatureType:
    """A type of known feature with its options: what a user declares in ``known_types``, or what is inferred."""

    coding: ClassVar[type[Coding]]
    signature: ClassVar[str]  # how it is declared in Python
    forms: ClassVar[tuple[str, ...]]  # how it is written on the command line: its name, or with options: name:…
    by_name: ClassVar[bool] = False  # whether its name alone declares it

    def learn(self, column: Any, name: str) -> Coding:
        """Look at a column and return its coding."""
        raise NotImplementedError

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        """Tell whether a column of which nothing is declared is of this type."""
        return False

    @classmethod
    def from_text(cls, options: str) -> FeatureType:
        """Return the type with options from the command line; raise ValueError if they are invalid."""
        raise ValueError

    @property
    def options(self) -> str:
        """Return its options as `from_text` reads them; nothing if it has none."""
        return ""
