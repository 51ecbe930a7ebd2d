"""A picture of how well measurement levels and estimators predict dissimilarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import quote
from ._axes import add_title, axes_or_new, frame_chart
from ._color import MARKERS, OKABE_ITO, draw_legend
from ._input import is_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

NEEDED = ("heldout", "above", "above_se")
# How far apart the estimators of one level are drawn, in rows.
APART = 0.22


def plot_estimators(table: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw how well each measurement level and each estimator predicts dissimilarities that it did not see.

    Parameters
    ----------
    table : DataFrame
        What :func:`unmask.inspection.choose_estimator` returns.
    ax, title : Axes and str, optional
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        A row for each level with a dot for each estimator, the farther to the left the better; the one chosen is
        filled. Bars are one standard error of the difference from the best to each side, which is the one without.

    Raises
    ------
    ValueError
        If the table is no such table, or has no rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_estimators
    >>> index = pd.MultiIndex.from_product([["ratio", "interval"], ["least squares"]], names=["level", "estimator"])
    >>> table = pd.DataFrame({"heldout": [0.3, 0.2], "above": [0.1, 0.0], "above_se": [0.05, 0.0]}, index=index)
    >>> ax = plot_estimators(table, ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['ratio', 'interval']
    """
    frame = _check_table(table)
    levels = list(dict.fromkeys(frame.index.get_level_values("level")))
    names = list(dict.fromkeys(frame.index.get_level_values("estimator")))
    ax = axes_or_new(ax, 5.8, float(np.clip(1.4 + 0.55 * len(levels), 2.2, 6.0)))
    frame_chart(ax, "error of held-out dissimilarities, as a share of their squares", "")
    handles = [
        _draw_estimator(ax, frame, name, levels, (at - (len(names) - 1) / 2) * APART, MARKERS[at], OKABE_ITO[at])
        for at, name in enumerate(names)
    ]
    ax.set_yticks(np.arange(len(levels)), [str(level) for level in levels])
    ax.set_ylim(len(levels) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    for row in range(1, len(levels)):
        ax.axhline(row - 0.5, color="0.93", linewidth=0.8, zorder=0)
    rows = draw_legend(ax, handles, "", columns=len(names))
    add_title(ax, title, rows)
    return ax


def _check_table(table: Any) -> pd.DataFrame:
    if not is_frame(table) or list(table.index.names) != ["level", "estimator"]:
        raise ValueError("table is not indexed by level and estimator; pass what choose_estimator returns.")
    lacking = [name for name in NEEDED if name not in table]
    if lacking:
        raise ValueError(f"table lacks the columns {quote(lacking)}; pass what choose_estimator returns.")
    if not len(table):
        raise ValueError("table has no rows; pass what choose_estimator returns.")
    frame: pd.DataFrame = table
    return frame


def _draw_estimator(
    ax: Axes, frame: pd.DataFrame, name: str, levels: list[str], offset: float, marker: str, color: str
) -> Any:
    """Draw one estimator at all its levels; return its entry of the legend."""
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"marker": marker, "linestyle": "none", "markeredgecolor": color, "markersize": 6.5}
    for level, row in frame.xs(name, level="estimator").iterrows():
        at = levels.index(str(level)) + offset
        chosen = tuple(frame.attrs.get("chosen", ())) == (level, name)
        ax.hlines(at, row["heldout"] - row["above_se"], row["heldout"] + row["above_se"], colors=color, linewidth=1.2)
        ax.plot(row["heldout"], at, markerfacecolor=color if chosen else "white", zorder=4, **style)
    return Line2D([], [], markerfacecolor="white", label=name, **style)
