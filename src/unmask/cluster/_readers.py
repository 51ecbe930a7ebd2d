"""Where the blocks of a table come from: each worker reads its own."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
from uuid import uuid4

import numpy as np

from .._typing import Array, IntArray
from ..kernels import Source, Which
from ._asking import relay
from ._held import keep, load_block, look, look_at_block

Ends = tuple[int, int]
Span = tuple[str, Ends, Ends]  # the name of a block on the dashboard, and where its rows and its columns begin and end


class Reader(Protocol):
    """A square table, and how blocks of it become futures on the workers, which Dask can make again if one is lost."""

    @property
    def instead(self) -> str:
        """What to do about a table that the workers have no room for, for messages."""

    @property
    def average(self) -> str:
        """How to make it symmetric, for messages."""

    @property
    def n(self) -> int:
        """Number of objects."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the dissimilarities."""

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle as it was given, both halves; by the client, for a few entries."""

    def load(self, client: Any, spans: Sequence[Span], home: str) -> list[Any]:
        """Return the blocks as futures that should live on a worker, but may live on others."""

    def look(self, client: Any, blocks: Sequence[Any], spans: Sequence[Span], home: str) -> list[Any]:
        """Return what a look at the blocks and their mirror images says, as futures."""


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the type in which dissimilarities are kept."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


class _ByWorkers:
    """What the readers share whose ``tile`` runs on a worker as it does here."""

    def sent(self, client: Any) -> Any:  # noqa: ARG002
        """Return this object as a task takes it."""
        return self

    def load(self, client: Any, spans: Sequence[Span], home: str) -> list[Any]:
        sent, where = self.sent(client), {"workers": [home], "allow_other_workers": True}
        return [client.submit(load_block, sent, rows, columns, key=name, **where) for name, rows, columns in spans]

    def look(self, client: Any, blocks: Sequence[Any], spans: Sequence[Span], home: str) -> list[Any]:
        sent, where = self.sent(client), {"workers": [home], "allow_other_workers": True}
        return [
            client.submit(look_at_block, block, sent, rows, columns, key=name, **where)
            for block, (name, rows, columns) in zip(blocks, spans, strict=True)
        ]


# The stochastic solver reads few rows of a table; so few that whoever has the file does it alone.
_HERE = "close the client and use solver='stochastic', which reads some rows of the table in this process"


@dataclass(frozen=True)
class StoredArray(_ByWorkers):
    """An array of Zarr in a place that every worker can read."""

    instead = _HERE
    average = "pass (X + X.T) / 2 of X = dask.array.from_zarr(path)"

    given: Any
    path: str | None = None

    def __reduce__(self) -> Any:
        # A worker opens the file itself: of one that it does not see, Zarr would say that all is zero.
        return StoredArray, (self.given if self.path is None else None, self.path)

    @cached_property
    def array(self) -> Any:
        """The array, opened when it is first read."""
        if self.given is not None:
            return self.given
        import zarr

        return zarr.open(self.path, mode="r")

    @property
    def n(self) -> int:
        return int(self.array.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return float_dtype(self.array.dtype)

    def tile(self, rows: Which, columns: Which) -> Array:
        if isinstance(rows, slice) and isinstance(columns, slice):
            return np.asarray(self.array[rows, columns], dtype=self.dtype)
        return np.asarray(self.array.oindex[rows, columns], dtype=self.dtype)


class Compared(_ByWorkers):
    """A source that the workers have a copy of each, such as features that are compared."""

    instead = "use solver='stochastic', which compares the features with some references only"
    average = "let it return the mean of both dissimilarities of a pair"

    def __init__(self, source: Source) -> None:
        self.source, self.n, self.dtype = source, source.n, source.dtype
        self.symmetric = bool(getattr(source, "symmetric", False))
        self._sent: Any = None

    def sent(self, client: Any) -> Any:
        if self._sent is None or self._sent.status in ("lost", "cancelled"):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # which it is not: a table, sent once
                self._sent = client.submit(relay, self.source, key=f"unmask-features-{uuid4().hex}")
        return self._sent

    def tile(self, rows: Which, columns: Which) -> Array:
        source: Any = self.source
        return np.asarray(source.tile(rows, columns))


class DaskArray:
    """An array of Dask: its own graph makes the blocks."""

    instead = _HERE
    average = "pass (X + X.T) / 2"

    def __init__(self, array: Any) -> None:
        self.array, self.n, self.dtype = array, int(array.shape[0]), float_dtype(array.dtype)

    def tile(self, rows: Which, columns: Which) -> Array:
        return np.asarray(self.array[rows][:, columns].compute(), dtype=self.dtype)

    def _part(self, rows: Ends, columns: Ends) -> Any:
        return self.array[slice(*rows), slice(*columns)]

    def load(self, client: Any, spans: Sequence[Span], home: str) -> list[Any]:
        from dask.delayed import delayed

        kept = delayed(keep, pure=False)
        parts = [kept(self._part(rows, columns), self.dtype, dask_key_name=name) for name, rows, columns in spans]
        return _futures(client, parts, home)

    def look(self, client: Any, blocks: Sequence[Any], spans: Sequence[Span], home: str) -> list[Any]:
        from dask.delayed import delayed

        ask = delayed(look, pure=False)
        looks = [
            ask(block, self._part(columns, rows), rows[0], columns[0], dask_key_name=name)
            for block, (name, rows, columns) in zip(blocks, spans, strict=True)
        ]
        return _futures(client, looks, home)


def _futures(client: Any, parts: list[Any], home: str) -> list[Any]:
    return list(client.compute(parts, workers=[home], allow_other_workers=True))


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
