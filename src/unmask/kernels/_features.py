"""Dissimilarities of features, compiled: what a source without an array reads its tiles from.

Features are stored by column, as coordinates are in the passes, so that the innermost loops run over contiguous
objects. Four columns are added at a time: the sums are then loaded and stored a quarter as often.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .._typing import Array
from ._fused import _jit
from ._sources import TILE, Which


class Formula(IntEnum):
    """How two rows are compared; integers because compiled code branches on them."""

    EUCLIDEAN = 0
    SQUARED = 1
    CITYBLOCK = 2


_EUCLIDEAN, _CITYBLOCK = int(Formula.EUCLIDEAN), int(Formula.CITYBLOCK)


@_jit
def _add_squares(x, others, c, start, out):  # type: ignore[no-untyped-def]
    """Add the squared differences in four columns to the sums."""
    stop = start + out.shape[0]
    a, b, d, e = others[c, start:stop], others[c + 1, start:stop], others[c + 2, start:stop], others[c + 3, start:stop]
    x0, x1, x2, x3 = x[c], x[c + 1], x[c + 2], x[c + 3]
    for j in range(out.shape[0]):
        f, g, h, k = x0 - a[j], x1 - b[j], x2 - d[j], x3 - e[j]
        out[j] += (f * f + g * g) + (h * h + k * k)


@_jit
def _add_amounts(x, others, c, start, out):  # type: ignore[no-untyped-def]
    stop = start + out.shape[0]
    a, b, d, e = others[c, start:stop], others[c + 1, start:stop], others[c + 2, start:stop], others[c + 3, start:stop]
    x0, x1, x2, x3 = x[c], x[c + 1], x[c + 2], x[c + 3]
    for j in range(out.shape[0]):
        out[j] += (abs(x0 - a[j]) + abs(x1 - b[j])) + (abs(x2 - d[j]) + abs(x3 - e[j]))


@_jit
def _add_column(own, theirs, formula, out):  # type: ignore[no-untyped-def]
    """Add what one column says: of those that four do not divide."""
    if formula == _CITYBLOCK:
        for j in range(out.shape[0]):
            out[j] += abs(own - theirs[j])
    else:
        for j in range(out.shape[0]):
            out[j] += (own - theirs[j]) * (own - theirs[j])


@_jit
def _row_between(x, others, start, formula, out):  # type: ignore[no-untyped-def]
    columns, n = others.shape[0], out.shape[0]
    for j in range(n):
        out[j] = 0.0
    whole = columns - columns % 4
    for c in range(0, whole, 4):
        if formula == _CITYBLOCK:
            _add_amounts(x, others, c, start, out)
        else:
            _add_squares(x, others, c, start, out)
    for c in range(whole, columns):
        _add_column(x[c], others[c, start : start + n], formula, out)
    if formula == _EUCLIDEAN:
        for j in range(n):
            out[j] = np.sqrt(out[j])


@_jit
def _fill_between(rows, others, start, formula, out):  # type: ignore[no-untyped-def]
    n = out.shape[1]
    sums = np.empty(n, out.dtype)  # of its own, or the loops might alias and would stay scalar
    for i in range(rows.shape[0]):
        _row_between(rows[i], others, start, formula, sums)
        for j in range(n):
            out[i, j] = sums[j]


def between(rows: Array, others: Array, start: int, stop: int, formula: Formula) -> Array:
    """Return the distances of some rows (m x columns) to the objects ``start … stop`` of features stored by column."""
    out = np.empty((len(rows), stop - start), dtype=others.dtype)
    _fill_between(rows, others, start, int(formula), out)
    return out


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
                row[i - begin] = 0.0


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
