"""Dissimilarities against fitted distances, pair by pair and object by object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist, squareform

from .._typing import Array
from ..checking import find_labels, is_unlabelled, require_choice
from ..problem import SCHEMES
from ._inputs import align, is_fitted_map, labels_or_numbers, read_aligned, read_dissimilarities, require_rows

if TYPE_CHECKING:
    import pandas as pd


class Pairs(NamedTuple):
    """Square tables of the pairs among some objects; weights are 0 where a pair does not count."""

    objects: pd.Index
    dissimilarity: Array
    disparity: Array  # what the distances are compared with: the dissimilarity, unless a level transformed it
    distance: Array
    weight: Array


def shepard(dissimilarities: Any, embedding: Any, *, weights: Any = None, metric: Any = "precomputed") -> pd.DataFrame:
    """Return the table behind a Shepard diagram: the dissimilarity and the fitted distance of every pair.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing. More than 20,000 objects are refused.
    embedding : fitted estimator, or array-like of shape (n_objects, n_components)
        An estimator has fitted distances, which include the known features; other distances are those on the map.
    weights : {None, "sammon"} or array-like of shape (n_objects, n_objects), optional
        Weights of the pairs, by default by the estimator's scheme. An array that was given to its `fit` must be given
        here too.
    metric : str, callable or transformer, default="precomputed"
        Computes dissimilarities from features, if these are given instead; as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    DataFrame
        One row per pair: ``i`` and ``j`` (labels), ``dissimilarity``, ``disparity`` (transformed by `level`),
        ``distance``, ``residual`` (disparity less distance) and ``weight`` (0 for a missing pair).

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

    objects, *tables, weight = _read_pairs(dissimilarities, embedding, weights, metric)
    i, j = np.triu_indices(len(objects), 1)
    columns = dict(zip(Pairs._fields[1:-1], (table[i, j] for table in tables), strict=True))
    residual = columns["disparity"] - columns["distance"]
    return pd.DataFrame({"i": objects[i], "j": objects[j], **columns, "residual": residual, "weight": weight[i, j]})


def stress_per_point(
    dissimilarities: Any, embedding: Any, *, weights: Any = None, metric: Any = "precomputed"
) -> pd.DataFrame:
    """Return each object's part of the stress, and its stress relative to its own dissimilarities.

    Parameters
    ----------
    dissimilarities, embedding, weights, metric
        As in :func:`shepard`. A fitted estimator has ``stress_per_point_``.

    Returns
    -------
    DataFrame
        One row per object. ``stress``: its part of the normalised stress, which is the sum of the column.
        ``relative``: its weighted squared residuals divided by its weighted squared dissimilarities (disparities),
        which can be compared between objects in the middle and far out.

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
    fitted = is_fitted_map(embedding) and hasattr(embedding, "predict_dissimilarities")
    weights = getattr(embedding, "weights", None) if fitted and weights is None else weights
    checked = read_dissimilarities(dissimilarities, metric)
    labels, n = checked.labels, checked.n
    delta = checked.array_for("a table of residuals").astype(np.float64)
    if fitted:
        distance = _square(embedding.predict_dissimilarities(), labels, n, "embedding")
        disparity = _square(getattr(embedding, "disparities_", delta), labels, n, "embedding")
    else:
        U = read_aligned(embedding, labels, n, "embedding").values
        distance, disparity = np.asarray(cdist(U, U)), delta
    weight = np.where(np.isfinite(disparity), _weights(weights, labels, delta), 0.0)
    return Pairs(labels_or_numbers(labels, n), delta, disparity, distance, weight)


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
        table = _square(weights, labels, len(delta), "weights")
        proper = table.shape == delta.shape and ((table >= 0) & (table < np.inf)).all()
        if not (proper and np.allclose(table, table.T, rtol=1e-5, atol=0.0)):
            raise ValueError(
                f"weights has shape {table.shape}; pass a symmetric table of numbers of at least 0, one row and one "
                f"column for each of the {len(delta)} objects."
            )
    table = np.where(np.isnan(delta), 0.0, table)
    np.fill_diagonal(table, 0.0)
    return table
