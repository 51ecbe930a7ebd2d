"""Objects whose dissimilarities are computed when they are read, by workers of which each has a stretch of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array
from ..kernels import Source, Which, Workers
from ._asking import Asking, numbers, relay


class SpreadObjects(Asking, Source):
    """A source that is read here where a few entries are asked for, and on the workers where all objects are.

    Every worker has a copy of the source, and does what is asked about a stretch of the objects: where a pass compares
    all of them with a few references, it is sent its own coordinates and these references', and returns its own part.
    """

    by_number = symmetric = True

    def __init__(self, source: Source, client: Any) -> None:
        super().__init__(client)
        self._source: Any = source
        self.labels = source.labels
        self._anew()

    @property
    def n(self) -> int:
        return int(self._source.n)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._source.dtype
        return dtype

    def _anew(self) -> None:
        """Send the objects, and deal stretches of them to the workers."""
        workers = self.workers()
        self._sent = self.submit(f"features-{next(numbers)}", workers[0].address, relay, self._source)
        ends = np.cumsum([0, *(worker.threads for worker in workers)])
        ends = np.round(ends * self.n / ends[-1]).astype(int).tolist()
        self._stretches = {
            worker.address: slice(first, last)
            for worker, first, last in zip(workers, ends[:-1], ends[1:], strict=True)
            if last > first
        }

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle of the table: of slices, or of arrays of positions in any order."""
        return np.asarray(self._source.tile(rows, columns))

    def over_stretches(
        self,
        name: str,
        function: Callable[..., Any],
        workers: Workers,  # noqa: ARG002
        shared: Any,
        *tables: Array,
    ) -> list[tuple[slice, Any]]:
        """Return ``function(source, objects, workers, shared, *tables)`` for each worker's stretch and its rows."""

        def ask() -> list[tuple[slice, Any]]:
            tasks = {
                home: (run_stretch, function, self._sent, objects, shared, [table[objects].copy() for table in tables])
                for home, objects in self._stretches.items()
            }
            results = [result for _, result in self.run(name, tasks)]
            return list(zip(self._stretches.values(), results, strict=True))

        return self.stubbornly(ask, self._anew)


def run_stretch(
    workers: Workers, function: Callable[..., Any], source: Source, objects: slice, shared: Any, tables: list[Array]
) -> Any:
    """Return the function's result for a stretch of objects."""
    return function(source, objects, workers, shared, *tables)
