"""Labels of points: objects at nearly the same place share one, and none covers another."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array, IntArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

# Names in a joint label before the rest are only counted.
MAX_JOINED = 4
# Points that labels keep clear of; with many more the search for room takes seconds and the map is full anyway.
MAX_OBSTACLES = 2000
# Of more points than this, one per cell of a grid stands for all: a fine one where points are chosen, and a coarse one
# where labels only keep clear of them.
THIN_ABOVE = 20_000
FINE, COARSE = 200, 40


@dataclass(frozen=True)
class Labels:
    """Texts and their positions; those that are `needed` are drawn even where there is no room."""

    places: Array
    texts: list[str]
    color: str = "0.15"
    weight: str = "normal"
    needed: bool = False


def choose_labels(points: Array, labels: Sequence[object], merge: float, max_labels: int) -> Labels:
    """Return labels of at most so many objects, near ones joined."""
    chosen = spread(points, max_labels)
    places, texts = join_labels(points[chosen], [str(labels[i]) for i in chosen], merge * extent(points))
    return Labels(places, texts)


def draw_labels(
    ax: Axes, labels: Sequence[Labels], obstacles: Array, lines: Sequence[Array] = (), *, outline: bool = False
) -> None:
    """Place labels, earlier ones first, clear of each other, of points and of lines."""
    import textalloc

    _require_plain_figure(ax)
    places = np.concatenate([one.places for one in labels])
    texts = [text for one in labels for text in one.texts]
    colors = [one.color for one in labels for _ in one.texts]
    crossed: Any = {f"{name}_lines": [line[:, k] for line in lines] for k, name in enumerate("xy") if lines}
    few = len(texts) <= 30
    with contextlib.redirect_stdout(io.StringIO()):  # textalloc prints where there is no room for any
        drawn = textalloc.allocate(
            ax,
            places[:, 0],
            places[:, 1],
            texts,
            x_scatter=obstacles[:, 0],
            y_scatter=obstacles[:, 1],
            **crossed,
            textsize=9 if few else 7,
            fontweight=[one.weight for one in labels for _ in one.texts],
            margin=0.004,
            min_distance=0.01,
            max_distance=0.2 if few else 0.08,
            linecolor="0.6",
            linewidth=0.6,
            textcolor=colors,
            draw_all=False,
            # A line to a label must not move the limits for which the labels were placed.
            plot_kwargs={"scalex": False, "scaley": False},
            path_effects=white_outline() if outline else None,
        )[2]
    needed = [one.needed for one in labels for _ in one.texts]
    for i in (i for i in range(len(texts)) if needed[i] and drawn[i] is None):
        style: dict[str, Any] = {"color": colors[i], "fontsize": 9, "ha": "center", "va": "center"}
        ax.text(places[i, 0], places[i, 1], texts[i], path_effects=white_outline(), **style)


def _require_plain_figure(ax: Axes) -> None:
    from matplotlib.figure import Figure

    if not isinstance(ax.get_figure(), Figure):
        raise ValueError(
            "ax is not an Axes of a plain Figure, where labels cannot be placed; pass one of a Figure, or max_labels=0."
        )


def white_outline() -> list[Any]:
    """Return the effect of a white outline, which keeps text readable on top of lines."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.0, foreground="white")]


def obstacles_of(points: Array) -> Array:
    """Return the points that labels keep clear of."""
    if len(points) > THIN_ABOVE:
        return points[_one_per_cell(points, COARSE)]
    return points[spread(points, MAX_OBSTACLES)]


def extent(points: Array) -> float:
    """Return the longer side of the box around the points."""
    return float(np.ptp(points, axis=0).max())


def spread(points: Array, most: int, apart: float = 0.0) -> IntArray:
    """Return positions of at most ``most`` points, each as far as possible from those before, in their own order.

    The first is the one farthest from the centre: the outline of the map comes first, then its inside. Points are left
    out that come nearer than ``apart`` to one before.
    """
    if len(points) > THIN_ABOVE and most < len(points):
        kept = _one_per_cell(points, FINE)
        return np.asarray(kept[spread(points[kept], most, apart)])
    if len(points) <= most and apart == 0.0:
        return np.arange(len(points))
    chosen = [int(np.argmax(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < min(most, len(points)):
        nearest = np.minimum(nearest, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
        if nearest.max() < apart**2:
            break
        chosen.append(int(np.argmax(nearest)))
    return np.sort(chosen)


def _one_per_cell(points: Array, along: int) -> IntArray:
    """Return positions of the points that come first in their cells of a grid, so many cells along the longer side."""
    side = max(extent(points) / along, np.finfo(float).tiny)
    cells = np.floor((points - points.min(axis=0)) / side).astype(np.int64)
    return np.sort(np.unique(cells[:, 1] * (along + 1) + cells[:, 0], return_index=True)[1])


def join_labels(points: Array, labels: list[str], distance: float) -> tuple[Array, list[str]]:
    """Return one place and text per group of points that are all within ``distance`` of each other.

    Complete linkage: a chain of neighbours across the map does not end up under one label.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(points) < 2:
        return points, labels
    group = fcluster(linkage(points, "complete"), distance, "distance")
    _, first = np.unique(group, return_index=True)
    members = [np.flatnonzero(group == group[i]) for i in np.sort(first)]
    places = np.array([points[m].mean(axis=0) for m in members])
    return places, [_joined([labels[i] for i in m]) for m in members]


def _joined(names: list[str]) -> str:
    listed = " / ".join(names[:MAX_JOINED])
    return listed if len(names) <= MAX_JOINED else f"{listed} + {len(names) - MAX_JOINED} more"
