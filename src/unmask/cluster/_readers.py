"""Tables that the workers of a cluster read block by block."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..kernels import Source, Which
from ._asking import Asking, numbers, relay

# The stochastic solver reads few rows of a table; so few that whoever has the file does it alone.
_HERE = "close the client and use solver='stochastic', which reads some rows of the table in this process"


class Reader:
    """A square table that tasks read from; for blocks that are lost, Dask runs these tasks again."""

    instead: str  # what to do about a table that the workers have no room for, for messages
    average: str  # how to make it symmetric, for messages
    symmetric = False

    def __init__(self, n: int, dtype: Any) -> None:
        self.n = n
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if dtype == np.float32 else np.float64)

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle as it was given, both halves."""
        raise NotImplementedError

    def part(self, cluster: Asking, rows: tuple[int, int], columns: tuple[int, int]) -> Any:  # noqa: ARG002
        """Return what a task reads a rectangle from: a table, or an array of Dask that is the rectangle."""
        return self


class StoredArray(Reader):
    """An array of Zarr in a place that every worker can read."""

    instead = _HERE
    average = "pass (X + X.T) / 2 of X = dask.array.from_zarr(path)"

    def __init__(self, array: Any, path: str | None = None) -> None:
        super().__init__(int(array.shape[0]), array.dtype)
        self.array, self.path = array, path

    def __getstate__(self) -> dict[str, Any]:
        # A worker opens the file itself, when it reads: of one that it does not see, Zarr would say that all is zero.
        # The scheduler, through which tasks travel, may not see it either.
        return vars(self) if self.path is None else {**vars(self), "array": None}

    def tile(self, rows: Which, columns: Which) -> Array:
        if self.array is None:
            import zarr

            self.array = zarr.open(self.path, mode="r")
        if isinstance(rows, slice) and isinstance(columns, slice):
            return np.asarray(self.array[rows, columns], dtype=self.dtype)
        return np.asarray(self.array.oindex[rows, columns], dtype=self.dtype)


class SentSource(Reader):
    """A source of which each worker has a copy, such as features that are compared."""

    instead = "use solver='stochastic', which compares the features with some references only"
    average = "let it return the mean of both dissimilarities of a pair"

    def __init__(self, source: Source) -> None:
        super().__init__(source.n, source.dtype)
        self.source: Any = source
        self.symmetric = source.symmetric
        self._sent: Any = None

    def part(self, cluster: Asking, rows: tuple[int, int], columns: tuple[int, int]) -> Any:  # noqa: ARG002
        if self._sent is None or self._sent.status in ("lost", "cancelled"):
            self._sent = cluster.submit(f"features-{next(numbers)}", None, relay, self.source)
        return self._sent

    def tile(self, rows: Which, columns: Which) -> Array:
        return np.asarray(self.source.tile(rows, columns))


class DaskArray(Reader):
    """An array of Dask: its own graph makes the blocks."""

    instead = _HERE
    average = "pass (X + X.T) / 2"

    def __init__(self, array: Any) -> None:
        super().__init__(int(array.shape[0]), array.dtype)
        self.array = array

    def part(self, cluster: Asking, rows: tuple[int, int], columns: tuple[int, int]) -> Any:  # noqa: ARG002
        return self.array[slice(*rows), slice(*columns)]

    def tile(self, rows: Which, columns: Which) -> Array:
        return np.asarray(self.array[rows][:, columns].compute(), dtype=self.dtype)


class LocalArray:
    """An array of Dask without a cluster, in chunks of one size: each is computed when it is read, on local threads."""

    average = DaskArray.average

    def __init__(self, array: Any) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype
        self.chunks = tuple(max(sizes) for sizes in array.chunks)

    @cached_property
    def _regular(self) -> Any:
        return self._array.rechunk(self.chunks)

    def __getitem__(self, at: tuple[slice | IntArray, slice | IntArray]) -> Array:
        rows, columns = at
        return np.asarray(self._regular[rows][:, columns].compute(scheduler="threads"))
