"""What the maps of a study are made from: a table of dissimilarities or, of many objects, their features or a file.

A table of N x N numbers is neither made nor written where it would be large: features are kept with the metric that
compares them, and a large table that is in a file stays there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from mmap import mmap
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._typing import IntArray
from ..checking import is_file, is_source, open_file
from ..dissimilarities import Metric
from ..kernels import LARGE, MOST_SQUARED, ArraySource, Source, rectangle
from ._records import read_only
from ._values import require_text


class Data:
    """Where the dissimilarities of a study come from."""

    @property
    def words(self) -> str:
        """Where that is, in words; nothing of a plain table."""
        return ""

    @property
    def missing_pairs(self) -> int | None:
        """Number of pairs without a dissimilarity; None where all pairs would have to be read to count them."""
        return None

    @property
    def objects(self) -> pd.Index:
        """Labels of the objects."""
        raise NotImplementedError

    @property
    def source(self) -> Source:
        """What reads any part of the table of dissimilarities."""
        raise NotImplementedError

    @property
    def fitted(self) -> Any:
        """What an estimator is fitted to."""
        raise NotImplementedError

    @property
    def params(self) -> dict[str, Any]:
        """How the estimator makes dissimilarities of that."""
        return {"metric": "precomputed"}

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the dissimilarities."""
        return self.source.dtype

    def square(self) -> pd.DataFrame:
        """Return the square table; raise where it would be too large."""
        n = len(self.objects)
        if n > MOST_SQUARED:
            raise ValueError(
                f"the study has no table of {n:,} x {n:,} dissimilarities, but {self.words}; "
                "study.material.among(positions) returns those among some objects."
            )
        return self.among(np.arange(n))

    def among(self, at: IntArray) -> pd.DataFrame:
        """Return the square table of some objects, by their positions."""
        names = self.objects[at]
        return pd.DataFrame(rectangle(self.source, np.asarray(at), np.asarray(at)), index=names, columns=names)


@dataclass(frozen=True)
class SquareTable(Data):
    """A table of dissimilarities, NaN where missing."""

    table: pd.DataFrame

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", read_only(self.table))

    @property
    def objects(self) -> pd.Index:
        return self.table.index

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.table.to_numpy().dtype)

    @property
    def fitted(self) -> pd.DataFrame:
        return self.table

    @cached_property
    def missing_pairs(self) -> int:
        return int(np.isnan(self.table.to_numpy()).sum()) // 2

    def square(self) -> pd.DataFrame:
        return self.table

    def among(self, at: IntArray) -> pd.DataFrame:
        return self.table.iloc[at, at]


@dataclass(frozen=True)
class ComparedFeatures(Data):
    """Features of many objects, one row each, and the name of the metric that compares them when it is needed."""

    features: pd.DataFrame
    metric: str
    metric_params: Mapping[str, Any] = field(default_factory=dict)
    single: bool = False

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
        params = dict(self.metric_params) or None
        return Metric(self.metric, metric_params=params, dtype=str(self.dtype)).on_demand(self.features)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.single else np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "source"}  # which is made again


@dataclass(frozen=True)
class TableInFile(Data):
    """A large table of dissimilarities that stays in its file, by the path of an npy or zarr file."""

    path: str

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
        """A number that changes with the file: of both ends of its diagonal."""
        n = self.source.n
        ends = (slice(0, min(n, 100)), slice(max(0, n - 100), n))
        return crc32(b"".join(np.ascontiguousarray(self.source.tile(end, end)).tobytes() for end in ends))

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # a copy would bring the file into memory

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.path,)  # and so would what was opened


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
    file, names = source.array, ("shape", "dtype", "strides", "offset")
    return all(getattr(mapped, name) == getattr(file, name) for name in names)


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
            f"a study of {n:,} objects keeps a table of their features and the name of the metric that compares them, "
            f"because a table of {n:,} x {n:,} dissimilarities would be too large; metric={transformer!r} has no such "
            "name, or X is no such table. Use a metric by its name, or a sample of the objects."
        )
    return False
