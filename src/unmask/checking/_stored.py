"""Few of very many pairs: kept as a list, since a square of N x N cells would be nearly empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..kernels import Source, Survey, Workers, survey_pairs

# Of fewer objects, and where a quarter of the pairs or more are given, a square is as fast.
MANY_OBJECTS, FEW_PAIRS = 500, 0.25


def are_few(n: int, given: int) -> bool:
    """Tell whether so few dissimilarities of so many objects are given that they are not brought into a square."""
    return n >= MANY_OBJECTS and given < FEW_PAIRS * n * (n - 1) / 2


@dataclass(frozen=True)
class StoredPairs(Source):
    """A source: a square table, as the user gave it, of which few entries are stored and all others are missing.

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
        return self._filled(self.table[rows, columns], np.arange(self.n)[rows], np.arange(self.n)[columns])

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""
        return self._filled(self.table[which], np.arange(self.n)[which], np.arange(self.n))

    @staticmethod
    def _filled(part: sp.csr_array, rows: IntArray, columns: IntArray) -> Array:
        values: Array = np.full(part.shape, np.nan, dtype=part.dtype)
        coo = part.tocoo()
        values[coo.coords] = coo.data
        itself = (rows[:, None] == columns) & np.isnan(values)
        values[itself] = 0.0
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
