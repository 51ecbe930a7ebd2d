"""Canonical correlations between two tables of the same objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import problem
from .._typing import Array


def _table(data: Any, name: str) -> Array:
    table = np.asarray(data, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(f"{name} must be a table of finite numbers, one row per object; it has shape {table.shape}.")
    return table


def canonical_correlations(X: Any, Y: Any) -> Array:
    """Return the canonical correlations of two tables of the same objects, largest first.

    Parameters
    ----------
    X, Y : array-like of shape (n_objects, n_columns)
        Rows are matched by position; columns without a part of their own add nothing.

    Returns
    -------
    ndarray
        As many correlations as the smaller of the two column spaces has dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import canonical_correlations
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> canonical_correlations(X, 3 - 2 * X).round(6).tolist()
    [1.0]
    """
    X, Y = _table(X, "X"), _table(Y, "Y")
    if len(X) != len(Y):
        raise ValueError(f"X has {len(X)} rows and Y has {len(Y)}; pass one row per object in both.")
    return problem.canonical_correlations(X, Y)


def average_canonical_correlation(X: Any, Y: Any) -> float:
    """Return the mean of the canonical correlations of two tables of the same objects (0 if one is constant).

    With ``X`` a map and the known features side by side and ``Y`` all true features this is the score of the
    papers. It credits the known features with themselves; the map alone against the unknown features is the
    stricter one.

    Parameters
    ----------
    X, Y : array-like of shape (n_objects, n_columns)

    Returns
    -------
    float
    """
    correlations = canonical_correlations(X, Y)
    return float(correlations.mean()) if len(correlations) else 0.0
