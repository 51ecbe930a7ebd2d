"""Where dissimilarities come from: an array, or anything that can show a part of the square table at a time."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._typing import Array, IntArray

STRIP = 256  # rows that are read together, fewer where so many would be more than MOST_CELLS
MOST_CELLS = 2**22
MOST_SQUARED = 20_000  # objects of which stored pairs are brought into a square where all of it is needed: 3 GB
# A square table of more bytes than this is not made, or read into memory, for the sake of speed alone.
LARGE = 2**28


@runtime_checkable
class Source(Protocol):
    """A square table of dissimilarities that is read in parts: symmetric, zero diagonal, NaN where missing.

    It may have more: ``labels`` of the objects; ``symmetric = True`` where both halves are the same by construction, so
    that looking at one is enough; and ``fill(rows, columns, out, left)``, which writes a rectangle of the table into an
    array from its column ``left`` on, without making one.
    """

    @property
    def n(self) -> int:
        """Number of objects."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers: float32 or float64."""

    def tile(self, rows: slice | IntArray, columns: slice) -> Array:
        """Return a rectangle of the table: the rows of a slice or, in the order asked for, of an array of positions.

        The exact passes read slices only; the stochastic solver reads some rows against a stretch of columns.
        """

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""


# Numbers of objects, in any order, or a stretch of them. A source whose ``tile`` takes numbers too, for rows and for
# columns, says so by an attribute ``by_number = True``: the stochastic solver then reads nothing that it does not need.
Which = IntArray | slice


@dataclass(frozen=True)
class ArraySource:
    """A square array, in memory or mapped from a file; tiles are views of it."""

    values: Array

    @cached_property
    def _map(self) -> mmap.mmap | None:
        """The file that is mapped into memory, if it is one."""
        base: Any = self.values
        while isinstance(base, np.ndarray):
            base = base.base
        return base if isinstance(base, mmap.mmap) else None

    @property
    def by_number(self) -> bool:
        """Whether it is in memory: of a file a whole page is read for a single entry."""
        return self._map is None

    @property
    def n(self) -> int:
        return int(self.values.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    def tile(self, rows: Which, columns: Which) -> Array:
        if isinstance(rows, slice) or isinstance(columns, slice):
            return np.asarray(self.values[rows, columns])
        return np.asarray(self.values[np.ix_(rows, columns)])

    def rows(self, which: IntArray) -> Array:
        # Or much is read besides, in the expectation that what follows is wanted next: of 1% of the rows all but 12%.
        self._expect("MADV_RANDOM")
        try:
            return np.asarray(self.values[which])
        finally:
            self._expect("MADV_NORMAL")

    def _expect(self, advice: str) -> None:
        if self._map is not None and hasattr(mmap, advice):  # which not every system has
            self._map.madvise(getattr(mmap, advice))


def read_only(array: Array) -> Array:
    """Return a contiguous read-only view, copied only if it must be.

    One version of compiled code then serves input that is writeable, read-only or mapped from a file.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def read_part(source: Source, rows: slice, columns: slice) -> Array:
    """Return a rectangle of the table for compiled code; of an array, whole rows are not copied."""
    return read_only(np.asarray(source.tile(rows, columns), dtype=source.dtype))


def rectangle(source: Source, rows: IntArray, columns: Which) -> Array:
    """Return the dissimilarities of some objects, by their numbers, to others; what knows slices only gives rows."""
    numbered: Any = source  # the protocol asks for slices only
    if reads_by_number(source):
        return np.asarray(numbered.tile(rows, columns), dtype=source.dtype)
    out = np.empty(
        (len(rows), len(range(source.n)[columns]) if isinstance(columns, slice) else len(columns)), source.dtype
    )
    height = strip_height(source.n)
    for first in range(0, len(rows), height):
        out[first : first + height] = source.rows(rows[first : first + height])[:, columns]
    return out


def strip_reader(source: Source, rows: IntArray) -> Callable[[slice], Array]:
    """Return what reads the dissimilarities of some objects to a stretch of all; whole rows are read once."""
    if reads_by_number(source):
        return lambda objects: rectangle(source, rows, objects)
    whole = rectangle(source, rows, slice(0, source.n))
    return lambda objects: whole[:, objects]


def reads_by_number(source: Source) -> bool:
    """Tell whether single entries can be read without the rest of their rows."""
    return bool(getattr(source, "by_number", False))


def fill_part(source: Source, rows: slice, columns: slice, out: Array, left: int) -> None:
    """Write a rectangle of the table into an array, from its column ``left`` on; a source may do so by itself."""
    if hasattr(source, "fill"):
        source.fill(rows, columns, out, left)
    else:
        out[: rows.stop - rows.start, left : left + columns.stop - columns.start] = source.tile(rows, columns)


def strip_height(n: int) -> int:
    """Return how many whole rows of a table are read together: memory grows with N, not with 256 N."""
    return max(1, min(STRIP, MOST_CELLS // n))


def strips(source: Source) -> Iterator[tuple[slice, Array]]:
    """Yield some rows at a time, from the first to the last: of an array, views."""
    height = strip_height(source.n)
    for first in range(0, source.n, height):
        rows = slice(first, min(first + height, source.n))
        yield rows, source.tile(rows, slice(0, source.n))


def smallest_positive(source: Source) -> float:
    """Return the smallest dissimilarity above 0; infinity if there is none."""
    return min(float(np.min(strip, where=strip > 0, initial=np.inf)) for _, strip in strips(source))


def read_entries(source: Source, rows: IntArray, columns: IntArray) -> Array:
    """Return single entries of the table; of what is no array, whole rows are read for them."""
    if isinstance(source, ArraySource):
        return np.asarray(source.values[rows, columns])
    needed, row = np.unique(rows, return_inverse=True)
    entries = np.empty(len(rows), dtype=source.dtype)
    height = strip_height(source.n)
    for first in range(0, len(needed), height):
        here = (row >= first) & (row < first + height)
        entries[here] = source.rows(needed[first : first + height])[row[here] - first, columns[here]]
    return entries


def empty_square(n: int, dtype: Any) -> Array:
    """Return room for the dissimilarities of all pairs, or say in a sentence that there is none."""
    try:
        return np.empty((n, n), dtype=dtype)
    except MemoryError:
        size = n**2 * np.dtype(dtype).itemsize / 2**30
        raise ValueError(
            f"a table of {n:,} x {n:,} dissimilarities takes {size:,.0f} GB, for which there is no memory; use "
            "ConditionalMDS with solver='stochastic' and a metric by its name, ConditionalIsomap with n_landmarks, or "
            "a random sample of the objects."
        ) from None


def square_array(source: Source, purpose: str, instead: str = "fewer objects") -> Array:
    """Return the whole table for a purpose that needs it at once; say so if it is neither an array nor small."""
    if isinstance(source, ArraySource):
        return source.values
    if hasattr(source, "stored_pairs") and source.n <= MOST_SQUARED:
        return source.tile(slice(0, source.n), slice(0, source.n))
    raise ValueError(
        f"{purpose} needs all {source.n} x {source.n} dissimilarities at once, and these are read in parts; "
        f"pass them as an array if they fit into memory, or {instead}."
    )
