"""Very many points: hexagons where there is a crowd, coloured by what is in them, above single points elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ._color import CROWDED_ABOVE, OKABE_ITO, Categories, ColorScale, add_colorbar, add_legends, draw_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEXAGONS_ALONG = 160
# Fewer objects than this in a hexagon are left as points, so that outliers are seen.
CROWD = 3
COUNTS = ("#9fcbe4", OKABE_ITO[0], "#00213a")
POINTS: dict[str, Any] = {"s": 1.5, "linewidths": 0.0, "alpha": 0.6, "rasterized": True}


def wants_density(density: Any, points: Array, shapes: Categories | None) -> bool:
    """Tell whether to draw hexagons above points."""
    if not isinstance(density, bool | np.bool_) and density != "auto":
        raise ValueError(f"density={density!r} must be 'auto', True or False.")
    flat = bool(np.any(np.ptp(points, axis=0) == 0))
    if density is True and (flat or shapes is not None):
        why = "all points lie on a line" if flat else "a crowd has no shape"
        raise ValueError(f"density=True cannot be drawn, because {why}; pass density=False.")
    return bool(density) if density != "auto" else len(points) > CROWDED_ABOVE and not flat and shapes is None


def draw_objects(
    ax: Axes,
    points: Array,
    coloring: ColorScale | Categories,
    shapes: Categories | None = None,
    *,
    crowded: bool = False,
) -> int:
    """Draw objects, crowds as hexagons if asked, with legends; return how many rows of legend are above the Axes."""
    draw_points(ax, points, coloring, shapes, **(POINTS if crowded else {}))
    if not crowded:
        return add_legends(ax, coloring, shapes)
    if isinstance(coloring, ColorScale):
        draw_hexagons(ax, points, C=coloring.values, reduce_C_function=_mean, norm=coloring.norm, cmap=coloring.cmap)
        return coloring.draw_bar(ax)  # means lie between grades
    if not coloring.levels:
        draw_counts(ax, points, "objects in a hexagon")
        return 0
    # Hexagons have the colour of the most frequent category; the missing (-1) have the last one.
    codes = np.where(coloring.codes < 0, len(coloring.levels), coloring.codes)
    draw_hexagons(ax, points, C=codes, reduce_C_function=_most_frequent, **coloring.palette())
    return coloring.add_legend(ax, 0)


def draw_counts(ax: Axes, points: Array, name: str, *, square: bool = True) -> None:
    """Draw crowds as hexagons, coloured by how many there are on a logarithmic scale, with a colour bar."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    cmap = LinearSegmentedColormap.from_list("counts", COUNTS)
    drawn = draw_hexagons(ax, points, square=square, cmap=cmap, norm=LogNorm(vmin=CROWD))
    bar = add_colorbar(ax, drawn, name)
    bar.locator, bar.minorlocator = LogLocator(subs=(1.0, 2.0, 5.0)), NullLocator()
    bar.formatter = StrMethodFormatter("{x:,.0f}")


def draw_hexagons(ax: Axes, points: Array, *, square: bool = True, **style: Any) -> Any:
    """Draw hexagons where at least `CROWD` points are; regular ones if both axes have the same unit (`square`)."""
    span = np.ptp(points, axis=0)
    along = HEXAGONS_ALONG * span / span.max() if square else np.full(2, HEXAGONS_ALONG)
    gridsize = tuple(np.maximum(1, np.rint(along / (1.0, np.sqrt(3)))).astype(int).tolist())
    return ax.hexbin(*points.T, gridsize=gridsize, mincnt=CROWD, linewidths=0.2, rasterized=True, zorder=3.1, **style)


def _mean(values: list[float]) -> float:
    """Return the mean of the known values; NaN leaves a hexagon out."""
    known = np.asarray(values)[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def _most_frequent(codes: list[int]) -> int:
    return int(np.bincount(codes).argmax())
