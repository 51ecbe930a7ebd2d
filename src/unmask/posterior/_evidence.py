"""The observed dissimilarities of the pairs that count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ..kernels import Edges, Pairs, power_of_two_near


class Line(NamedTuple):
    """The line from distances to dissimilarities: a constant, and a unit."""

    constant: float = 0.0
    slope: float = 1.0

    def __call__(self, delta: Array) -> Array:
        return np.asarray((delta - self.constant) / self.slope)

    def back(self, distance: Array) -> Array:
        """Return the dissimilarities for some distances, at least 0."""
        return np.asarray(np.maximum(self.constant + self.slope * distance, 0.0))


@dataclass(frozen=True)
class Evidence:
    """Dissimilarities of pairs of objects, and how precise each is: 1 on average, twice that for half the variance.

    Pairs without a dissimilarity and pairs without weight are not in the list.
    """

    n: int
    rows: IntArray
    columns: IntArray
    delta: Array
    precision: Array

    @classmethod
    def of(cls, pairs: Pairs | Edges) -> Evidence:
        """Read the pairs that a fit passes over, in their own units; weights are taken for precisions."""
        rows, columns, delta, weight = pairs.listed()
        counts = ~np.isnan(delta) & (weight > 0)
        weight = weight[counts]
        return cls(pairs.n, rows[counts], columns[counts], delta[counts], weight / weight.mean())

    def line_to(self, distances: Array) -> Line:
        """Return the line that brings dissimilarities of the interval level onto the scale of a table of distances.

        The line through the dissimilarities given the distances, in this direction because the noise is theirs:
        disparities, which are distances given the dissimilarities, are all too near to each other.
        """
        d = distances[self.rows, self.columns]
        # Squares of very large or small numbers overflow, so both are brought near 1 first.
        to_d, to_delta = power_of_two_near(float(d.mean())), power_of_two_near(self.unit)
        slope, constant = np.polyfit(d * to_d, self.delta * to_delta, 1, w=np.sqrt(self.precision))
        if slope <= 0:
            raise ValueError(
                "level='interval': the fitted distances do not rise with the dissimilarities, so that no posterior can "
                "be drawn; use level='ratio'."
            )
        return Line(float(constant) / to_delta, float(slope) * (to_d / to_delta))

    def on(self, line: Line) -> Evidence:
        """Return the same pairs on another scale."""
        return replace(self, delta=line(self.delta))

    def table(self, values: Array, others: float) -> Array:
        """Return values of the pairs above the diagonal of a square table; ``others`` for those not observed."""
        found = np.full((self.n, self.n), others)
        found[self.rows, self.columns] = values
        return found

    @property
    def unit(self) -> float:
        """The mean dissimilarity, in which the model measures."""
        return float(self.delta.mean())

    def scaled(self) -> Evidence:
        """Return the same with a mean dissimilarity of 1."""
        return replace(self, delta=self.delta / self.unit)
