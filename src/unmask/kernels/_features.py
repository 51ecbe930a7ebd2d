"""Dissimilarities of features, compiled: what a source without an array reads its tiles from.

Features are stored by column, as coordinates are in the passes, so that the innermost loops run over contiguous
objects. Four columns are added at a time: the sums are then loaded and stored a quarter as often.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .._typing import Array
from ._loops import _inner, _jit
from ._sources import TILE, Which


class Formula(IntEnum):
    """How two rows are compared; integers because compiled code branches on them."""

    EUCLIDEAN = 0
    SQUARED = 1
    CITYBLOCK = 2


_EUCLIDEAN, _CITYBLOCK = int(Formula.EUCLIDEAN), int(Formula.CITYBLOCK)


@_inner
def _add_columns(x, others, c, start, by_square, out):  # type: ignore[no-untyped-def]
    """Add the squared or absolute differences in four columns to the sums."""
    stop = start + out.shape[0]
    a, b, d, e = others[c, start:stop], others[c + 1, start:stop], others[c + 2, start:stop], others[c + 3, start:stop]
    x0, x1, x2, x3 = x[c], x[c + 1], x[c + 2], x[c + 3]
    for j in range(out.shape[0]):
        f, g, h, k = x0 - a[j], x1 - b[j], x2 - d[j], x3 - e[j]
        out[j] += (f * f + g * g) + (h * h + k * k) if by_square else (abs(f) + abs(g)) + (abs(h) + abs(k))


@_jit
def _fill(rows, others, start, formula, out):  # type: ignore[no-untyped-def]
    """Write the dissimilarities of some rows to the objects from ``start`` on, one for each column of ``out``."""
    columns, n = others.shape[0], out.shape[1]
    sums = np.empty(TILE, out.dtype)  # an array of its own: loops that might alias would stay scalar
    whole = columns - columns % 4
    for left in range(0, n, TILE):  # whose features stay in the first-level cache while the rows go by
        count, begin = min(TILE, n - left), start + left
        stretch = sums[:count]
        for i in range(rows.shape[0]):
            x = rows[i]
            for j in range(count):
                stretch[j] = 0.0
            for c in range(0, whole, 4):
                _add_columns(x, others, c, begin, formula != _CITYBLOCK, stretch)
            for c in range(whole, columns):
                own, theirs = x[c], others[c, begin : begin + count]
                for j in range(count):
                    difference = own - theirs[j]
                    stretch[j] += abs(difference) if formula == _CITYBLOCK else difference * difference
            row = out[i, left : left + count]
            for j in range(count):
                row[j] = np.sqrt(stretch[j]) if formula == _EUCLIDEAN else stretch[j]


FORMULAS = {"euclidean": Formula.EUCLIDEAN, "sqeuclidean": Formula.SQUARED, "cityblock": Formula.CITYBLOCK}


@dataclass(frozen=True)
class Features:
    """Features of all objects, by row and by column, and the formula by which two objects are compared."""

    rows: Array  # objects x features
    columns: Array  # features x objects
    formula: Formula

    @classmethod
    def of_rows(cls, rows: Array, formula: str) -> Features:
        """Return the features of a table with one object per row."""
        rows = np.ascontiguousarray(rows)
        return cls(rows, np.ascontiguousarray(rows.T), FORMULAS[formula])

    def fill(self, rows: Which, columns: slice, out: Array) -> None:
        """Compare some objects with those of a slice; the result is written into the upper left of ``out``."""
        some = np.ascontiguousarray(self.rows[rows])
        part = out[: len(some), : columns.stop - columns.start]
        _fill(some, self.columns, columns.start, int(self.formula), part)

    def between(self, rows: Which, columns: Which) -> Array:
        """Return the dissimilarities of some objects to others."""
        if not isinstance(columns, slice):
            others = np.ascontiguousarray(self.columns[:, columns])
            return Features(self.rows, others, self.formula).between(rows, slice(0, others.shape[1]))
        count = len(range(*rows.indices(len(self.rows)))) if isinstance(rows, slice) else len(rows)
        out = np.empty((count, columns.stop - columns.start), dtype=self.columns.dtype)
        self.fill(rows, columns, out)
        return out
