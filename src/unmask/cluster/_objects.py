"""Objects whose dissimilarities are computed when they are read, by workers of which each has a stretch of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import OneBlasThread, Pairs, ReferenceSums, Source, Which, Workers
from ._asking import Asking, numbers, relay
from ._held import this_worker

TOGETHER = 8  # results that the client holds at a time


class SpreadObjects(Asking):
    """A source that is read here where a few entries are asked for, and on the workers where all objects are.

    Every worker has a copy of the source, and does what is asked about a stretch of the objects: where a pass compares
    all of them with a few references, it is sent its own coordinates and these references', and returns its own part.
    """

    by_number = True
    symmetric = True

    def __init__(self, source: Source, client: Any) -> None:
        super().__init__(client)
        self._source: Any = source
        self.n, self.dtype, self.labels = source.n, source.dtype, getattr(source, "labels", None)
        self._anew()

    def _anew(self) -> None:
        """Send the objects, and say who has which."""
        workers = self.workers()
        self._sent = self.submit(f"features-{next(numbers)}", workers[0].address, relay, self._source)
        ends = np.cumsum([0, *(worker.threads for worker in workers)])
        ends = np.round(ends * self.n / ends[-1]).astype(int).tolist()
        self._stretches = [
            (worker.address, slice(first, last))
            for worker, first, last in zip(workers, ends[:-1], ends[1:], strict=True)
            if last > first
        ]

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle of the table: of slices, or of arrays of positions in any order."""
        return np.asarray(self._source.tile(rows, columns))

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""
        return np.asarray(self._source.rows(which))

    def over_stretches(
        self, name: str, function: Callable[..., Any], shared: Any, *tables: Array
    ) -> list[tuple[slice, Any]]:
        """Return what ``function(source, objects, workers, shared, *tables)`` says of each stretch and its rows."""

        def ask() -> list[tuple[slice, Any]]:
            return list(self._answers(name, function, shared, tables))

        return self.stubbornly(ask, self._anew)

    def _answers(
        self, name: str, function: Callable[..., Any], shared: Any, tables: tuple[Array, ...]
    ) -> Iterator[tuple[slice, Any]]:
        def task(objects: slice) -> tuple[Any, ...]:
            own = [np.ascontiguousarray(table[objects]) for table in tables]
            return run_stretch, function, self._sent, objects, shared, own

        waiting = self._stretches
        while waiting:
            some, waiting = waiting[:TOGETHER], waiting[TOGETHER:]
            futures = self.submit_all(name, {home: task(objects) for home, objects in some})
            answers = self.gather(futures, {home for home, _ in some})
            yield from zip([objects for _, objects in some], answers, strict=True)

    def reference_pass(self, pairs: Pairs, references: IntArray, Z: Array, workers: Workers) -> ReferenceSums:  # noqa: ARG002
        """Return what the dissimilarities of all objects to some references say."""
        shared = pairs.rule, references, Z[references]
        found = self.over_stretches("references", compare_stretch, shared, Z)
        sums: ReferenceSums = kernels.references().together([stretch for _, stretch in found])
        return sums


def run_stretch(function: Callable[..., Any], source: Source, objects: slice, shared: Any, tables: list[Array]) -> Any:
    """Do what is asked about a stretch of objects with all threads of this worker."""
    with OneBlasThread(), Workers(this_worker()[1]) as workers:
        return function(source, objects, workers, shared, *tables)


def compare_stretch(source: Source, objects: slice, workers: Workers, shared: Any, Z: Array) -> Any:
    """Compare a stretch of objects with some references."""
    rule, references, near = shared
    return kernels.references().reference_stretch(source, rule, references, near, Z, objects.start, workers)
