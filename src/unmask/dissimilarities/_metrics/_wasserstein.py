"""Wasserstein distances between samples and histograms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..._typing import Array, IntArray
from ...checking import require_number
from ._family import Family, Reader
from ._named import require_shares
from ._sequences import read_sequences, require_some


@dataclass(frozen=True)
class Distributions:
    """Several distributions, concatenated: sorted values, and the share of the whole at or below each of them."""

    values: Array
    shares: Array
    starts: IntArray  # where each begins, and where the last ends

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: slice | IntArray) -> Distributions:
        if isinstance(rows, slice):
            first, last, _ = rows.indices(len(self))
            return Distributions(self.values, self.shares, self.starts[first : last + 1])
        at = np.concatenate([np.arange(self.starts[row], self.starts[row + 1]) for row in rows])
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[rows])])
        return Distributions(self.values[at], self.shares[at], starts)


def wasserstein_distances(
    values: Array, shares: Array, starts: IntArray,
    other_values: Array, other_shares: Array, other_starts: IntArray,
    order: float, out: Array,
) -> None:  # fmt: skip
    """Fill ``out`` with the Wasserstein distances between two sets of distributions.

    The distance is the integral of the difference of the two quantile functions to the power of ``order``. Both are
    step functions, so that the integral is a sum from one step of either to the next.
    """
    for i in range(len(starts) - 1):
        for j in range(len(other_starts) - 1):
            a, b = starts[i], other_starts[j]
            done = total = 0.0
            while a < starts[i + 1] and b < other_starts[j + 1]:
                upto = min(shares[a], other_shares[b])
                gap = abs(values[a] - other_values[b])
                total += (upto - done) * (gap if order == 1.0 else gap**order)
                done = upto
                a, b = a + (shares[a] <= upto), b + (other_shares[b] <= upto)
            out[i, j] = total ** (1.0 / order)


@lru_cache(maxsize=1)
def _compiled() -> Any:
    import numba

    return numba.njit(nogil=True, cache=True)(wasserstein_distances)


class Wasserstein(Family):
    """Wasserstein distance between samples: each object is a set of values, in any order and of any size."""

    parameters: tuple[str, ...] = ("order",)
    allow_nan = True

    def __init__(self, name: str, params: Mapping[str, Any]) -> None:
        super().__init__(name, params)
        self.order = require_number("metric_params['order']", self.params.get("order", 1), 1.0)

    def read(self, reader: Reader) -> Any:
        """Return the samples sorted; NaN in a table pads the shorter ones."""
        samples = [
            require_some(np.sort(sample[~np.isnan(sample)]), reader.object(row))
            for row, sample in enumerate(read_sequences(reader, self.name))
        ]
        shares = [np.arange(1, len(sample) + 1) / len(sample) for sample in samples]
        return Distributions(np.concatenate(samples), np.concatenate(shares), _starts([len(s) for s in samples]))

    def between(self, rows: Any, columns: Any) -> Array:
        """Return the Wasserstein distances."""
        out = np.empty((len(rows), len(columns)))
        _compiled()(
            rows.values, rows.shares, rows.starts, columns.values, columns.shares, columns.starts, self.order, out
        )
        return out


class WassersteinHistogram(Wasserstein):
    """Wasserstein distance between histograms: each column is a position, each cell the amount there."""

    parameters = ("order", "positions")
    allow_nan = False
    positive_only = True

    def read(self, reader: Reader) -> Any:
        """Return for order 1 coordinates whose city-block distances are the result; distributions otherwise."""
        weights = require_shares(reader.table(dtype=np.float64), reader, self.name)
        columns = weights.shape[1]
        positions: Array = np.arange(columns, dtype=np.float64)
        if self.params.get("positions") is not None:
            positions = self.vector("positions", columns, -np.inf, reader)
        order = np.argsort(positions, kind="stable")
        shares = np.cumsum(weights[:, order], axis=1)
        shares /= shares[:, -1:]
        if self.order == 1.0:
            return shares[:, :-1] * np.diff(positions[order]) if columns > 1 else np.zeros_like(weights)
        return Distributions(np.tile(positions[order], len(shares)), shares.ravel(), _starts([columns] * len(shares)))

    def between(self, rows: Any, columns: Any) -> Array:
        """Return the Wasserstein distances."""
        if self.order == 1.0:
            return np.asarray(cdist(rows, columns, "cityblock"))
        return super().between(rows, columns)


def _starts(lengths: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
