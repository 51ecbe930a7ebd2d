"""Where dissimilarities come from: an array, or anything that can show a part of the square table at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._typing import Array, IntArray


@runtime_checkable
class Source(Protocol):
    """A square table of dissimilarities that is read in parts: symmetric, zero diagonal, NaN where missing."""

    @property
    def n(self) -> int:
        """Number of objects."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers: float32 or float64."""

    def tile(self, rows: slice, columns: slice) -> Array:
        """Return a rectangle of the table."""

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""


@dataclass(frozen=True)
class ArraySource:
    """A square array, in memory or mapped from a file; tiles are views of it."""

    values: Array

    @property
    def n(self) -> int:
        return int(self.values.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    def tile(self, rows: slice, columns: slice) -> Array:
        return self.values[rows, columns]

    def rows(self, which: IntArray) -> Array:
        return np.asarray(self.values[which])


def square_array(source: Source, purpose: str) -> Array:
    """Return the whole table for a purpose that needs it at once; say so if it is not an array."""
    if isinstance(source, ArraySource):
        return source.values
    raise ValueError(
        f"{purpose} needs all {source.n} x {source.n} dissimilarities at once, and these are read in parts; "
        "pass them as an array if they fit into memory, or fewer objects."
    )
