"""What a worker does with the blocks that it holds: the passes over them, as functions that Dask sends there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import TILE, OneBlasThread, Pairs, Sums, Survey, Weighting, Workers
from ._share import Share, stretch_ends

LARGE_PAGE = 2**21  # bytes
Rule = tuple[int, float, float, float]  # of Pairs: how a dissimilarity is scaled and weighted


class Held:
    """The blocks of a share as a source: of the table of its objects there are these, and no others."""

    def __init__(self, share: Share, arrays: list[Array]) -> None:
        self.n, self.dtype = len(share.objects()), arrays[0].dtype
        self.blocks = [
            (slice(*stretch_ends(self.n, share.side, a)), slice(*stretch_ends(self.n, share.side, b)), values)
            for (a, b), values in zip(share.own_blocks, arrays, strict=True)
        ]


def _parts(rows: slice, columns: slice, values: Array) -> Iterator[tuple[slice, Array, Any]]:
    """Yield some rows of a block at a time, in double precision, and what of it is not above the diagonal."""
    for top in range(0, len(values), TILE):
        part = values[top : top + TILE].astype(np.float64)
        below = np.tri(len(part), part.shape[1], top, dtype=bool) if rows == columns else None
        yield slice(rows.start + top, rows.start + top + len(part)), part, below


def _weighed(part: Array, below: Any, rule: Rule) -> tuple[Array, Array]:
    """Return scaled dissimilarities and weights, both 0 where a pair is missing or does not belong to the triangle."""
    weighting, scale, floor, factor = rule
    absent = np.isnan(part)
    if below is not None:
        absent |= below
    part[absent] = 0.0
    part *= scale
    weight = 1.0 - absent
    if weighting == Weighting.SAMMON:
        weight *= factor / np.maximum(part, floor)
    return part, weight


class Piece(NamedTuple):
    """What some blocks say: sums of numbers, and sums for each object of the share (may be none)."""

    sums: Array
    each: Array


# ---- the passes: (what is held, rule, table of the share's objects, threads, further arguments) -> Piece


def stress(held: Held, rule: Rule, Z: Array, workers: Workers) -> Piece:
    """Return the stress and its half-gradient."""
    value, G = kernels.fused().stress_pass(_pairs(held, rule), Z, workers)
    return Piece(np.array([value]), G)


def last(held: Held, rule: Rule, Zx: Array, workers: Workers) -> Piece:
    """Return each object's weighted squared error at all columns but the last, and squares times that one."""
    found = kernels.fused().last_pass(_pairs(held, rule), Zx[:, :-1], Zx[:, -1], workers)
    return Piece(np.empty(0), np.column_stack(found))


def _pairs(held: Held, rule: Rule) -> Pairs:
    weighting, scale, floor, factor = rule
    source: Any = held  # of which only blocks are read
    return Pairs(source, scale, Weighting(weighting), floor=floor, factor=factor)


def _of_blocks(held: Held, width: int, workers: Workers, add: Callable[..., None]) -> Piece:
    """Let ``add(sums, own, theirs, (rows, columns), part, below)`` add up what some rows of a block say of its objects.

    ``own`` are the sums of the rows and ``theirs`` those of the columns; the blocks are dealt to the threads.
    """
    sums = np.zeros((len(held.blocks), 3))
    each = [[np.zeros((size, width)) for size in values.shape] for *_, values in held.blocks]

    def run(number: int) -> None:
        rows, columns, values = held.blocks[number]
        own, theirs = each[number]
        for at, part, below in _parts(rows, columns, values):
            add(sums[number], own[at.start - rows.start : at.stop - rows.start], theirs, (at, columns), part, below)

    workers.run(run, len(held.blocks))
    total = np.zeros((held.n, width))
    for (rows, columns, _), (own, theirs) in zip(held.blocks, each, strict=True):
        total[rows] += own
        total[columns] += theirs
    return Piece(sums.sum(axis=0), total)


