"""What a worker does with the blocks that it holds: the passes over them, as functions that Dask sends there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import TILE, OneBlasThread, Rule, Survey, Workers, plain
from ._share import Share, stretch_ends

LARGE_PAGE = 2**21  # bytes

Block = tuple[slice, slice, Array]  # rows and columns among the objects of a share, and values
# A pass: (blocks of a share, rule, table of the share's objects, threads, further arguments) -> stress (or 0), and sums
# for each object.
Sums = tuple[float, Array]


def blocks_held(share: Share, arrays: list[Array]) -> list[Block]:
    """Return the blocks of a share as rectangles of the table of its objects."""
    n = len(share.objects())
    return [
        (slice(*stretch_ends(n, share.side, a)), slice(*stretch_ends(n, share.side, b)), values)
        for (a, b), values in zip(share.own_blocks, arrays, strict=True)
    ]


def stress(blocks: list[Block], rule: Rule, Z: Array, workers: Workers) -> Sums:
    """Return the stress and its half-gradient."""
    value, G = kernels.fused.stress_of_blocks(blocks, rule, Z, workers)
    return value, G


def last(blocks: list[Block], rule: Rule, Zx: Array, workers: Workers) -> Sums:
    """Return each object's weighted squared error at all columns but the last, and squares times that one."""
    return 0.0, kernels.fused.last_of_blocks(blocks, rule, Zx, workers)


def weight_product(blocks: list[Block], rule: Rule, X: Array, workers: Workers) -> Sums:
    """Return the weights times X."""
    return 0.0, product(blocks, X, lambda part, *_: plain.weigh(part, None, rule)[1], workers)


def squared_product(blocks: list[Block], rule: Rule, X: Array, workers: Workers, p: int, offset: float) -> Sums:
    """Return squared dissimilarities times the first ``p`` columns; the others fill in for those that are missing."""
    X, fill = X[:, :p], X[:, p:]

    def squares(part: Array, rows: slice, columns: slice) -> Array:
        return plain.squares(part, None, rule, (fill[rows], fill[columns]), offset)

    return 0.0, product(blocks, X, squares, workers)


def product(blocks: list[Block], X: Array, factors: Callable[[Array, slice, slice], Array], workers: Workers) -> Array:
    """Return the product of a symmetric table and X; ``factors`` makes the table of a few rows of a block."""
    sums = np.zeros((len(blocks), *X.shape))

    def run(number: int) -> None:
        rows, columns, values = blocks[number]
        for top, part, above in strips_of(values, on_diagonal=rows == columns):
            at = slice(rows.start + top, rows.start + top + len(part))
            table = factors(part, at, columns) * above
            sums[number, at] += table @ X[columns]
            sums[number, columns] += table.T @ X[at]

    workers.run(run, len(blocks))
    return np.asarray(sums.sum(axis=0))


def strips_of(values: Array, *, on_diagonal: bool) -> Iterator[tuple[int, Array, Any]]:
    """Yield some rows of a block at a time: the first, the values, and which of them are above the diagonal."""
    for top in range(0, len(values), TILE):
        part = values[top : top + TILE]
        yield top, part, ~np.tri(len(part), part.shape[1], top, dtype=bool) if on_diagonal else True


PASSES: dict[str, Callable[..., Sums]] = {
    "stress": stress,
    "last": last,
    "weight-product": weight_product,
    "squared-product": squared_product,
}


def run_pass(
    workers: Workers, name: str, share: Share, arrays: list[Array], rule: Rule, table: Array, arguments: tuple[Any, ...]
) -> Sums:
    """Run a pass over the blocks of a share; ``table`` has a row for every object of the whole table."""
    own = np.ascontiguousarray(table[share.objects()])
    return PASSES[name](blocks_held(share, arrays), rule, own, workers, *arguments)


