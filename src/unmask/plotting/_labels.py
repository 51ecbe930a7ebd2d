"""Labels of points: near-coincident objects share one, and none covers another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._typing import Array, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Names in a joint label before the rest are only counted.
MAX_JOINED = 4
# Points that labels keep clear of; with many more the search for room takes seconds and the map is full anyway.
MAX_OBSTACLES = 2000


def draw_labels(ax: Axes, points: Array, labels: list[str], merge: float, max_labels: int) -> None:
    """Join, choose and place labels."""
    import textalloc
    from matplotlib.figure import Figure

    if not isinstance(ax.get_figure(), Figure):
        raise ValueError(
            "ax is not an Axes of a plain Figure, where labels cannot be placed; pass one of a Figure, or max_labels=0."
        )
    chosen = spread(points, max_labels)
    places, texts = join_labels(points[chosen], [labels[i] for i in chosen], merge * extent(points))
    obstacles = points[spread(points, MAX_OBSTACLES)]
    textalloc.allocate(
        ax,
        places[:, 0],
        places[:, 1],
        texts,
        x_scatter=obstacles[:, 0],
        y_scatter=obstacles[:, 1],
        textsize=9 if len(texts) <= 30 else 7,
        margin=0.004,
        min_distance=0.01,
        max_distance=0.2 if len(texts) <= 30 else 0.08,
        linecolor="0.6",
        linewidth=0.6,
        textcolor="0.15",
        draw_all=False,
        # A line to a label must not move the limits for which the labels were placed.
        plot_kwargs={"scalex": False, "scaley": False},
    )


def extent(points: Array) -> float:
    """Return the longer side of the box around the points."""
    return float(np.ptp(points, axis=0).max())


def spread(points: Array, most: int) -> IntArray:
    """Return positions of at most ``most`` points, each as far as possible from those before, in their own order.

    The first is the one farthest from the centre: the outline of the map comes first, then its inside.
    """
    if len(points) <= most:
        return np.arange(len(points))
    chosen = [int(np.argmax(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < most:
        nearest = np.minimum(nearest, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
        chosen.append(int(np.argmax(nearest)))
    return np.sort(chosen)


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