def pair_sums(held: Held, rule: Rule, nothing: Array, workers: Workers) -> Piece:
    """Return the sums of w, w delta and w delta^2."""

    def add(sums: Array, own: Array, theirs: Array, where: Any, part: Array, below: Any) -> None:  # noqa: ARG001
        delta, weight = _weighed(part, below, rule)
        weighted = weight * delta
        sums += [weight.sum(), weighted.sum(), np.vdot(weighted, delta)]

    return _of_blocks(held, nothing.shape[1], workers, add)


def weight_product(held: Held, rule: Rule, X: Array, workers: Workers) -> Piece:
    """Return the sum of each object's weights, and the weights times X."""

    def add(_: Array, own: Array, theirs: Array, where: Any, part: Array, below: Any) -> None:
        weight, (rows, columns) = _weighed(part, below, rule)[1], where
        own += np.column_stack([weight.sum(axis=1), weight @ X[columns]])
        theirs += np.column_stack([weight.sum(axis=0), weight.T @ X[rows]])

    return _of_blocks(held, 1 + X.shape[1], workers, add)


def squared_product(held: Held, rule: Rule, X: Array, workers: Workers, p: int, offset: float) -> Piece:
    """Return squared dissimilarities times the first ``p`` columns; the others fill in for those that are missing."""
    X, fill = X[:, :p], X[:, p:]

    def add(_: Array, own: Array, theirs: Array, where: Any, part: Array, below: Any) -> None:
        rows, columns = where
        part *= rule[1]
        part *= part
        if below is not None:
            part[below] = 0.0
        i, j = np.nonzero(np.isnan(part))
        if len(i):
            part[i, j] = offset + np.sum((fill[rows][i] - fill[columns][j]) ** 2, axis=1)
        own += part @ X[columns]
        theirs += part.T @ X[rows]

    return _of_blocks(held, p, workers, add)


def smallest(held: Held, rule: Rule, nothing: Array, workers: Workers) -> Piece:  # noqa: ARG001
    """Return the smallest dissimilarity above 0; infinity if there is none."""
    values = [np.min(part, where=part > 0, initial=np.inf) for _, _, part in held.blocks]
    return Piece(np.array([min(values)]), nothing)


# ---- what is not summed


class Cut(NamedTuple):
    """A rectangle of a table that was asked for by numbers: where its rows and columns stand among these."""

    rows: IntArray
    columns: IntArray
    values: Array


def cut(share: Share, arrays: list[Array], rows: IntArray, columns: IntArray) -> list[Cut]:
    """Return what the blocks hold of some rows and columns of the whole table, either side of the diagonal."""
    found = []
    for (a, b), values in zip(share.blocks, arrays, strict=True):
        for i, j, turned in ((a, b, False), (b, a, True)):
            if turned and a == b:
                continue
            (top, bottom), (first, last) = (stretch_ends(share.n, share.side, at) for at in (i, j))
            at_rows = np.flatnonzero((rows >= top) & (rows < bottom))
            at_columns = np.flatnonzero((columns >= first) & (columns < last))
            if len(at_rows) and len(at_columns):
                own, other = rows[at_rows] - top, columns[at_columns] - first
                part = values[np.ix_(other, own)].T if turned else values[np.ix_(own, other)]
                found.append(Cut(at_rows, at_columns, np.ascontiguousarray(part)))
    return found


class Looked(NamedTuple):
    """What a look at a block and its mirror image says, and how bad the worst pair of objects is, and which it is."""

    survey: Survey
    worst: tuple[float, tuple[int, int]]


def look(block: Array, mirror: Array, top: int, left: int) -> Looked:
    """Look at every entry of a block, whose rows and columns begin with these objects, and at its mirror image."""
    survey = kernels.fused().survey_block(block, np.asarray(mirror, dtype=block.dtype), top, left)
    diagonal = np.abs(np.nan_to_num(np.diagonal(block))) if top == left else np.zeros(1)
    suspects = [(_DIAGONAL * bool(diagonal.any()), (top + int(np.argmax(diagonal)),) * 2)]
    if survey.infinite or survey.smallest < 0 or survey.one_sided or survey.asymmetry:
        columns = slice(left, left + block.shape[1])
        for at, part, below in _parts(slice(top, top + len(block)), columns, block):
            other = np.asarray(mirror[:, at.start - top : at.stop - top], dtype=np.float64).T
            wrong = _how_wrong(part, other)
            if below is not None:
                wrong[below] = 0.0
            i, j = np.unravel_index(np.argmax(wrong), wrong.shape)
            suspects.append((float(wrong[i, j]), (at.start + int(i), left + int(j))))
    return Looked(survey, max(suspects))


