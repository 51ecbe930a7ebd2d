"""Cells of the known table with a posterior: missing ones, and those measured with error.

Every parameter is standard normal a priori, so that a model's log prior is minus half its sum of squares; for a cell
with bounds, ``correction`` is added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit, softmax

from .._typing import Array, IntArray
from ..problem import KnownFeatures

# The standard deviation of the logarithms of a missing level's shares: the larger, the nearer it is to one level.
DECIDED = 1.5


@dataclass(frozen=True)
class _Cells:
    """Cells in some rows and columns of the known table."""

    rows: IntArray
    columns: list[int]

    @property
    def at(self) -> tuple[IntArray, IntArray]:
        """The index of the cells in the known table."""
        return self.rows[:, None], np.asarray(self.columns)[None, :]

    def correction(self, x: Array) -> tuple[float, Array | float]:  # noqa: ARG002
        """Return the difference of the log prior from that of a standard normal, and its derivative."""
        return 0.0, 0.0


@dataclass(frozen=True)
class Numbers(_Cells):
    """Cells of one numeric column in standard units: normal about ``mean``, within bounds."""

    mean: Array
    sd: float
    low: Array | float
    high: Array | float
    measured: bool = False  # with error; else missing

    @property
    def size(self) -> int:
        return len(self.rows)

    @cached_property
    def _bounds(self) -> int:
        return int(np.all(np.isfinite(self.low))) + int(np.all(np.isfinite(self.high)))

    def values(self, x: Array) -> Array:
        return self._moved(x)[0][:, None]

    def pull(self, x: Array, gradient: Array) -> Array:
        """Return the gradient in x for one in the values."""
        return np.asarray(gradient[:, 0] * self._moved(x)[1])

    def correction(self, x: Array) -> tuple[float, Array | float]:
        if self._bounds == 0:
            return 0.0, 0.0
        value, slope = self._moved(x)
        z = (value - self.mean) / self.sd
        change, in_x = float(0.5 * np.sum(x**2 - z**2)), x - z * slope / self.sd
        if self._bounds == 1:
            return change, in_x
        return change + float(np.sum(log_expit(x) + log_expit(-x))), in_x + 1.0 - 2.0 * expit(x)

    def _moved(self, x: Array) -> tuple[Array, Array]:
        """Return values and their derivatives in x: folded at a bound, on a logistic curve between two."""
        if self._bounds == 2:
            share = expit(x)
            return self.low + (self.high - self.low) * share, (self.high - self.low) * share * (1.0 - share)
        value = self.mean + self.sd * x
        below, above = value < self.low, value > self.high
        slope = np.where(below | above, -self.sd, self.sd)
        value = np.where(below, 2.0 * self.low - value, np.where(above, 2.0 * self.high - value, value))
        return np.asarray(value), slope


@dataclass(frozen=True)
class Mixtures(_Cells):
    """Missing cells of a feature with levels (or a circle): shares of the levels, whose logarithms are normal."""

    corners: Array

    @property
    def size(self) -> int:
        return len(self.rows) * len(self.corners)

    def values(self, x: Array) -> Array:
        return np.asarray(self._shares(x) @ self.corners)

    def pull(self, x: Array, gradient: Array) -> Array:
        """Return the gradient in x for one in the values."""
        shares, wanted = self._shares(x), gradient @ self.corners.T
        return np.asarray(DECIDED * shares * (wanted - np.sum(shares * wanted, axis=1, keepdims=True))).ravel()

    def _shares(self, x: Array) -> Array:
        return np.asarray(softmax(DECIDED * x.reshape(len(self.rows), len(self.corners)), axis=1))


Cells = Numbers | Mixtures


def uncertain_cells(known: KnownFeatures) -> Iterator[Cells]:
    """Yield the missing cells and those measured with error, feature by feature."""
    for feature in known.features:
        columns = known.columns_of(feature)
        if columns and len(feature.missing):
            corners = known.vertices_of(feature)
            if corners is not None:
                yield Mixtures(feature.missing, columns, corners)
            else:  # values are in standard units: a missing one is distributed as the others are
                nothing = np.zeros(len(feature.missing))
                yield Numbers(feature.missing, columns, nothing, 1.0, *known.bounds_of(feature))
        if columns and columns[0] in known.errors:
            rows = np.setdiff1d(np.arange(len(known.values)), feature.missing)
            given = known.values[rows, columns[0]]
            yield Numbers(rows, columns, given, known.errors[columns[0]], *known.bounds_of(feature), True)
