"""Filling a matrix of dissimilarities tile by tile, so that nothing of its size is ever held a second time.

Which pairs share a tile depends on their number only, and a pair's value on that pair only: the result is the same to
the last bit for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...kernels import Workers
from ._family import Family, count

Namer = Callable[[int], str]
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Names:
    """How messages call the objects of the rows and of the columns."""

    row: Namer
    column: Namer


def fill_square(
    D: Array, family: Family, objects: Any, workers: Workers, name: Namer, advance: Advance
) -> tuple[int, int]:
    """Fill D (N x N): each pair once, mirrored, zero on the diagonal; return the number of missing pairs and of all."""
    n = count(objects)
    tiles = [(a, b) for a in range(0, n, family.tile) for b in range(a, n, family.tile)]
    missing = np.zeros(len(tiles), dtype=np.int64)
    names = Names(name, name)

    def fill(index: int) -> None:
        a, b = tiles[index]
        rows, columns = slice(a, a + family.tile), slice(b, b + family.tile)
        values = compare_tile(family, objects[rows], objects[columns], D.dtype)
        if a == b:
            values = np.triu(values, 1)
            values += values.T
        D[rows, columns] = values
        missing[index] = count_missing(D[rows, columns], family, names, a, b) // (2 if a == b else 1)
        if a != b:
            D[columns, rows] = D[rows, columns].T
        advance(values.size)

    workers.run(fill, len(tiles))
    return int(missing.sum()), n * (n - 1) // 2


def fill_rectangle(
    D: Array, family: Family, new: Any, fitted: Any, workers: Workers, names: Names, advance: Advance
) -> tuple[int, int]:
    """Fill D (new x fitted); return the number of missing pairs and of all."""
    tiles = [(a, b) for a in range(0, D.shape[0], family.tile) for b in range(0, D.shape[1], family.tile)]
    missing = np.zeros(len(tiles), dtype=np.int64)

    def fill(index: int) -> None:
        a, b = tiles[index]
        rows, columns = slice(a, a + family.tile), slice(b, b + family.tile)
        D[rows, columns] = compare_tile(family, new[rows], fitted[columns], D.dtype)
        missing[index] = count_missing(D[rows, columns], family, names, a, b)
        advance(D[rows, columns].size)

    workers.run(fill, len(tiles))
    return int(missing.sum()), D.size


def compare_tile(family: Family, rows: Any, columns: Any, dtype: Any) -> Array:
    """Return the dissimilarities of some objects to others."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # count_missing looks at what comes of it
        return family.between(rows, columns).astype(dtype, copy=False)


def count_missing(tile: Array, family: Family, names: Names, a: int = 0, b: int = 0) -> int:
    """Return the number of missing dissimilarities in a tile; raise on what cannot be one."""
    low, high = tile.min(), tile.max()  # both NaN if any cell is
    if low >= 0 and high < np.inf:
        return 0
    missing = np.isnan(tile)
    wrong = np.isinf(tile) | (tile < 0)
    if not family.may_miss:
        wrong |= missing
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(_not_a_dissimilarity(tile, i, j, family, f"{names.row(a + i)} and {names.column(b + j)}"))
    return int(missing.sum())


def _not_a_dissimilarity(tile: Array, i: int, j: int, family: Family, pair: str) -> str:
    value = float(tile[i, j])
    fault = f"metric={family.name!r} gives {value:g} for {pair}"
    if family.largest > 1e150 and not np.isfinite(value):  # squares of anything below this are finite
        return (
            f"{fault}: X has {family.largest:g} among its features, too large for the distances between its rows to be "
            "finite numbers; divide the features by a common number."
        )
    if value < 0:
        return f"{fault}; a dissimilarity must be at least 0. Is it a similarity?"
    if value == np.inf and tile.dtype == np.float32:
        return f"{fault}: too large for dtype='float32', or for any number; scale the data, or use dtype='float64'."
    return f"{fault}; {family.way_out}."