# What is worst, in the order in which it is spoken of: infinite, below 0, not 0 on the diagonal, missing on one side.
_INFINITE, _NEGATIVE, _DIAGONAL, _ONE_SIDED = 1e307, 1e306, 1e305, 1e304


def _how_wrong(a: Array, b: Array) -> Array:
    """Return how bad it is what either direction of some pairs says; 0 if both say the same."""
    with np.errstate(invalid="ignore"):
        wrong = np.nan_to_num(np.abs(a - b), nan=0.0, posinf=0.0)
    wrong[np.isnan(a) != np.isnan(b)] = _ONE_SIDED
    wrong[(a < 0) | (b < 0)] = _NEGATIVE
    wrong[np.isinf(a) | np.isinf(b)] = _INFINITE
    return np.asarray(wrong)


def together(surveys: list[Survey]) -> Survey:
    """Return one survey of what several have seen."""
    missing, one_sided, infinite, lows, highs, gaps, sums = zip(*surveys, strict=True)
    lengths, squares, least = zip(*sums, strict=True)
    added = Sums(sum(lengths), sum(squares), min(least))
    return Survey(sum(missing), sum(one_sided), sum(infinite), min(lows), max(highs), max(gaps), added)


# ---- as tasks


def read_block(reader: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Array:
    """Read a block."""
    return np.asarray(reader.tile(slice(*rows), slice(*columns)), dtype=reader.dtype)


def keep(block: Any, dtype: np.dtype[Any]) -> Array:
    """Return a block as the worker keeps it: in a row, from where a large page of memory begins.

    NumPy asks Linux for large pages, which begin at multiples of 2 MB: of 1,280 objects in single precision (6.6 MB)
    half would lie on small ones, and a pass take 8% longer.
    """
    size = int(np.prod(block.shape)) * dtype.itemsize
    room = np.empty(size + LARGE_PAGE, dtype=np.uint8)
    begin = -room.ctypes.data % LARGE_PAGE
    kept: Array = room[begin : begin + size].view(dtype).reshape(block.shape)
    kept[...] = block
    return kept


def load_block(reader: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Array:
    """Read a block that the worker keeps."""
    return keep(read_block(reader, rows, columns), reader.dtype)


def look_at_block(block: Array, reader: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Looked:
    """Read the mirror image of a block, unless it is the same by construction, and look at both."""
    if rows == columns:
        mirror = block
    else:
        mirror = block.T if getattr(reader, "symmetric", False) else read_block(reader, columns, rows)
    return look(block, mirror, rows[0], columns[0])


class Result(NamedTuple):
    """What a worker returns, and where it ran: another worker may have stood in for it."""

    worker: str
    value: Any


def run_pass(
    name: str, share: Share, arrays: list[Array], rule: Rule, table: Array, arguments: tuple[Any, ...] = ()
) -> Result:
    """Run a pass over the blocks of a share with all threads of this worker; ``table`` has a row for every object."""
    own = np.ascontiguousarray(table[share.objects()])
    address, threads = this_worker()
    with OneBlasThread(), Workers(threads) as workers:
        return Result(address, PASSES[name](Held(share, arrays), rule, own, workers, *arguments))


def run_cut(share: Share, arrays: list[Array], rows: IntArray, columns: IntArray) -> Result:
    """Cut what was asked for out of the blocks of a share."""
    return Result(this_worker()[0], cut(share, arrays, rows, columns))


def this_worker() -> tuple[str, int]:
    """Return the address and the number of threads of the worker that runs this task."""
    from distributed import get_worker

    worker = get_worker()
    return str(worker.address), int(worker.state.nthreads)


PASSES: dict[str, Callable[..., Piece]] = {
    "stress": stress,
    "last": last,
    "pair-sums": pair_sums,
    "weight-product": weight_product,
    "squared-product": squared_product,
    "smallest": smallest,
}
