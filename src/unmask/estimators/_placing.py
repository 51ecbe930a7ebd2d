"""Placing new objects on a fitted map by their dissimilarities to the fitted objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from .. import kernels
from .._typing import Array
from ..checking import labels_of, new_dissimilarities
from ..dissimilarities import compare_new, rows_of_new
from ..kernels import Which, Workers, resolve_threads, strip_height
from ..problem import SCHEMES, Curve
from ._fitted_map import FittedMap

if TYPE_CHECKING:
    import pandas as pd

# New objects farther away than this, in units of the fit, would make their squares infinite.
FARTHEST = 1e50


class Placer(Protocol):
    """Finds the places of new objects. Dissimilarities and places are in the units of the fit."""

    partners: Which  # the fitted objects that new ones are placed by
    takes_missing: bool  # dissimilarities

    def aims(self, delta: Array) -> Array:
        """Return dissimilarities, in the user's units, on the scale of the fitted distances."""

    def place(self, delta: Array, known_map: Array, first: int, n_jobs: int | None) -> Array:
        """Return coordinates of new objects on the free map; ``first`` is the number of the first one."""


@dataclass(frozen=True, eq=False)
class StressPlacer:
    """Minimises the stress of one new object at a time, while the fitted objects stay where they are."""

    U: Array
    known_map: Array
    known_given: Array
    fingerprints: Array  # of each partner's row of dissimilarities: a fitted object returns to its own point
    scheme: str | None
    floor: float
    curve: Curve | None = None
    partners: Which = field(default_factory=lambda: slice(None))
    takes_missing = True

    def aims(self, delta: Array) -> Array:
        # No dissimilarity at all means the same object, whatever the transformation makes of small ones.
        return delta if self.curve is None else np.where(delta == 0.0, 0.0, self.curve(delta))

    def place(self, delta: Array, known_map: Array, first: int, n_jobs: int | None) -> Array:
        weight, missing = SCHEMES[self.scheme].weigh(delta, self.floor), np.isnan(delta)
        if missing.any():
            weight[missing], delta = 0.0, np.where(missing, 0.0, delta)
        empty = np.flatnonzero(missing.all(axis=1))
        if len(empty):
            raise ValueError(
                f"new object {first + empty[0]} has no dissimilarity to any fitted object (all are NaN); leave it out."
            )
        fitted = self.U, self.known_map, self.known_given, self.fingerprints
        with Workers(resolve_threads(n_jobs)) as workers:
            placed: Array = kernels.placing.place(delta, weight, known_map, *fitted, workers)
        return placed


@dataclass(frozen=True, eq=False)
class GowerPlacer:
    """Projects onto the axes of the closed form (Gower 1968): u = -1/2 Lambda^-1 U'(delta^2 - c - column means)."""

    U: Array
    known_map: Array
    mean_squares: Array  # column means of the squared dissimilarities less the known part
    partners: Which = field(default_factory=lambda: slice(None))
    takes_missing = False

    def aims(self, delta: Array) -> Array:
        return delta

    def place(self, delta: Array, known_map: Array, first: int, n_jobs: int | None) -> Array:
        values = np.sum(self.U**2, axis=0)
        axes = np.divide(self.U, values, out=np.zeros_like(self.U), where=values > 1e-12 * values.max(initial=0.0))
        c = squared_distances(known_map, self.known_map)
        return np.asarray(-0.5 * (delta**2 - c - self.mean_squares) @ axes)


class NewObjects(NamedTuple):
    """New objects: their dissimilarities to the fitted ones and their known features, also as coordinates."""

    parts: Iterator[Array]  # of the dissimilarities, some rows at a time
    V: Array
    known_map: Array
    labels: pd.Index | None
    dtype: Any


def read_new(fitted: FittedMap, X: Any, known: Any, name: str) -> NewObjects:
    """Return checked new objects; ``name`` is that of the estimator."""
    height, check = strip_height(len(fitted.U)), _check_of(fitted)
    if fitted.transformer is not None:
        compared = compare_new(fitted.transformer, X, height, check)
    else:
        compared = rows_of_new(new_dissimilarities(X, fitted.labels, len(fitted.U), name, check), height)
    labels = labels_of(X)
    V = fitted.known.of_new(known, compared.n, labels)
    return NewObjects(compared.parts, V, V @ fitted.roots, labels, compared.dtype)


def scaled(fitted: FittedMap, delta: Array) -> Array:
    """Return new dissimilarities to the partners, in the units of the fit."""
    # A metric compares with the objects that were kept; dissimilarities are to all fitted ones.
    if delta.shape[1] == len(fitted.U):
        delta = delta[:, fitted.placer.partners]
    return np.asarray(fitted.placer.aims(delta.astype(np.float64, copy=False)) * fitted.scale)


def place(fitted: FittedMap, new: NewObjects, n_jobs: int | None) -> Array:
    """Return the places of new objects on the map that is shown, in the user's units."""
    U: Array = np.empty((len(new.V), fitted.U.shape[1]))
    first = 0
    for delta in new.parts:
        rows = slice(first, first + len(delta))
        U[rows] = fitted.placer.place(scaled(fitted, delta), new.known_map[rows], first, n_jobs)
        first = rows.stop
    if fitted.adjustment is not None:
        U = fitted.adjustment(U, new.V)
    return np.asarray((U / fitted.scale).astype(new.dtype))


def predictive_score(fitted: FittedMap, new: NewObjects, n_jobs: int | None) -> float:
    """Return 1 less the share of new dissimilarities' sum of squares that is not predicted.

    Every object is placed twice, by one half of the partners, and its dissimilarities to the other half are predicted.
    """
    U, V = fitted.placer.U, fitted.placer.known_map
    delta = np.concatenate([scaled(fitted, part) for part in new.parts])
    half = np.arange(len(U)) % 2 == 0
    missed = total = 0.0
    for used in (half, ~half):
        rows = ~np.isnan(delta[:, used]).all(axis=1)  # an object needs something to be placed by
        own, known_part = delta[rows], new.known_map[rows]
        placed = fitted.placer.place(np.where(used, own, np.nan), known_part, 0, n_jobs)
        squares = squared_distances(placed, U) + squared_distances(known_part, V)
        missed += float(np.nansum((np.sqrt(squares) - own)[:, ~used] ** 2))
        total += float(np.nansum(own[:, ~used] ** 2))
    return 1.0 - missed / total if total > 0 else 1.0


def _check_of(fitted: FittedMap) -> Callable[[Array], None]:
    """Return a function that raises on dissimilarities of new objects that cannot be used."""

    def check(values: Array) -> None:
        if not fitted.placer.takes_missing and np.isnan(values).any():
            raise ValueError(
                "the new dissimilarities have NaN and the closed form needs all of them; use ConditionalMDS."
            )
        wrong = np.isinf(values) | (values < 0)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"the new dissimilarities have {values[i, j]:g} in row {i}, column {j}; they must be finite and >= 0."
            )
        if float(np.nanmax(values, initial=0.0)) * fitted.scale > FARTHEST:  # which a single-precision number is not
            raise ValueError(
                f"the new dissimilarities reach {np.nanmax(values):g}, which is more than {FARTHEST:g} times the "
                "fitted ones; pass them in the same units."
            )

    return check


def squared_distances(new: Array, fitted: Array) -> Array:
    """Return squared distances between rows; 0 for tables without columns, which cdist does not take."""
    return cdist(new, fitted, "sqeuclidean") if new.shape[1] else np.zeros((len(new), len(fitted)))
