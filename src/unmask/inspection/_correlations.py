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
        Rows are matched by label if both have labels, else by position. Of an estimator its map is used.

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
    """Return the mean canonical correlation of two tables of the same objects; 0 if one is constant.

    This is the score of the papers if ``X`` is a map and the known features side by side and ``Y`` holds all true
    features. It is high before anything is found, because known features correlate with themselves; :func:`recovery`
    also gives the score of the map alone.

    Parameters
    ----------
    X, Y : array-like of shape (n_objects, n_columns), or fitted estimator
        As in :func:`canonical_correlations`.

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
        Numbers, none missing; :func:`name_axes` takes categories and missing cells.

    Returns
    -------
    DataFrame of shape (n_components, n_features)
        NaN if the axis or the feature is constant.

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

    axes, table = read_pair(embedding, features, ("embedding", "features"))
    correlations = np.abs(standard_units(axes.values).T @ standard_units(table.values))
    return pd.DataFrame(np.minimum(correlations, 1.0), index=axes.names, columns=table.names)


def standard_units(values: Array) -> Array:
    """Return columns with mean 0 and length 1; NaN if a column is constant up to rounding."""
    centred = values - values.mean(axis=0)
    size = np.abs(centred).max(axis=0, initial=0.0)
    constant = size <= 8 * np.finfo(float).eps * np.abs(values).max(axis=0, initial=0.0)
    centred = centred / np.where(constant, 1.0, size)  # before squaring, which may overflow
    return np.asarray(centred / np.where(constant, np.nan, np.linalg.norm(centred, axis=0)))


def leak(embedding: Any, known: Any, *, known_types: dict[Any, Any] | None = None) -> float:
    """Return the leak: the average canonical correlation of a map with the known features.

    1 if the map repeats them, by chance about the root of q / N for q known columns and N objects;
    :func:`leak_report` compares each feature with chance. A fitted estimator has ``leak_``.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map.
    known : array-like of shape (n_objects, n_known)
        Known features of any type, none missing.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`.

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
    """Return how much of the true features a map has found, as two average canonical correlations.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map.
    known : array-like of shape (n_objects, n_known), or None
        Known features that the map was given, none missing.
    features : array-like of shape (n_objects, n_features)
        The truth: all features that made the dissimilarities, known and unknown.
    unknown : sequence, optional
        Columns of `features` that were not known; by default those whose names are not columns of `known`.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    Series
        ``acc_all`` compares the map and the known features together with all true features, as in the papers: it is
        high before anything is found. ``acc_unknown`` compares the map alone with the features that were not known.

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

    axes, truth = read_pair(embedding, features, ("embedding", "features"))
    coded = code_known(known, len(axes.values), axes.labels, known_types, "embedding")
    scores = recovered(axes.values, coded.values, truth.values, unknown_columns(truth, unknown, known))
    return pd.Series(scores, name="recovery")


def recovered(U: Array, V: Array, features: Array, unknown: list[int]) -> dict[str, float]:
    """Return the scores of :func:`recovery`; ``unknown`` are positions of columns."""
    return {
        "acc_all": average(linalg.canonical_correlations(np.column_stack([U, V]), features)),
        "acc_unknown": average(linalg.canonical_correlations(U, features[:, unknown])),
    }


def unknown_columns(features: LabelledTable, unknown: Sequence[Any] | None, known: Any) -> list[int]:
    """Return the positions of the features that were not known."""
    names = features.names
    if unknown is None and known is not None:
        name = getattr(known, "name", None)
        given = set(map(str, known.columns if hasattr(known, "columns") else [] if name is None else [name]))
        if not given & set(names):
            raise ValueError(
                f"known ({quote(sorted(given)) or 'without column names'}) and features ({quote(names)}) share no "
                "column, so that their names do not tell which features are unknown; name these in unknown."
            )
        unknown = [name for name in names if name not in given]
    wanted = names if unknown is None else [unknown] if isinstance(unknown, str) else [str(name) for name in unknown]
    others = [name for name in wanted if name not in names]
    if others or not wanted:
        wrong = f"unknown names {quote(others)}, not" if others else "no feature is left unknown"
        raise ValueError(f"{wrong} among the columns of features; these are {quote(names)}.")
    return [names.index(name) for name in wanted]
