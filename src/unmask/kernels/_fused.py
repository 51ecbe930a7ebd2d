"""The passes compiled: upper-triangle tiles, each read once for both sides, no N x N temporary.

How it is laid out, and why:

- coordinates are stored by column (k x N), so that the innermost loops run over contiguous neighbours ``j`` and
  LLVM turns them into vector instructions; work arrays are allocated inside the compiled function for the same
  reason (passed in, they might alias, and the loops stay scalar: seven times slower);
- a tile is 256 x 256: its coordinates and gradients stay in the first-level cache while its dissimilarities stream by;
- tiles are dealt to a number of chunks that depends on N only; each chunk adds into a gradient of its own, and the
  chunks are summed in order. So the result is the same to the last bit for any number of threads;
- a source that is no array hands out a few tiles, or a strip of rows, at a time. The same loops take these: tiles as
  the table of their own rows and columns, a strip with the number of its first row (``top``; 0 of an array, which is passed
  whole). Two more arguments for the place of a tile made a pass over 14 objects 2% slower;
- arithmetic is done in the type of ``Z``; the stress of a row of a tile (at most 256 pairs) is added up in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from .._typing import Array, IntArray
from ._pairs import Pairs, Survey, Weighting
from ._sources import ArraySource, Source, fill_part, read_only, read_part, strip_height
from ._workers import Workers

TILE = 256
TOGETHER = 4  # tiles of a source that are read at once
ROWS_PER_CHUNK = 500
MAX_CHUNKS = 16
# Re-association lets sums become vector sums; NaN must keep its meaning (missing), so no "nnan".
_MATH = {"reassoc", "contract", "nsz", "arcp", "afn"}
_jit: Callable[..., Any] = numba.njit(nogil=True, cache=True, fastmath=_MATH, error_model="numpy")
_UNIT, _SAMMON, _ARRAY = int(Weighting.UNIT), int(Weighting.SAMMON), int(Weighting.ARRAY)


@_jit
def _squared_distances(Zt, i, start, stop, out):  # type: ignore[no-untyped-def]
    for j in range(stop - start):
        out[j] = 0.0
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        others = Zt[c, start:stop]
        for j in range(stop - start):
            difference = z - others[j]
            out[j] += difference * difference


@_jit
def _read_pairs(row, weight_row, mode, scale, floor, factor, delta, weight):  # type: ignore[no-untyped-def]
    """Scale the dissimilarities and find the weights of one row's stretch; a missing pair gets 0 and 0."""
    zero = weight.dtype.type(0.0)
    one = weight.dtype.type(1.0)
    for j in range(row.shape[0]):
        value = weight.dtype.type(row[j]) * scale
        present = value == value
        delta[j] = value if present else zero
        weight[j] = one if present else zero
    if mode == _SAMMON:
        share = weight.dtype.type(factor)
        for j in range(row.shape[0]):
            weight[j] *= share / max(delta[j], floor)
    elif mode == _ARRAY:
        for j in range(row.shape[0]):
            # Scaled before it is rounded: 1e40 is none in single precision. A pair without weight may hold anything.
            weight[j] *= weight.dtype.type(weight_row[j] * factor)
            delta[j] = delta[j] if weight[j] > zero else zero


@_jit
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


@_jit
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


@_jit
def _scatter(Zt, i, start, stop, pull, G):  # type: ignore[no-untyped-def]
    """Add ``pull * (z_i - z_j)`` to the gradient of ``i`` and subtract it from that of every ``j``."""
    for c in range(Zt.shape[0]):
        z = Zt[c, i]
        others = Zt[c, start:stop]
        theirs = G[c, start:stop]
        own = pull.dtype.type(0.0)
        for j in range(stop - start):
            force = pull[j] * (z - others[j])
            own += force
            theirs[j] -= force
        G[c, i] += own


