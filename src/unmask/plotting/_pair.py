"""Two maps of the same objects: the second is rotated to fit the first, and a line joins each object's places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import is_pandas, labels_of, require_flag, require_integer, require_number
from ._axes import axes_or_new, figure_of, fix_limits, frame_map, pair_of_axes
from ._color import RASTERIZE_ABOVE, Coloring, draw_legend, make_coloring, point_style
from ._density import draw_objects, wants_density
from ._fonts import as_written
from ._input import as_map, as_series, check_embedding, name_of, one_per_object
from ._labels import choose_labels, draw_labels, obstacles_of, spread
from ._map import plot_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BEFORE = "0.45"
JOIN = "0.6"
# Lines between two Axes cross each other everywhere when there are many.
MOST_CONNECTIONS = 150
# Along a side of the grid of mean moves.
MOVES_ALONG = 18


@as_written
def plot_pair(
    before: Any,
    after: Any,
    *,
    labels: Any = None,
    color: Any = None,
    scale: bool = True,
    ax: Any = None,
    titles: tuple[str, str] = ("before", "after"),
    merge: float = 0.03,
    max_labels: int = 150,
) -> Any:
    """Draw two maps of the same objects, such as before and after conditioning, and join each object's two places.

    `after` is brought as near to `before` as a rotation or reflection, a shift and, unless ``scale=False``, a change
    of size allow (Procrustes analysis: least sum of squared distances between the two places). The size that fits
    best is the smaller the less the two maps have in common.

    Parameters
    ----------
    before, after : array-like or DataFrame of shape (n_objects, n_components), or fitted estimator
        The maps, of which the first two columns are aligned and drawn. Two DataFrames are matched by label.
    labels : sequence of length n_objects, optional
        Labels of the objects. By default the index of a DataFrame, and none for arrays.
    color : Series or array-like of length n_objects, optional
        What to colour by, as in :func:`plot_map`.
    scale : bool, default=True
        Whether `after` may change its size.
    ax : Axes or two Axes, optional
        One Axes: both maps on it, `before` as rings and `after` as dots. Two Axes of a figure: side by side, on the
        same scale, joined across. By default one Axes of a new figure.
    titles : tuple of str, default=("before", "after")
        What to call the two maps.
    merge, max_labels : float and int
        As in :func:`plot_map`.

    Returns
    -------
    Axes, or the two Axes as they were given
        On one Axes more than 2000 objects are joined in groups: an arrow for the mean move of all that were in the same
        cell of a grid. Between two Axes at most 150 lines are drawn, of objects that are spread over the map.

    Raises
    ------
    ValueError
        If the maps do not have the same objects, or if all objects of one of them are in the same place.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_pair
    >>> square = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> turned = [[5.0, 5.0], [3.0, 5.0], [5.0, 7.0], [3.0, 7.0]]
    >>> ax = plot_pair(square, turned, ax=Figure().add_subplot())
    >>> ax.collections[-1].get_offsets().round(6).tolist() == square
    True
    """
    before, after = as_map(before), as_map(after)
    first, names = check_embedding(before, "before")
    index, n = labels_of(before), len(first)
    if is_pandas(after) and index is not None:
        after = one_per_object("after", after, n, index, "before")
    second, _ = check_embedding(after, "after")
    second = align(first, second, scale=require_flag("scale", scale))
    labels = index if labels is None else one_per_object("labels", labels, n, index, "before")
    colors = one_per_object("color", color, n, index, "before")
    coloring = make_coloring(colors, name_of(color), n)
    merge, max_labels = require_number("merge", merge, 0.0), require_integer("max_labels", max_labels, 0)
    texts = labels if max_labels else None
    if ax is None or hasattr(ax, "get_figure"):
        return _on_one(axes_or_new(ax), first, second, coloring, texts, (names, titles), merge, max_labels)
    left, right = pair_of_axes(ax, "drawing two maps side by side")
    options: dict[str, Any] = {"labels": texts, "merge": merge}
    if colors is not None:
        options["color"] = as_series(colors, name_of(color))  # without the index by which they were matched
    for one, points, title in ((left, first, titles[0]), (right, second, titles[1])):
        one.update_datalim(np.concatenate([first, second]))  # the same scale on both
        plot_map(points, ax=one, title=title, max_labels=max_labels, **options)
    _same_limits(left, right)
    _connect(left, right, first, second)
    return ax


def align(target: Array, points: Array, *, scale: bool) -> Array:
    """Return the points rotated or reflected, shifted and, on request, scaled to lie as near the target as possible.

    With both centred and ``X'Y = P S Q'``, the rotation ``P Q'`` makes the least sum of squares, and the size that goes
    with it is ``trace(S) / |X|^2``.
    """
    if len(points) != len(target):
        raise ValueError(f"after has {len(points)} objects but before has {len(target)}; pass the same objects.")
    for name, table in (("before", target), ("after", points)):
        if not np.any(np.ptp(table, axis=0)):
            raise ValueError(f"{name} has all objects in one place, where nothing can be aligned; pass another map.")
    centre, centred = target.mean(axis=0), points - points.mean(axis=0)
    P, S, Q = np.linalg.svd(centred.T @ (target - centre))
    size = float(S.sum() / np.sum(centred**2)) if scale else 1.0
    return np.asarray(centre + size * centred @ (P @ Q))


def _on_one(
    ax: Axes,
    first: Array,
    second: Array,
    coloring: Coloring,
    labels: Any,
    names: tuple[list[str], tuple[str, str]],
    merge: float,
    max_labels: int,
) -> Axes:
    """Draw both maps on one Axes."""
    frame_map(ax, names[0])
    both = np.concatenate([first, second])
    ax.update_datalim(both)
    if len(first) <= RASTERIZE_ABOVE:
        _draw_joins(ax, first, second)
        rings = point_style(len(first)) | {"facecolors": "none", "edgecolors": coloring.rgba(), "linewidths": 0.9}
        ax.scatter(first[:, 0], first[:, 1], **rings)
    rows = draw_objects(ax, second, coloring, crowded=wants_density("auto", second, None))
    rows = _add_pair_legend(ax, names[1], rows, grouped=len(first) > RASTERIZE_ABOVE)
    if len(first) > RASTERIZE_ABOVE:
        _draw_moves(ax, first, second)
    fix_limits(ax)
    if labels is not None:
        texts = choose_labels(second, list(labels), merge, max_labels)
        draw_labels(ax, [texts], obstacles_of(both), outline=True)
    return ax


def _draw_joins(ax: Axes, first: Array, second: Array) -> None:
    """Join each object's two places by a thin line, below the points."""
    from matplotlib.collections import LineCollection

    width = float(np.clip(12 / np.sqrt(len(first)), 0.3, 0.9))
    lines = LineCollection(list(np.stack([first, second], axis=1)), colors=JOIN, linewidths=width, zorder=1)
    ax.add_collection(lines, autolim=False)


