"""Square tables that are read in parts: files mapped into memory, arrays that lie in chunks, few of very many pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from os import PathLike, fspath
from os.path import abspath
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..cluster import LocalArray, ambient_client, is_dask_array, spread
from ..kernels import LARGE, Source, Survey, Workers, survey_pairs
from ._parameters import require_package

# Chunks that were read last are kept, up to so many bytes: a pass comes back to them with the next rows.
KEPT = 2**28


def is_file(data: Any) -> bool:
    """Return whether this is the path of a table that can stay in its file."""
    return isinstance(data, str | PathLike) and str(fspath(data)).rstrip("/").endswith((".npy", ".zarr"))


def open_file(data: Any) -> Any:
    """Return the table in a file: an array that is mapped into memory, or one in chunks."""
    path = str(fspath(data))
    path = path if "://" in path else abspath(path)  # workers of a cluster may be elsewhere
    if path.endswith(".npy"):
        return np.load(path, mmap_mode="r")
    array = require_package("zarr", f"X={path!r}", "zarr").open(path, mode="r")
    client = ambient_client()
    if client is None:
        return chunked(array)
    _require_table(array)
    return spread(array, client, path)


def in_dask(array: Any) -> Any:
    """Return an array of Dask as a source: its blocks on the workers of the cluster, or computed by local threads."""
    _require_square(with_sizes(array, features=False))
    client = ambient_client()
    return chunked(LocalArray(array)) if client is None else spread(array, client)


def with_sizes(data: Any, *, features: bool) -> Any:
    """Return an array of Dask with the sizes of its chunks, which are computed if it holds features; others as is."""
    if not is_dask_array(data) or not np.isnan(data.shape).any():
        return data
    if features:
        return data.copy().compute_chunk_sizes()  # which changes the array that it is called on
    raise ValueError(
        f"dissimilarities has shape {data.shape}, whose sizes Dask does not know; call X.compute_chunk_sizes()."
    )


def is_chunked(data: Any) -> bool:
    """Return whether this is an array in chunks of one size, as Zarr and HDF5 have; those of Dask differ in size."""
    chunks = getattr(data, "chunks", None)
    return (
        all(hasattr(data, name) for name in ("shape", "dtype", "__getitem__"))
        and isinstance(chunks, tuple)
        and all(isinstance(size, int) for size in chunks)
    )


def chunked(data: Any) -> Any:
    """Return an array in chunks as a source, or as an array in memory, which is read faster, if it is not large."""
    _require_table(data)
    source = ChunkedTable(data)
    whole = source.n**2 * source.dtype.itemsize <= LARGE
    return np.asarray(data[:, :], dtype=source.dtype) if whole else source


def _require_table(data: Any) -> None:
    if not is_chunked(data):
        raise ValueError(f"X is a {type(data).__name__} rather than one array of numbers; pass the path of an array.")
    _require_square(data)


def _require_square(data: Any) -> None:
    if len(data.shape) != 2 or data.shape[0] != data.shape[1]:
        raise ValueError(
            f"dissimilarities has shape {tuple(data.shape)} but must be square, one row and one column per object."
        )
    if np.dtype(data.dtype).kind not in "biuf":
        raise ValueError(f"dissimilarities holds {data.dtype}; every cell must be a number or NaN.")


@dataclass(frozen=True)
class ChunkedTable(Source):
    """A square array stored in chunks; each chunk is read and decompressed as a whole."""

    chunked: Any

    @property
    def average(self) -> str:  # type: ignore[override]
        """How to make it symmetric, for messages."""
        return str(getattr(self.chunked, "average", "pass (X + X.T) / 2 of X = dask.array.from_array(X)"))

    @property
    def n(self) -> int:
        return int(self.chunked.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.chunked.dtype == np.float32 else np.float64)

    def tile(self, rows: slice | IntArray, columns: slice) -> Array:
        """Return a rectangle of the table: the rows of a slice, or of an array of positions."""
        first, last, _ = columns.indices(self.n)
        if not isinstance(rows, slice):
            # In the order of the file, each row once, which is all that HDF5 can do.
            needed, at = np.unique(np.arange(self.n)[rows], return_inverse=True)
            return np.asarray(self.chunked[needed, first:last], dtype=self.dtype)[at]
        top, bottom, _ = rows.indices(self.n)
        out = np.empty((bottom - top, last - first), dtype=self.dtype)
        self.fill(slice(top, bottom), slice(first, last), out)
        return out

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Write a rectangle of the table into the upper left of an array."""
        height, width = self.chunked.chunks
        for a in range(rows.start // height, -(-rows.stop // height)):
            top, bottom = max(rows.start, a * height), min(rows.stop, (a + 1) * height)
            for b in range(columns.start // width, -(-columns.stop // width)):
                first, last = max(columns.start, b * width), min(columns.stop, (b + 1) * width)
                part = self._chunk(a, b)[top - a * height : bottom - a * height, first - b * width : last - b * width]
                at = first - columns.start
                out[top - rows.start : bottom - rows.start, at : at + last - first] = part

    @cached_property
    def _chunk(self) -> Callable[[int, int], Array]:
        height, width = self.chunked.chunks

        def read(a: int, b: int) -> Array:
            chunk = self.chunked[a * height : min((a + 1) * height, self.n), b * width : min((b + 1) * width, self.n)]
            return np.asarray(chunk, dtype=self.dtype)

        keeping: Callable[[int, int], Array] = lru_cache(max(2, KEPT // (height * width * self.dtype.itemsize)))(read)
        return keeping


# ---- few of very many pairs

# Of fewer objects, and where a quarter of the pairs or more are given, a square is as fast.
MANY_OBJECTS, FEW_PAIRS = 500, 0.25


def are_few(n: int, given: int) -> bool:
    """Return whether the given pairs of n objects are too few to be worth a square table."""
    return n >= MANY_OBJECTS and given < FEW_PAIRS * n * (n - 1) / 2


def filled(part: sp.coo_array) -> Array:
    """Return a sparse table as a dense one, NaN where nothing is stored; a stored zero is a dissimilarity of zero."""
    values: Array = np.full(part.shape, np.nan, dtype=part.dtype)
    values[part.coords] = part.data
    return values


@dataclass(frozen=True)
class StoredPairs(Source):
    """A square table of which few entries are stored; all others are missing.

    ``table`` has its entries as they were given, stored zeros and NaN among them; an absent diagonal is 0.
    """

    table: sp.csr_array
    lists_pairs = True
    average = "pass (D + D.T) / 2, the mean of the two"

    @classmethod
    def given(cls, rows: IntArray, columns: IntArray, values: Array, n: int, *, mirrored: Any) -> StoredPairs:
        """Return entries, each named once, and those of the other direction for the ``mirrored`` ones."""
        both = np.concatenate([rows, columns[mirrored]]), np.concatenate([columns, rows[mirrored]])
        return cls(sp.csr_array((np.concatenate([values, values[mirrored]]), both), shape=(n, n)))

    @property
    def n(self) -> int:
        return int(self.table.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.table.dtype
        return dtype

    def tile(self, rows: slice | IntArray, columns: slice) -> Array:
        """Return a rectangle of the table, NaN where nothing is stored."""
        numbers = np.arange(self.n)
        values = filled(self.table[rows, columns].tocoo())
        values[(numbers[rows][:, None] == numbers[columns]) & np.isnan(values)] = 0.0
        return values

    def stored_pairs(self) -> tuple[IntArray, IntArray, Array]:
        """Return the two objects of each pair that has a dissimilarity, the lower first, and the dissimilarities."""
        i, j, above, _ = self._both_ways()
        there = ~np.isnan(above)
        return i[there], j[there], above[there]

    def _both_ways(self) -> tuple[IntArray, IntArray, Array, Array]:
        """Return the pairs that are stored, and the dissimilarity of each in either direction, NaN where absent."""
        coo = self.table.tocoo()
        i, j = (ends.astype(np.int64) for ends in coo.coords)
        keys, at = np.unique(np.minimum(i, j) * self.n + np.maximum(i, j), return_inverse=True)
        sides = np.full((2, len(keys)), np.nan, dtype=self.dtype)
        sides[(i > j).astype(int), at] = coo.data
        low, high = keys // self.n, keys % self.n
        off = low != high
        return low[off], high[off], sides[0, off], sides[1, off]

    def survey(self, workers: Workers) -> Survey:  # noqa: ARG002
        """Look at every stored entry once."""
        *_, above, below = self._both_ways()
        survey = survey_pairs(above, below)
        return survey._replace(missing=survey.missing + self.n * (self.n - 1) // 2 - len(above))
