"""Shepard's diagram: fitted distances against dissimilarities."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._typing import Array
from ..checking import (
    MapWarning,
    MissingDissimilarityWarning,
    align_columns,
    align_rows,
    check_dissimilarities,
    find_labels,
    is_unlabelled,
    labels_of,
)
from ..dissimilarities import compare
from ..estimators import transformer_of
from ..kernels import MOST_SQUARED, Workers, resolve_threads
from ._axes import add_title, axes_or_new, frame_chart
from ._color import CROWDED_ABOVE, OKABE_ITO, point_style
from ._density import POINTS, draw_counts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LINE_COLOR = OKABE_ITO[1]
# Corners of the line of disparities; more cannot be seen.
MOST_CORNERS = 2000
NEEDED = "X is needed, because the estimator does not keep it; pass what it was fitted to."


def plot_shepard(estimator: Any, X: Any = None, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw fitted distances against dissimilarities, a point per pair of objects (Shepard's diagram).

    The line is what the fit aimed at: the dissimilarities themselves, or, where `level` transforms them, the
    disparities. A point far from it is a pair that the map misrepresents.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        A fitted estimator.
    X : array-like, DataFrame, …, optional
        What it was fitted to: dissimilarities in any form that it takes (labels are matched), or features, of which its
        metric makes dissimilarities. ConditionalIsomap keeps the lengths of its paths and does not look at it.
    ax, title : Axes and str, optional
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        The Axes drawn on. More than 20,000 pairs (200 objects) are drawn as hexagons, coloured by the number of pairs.

    Raises
    ------
    ValueError
        If the estimator is not fitted, if `X` is needed, or if it does not have the fitted objects.

    Notes
    -----
    Time and memory grow with the number of pairs: 2000 objects have 2 million, which take about a second. More than
    20,000 objects are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from unmask import ConditionalMDS
    >>> from unmask.plotting import plot_shepard
    >>> X = np.random.default_rng(0).normal(size=(10, 3))
    >>> mds = ConditionalMDS(2, n_init=2, random_state=0).fit(X)
    >>> ax = plot_shepard(mds, X, ax=Figure().add_subplot())
    >>> len(ax.collections[0].get_offsets())
    45
    """
    if not hasattr(estimator, "predict_dissimilarities") or not hasattr(estimator, "embedding_"):
        raise ValueError(f"estimator is of type {type(estimator).__name__} and is not fitted; pass a fitted estimator.")
    if len(estimator.embedding_) > MOST_SQUARED:
        raise ValueError(
            f"plot_shepard needs all pairs of the objects, and {len(estimator.embedding_):,} objects are more than the "
            f"{MOST_SQUARED:,} that it takes; fit a random sample of them, such as 2,000."
        )
    delta, distance, aims = _all_pairs(estimator, X)
    there = np.isfinite(delta) & np.isfinite(distance)
    ax = axes_or_new(ax, 5.4, 4.8)
    frame_chart(ax, "dissimilarity", "fitted distance")
    _draw_pairs(ax, delta[there], distance[there])
    _draw_aims(ax, delta[there], aims[there], "disparities" if aims is not delta else "no error")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left", frameon=False, fontsize="small")
    add_title(ax, title)
    return ax


def _all_pairs(estimator: Any, X: Any) -> tuple[Array, Array, Array]:
    """Return the dissimilarity of every pair, its fitted distance and what the fit aimed at."""
    fitted = estimator.predict_dissimilarities()
    given = _dissimilarities(estimator, X, fitted)
    upper = np.triu_indices(len(fitted), 1)
    delta, distance = given[upper], fitted.to_numpy()[upper]
    return delta, distance, estimator.disparities_.to_numpy()[upper] if hasattr(estimator, "disparities_") else delta


def _dissimilarities(estimator: Any, X: Any, fitted: pd.DataFrame) -> Array:
    """Return the dissimilarities that were fitted, in the order of the fitted objects."""
    transformer = transformer_of(estimator)
    kept = getattr(transformer, "dissimilarities_", None)
    if kept is not None:
        return np.asarray(kept, dtype=np.float64)
    if X is None:
        raise ValueError(NEEDED)
    with Workers(resolve_threads(None)) as workers, warnings.catch_warnings():
        for said in (MissingDissimilarityWarning, MapWarning):
            warnings.simplefilter("ignore", said)  # the fit has said so
        if transformer is not None:
            X = align_rows(X, _labels(fitted, labels_of(X)), "X")
            X = compare(clone(transformer), X).values
        checked = check_dissimilarities(X, workers=workers)
    if checked.n != len(fitted):
        raise ValueError(f"X has {checked.n} objects but {len(fitted)} were fitted; pass what was fitted.")
    return _in_order(checked.array_for("Shepard's diagram"), checked.labels, _labels(fitted, checked.labels))


def _labels(fitted: pd.DataFrame, others: pd.Index | None) -> pd.Index | None:
    """Return the labels of the fitted objects; None if they are only numbered and the others have other labels."""
    if others is None or (is_unlabelled(fitted.index) and (find_labels(others, fitted.index) < 0).any()):
        return None
    return fitted.index


def _in_order(values: Array, labels: pd.Index | None, wanted: pd.Index | None) -> Array:
    if labels is None or wanted is None:
        return np.asarray(values, dtype=np.float64)
    import pandas as pd

    table = pd.DataFrame(values, index=labels, columns=labels)
    return np.asarray(align_columns(align_rows(table, wanted, "X"), wanted, "X"), dtype=np.float64)


def _draw_pairs(ax: Axes, delta: Array, distance: Array) -> None:
    points = np.column_stack([delta, distance])
    if len(points) <= CROWDED_ABOVE:
        style = point_style(len(points)) | {"linewidths": 0.0, "alpha": 0.8 if len(points) <= 300 else 0.4}
        ax.scatter(delta, distance, color=OKABE_ITO[0], **style)
        return
    ax.scatter(delta, distance, color=OKABE_ITO[0], **POINTS)
    draw_counts(ax, points, "pairs in a hexagon", square=False)


def _draw_aims(ax: Axes, delta: Array, aims: Array, name: str) -> None:
    """Draw what the fit aimed at, in the order of the dissimilarities."""
    order = np.lexsort([aims, delta])
    corners = order[np.unique(np.linspace(0, len(order) - 1, min(MOST_CORNERS, len(order))).astype(int))]
    ax.plot(delta[corners], aims[corners], color=LINE_COLOR, linewidth=1.5, label=name, zorder=4)
