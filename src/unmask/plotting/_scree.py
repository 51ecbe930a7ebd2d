"""Curves of the stress, against the number of dimensions and against iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import quote
from ._axes import add_title, axes_or_new, frame_chart
from ._color import OKABE_ITO
from ._input import is_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARK = "0.75"
# A range of more than this factor is drawn on a logarithmic scale.
LOG_ABOVE = 5.0


def plot_scree(table: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the stress, and the error of held-out dissimilarities if it is there, against the number of dimensions.

    Parameters
    ----------
    table : DataFrame, Series or sequence
        A DataFrame as :func:`unmask.inspection.scree` and :func:`unmask.inspection.choose_n_components` make it:
        indexed by the number of dimensions, with a column ``stress`` and perhaps ``heldout`` and ``heldout_se``, drawn
        as bars of one standard error to each side, and ``residual``, the axes of an adjusted map, as columns; ``attrs``
        may name the numbers ``elbow`` and ``chosen``, which are marked. Or the stress alone: a Series with that index,
        or a sequence for 0, 1, … dimensions.
    ax, title : Axes and str, optional
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        The Axes drawn on.

    Raises
    ------
    ValueError
        If there is no stress, if it has no finite value, or if the index holds anything but whole numbers.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_scree
    >>> ax = plot_scree([1.0, 0.4, 0.1, 0.08], ax=Figure().add_subplot())
    >>> ax.lines[0].get_xdata().tolist()
    [0, 1, 2, 3]
    """
    frame = _check_scree(table)
    ax = axes_or_new(ax, 5.6, 3.8)
    frame_chart(ax, "dimensions", "normalised stress" if "heldout" not in frame else "share of the sum of squares")
    x = frame.index.to_numpy()
    _draw_marks(ax, frame)
    ax.plot(x, frame["stress"], "o-", color=OKABE_ITO[0], linewidth=1.4, markersize=5, label="stress of the fit")
    if "heldout" in frame:
        bars = frame.get("heldout_se")
        style: dict[str, Any] = {"linewidth": 1.4, "markersize": 4.5, "capsize": 2.5, "elinewidth": 1.0}
        ax.errorbar(x, frame["heldout"], bars, fmt="s--", color=OKABE_ITO[1], label="error of held-out pairs", **style)
        ax.legend(frameon=False, fontsize="small", labelcolor="0.25")
    if "residual" in frame:
        _draw_residual_axes(ax, frame["residual"])
    ax.set_xticks(x[:: max(1, -(-len(x) // 16))])
    ax.set_ylim(bottom=0)
    add_title(ax, title)
    return ax


def _draw_residual_axes(ax: Axes, residual: pd.Series[Any]) -> None:
    """Draw how long the axes of the adjusted map are, as bars on a scale of their own."""
    beside = ax.twinx()
    beside.bar(residual.index, residual, width=0.5, color=OKABE_ITO[2], alpha=0.35, linewidth=0, zorder=0)
    beside.set_ylabel("axis of the adjusted map (standard deviation)", color="0.35")
    beside.spines[["top", "left"]].set_visible(False)
    beside.set_ylim(bottom=0)
    ax.set_zorder(beside.get_zorder() + 1)  # the curves in front
    ax.patch.set_visible(False)


def _check_scree(table: Any) -> pd.DataFrame:
    import pandas as pd

    if not is_frame(table):
        table = pd.Series(table, dtype=np.float64).to_frame("stress")
    frame: pd.DataFrame = table
    if "stress" not in frame:
        raise ValueError(f"table has no column 'stress' but {quote(frame.columns) or 'none'}; pass a table of scree.")
    if not pd.api.types.is_integer_dtype(frame.index):
        raise ValueError(
            f"table is indexed by {quote(frame.index) or 'nothing'}; its index must hold the numbers of dimensions."
        )
    if not np.isfinite(frame["stress"].to_numpy(dtype=np.float64)).any():
        raise ValueError("table has no finite stress; pass that of at least one number of dimensions.")
    return frame


def _draw_marks(ax: Axes, frame: pd.DataFrame) -> None:
    """Mark the elbow and the choice by lines with names at their upper ends."""
    marks: dict[int, list[str]] = {}
    for name in ("elbow", "chosen"):
        if frame.attrs.get(name) is not None:
            marks.setdefault(int(frame.attrs[name]), []).append(name)
    for place, names in marks.items():
        ax.axvline(place, color=MARK, linewidth=1.2, linestyle="-" if "chosen" in names else ":", zorder=1)
        style: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": "small", "color": "0.35"}
        above: dict[str, Any] = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
        ax.annotate(" and ".join(names), (place, 1.0), (0, 2), **above, **style)


def plot_stress_path(estimator: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw how the stress of the best start fell, and where all starts ended.

    Parameters
    ----------
    estimator : ConditionalMDS or ConditionalIsomap
        A fitted estimator; its ``stress_path_`` and ``starts_`` are drawn.
    ax, title : Axes and str, optional
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        The Axes drawn on. The marks at the right are the final stresses of all starts; many in one place mean that
        many starts found the same map. The scale is logarithmic if the largest value is more than 5 times the smallest.

    Raises
    ------
    ValueError
        If the estimator has no path of the stress.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from unmask import ConditionalMDS
    >>> from unmask.plotting import plot_stress_path
    >>> mds = ConditionalMDS(1, n_init=3, random_state=0).fit(np.random.default_rng(0).normal(size=(10, 3)))
    >>> ax = plot_stress_path(mds, ax=Figure().add_subplot())
    >>> len(ax.lines[0].get_ydata()) == mds.n_iter_ + 1
    True
    """
    if not hasattr(estimator, "stress_path_"):
        raise ValueError(
            f"estimator is of type {type(estimator).__name__} and has no stress_path_; pass a fitted ConditionalMDS or "
            "ConditionalIsomap (the closed form takes no steps)."
        )
    path = np.asarray(estimator.stress_path_, dtype=np.float64)
    ends = np.asarray(estimator.starts_["stress"], dtype=np.float64)
    ax = axes_or_new(ax, 5.6, 3.8)
    frame_chart(ax, "iteration of the best start", "normalised stress")
    everything = np.concatenate([path, ends])
    if everything.min() > 0 and everything.max() > LOG_ABOVE * everything.min():
        _log_scale(ax)
    ax.plot(np.arange(len(path)), path, color=OKABE_ITO[0], linewidth=1.6, zorder=3)
    ax.plot(len(path) - 1, path[-1], "o", color=OKABE_ITO[0], markersize=5, zorder=3)
    ax.annotate(
        f"{path[-1]:.4g}", (len(path) - 1, path[-1]), (0, 7), textcoords="offset points", ha="right", fontsize="small"
    )
    ax.locator_params(axis="x", integer=True)
    _draw_ends(ax, ends)
    add_title(ax, title)
    return ax


def _log_scale(ax: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _draw_ends(ax: Axes, ends: Array) -> None:
    """Draw the final stresses of all starts as short lines at the right."""
    style: dict[str, Any] = {"colors": OKABE_ITO[1], "alpha": 0.7, "linewidth": 0.9, "clip_on": False}
    ax.hlines(ends, 1.02, 1.06, transform=ax.get_yaxis_transform(), label="ends of all starts", **style)
    ax.update_datalim(np.column_stack([np.zeros_like(ends), ends]), updatex=False)
    ax.autoscale_view()
    text = f"{len(ends)} starts" if len(ends) > 1 else "1 start"
    ax.text(1.08, 0.5, text, transform=ax.transAxes, rotation=90, va="center", fontsize="small", color=OKABE_ITO[1])
