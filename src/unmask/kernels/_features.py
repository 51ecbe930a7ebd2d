"""Dissimilarities of features, computed a block of rows and columns at a time into an array that is there already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array
from ._between import Formula, _row_between, between
from ._fused import TILE, _jit
from ._sources import Which


@_jit
def _fill_features(columns, formula, first, last, start, stop, left, out):  # type: ignore[no-untyped-def]
    x, sums = np.empty(columns.shape[0], columns.dtype), np.empty(TILE, columns.dtype)
    for begin in range(start, stop, TILE):  # whose features stay in the first-level cache while the rows go by
        count = min(TILE, stop - begin)
        stretch = sums[:count]
        at = left + begin - start
        for i in range(first, last):
            for c in range(columns.shape[0]):
                x[c] = columns[c, i]
            _row_between(x, columns, begin, formula, stretch)
            row = out[i - first, at : at + count]
            for j in range(count):
                row[j] = stretch[j]
            if begin <= i < begin + count:
                row[i - begin] = 0.0  # of cosines, 1 - 1 is a rounding error


FORMULAS = {"euclidean": Formula.EUCLIDEAN, "sqeuclidean": Formula.SQUARED, "cityblock": Formula.CITYBLOCK}


@dataclass(frozen=True)
class Features:
    """Features of all objects, stored by column, and the formula by which two objects are compared."""

    columns: Array  # features x objects
    formula: Formula

    @classmethod
    def of_rows(cls, rows: Array, formula: str) -> Features:
        """Return the features of a table with one object per row, which is copied."""
        return cls(np.ascontiguousarray(rows.T), FORMULAS[formula])

    def fill(self, rows: slice, columns: slice, out: Array, left: int = 0) -> None:
        """Compare the objects of two slices; the result begins in row 0 and column ``left`` of ``out``."""
        ends = rows.start, rows.stop, columns.start, columns.stop
        _fill_features(self.columns, int(self.formula), *ends, left, out)

    def between(self, rows: Which, columns: Which) -> Array:
        """Compare the objects of a slice, or at some positions, with others."""
        if not isinstance(columns, slice):
            some, others = np.ascontiguousarray(self.columns.T[rows]), np.ascontiguousarray(self.columns[:, columns])
            return between(some, others, 0, others.shape[1], self.formula)
        if not isinstance(rows, slice):
            some = np.ascontiguousarray(self.columns.T[rows])
            return between(some, self.columns, columns.start, columns.stop, self.formula)
        first, last, _ = rows.indices(self.columns.shape[1])
        out = np.empty((last - first, columns.stop - columns.start), dtype=self.columns.dtype)
        self.fill(slice(first, last), columns, out)
        return out
