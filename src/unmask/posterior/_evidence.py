"""The observed dissimilarities of the pairs that count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ..kernels import Edges, Pairs, power_of_two_near


class Line(NamedTuple):
    """The line from distances to dissimilarities: a constant, and a slope."""

    constant: float = 0.0
    slope: float = 1.0

    def __call__(self, delta: Array) -> Array:
        return np.asarray((delta - self.constant) / self.slope)

    def back(self, distance: Array) -> Array:
        """Return the dissimilarities for some distances, at least 0."""
        return np.asarray(np.maximum(self.constant + self.slope * distance, 0.0))


@dataclass(frozen=True)
class Evidence:
    """Dissimilarities of pairs of objects and their precisions, which are 1 on average (2: half the variance).

    Pairs without a dissimilarity and pairs without weight are not in the list.
    """

    n: int
    rows: IntArray
    columns: IntArray
    delta: Array
    precision: Array

    @classmethod
    def of(cls, pairs: Pairs | Edges) -> Evidence:
        """Return the pairs of a fit in their own units; weights are taken for precisions."""
        rows, columns, delta, weight = pairs.listed()
        counts = ~np.isnan(delta) & (weight > 0)
        weight = weight[counts]
        return cls(pairs.n, rows[counts], columns[counts], delta[counts], weight / weight.mean())

    def line_to(self, distances: Array) -> Line:
        """Return the line from a table of distances to dissimilarities of the interval level.

        It is the regression of the dissimilarities on the distances, because the noise is in the dissimilarities:
        disparities, which are distances given the dissimilarities, are all too near to each other.
        """
        d = distances[self.rows, self.columns]
        # Squares of very large or small numbers overflow, so both are brought near 1 first.
        to_d, to_delta = (power_of_two_near(float(values.mean())) for values in (d, self.delta))
        slope, constant = np.polyfit(d * to_d, self.delta * to_delta, 1, w=np.sqrt(self.precision))
        if slope <= 0:
            raise ValueError(
                "level='interval': the fitted distances do not rise with the dissimilarities, so that no posterior can "
                "be drawn; use level='ratio'."
            )
        return Line(float(constant) / to_delta, float(slope) * (to_d / to_delta))

    def scaled(self, line: Line) -> tuple[Evidence, float]:
        """Return the dissimilarities on the scale of the distances, divided by their mean, and this mean."""
        delta = line(self.delta)
        unit = float(delta.mean())
        return replace(self, delta=delta / unit), unit

    def table(self, values: Array, others: float) -> Array:
        """Return values of the pairs above the diagonal of a square table; ``others`` for those not observed."""
        square = np.full((self.n, self.n), others)
        square[self.rows, self.columns] = values
        return square
