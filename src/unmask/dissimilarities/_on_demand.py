"""Dissimilarities by a metric, computed tile by tile: into a table, or when they are read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from .._typing import Array
from ..checking import name_object
from ..kernels import LARGE, OneBlasThread, Source, Which, Workers, resolve_threads
from ._metrics import Comparison

if TYPE_CHECKING:
    import pandas as pd

# A table of more bytes than LARGE (see kernels) is not made; its dissimilarities are computed in every pass. Compiled
# code makes such a pass, with 20 columns, less than twice as long. Other metrics are ten times slower: a larger limit.
LARGE_UNCOMPILED = 2**31
# A pass over fewer objects reads the whole table once, which is not worth loading compiled code for.
COMPILED_FROM = 1000
_ONE_AT_A_TIME = Lock()  # for metrics that only one thread can use

Namer = Callable[[int], str]


@dataclass(frozen=True)
class OnDemand(Source):
    """The dissimilarities of objects by a metric, computed when they are read; made by :meth:`Metric.on_demand`.

    A source, as every estimator with ``metric="precomputed"`` takes it. Memory grows with the number of objects, not
    with its square; every pass over the pairs compares them anew.

    Attributes
    ----------
    n : int
        Number of objects.
    dtype : dtype
        Type of the dissimilarities.
    labels : Index or None
        Labels of the objects, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import Metric
    >>> source = Metric("cityblock").on_demand(np.arange(8.0).reshape(4, 2))
    >>> source.n, source.tile(slice(0, 1), slice(1, 4)).tolist()
    (4, [[4.0, 8.0, 12.0]])
    """

    by_number = symmetric = True

    comparison: Comparison
    objects: Any
    dtype: np.dtype[Any]
    labels: pd.Index | None = None

    @property
    def n(self) -> int:
        return int(self.objects.shape[0])

    @property
    def is_large(self) -> bool:
        """Whether the square table would be too large to be made for the sake of speed."""
        most = LARGE_UNCOMPILED if self._formula is None else LARGE
        return self.n**2 * self.dtype.itemsize > most

    @property
    def _formula(self) -> str | None:
        return self.comparison.formula if isinstance(self.objects, np.ndarray) else None  # None for sparse tables

    @cached_property
    def _features(self) -> Any:
        """The coordinates as compiled code compares them; None without such code, or for few objects."""
        if self.n < COMPILED_FROM or self._formula is None:
            return None
        return kernels.features.Features.of_rows(self.objects, self._formula)

    def name(self, at: int) -> str:
        """Name an object for a message."""
        return name_object(self.labels, int(at))

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Write a rectangle of the table into the upper left of an array."""
        if self._features is not None:
            self._features.fill(rows, columns, out)
        else:
            super().fill(rows, columns, out)

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle of the table, for slices or for arrays of positions in any order."""
        i, j = (np.arange(self.n)[side] for side in (rows, columns))
        if self._features is not None:
            at = slice(*columns.indices(self.n)) if isinstance(columns, slice) else columns
            values = np.asarray(self._features.between(rows, at), dtype=self.dtype)
        else:
            with nullcontext() if self.comparison.entry.parallel else _ONE_AT_A_TIME:
                values = self.comparison.between(self.objects[rows], self.objects[columns], self.dtype)
        values[i[:, None] == j] = 0.0
        names = (lambda at: self.name(int(i[at]))), (lambda at: self.name(int(j[at])))
        count_missing(values, self.comparison, names, self.objects)
        return values


def fill(
    D: Array, comparison: Comparison, rows: Any, columns: Any, names: tuple[Namer, Namer], n_jobs: int | None
) -> int:
    """Fill D with the dissimilarities of some objects to others; return the number of missing pairs.

    If both are the same objects, each pair is compared once. Nothing else of the size of D is held. The tiles depend
    only on the number of objects, and a value only on its pair, so that the number of threads changes nothing.
    """
    square, tile = rows is columns, comparison.entry.tile
    corners = [(a, b) for a in range(0, D.shape[0], tile) for b in range(a if square else 0, D.shape[1], tile)]
    missing = np.zeros(len(corners), dtype=np.int64)

    def fill_tile(index: int) -> None:
        a, b = corners[index]
        i, j = slice(a, a + tile), slice(b, b + tile)
        values = comparison.between(rows[i], columns[j], D.dtype)
        if square and a == b:
            values = np.triu(values, 1)  # of each pair one value, and 0 on the diagonal
        missing[index] = count_missing(values, comparison, names, rows, a, b)
        D[i, j] = values + values.T if square and a == b else values
        if square and a != b:
            D[j, i] = values.T

    with OneBlasThread(), Workers(resolve_threads(n_jobs) if comparison.entry.parallel else 1) as workers:
        workers.run(fill_tile, len(corners))
    return int(missing.sum())


def count_missing(
    values: Array, comparison: Comparison, names: tuple[Namer, Namer], objects: Any, a: int = 0, b: int = 0
) -> int:
    """Return the number of missing dissimilarities (NaN) in a tile; raise on impossible ones."""
    if values.min() >= 0 and values.max() < np.inf:  # both NaN if any value is
        return 0
    missing = np.isnan(values)
    wrong = np.isinf(values) | (values < 0) | (missing & (not comparison.entry.may_miss))
    if not wrong.any():
        return int(missing.sum())
    i, j = np.argwhere(wrong)[0]
    is_table = isinstance(objects, np.ndarray) and objects.dtype != object
    largest = float(np.abs(objects).max()) if is_table else 0.0
    if values[i, j] < 0:
        why = "a dissimilarity must be at least 0. Is it a similarity?"
    elif largest > 1e150:  # squares of smaller numbers are finite
        why = f"X has {largest:g} among its features, too large for finite distances; divide the features by a number."
    elif values[i, j] == np.inf:
        why = "too large for dtype='float32', or for any number; scale the data."
    else:
        why = (
            "two objects without any amount, for example, cannot be compared: leave them out, add a column with a "
            "small equal amount for all objects, or choose another metric."
        )
    pair = f"{names[0](a + i)} and {names[1](b + j)}"
    raise ValueError(f"metric={comparison.name!r} gives {values[i, j]:g} for {pair}; {why}")
