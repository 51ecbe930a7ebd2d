"""The loops of the passes, compiled.

- Coordinates are stored by column (k x N), so that the innermost loops run over contiguous neighbours ``j`` and become
  vector instructions. Work arrays are allocated inside the compiled functions: passed in, they might alias, and the
  loops stay scalar, seven times slower.
- A tile is 320 x 320: its coordinates and gradients stay in the first-level cache while its dissimilarities stream by
  (256 was up to 15% slower).
- Four rows at a time add to the gradients of their columns. The columns' coordinates and gradients are copied next to
  each other for a tile: N x 8 bytes apart they push each other out of the cache (0.88x the time at k = 7).
- Arithmetic is done in the type of ``Z``; the stress of a row of a tile is added up in float64.
- ``left`` is the number of the first column of a rectangle, ``top`` that of its first row; 0 for a whole table. Two
  more arguments for the place of a tile made a pass over 14 objects 2% slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from ._pairs import Weighting
from ._sources import TILE

STRETCH = 512  # columns of a product with the table that are read for four rows while they are in the cache
# Re-association lets sums become vector sums; NaN must keep its meaning (missing), so no "nnan".
_MATH = {"reassoc", "contract", "nsz", "arcp", "afn"}
_jit: Callable[..., Any] = numba.njit(nogil=True, cache=True, fastmath=_MATH, error_model="numpy")
# Loops that several passes share are inlined before compilation: as functions of their own they would be optimised
# twice (a first pass took 2.7 s to compile, and takes 1.3).
_inner: Callable[..., Any] = numba.njit(inline="always", fastmath=_MATH, error_model="numpy")
_SAMMON, _ARRAY = int(Weighting.SAMMON), int(Weighting.ARRAY)


@_inner
def _squared_distances(point, Zt, start, stop, out):  # type: ignore[no-untyped-def]
    """Leave the squared distances of a stretch of objects to a point, two columns at a time."""
    columns, count = Zt.shape[0], stop - start
    done = 2 - columns % 2
    z, others = point[0], Zt[0, start:stop]
    z2, others2 = point[done - 1], Zt[done - 1, start:stop]
    if done == 2:
        for j in range(count):
            out[j] = (z - others[j]) * (z - others[j]) + (z2 - others2[j]) * (z2 - others2[j])
    else:
        for j in range(count):
            out[j] = (z - others[j]) * (z - others[j])
    for c in range(done, columns, 2):
        z, others = point[c], Zt[c, start:stop]
        z2, others2 = point[c + 1], Zt[c + 1, start:stop]
        for j in range(count):
            out[j] += (z - others[j]) * (z - others[j]) + (z2 - others2[j]) * (z2 - others2[j])


@_inner
def _squared_distances_by_four(Zt, i, others, start, stop, out):  # type: ignore[no-untyped-def]
    """Do the same four columns at a time, from a copy of the others' coordinates: longer to compile, and faster."""
    columns, count = Zt.shape[0], stop - start
    done = 1 + (columns - 1) % 4
    second, third, fourth = min(1, columns - 1), min(2, columns - 1), min(3, columns - 1)
    z, own = Zt[0, i], others[0, start:stop]
    z2, own2 = Zt[second, i], others[second, start:stop]
    z3, own3 = Zt[third, i], others[third, start:stop]
    z4, own4 = Zt[fourth, i], others[fourth, start:stop]
    if done == 1:
        for j in range(count):
            out[j] = (z - own[j]) * (z - own[j])
    elif done == 2:
        for j in range(count):
            out[j] = (z - own[j]) * (z - own[j]) + (z2 - own2[j]) * (z2 - own2[j])
    elif done == 3:
        for j in range(count):
            two = (z - own[j]) * (z - own[j]) + (z2 - own2[j]) * (z2 - own2[j])
            out[j] = two + (z3 - own3[j]) * (z3 - own3[j])
    else:
        for j in range(count):
            two = (z - own[j]) * (z - own[j]) + (z2 - own2[j]) * (z2 - own2[j])
            out[j] = two + ((z3 - own3[j]) * (z3 - own3[j]) + (z4 - own4[j]) * (z4 - own4[j]))
    for c in range(done, columns, 4):
        z, own = Zt[c, i], others[c, start:stop]
        z2, own2 = Zt[c + 1, i], others[c + 1, start:stop]
        z3, own3 = Zt[c + 2, i], others[c + 2, start:stop]
        z4, own4 = Zt[c + 3, i], others[c + 3, start:stop]
        for j in range(count):
            two = (z - own[j]) * (z - own[j]) + (z2 - own2[j]) * (z2 - own2[j])
            out[j] += two + ((z3 - own3[j]) * (z3 - own3[j]) + (z4 - own4[j]) * (z4 - own4[j]))