@_jit
def _stress_chunk(D, W, mode, scale, floor, factor, Zt, tiles, G):  # type: ignore[no-untyped-def]
    number = Zt.dtype.type
    scale, floor = number(scale), number(floor)
    squared, pull = np.empty(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    delta, weight = np.empty(TILE, Zt.dtype), np.empty(TILE, Zt.dtype)
    n = Zt.shape[1]
    stress = 0.0
    for t in range(tiles.shape[0]):
        first = tiles[t, 1] * TILE
        stop = min(first + TILE, n)
        for i in range(tiles[t, 0] * TILE, min((tiles[t, 0] + 1) * TILE, n)):
            start = max(first, i + 1)
            if start >= stop:
                continue
            _squared_distances(Zt, i, start, stop, squared)
            row = D[i, start:stop]
            if mode == _UNIT:
                stress += _unit_residuals(row, scale, squared, pull)
            else:
                weight_row = W[i, start:stop] if mode == _ARRAY else W[0, :0]
                _read_pairs(row, weight_row, mode, scale, floor, factor, delta, weight)
                stress += _weighted_residuals(delta, weight, squared, pull, stop - start)
            _scatter(Zt, i, start, stop, pull, G)
    return stress


def n_chunks(n: int) -> int:
    """Return into how many parts a pass over n objects is dealt: more than one can use several threads."""
    return len(_chunks(n))


@lru_cache(maxsize=16)
def _chunks(n: int) -> tuple[IntArray, ...]:
    """Deal the upper-triangle tiles to chunks of about equal work."""
    side = -(-n // TILE)
    tiles = np.array([(a, b) for a in range(side) for b in range(a, side)], dtype=np.int64)
    work = np.cumsum(np.where(tiles[:, 0] == tiles[:, 1], 0.5, 1.0))
    count = min(max(1, n // ROWS_PER_CHUNK), MAX_CHUNKS, len(tiles))
    edges = np.searchsorted(work, work[-1] * np.arange(1, count) / count)
    return tuple(chunk for chunk in np.split(tiles, edges) if len(chunk))


@_jit
def _stress_whole(D, W, mode, scale, floor, factor, Z, tiles):  # type: ignore[no-untyped-def]
    """Do everything in one call: for few objects, calls and small arrays cost more than the pairs."""
    Zt = Z.T.copy()
    G = np.zeros_like(Zt)
    stress = _stress_chunk(D, W, mode, scale, floor, factor, Zt, tiles, G)
    return stress, G.T.copy()


def stress_pass(pairs: Pairs, Z: Array, workers: Workers) -> tuple[float, Array]:
    """Return the stress at ``Z`` and its half-gradient ``(H - C) Z``, reading each dissimilarity once."""
    chunks = _chunks(pairs.n)
    if len(chunks) == 1:
        stress, gradient = _stress_whole(*pairs.whole, Z, chunks[0])
        return stress, gradient.astype(np.float64, copy=False)
    Zt = np.ascontiguousarray(Z.T)
    G = np.zeros((len(chunks), *Zt.shape), dtype=Z.dtype)
    stresses = np.zeros(len(chunks))

    def run(c: int) -> None:
        if isinstance(pairs.source, ArraySource):
            stresses[c] = _stress_chunk(*pairs.whole, Zt, chunks[c], G[c])
        else:
            stresses[c] = _stress_of_parts(pairs, Zt, chunks[c], G[c])

    workers.run(run, len(chunks))
    return float(stresses.sum()), np.ascontiguousarray(G.sum(axis=0, dtype=np.float64).T)


def _stress_of_parts(pairs: Pairs, Zt: Array, tiles: IntArray, G: Array) -> float:
    """Read a few tiles of a row into an array that stays in the cache, and pass over them as a table of their own.

    Its columns are the objects of the rows, and then the others: the tiles are (0, 1), (0, 2), … or, if they begin on
    the diagonal, (0, 0), (0, 1), ….
    """
    desk = np.empty((TILE, (1 + TOGETHER) * TILE), dtype=pairs.source.dtype)
    weighted = pairs.weighting == Weighting.ARRAY
    weights = np.empty(desk.shape if weighted else (1, 0), dtype=pairs.W.dtype)
    table, rule = (read_only(desk), read_only(weights)), pairs.rule
    stress = 0.0
    for rows, columns in _runs(pairs.n, tiles):
        apart = TILE * int(rows.start != columns.start)
        fill_part(pairs.source, rows, columns, desk, apart)
        if weighted:
            fill_part(ArraySource(pairs.W), rows, columns, weights, apart)
        own = np.concatenate([Zt[:, rows][:, :apart], Zt[:, columns]], axis=1)
        gradient = np.zeros_like(own)
        beside = np.arange(apart, own.shape[1], TILE) // TILE
        stress += _stress_chunk(*table, *rule, own, np.column_stack([np.zeros_like(beside), beside]), gradient)
        G[:, rows][:, :apart] += gradient[:, :apart]
        G[:, columns] += gradient[:, apart:]
    return stress


def _runs(n: int, tiles: IntArray) -> Iterator[tuple[slice, slice]]:
    """Yield the rows and columns of tiles that lie side by side, a few at a time."""
    for row in np.unique(tiles[:, 0]).tolist():
        columns = tiles[tiles[:, 0] == row, 1].tolist()
        for first in range(columns[0], columns[-1] + 1, TOGETHER):
            yield _stretch(row, row + 1, n), _stretch(first, min(first + TOGETHER, columns[-1] + 1), n)


def _stretch(first: int, last: int, n: int) -> slice:
    """Return the objects of the tiles ``first … last - 1``."""
    return slice(first * TILE, min(last * TILE, n))


def _parts(source: Source, tiles: IntArray) -> Iterator[tuple[IntArray, slice, slice]]:
    """Yield tiles, and the rows and columns that hold them: all at once of an array, one at a time of others."""
    if isinstance(source, ArraySource):
        yield tiles, slice(0, source.n), slice(0, source.n)
        return
    for tile in tiles:
        rows, columns = (_stretch(at, at + 1, source.n) for at in tile.tolist())
        yield tile[None], rows, columns


@_jit
def _point_stress_rows(D, W, mode, scale, floor, factor, top, Zt, first, last, out):  # type: ignore[no-untyped-def]
    n = Zt.shape[1]
    squared, delta, weight = np.empty(n), np.empty(n), np.empty(n)
    for i in range(first, last):
        _squared_distances(Zt, i, 0, n, squared)
        _read_pairs(D[i - top], W[i - top] if mode == _ARRAY else W[0], mode, scale, floor, factor, delta, weight)
        weight[i] = 0.0
        total = 0.0
        for j in range(n):
            residual = delta[j] - np.sqrt(squared[j])
            total += weight[j] * residual * residual
        out[i] = total


@_jit
def _laplacian_rows(D, W, mode, scale, floor, factor, top, Xt, first, last, degrees, HX):  # type: ignore[no-untyped-def]
    columns, n = Xt.shape
    delta, weight = np.empty(n), np.empty(n)
    for i in range(first, last):
        _read_pairs(D[i - top], W[i - top] if mode == _ARRAY else W[0], mode, scale, floor, factor, delta, weight)
        weight[i] = 0.0
        degrees[i] = weight.sum()
        for c in range(columns):
            total = 0.0
            for j in range(n):
                total += weight[j] * (Xt[c, i] - Xt[c, j])
            HX[i, c] = total


@_jit
def _read_squares(row, weight_row, mode, scale, squared):  # type: ignore[no-untyped-def]
    """Square a row's scaled dissimilarities, NaN where a pair does not count; tell whether any does not."""
    missing = False
    for j in range(row.shape[0]):
        value = row[j] * scale
        squared[j] = value * value
        missing |= value != value
    if mode == _ARRAY:
        for j in range(row.shape[0]):
            if weight_row[j] == 0.0:
                squared[j] = np.nan
                missing = True
    return missing


@_jit
def _squared_product_rows(D, W, mode, scale, top, Xt, fill, offset, first, last, out):  # type: ignore[no-untyped-def]
    columns, n = Xt.shape
    squared = np.empty(n)
    for i in range(first, last):
        if _read_squares(D[i - top], W[i - top] if mode == _ARRAY else W[0], mode, scale, squared):
            for j in range(n):
                if squared[j] != squared[j]:
                    squared[j] = offset + ((fill[i] - fill[j]) ** 2).sum()
        squared[i] = 0.0
        for c in range(columns):
            total = 0.0
            for j in range(n):
                total += squared[j] * Xt[c, j]
            out[i, c] = total


@_jit
def _pair_sums_rows(D, W, mode, scale, floor, factor, top, first, last, out):  # type: ignore[no-untyped-def]
    n = D.shape[1]
    delta, weight = np.empty(n), np.empty(n)
    for i in range(first, last):
        row = D[i - top, i + 1 :]
        weight_row = W[i - top, i + 1 :] if mode == _ARRAY else W[0, :0]
        _read_pairs(row, weight_row, mode, scale, floor, factor, delta, weight)
        for j in range(n - i - 1):
            out[0] += weight[j]
            out[1] += weight[j] * delta[j]
            out[2] += weight[j] * delta[j] * delta[j]


def _row_blocks(n: int) -> list[tuple[int, int]]:
    count = min(max(1, n // ROWS_PER_CHUNK), MAX_CHUNKS)
    edges = np.linspace(0, n, count + 1).astype(int)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _over_rows(workers: Workers, n: int, rows: Callable[[int, int, int], None]) -> None:
    blocks = _row_blocks(n)
    workers.run(lambda b: rows(b, *blocks[b]), len(blocks))


def _over_strips(workers: Workers, pairs: Pairs, rows: Callable[[int, tuple[Any, ...], int, int], None]) -> None:
    """Call for each block of rows with what compiled code takes for it; of a source that is no array, for few rows."""

    def block(number: int, first: int, last: int) -> None:
        height = last - first if isinstance(pairs.source, ArraySource) else strip_height(pairs.n)
        for top in range(first, last, height):
            strip = slice(top, min(top + height, last))
            rows(number, (*pairs.part(strip, slice(0, pairs.n)), top), top, strip.stop)

    _over_rows(workers, pairs.n, block)


def point_stress(pairs: Pairs, Z: Array, workers: Workers) -> Array:
    """Return for each object the weighted squared error of the pairs it is in."""
    Zt, out = np.ascontiguousarray(Z.T, dtype=np.float64), np.empty(pairs.n)
    _over_strips(workers, pairs, lambda _, part, a, b: _point_stress_rows(*part, Zt, a, b, out))
    return out


def laplacian_pass(pairs: Pairs, X: Array, workers: Workers) -> tuple[Array, Array]:
    """Return the diagonal of ``H`` (sum of each object's weights) and ``H X``."""
    Xt = np.ascontiguousarray(X.T, dtype=np.float64)
    degrees, HX = np.empty(pairs.n), np.empty(X.shape)
    _over_strips(workers, pairs, lambda _, part, a, b: _laplacian_rows(*part, Xt, a, b, degrees, HX))
    return degrees, HX


def squared_product(pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers) -> Array:
    """Return ``D2 X`` for squared dissimilarities ``D2``, ``offset + |fill_i - fill_j|^2`` where pairs do not count."""
    Xt, fill = np.ascontiguousarray(X.T, dtype=np.float64), np.ascontiguousarray(fill, dtype=np.float64)
    out = np.empty(X.shape)

    def rows(_: int, part: tuple[Any, ...], first: int, last: int) -> None:
        D, W, mode, scale, _, _, top = part
        _squared_product_rows(D, W, mode, scale, top, Xt, fill, offset, first, last, out)

    _over_strips(workers, pairs, rows)
    return out


def pair_sums(pairs: Pairs, workers: Workers) -> Array:
    """Return ``[sum of w, sum of w delta, sum of w delta^2]`` over the pairs i < j."""
    out = np.zeros((len(_row_blocks(pairs.n)), 3))
    _over_strips(workers, pairs, lambda block, part, a, b: _pair_sums_rows(*part, a, b, out[block]))
    return np.asarray(out.sum(axis=0))


@_jit
def _survey_chunk(D, mirror, top, left, n, tiles, counts, extremes):  # type: ignore[no-untyped-def]
    """Compare each tile above the diagonal with its mirror image while both are in the cache."""
    for t in range(tiles.shape[0]):
        for i in range(tiles[t, 0] * TILE, min((tiles[t, 0] + 1) * TILE, n)):
            for j in range(max(tiles[t, 1] * TILE, i + 1), min((tiles[t, 1] + 1) * TILE, n)):
                a, b = D[i - top, j - left], mirror[j - left, i - top]
                gap = abs(a - b)
                if gap <= extremes[2] and min(a, b) >= extremes[0] and max(a, b) <= extremes[1]:
                    continue
                counts[2] += np.isinf(a) + np.isinf(b)
                if a != a and b != b:
                    counts[0] += 1
                elif a != a or b != b:
                    counts[1] += 1
                for value in (a, b):
                    if np.isfinite(value):
                        extremes[0] = min(extremes[0], value)
                        extremes[1] = max(extremes[1], value)
                if np.isfinite(a) and np.isfinite(b):
                    extremes[2] = max(extremes[2], gap)


def survey(source: Source, workers: Workers) -> Survey:
    """Look at every entry once: extremes, missing pairs, infinities and the largest asymmetry."""
    chunks = _chunks(source.n)
    counts, extremes = np.zeros((len(chunks), 3), np.int64), np.zeros((len(chunks), 3))

    def run(c: int) -> None:
        for tiles, rows, columns in _parts(source, chunks[c]):
            D = read_part(source, rows, columns)
            mirror = read_only(D.T) if getattr(source, "symmetric", False) else read_part(source, columns, rows)
            _survey_chunk(D, mirror, rows.start, columns.start, source.n, tiles, counts[c], extremes[c])

    workers.run(run, len(chunks))
    missing, one_sided, infinite = (int(count) for count in counts.sum(axis=0))
    smallest, largest, asymmetry = extremes[:, 0].min(), extremes[:, 1].max(), extremes[:, 2].max()
    return Survey(missing, one_sided, infinite, float(smallest), float(largest), float(asymmetry))


@_jit
def _dot(a, b):  # type: ignore[no-untyped-def]
    """Return the inner product without BLAS, whose threads spin for longer than this takes on a busy machine."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@_jit
def lbfgs_direction(steps, changes, inverse_curvatures, count, gradient):  # type: ignore[no-untyped-def]
    """Return minus the limited-memory inverse Hessian times the gradient (two-loop recursion over a ring of pairs)."""
    memory = steps.shape[0]
    used = min(count, memory)
    direction = -gradient
    shares = np.empty(used)
    for back in range(used):
        at = (count - 1 - back) % memory
        shares[back] = inverse_curvatures[at] * _dot(steps[at], direction)
        direction -= shares[back] * changes[at]
    newest = (count - 1) % memory
    direction *= 1.0 / (inverse_curvatures[newest] * _dot(changes[newest], changes[newest]))
    for back in range(used - 1, -1, -1):
        at = (count - 1 - back) % memory
        correction = shares[back] - inverse_curvatures[at] * _dot(changes[at], direction)
        direction += correction * steps[at]
    return direction


@_jit
def lbfgs_remember(steps, changes, inverse_curvatures, at, step, change):  # type: ignore[no-untyped-def]
    """Put a step and the change of the gradient along it into place ``at`` if it curves upwards; tell whether."""
    curvature = _dot(step, change)
    if not curvature > 1e-10 * np.sqrt(_dot(step, step) * _dot(change, change)):
        return False
    steps[at, :] = step
    changes[at, :] = change
    inverse_curvatures[at] = 1.0 / curvature
    return True
