"""The dissimilarities of a study: a table, the features of many objects and their metric, or a large file.

A table of N x N numbers is neither made nor written where it would be large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from mmap import mmap
from pathlib import Path
from typing import Any, ClassVar, Self
from zlib import crc32

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._typing import IntArray
from ..checking import is_file, is_source, open_file
from ..dissimilarities import Metric
from ..kernels import LARGE, MOST_SQUARED, ArraySource, Source, rectangle
from ._values import read_only, require_text


@dataclass(frozen=True)
class SquareTable:
    """A table of dissimilarities, NaN where missing."""

    table: pd.DataFrame
    words: ClassVar[str] = ""
    params: ClassVar[dict[str, Any]] = {"metric": "precomputed"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", read_only(self.table))

    @property
    def objects(self) -> pd.Index:
        """Labels of the objects."""
        return self.table.index

    @property
    def fitted(self) -> pd.DataFrame:
        """The data that an estimator is fitted to."""
        return self.table

    @cached_property
    def missing_pairs(self) -> int | None:
        """Number of pairs without a dissimilarity; None where counting them would read all pairs."""
        return int(np.isnan(self.table.to_numpy()).sum()) // 2


@dataclass(frozen=True)
class ComparedFeatures:
    """Features of many objects, one row each, and the metric that compares them when it is needed."""

    features: pd.DataFrame
    metric: str
    metric_params: Mapping[str, Any] = field(default_factory=dict)
    single: bool = False
    missing_pairs: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", read_only(self.features))

    @property
    def objects(self) -> pd.Index:
        return self.features.index

    @property
    def words(self) -> str:
        count = self.features.shape[1]
        return f"{count} feature{'s' * (count != 1)} that are compared by the metric {self.metric} when it is needed"

    @property
    def fitted(self) -> pd.DataFrame:
        return self.features.astype(np.float32) if self.single else self.features

    @property
    def params(self) -> dict[str, Any]:
        return {"metric": self.metric, **({"metric_params": dict(self.metric_params)} if self.metric_params else {})}

    @cached_property
    def source(self) -> Source:
        dtype = "float32" if self.single else "float64"
        return Metric(self.metric, metric_params=dict(self.metric_params) or None, dtype=dtype).on_demand(self.features)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "source"}  # which is made again


@dataclass(frozen=True)
class TableInFile:
    """A large table of dissimilarities that stays in its npy or zarr file."""

    path: str
    params: ClassVar[dict[str, Any]] = {"metric": "precomputed"}
    missing_pairs: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        require_text(self.path, "the path of dissimilarities")

    @cached_property
    def source(self) -> Source:
        opened = open_file(self.path)
        return opened if is_source(opened) else ArraySource(opened)

    @cached_property
    def objects(self) -> pd.Index:
        return pd.RangeIndex(self.source.n)

    @property
    def words(self) -> str:
        return f"the file {self.path}, which is read in parts"

    @property
    def fitted(self) -> Any:
        return self.source if self.source.array is None else self.source.array

    @property
    def checksum(self) -> int:
        """A number that changes with both ends of the diagonal."""
        n = self.source.n
        ends = (slice(0, min(n, 100)), slice(max(0, n - 100), n))
        return crc32(b"".join(np.ascontiguousarray(self.source.tile(end, end)).tobytes() for end in ends))

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # a copy would bring the file into memory

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.path,)  # and so would the opened file


Data = SquareTable | ComparedFeatures | TableInFile


def table_among(data: Data, at: IntArray | None = None) -> pd.DataFrame:
    """Return the square table of some objects, by their positions, or of all; raise where that would be too large."""
    if isinstance(data, SquareTable):
        return data.table if at is None else data.table.iloc[at, at]
    n = len(data.objects)
    if at is None and n > MOST_SQUARED:
        raise ValueError(
            f"the study has no table of {n:,} x {n:,} dissimilarities, but {data.words}; "
            "study.material.among(positions) returns those among some objects."
        )
    at = np.arange(n) if at is None else np.asarray(at)
    names = data.objects[at]
    return pd.DataFrame(rectangle(data.source, at, at), index=names, columns=names)


def large_file(data: Any) -> TableInFile | None:
    """Return a square table in a Zarr array, or in a file that is too large for memory; None for anything else."""
    path: Any = data.filename if isinstance(data, np.memmap) else data
    if not is_file(path):
        return None
    inside = TableInFile(str(Path(path).absolute()))
    source = inside.source
    shape = (source.n, source.n) if source.array is None else source.array.shape
    square = len(shape) == 2 and shape[0] == shape[1]
    whole = not isinstance(data, np.memmap) or _is_all_of(source, data)
    stays = inside.path.endswith(".zarr") or source.n**2 * source.dtype.itemsize > LARGE
    return inside if whole and square and stays else None


def _is_all_of(source: Any, mapped: np.memmap[Any, Any]) -> bool:
    """Return whether a memory map shows all of its file as it is: not a view, nor a copy that may have been edited."""
    if not isinstance(mapped.base, mmap) or mapped.mode == "c":
        return False
    return all(getattr(mapped, name) == getattr(source.array, name) for name in ("shape", "dtype", "strides", "offset"))


def is_many(transformer: Any, X: Any) -> bool:
    """Return whether a table of dissimilarities of these features would be large; raise where it would be needed."""
    shape = getattr(X, "shape", None)
    n = int(shape[0]) if shape else len(X) if hasattr(X, "__len__") else 0
    if 8 * n**2 <= LARGE:
        return False
    named = isinstance(transformer, Metric) and isinstance(transformer.metric, str)
    if named and not sp.issparse(X) and len(shape or ()) == 2:
        return bool(transformer.on_demand(X).is_large)
    if n > MOST_SQUARED:
        raise ValueError(
            f"a study of {n:,} objects keeps their features and the name of the metric, because a table of {n:,} x "
            f"{n:,} dissimilarities would be too large; metric={transformer!r} has no such name, or X is no such "
            "table. Use a metric by its name, or a sample of the objects."
        )
    return False
