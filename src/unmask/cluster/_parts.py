"""What is done with each part of an array or a table of Dask by itself, wherever it lies."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import Array
from ._client import is_dask_array, is_dask_frame


def over_parts(function: Callable[[Any, Any], Array], X: Any, beside: Any, width: int, dtype: Any) -> Any:
    """Return ``function(part of X, part of beside)`` for all rows as an array of Dask with ``width`` columns.

    Nothing is computed yet. What is beside has the same parts, or is in memory and cut like X; it may be None.
    """
    import dask.array
    from dask.delayed import delayed

    da: Any = dask.array

    parts, in_parts = _cut(X), beside is None or is_dask_array(beside) or is_dask_frame(beside)
    sizes = _sizes(X) if in_parts else _computed_sizes(X)
    own = [None] * len(parts) if beside is None else _cut(beside) if in_parts else _cut_like(beside, sizes)
    if len(own) != len(parts):
        raise ValueError(f"known has {len(own)} parts and X has {len(parts)}; repartition them alike.")
    call = delayed(function, pure=False)
    return da.concatenate(
        [
            da.from_delayed(call(part, other), shape=(size, width), dtype=dtype)
            for part, other, size in zip(parts, own, sizes, strict=True)
        ]
    )


def _cut(data: Any) -> list[Any]:
    """Return the parts of an array or a table, rows together."""
    whole = data.rechunk({1: -1}) if is_dask_array(data) and data.ndim > 1 else data
    delayed = whole.to_delayed()
    return list(np.ravel(delayed)) if is_dask_array(data) else list(delayed)


def _sizes(data: Any) -> list[Any]:
    return list(data.chunks[0]) if is_dask_array(data) else [np.nan] * data.npartitions


def _computed_sizes(data: Any) -> list[int]:
    """Return how many rows each part has, for which the parts are made if Dask does not know it."""
    if is_dask_frame(data):
        return list(data.map_partitions(len).compute())
    known = data if not np.isnan(data.shape[0]) else data.copy().compute_chunk_sizes()
    return list(known.chunks[0])


def _cut_like(data: Any, sizes: list[int]) -> list[Any]:
    if sum(sizes) != len(data):
        raise ValueError(f"known has {len(data)} rows and X has {sum(sizes)}; one row per object.")
    ends = np.cumsum([0, *sizes]).tolist()
    rows = data.iloc if hasattr(data, "iloc") else np.asarray(data)
    return [rows[first:last] for first, last in pairwise(ends)]
