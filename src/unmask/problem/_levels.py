"""Measurement levels: which transformations of the dissimilarities have the same meaning.

A level turns fitted distances into disparities: the admissible transformation of the dissimilarities that is nearest to
the distances. All admissible transformations form a cone, so that scaling the nearest one to a fixed sum of squares
gives the nearest one of that size: the map cannot collapse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata

from .._typing import Array, IntArray
from ..checking import Dissimilarities
from ..kernels import ArraySource, square_array
from .linalg import NonNegative

LEVELS = ("ratio", "interval", "ordinal", "spline")
TIES = ("primary", "secondary")
# Knots of the monotone spline are this many quantiles of the dissimilarities.
SPLINE_KNOTS = 5
SPLINE_DEGREE = 2

Level = Callable[[Array], Array]  # the admissible transformation of the dissimilarities that is nearest to distances


def make_level(name: str, ties: str, delta: Array, weights: Array | None) -> Level:
    """Return a level for the dissimilarities and weights of the pairs that count."""
    if name == "ordinal":
        return _primary(delta, weights) if ties == "primary" else _secondary(delta, weights)
    basis = _interval_basis(delta) if name == "interval" else _spline_basis(delta)
    weighted = basis if weights is None else basis * weights[:, None]
    coefficients = NonNegative(basis.T @ weighted)
    return lambda distances: np.asarray(basis @ coefficients.solve(weighted.T @ distances))


def _primary(delta: Array, weights: Array | None) -> Level:
    """Only the order counts; equal dissimilarities may have different disparities (the primary approach to ties)."""
    rank: IntArray = np.unique(delta, return_inverse=True)[1]
    by_rank: IntArray = np.argsort(rank, kind="stable")
    ranks = rank[by_rank].astype(np.float64)
    tied = len(rank) > 0 and int(rank.max()) + 1 < len(rank)

    def disparities(distances: Array) -> Array:
        order = by_rank
        if tied:
            # Only equal dissimilarities change places; their ranks are whole numbers, and the distances fractions of 1.
            # The keys are runs in order already, which a stable sort makes use of.
            own = distances[order]
            keys = ranks + own / (2.0 * max(float(own.max()), 1e-300))
            order = order[np.argsort(keys, kind="stable")]
        fitted = np.empty_like(distances)
        fitted[order] = isotonic_regression(distances[order], weights=None if weights is None else weights[order]).x
        return fitted

    return disparities


def _secondary(delta: Array, weights: Array | None) -> Level:
    """Only the order counts, and equal dissimilarities keep equal disparities (the secondary approach to ties)."""
    rank: IntArray = np.unique(delta, return_inverse=True)[1]
    mass = np.bincount(rank, weights).astype(np.float64)

    def disparities(distances: Array) -> Array:
        means = np.bincount(rank, distances if weights is None else distances * weights) / mass
        return np.asarray(isotonic_regression(means, weights=mass).x[rank])

    return disparities


def _interval_basis(delta: Array) -> Array:
    """Return the functions whose sums are a + b delta with b >= 0, and no disparity below 0."""
    return np.column_stack([np.ones(len(delta)), (delta - delta.min()) / (float(np.ptp(delta)) or 1.0)])


def _spline_basis(delta: Array) -> Array:
    """Return a constant and integrated splines: with coefficients of at least 0 a smooth increasing function."""
    # Tied dissimilarities may share a quantile, and equal knots make splines that fall.
    inner = np.unique(np.quantile(delta, np.linspace(0.0, 1.0, SPLINE_KNOTS)))
    inner = inner if len(inner) > 1 else inner + np.array([0.0, 1.0])
    # Clamped: the first coefficient is the disparity of the smallest dissimilarity. With knots beyond the range it
    # would be a value below it, which is negative for a line through zero.
    knots = np.r_[[inner[0]] * SPLINE_DEGREE, inner, [inner[-1]] * SPLINE_DEGREE]
    splines = BSpline.design_matrix(delta, knots, SPLINE_DEGREE).toarray()
    # The sum of all splines is 1, and that of the last few rises from 0 to 1.
    return np.asarray(np.cumsum(splines[:, ::-1], axis=1)[:, ::-1])


def ranked(dissimilarities: Dissimilarities) -> Dissimilarities:
    """Return the dissimilarities with each pair's rank among all pairs, as a share, in its place; NaN stays.

    Where only the order counts, nothing else of the dissimilarities may reach the starts either.
    """
    values = square_array(dissimilarities.source, "level='ordinal'", "use level='ratio'")
    upper = np.triu_indices(len(values), 1)
    delta = values[upper].astype(np.float64)
    table = np.zeros(values.shape, dtype=values.dtype)
    table[upper] = rankdata(delta, nan_policy="omit") / np.count_nonzero(~np.isnan(delta))
    table.T[upper] = table[upper]
    return replace(dissimilarities, source=ArraySource(table), largest=1.0, sums=None)


class Curve:
    """The fitted transformation as a function: straight lines between the fitted dissimilarities.

    Beyond their range it goes on straight where differences have a meaning, and stays level where only the order has.
    """

    def __init__(self, values: Array, disparities: Array, *, ordinal: bool) -> None:
        upper = np.triu_indices(len(values), 1)
        delta, disparity = values[upper].astype(np.float64), disparities[upper]
        counts = np.isfinite(delta) & np.isfinite(disparity)
        self._delta, inverse = np.unique(delta[counts], return_inverse=True)
        self._disparity = np.bincount(inverse, disparity[counts]) / np.bincount(inverse)
        self._straight = not ordinal and len(self._delta) > 1

    def __call__(self, new: Array) -> Array:
        inside = np.interp(new, self._delta, self._disparity)  # NaN stays NaN
        if not self._straight:
            return np.asarray(inside)
        first, last = (np.diff(self._disparity) / np.diff(self._delta))[[0, -1]]
        below, above = np.minimum(new - self._delta[0], 0.0) * first, np.maximum(new - self._delta[-1], 0.0) * last
        return np.asarray(np.maximum(inside + below + above, 0.0))
