"""Dissimilarities of all objects to some of them, the landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..kernels import Source, Survey, Workers, survey_pairs


@dataclass(frozen=True)
class LandmarkRows(Source):
    """A square table that holds only the rows and columns of some objects, the landmarks; the rest is missing.

    Made by :class:`Geodesic` with `n_landmarks`. A source, as every estimator with ``metric="precomputed"`` takes it.

    Attributes
    ----------
    strip : ndarray of shape (n_landmarks, n_objects)
        The rows of the landmarks.
    references : ndarray of shape (n_landmarks,)
        Positions of the landmarks, in rising order.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import Geodesic
    >>> paths = Geodesic(n_neighbors=2, n_landmarks=2, random_state=0).fit_transform(np.arange(6.0)[:, None])
    >>> len(paths.references), paths.rows(paths.references).shape
    (2, (2, 6))
    """

    by_number = True
    lists_pairs = True

    strip: Array
    references: IntArray

    @property
    def n(self) -> int:
        return int(self.strip.shape[1])

    def __len__(self) -> int:
        return self.n

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.strip.dtype

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Array:
        """Return a rectangle of the table, NaN where neither object is a landmark."""
        i, j = (np.arange(self.n)[side] for side in (rows, columns))
        own, there = self._landmark(i)
        if there.all():  # the usual case
            return np.asarray(self.strip[np.ix_(own, j)])
        values: Array = np.where(i[:, None] == j, 0.0, np.nan).astype(self.dtype)
        values[there] = self.strip[np.ix_(own[there], j)]
        own, there = self._landmark(j)
        values[:, there] = self.strip[np.ix_(own[there], i)].T
        return values

    def _landmark(self, objects: IntArray) -> tuple[IntArray, Any]:
        """Return the rows of the strip for some objects, and which of the objects are landmarks."""
        at = np.minimum(np.searchsorted(self.references, objects), len(self.references) - 1)
        return at, self.references[at] == objects

    def stored_pairs(self) -> tuple[IntArray, IntArray, Array]:
        """Return the two objects of each pair with a landmark, the lower first, and the dissimilarities."""
        others: Any = np.ones((len(self.references), self.n), dtype=bool)
        # A pair of two landmarks is in two rows.
        others[:, self.references] = self.references[:, None] < self.references
        landmark, other = np.nonzero(others)
        own, delta = self.references[landmark], self.strip[others]
        return np.minimum(own, other), np.maximum(own, other), delta

    def survey(self, workers: Workers) -> Survey:
        """Return a summary of all dissimilarities."""
        *_, delta = self.stored_pairs()
        survey = survey_pairs(delta, delta)
        return survey._replace(missing=survey.missing + self.n * (self.n - 1) // 2 - len(delta))
