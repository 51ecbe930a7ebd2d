"""Dissimilarities against fitted distances, pair by pair and object by object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist, squareform

from .._typing import Array
from ..checking import find_labels, is_unlabelled, require_choice
from ..problem import SCHEMES
from ._inputs import (
    align,
    is_fitted_map,
    read_coordinates,
    read_dissimilarities,
    read_table,
    require_rows,
)

if TYPE_CHECKING:
    import pandas as pd


class Pairs(NamedTuple):
    """Square tables of the pairs among some objects; weights are 0 where a pair does not count."""

    objects: pd.Index
    delta: Array
    disparity: Array  # what the distances are compared with: delta, unless a measurement level transformed it
    distance: Array
    weight: Array


def shepard(dissimilarities: Any, embedding: Any, *, weights: Any = None, metric: Any = "precomputed") -> pd.DataFrame:
    """Return the table behind a Shepard diagram: every pair's dissimilarity and its distance in the fit.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    embedding : fitted estimator, or array-like of shape (n_objects, n_components)
        With an estimator, distances are those it fitted, the part of the known features among them; with a plain map,
        those on the map. Columns ``V B`` beside it add the part of the known features.
    weights : {None, "sammon"} or array-like of shape (n_objects, n_objects), optional
        Weights of the pairs. By default those of the estimator's scheme; an array that was given to its `fit`
        is not kept and must be given here too.
    metric : str, callable or transformer, default="precomputed"
        Makes dissimilarities of a table of features, if one is given instead; as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    DataFrame
        One row per pair: ``i`` and ``j`` (labels), ``dissimilarity``, ``disparity`` (the dissimilarity, transformed by
        `level`), ``distance``, ``residual`` (disparity less distance) and ``weight`` (0 where the dissimilarity is
        missing). More than 20,000 objects are refused.

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import shepard
    >>> kin = load_kinship()
    >>> mds = ConditionalMDS(metric="precomputed", init="closed-form")
    >>> table = shepard(kin.dissimilarities, mds.fit(kin.dissimilarities, known=kin.known[["gender"]]))
    >>> stress = (table["residual"] ** 2).sum() / (table["disparity"] ** 2).sum()
    >>> bool(abs(stress - mds.stress_) < 1e-12)
    True
    """
    import pandas as pd

    pairs = _read_pairs(dissimilarities, embedding, weights, metric)
    i, j = np.triu_indices(len(pairs.delta), 1)
    return pd.DataFrame(
        {
            "i": pairs.objects[i],
            "j": pairs.objects[j],
            "dissimilarity": pairs.delta[i, j],
            "disparity": pairs.disparity[i, j],
            "distance": pairs.distance[i, j],
            "residual": pairs.disparity[i, j] - pairs.distance[i, j],
            "weight": pairs.weight[i, j],
        }
    )


def stress_per_point(
    dissimilarities: Any, embedding: Any, *, weights: Any = None, metric: Any = "precomputed"
) -> pd.DataFrame:
    """Return each object's part of the stress, and its stress relative to its own dissimilarities.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    embedding : fitted estimator, or array-like of shape (n_objects, n_components)
        As in :func:`shepard`.
    weights : {None, "sammon"} or array-like of shape (n_objects, n_objects), optional
        As in :func:`shepard`.
    metric : str, callable or transformer, default="precomputed"
        As in :func:`shepard`.

    Returns
    -------
    DataFrame
        One row per object. ``stress``: its part of the normalised stress, which is the sum of the column.
        ``relative``: its weighted squared residuals divided by its weighted squared dissimilarities (disparities),
        so that objects in the middle and far out can be compared. More than 20,000 objects are refused; a fitted
        estimator has ``stress_per_point_``.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import stress_per_point
    >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> print(stress_per_point(D, [[0.0], [1.0], [2.0]]).round(3))
       stress  relative
    0   0.045       0.1
    1   0.000       0.0
    2   0.045       0.1
    """
    import pandas as pd

    pairs = _read_pairs(dissimilarities, embedding, weights, metric)
    counts = pairs.weight > 0
    squares = np.sum(pairs.weight * np.where(counts, pairs.disparity - pairs.distance, 0.0) ** 2, axis=1)
    own = np.sum(pairs.weight * np.where(counts, pairs.disparity, 0.0) ** 2, axis=1)
    relative = np.divide(squares, own, out=np.full(len(own), np.nan), where=own > 0)
    return pd.DataFrame({"stress": squares / own.sum(), "relative": relative}, index=pairs.objects)


def _read_pairs(dissimilarities: Any, embedding: Any, weights: Any, metric: Any) -> Pairs:
    """Return the pairs of a fit, or of a plain map."""
    import pandas as pd

    fitted = is_fitted_map(embedding) and hasattr(embedding, "predict_dissimilarities")
    weights = getattr(embedding, "weights", None) if fitted and weights is None else weights
    checked = read_dissimilarities(dissimilarities, metric)
    labels, n = checked.labels, checked.n
    delta = checked.array_for("a table of residuals").astype(np.float64)
    if fitted:
        distance = _square(embedding.predict_dissimilarities(), labels, n, "embedding")
        disparity = _square(getattr(embedding, "disparities_", delta), labels, n, "embedding")
    else:
        U = read_coordinates(embedding, labels, n)
        distance, disparity = np.asarray(cdist(U, U)), delta
    weight = np.where(np.isfinite(disparity), _weights(weights, labels, delta), 0.0)
    return Pairs(pd.RangeIndex(n) if labels is None else labels, delta, disparity, distance, weight)


def _square(table: Any, labels: pd.Index | None, n: int, name: str) -> Array:
    """Return a square table with its objects in the order of the dissimilarities."""
    require_rows(table, n, name, "dissimilarities")
    if labels is None or not hasattr(table, "index"):
        return np.asarray(table, dtype=np.float64)
    # Numbers that pandas made up are no labels if the objects have names.
    if not is_unlabelled(table.index) or (find_labels(table.index, labels) >= 0).all():
        table = align(align(table, labels, name, "dissimilarities").T, labels, name, "dissimilarities")
    return np.asarray(table, dtype=np.float64)


def _weights(weights: Any, labels: pd.Index | None, delta: Array) -> Array:
    """Return a square table of weights, 0 on the diagonal and for missing pairs."""
    if weights is None:
        table = np.ones_like(delta)
    elif isinstance(weights, str):
        require_choice("weights", weights, tuple(SCHEMES))
        table = squareform(SCHEMES[weights].of_pairs(squareform(delta, checks=False)))
    else:
        table = read_table(_square(weights, labels, len(delta), "weights"), "weights").values.copy()
        if table.shape != delta.shape or (table < 0).any() or not np.allclose(table, table.T, rtol=1e-5, atol=0.0):
            raise ValueError(
                f"weights has shape {table.shape}; pass a symmetric table of numbers of at least 0, one row and one "
                f"column for each of the {len(delta)} objects."
            )
    table[np.isnan(delta)] = 0.0
    np.fill_diagonal(table, 0.0)
    return table
