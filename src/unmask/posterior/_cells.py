"""Cells of the known table that have a posterior of their own: missing ones, and those measured with error.

Every parameter is standard normal a priori, so that a model's log prior is minus half its sum of squares; where a cell
has bounds, ``correction`` says what else there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit

from .._typing import Array, IntArray
from ..problem import Feature, KnownFeatures

# How far a missing level is from a mixture of all: the standard deviation of the logarithms of its shares.
DECIDED = 1.5


@dataclass(frozen=True)
class Numbers:
    """Cells of one numeric column: normal about ``mean``, within bounds; in standard units."""

    rows: IntArray
    columns: list[int]
    mean: Array
    sd: float
    low: Array | float
    high: Array | float
    measured: bool = False  # with error; else missing

    @cached_property
    def at(self) -> tuple[IntArray, IntArray]:
        """Where the cells are in the known table."""
        return cells_at(self.rows, self.columns)

    @property
    def size(self) -> int:
        return len(self.rows)

    def values(self, x: Array) -> Array:
        return self._moved(x)[0][:, None]

    def pull(self, x: Array, gradient: Array) -> Array:
        """Return the gradient in x for one in the values."""
        return np.asarray(gradient[:, 0] * self._moved(x)[1])

    def correction(self, x: Array) -> tuple[float, Array | float]:
        """Return what the log prior is beside that of a standard normal, and its derivative."""
        if not self._bounded:
            return 0.0, 0.0
        value, slope = self._moved(x)
        z = (value - self.mean) / self.sd
        log_slope, in_x = 0.0, np.zeros_like(x)
        if self._between:
            log_slope, in_x = float(np.sum(log_expit(x) + log_expit(-x))), 1.0 - 2.0 * expit(x)
        return float(0.5 * np.sum(x**2 - z**2)) + log_slope, x - z * slope / self.sd + in_x

    @cached_property
    def _bounded(self) -> bool:
        return bool(np.any(np.isfinite(self.low)) or np.any(np.isfinite(self.high)))

    @cached_property
    def _between(self) -> bool:
        return bool(np.all(np.isfinite(self.low)) and np.all(np.isfinite(self.high)))

    def _moved(self, x: Array) -> tuple[Array, Array]:
        """Return values and their derivatives in x: folded at a bound, on a logistic curve between two."""
        if self._between:
            share = expit(x)
            return self.low + (self.high - self.low) * share, (self.high - self.low) * share * (1.0 - share)
        value = self.mean + self.sd * x
        if not self._bounded:
            return value, np.full(len(x), self.sd)
        below, above = value < self.low, value > self.high
        slope = np.where(below | above, -self.sd, self.sd)
        value = np.where(below, 2.0 * self.low - value, np.where(above, 2.0 * self.high - value, value))
        return np.asarray(value), slope


@dataclass(frozen=True)
class Mixtures:
    """Missing cells of a feature with levels (or a circle): shares of the levels, whose logarithms are normal."""

    rows: IntArray
    columns: list[int]
    corners: Array

    @cached_property
    def at(self) -> tuple[IntArray, IntArray]:
        """Where the cells are in the known table."""
        return cells_at(self.rows, self.columns)

    @property
    def size(self) -> int:
        return len(self.rows) * len(self.corners)

    def values(self, x: Array) -> Array:
        return np.asarray(self._shares(x) @ self.corners)

    def pull(self, x: Array, gradient: Array) -> Array:
        """Return the gradient in x for one in the values."""
        shares, wanted = self._shares(x), gradient @ self.corners.T
        return np.asarray(DECIDED * shares * (wanted - np.sum(shares * wanted, axis=1, keepdims=True))).ravel()

    def correction(self, x: Array) -> tuple[float, Array | float]:  # noqa: ARG002
        """Return what the log prior is beside that of a standard normal, and its derivative: nothing."""
        return 0.0, 0.0

    def _shares(self, x: Array) -> Array:
        logits = DECIDED * x.reshape(len(self.rows), len(self.corners))
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


Cells = Numbers | Mixtures


def cells_at(rows: IntArray, columns: list[int]) -> tuple[IntArray, IntArray]:
    """Return an index of all cells in some rows and columns."""
    return rows[:, None], np.asarray(columns)[None, :]


def uncertain_cells(known: KnownFeatures) -> Iterator[Cells]:
    """Return the cells that are not known for sure, feature by feature."""
    for feature in known.features:
        columns = known.columns_of(feature)
        if columns and len(feature.missing):
            yield _missing(known, feature, columns)
        if columns and columns[0] in known.errors:
            rows = np.setdiff1d(np.arange(len(known.values)), feature.missing)
            given = known.values[rows, columns[0]]
            yield Numbers(rows, columns, given, known.errors[columns[0]], *known.bounds_of(feature), True)


def _missing(known: KnownFeatures, feature: Feature, columns: list[int]) -> Cells:
    corners = known.vertices_of(feature)
    if corners is not None:
        return Mixtures(feature.missing, columns, corners)
    # Values are in standard units: a missing one is as the others are.
    return Numbers(feature.missing, columns, np.zeros(len(feature.missing)), 1.0, *known.bounds_of(feature))
