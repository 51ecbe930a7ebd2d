"""Sources of dissimilarities: an array, or anything that can show a part of the square table at a time."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ._workers import Workers

TILE = 320  # rows and columns that a compiled pass keeps in the cache (see _fused.py)
SHARED_FROM = 1000  # objects from which several threads share a compiled pass
FEW = 100  # objects up to which a pass that is made once is not compiled
STRIP = 256  # rows that are read together, fewer where so many would be more than MOST_CELLS
MOST_CELLS = 2**22
MOST_SQUARED = 20_000  # objects of which stored pairs are brought into a square where all of it is needed: 3 GB
LARGE = 2**28  # bytes; a larger table is not made, or read into memory, for the sake of speed alone

Which = IntArray | slice  # numbers of objects, in any order, or a stretch of them


class Sums(NamedTuple):
    """Sums over the dissimilarities of the pairs i < j that have one."""

    lengths: float
    squares: float
    least: float  # smallest above 0; infinity if there is none

    def scaled(self, scale: float) -> Sums | None:
        """Return the sums of dissimilarities times a number; None where squares of the given ones leave the range."""
        if not 1e-240 < self.squares < 1e280:
            return None
        return Sums(self.lengths * scale, self.squares * scale**2, self.least * scale)


class Survey(NamedTuple):
    """A summary of every entry off the diagonal of a square table."""

    missing: int  # pairs that are NaN on both sides
    one_sided: int  # pairs that are NaN on one side only
    infinite: int
    smallest: float
    largest: float
    asymmetry: float
    sums: Sums


def survey_pairs(a: Array, b: Array) -> Survey:
    """Return the survey of pairs whose entries are given in either direction."""
    a, b = a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
    low = np.minimum(a.min(initial=np.inf), b.min(initial=np.inf))
    high = np.maximum(a.max(initial=0.0), b.max(initial=0.0))
    missing = one_sided = infinite = 0
    with np.errstate(invalid="ignore"):
        given, gap = a, a - b
    if not (low >= 0.0 and high < np.inf):  # NaN if any entry is
        gone, back = np.isnan(a), np.isnan(b)
        missing, one_sided = int((gone & back).sum()), int((gone != back).sum())
        infinite = int(np.isinf(a).sum() + np.isinf(b).sum())
        given, gap = np.where(gone, 0.0, a), gap[np.isfinite(gap)]
        finite = [side[np.isfinite(side)] for side in (a, b)]
        low, high = min(side.min(initial=0.0) for side in finite), max(side.max(initial=0.0) for side in finite)
    least = low if low > 0.0 and low == a.min(initial=np.inf) else np.min(given, where=given > 0.0, initial=np.inf)
    with np.errstate(over="ignore"):
        sums = Sums(float(given.sum()), float(given @ given), float(least))
    asymmetry = max(gap.max(initial=0.0), -gap.min(initial=0.0))
    return Survey(missing, one_sided, infinite, float(min(low, 0.0)), float(high), float(asymmetry), sums)


def join_surveys(surveys: list[Survey]) -> Survey:
    """Return the survey of several parts together."""
    missing, one_sided, infinite, lows, highs, gaps, sums = zip(*surveys, strict=True)
    lengths, squares, least = zip(*sums, strict=True)
    added = Sums(sum(lengths), sum(squares), min(least))
    return Survey(sum(missing), sum(one_sided), sum(infinite), min(lows), max(highs), max(gaps), added)


class Source:
    """A square table of dissimilarities that is read in parts: symmetric, zero diagonal, NaN where missing.

    A subclass has ``n``, the number of objects, ``dtype``, float32 or float64, and ``tile``; the rest has a default.
    """

    if TYPE_CHECKING:

        @property
        def n(self) -> int:
            """Number of objects."""

        @property
        def dtype(self) -> np.dtype[Any]:
            """Type of the numbers: float32 or float64."""

    labels: Any = None  # of the objects
    symmetric = False  # both halves are the same by construction, so that one is checked
    by_number = False  # ``tile`` takes positions, for rows and for columns, and reads nothing besides
    array: Array | None = None  # the whole table, in memory or mapped from a file
    references: IntArray | None = None  # the only objects whose rows are stored
    lists_pairs = False  # ``stored_pairs`` lists the pairs that have a dissimilarity
    on_workers = False  # the workers of a cluster hold the table and pass over it
    average = "let the source average the two"  # how to make it symmetric, for messages

    def tile(self, rows: slice | IntArray, columns: slice) -> Array:
        """Return a rectangle of the table: the rows of a slice or, in the order asked for, of an array of positions.

        The exact passes read slices only; the stochastic solver reads some rows against a stretch of columns.
        """
        raise NotImplementedError

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""
        return self.tile(np.asarray(which), slice(0, self.n))

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Write a rectangle of the table into the upper left of an array."""
        out[: rows.stop - rows.start, : columns.stop - columns.start] = self.tile(rows, columns)

    def stored_pairs(self) -> tuple[IntArray, IntArray, Array]:
        """Return the two objects of each stored pair, the lower first, and the dissimilarities."""
        raise NotImplementedError

    def survey(self, workers: Workers) -> Survey:
        """Look at every entry once: extremes, missing pairs, infinities, the largest asymmetry, and sums."""
        if self.n > FEW:
            from . import _fused

            return _fused.survey(self, workers)
        D = self.tile(slice(0, self.n), slice(0, self.n))
        upper = np.triu_indices(self.n, 1)
        return survey_pairs(D[upper], D.T[upper])

    def suspects(self) -> tuple[Source, IntArray | None]:
        """Return where to look for a wrong entry: a source, and the numbers of its objects if they are not all."""
        return self, None

    def sums(self, scale: float) -> Sums:
        """Return sums over all pairs of the dissimilarities times a number."""
        lengths, squares, least = 0.0, 0.0, np.inf
        for _, strip in strips(self):
            delta = np.nan_to_num(np.multiply(strip, scale, dtype=np.float64), copy=False)
            lengths, squares = lengths + float(delta.sum()) / 2, squares + float(np.vdot(delta, delta)) / 2
            least = min(least, float(np.min(delta, where=delta > 0, initial=np.inf)))
        return Sums(lengths, squares, least)

    @property
    def passes(self) -> Any:
        """The passes over the table (compiled)."""
        from . import _fused

        return _fused

    @property
    def passes_once(self) -> Any:
        """The passes that a fit makes once: for few objects in NumPy, because compiling them takes seconds."""
        from . import _plain

        return _plain if self.n <= FEW else self.passes

    def over_stretches(
        self,
        name: str,  # noqa: ARG002
        function: Callable[..., Any],
        workers: Workers,
        shared: Any,
        *tables: Array,
    ) -> list[tuple[slice, Any]]:
        """Return ``function(source, objects, workers, shared, *tables)`` for stretches of the objects and their rows.

        Here one stretch is all objects. ``name`` is shown where workers of a cluster do it.
        """
        every = slice(0, self.n)
        return [(every, function(self, every, workers, shared, *tables))]


