"""Measurement levels: which transformations of the dissimilarities say the same.

A level turns fitted distances into disparities: the admissible transformation of the dissimilarities that is nearest to
the distances. All admissible transformations form a cone, so that scaling the nearest one to a fixed sum of squares
gives the nearest one of that size: the map cannot collapse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import isotonic_regression

from .._typing import Array, IntArray
from ..checking import Dissimilarities
from ..kernels import ArraySource, square_array
from .linalg import NonNegative

LEVELS = ("ratio", "interval", "ordinal", "spline")
TIES = ("primary", "secondary")
# Knots of the monotone spline are this many quantiles of the dissimilarities.
SPLINE_KNOTS = 5
SPLINE_DEGREE = 2


class Level(Protocol):
    """Fits disparities of pairs to distances."""

    def __call__(self, distances: Array) -> Array:
        """Return the admissible transformation of the dissimilarities nearest to the distances."""


class OrdinalPrimary:
    """Only the order counts; equal dissimilarities may have different disparities (the primary approach to ties)."""

    def __init__(self, delta: Array, weights: Array | None) -> None:
        rank: IntArray = np.unique(delta, return_inverse=True)[1]
        self._order: IntArray = np.argsort(rank, kind="stable")
        self._rank = rank[self._order].astype(np.float64)
        self._tied = len(rank) > 0 and int(rank.max()) + 1 < len(rank)
        self._weights = weights

    def __call__(self, distances: Array) -> Array:
        order = self._order
        if self._tied:
            # Only equal dissimilarities change places; their ranks are whole numbers, and the distances fractions of 1.
            # The keys are runs in order already, which a stable sort makes use of.
            own = distances[order]
            keys = self._rank + own / (2.0 * max(float(own.max()), 1e-300))
            order = order[np.argsort(keys, kind="stable")]
        weights = None if self._weights is None else self._weights[order]
        fitted = np.empty_like(distances)
        fitted[order] = isotonic_regression(distances[order], weights=weights).x
        return fitted


class OrdinalSecondary:
    """Only the order counts, and equal dissimilarities keep equal disparities (the secondary approach to ties)."""

    def __init__(self, delta: Array, weights: Array | None) -> None:
        self._rank: IntArray = np.unique(delta, return_inverse=True)[1]
        self._weights = weights
        self._mass = np.bincount(self._rank, weights).astype(np.float64)

    def __call__(self, distances: Array) -> Array:
        weighted = distances if self._weights is None else distances * self._weights
        means = np.bincount(self._rank, weighted) / self._mass
        return np.asarray(isotonic_regression(means, weights=self._mass).x[self._rank])


class _Combination:
    """Non-negative combinations of a few increasing functions of the dissimilarities."""

    basis: Array

    def __init__(self, delta: Array, weights: Array | None) -> None:
        self._learn(delta)
        self.basis = self._functions(delta)
        self._weighted = self.basis if weights is None else self.basis * weights[:, None]
        self._coefficients = NonNegative(self.basis.T @ self._weighted)

    def _learn(self, delta: Array) -> None:
        raise NotImplementedError

    def _functions(self, delta: Array) -> Array:
        raise NotImplementedError

    def __call__(self, distances: Array) -> Array:
        return np.asarray(self.basis @ self._coefficients.solve(self._weighted.T @ distances))


class Interval(_Combination):
    """a + b delta with b >= 0, and no disparity below 0."""

    def _learn(self, delta: Array) -> None:
        self._smallest, self._width = float(delta.min()), float(np.ptp(delta)) or 1.0

    def _functions(self, delta: Array) -> Array:
        return np.column_stack([np.ones(len(delta)), (delta - self._smallest) / self._width])


class MonotoneSpline(_Combination):
    """A smooth increasing function: a constant and integrated splines, each with a coefficient of at least 0."""

    def _learn(self, delta: Array) -> None:
        # Tied dissimilarities may share a quantile, and equal knots make splines that fall.
        inner = np.unique(np.quantile(delta, np.linspace(0.0, 1.0, SPLINE_KNOTS)))
        inner = inner if len(inner) > 1 else inner + np.array([0.0, 1.0])
        # Clamped: the first coefficient is the disparity of the smallest dissimilarity. With knots beyond the range it
        # would be a value below it, which a line through zero has negative.
        self._knots = np.r_[[inner[0]] * SPLINE_DEGREE, inner, [inner[-1]] * SPLINE_DEGREE]

    def _functions(self, delta: Array) -> Array:
        splines = BSpline.design_matrix(delta, self._knots, SPLINE_DEGREE).toarray()
        # The sum of all splines is 1, and that of the last few rises from 0 to 1.
        return np.asarray(np.cumsum(splines[:, ::-1], axis=1)[:, ::-1])


def make_level(name: str, ties: str, delta: Array, weights: Array | None) -> Level:
    """Return a level for the dissimilarities and weights of the pairs that count."""
    levels: dict[str, Any] = {
        "interval": Interval,
        "ordinal": OrdinalPrimary if ties == "primary" else OrdinalSecondary,
        "spline": MonotoneSpline,
    }
    level: Level = levels[name](delta, weights)
    return level


def ranked(dissimilarities: Dissimilarities) -> Dissimilarities:
    """Put each pair's rank among all pairs, as a share, in the place of its dissimilarity; NaN stays.

    Where only the order counts, nothing else of the dissimilarities may reach the starts either.
    """
    from scipy.stats import rankdata

    values = square_array(dissimilarities.source, "level='ordinal'", "use level='ratio'")
    upper = np.triu_indices(len(values), 1)
    delta = values[upper].astype(np.float64)
    ranks = rankdata(delta, nan_policy="omit") / np.count_nonzero(~np.isnan(delta))
    table = np.zeros(values.shape, dtype=values.dtype)
    table[upper] = ranks
    table.T[upper] = ranks
    return replace(dissimilarities, source=ArraySource(table), largest=1.0, sums=None)


class Curve:
    """The transformation that was found, as a function: straight lines between the fitted dissimilarities.

    Beyond their range it goes on straight where differences mean something, and stays level where only the order does.
    """

    def __init__(self, values: Array, disparities: Array, *, ordinal: bool) -> None:
        upper = np.triu_indices(len(values), 1)
        delta, disparity = values[upper].astype(np.float64), disparities[upper]
        counts = np.isfinite(delta) & np.isfinite(disparity)
        self._delta, inverse = np.unique(delta[counts], return_inverse=True)
        self._disparity = np.bincount(inverse, disparity[counts]) / np.bincount(inverse)
        self._ordinal = ordinal

    def __call__(self, new: Array) -> Array:
        inside = np.interp(new, self._delta, self._disparity)  # NaN stays NaN
        if self._ordinal or len(self._delta) < 2:
            return np.asarray(inside)
        below = np.minimum(new - self._delta[0], 0.0) * self._slope(0)
        above = np.maximum(new - self._delta[-1], 0.0) * self._slope(-2)
        return np.asarray(np.maximum(inside + below + above, 0.0))

    def _slope(self, at: int) -> float:
        return float((self._disparity[at + 1] - self._disparity[at]) / (self._delta[at + 1] - self._delta[at]))
