"""A table whose upper triangle the workers of a cluster hold: a source, with passes of its own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..kernels import ArraySource, Pairs, Source, Survey, Which, Workers, join_surveys
from ._client import is_dask_array
from ._crew import Crew
from ._held import Looked, cut
from ._readers import DaskArray, Reader, SentSource, StoredArray


def spread(data: Any, client: Any, path: str | None = None) -> SpreadTable:
    """Return a table (an array of Dask or Zarr, or a source) as the workers of a cluster hold it."""
    reader: Reader
    if isinstance(data, Source):
        reader = SentSource(data)
    else:
        reader = DaskArray(data) if is_dask_array(data) else StoredArray(data, path)
    return SpreadTable(Crew(client, reader))


class SpreadTable(Source):
    """A source whose upper triangle lies on the workers of a cluster, which run the passes over it.

    The passes have the names and arguments of those over an array.
    """

    by_number = on_workers = True

    def __init__(self, crew: Crew) -> None:
        self.crew, self.symmetric, self.average = crew, crew.reader.symmetric, crew.reader.average

    @property
    def n(self) -> int:
        return self.crew.n

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.crew.reader.dtype

    @property
    def passes(self) -> SpreadTable:
        return self

    passes_once = passes

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle of the table: of slices, or of arrays of positions in any order."""
        i, j = (np.arange(self.n)[side] if isinstance(side, slice) else np.asarray(side) for side in (rows, columns))
        out = np.zeros((len(i), len(j)), dtype=self.dtype)
        for pieces in self.crew.every("rows", cut, i, j):
            for piece in pieces:
                out[np.ix_(piece.rows, piece.columns)] = piece.values
        return out

    # ---- checks

    @cached_property
    def _looks(self) -> list[Looked]:
        return self.crew.looks()

    def survey(self, workers: Workers) -> Survey:  # noqa: ARG002
        """Look at every entry once."""
        return join_surveys([look.survey for look in self._looks])

    def suspects(self) -> tuple[Source, IntArray]:
        """Return the two objects whose entries are farthest from what they should be, with both halves as given."""
        one, other = max(look.worst for look in self._looks)[1]
        at = np.array(sorted([one, other if one != other else (one + 1) % self.n]))
        return ArraySource(self.crew.reader.tile(at, at), average=self.average), at

    # ---- passes

    def stress_pass(self, pairs: Pairs, Z: Array, workers: Workers) -> tuple[float, Array]:  # noqa: ARG002
        """Return the stress at ``Z`` and its half-gradient."""
        return self.crew.sums("stress", pairs.rule, Z, Z.shape[1])

    def last_pass(self, pairs: Pairs, Z: Array, x: Array, workers: Workers) -> tuple[Array, Array]:  # noqa: ARG002
        """Return each object's weighted squared error, and squared dissimilarities times ``x``."""
        Zx = np.column_stack([Z, x]).astype(np.float64, copy=False)
        errors, products = self.crew.sums("last", pairs.rule, Zx, 2)[1].T
        return errors, products

    def laplacian_pass(self, pairs: Pairs, X: Array, workers: Workers) -> tuple[Array, Array]:  # noqa: ARG002
        """Return the diagonal of ``H`` and ``H X``."""
        ones_and_X = np.column_stack([np.ones(self.n), X])
        product = self.crew.sums("weight-product", pairs.rule, ones_and_X, ones_and_X.shape[1])[1]
        return product[:, 0], product[:, :1] * X - product[:, 1:]

    def squared_product(self, pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers) -> Array:  # noqa: ARG002
        """Return squared dissimilarities times ``X``, modelled ones where pairs do not count."""
        table, p = np.column_stack([X, fill]), X.shape[1]
        return self.crew.sums("squared-product", pairs.rule, table, p, p, offset)[1]
