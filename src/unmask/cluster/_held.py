"""What a worker does with the blocks that it holds: the passes over them, as functions that Dask sends there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import TILE, OneBlasThread, Rule, Survey, Workers, join_surveys, plain, survey_block
from ._share import Share, stretch_ends

LARGE_PAGE = 2**21  # bytes
_NO_WEIGHTS = np.empty((1, 0))

# ---- passes: (blocks of a share, rule, table of the share's objects, threads, further arguments) -> sums over pairs,
# and sums for each object


class Piece(NamedTuple):
    """Sums over some blocks: a few numbers, and numbers for each object of the share (may be none)."""

    sums: Array
    each: Array


class Held:
    """The blocks of a share: rectangles of the table of its objects, each with its rows, its columns and its values."""

    def __init__(self, share: Share, arrays: list[Array]) -> None:
        self.n = len(share.objects())
        self.blocks = [
            (slice(*stretch_ends(self.n, share.side, a)), slice(*stretch_ends(self.n, share.side, b)), values)
            for (a, b), values in zip(share.own_blocks, arrays, strict=True)
        ]

    def sums(self, width: int, workers: Workers, add: Callable[..., None]) -> Piece:
        """Return what ``add(sums, own, theirs, rows, columns, part, below)`` adds up, a few rows of a block at a time.

        ``own`` are the sums of the rows and ``theirs`` those of the columns; the blocks are dealt to the threads.
        """
        sums = np.zeros((len(self.blocks), 3))
        each = [[np.zeros((size, width)) for size in values.shape] for *_, values in self.blocks]

        def run(number: int) -> None:
            rows, columns, values = self.blocks[number]
            own, theirs = each[number]
            for top, part, above in strips_of(values, on_diagonal=rows == columns):
                at = slice(rows.start + top, rows.start + top + len(part))
                add(sums[number], own[top : top + len(part)], theirs, at, columns, part, above)

        workers.run(run, len(self.blocks))
        total = np.zeros((self.n, width))
        for (rows, columns, _), (own, theirs) in zip(self.blocks, each, strict=True):
            total[rows] += own
            total[columns] += theirs
        return Piece(sums.sum(axis=0), total)


def strips_of(values: Array, *, on_diagonal: bool) -> Iterator[tuple[int, Array, Any]]:
    """Yield some rows of a block at a time: the first, the values, and which of them are above the diagonal."""
    for top in range(0, len(values), TILE):
        part = values[top : top + TILE]
        yield top, part, ~np.tri(len(part), part.shape[1], top, dtype=bool) if on_diagonal else True


def stress(held: Held, rule: Rule, Z: Array, workers: Workers) -> Piece:
    """Return the stress and its half-gradient."""
    value, G = kernels.fused.stress_of_blocks(held.blocks, rule, Z, workers)
    return Piece(np.array([value]), G)


def last(held: Held, rule: Rule, Zx: Array, workers: Workers) -> Piece:
    """Return each object's weighted squared error at all columns but the last, and squares times that one."""
    return Piece(np.empty(0), kernels.fused.last_of_blocks(held.blocks, rule, Zx, workers))


def pair_sums(held: Held, rule: Rule, nothing: Array, workers: Workers) -> Piece:
    """Return the sums of w, w delta and w delta^2."""

    def add(sums: Array, *place_and_part: Any) -> None:
        part, above = place_and_part[-2:]
        delta, weight = plain.weigh(part, _NO_WEIGHTS, rule)
        weight *= above
        weighted = weight * delta
        sums += [weight.sum(), weighted.sum(), np.vdot(weighted, delta)]

    return held.sums(nothing.shape[1], workers, add)


def weight_product(held: Held, rule: Rule, X: Array, workers: Workers) -> Piece:
    """Return the sum of each object's weights, and the weights times X."""

    def add(_: Array, own: Array, theirs: Array, rows: slice, columns: slice, part: Array, above: Any) -> None:
        weight = plain.weigh(part, _NO_WEIGHTS, rule)[1] * above
        own += np.column_stack([weight.sum(axis=1), weight @ X[columns]])
        theirs += np.column_stack([weight.sum(axis=0), weight.T @ X[rows]])

    return held.sums(1 + X.shape[1], workers, add)


def squared_product(held: Held, rule: Rule, X: Array, workers: Workers, p: int, offset: float) -> Piece:
    """Return squared dissimilarities times the first ``p`` columns; the others fill in for those that are missing."""
    X, fill = X[:, :p], X[:, p:]

    def add(_: Array, own: Array, theirs: Array, rows: slice, columns: slice, part: Array, above: Any) -> None:
        squares = plain.squares(part, _NO_WEIGHTS, rule, (fill[rows], fill[columns]), offset) * above
        own += squares @ X[columns]
        theirs += squares.T @ X[rows]

    return held.sums(p, workers, add)


def smallest(held: Held, rule: Rule, nothing: Array, workers: Workers) -> Piece:  # noqa: ARG001
    """Return the smallest dissimilarity above 0; infinity if there is none."""
    return Piece(np.array([min(np.min(part, where=part > 0, initial=np.inf) for *_, part in held.blocks)]), nothing)


PASSES: dict[str, Callable[..., Piece]] = {
    "stress": stress,
    "last": last,
    "pair-sums": pair_sums,
    "weight-product": weight_product,
    "squared-product": squared_product,
    "smallest": smallest,
}


def run_pass(
    workers: Workers, name: str, share: Share, arrays: list[Array], rule: Rule, table: Array, arguments: tuple[Any, ...]
) -> Piece:
    """Run a pass over the blocks of a share; ``table`` has a row for every object of the whole table."""
    return PASSES[name](Held(share, arrays), rule, np.ascontiguousarray(table[share.objects()]), workers, *arguments)


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
    mirror = block.T if part is None else block if on_diagonal else read(part, columns, rows, block.dtype)
    strips = list(strips_of(block, on_diagonal=on_diagonal))
    mirrors = [mirror[:, at : at + len(part)] for at, part, _ in strips]
    survey = join_surveys(
        [survey_block(own, other, above) for (_, own, above), other in zip(strips, mirrors, strict=True)]
    )
    diagonal = np.abs(np.nan_to_num(np.diagonal(block))) if on_diagonal else np.zeros(1)
    suspects = [(_DIAGONAL * bool(diagonal.any()), (top + int(np.argmax(diagonal)),) * 2)]
    if survey.infinite or survey.smallest < 0 or survey.one_sided or survey.asymmetry:
        for (at, own, above), other in zip(strips, mirrors, strict=True):
            wrong = _how_wrong(own.astype(np.float64), other.T.astype(np.float64)) * above
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