class ArraySource(Source):
    """A square array, in memory or mapped from a file; tiles are views of it."""

    n: int
    dtype: np.dtype[Any]
    array: Array

    def __init__(
        self, array: Array, labels: Any = None, average: str = "pass (D + D.T) / 2, the mean of the two"
    ) -> None:
        self.array, self.n, self.dtype = array, len(array), array.dtype
        self.labels, self.average = labels, average
        self.by_number = _file_of(array) is None  # a file is read a page at a time

    def tile(self, rows: Which, columns: Which) -> Array:
        if isinstance(rows, slice) or isinstance(columns, slice):
            return np.asarray(self.array[rows, columns])
        return np.asarray(self.array[np.ix_(rows, columns)])

    def rows(self, which: IntArray) -> Array:
        file = _file_of(self.array)
        if file is None or not hasattr(mmap, "MADV_RANDOM"):
            return np.asarray(self.array[which])
        # Or the system reads ahead: for 1% of the rows it would read 88% of the file.
        file.madvise(mmap.MADV_RANDOM)
        try:
            return np.asarray(self.array[which])
        finally:
            file.madvise(mmap.MADV_NORMAL)


def _file_of(array: Array) -> mmap.mmap | None:
    """Return the file that an array is mapped from, if it is."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def read_only(array: Array, dtype: Any = None) -> Array:
    """Return a contiguous read-only view, copied only if it must be.

    One version of compiled code then serves arrays that are writeable, read-only or mapped from a file.
    """
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view


def rectangle(source: Source, rows: IntArray, columns: Which) -> Array:
    """Return the dissimilarities of some objects, by their numbers, to others; other sources give whole rows."""
    if source.by_number:
        numbered: Any = source  # columns by number too
        return np.asarray(numbered.tile(rows, columns), dtype=source.dtype)
    height = strip_height(source.n)
    parts = [source.rows(rows[at : at + height])[:, columns] for at in range(0, len(rows), height)]
    return np.asarray(np.concatenate(parts), dtype=source.dtype)


def strip_reader(source: Source, rows: IntArray) -> Callable[[slice], Array]:
    """Return a function that reads some objects' dissimilarities to a stretch of all; whole rows are read once."""
    if source.by_number:
        return lambda objects: rectangle(source, rows, objects)
    whole = rectangle(source, rows, slice(0, source.n))
    return lambda objects: whole[:, objects]


def strip_height(n: int) -> int:
    """Return how many whole rows of a table are read together: memory grows with N, not with 256 N."""
    return max(1, min(STRIP, MOST_CELLS // n))


def strips(source: Source) -> Iterator[tuple[slice, Array]]:
    """Yield some rows at a time, from the first to the last: of an array, views."""
    height = strip_height(source.n)
    for first in range(0, source.n, height):
        rows = slice(first, min(first + height, source.n))
        yield rows, source.tile(rows, slice(0, source.n))


def read_entries(source: Source, rows: IntArray, columns: IntArray) -> Array:
    """Return single entries of the table; other sources than arrays read whole rows for them."""
    if source.array is not None:
        return np.asarray(source.array[rows, columns])
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
    if source.array is not None:
        return source.array
    size = source.n**2 * source.dtype.itemsize
    if (source.lists_pairs and source.n <= MOST_SQUARED) or (source.on_workers and size <= LARGE):
        return source.tile(slice(0, source.n), slice(0, source.n))
    raise ValueError(
        f"{purpose} needs all {source.n} x {source.n} dissimilarities at once, and these are read in parts; "
        f"pass them as an array if they fit into memory, or {instead}."
    )
