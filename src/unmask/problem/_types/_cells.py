"""Reading the cells of a known column: numbers, levels, and what is neither."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array
from ...checking import is_missing

# Beyond these, differences of numbers and their inverses are no numbers any more.
SMALLEST, LARGEST = 1e-300, 1e300


def to_numbers(column: Any, name: str) -> Array:
    """Return a column as floats, NaN where a cell is missing."""
    cells = cells_of(column)
    if cells.dtype.kind not in "fiub":
        _require_numbers(cells, name)
        cells = np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    values = cells.astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"known has an infinite value in column {name!r}, row {int(np.argmax(np.isinf(values)))}; every value must "
            "be finite, and a missing one NaN."
        )
    _require_moderate(values, name)
    return values


def _require_moderate(values: Array, name: str) -> None:
    """Raise if values are so large or so small that their differences overflow or vanish."""
    size = np.where(np.isnan(values), 0.0, np.abs(values))
    at = int(np.argmax(size)) if len(size) else 0
    if len(size) and size[at] > 0 and not SMALLEST <= size[at] <= LARGEST:
        raise ValueError(
            f"known has {values[at]:g} in column {name!r}, row {at}; the largest value of a column must be between "
            f"{SMALLEST:g} and {LARGEST:g}: multiply or divide the column by one number."
        )


def _require_numbers(cells: Array, name: str) -> None:
    """Raise on the first cell that is neither a number nor missing."""
    for cell in cells:
        if isinstance(cell, str | bytes):
            raise ValueError(
                f"known: column {name!r} holds text ({cell!r}) but is declared a feature of numbers; "
                "convert it, or declare it nominal or ordinal in known_types."
            )
        if not (is_missing(cell) or hasattr(cell, "__float__")):
            raise ValueError(
                f"known: column {name!r} holds {cell!r}, which is no number; convert it (dates, say, to days since "
                "the first), or declare it nominal or ordinal in known_types."
            )


def looks_nominal(column: Any) -> bool:
    """Tell categories, booleans and text from numbers."""
    if is_categorical(column):  # whose categories may be numbers
        return True
    cells = cells_of(column)
    if cells.dtype.kind in "fiub":
        return cells.dtype.kind == "b"
    return any(isinstance(cell, str | bytes | bool | np.bool_) for cell in cells)


def require_no_numbers_as_text(column: Any, name: str) -> None:
    """Raise where every level is text that reads as a number: a file read wrongly more often than a code."""
    levels = [] if is_categorical(column) else list(occurring_levels(column))
    if levels and all(isinstance(level, str) and _reads_as_number(level) for level in levels):
        raise ValueError(
            f"known: column {name!r} holds text ({levels[0]!r}) that reads as numbers; convert it with astype(float), "
            f"or pass known_types={{{name!r}: 'nominal'}} if it is a code."
        )


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def occurring_levels(column: Any) -> tuple[Any, ...]:
    """Return the levels that occur: in the order of a categorical, else sorted."""
    present = [cell for cell in cells_of(column) if not is_missing(cell)]
    distinct = dict.fromkeys(present)
    if is_categorical(column):
        return tuple(level for level in column.cat.categories if level in distinct)
    try:
        return tuple(sorted(distinct))
    except TypeError:  # levels of several types have no order of their own
        return tuple(sorted(distinct, key=str))


def cells_of(column: Any) -> Array:
    """Return a column's cells as an array, without changing what they are."""
    cells = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if cells.dtype.kind in "Mm" or getattr(getattr(column, "dtype", None), "kind", "O") in "Mm":  # with a time zone
        raise ValueError(
            f"known: column {getattr(column, 'name', None)!r} holds dates or times; convert them to numbers, "
            "such as days since the first."
        )
    return cells.astype(object) if cells.dtype.kind in "US" else cells  # text as Python has it


def is_categorical(column: Any) -> bool:
    return hasattr(column, "cat") and hasattr(getattr(column, "dtype", None), "categories") and hasattr(column, "iloc")


def is_ordered(column: Any) -> bool:
    return is_categorical(column) and bool(column.dtype.ordered)
