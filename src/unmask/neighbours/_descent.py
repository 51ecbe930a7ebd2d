"""One descent for both models: exact attraction along edges, sampled repulsion, momentum and annealing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import Array
from ..kernels import Workers
from ._affinities import TSNE, UMAP

GRIDS, COARSER, SMALLEST, LARGEST = 3, 3.0, 4, 512  # nested grids, each with a third of the columns of the one before
PER_CELL = 2.0  # objects in a cell of the finest
RENEWED, AT_FIRST = 5, 20  # iterations between two grids, and iterations in which every one has its own
EARLY = 4  # the first quarter of the iterations is exaggerated
REPULSION = 5.0  # of UMAP, for each unit of attraction
WEAKEST = 1e-3  # attraction of an object without neighbours
CAREFUL = 0.3  # share of the usual step that new objects take
ROWS = 1024  # that a thread takes at once

Report = Callable[[int, Array], bool]


class Embedding(NamedTuple):
    """A map of neighbours: coordinates, the sum of kernels per object, iterations, and whether it was stopped."""

    U: Array
    kernels: float
    n_iter: int
    stopped: bool


class _Student:
    """Forces and steps of t-SNE."""

    tries, longest = 12, 5.0

    def __init__(self, model: TSNE, graph: sp.csr_array, n: int, fixed: Embedding | None) -> None:
        self.model, self.n, self.fixed = model, n, fixed
        self.kernels = np.zeros(graph.shape[0], np.float32)
        self.total = 0.0 if fixed is None else fixed.kernels
        self.sizes = [int(np.clip(np.sqrt(n / PER_CELL) / COARSER**at, SMALLEST, LARGEST)) for at in range(GRIDS)]
        self.grids: Any = ()

    def prepare(self, places: Array, done: int) -> None:
        from ._forces import make_grid

        if done % RENEWED == 0 or done < AT_FIRST:
            self.grids = tuple(make_grid(places, self.n, size) for size in self.sizes)

    def gather(self, common: tuple[Any, ...], key: np.uint64, pull: Array, push: Array) -> None:
        from ._forces import student_forces

        student_forces(*common, self.grids, self.tries, key, pull, push, self.kernels)

    def step(self, pull: Array, push: Array, done: int, max_iter: int) -> tuple[Array, float, float]:
        """Return the force, the momentum and the length of the step along the force."""
        if self.fixed is None:
            self.total = float(self.kernels.sum(dtype=np.float64)) / self.n
        early = self.fixed is None and done < max_iter // EARLY
        factor = self.model.exaggeration if early else 1.0
        rate = 2.0 / factor * min(1.0, 2.0 * (1.0 - done / max_iter))
        return np.float32(factor) * pull - push / np.float32(self.total), 0.5 if early else 0.9, rate


class _Smooth:
    """Forces and steps of UMAP."""

    tries, longest, total = 30, 1.0, 0.0

    def __init__(self, model: UMAP, graph: sp.csr_array) -> None:
        self.curve = [np.float32(value) for value in model.curve]
        self.degree = np.maximum(np.asarray(graph.sum(axis=1), dtype=np.float32), np.float32(WEAKEST))[:, None]

    def prepare(self, places: Array, done: int) -> None:
        """Do nothing: all others are drawn alike."""

    def gather(self, common: tuple[Any, ...], key: np.uint64, pull: Array, push: Array) -> None:
        from ._forces import smooth_forces

        smooth_forces(*common, *self.curve, self.tries, key, pull, push)

    def step(self, pull: Array, push: Array, done: int, max_iter: int) -> tuple[Array, float, float]:
        """Return the force, the momentum and the length of the step along the force."""
        return pull / self.degree - np.float32(REPULSION) * push, 0.8, 0.3 * (1.0 - done / max_iter)


def descend(
    graph: sp.csr_array,
    U: Array,
    model: TSNE | UMAP,
    *,
    max_iter: int,
    seed: int,
    workers: Workers,
    report: Report = lambda *_: False,
    fixed: Embedding | None = None,
) -> Embedding:
    """Return the map to which the forces of a graph lead from U.

    With a ``fixed`` map the rows of the graph are new objects, which alone move; all objects of the map repel them.
    The result does not depend on the number of threads.
    """
    places, offset = U.astype(np.float32), 0
    if fixed is not None:
        places, offset = np.vstack([fixed.U.astype(np.float32), places]), len(fixed.U)
    n, moving = offset or len(places), len(places) - offset
    forces = _Student(model, graph, n, fixed) if isinstance(model, TSNE) else _Smooth(model, graph)
    edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(np.float32)
    pull, push, step = (np.zeros((moving, 2), np.float32) for _ in range(3))
    done, stopped = 0, report(0, places[offset:])
    while done < max_iter and not stopped:
        forces.prepare(places, done)
        key = np.uint64((seed * 1_000_003 + done + 1) * 0x2545F4914F6CDD1D % 2**64)
        workers.run(partial(_gather, forces, places, (offset, n, *edges), key, pull, push), -(-moving // ROWS))
        force, momentum, rate = forces.step(pull, push, done, max_iter)
        step = np.float32(momentum) * step - np.float32(rate * (1.0 if fixed is None else CAREFUL)) * force
        length = np.sqrt((step**2).sum(axis=1, keepdims=True))
        step *= np.minimum(np.float32(1.0), np.float32(forces.longest) / np.maximum(length, np.float32(1e-9)))
        places[offset:] += step
        if fixed is None:
            places -= places.mean(axis=0, dtype=np.float64).astype(np.float32)
        done += 1
        stopped = report(done, places[offset:])
    return Embedding(places[offset:], forces.total, done, stopped)


def _gather(
    forces: _Student | _Smooth,
    places: Array,
    graph: tuple[Any, ...],
    key: np.uint64,
    pull: Array,
    push: Array,
    block: int,
) -> None:
    """Compute the forces on a block of moving objects."""
    first = graph[0] + block * ROWS
    forces.gather((places, first, min(first + ROWS, len(places)), *graph), key, pull, push)
