"""A table whose upper triangle the workers of a cluster hold: a source, with passes of its own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..kernels import Pairs, Source, Survey, Weighting, Which, Workers
from ._crew import Crew
from ._held import run_cut, together
from ._readers import Compared, DaskArray, Reader, StoredArray

_NO_RULE = (int(Weighting.UNIT), 1.0, 0.0, 1.0)


def spread(data: Any, client: Any, path: str | None = None) -> SpreadTable:
    """Return a table (an array of Dask or Zarr, or a source) as the workers of a cluster hold it."""
    if hasattr(data, "tile"):
        reader: Reader = Compared(data)
    else:
        reader = DaskArray(data) if hasattr(data, "dask") else StoredArray(data, path)
    return SpreadTable(Crew(client, reader))


class SpreadTable:
    """A source whose upper triangle lies on the workers of a cluster; what passes over all of it runs there."""

    by_number = True

    def __init__(self, crew: Crew) -> None:
        self.crew, self.n, self.dtype = crew, crew.n, crew.reader.dtype
        self.symmetric = bool(getattr(crew.reader, "symmetric", False))
        self.average = crew.reader.average
        self.passes = SpreadPasses(crew)

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle of the table: of slices, or of arrays of positions in any order."""
        i, j = (np.arange(self.n)[side] if isinstance(side, slice) else np.asarray(side) for side in (rows, columns))
        out = np.zeros((len(i), len(j)), dtype=self.dtype)
        for pieces in self.crew.every("rows", run_cut, i, j):
            for piece in pieces:
                out[np.ix_(piece.rows, piece.columns)] = piece.values
        return out

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""
        return self.tile(np.asarray(which), slice(0, self.n))

    def as_given(self, which: IntArray) -> Source:
        """Return the table of some objects with both halves as they were given."""
        return _Given(self.crew.reader.tile(which, which), self.average)

    def worst_pair(self) -> IntArray:
        """Return the two objects whose entries are farthest from what they should be, if any are."""
        one, other = max(look.worst for look in self.passes.looks)[1]
        return np.array(sorted([one, other if one != other else (one + 1) % self.n]))

    def smallest_positive(self) -> float:
        """Return the smallest dissimilarity above 0; infinity if there is none."""
        return float(self.crew.sums("smallest", _NO_RULE, np.empty((self.n, 0)), 0, smallest=True)[0][0])


class _Given:
    """A few entries of a table, as a source: of an array one would say that both halves can be averaged."""

    def __init__(self, values: Array, average: str) -> None:
        self._values, self.n, self.dtype, self.average = values, len(values), values.dtype, average

    def tile(self, rows: slice | IntArray, columns: slice) -> Array:
        return self._values[rows, columns]

    def rows(self, which: IntArray) -> Array:
        return self._values[which]


class SpreadPasses:
    """The passes over a table that workers hold, by the names and with the arguments that those over an array have."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew

    def n_chunks(self, n: int) -> int:  # noqa: ARG002
        """More than one: a pass is shared by itself, and starts follow one another."""
        return 2

    def _sums(self, name: str, pairs: Pairs, table: Array, width: int, *arguments: Any) -> tuple[Array, Array]:
        return self.crew.sums(name, pairs.rule, table, width, *arguments)

    def stress_pass(self, pairs: Pairs, Z: Array, workers: Workers) -> tuple[float, Array]:  # noqa: ARG002
        """Return the stress at ``Z`` and its half-gradient."""
        sums, G = self._sums("stress", pairs, Z, Z.shape[1])
        return float(sums[0]), G

    def last_pass(self, pairs: Pairs, Z: Array, x: Array, workers: Workers) -> tuple[Array, Array]:  # noqa: ARG002
        """Return each object's weighted squared error, and squared dissimilarities times ``x``."""
        found = self._sums("last", pairs, np.column_stack([Z, x]).astype(np.float64, copy=False), 2)[1]
        return found[:, 0], found[:, 1]

    def laplacian_pass(self, pairs: Pairs, X: Array, workers: Workers) -> tuple[Array, Array]:  # noqa: ARG002
        """Return the diagonal of ``H`` and ``H X``."""
        found = self._sums("weight-product", pairs, X, 1 + X.shape[1])[1]
        degrees, WX = found[:, 0], found[:, 1:]
        return degrees, degrees[:, None] * X - WX

    def squared_product(self, pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers) -> Array:  # noqa: ARG002
        """Return squared dissimilarities times ``X``, modelled ones where pairs do not count."""
        table, p = np.column_stack([X, fill]), X.shape[1]
        return self._sums("squared-product", pairs, table, p, p, offset)[1]

    def pair_sums(self, pairs: Pairs, workers: Workers) -> Array:  # noqa: ARG002
        """Return the sums of w, w delta and w delta^2."""
        return self._sums("pair-sums", pairs, np.empty((pairs.n, 0)), 0)[0]

    @cached_property
    def looks(self) -> Any:
        """What each block looked like."""
        return self.crew.looks()

    def survey(self, source: Source, workers: Workers) -> Survey:  # noqa: ARG002
        """Look at every entry once."""
        return together([look.survey for look in self.looks])
