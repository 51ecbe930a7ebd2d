"""A map as a scatter plot: equal aspect, colours that everyone can tell apart, labels that can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import is_pandas, quote
from ._color import draw_points
from ._labels import draw_labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# White space around the points, as a share of its width and height: room for the labels of the outermost objects.
MARGIN = 0.12


def plot_map(
    embedding: Any,
    *,
    labels: Any = None,
    color: Any = None,
    ax: Axes | None = None,
    title: str | None = None,
    merge: float = 0.03,
    max_labels: int = 150,
) -> Axes:
    """Draw a map: one point per object, one unit of distance the same length in every direction.

    Conditional maps put objects that differ only in what is known on top of each other. Their labels are joined
    ("Brother / Sister") before labels are placed so that none covers another or a point; a label for which there is
    no room is left out.

    Parameters
    ----------
    embedding : array-like or DataFrame of shape (n_objects, n_components)
        The map. The first two columns are drawn, a single one along a line. The index of a DataFrame labels the
        objects and its columns the axes.
    labels : sequence of length n_objects, optional
        Labels of the objects. By default the index of a DataFrame, and none for an array.
    color : Series or array-like of length n_objects, optional
        What to colour by. Numbers get a colour scale and a colour bar; text, booleans and categories get a colour and
        a marker each, and a legend. A Series is aligned by label with a DataFrame.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        Title of the Axes.
    merge : float, default=0.03
        Objects nearer to each other than this share of the map's longer side have one label together. 0 joins only
        those at exactly the same place.
    max_labels : int, default=150
        Most objects to label; 0 draws no labels. Of more objects than this only a selection is labelled: those that
        lie farthest from each other, so that all regions of the map have some.

    Returns
    -------
    Axes
        The Axes drawn on. Points are rasterised in vector files when there are more than 2000.

    Raises
    ------
    ValueError
        If the map has no column or cells that are not finite, if `labels` or `color` do not match it, or if there are
        more categories than can be told apart.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_map
    >>> square = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.001]]
    >>> ax = plot_map(square, labels=list("abcde"), ax=Figure().add_subplot())
    >>> sorted(text.get_text() for text in ax.texts)
    ['a', 'b', 'c', 'd / e']
    """
    points, names = _check_embedding(embedding)
    index = embedding.index if is_pandas(embedding) else None
    labels = index if labels is None else _one_per_object("labels", labels, len(points), index)
    colors = None if color is None else _one_per_object("color", color, len(points), index)
    _check_number("merge", merge)
    _check_number("max_labels", max_labels)
    ax = _new_axes() if ax is None else ax
    figure = _figure_of(ax)
    _frame(ax, names)
    rows = draw_points(ax, figure, points, colors, str(getattr(color, "name", None) or ""))
    if title is not None:
        ax.set_title(title, loc="left", pad=6 + 14 * rows, fontsize="medium", fontweight="bold")
    _settle(ax, figure)
    if labels is not None and max_labels > 0:
        draw_labels(ax, points, [str(label) for label in labels], merge, int(max_labels))
    return ax


def _check_embedding(embedding: Any) -> tuple[Array, list[str]]:
    """Return the two columns to draw (the second zero if there is only one) and the names of those that exist."""
    values = np.asarray(embedding, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"embedding has shape {values.shape}; pass one row per object and at least one column.")
    wrong = ~np.isfinite(values)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"embedding has {values[row, column]} in row {row}, column {column}; every coordinate must be finite: "
            "leave the object out."
        )
    columns = getattr(embedding, "columns", [])
    names = [str(name) for name in list(columns)[:2]]
    if values.shape[1] == 1:
        values = np.column_stack([values, np.zeros(len(values))])
        return values, names or [""]
    return values[:, :2], names or ["", ""]


def _one_per_object(name: str, given: Any, n: int, index: pd.Index | None) -> Any:
    """Return ``given`` in the order of the map, after checking that it has one entry per object."""
    if len(given) != n:
        raise ValueError(f"{name} has {len(given)} entries but the map has {n} objects; pass one per object.")
    if index is None or not is_pandas(given) or given.index.equals(index):
        return given
    if not (given.index.is_unique and index.is_unique) or len(index.difference(given.index)):
        raise ValueError(
            f"{name} and embedding disagree on labels ({quote(given.index)} and {quote(index)}); use the same labels, "
            f"each once, or pass {name}.to_numpy() to match by position."
        )
    return given.loc[index]


def _check_number(name: str, value: float) -> None:
    if not np.isfinite(value) or value < 0:
        raise ValueError(f"{name}={value!r} must be a number of at least 0.")


def _new_axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(6.4, 6.0), layout="constrained")[1]


def _frame(ax: Axes, names: list[str]) -> None:
    """Set margins, equal aspect and a quiet frame."""
    ax.margins(MARGIN)
    shared = all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    # Limits that several Axes share in both directions cannot give way; the box can.
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")
    ax.set_xlabel(names[0], color="0.35")
    if len(names) == 1:
        ax.yaxis.set_visible(False)
    else:
        ax.set_ylabel(names[1], color="0.35")
    ax.tick_params(colors="0.5", labelsize="small", length=2.5)
    ax.locator_params(nbins=5)
    ax.spines[:].set(color="0.75", linewidth=0.8)


def _figure_of(ax: Axes) -> Figure | SubFigure:
    figure = ax.get_figure()
    if figure is None:
        raise ValueError("ax belongs to no figure, so that nothing can be drawn on it; pass an Axes of a figure.")
    return figure


def _settle(ax: Axes, figure: Figure | SubFigure) -> None:
    """Let the limits fill the Axes at equal aspect, then keep them: labels are placed for these limits.

    Limits that go on giving way ("datalim") drift from one drawing to the next whenever the layout changes a little.
    """
    for _ in range(2):  # the second time with the room that ticks, title and legend took
        figure.figure.draw_without_rendering()
    # auto: a further map drawn on these Axes, or on others that share them, may still widen the limits.
    ax.set_xlim(ax.get_xlim(), auto=True)
    ax.set_ylim(ax.get_ylim(), auto=True)
    ax.set_adjustable("box")
