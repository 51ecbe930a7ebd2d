"""What a type of known feature is, and how the cells of a column are read."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..._typing import Array
from ...checking import is_missing
from .._blocks import Block

# Outside these sizes, differences of numbers overflow or vanish.
SMALLEST, LARGEST = 1e-300, 1e300


class FeatureType:
    """A type of known feature: what a user declares in ``known_types``, or what is inferred from a column.

    `learn` returns the same type with what a column tells (its levels, its curve), which codes all further values.
    """

    kind: ClassVar[str]  # its name, in tables and on the command line
    signature: ClassVar[str]  # how it is declared in Python
    forms: ClassVar[tuple[str, ...]]  # examples of how it is written on the command line
    block: ClassVar[type[Block] | None] = None  # its coefficients; None: as ``coef`` decides
    is_number: ClassVar[bool] = False  # one column of numbers; a missing one is estimated with an interval
    has_levels: ClassVar[bool] = False
    ordered: ClassVar[bool] = False  # whether the levels have an order

    levels: Any = ()
    suffixes: Any = ("",)  # added to the feature's name for each coded column
    lower: Any = -np.inf  # of the feature's values
    upper: Any = np.inf
    error: Any = 0.0  # standard deviation of its measurement error, in the feature's own units

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds in coded units."""
        return self.lower, self.upper

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        """Return whether a column without a declared type is of this type."""
        return False

    def learn(self, column: Any, name: str) -> FeatureType:
        """Return the type with its levels or curve taken from a column; raise if it does not fit the column."""
        return self

    def encode(self, column: Any, name: str) -> Array:
        """Return the coded columns; a row of NaN where the cell is missing."""
        raise NotImplementedError

    def vertices(self) -> Array | None:
        """Return the coded rows that a missing cell is a mixture of; None if any number within the bounds will do."""
        return None

    def restore(self, coded: Array) -> Array:
        """Return coded numbers in the feature's own units."""
        return coded

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        """Return the value nearest to an estimated row, and its certainty (1: exactly that value).

        ``here`` is the row's place among the fitted coordinates, ``places`` are the places of the levels.
        """
        raise NotImplementedError


# ---- reading the cells of a column


def cells_of(column: Any) -> Array:
    """Return a column's cells as an array; text as Python strings."""
    cells = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if cells.dtype.kind in "Mm" or getattr(getattr(column, "dtype", None), "kind", "O") in "Mm":  # with a time zone
        raise ValueError(
            f"known: column {getattr(column, 'name', None)!r} holds dates or times; convert them to numbers, "
            "such as days since the first."
        )
    return cells.astype(object) if cells.dtype.kind in "US" else cells


def to_numbers(column: Any, name: str) -> Array:
    """Return a column as floats, NaN where a cell is missing."""
    cells = cells_of(column)
    if cells.dtype.kind not in "fiub":
        for cell in cells:
            if isinstance(cell, str | bytes):
                raise ValueError(
                    f"known: column {name!r} holds text ({cell!r}) but is declared a feature of numbers; "
                    "convert it, or declare it nominal or ordinal in known_types."
                )
            if not (is_missing(cell) or hasattr(cell, "__float__")):
                raise ValueError(
                    f"known: column {name!r} holds {cell!r}, which is not a number; convert it (dates, say, to days "
                    "since the first), or declare it nominal or ordinal in known_types."
                )
        cells = np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    values = cells.astype(np.float64)
    size = np.where(np.isnan(values), 0.0, np.abs(values))
    at = int(np.argmax(size)) if len(size) else 0
    if size.any() and not SMALLEST <= size[at] <= LARGEST:
        what = "an infinite value" if np.isinf(values[at]) else f"{values[at]:g}"
        raise ValueError(
            f"known has {what} in column {name!r}, row {at}; a missing value is NaN, and the largest must be between "
            f"{SMALLEST:g} and {LARGEST:g}: multiply or divide the column by one number."
        )
    return values


def occurring_levels(column: Any) -> tuple[Any, ...]:
    """Return the levels that occur: in the order of a categorical, else sorted."""
    distinct = dict.fromkeys(cell for cell in cells_of(column) if not is_missing(cell))
    if is_ordered(column) is not None:
        return tuple(level for level in column.cat.categories if level in distinct)
    try:
        return tuple(sorted(distinct))
    except TypeError:  # levels of several types cannot be compared
        return tuple(sorted(distinct, key=str))


def is_ordered(column: Any, name: str = "") -> Any:
    """Return whether a categorical column has an order; None if it is not categorical."""
    return getattr(getattr(column, "dtype", None), "ordered", None)


def looks_nominal(column: Any, name: str) -> bool:
    """Return whether a column holds categories, booleans or text; raise if all of the text reads as numbers.

    Such text is more often a file that was read wrongly than a code.
    """
    if is_ordered(column) is not None:  # categories, which may be numbers
        return True
    cells = cells_of(column)
    if cells.dtype.kind in "fiub":
        return cells.dtype.kind == "b"
    present = [cell for cell in cells if not is_missing(cell)]
    if present and all(isinstance(cell, str) and _reads_as_number(cell) for cell in present):
        raise ValueError(
            f"known: column {name!r} holds text ({min(present)!r}) that reads as numbers; convert it with "
            f"astype(float), or pass known_types={{{name!r}: 'nominal'}} if it is a code."
        )
    return any(isinstance(cell, str | bytes | bool | np.bool_) for cell in present)


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