def _draw_moves(ax: Axes, first: Array, second: Array) -> None:
    """Draw the mean move of all objects that were in the same cell of a grid before."""
    starts, ends = mean_moves(first, second)
    ax.quiver(
        *starts.T,
        *(ends - starts).T,
        angles="xy",
        scale_units="xy",
        scale=1.0,
        width=0.0022,
        headwidth=4,
        headlength=5,
        color="0.1",
        zorder=4,
    )


def mean_moves(first: Array, second: Array, least: int = 3) -> tuple[Array, Array]:
    """Return the mean places before and after of the objects of each square that has at least so many of them."""
    import pandas as pd

    square = np.floor((first - first.min(axis=0)) / (np.ptp(first, axis=0).max() / MOVES_ALONG))
    groups = pd.DataFrame(np.column_stack([first, second])).groupby([square[:, 0], square[:, 1]])
    means = groups.mean().to_numpy()[groups.size().to_numpy() >= least]
    return means[:, :2], means[:, 2:]


def _add_pair_legend(ax: Axes, titles: tuple[str, str], above: int, *, grouped: bool) -> int:
    """Draw a legend above the Axes that says which markers belong to which map."""
    from matplotlib.lines import Line2D

    legend = ax.get_legend()
    if legend is not None:
        ax.add_artist(legend)  # a further legend would take its place
    if grouped:
        note = f"{titles[1]}; arrows: mean moves from {titles[0]}"
        return draw_legend(ax, [Line2D([], [], linestyle="", marker="o", color="0.3", label=note)], "", above)
    ring = Line2D([], [], linestyle="", marker="o", markerfacecolor="none", markeredgecolor=BEFORE, label=titles[0])
    dot = Line2D([], [], linestyle="", marker="o", color="0.3", label=titles[1])
    return draw_legend(ax, [ring, dot], "", above)


def _same_limits(left: Axes, right: Axes) -> None:
    """Give both the same limits, which differ because legends and colour bars take room."""
    for get, put in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
        limits = np.array([getattr(one, get)() for one in (left, right)])
        for one in (left, right):
            getattr(one, put)(limits[:, 0].min(), limits[:, 1].max(), auto=True)


def _connect(left: Axes, right: Axes, first: Array, second: Array) -> None:
    """Join places across two Axes, below what is drawn on them."""
    from matplotlib.patches import ConnectionPatch

    figure = figure_of(left).figure
    for i in spread(first, MOST_CONNECTIONS):
        line = ConnectionPatch(
            tuple(first[i]), tuple(second[i]), "data", "data", axesA=left, axesB=right, color=JOIN, linewidth=0.5
        )
        line.set_zorder(-1)
        line.set_in_layout(False)
        figure.add_artist(line)
    for one in (left, right):
        one.patch.set_alpha(0.0)  # or it would hide the lines
