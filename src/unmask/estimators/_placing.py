"""Placing new objects on a fitted map by their dissimilarities to the fitted objects."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._typing import Array, IntArray
from ..checking import known_by_name, labels_of, new_dissimilarities, new_rows, with_labels
from ..cluster import is_dask_array, is_dask_frame, over_parts
from ..dissimilarities import compare_new, rows_of_new
from ..kernels import Workers, resolve_threads, strip_height
from ..problem import SCHEMES, Curve
from ._fitted_map import FittedMap
from ._reading import read_tables

if TYPE_CHECKING:
    import pandas as pd

# New objects farther away than this, in units of the fit, would make their squares infinite.
FARTHEST = 1e50


@dataclass(frozen=True, eq=False)
class StressPlacer:
    """Minimises the stress of one new object at a time, while the fitted objects stay where they are."""

    fingerprints: Array  # of each partner's row of dissimilarities: a fitted object returns to its own point
    scheme: str | None
    floor: float
    curve: Curve | None
    partners: IntArray  # the fitted objects that new ones are placed by
    takes_missing = True  # dissimilarities

    def aims(self, delta: Array) -> Array:
        """Return dissimilarities, in the user's units, on the scale of the fitted distances."""
        # No dissimilarity at all means the same object, whatever the transformation makes of small ones.
        return delta if self.curve is None else np.where(delta == 0.0, 0.0, self.curve(delta))

    def place(self, fitted: FittedMap, delta: Array, known_map: Array, first: int, n_jobs: int | None) -> Array:
        """Return coordinates on the free map, all in the units of the fit; ``first`` numbers the new objects."""
        weight, missing = SCHEMES[self.scheme].weigh(delta, self.floor), np.isnan(delta)
        if missing.any():
            weight[missing], delta = 0.0, np.where(missing, 0.0, delta)
        empty = np.flatnonzero(missing.all(axis=1))
        if len(empty):
            raise ValueError(
                f"new object {first + empty[0]} has no dissimilarity to any fitted object (all are NaN); leave it out."
            )
        tables = [table[self.partners] for table in (fitted.U, fitted.known_map, fitted.known_given)]
        with Workers(resolve_threads(n_jobs)) as workers:
            placed: Array = kernels.placing.place(delta, weight, known_map, *tables, self.fingerprints, workers)
        return placed


@dataclass(frozen=True, eq=False)
class GowerPlacer:
    """Projects onto the axes of the closed form (Gower 1968): u = -1/2 Lambda^-1 U'(delta^2 - c - column means)."""

    mean_squares: Array  # column means of the squared dissimilarities less the known part
    partners: IntArray
    takes_missing = False

    def aims(self, delta: Array) -> Array:
        return delta

    def place(self, fitted: FittedMap, delta: Array, known_map: Array, first: int, n_jobs: int | None) -> Array:
        values = np.sum(fitted.U**2, axis=0)
        axes = np.divide(fitted.U, values, out=np.zeros_like(fitted.U), where=values > 1e-12 * values.max(initial=0.0))
        c = squared_distances(known_map, fitted.known_map)
        return np.asarray(-0.5 * (delta**2 - c - self.mean_squares) @ axes)


class NewObjects(NamedTuple):
    """New objects: their dissimilarities to the fitted ones and their known features, also as coordinates."""

    parts: Iterator[Array]  # of the dissimilarities, some rows at a time
    V: Array
    known_map: Array
    labels: pd.Index | None
    dtype: Any


