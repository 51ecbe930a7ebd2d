"""Very many points, drawn as coloured cells of a grid, and as single points where there are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array, IntArray
from ._color import (
    CROWDED_ABOVE,
    OKABE_ITO,
    Categories,
    Coloring,
    ColorScale,
    Mask,
    OneColor,
    add_colorbar,
    add_legends,
    draw_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELLS_ALONG = 160
# Fewer objects than this in a cell are drawn as points, so that outliers are seen.
CROWD = 3
COUNTS = ("#9fcbe4", OKABE_ITO[0], "#00213a")
COUNTS_NAME = "objects per cell"


@dataclass(frozen=True)
class CellGrid:
    """Square cells over the points: their edges, each point's cell, and how many points each cell has."""

    x: Array
    y: Array
    of_point: IntArray
    counts: IntArray

    @classmethod
    def over(cls, points: Array, *, square: bool = True, along: int = CELLS_ALONG) -> CellGrid:
        """Divide the range of points into cells: `along` of them on the longer side, on both if not `square`."""
        low, span = points.min(axis=0), np.ptp(points, axis=0)
        span = np.where(span > 0, span, 1.0)
        sides = np.maximum(1, np.ceil(along * span / (span.max() if square else span)).astype(int))
        length = span.max() / along if square else span / sides
        at = np.minimum(((points - low) / length).astype(int), sides - 1)
        of_point = at[:, 1] * sides[0] + at[:, 0]
        counts = np.bincount(of_point, minlength=sides[0] * sides[1])
        edges = [low[k] + np.arange(sides[k] + 1) * np.broadcast_to(length, 2)[k] for k in range(2)]
        return cls(edges[0], edges[1], of_point, counts)

    @property
    def crowded(self) -> Mask:
        """Tell which cells have many points."""
        return np.asarray(self.counts >= CROWD)

    def draw(self, ax: Axes, values: Array, **style: Any) -> Any:
        """Colour the cells by a value, or by four numbers of a colour, per cell."""
        shape = (len(self.y) - 1, len(self.x) - 1, *values.shape[1:])
        table = np.ma.masked_invalid(values) if values.ndim == 1 else values
        return ax.pcolormesh(self.x, self.y, table.reshape(shape), rasterized=True, zorder=2.5, **style)


def wants_density(density: Any, points: Array, shapes: Categories | None) -> bool:
    """Tell whether to draw cells in place of points."""
    if not isinstance(density, bool | np.bool_) and density != "auto":
        raise ValueError(f"density={density!r} must be 'auto', True or False.")
    flat = bool(np.any(np.ptp(points, axis=0) == 0))
    if density is True and (flat or shapes is not None):
        why = "all points lie on a line" if flat else "a cell has no shape"
        raise ValueError(f"density=True cannot be drawn, because {why}; pass density=False.")
    return bool(density) if density != "auto" else len(points) > CROWDED_ABOVE and not flat and shapes is None


def draw_objects(
    ax: Axes, points: Array, coloring: Coloring, shapes: Categories | None = None, *, crowded: bool = False
) -> int:
    """Draw objects as cells or as points, with legends; return how many rows of legend are above the Axes."""
    if crowded:
        return draw_density(ax, points, coloring)
    draw_points(ax, points, coloring, shapes)
    return add_legends(ax, coloring, shapes)


def draw_density(ax: Axes, points: Array, coloring: Coloring) -> int:
    """Draw cells where points are many, and points elsewhere; return how many rows of legend are above the Axes."""
    cells = CellGrid.over(points)
    alone = ~cells.crowded[cells.of_point]
    draw_points(ax, points[alone], coloring.only(alone), s=1.5, linewidths=0.0, alpha=0.6, rasterized=True)
    if isinstance(coloring, OneColor):
        draw_counts(ax, cells, COUNTS_NAME)
        return 0
    if isinstance(coloring, ColorScale):
        _draw_means(ax, cells, coloring)
    else:
        cells.draw(ax, _majority(cells, coloring))
    # The limits come from all points, of which the cells cover the crowds.
    ax.update_datalim(np.stack([points.min(axis=0), points.max(axis=0)]))
    # Means lie between grades.
    return coloring.draw_bar(ax) if isinstance(coloring, ColorScale) else coloring.add_legend(ax, 0)


def draw_counts(ax: Axes, cells: CellGrid, name: str) -> None:
    """Colour the crowded cells by how many objects they have, on a logarithmic scale."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    values = np.where(cells.crowded, cells.counts, np.nan)
    norm = LogNorm(CROWD, max(float(cells.counts.max()), CROWD + 1))
    drawn = cells.draw(ax, values, norm=norm, cmap=LinearSegmentedColormap.from_list("counts", COUNTS))
    bar = add_colorbar(ax, drawn, name)
    bar.locator, bar.minorlocator = LogLocator(subs=(1.0, 2.0, 5.0)), NullLocator()
    bar.formatter = StrMethodFormatter("{x:,.0f}")


def _draw_means(ax: Axes, cells: CellGrid, coloring: ColorScale) -> None:
    """Colour each crowded cell by the mean of the values there."""
    there = np.isfinite(coloring.values)
    count = np.bincount(cells.of_point[there], minlength=len(cells.counts))
    total = np.bincount(cells.of_point[there], weights=coloring.values[there], minlength=len(cells.counts))
    means = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    colors = ColorScale(means, coloring.name, coloring.limits).rgba()
    colors[~cells.crowded, 3] = 0.0
    cells.draw(ax, colors)


def _majority(cells: CellGrid, coloring: Categories) -> Array:
    """Return for each cell the colour of its most frequent category, the stronger the more objects there are."""
    kinds = len(coloring.levels) + 1
    table = np.bincount(cells.of_point * kinds + coloring.codes + 1, minlength=len(cells.counts) * kinds)
    most = table.reshape(-1, kinds).argmax(axis=1) - 1
    colors = Categories(most, coloring.levels, coloring.name).rgba()
    strength = np.log(np.maximum(cells.counts, 1)) / max(np.log(cells.counts.max()), 1.0)
    colors[:, 3] = np.where(cells.crowded, 0.3 + 0.7 * strength, 0.0)
    return colors