@_inner
def _read_pairs(row, weight_row, mode, scale, floor, factor, delta, weight):  # type: ignore[no-untyped-def]
    """Scale the dissimilarities and find the weights of one row's stretch; a missing pair gets 0 and 0."""
    zero = weight.dtype.type(0.0)
    one = weight.dtype.type(1.0)
    for j in range(row.shape[0]):
        value = weight.dtype.type(row[j]) * scale
        missing = np.isnan(value)
        delta[j] = zero if missing else value
        weight[j] = zero if missing else one
    if mode == _SAMMON:
        share = weight.dtype.type(factor)
        for j in range(row.shape[0]):
            weight[j] *= share / max(delta[j], floor)
    elif mode == _ARRAY:
        for j in range(row.shape[0]):
            # Scaled before it is rounded: 1e40 is none in single precision. A pair without weight may hold anything.
            weight[j] *= weight.dtype.type(weight_row[j] * factor)
            delta[j] = delta[j] if weight[j] > zero else zero


@_inner
def _unit_residuals(row, scale, squared, pull):  # type: ignore[no-untyped-def]
    """Return a row's stress and leave ``1 - delta/d`` in ``pull``; all weights 1, nothing missing."""
    zero = pull.dtype.type(0.0)
    one = pull.dtype.type(1.0)
    total = zero
    for j in range(row.shape[0]):
        inverse = one / np.sqrt(squared[j]) if squared[j] > zero else zero
        delta = pull.dtype.type(row[j]) * scale
        residual = delta - squared[j] * inverse
        total += residual * residual
        pull[j] = one - delta * inverse
    return total


@_inner
def _weighted_residuals(delta, weight, squared, pull, count):  # type: ignore[no-untyped-def]
    zero = pull.dtype.type(0.0)
    one = pull.dtype.type(1.0)
    total = zero
    for j in range(count):
        inverse = one / np.sqrt(squared[j]) if squared[j] > zero else zero
        residual = delta[j] - squared[j] * inverse
        total += weight[j] * residual * residual
        pull[j] = weight[j] * (one - delta[j] * inverse)
    return total


@_inner
def _scatter(Zt, i, others, start, stop, pull, G, theirs):  # type: ignore[no-untyped-def]
    """Add ``pull * (z_i - z_j)`` to the gradient of ``i`` and subtract it from that of every ``j``.

    ``others`` and ``theirs`` hold coordinates and gradients of the ``j``: those of all objects, or copies for a tile.
    """
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        column, their = others[c, start:stop], theirs[c, start:stop]
        own = pull.dtype.type(0.0)
        for j in range(stop - start):
            force = pull[j] * (z - column[j])
            own += force
            their[j] -= force
        G[c, i] += own


@_inner
def _scatter_four(Zt, i, others, start, stop, pulls, G, theirs):  # type: ignore[no-untyped-def]
    """Do the same for four objects: the gradient of every ``j`` is read and written once for all of them."""
    zero = pulls.dtype.type(0.0)
    first, second, third, fourth = pulls[0], pulls[1], pulls[2], pulls[3]
    for c in range(Zt.shape[0]):
        z0, z1, z2, z3 = Zt[c, i], Zt[c, i + 1], Zt[c, i + 2], Zt[c, i + 3]
        column, their = others[c, start:stop], theirs[c, start:stop]
        own0, own1, own2, own3 = zero, zero, zero, zero
        for j in range(stop - start):
            other = column[j]
            force0, force1 = first[j] * (z0 - other), second[j] * (z1 - other)
            force2, force3 = third[j] * (z2 - other), fourth[j] * (z3 - other)
            own0 += force0
            own1 += force1
            own2 += force2
            own3 += force3
            their[j] -= (force0 + force1) + (force2 + force3)
        G[c, i] += own0
        G[c, i + 1] += own1
        G[c, i + 2] += own2
        G[c, i + 3] += own3


@_inner
def _row_stress(D, W, mode, scale, floor, factor, left, i, start, stop, squared, delta, weight, pull):  # type: ignore[no-untyped-def]
    """Return the stress of a row's stretch, of given squared distances, and leave what it pulls with in ``pull``."""
    row = D[i, start - left : stop - left]
    if W is None:  # unit weights: compiled by themselves, and without the rest
        stress = _unit_residuals(row, scale, squared, pull)
    else:
        weight_row = W[i, start - left : stop - left] if mode == _ARRAY else W[0, :0]
        _read_pairs(row, weight_row, mode, scale, floor, factor, delta, weight)
        stress = _weighted_residuals(delta, weight, squared, pull, stop - start)
    return stress


