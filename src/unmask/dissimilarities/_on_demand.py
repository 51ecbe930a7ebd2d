"""Dissimilarities that are computed when they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._typing import Array, IntArray
from ..checking import name_object
from ..kernels import Which
from ._metrics import Family, Names, compare_tile, count, count_missing, take

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OnDemand:
    """The dissimilarities of objects by a metric, each part computed when it is read; made by :meth:`Metric.on_demand`.

    A source, as every estimator with ``metric="precomputed"`` takes it: memory grows with the number of objects, not
    with its square, and every pass over the pairs compares them anew.

    Attributes
    ----------
    n : int
        Number of objects.
    dtype : dtype
        Type of the dissimilarities.
    labels : Index or None
        Labels of the objects, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import Metric
    >>> source = Metric("cityblock").on_demand(np.arange(8.0).reshape(4, 2))
    >>> source.n, source.tile(slice(0, 1), slice(1, 4)).tolist()
    (4, [[4.0, 8.0, 12.0]])
    """

    by_number: ClassVar[bool] = True

    family: Family
    objects: Any
    dtype: np.dtype[Any]
    labels: pd.Index | None = None

    @property
    def n(self) -> int:
        return count(self.objects)

    def tile(self, rows: Which, columns: Which) -> Array:
        """Return a rectangle of the table; rows and columns are slices, or numbers of objects in any order."""
        i, j = (np.arange(*side.indices(self.n)) if isinstance(side, slice) else side for side in (rows, columns))
        values = compare_tile(self.family, take(self.objects, rows), take(self.objects, columns), self.dtype)
        values[i[:, None] == j] = 0.0
        names = Names(lambda at: name_object(self.labels, int(i[at])), lambda at: name_object(self.labels, int(j[at])))
        count_missing(values, self.family, names)
        return values

    def rows(self, which: IntArray) -> Array:
        """Return whole rows of the table, in the order asked for."""
        return self.tile(np.asarray(which), slice(0, self.n))
