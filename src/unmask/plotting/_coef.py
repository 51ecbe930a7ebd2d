"""Heat maps of the coefficients of known features, and charts of their importance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import quote, require_choice, require_integer
from ._axes import add_title, axes_or_new, frame_chart, grey_frame, pair_of_axes
from ._color import OKABE_ITO, add_colorbar
from ._fonts import as_written
from ._input import table_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Red to blue over white, which is safe for the common colour deficiencies.
DIVERGING = "RdBu_r"
# Most features for which numbers are written into the cells.
MOST_WRITTEN = 12
MOST_NAMES = 40
KINDS = {"B": "B", "BBt": "BBᵀ"}


@as_written
def plot_coef(estimator_or_frame: Any, *, kind: str = "B", ax: Any = None, title: str | None = None) -> Any:
    """Draw the coefficients of the known features as a heat map.

    ``B`` itself is in its one symmetric positive form. Distances depend on ``BBᵀ`` alone: its diagonal says how much a
    feature adds to squared distances, and what lies off it how features act together.

    Parameters
    ----------
    estimator_or_frame : estimator or DataFrame of shape (n_known, n_known)
        A fitted estimator, or its ``coef_``.
    kind : {"B", "BBt", "both"}, default="B"
        Which matrix to draw.
    ax : Axes, or two Axes for ``kind="both"``, optional
        Where to draw; by default on a new figure.
    title : str, optional
        Title, in place of the name of the matrix; not with ``kind="both"``.

    Returns
    -------
    Axes, or two of them
        The Axes drawn on. Colours are centred at 0; numbers are written into the cells of up to 12 features.

    Raises
    ------
    ValueError
        If there are no known features, or if the table is not square.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_coef
    >>> B = pd.DataFrame([[2.0, 0.5], [0.5, 1.0]], index=["age", "size"], columns=["age", "size"])
    >>> ax = plot_coef(B, kind="BBt", ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['4.25', '1.50', '1.50', '1.25']
    """
    require_choice("kind", kind, (*KINDS, "both"))
    B, names = _check_coef(estimator_or_frame)
    tables = {"B": B, "BBt": B @ B.T}
    side = float(np.clip(1.6 + 0.55 * len(names), 3.2, 9.0))
    if kind != "both":
        title = KINDS[kind] if title is None else title
        return _draw_matrix(axes_or_new(ax, side + 1.0, side), tables[kind], names, title)
    if title is not None:
        raise ValueError(f"title={title!r} with kind='both', whose two Axes name their matrices; leave it out.")
    ax = axes_or_new(ax, 2 * (side + 1.0), side, columns=2)
    for one, name in zip(pair_of_axes(ax, "kind='both'"), KINDS, strict=True):
        _draw_matrix(one, tables[name], names, KINDS[name])
    return ax


def _check_coef(given: Any) -> tuple[Array, list[str]]:
    frame = table_of(given, "coef_", "estimator_or_frame")
    values = frame.to_numpy(dtype=np.float64)
    if values.shape[0] != values.shape[1]:
        raise ValueError(f"estimator_or_frame has shape {values.shape} but coefficients are square; pass coef_.")
    if not values.size:
        raise ValueError("estimator_or_frame has no coefficients: nothing was known; fit it with known=….")
    if not np.isfinite(values).all():
        raise ValueError("estimator_or_frame has coefficients that are not finite; pass coef_ of a fitted estimator.")
    return values, [str(name) for name in frame.index]


def _draw_matrix(ax: Axes, values: Array, names: list[str], title: str) -> Axes:
    largest = float(np.abs(values).max()) or 1.0
    drawn = ax.imshow(values, cmap=DIVERGING, vmin=-largest, vmax=largest)
    grey_frame(ax)
    ax.tick_params(length=0)
    at = np.arange(0, len(names), -(-len(names) // MOST_NAMES))
    ax.set_xticks(at, [names[i] for i in at], rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(at, [names[i] for i in at])
    if len(names) <= MOST_WRITTEN:
        _write_cells(ax, values, largest)
    add_colorbar(ax, drawn, "")
    add_title(ax, title)
    return ax


def _write_cells(ax: Axes, values: Array, largest: float) -> None:
    """Write the numbers, with as many decimals as show three digits of the largest."""
    size = int(np.floor(np.log10(largest)))
    form = f".{max(2 - size, 0)}f" if -3 <= size < 6 else ".1e"
    for (row, column), value in np.ndenumerate(values):
        text = f"{value:{form}}"
        text = text.lstrip("-") if not float(text) else text  # no negative zero
        color = "white" if abs(value) > 0.6 * largest else "0.15"
        ax.text(column, row, text, ha="center", va="center", fontsize="small", color=color)


@as_written
def plot_importance(
    estimator_or_frame: Any,
    *,
    column: str = "standardized",
    max_features: int = 40,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how much each known feature counts, the most important at the top.

    Parameters
    ----------
    estimator_or_frame : estimator or DataFrame
        A fitted estimator, its ``importance_``, or a table like it, one row per feature. Columns ``low`` and ``high``
        are drawn as intervals.
    column : str, default="standardized"
        What to draw: ``"standardized"`` (change of distance per standard deviation of the feature) or ``"raw"`` (per
        unit, which only numeric features have).
    max_features : int, default=40
        Most features to draw; how many are left out is said below the axis.
    ax, title : Axes and str, optional
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        The Axes drawn on.

    Raises
    ------
    ValueError
        If there are no known features, or if the table has no such column.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_importance
    >>> table = pd.DataFrame({"standardized": [0.4, 1.2]}, index=["age", "size"])
    >>> ax = plot_importance(table, ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['size', 'age']
    """
    frame = _check_importance(estimator_or_frame, column)
    most = require_integer("max_features", max_features, 1)
    ordered = frame.sort_values(column, ascending=False, na_position="last", kind="stable")
    shown = ordered.iloc[:most]
    ax = axes_or_new(ax, 5.6, float(np.clip(1.1 + 0.3 * len(shown), 2.0, 9.0)))
    unit = {"standardized": "distance per standard deviation", "raw": "distance per unit"}.get(column, column)
    left_out = len(ordered) - len(shown)
    frame_chart(ax, unit + (f" ({left_out} smaller ones not shown)" if left_out else ""), "")
    _draw_importance(ax, shown, column)
    add_title(ax, title)
    return ax


def _check_importance(given: Any, column: str) -> pd.DataFrame:
    given = given if hasattr(given, "importance_") else getattr(given, "importance", given)
    frame: pd.DataFrame = table_of(given, "importance_", "estimator_or_frame")
    if column not in frame:
        raise ValueError(f"column={column!r} is not in the table of importance, which has {quote(frame.columns)}.")
    if not len(frame):
        raise ValueError("estimator_or_frame has no rows of importance: nothing was known; fit it with known=….")
    if ("low" in frame) != ("high" in frame):
        raise ValueError("estimator_or_frame has only one of the columns 'low' and 'high'; an interval needs both.")
    return frame


def _draw_importance(ax: Axes, frame: pd.DataFrame, column: str) -> None:
    values, at = frame[column].to_numpy(dtype=np.float64), np.arange(len(frame))
    size = 6.0 if len(frame) <= 20 else 4.0
    ax.hlines(at, 0, np.nan_to_num(values), colors="0.8", linewidth=1.2, zorder=1)
    if "low" in frame:
        low, high = (frame[name].to_numpy(dtype=np.float64) for name in ("low", "high"))
        ax.hlines(at, low, high, colors=OKABE_ITO[0], linewidth=3.0, alpha=0.35, zorder=2)
    ax.plot(values, at, "o", color=OKABE_ITO[0], markersize=size, zorder=3)
    for row in at[np.isnan(values)]:
        ax.text(0, row, " not defined", va="center", fontsize="small", color="0.5")
    ax.set_yticks(at, [str(name) for name in frame.index], fontsize="small" if len(frame) <= 20 else "x-small")
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.axvline(0, color="0.75", linewidth=0.8, zorder=0)
