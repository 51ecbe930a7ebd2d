"""A map of the levels of a known feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import quote
from ._axes import axes_or_new
from ._fonts import as_written
from ._input import table_of
from ._labels import extent, join_labels, spread
from ._map import plot_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

LINE_COLOR = "0.8"
# Rows of labels beside a line, in points from it: above, below, and farther out.
FIRST_ROW, ROW_HEIGHT = 11, 13
GAP = 6  # between two labels of a row, in pixels
LABEL_STYLE: dict[str, Any] = {
    "textcoords": "offset points",
    "ha": "center",
    "va": "center",
    "fontsize": 9,
    "color": "0.15",
    "arrowprops": {"arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 3.0},
}


@as_written
def plot_levels(
    estimator_or_table: Any,
    feature: Any = None,
    *,
    counts: Mapping[Any, Any] | pd.Series[Any] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    merge: float = 0.03,
    max_labels: int = 150,
) -> Axes:
    """Draw the levels of a nominal or ordinal known feature where the fit put them.

    Distances are those that the levels add to the fitted distances of objects: levels that lie far apart account for
    much. An ordinal feature, and a nominal one of two levels, lies along a line; other levels are drawn in their first
    two principal axes.

    Parameters
    ----------
    estimator_or_table : estimator or DataFrame
        A fitted estimator, or its ``level_positions_``.
    feature : str, optional
        Which known feature; may be left out if only one has levels.
    counts : Series or mapping, optional
        How many objects have each level, as ``known["habitat"].value_counts()`` says; added to the labels. A level
        that is not in it counts 0.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        Title of the Axes; by default the name of the feature.
    merge, max_labels : float and int
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        The Axes drawn on.

    Raises
    ------
    ValueError
        If there are no levels, if `feature` has none, if it is left out and several features have levels, or if
        `counts` names a level that the feature does not have.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_levels
    >>> size = pd.MultiIndex.from_product([["size"], ["small", "medium", "large"]], names=["feature", "level"])
    >>> places = pd.DataFrame({"axis1": [-2.0, 0.5, 1.5]}, index=size)
    >>> ax = plot_levels(places, ax=Figure().add_subplot())
    >>> ax.get_title(loc="left"), sorted(text.get_text() for text in ax.texts)
    ('size', ['large', 'medium', 'small'])
    """
    table = _check_table(estimator_or_table)
    name = _check_feature(feature, table)
    own = table[table.index.get_level_values(0) == name].droplevel(0)
    places = own.dropna(axis="columns", how="all")  # without the axes that only other features have
    labels = _with_counts(list(places.index), counts, name)
    title = str(name) if title is None else title
    if places.shape[1] > 1:
        return plot_map(places, labels=labels, ax=ax, title=title, merge=merge, max_labels=max_labels)
    ax = plot_map(places, ax=axes_or_new(ax, 6.4, 1.8), title=title, merge=merge, max_labels=0)
    ax.axhline(0.0, color=LINE_COLOR, linewidth=1.0, zorder=1)
    if max_labels > 0:
        points = np.column_stack([places, np.zeros(len(places))])
        chosen = spread(points, max_labels)
        joined = join_labels(points[chosen], [labels[i] for i in chosen], merge * extent(points))
        _label_line(ax, joined[0][:, 0], joined[1])
    return ax


def _check_table(given: Any) -> pd.DataFrame:
    holders = "a fitted ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS"
    checked: pd.DataFrame = table_of(given, "level_positions_", "estimator_or_table", holders)
    if not len(checked):
        raise ValueError(
            "estimator_or_table has no levels in its level_positions_: no known feature is nominal or ordinal. "
            "Text and categories are; declare others in known_types."
        )
    if checked.index.nlevels != 2:
        raise ValueError(
            f"estimator_or_table has {checked.index.nlevels} level of index but level_positions_ has 2, the feature "
            "and its level; pass level_positions_ as it is."
        )
    return checked


def _check_feature(feature: Any, table: pd.DataFrame) -> Any:
    """Return the name of the feature to draw."""
    names = list(dict.fromkeys(table.index.get_level_values(0)))
    if feature is None:
        if len(names) > 1:
            raise ValueError(f"feature is needed, because several have levels; pass one of {quote(names)}.")
        return names[0]
    if feature not in names:
        raise ValueError(f"feature={feature!r} is not among the features that have levels; pass one of {quote(names)}.")
    return feature


def _with_counts(levels: list[Any], counts: Mapping[Any, Any] | pd.Series[Any] | None, name: Any) -> list[str]:
    """Return a label per level."""
    if counts is None:
        return [str(level) for level in levels]
    count = dict(counts.items())
    strange = [level for level in count if level not in levels]
    if strange:
        raise ValueError(
            f"counts names {quote(strange)}, which {'is no level' if len(strange) == 1 else 'are no levels'} of "
            f"{name!r}; its levels are {quote(levels)}."
        )
    return [f"{level} ({count.get(level, 0)})" for level in levels]


def _label_line(ax: Axes, places: Array, labels: list[str]) -> None:
    """Write each label straight above or below its point, in the nearest row where it covers no other."""
    canvas = ax.figure.figure.canvas
    renderer = canvas.get_renderer() if hasattr(canvas, "get_renderer") else None
    ends: list[float] = []  # of the last label in each row, in pixels
    for at in np.argsort(places, kind="stable"):
        text = ax.annotate(labels[at], (places[at], 0.0), xytext=(0.0, FIRST_ROW), **LABEL_STYLE)
        box = text.get_window_extent(renderer)
        row = next((r for r, end in enumerate(ends) if end + GAP < box.x0), len(ends))
        ends[row : row + 1] = [box.x1]
        distance = (FIRST_ROW + ROW_HEIGHT * (row // 2)) * (-1 if row % 2 else 1)
        text.set_position((0.0, distance))
