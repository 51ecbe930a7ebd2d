"""Points and their colours: a scale for numbers, a colour and a marker each for categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Okabe and Ito's palette, which people with any of the common colour deficiencies can tell apart; yellow, which is
# weak on white, comes last.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D")
MISSING = "0.75"
MISSING_NAME = "missing"
LEGEND_COLUMNS = 4
RASTERIZE_ABOVE = 2000


def draw_points(ax: Axes, figure: Figure | SubFigure, points: Array, colors: Any, name: str) -> int:
    """Draw the points; return how many rows of legend stand above the Axes."""
    if colors is None:
        ax.scatter(*points.T, color=OKABE_ITO[0], **_style(len(points)))
        return 0
    import pandas as pd

    series = pd.Series(colors).reset_index(drop=True)
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        _draw_numbers(ax, figure, points, series.to_numpy(dtype=np.float64, na_value=np.nan), name)
        return 0
    return _draw_categories(ax, points, series, name)


def _style(n: int) -> dict[str, Any]:
    """Return how a point looks: smaller the more there are, with a thin white edge while they are few."""
    size = float(np.clip(3200 / n, 4, 42))
    edge = 0.6 if n <= 300 else 0.0
    return {"s": size, "linewidths": edge, "edgecolors": "white", "zorder": 3, "rasterized": n > RASTERIZE_ABOVE}


def _draw_numbers(ax: Axes, figure: Figure | SubFigure, points: Array, values: Array, name: str) -> None:
    from matplotlib import colormaps

    scale = colormaps["viridis"].with_extremes(bad=MISSING)
    drawn = ax.scatter(points[:, 0], points[:, 1], c=values, cmap=scale, plotnonfinite=True, **_style(len(points)))
    bar = figure.colorbar(drawn, ax=ax, shrink=0.6, pad=0.02, aspect=25)
    bar.set_label(name)
    bar.outline.set_visible(False)  # type: ignore[operator]


def _draw_categories(ax: Axes, points: Array, series: pd.Series[Any], name: str) -> int:
    import pandas as pd

    category = pd.Categorical(series)
    names = [str(level) for level in category.categories]
    most = len(OKABE_ITO) * len(MARKERS)
    if len(names) > most:
        raise ValueError(
            f"color has {len(names)} categories, of which at most {most} can be told apart; join the rare ones, or "
            "pass numbers for a colour scale."
        )
    for code, level in enumerate(names):
        here = category.codes == code
        marker = MARKERS[(code + code // len(OKABE_ITO)) % len(MARKERS)]
        style = _style(len(points)) | {"color": OKABE_ITO[code % len(OKABE_ITO)], "marker": marker}
        ax.scatter(*points[here].T, label=level, **style)
    absent = category.codes == -1
    if absent.any():
        ax.scatter(*points[absent].T, label=MISSING_NAME, color=MISSING, **_style(len(points)))
    return _draw_legend(ax, len(names) + bool(absent.any()), name)


def _draw_legend(ax: Axes, entries: int, name: str) -> int:
    """Put the legend above the Axes, where it covers neither points nor labels; return its rows."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=min(entries, LEGEND_COLUMNS),
        title=name or None,
        alignment="left",
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        borderaxespad=0.0,
        borderpad=0.2,
        handletextpad=0.1,
        columnspacing=0.8,
    )
    return -(-entries // LEGEND_COLUMNS) + bool(name)
