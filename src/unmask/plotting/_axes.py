"""Making Axes, framing them, and fixing their limits before labels are placed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._fonts import style_of_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

GREY = "0.35"
# White space around the points, as a share of their width and height: room for the labels of the outermost objects.
MARGIN = 0.12
# Height of a row of legend above the Axes, in points.
ROW = 14


def axes_or_new(ax: Any, width: float = 6.4, height: float = 6.0, columns: int = 1) -> Any:
    """Return the Axes given, after a check if they should be one, or those of a new figure of this size in inches."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(1, columns, figsize=(width, height), layout="constrained")[1]
    elif columns == 1:
        figure_of(ax)
    return ax


def figure_of(ax: Axes) -> Figure | SubFigure:
    """Return the figure to which the Axes belong."""
    if not hasattr(ax, "get_figure"):
        raise ValueError(f"ax is of type {type(ax).__name__}; pass a matplotlib Axes, or leave it out.")
    figure = ax.get_figure()
    if figure is None:
        raise ValueError("ax belongs to no figure, so that nothing can be drawn on it; pass an Axes of a figure.")
    return figure


def pair_of_axes(ax: Any, reason: str) -> tuple[Axes, Axes]:
    """Return two Axes of the same figure."""
    pair = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(pair) != 2 or figure_of(pair[0]).figure is not figure_of(pair[1]).figure:
        raise ValueError(
            f"ax has {len(pair)} Axes but {reason} needs two of one figure; pass pyplot.subplots(1, 2)[1]."
        )
    return pair[0], pair[1]


def grey_frame(ax: Axes) -> None:
    """Draw ticks and frame in grey."""
    ax.tick_params(colors="0.5", labelcolor=GREY, labelsize="small", length=2.5)
    ax.spines[:].set(color="0.75", linewidth=0.8)


def frame_chart(ax: Axes, x: str, y: str) -> None:
    """Draw a grey frame at the left and below, with names of the axes."""
    grey_frame(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(x, color=GREY, **style_of_text())
    ax.set_ylabel(y, color=GREY, **style_of_text())


def frame_map(ax: Axes, names: list[str]) -> None:
    """Set margins, equal aspect and a grey frame; one name means that the map is a line."""
    ax.margins(MARGIN)
    shared = all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    # Limits that several Axes share in both directions cannot be adjusted; the box can.
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")
    ax.set_xlabel(names[0], color=GREY, **style_of_text())
    if len(names) == 1:
        ax.yaxis.set_visible(False)
    else:
        ax.set_ylabel(names[1], color=GREY, **style_of_text())
    grey_frame(ax)
    ax.locator_params(nbins=5)


def add_title(ax: Axes, title: str | None, rows: int = 0) -> None:
    """Put a title above the Axes and above so many rows of legend."""
    if title is not None:
        ax.set_title(title, loc="left", pad=6 + ROW * rows, fontsize="medium", fontweight="bold", **style_of_text())


def fix_limits(ax: Axes) -> None:
    """Adjust the limits to fill the Axes at equal aspect, then keep them: labels are placed for these limits.

    Limits that stay adjustable ("datalim") change from one drawing to the next whenever the layout changes a little.
    """
    for _ in range(2):  # the second time with the room that ticks, title and legend took
        figure_of(ax).figure.draw_without_rendering()
    # auto: a further map drawn on these Axes, or on others that share them, may still widen the limits.
    ax.set_xlim(ax.get_xlim(), auto=True)
    ax.set_ylim(ax.get_ylim(), auto=True)
    ax.set_adjustable("box")
