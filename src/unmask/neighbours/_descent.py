"""One descent for both models: exact attraction along edges, sampled repulsion, momentum and annealing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import Array
from ..kernels import Workers
from ._affinities import TSNE, Model

GRIDS, COARSER, SMALLEST, LARGEST = 3, 3.0, 4, 512  # nested grids, each with a third of the columns of the one before
PER_CELL = 2.0  # objects in a cell of the finest
RENEWED, AT_FIRST = 5, 20  # iterations between two grids, and iterations in which every one has its own
TRIES = {"tsne": 12, "umap": 30}  # others drawn for each object and part
REPULSION = 5.0  # of UMAP, for each unit of attraction
LONGEST = {"tsne": 5.0, "umap": 1.0}  # step
EARLY = 4  # the first quarter of the iterations is exaggerated
WEAKEST = 1e-3  # attraction of an object without neighbours
ROWS = 1024  # that a thread takes at once


class Embedding(NamedTuple):
    """A map of neighbours: coordinates, the sum of kernels per object, iterations, and whether it was stopped."""

    U: Array
    kernels: float
    n_iter: int
    stopped: bool


Report = Callable[[int, Array], bool]


def descend(
    graph: sp.csr_array,
    U: Array,
    model: Model,
    *,
    max_iter: int,
    seed: int,
    workers: Workers,
    report: Report = lambda *_: False,
    fixed: Embedding | None = None,
) -> Embedding:
    """Return the map to which the forces of a graph lead from U.

    With a ``fixed`` map the rows of the graph are new objects, which move alone; all others repel them.
    """
    from . import _forces

    tsne = isinstance(model, TSNE)
    places = U.astype(np.float32)
    if fixed is not None:
        places = np.vstack([fixed.U.astype(np.float32), places])
    offset = 0 if fixed is None else len(fixed.U)
    n, moving = offset or len(places), len(places) - offset
    begin, ends, weights = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(np.float32)
    degree = np.maximum(np.asarray(graph.sum(axis=1), dtype=np.float32), np.float32(WEAKEST))[:, None]
    pull, push = np.zeros((moving, 2), np.float32), np.zeros((moving, 2), np.float32)
    kernels, step = np.zeros(moving, np.float32), np.zeros((moving, 2), np.float32)
    sizes = [int(np.clip(np.sqrt(n / PER_CELL) / COARSER**at, SMALLEST, LARGEST)) for at in range(GRIDS)]
    early = max_iter // EARLY if tsne and fixed is None else 0
    grids: Any = ()
    total, tries = (0.0 if fixed is None else fixed.kernels), TRIES["tsne" if tsne else "umap"]

    def gather(block: int) -> None:
        rows = offset + block * ROWS, min(offset + (block + 1) * ROWS, len(places))
        common = places, *rows, offset, n, begin, ends, weights
        if isinstance(model, TSNE):
            _forces.student_forces(*common, grids, tries, key, pull, push, kernels)
        else:
            a, b = (np.float32(value) for value in model.curve)
            _forces.smooth_forces(*common, a, b, tries, key, pull, push)

    done = 0
    stopped = report(0, places[offset:])
    while done < max_iter and not stopped:
        if tsne and (done % RENEWED == 0 or done < AT_FIRST):
            grids = tuple(_forces.make_grid(places, n, size) for size in sizes)
        key = np.uint64((seed * 1_000_003 + done + 1) * 0x2545F4914F6CDD1D % 2**64)
        workers.run(gather, -(-moving // ROWS))
        left = 1.0 - done / max_iter
        if isinstance(model, TSNE):
            total = total if fixed is not None else float(kernels.sum(dtype=np.float64)) / n
            factor = model.exaggeration if done < early else 1.0
            momentum, rate = (0.5 if done < early else 0.9), 2.0 / factor * min(1.0, 2.0 * left)
            force = np.float32(factor) * pull - push / np.float32(total)
        else:
            momentum, rate = 0.8, 0.3 * left
            force = pull / degree - np.float32(REPULSION) * push
        if fixed is not None:
            rate *= 0.3
        step *= np.float32(momentum)
        step -= np.float32(rate) * force
        length = np.sqrt((step**2).sum(axis=1, keepdims=True))
        step *= np.minimum(np.float32(1.0), np.float32(LONGEST["tsne" if tsne else "umap"]) / np.maximum(length, 1e-9))
        places[offset:] += step
        if fixed is None:
            places -= places.mean(axis=0, dtype=np.float64).astype(np.float32)
        done += 1
        stopped = report(done, places[offset:])
    return Embedding(places[offset:], total, done, stopped)
