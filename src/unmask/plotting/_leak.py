"""A chart of how much a map repeats of each known feature, beside what chance gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import quote
from ..problem import types_with_levels
from ._axes import add_title, axes_or_new, figure_of, frame_chart
from ._color import MARKERS, OKABE_ITO, draw_legend
from ._input import is_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MEASURES = {"linear": "along a line", "neighbours": "told by neighbours"}
LEVEL = 0.05
CHANCE = "0.87"
# How far apart the measures of one feature are drawn, in rows.
APART = 0.24
NARROW = 5.0  # inches of a figure, below which the legend takes two rows


def plot_leak(report: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw how much a map repeats of each known feature, beside what chance gives.

    Parameters
    ----------
    report : DataFrame
        What :func:`unmask.inspection.leak_report` returns.
    ax, title : Axes and str, optional
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        A row for each feature with a dot for each of the two measures. Grey is the range of 95% of chance, with a
        line at its mean where that is known; a dot is filled where the measure is above chance at level .05.

    Raises
    ------
    ValueError
        If the table is no such report, or has no rows.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from unmask.inspection import leak_report
    >>> from unmask.plotting import plot_leak
    >>> rng = np.random.default_rng(0)
    >>> known = pd.DataFrame({"age": rng.normal(size=30)})
    >>> ax = plot_leak(leak_report(known["age"] + rng.normal(size=(30, 1))[:, 0], known), ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age']
    """
    from matplotlib.patches import Patch

    frame = _check_report(report)
    ax = axes_or_new(ax, 6.0, float(np.clip(1.5 + 0.6 * len(frame), 2.2, 12.0)))
    figure = figure_of(ax)
    narrow = figure.bbox.width / figure.dpi < NARROW
    frame_chart(ax, f"{'' if narrow else 'how much of it the map shows; '}filled: more than chance", "")
    handles = [
        _draw_measure(ax, frame, measure, (at - 0.5) * APART, MARKERS[at], OKABE_ITO[at])
        for at, measure in enumerate(MEASURES)
    ]
    _frame_rows(ax, frame)
    rows = draw_legend(ax, [*handles, Patch(color=CHANCE, label=" 95% of chance")], "", columns=2 if narrow else 3)
    add_title(ax, title, rows)
    return ax


def _check_report(report: Any) -> pd.DataFrame:
    if not is_frame(report):
        raise ValueError(f"report is of type {type(report).__name__}; pass the table that leak_report returns.")
    needed = ["type", *(name for m in MEASURES for name in (m, f"{m}_reference", f"{m}_p"))]
    lacking = [name for name in needed if name not in report]
    if lacking:
        raise ValueError(f"report lacks the columns {quote(lacking)}; pass the table that leak_report returns.")
    if not len(report):
        raise ValueError("report has no rows: nothing was known, so that nothing can leak.")
    frame: pd.DataFrame = report
    return frame


def _draw_measure(ax: Axes, frame: pd.DataFrame, measure: str, offset: float, marker: str, color: str) -> Any:
    """Draw one measure of all features; return its entry of the legend."""
    from matplotlib.lines import Line2D

    at = np.arange(len(frame)) + offset
    values, reference = (frame[name].to_numpy(dtype=np.float64) for name in (measure, f"{measure}_reference"))
    above = frame[f"{measure}_p"].to_numpy(dtype=np.float64) <= LEVEL
    # Only a correlation with neighbours can be below 0: a share cannot, and the linear measure is a root.
    signed = (measure == "neighbours") & ~frame["type"].isin(types_with_levels()).to_numpy()
    left = np.where(signed, min(0.0, _lowest(frame)), 0.0)
    ax.barh(at, reference - left, left=left, height=0.8 * APART, color=CHANCE, zorder=1)
    if f"{measure}_baseline" in frame:
        baseline = frame[f"{measure}_baseline"].to_numpy(dtype=np.float64)
        ax.vlines(baseline, at - 0.4 * APART, at + 0.4 * APART, colors="0.6", linewidth=1.0, zorder=2)
    style: dict[str, Any] = {"marker": marker, "linestyle": "none", "markeredgecolor": color, "markersize": 6.0}
    ax.plot(values[above], at[above], markerfacecolor=color, zorder=4, **style)
    ax.plot(values[~above], at[~above], markerfacecolor="white", zorder=4, **style)
    return Line2D([], [], markerfacecolor=color, label=MEASURES[measure], **style)


def _lowest(frame: pd.DataFrame) -> float:
    """Return the smallest number drawn: correlations with neighbours may be below 0."""
    drawn = [name for m in MEASURES for name in (m, f"{m}_baseline", f"{m}_reference") if name in frame]
    return float(np.nanmin(frame[drawn].to_numpy(dtype=np.float64)))


def _frame_rows(ax: Axes, frame: pd.DataFrame) -> None:
    low = min(0.0, _lowest(frame))
    ax.set_yticks(np.arange(len(frame)), [str(name) for name in frame.index])
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.set_xlim(low - (0.04 if low else 0.02), 1.03)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if low:
        ax.axvline(0, color="0.75", linewidth=0.8, zorder=0)
    for row in range(1, len(frame)):
        ax.axhline(row - 0.5, color="0.93", linewidth=0.8, zorder=0)