def run_here(function: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """Return the address of the worker that runs this, and ``function(its threads, *arguments)``."""
    from distributed import get_worker

    worker = get_worker()
    with OneBlasThread(), Workers(int(worker.state.nthreads)) as workers:
        return str(worker.address), function(workers, *arguments)


# ---- entries


class Cut(NamedTuple):
    """A rectangle that was asked for by numbers: where its rows and columns stand among these, and the values."""

    rows: IntArray
    columns: IntArray
    values: Array


def cut(_: Any, share: Share, arrays: list[Array], rows: IntArray, columns: IntArray) -> list[Cut]:
    """Return the entries of some rows and columns of the whole table that the blocks hold, mirrored ones too."""
    found = []
    for (a, b), values in zip(share.blocks, arrays, strict=True):
        for i, j, block in ((a, b, values), (b, a, values.T))[: 1 if a == b else 2]:
            (top, bottom), (first, last) = (stretch_ends(share.n, share.side, at) for at in (i, j))
            at_rows = np.flatnonzero((rows >= top) & (rows < bottom))
            at_columns = np.flatnonzero((columns >= first) & (columns < last))
            if len(at_rows) and len(at_columns):
                part = block[np.ix_(rows[at_rows] - top, columns[at_columns] - first)]
                found.append(Cut(at_rows, at_columns, np.ascontiguousarray(part)))
    return found


# ---- blocks that are loaded and looked at


def read(part: Any, rows: tuple[int, int], columns: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """Return a rectangle: the array that Dask has made of it, or read from a table."""
    return np.asarray(part if isinstance(part, np.ndarray) else part.tile(slice(*rows), slice(*columns)), dtype=dtype)


def load_block(part: Any, rows: tuple[int, int], columns: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """Return a block as the worker keeps it: in a row, from where a large page of memory begins.

    NumPy asks Linux for large pages, which begin at multiples of 2 MB: of 1,280 objects in single precision (6.6 MB)
    half would lie on small ones, and a pass take 8% longer.
    """
    block = read(part, rows, columns, dtype)
    room = np.empty(block.nbytes + LARGE_PAGE, dtype=np.uint8)
    begin = -room.ctypes.data % LARGE_PAGE
    kept: Array = room[begin : begin + block.nbytes].view(dtype).reshape(block.shape)
    kept[...] = block
    return kept


class Looked(NamedTuple):
    """The survey of a block, how bad its worst pair of objects is, and which pair that is."""

    survey: Survey
    worst: tuple[float, tuple[int, int]]


def look_at_block(block: Array, part: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Looked:
    """Look at a block and its mirror image, which ``part`` has; None if it is the same by construction."""
    on_diagonal, (top, left) = rows == columns, (rows[0], columns[0])
    mirror = block if part is None else (block if on_diagonal else read(part, columns, rows, block.dtype)).T
    strips = list(strips_of(block, on_diagonal=on_diagonal))
    survey = kernels.fused.survey_parts((own, mirror[at : at + len(own)], left - top - at) for at, own, _ in strips)
    diagonal = np.abs(np.nan_to_num(np.diagonal(block))) if on_diagonal else np.zeros(1)
    suspects = [(_DIAGONAL * bool(diagonal.any()), (top + int(np.argmax(diagonal)),) * 2)]
    if survey.infinite or survey.smallest < 0 or survey.one_sided or survey.asymmetry:
        for at, own, above in strips:
            wrong = _how_wrong(own.astype(np.float64), mirror[at : at + len(own)].astype(np.float64)) * above
            i, j = np.unravel_index(np.argmax(wrong), wrong.shape)
            suspects.append((float(wrong[i, j]), (top + at + int(i), left + int(j))))
    return Looked(survey, max(suspects))


# The worst comes first in messages: infinite, below 0, not 0 on the diagonal, missing on one side.
_INFINITE, _NEGATIVE, _DIAGONAL, _ONE_SIDED = 1e307, 1e306, 1e305, 1e304


def _how_wrong(a: Array, b: Array) -> Array:
    """Return how bad the entries of pairs are, given in either direction; 0 if both are the same."""
    with np.errstate(invalid="ignore"):
        wrong = np.nan_to_num(np.abs(a - b), nan=0.0, posinf=0.0)
    wrong[np.isnan(a) != np.isnan(b)] = _ONE_SIDED
    wrong[(a < 0) | (b < 0)] = _NEGATIVE
    wrong[np.isinf(a) | np.isinf(b)] = _INFINITE
    return np.asarray(wrong)