@_jit
def _stress_chunk(D, W, mode, scale, floor, factor, left, Zt, tiles, G):  # type: ignore[no-untyped-def]
    scale, floor = Zt.dtype.type(scale), Zt.dtype.type(floor)
    squared, pulls = np.empty(TILE, Zt.dtype), np.empty((4, TILE), Zt.dtype)
    delta, weight = np.empty(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    columns, n = Zt.shape
    others, theirs = np.empty((columns, TILE), Zt.dtype), np.empty((columns, TILE), Zt.dtype)
    stress = 0.0
    for t in range(tiles.shape[0]):
        top, first = tiles[t, 0] * TILE, tiles[t, 1] * TILE
        bottom, stop = min(top + TILE, n), min(first + TILE, n)
        for c in range(columns):
            for j in range(stop - first):
                others[c, j] = Zt[c, first + j]
                theirs[c, j] = 0.0
        fours, width = bottom - (bottom - top) % 4, stop - first
        for i in range(top, bottom):
            # The columns that all four rows have begin at ``common``; on the diagonal, those before go row by row.
            start = max(first, i + 1) - first
            common = max(first, i - i % 4 + 4) - first if i < fours else width
            pull = pulls[i % 4, start:width]
            _squared_distances_by_four(Zt, i, others, start, width, squared)
            begin = first + start
            stress += _row_stress(D, W, mode, scale, floor, factor, left, i, begin, stop, squared, delta, weight, pull)
            if common > start:
                _scatter(Zt, i, others, start, common, pull, G, theirs)
            if i < fours and i % 4 == 3:
                _scatter_four(Zt, i - 3, others, common, width, pulls[:, common:width], G, theirs)
        for c in range(columns):
            for j in range(stop - first):
                G[c, first + j] += theirs[c, j]
    return stress


@_jit
def _stress_whole(D, W, mode, scale, floor, factor, Z):  # type: ignore[no-untyped-def]
    """Do everything in one call: for few objects, calls and small arrays cost more than the pairs."""
    scale, floor = Z.dtype.type(scale), Z.dtype.type(floor)
    n, columns = Z.shape
    squared, pull = np.empty(n, Z.dtype), np.empty(n, Z.dtype)
    delta, weight = np.empty(n, Z.dtype), np.empty(n, Z.dtype)
    Zt, Gt, G = np.empty((columns, n), Z.dtype), np.empty((columns, n), Z.dtype), np.empty((n, columns))
    for c in range(columns):
        for i in range(n):
            Zt[c, i] = Z[i, c]
            Gt[c, i] = 0.0
    stress = 0.0
    for i in range(n - 1):
        _squared_distances(Zt[:, i], Zt, i + 1, n, squared)
        stress += _row_stress(D, W, mode, scale, floor, factor, 0, i, i + 1, n, squared, delta, weight, pull)
        _scatter(Zt, i, Zt, i + 1, n, pull, Gt, Gt)
    for i in range(n):
        for c in range(columns):
            G[i, c] = Gt[c, i]
    return stress, G


@_jit
def _last_chunk(D, W, mode, scale, floor, factor, left, Zx, tiles, out):  # type: ignore[no-untyped-def]
    """Add up the objects' errors, and squared dissimilarities times the last row of ``Zx``; the others are places."""
    squared, delta, weight = np.empty(TILE), np.ones(TILE), np.ones(TILE)
    n = Zx.shape[1]
    Zt, x = Zx[:-1], Zx[-1]
    for t in range(tiles.shape[0]):
        top, first = tiles[t, 0] * TILE, tiles[t, 1] * TILE
        stop = min(first + TILE, n)
        for i in range(top, min(top + TILE, n)):
            start = max(first, i + 1)
            _squared_distances(Zt[:, i], Zt, start, stop, squared)
            row = D[i, start - left : stop - left]
            if W is None:
                for j in range(stop - start):
                    delta[j] = row[j] * scale
            else:
                weight_row = W[i, start - left : stop - left] if mode == _ARRAY else W[0, :0]
                _read_pairs(row, weight_row, mode, scale, floor, factor, delta, weight)
            theirs, products, others = out[0, start:stop], out[1, start:stop], x[start:stop]
            total, product, own = 0.0, 0.0, x[i]
            for j in range(stop - start):
                residual = delta[j] - np.sqrt(squared[j])
                error = weight[j] * residual * residual
                total += error
                theirs[j] += error
            for j in range(stop - start):
                square = delta[j] * delta[j]
                product += square * others[j]
                products[j] += square * own
            out[0, i] += total
            out[1, i] += product
    return 0.0


@_inner
def _read_squares(row, weight_row, mode, scale, own, fill, offset, squared):  # type: ignore[no-untyped-def]
    """Square a row's dissimilarities; for a pair that does not count, model the square by ``fill`` and ``offset``."""
    missing = False
    for j in range(row.shape[0]):
        value = row[j] * scale
        squared[j] = value * value
        missing |= np.isnan(value)
    if mode == _ARRAY:
        for j in range(row.shape[0]):
            if weight_row[j] == 0.0:
                squared[j] = np.nan
                missing = True
    if missing:
        for j in range(row.shape[0]):
            if squared[j] != squared[j]:
                squared[j] = offset + ((own - fill[j]) ** 2).sum()


@_jit
def _product_rows(D, W, mode, scale, floor, factor, top, of_weights, Xt, fill, offset, first, last, out):  # type: ignore[no-untyped-def]
    """Go through four rows at a time, a stretch of columns after the other: X is read once for all four."""
    columns, n = Xt.shape
    factors, delta = np.zeros((4, STRETCH)), np.empty(STRETCH)
    one, two, three, four = factors[0], factors[1], factors[2], factors[3]
    out[first:last] = 0.0
    for left in range(0, n, STRETCH):
        right = min(left + STRETCH, n)
        for i in range(first, last, 4):
            count = min(4, last - i)
            for r in range(count):  # a row too many holds what an earlier one left, and is not written
                row = D[i + r - top, left:right]
                weight_row = W[i + r - top, left:right] if mode == _ARRAY else W[0, :0]
                if of_weights:
                    _read_pairs(row, weight_row, mode, scale, floor, factor, delta, factors[r])
                else:
                    _read_squares(row, weight_row, mode, scale, fill[i + r], fill[left:right], offset, factors[r])
                if left <= i + r < right:
                    factors[r, i + r - left] = 0.0
            for c in range(columns):
                x = Xt[c, left:right]
                total, total2, total3, total4 = 0.0, 0.0, 0.0, 0.0
                for j in range(right - left):
                    total += one[j] * x[j]
                    total2 += two[j] * x[j]
                    total3 += three[j] * x[j]
                    total4 += four[j] * x[j]
                totals = (total, total2, total3, total4)
                for r in range(count):
                    out[i + r, c] += totals[r]


@_jit
def _survey_rows(a, b, left, counts, extremes, sums):  # type: ignore[no-untyped-def]
    """Compare the pairs of a rectangle with its mirror image, and add them up; those of row i begin at i + 1 - left.

    A row without a new extreme, and without a pair that is missing or infinite, is passed over in one vector loop.
    """
    zero = a.dtype.type(0.0)
    for i in range(a.shape[0]):
        row, other = a[i, max(0, i + 1 - left) :], b[i, max(0, i + 1 - left) :]
        smallest, largest = a.dtype.type(extremes[0]), a.dtype.type(extremes[1])
        asymmetry, least = a.dtype.type(extremes[2]), a.dtype.type(extremes[3])
        unusual, lengths, squares = 0, 0.0, 0.0
        for j in range(row.shape[0]):
            x, y = row[j], other[j]
            usual = (abs(x - y) <= asymmetry) & (x >= smallest) & (y >= smallest) & (x <= largest) & (y <= largest)
            unusual += not (usual & ((x >= least) | (x == zero)))
        for j in range(row.shape[0]):
            length = np.float64(row[j]) if row[j] == row[j] else 0.0
            lengths += length
            squares += length * length
        sums[0] += lengths
        sums[1] += squares
        if unusual:
            _survey_row(row, other, counts, extremes)


@_jit
def _survey_row(row, other, counts, extremes):  # type: ignore[no-untyped-def]
    for j in range(row.shape[0]):
        a, b = row[j], other[j]
        counts[2] += np.isinf(a) + np.isinf(b)
        counts[0] += np.isnan(a) and np.isnan(b)
        counts[1] += np.isnan(a) != np.isnan(b)
        for value in (a, b):
            if np.isfinite(value):
                extremes[0] = min(extremes[0], value)
                extremes[1] = max(extremes[1], value)
        if np.isfinite(a) and np.isfinite(b):
            extremes[2] = max(extremes[2], abs(a - b))
        if a > 0.0:
            extremes[3] = min(extremes[3], a)
