"""The compiled passes over the pairs of a table: no N x N temporary.

Tiles of the upper triangle are dealt to a number of chunks that depends on N only; each chunk adds into its own sums,
and these are added in order. So the result is the same to the last bit for any number of threads. A source that is not
an array hands out a few tiles, or a strip of rows, at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ._loops import _last_chunk, _product_rows, _stress_chunk, _stress_whole, _survey_rows
from ._pairs import Pairs, Part, Rule, Weighting
from ._sources import SHARED_FROM, TILE, Source, Sums, Survey, join_surveys, read_only, strip_height
from ._workers import Workers

TILES_READ = 2  # of a source, side by side
ROWS_PER_CHUNK = SHARED_FROM // 2
MAX_CHUNKS = 16


@lru_cache(maxsize=16)
def _chunks(n: int) -> tuple[IntArray, ...]:
    """Deal the upper-triangle tiles to chunks of about equal work."""
    side = -(-n // TILE)
    tiles = np.array([(a, b) for a in range(side) for b in range(a, side)], dtype=np.int64)
    work = np.cumsum(np.where(tiles[:, 0] == tiles[:, 1], 0.5, 1.0))
    count = min(max(1, n // ROWS_PER_CHUNK), MAX_CHUNKS, len(tiles))
    edges = np.searchsorted(work, work[-1] * np.arange(1, count) / count)
    return tuple(chunk for chunk in np.split(tiles, edges) if len(chunk))


def stress_pass(pairs: Pairs, Z: Array, workers: Workers) -> tuple[float, Array]:
    """Return the stress at ``Z`` and its half-gradient ``(H - C) Z``, reading each dissimilarity once."""
    if pairs.n <= TILE:
        stress, G = _stress_whole(*pairs.whole, np.ascontiguousarray(Z))
        return stress, G
    stress, G = _over_tiles(_stress_chunk, pairs, Z, Z.shape[1], workers)
    return stress, np.ascontiguousarray(G.T)


def last_pass(pairs: Pairs, Z: Array, x: Array, workers: Workers) -> tuple[Array, Array]:
    """Return each object's weighted squared error, and ``D2 x`` for the squares of dissimilarities that count."""
    _, sums = _over_tiles(_last_chunk, pairs, np.column_stack([Z, x]).astype(np.float64, copy=False), 2, workers)
    return sums[0], sums[1]


Block = tuple[slice, slice, Array]  # rows, columns, dissimilarities


def stress_of_blocks(blocks: list[Block], rule: Rule, Z: Array, workers: Workers) -> tuple[float, Array]:
    """Return the stress and half-gradient of blocks of a table, of which each begins with whole tiles."""
    stress, G = _over_blocks(_stress_chunk, blocks, rule, Z, Z.shape[1], workers)
    return stress, G.T


def last_of_blocks(blocks: list[Block], rule: Rule, Zx: Array, workers: Workers) -> Array:
    """Return for each object its error and products, as `last_pass` does; x is the last column of ``Zx``."""
    return _over_blocks(_last_chunk, blocks, rule, Zx, 2, workers)[1].T


def _over_tiles(
    chunk: Callable[..., float], pairs: Pairs, Z: Array, width: int, workers: Workers
) -> tuple[float, Array]:
    """Return the sum of what compiled code returns for all tiles, and of what it adds up (width x n)."""
    chunks, Zt = _chunks(pairs.n), np.ascontiguousarray(Z.T)
    if pairs.source.array is not None:
        whole = pairs.whole

        def run(c: int, sums: Array) -> float:
            return chunk(*whole, 0, Zt, chunks[c], sums)
    else:

        def run(c: int, sums: Array) -> float:
            desk = np.empty((TILE, TILES_READ * TILE), pairs.source.dtype)  # stays in the cache
            runs = _runs(pairs.n, chunks[c])
            return sum(_rectangle(chunk, pairs.part(*at, desk), *at, Zt, sums) for at in runs)

    return _add_up(run, len(chunks), (width, pairs.n), Z.dtype, workers)


def _over_blocks(
    chunk: Callable[..., float], blocks: list[Block], rule: Rule, Z: Array, width: int, workers: Workers
) -> tuple[float, Array]:
    """Do the same for blocks."""
    Zt, unit = np.ascontiguousarray(Z.T), rule[0] == Weighting.UNIT

    def run(c: int, sums: Array) -> float:
        rows, columns, D = blocks[c]
        part = read_only(D), None if unit else read_only(np.empty((1, 0))), *rule
        return _rectangle(chunk, part, rows, columns, Zt, sums)

    return _add_up(run, len(blocks), (width, len(Z)), np.float64, workers)


def _add_up(
    run: Callable[[int, Array], float], count: int, shape: tuple[int, int], dtype: Any, workers: Workers
) -> tuple[float, Array]:
    """Return the sum of ``run(number, sums)`` and of the sums that each call adds to, in order."""
    values, sums = np.zeros(count), np.zeros((count, *shape), dtype)

    def task(number: int) -> None:
        values[number] = run(number, sums[number])

    workers.run(task, count)
    return float(values.sum()), np.asarray(sums.sum(axis=0, dtype=np.float64))


