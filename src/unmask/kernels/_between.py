"""Distances between two sets of rows of numbers, compiled: what a source without an array reads its tiles from.

Features are stored by column, as coordinates are in the passes, so that the innermost loops run over contiguous
objects. Four columns are added at a time: the sums are then loaded and stored a quarter as often.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from .._typing import Array
from ._fused import _jit


class Formula(IntEnum):
    """How two rows are compared; integers because compiled code branches on them."""

    EUCLIDEAN = 0
    SQUARED = 1
    CITYBLOCK = 2
    COSINE = 3  # of rows of length 1


_EUCLIDEAN, _CITYBLOCK, _COSINE = int(Formula.EUCLIDEAN), int(Formula.CITYBLOCK), int(Formula.COSINE)


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
def _add_products(x, others, c, start, out):  # type: ignore[no-untyped-def]
    stop = start + out.shape[0]
    a, b, d, e = others[c, start:stop], others[c + 1, start:stop], others[c + 2, start:stop], others[c + 3, start:stop]
    x0, x1, x2, x3 = x[c], x[c + 1], x[c + 2], x[c + 3]
    for j in range(out.shape[0]):
        out[j] += (x0 * a[j] + x1 * b[j]) + (x2 * d[j] + x3 * e[j])


@_jit
def _add_column(own, theirs, formula, out):  # type: ignore[no-untyped-def]
    """Add what one column says: of those that four do not divide."""
    if formula == _COSINE:
        for j in range(out.shape[0]):
            out[j] += own * theirs[j]
    elif formula == _CITYBLOCK:
        for j in range(out.shape[0]):
            out[j] += abs(own - theirs[j])
    else:
        for j in range(out.shape[0]):
            out[j] += (own - theirs[j]) * (own - theirs[j])


@_jit
def _row_between(x, others, start, formula, out):  # type: ignore[no-untyped-def]
    columns, n = others.shape[0], out.shape[0]
    zero, one = out.dtype.type(0.0), out.dtype.type(1.0)
    for j in range(n):
        out[j] = zero
    whole = columns - columns % 4
    for c in range(0, whole, 4):
        if formula == _COSINE:
            _add_products(x, others, c, start, out)
        elif formula == _CITYBLOCK:
            _add_amounts(x, others, c, start, out)
        else:
            _add_squares(x, others, c, start, out)
    for c in range(whole, columns):
        _add_column(x[c], others[c, start : start + n], formula, out)
    if formula == _EUCLIDEAN:
        for j in range(n):
            out[j] = np.sqrt(out[j])
    elif formula == _COSINE:
        for j in range(n):
            out[j] = max(one - out[j], zero)


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
