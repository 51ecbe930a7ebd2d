"""Correlations between tables of the same objects, such as a map and the true features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import quote
from ..problem import linalg
from ..problem.leak import linear_leak
from ._inputs import LabelledTable, code_known, read_pair, read_table

if TYPE_CHECKING:
    import pandas as pd


def canonical_correlations(X: Any, Y: Any) -> Array:
    """Return the canonical correlations of two tables of the same objects, largest first.

    Parameters
    ----------
    X, Y : array-like of shape (n_objects, n_columns), or fitted estimator
        Rows are matched by label where both have labels, else by position; columns without a part of their own add
        nothing. Of an estimator its map is taken.

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
    one, other = read_pair(X, Y, ("X", "Y"))
    return linalg.canonical_correlations(one.values, other.values)


def average_canonical_correlation(X: Any, Y: Any) -> float:
    """Return the mean of the canonical correlations of two tables of the same objects (0 if one is constant).

    With ``X`` a map and the known features side by side and ``Y`` all true features this is the score of the
    papers. It credits the known features with themselves; the map alone against the unknown features is the
    stricter one. :func:`recovery` gives both.

    Parameters
    ----------
    X, Y : array-like of shape (n_objects, n_columns), or fitted estimator
        As in :func:`canonical_correlations`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import average_canonical_correlation
    >>> round(average_canonical_correlation(np.eye(4)[:, :2], np.eye(4)[:, :1]), 6)
    1.0
    """
    return average(canonical_correlations(X, Y))


def average(correlations: Array) -> float:
    """Return the mean; 0 if there are no correlations."""
    return float(correlations.mean()) if len(correlations) else 0.0


def abs_correlations(embedding: Any, features: Any) -> pd.DataFrame:
    """Return the absolute correlation of each axis of a map with each feature.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map.
    features : array-like of shape (n_objects, n_features)
        Numbers, none missing. For categories and gaps see :func:`name_axes`.

    Returns
    -------
    DataFrame of shape (n_components, n_features)
        NaN where the axis or the feature is constant.

    Examples
    --------
    >>> import pandas as pd
    >>> from unmask.inspection import abs_correlations
    >>> features = pd.DataFrame({"size": [3.0, 2.0, 1.0], "age": [1.0, 5.0, 1.0]})
    >>> print(abs_correlations([[1.0], [2.0], [3.0]], features).round(6))
           size  age
    axis1   1.0  0.0
    """
    import pandas as pd

    axes, table = read_pair(embedding, features, ("embedding", "features"), ("axis", "feature"))
    correlations = np.abs(standard_units(axes.values).T @ standard_units(table.values))
    return pd.DataFrame(np.minimum(correlations, 1.0), index=axes.names, columns=table.names)


def standard_units(values: Array) -> Array:
    """Return columns with mean 0 and length 1; NaN where a column is constant up to rounding."""
    centred = values - values.mean(axis=0)
    size = np.abs(centred).max(axis=0, initial=0.0)
    constant = size <= 8 * np.finfo(float).eps * np.abs(values).max(axis=0, initial=0.0)
    centred = centred / np.where(constant, 1.0, size)  # before squaring, which may overflow
    length = np.where(constant, np.nan, np.sqrt(np.sum(centred**2, axis=0)))
    return np.asarray(centred / length)


def leak(embedding: Any, known: Any, *, known_types: dict[Any, Any] | None = None) -> float:
    """Return the leak: the average canonical correlation of a map with the known features.

    Near 1 the map repeats the known features. With q known columns, N objects and no connection at all, expect about
    the root of q / N; :func:`leak_report` compares each feature with chance. For a fitted estimator this is ``leak_``.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map.
    known : array-like of shape (n_objects, n_known)
        Known features of any type, none missing.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    float
        0 if nothing is known.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import leak
    >>> U = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> round(leak(U, 100 - U), 6), round(leak(U, ["a", "b", "b", "a"]), 2)
    (1.0, 0.27)
    """
    table = read_table(embedding, "embedding")
    coded = code_known(known, len(table.values), table.labels, known_types, "embedding")
    return linear_leak(table.values, coded.values).leak


def recovery(
    embedding: Any,
    known: Any,
    features: Any,
    *,
    unknown: Sequence[Any] | None = None,
    known_types: dict[Any, Any] | None = None,
) -> pd.Series[float]:
    """Return how much of the true features a map has found, by the papers' score and by an honest one.

    Both are average canonical correlations. ``acc_all`` compares the map and the known features side by side with all
    true features; it credits the known features with themselves, so that it is high before anything is found.
    ``acc_unknown`` compares the map alone with the features that were not known.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map.
    known : array-like of shape (n_objects, n_known), or None
        What the map was given, none missing.
    features : array-like of shape (n_objects, n_features)
        The truth: all features that made the dissimilarities, known and unknown.
    unknown : sequence, optional
        Columns of `features` that were not known; by default those whose names are not columns of `known`.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    Series
        ``acc_all`` and ``acc_unknown``, each between 0 and 1.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import recovery
    >>> features = load_kinship().known[["gender", "generation"]]
    >>> nothing = [[(-1.0) ** i] for i in range(14)]  # a map that has found nothing
    >>> print(recovery(nothing, features[["gender"]], features).round(2).to_string())
    acc_all        0.58
    acc_unknown    0.11
    """
    import pandas as pd

    axes, truth = read_pair(embedding, features, ("embedding", "features"), ("axis", "feature"))
    coded = code_known(known, len(axes.values), axes.labels, known_types, "embedding")
    scores = recovered(axes.values, coded.values, truth.values, unknown_columns(truth, unknown, known))
    return pd.Series(scores, name="recovery")


def recovered(U: Array, V: Array, features: Array, unknown: list[int]) -> dict[str, float]:
    """Return the scores of :func:`recovery` from numbers, and from the columns of the features that were not known."""
    return {
        "acc_all": average(linalg.canonical_correlations(np.column_stack([U, V]), features)),
        "acc_unknown": average(linalg.canonical_correlations(U, features[:, unknown])),
    }


def unknown_columns(features: LabelledTable, unknown: Sequence[Any] | None, known: Any) -> list[int]:
    """Return the positions of the features that were not known."""
    if unknown is None:
        unknown = features.names if known is None else _not_among(features.names, known)
    wanted = [unknown] if isinstance(unknown, str) else [str(name) for name in unknown]
    others = [name for name in wanted if name not in features.names]
    if others or not wanted:
        wrong = f"unknown names {quote(others)}, not" if others else "no feature is left unknown"
        raise ValueError(f"{wrong} among the columns of features; these are {quote(features.names)}.")
    return [features.names.index(name) for name in wanted]


def _not_among(names: list[str], known: Any) -> list[str]:
    """Return the names of the features that are not columns of the known features."""
    name = getattr(known, "name", None)
    given = set(map(str, known.columns if hasattr(known, "columns") else [] if name is None else [name]))
    if not given & set(names):
        raise ValueError(
            f"known ({quote(sorted(given)) or 'without column names'}) and features ({quote(names)}) share no column, "
            "so that their names do not tell which features are unknown; name these in unknown."
        )
    return [name for name in names if name not in given]