def _rectangle(chunk: Callable[..., float], part: Part, rows: slice, columns: slice, Zt: Array, sums: Array) -> float:
    """Pass over a rectangle as a table of its own: its rows, if they are others than its columns, and its columns."""
    height = rows.stop - rows.start
    left = 0 if rows.start == columns.start else height
    own = np.concatenate([Zt[:, rows][:, :left], Zt[:, columns]], axis=1)
    first, last = left // TILE, -(-own.shape[1] // TILE)
    tiles = [(a, b) for a in range(-(-height // TILE)) for b in range(max(a, first), last)]
    added = np.zeros((len(sums), own.shape[1]), dtype=Zt.dtype)
    value = chunk(*part, left, own, np.array(tiles), added)
    sums[:, rows.start : rows.start + left] += added[:, :left]
    sums[:, columns] += added[:, left:]
    return value


def _runs(n: int, tiles: IntArray) -> Iterator[tuple[slice, slice]]:
    """Yield the rows and columns of tiles that lie side by side, a few at a time."""
    for row in np.unique(tiles[:, 0]).tolist():
        columns = tiles[tiles[:, 0] == row, 1].tolist()
        for first in range(columns[0], columns[-1] + 1, TILES_READ):
            last = min(first + TILES_READ, columns[-1] + 1)
            yield slice(row * TILE, min((row + 1) * TILE, n)), slice(first * TILE, min(last * TILE, n))


# ---- products with the table, which a fit makes a few times


def laplacian_pass(pairs: Pairs, X: Array, workers: Workers) -> tuple[Array, Array]:
    """Return the diagonal of ``H`` (sum of each object's weights) and ``H X``."""
    product = _product(pairs, np.column_stack([np.ones(pairs.n), X]), None, 0.0, workers)
    return product[:, 0], product[:, :1] * X - product[:, 1:]


def squared_product(pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers) -> Array:
    """Return ``D2 X`` for squared dissimilarities ``D2``, ``offset + |fill_i - fill_j|^2`` where pairs do not count."""
    return _product(pairs, X, fill, offset, workers)


def _product(pairs: Pairs, X: Array, fill: Array | None, offset: float, workers: Workers) -> Array:
    """Return the weights times X, or with ``fill`` the squared dissimilarities times X."""
    n, of_weights, out = pairs.n, fill is None, np.empty(X.shape)
    Xt = np.ascontiguousarray(X.T, dtype=np.float64)
    fill = np.ascontiguousarray(np.empty((n, 0)) if fill is None else fill, dtype=np.float64)
    edges = np.linspace(0, n, min(max(1, n // ROWS_PER_CHUNK), MAX_CHUNKS) + 1).astype(int).tolist()

    def run(block: int) -> None:
        first, last = edges[block : block + 2]
        height = last - first if pairs.source.array is not None else strip_height(n)
        for top in range(first, last, height):
            stop = min(top + height, last)
            D, W, *rule = pairs.part(slice(top, stop), slice(0, n))
            W = read_only(np.empty((1, 0))) if W is None else W
            _product_rows(D, W, *rule, top, of_weights, Xt, fill, offset, top, stop, out)
            del D, W  # before the next strip is read

    workers.run(run, len(edges) - 1)
    return out


def survey(source: Source, workers: Workers) -> Survey:
    """Look at every entry once: extremes, missing pairs, infinities, the largest asymmetry, and sums."""
    chunks = _chunks(source.n)
    surveys: list[Any] = [None] * len(chunks)

    def parts(chunk: IntArray) -> Iterator[tuple[Array, Array, int]]:
        for tile in chunk.tolist():
            rows, columns = (slice(at * TILE, min((at + 1) * TILE, source.n)) for at in tile)
            part = np.asarray(source.tile(rows, columns), source.dtype)
            mirror = part if source.symmetric else np.asarray(source.tile(columns, rows), source.dtype).T
            yield part, mirror, columns.start - rows.start

    def run(c: int) -> None:
        surveys[c] = survey_parts(parts(chunks[c]))

    workers.run(run, len(chunks))
    return join_surveys(surveys)


def survey_parts(parts: Iterable[tuple[Array, Array, int]]) -> Survey:
    """Return the survey of rectangles of a table: (values, mirror image transposed, first column - first row)."""
    counts, sums, extremes = np.zeros(3, np.int64), np.zeros(2), np.array([0.0, 0.0, 0.0, np.inf])
    for part, mirror, left in parts:
        _survey_rows(read_only(part), read_only(mirror), left, counts, extremes, sums)
    smallest, largest, asymmetry, least = extremes.tolist()
    (missing, one_sided, infinite), (lengths, squares) = counts.tolist(), sums.tolist()
    return Survey(missing, one_sided, infinite, smallest, largest, asymmetry, Sums(lengths, squares, least))
