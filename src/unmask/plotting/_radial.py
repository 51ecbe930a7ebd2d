"""RadViz and star coordinates of a table of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import labels_of, quote, require_integer, require_number
from ._axes import add_title, axes_or_new, fix_limits
from ._color import make_coloring
from ._density import draw_objects, wants_density
from ._fonts import as_written
from ._input import check_table, name_of, one_per_object, require_varying
from ._labels import choose_labels, draw_labels, obstacles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

ANCHOR = "0.35"


@as_written
def plot_radviz(
    table: Any,
    *,
    color: Any = None,
    labels: Any = None,
    order: Sequence[Any] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    merge: float = 0.03,
    max_labels: int = 150,
) -> Axes:
    """Draw objects inside a circle of anchors, one per feature, each pulling the more the larger the feature is.

    With features scaled to ``y_ij = (x_ij - min_j) / (max_j - min_j)`` and anchors ``s_j`` at equal angles on the unit
    circle, object i lies at the mean of the anchors weighted by its features::

        p_i = (sum over j of y_ij s_j) / (sum over j of y_ij),

    and in the centre if all its features are at their smallest. Only the proportions of an object's features matter.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_objects, n_features)
        Numeric features.
    color : Series or array-like of length n_objects, optional
        What to colour by, numbers or categories, as in :func:`plot_map`.
    labels : sequence of length n_objects, optional
        Labels of the objects; none by default.
    order : sequence of column names, optional
        Order of the anchors, anticlockwise from the right; by default that of the columns. Features next to each other
        pull together, opposite ones cancel out.
    ax, title, merge, max_labels
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        The Axes drawn on. More than 20,000 objects are drawn as in :func:`plot_map`.

    Raises
    ------
    ValueError
        If the table has fewer than two columns, cells that are not finite numbers, or constant columns.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_radviz
    >>> ax = plot_radviz([[0.0, 1.0], [2.0, 0.0]], ax=Figure().add_subplot())
    >>> ax.collections[-1].get_offsets().round(6).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    from matplotlib.patches import Circle

    values, names = _features(table, order)
    y = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    anchors, pull = unit_circle(len(names)), y.sum(axis=1, keepdims=True)
    points = np.divide(y @ anchors, pull, out=np.zeros((len(y), 2)), where=pull > 0)
    ax = axes_or_new(ax)
    ax.add_patch(Circle((0.0, 0.0), 1.0, fill=False, edgecolor="0.8", linewidth=1.0, zorder=1))
    style = {"color": color, "labels": labels, "title": title, "merge": merge, "max_labels": max_labels}
    return _draw_among(ax, points, anchors, names, table=table, **style)


@as_written
def plot_star_coordinates(
    table: Any,
    *,
    color: Any = None,
    labels: Any = None,
    order: Sequence[Any] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    merge: float = 0.03,
    max_labels: int = 150,
) -> Axes:
    """Draw objects by adding up one vector per feature.

    With features standardised to ``z_ij = (x_ij - mean_j) / sd_j`` and vectors ``a_j`` of length 1 at equal angles,
    object i lies at ::

        p_i = sum over j of z_ij a_j.

    This is linear: unlike in :func:`plot_radviz`, an object that is far above the mean in a feature lies far out, and
    objects that differ in one feature only lie along its axis.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_objects, n_features)
        Numeric features.
    order : sequence of column names, optional
        Order of the axes, anticlockwise from the right; by default that of the columns.
    color, labels, ax, title, merge, max_labels
        As in :func:`plot_radviz`.

    Returns
    -------
    Axes
        The Axes drawn on. All axes are drawn as long as the farthest object is from the centre; only their directions
        mean something. More than 20,000 objects are drawn as in :func:`plot_map`.

    Raises
    ------
    ValueError
        If the table has fewer than two columns, cells that are not finite numbers, or constant columns.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_star_coordinates
    >>> ax = plot_star_coordinates([[0.0, 3.0], [2.0, 1.0]], ax=Figure().add_subplot())
    >>> ax.collections[-1].get_offsets()[:, 0].round(6).tolist()
    [-2.0, 2.0]
    """
    from matplotlib.collections import LineCollection

    values, names = _features(table, order)
    directions = unit_circle(len(names))
    points = (values - values.mean(axis=0)) / values.std(axis=0) @ directions
    far = float(np.linalg.norm(points, axis=1).max())
    ax = axes_or_new(ax)
    anchors = directions * (far if far > 1e-12 * len(names) else 1.0)
    spokes = np.stack([np.zeros_like(anchors), anchors], axis=1)
    ax.add_collection(LineCollection(list(spokes), colors="0.8", linewidths=1.0, zorder=1), autolim=False)
    style = {"color": color, "labels": labels, "title": title, "merge": merge, "max_labels": max_labels}
    return _draw_among(ax, points, anchors, names, table=table, **style)


def unit_circle(m: int) -> Array:
    """Return so many points at equal angles on the unit circle, anticlockwise from the right."""
    angles = 2 * np.pi * np.arange(m) / m
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _features(table: Any, order: Sequence[Any] | None) -> tuple[Array, list[str]]:
    """Return the features in the order of their anchors, and their names."""
    values, names = check_table(table, "table")
    if len(names) < 2:
        raise ValueError(f"table has {len(names)} column; a radial picture needs at least two.")
    require_varying(values, names, "table")
    if order is None:
        return values, names
    wanted = [str(name) for name in order]
    if sorted(wanted) != sorted(names) or len(set(names)) != len(names):
        raise ValueError(f"order has {quote(wanted)} but the columns are {quote(names)}; name each column once.")
    return values[:, [names.index(name) for name in wanted]], wanted


def _draw_among(
    ax: Axes,
    points: Array,
    anchors: Array,
    names: list[str],
    *,
    table: Any,
    color: Any,
    labels: Any,
    title: str | None,
    merge: float,
    max_labels: int,
) -> Axes:
    """Draw the objects among their anchors."""
    n, index = len(points), labels_of(table)
    coloring = make_coloring(one_per_object("color", color, n, index, "table"), name_of(color), n)
    texts = one_per_object("labels", labels, n, index, "table")
    merge, max_labels = require_number("merge", merge, 0.0), require_integer("max_labels", max_labels, 0)
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.05)
    ax.update_datalim(np.concatenate([anchors, -anchors]) * 1.1)  # room for the names
    crowded = wants_density("auto", points, None)
    rows = draw_objects(ax, points, coloring, crowded=crowded)
    _name_anchors(ax, anchors, names)
    add_title(ax, title, rows)
    fix_limits(ax)
    if texts is not None and max_labels:
        chosen = choose_labels(points, list(texts), merge, max_labels)
        draw_labels(ax, [chosen], obstacles_of(points), outline=crowded)
    return ax


def _name_anchors(ax: Axes, anchors: Array, names: list[str]) -> None:
    """Mark the anchors and write their names outside of them, smaller the more there are."""
    ax.plot(*anchors.T, "o", color=ANCHOR, markersize=4.0, zorder=4)
    size = float(np.clip(180 / len(names), 5.0, 9.0))
    for (x, y), name in zip(anchors / np.linalg.norm(anchors, axis=1, keepdims=True), names, strict=True):
        across = "left" if x > 0.2 else "right" if x < -0.2 else "center"
        along = "bottom" if y > 0.2 else "top" if y < -0.2 else "center"
        place = tuple(anchors[0, 0] * np.array([x, y]))
        style: dict[str, Any] = {"ha": across, "va": along, "fontsize": size, "color": ANCHOR}
        ax.annotate(name, place, (6 * x, 6 * y), textcoords="offset points", **style)
