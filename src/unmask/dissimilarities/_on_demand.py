"""Dissimilarities that are computed when they are read."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..checking import name_object
from ..kernels import LARGE
from ._metrics import Family, Names, compare_tile, count, count_missing, take

if TYPE_CHECKING:
    import pandas as pd


# Where a square table would be large, dissimilarities are rather computed anew in every pass. By compiled code, this
# makes a pass over 20 columns less than twice as long; other metrics, ten times slower, wait for more bytes.
LARGE_UNCOMPILED = 2**31
# Of fewer objects a pass reads the whole table once, for which compiled code is not worth waiting for.
COMPILED_FROM = 1000
# What cannot be compared by several threads at once waits for its turn.
_TURN = Lock()


@dataclass(frozen=True)
class OnDemand:
    """The dissimilarities of objects by a metric, each part computed when it is read; made by :meth:`Metric.on_demand`.

    A source, as every estimator with ``metric="precomputed"`` takes it: memory grows with the number of objects, not
    with its square, and every pass over the pairs compares them anew.

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

    family: Family
    objects: Any
    dtype: np.dtype[Any]
    labels: pd.Index | None = None
    symmetric = True

    @property
    def n(self) -> int:
        return count(self.objects)

    @property
    def is_large(self) -> bool:
        """Tell whether the square table would be too large to be kept for the sake of speed."""
        most = LARGE if self.family.coordinates(self.objects[:1]) is not None else LARGE_UNCOMPILED
        return self.n**2 * self.dtype.itemsize > most

    @cached_property
    def _features(self) -> Any:
        """What compiled code compares; None where the metric has no compiled code, or there are few objects."""
        coordinates = self.family.coordinates(self.objects) if self.n >= COMPILED_FROM else None
        return None if coordinates is None else kernels.features().Features.of_rows(coordinates[1], coordinates[0])

    def name(self, at: int) -> str:
        """Name an object for a message."""
        return name_object(self.labels, int(at))

    def fill(self, rows: slice, columns: slice, out: Array, left: int) -> None:
        """Write a rectangle of the table into an array, from its column ``left`` on."""
        if self._features is not None:
            self._features.fill(rows, columns, out, left)
        else:
            out[: rows.stop - rows.start, left : left + columns.stop - columns.start] = self.tile(rows, columns)

    def tile(self, rows: slice | IntArray, columns: slice) -> Array:
        """Return a rectangle of the table: the rows of a slice, or of an array of positions."""
        i, (first, last, _) = np.arange(self.n)[rows], columns.indices(self.n)
        values = self._between(rows, slice(first, last))
        inside = np.flatnonzero((i >= first) & (i < last))
        values[inside, i[inside] - first] = 0.0
        count_missing(values, self.family, Names(lambda at: self.name(i[at]), lambda at: self.name(first + at)))
        return values

    def _between(self, rows: slice | IntArray, columns: slice) -> Array:
        if self._features is not None:
            return np.asarray(self._features.between(rows, columns), dtype=self.dtype)
        with self._turn():
            return compare_tile(self.family, take(self.objects, rows), self.objects[columns], self.dtype)

    def _turn(self) -> AbstractContextManager[Any]:
        return nullcontext() if self.family.releases_lock else _TURN

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""
        return self.tile(np.asarray(which), slice(0, self.n))