def transform(self: Any, X: Any, *, known: Any = None) -> Array:
    """Place new objects on the fitted map.

    Parameters
    ----------
    X : array-like of shape (n_new, n_objects), or (n_new, n_features)
        Dissimilarities of the new objects to the fitted ones (``metric="precomputed"``; a DataFrame's columns are
        matched by label), or their features. Of an array or a table of Dask, parts are placed where they lie.
    known : array-like of shape (n_new, n_known), optional
        Known features of the new objects; needed when the map was fitted with known features.

    Returns
    -------
    ndarray of shape (n_new, n_components)
        Coordinates on the map; an array of Dask, not computed yet, if `X` is one. A fitted object returns to its own
        point. Pairs are weighted by the scheme of the fit, and equally after a fit with an array of weights.
    """
    check_is_fitted(self)
    if is_dask_array(X) or is_dask_frame(X):
        # Parts are placed side by side, by a copy that returns plain arrays and keeps to one thread.
        alone = copy(self).set_params(n_jobs=1).set_output(transform="default")
        X, known = known_by_name(X, known, features=not self.__sklearn_tags__().input_tags.pairwise)

        def place_part(part: Any, known: Any) -> Array:
            return np.asarray(alone.transform(part, known=known))

        parts: Array = over_parts(place_part, X, known, self.embedding_.shape[1], self.embedding_.dtype)
        return parts
    fitted, new = self._map, read_new(self, X, known)
    U: Array = np.empty((len(new.V), fitted.n_free))
    first = 0
    for delta in new.parts:
        rows = slice(first, first + len(delta))
        U[rows] = fitted.placer.place(fitted, _scaled(fitted, delta), new.known_map[rows], first, self.n_jobs)
        first = rows.stop
    if fitted.adjusted:
        U = fitted.regression.residuals(U, new.V) @ fitted.regression.turn
    placed: Array = with_labels(self, (U / fitted.scale).astype(new.dtype), new.labels)
    return placed


def read_new(estimator: Any, X: Any, known: Any) -> NewObjects:
    """Return checked new objects."""
    fitted: FittedMap = estimator._map
    n, check = len(fitted.U), partial(_check_new, fitted)
    X, known = read_tables(estimator, X, known)
    if estimator.__sklearn_tags__().input_tags.pairwise:
        X = new_rows(X, fitted.labels, n)
    if fitted.transformer is not None:
        compared = compare_new(fitted.transformer, X, strip_height(n), check)
    else:
        rows = new_dissimilarities(X, fitted.labels, n, type(estimator).__name__, check)
        compared = rows_of_new(rows, strip_height(n))
    labels = labels_of(X)
    V = fitted.known.of_new(known, compared.n, labels)
    return NewObjects(compared.parts, V, V @ fitted.roots, labels, compared.dtype)


def _scaled(fitted: FittedMap, delta: Array) -> Array:
    """Return new dissimilarities to the partners, in the units of the fit."""
    # A metric compares with the objects that were kept; dissimilarities are to all fitted ones.
    if delta.shape[1] != len(fitted.placer.partners):
        delta = delta[:, fitted.placer.partners]
    return np.asarray(fitted.placer.aims(delta.astype(np.float64, copy=False)) * fitted.scale)


def predictive_score(fitted: FittedMap, new: NewObjects, n_jobs: int | None) -> float:
    """Return 1 less the share of new dissimilarities' sum of squares that is not predicted.

    Every object is placed twice, by one half of the partners, and its dissimilarities to the other half are predicted.
    """
    placer = fitted.placer
    delta = np.concatenate([_scaled(fitted, part) for part in new.parts])
    half = np.arange(delta.shape[1]) % 2 == 0
    missed = total = 0.0
    for used in (half, ~half):
        rows = ~np.isnan(delta[:, used]).all(axis=1)  # an object needs something to be placed by
        own, known_part = delta[rows], new.known_map[rows]
        placed = placer.place(fitted, np.where(used, own, np.nan), known_part, 0, n_jobs)
        squares = squared_distances(placed, fitted.U[placer.partners])
        squares += squared_distances(known_part, fitted.known_map[placer.partners])
        missed += float(np.nansum((np.sqrt(squares) - own)[:, ~used] ** 2))
        total += float(np.nansum(own[:, ~used] ** 2))
    return 1.0 - missed / total if total > 0 else 1.0


def _check_new(fitted: FittedMap, values: Array) -> None:
    """Raise on dissimilarities of new objects that cannot be used."""
    if not fitted.placer.takes_missing and np.isnan(values).any():
        raise ValueError("the new dissimilarities have NaN and the closed form needs all of them; use ConditionalMDS.")
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


def squared_distances(new: Array, fitted: Array) -> Array:
    """Return squared distances between rows; 0 for tables without columns, which cdist does not take."""
    return cdist(new, fitted, "sqeuclidean") if new.shape[1] else np.zeros((len(new), len(fitted)))
