"""Points: a colour scale for numbers, colours for categories, markers for a second set of categories."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Array, IntArray
from ._axes import GREY, ROW, figure_of
from ._input import as_series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.lines import Line2D

Mask = NDArray[np.bool_]

# Okabe and Ito's palette, which people with any of the common colour deficiencies can tell apart; yellow, which is
# weak on white, comes last.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
# The first four go with colours; a set of shapes of its own may use all.
MARKERS = ("o", "s", "^", "D")
SHAPES = (*MARKERS, "v", "P", "X", "*")
MISSING = "0.75"
MISSING_NAME = "missing"
MISSING_SHAPE = "x"
LEGEND_COLUMNS = 4
RASTERIZE_ABOVE = 2000
# From here on points cover each other whatever their size, and a picture of them takes seconds to draw.
CROWDED_ABOVE = 20_000
SCALE = "viridis"
# In a page that shows a map the largest number of its width stands for what is missing.
MISSING_BYTE, MISSING_SHORT, MISSING_LONG = 255, 2**16 - 1, 2**32 - 1
# Up to this many whole numbers get a legend, more a colour bar.
MOST_GRADES = 7


@dataclass(frozen=True)
class ColorScale:
    """A colour scale; NaN is grey. A few whole numbers (grades) get a legend in place of a colour bar."""

    values: Array
    name: str

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest finite value."""
        finite = self.values[np.isfinite(self.values)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)

    @property
    def norm(self) -> Any:
        """How values become shares of the scale."""
        from matplotlib.colors import Normalize

        return Normalize(*self.limits)

    @property
    def cmap(self) -> Any:
        """The colours of the scale."""
        from matplotlib import colormaps

        return colormaps[SCALE].with_extremes(bad=MISSING)

    @property
    def grades(self) -> Array:
        """Return the values if they are few whole numbers, else nothing."""
        distinct = np.unique(self.values[np.isfinite(self.values)])
        return distinct if len(distinct) <= MOST_GRADES and np.all(distinct == np.rint(distinct)) else distinct[:0]

    def parts(self) -> Iterator[tuple[Mask, str, dict[str, Any]]]:
        """Return which points are drawn together, their marker, and their style."""
        style = {"c": self.values, "cmap": self.cmap, "norm": self.norm, "plotnonfinite": True}
        yield np.ones(len(self.values), dtype=bool), MARKERS[0], style

    def rgba(self) -> Array:
        """Return a colour per point."""
        return np.asarray(self.cmap(self.norm(np.ma.masked_invalid(self.values))))

    def stored(self) -> dict[str, Any]:
        """Return the values as a page holds them: grades as levels, others from the least to the largest.

        In 16 bits; whole numbers as they are, in 32 where they need them.
        """
        low, high = self.limits
        known = np.isfinite(self.values)
        shares = np.divide(self.values - low, high - low, out=np.zeros(len(self.values)), where=known & (high > low))
        grades = self.grades
        if not len(grades) and np.all(self.values[known] == np.rint(self.values[known])) and high - low < MISSING_LONG:
            size, missing = (2, MISSING_SHORT) if high - low < MISSING_SHORT else (4, MISSING_LONG)
            counted = np.where(known, self.values - low, missing)
            return {"name": self.name, "codes": packed(counted, f"<u{size}"), "range": [low, high], "whole": size}
        if not len(grades):
            codes = np.where(known, np.rint(shares * (MISSING_SHORT - 1)), MISSING_SHORT)
            return {"name": self.name, "codes": packed(codes, "<u2"), "range": [low, high]}
        codes = np.where(known, np.searchsorted(grades, self.values), MISSING_BYTE)
        places = (grades - low) / ((high - low) or 1.0)
        levels = [f"{grade:.0f}" for grade in grades]
        return {"name": self.name, "codes": packed(codes, "u1"), "levels": levels, "shares": places.tolist()}

    def add_legend(self, ax: Axes, above: int) -> int:
        """Draw a legend or colour bar; return how many rows of legend are then above the Axes."""
        grades = self.grades
        if not len(grades):
            return self.draw_bar(ax, above)
        handles = [_handle(MARKERS[0], self.cmap(self.norm(grade)), f"{grade:.0f}") for grade in grades]
        missing = [_handle(MARKERS[0], MISSING, MISSING_NAME)] if not np.isfinite(self.values).all() else []
        return draw_legend(ax, handles + missing, self.name, above)

    def draw_bar(self, ax: Axes, above: int = 0) -> int:
        """Draw a colour bar, which takes no row of legend and belongs to the points drawn last."""
        drawn = [artist for artist in ax.collections if artist.get_array() is not None]
        add_colorbar(ax, drawn[-1], self.name)
        return above


@dataclass(frozen=True)
class Categories:
    """A colour and a marker per category; the missing (code -1) are grey. Without levels all points are alike."""

    codes: IntArray
    levels: tuple[str, ...]
    name: str
    ordered: bool = False

    @classmethod
    def of(cls, what: str, series: Any, most: int, remedy: str) -> Categories:
        """Return categories in their own order; raise if they are more than can be told apart."""
        import pandas as pd

        category = pd.Categorical(series)
        if len(category.categories) > most:
            raise ValueError(
                f"{what} has {len(category.categories)} categories, of which at most {most} can be told apart; join "
                f"the rare ones{remedy}."
            )
        levels = tuple(str(level) for level in category.categories)
        return cls(np.asarray(category.codes), levels, str(series.name), bool(category.ordered))

    def color(self, code: int) -> Any:
        """Return the colour of a category: of ordered ones, that of its place on the scale of numbers."""
        if code < 0 or not self.levels:
            return MISSING if self.levels else OKABE_ITO[0]
        if self.ordered:
            from matplotlib import colormaps

            return colormaps[SCALE](code / max(len(self.levels) - 1, 1))
        return OKABE_ITO[code % len(OKABE_ITO)]

    def _marker(self, code: int) -> str:
        same = code < 0 or self.ordered
        return MARKERS[0] if same else MARKERS[(code + code // len(OKABE_ITO)) % len(MARKERS)]

    def parts(self) -> Iterator[tuple[Mask, str, dict[str, Any]]]:
        """Return which points are drawn together, their marker, and their style."""
        for code in (*range(len(self.levels)), -1):
            yield self.codes == code, self._marker(code), {"color": self.color(code)}

    def palette(self) -> dict[str, Any]:
        """Return how codes become colours, the missing after the last."""
        from matplotlib.colors import ListedColormap, Normalize

        colors = [self.color(code) for code in (*range(len(self.levels)), -1)]
        return {"cmap": ListedColormap(colors), "norm": Normalize(-0.5, len(self.levels) + 0.5)}

    def rgba(self) -> Array:
        """Return a colour per point."""
        from matplotlib.colors import to_rgba_array

        return to_rgba_array([self.color(code) for code in (*range(len(self.levels)), -1)])[self.codes]  # -1: the last

    def stored(self) -> dict[str, Any] | None:
        """Return the categories as a page holds them; None where all are alike, for which the page has a colour."""
        if not self.levels:
            return None
        codes = np.where(self.codes < 0, MISSING_BYTE, self.codes.astype(np.int64))  # pandas has them in 8 signed bits
        content = {"name": self.name, "codes": packed(codes, "u1"), "levels": list(self.levels)}
        return content | ({"shares": np.linspace(0, 1, len(self.levels)).tolist()} if self.ordered else {})

    def add_legend(self, ax: Axes, above: int) -> int:
        """Draw a legend, if there are levels; return how many rows of legend are then above the Axes."""
        return self._draw_legend(ax, above, {code: (self._marker(code), self.color(code)) for code in self._codes})

    # ---- as a second set, shown by markers alone

    def shape(self, code: int) -> str:
        """Return the marker of a category that has no colour of its own."""
        return MISSING_SHAPE if code < 0 else SHAPES[code]

    def add_shape_legend(self, ax: Axes, above: int) -> int:
        """Draw a legend of the markers."""
        return self._draw_legend(ax, above, {code: (self.shape(code), "0.4") for code in self._codes})

    @property
    def _codes(self) -> list[int]:
        """The codes in the legend; -1, for missing, only if some are."""
        return [*range(len(self.levels)), *([-1] if (self.codes == -1).any() else [])] if self.levels else []

    def _draw_legend(self, ax: Axes, above: int, looks: dict[int, tuple[str, Any]]) -> int:
        names = {code: MISSING_NAME if code < 0 else self.levels[code] for code in looks}
        handles = [_handle(*look, names[code]) for code, look in looks.items()]
        return draw_legend(ax, handles, self.name, above) if handles else above


def packed(numbers: Array | IntArray, kind: str) -> str:
    """Return whole numbers as text, in so many bytes each, the smaller byte first."""
    return base64.b64encode(np.asarray(numbers).astype(kind).tobytes()).decode()


Coloring = ColorScale | Categories


def make_coloring(colors: Any, name: str, n: int) -> Coloring:
    """Return how to colour points: all alike, by numbers, or by categories."""
    if colors is None:
        return Categories(np.full(n, -1), (), "")
    from pandas.api import types

    series = as_series(colors, name)
    if types.is_numeric_dtype(series) and not types.is_bool_dtype(series):
        return ColorScale(series.to_numpy(dtype=np.float64, na_value=np.nan), name)
    return Categories.of("color", series, len(OKABE_ITO) * len(MARKERS), ", or pass numbers for a colour scale")


def make_shapes(shapes: Any, name: str) -> Categories | None:
    """Return the categories that markers show."""
    if shapes is None:
        return None
    return Categories.of("shape", as_series(shapes, name), len(SHAPES), ", or pass them as color")


def draw_points(ax: Axes, points: Array, coloring: Coloring, shapes: Categories | None = None, **changes: Any) -> None:
    """Draw the points in their colours and shapes."""
    style = point_style(len(points)) | changes
    for where, marker, colors in coloring.parts():
        for shape, here in _shaped(where, marker, shapes):
            if here.any():
                own = {key: value[here] if isinstance(value, np.ndarray) else value for key, value in colors.items()}
                _scatter(ax, points[here], shape, style | own)


def _shaped(where: Mask, marker: str, shapes: Categories | None) -> list[tuple[str, Mask]]:
    """Return the markers of these points and which have them."""
    if shapes is None:
        return [(marker, where)]
    return [(shapes.shape(code), where & (shapes.codes == code)) for code in (*range(len(shapes.levels)), -1)]


def _scatter(ax: Axes, points: Array, marker: str, style: dict[str, Any]) -> PathCollection:
    if marker == MISSING_SHAPE:  # lines only, which have no edge of another colour
        style = {key: value for key, value in style.items() if key != "edgecolors"} | {"linewidths": 1.2}
    return ax.scatter(points[:, 0], points[:, 1], marker=marker, **style)


def add_legends(ax: Axes, coloring: Coloring, shapes: Categories | None = None, above: int = 0) -> int:
    """Draw the legends and the colour bar; return how many rows of legend stand above the Axes."""
    if shapes is not None:
        above = shapes.add_shape_legend(ax, above)
        legend = ax.get_legend()
        second = len(coloring.levels if isinstance(coloring, Categories) else coloring.grades) > 0
        if legend is not None and second:
            ax.add_artist(legend)  # a further legend would take its place
    return coloring.add_legend(ax, above)


def point_style(n: int) -> dict[str, Any]:
    """Return the style of points: smaller the more there are, with a thin white edge if there are few."""
    size = float(np.clip(3200 / n, 4, 42))
    edge = 0.6 if n <= 300 else 0.0
    style = {"s": size, "linewidths": edge, "edgecolors": "white", "zorder": 3, "rasterized": n > RASTERIZE_ABOVE}
    return style | ({"s": 3.0, "alpha": 0.15} if n > CROWDED_ABOVE else {})


def add_colorbar(ax: Axes, drawn: Any, name: str) -> Colorbar:
    """Draw a small colour bar beside the Axes."""
    bar = figure_of(ax).colorbar(drawn, ax=ax, shrink=0.6, pad=0.02, aspect=25)
    bar.set_label(name, color=GREY)
    bar.ax.tick_params(colors="0.5", labelcolor=GREY, labelsize="small", length=2.5)
    bar.outline.set_visible(False)  # type: ignore[operator]
    if bar.solids is not None:
        bar.solids.set_alpha(1.0)
    return bar


def _handle(marker: str, color: Any, label: str) -> Line2D:
    from matplotlib.lines import Line2D

    edge = color if marker == MISSING_SHAPE else "white"
    return Line2D(
        [], [], linestyle="", marker=marker, color=color, markeredgecolor=edge, markeredgewidth=0.6, label=label
    )


def draw_legend(ax: Axes, handles: list[Any], name: str, above: int = 0, columns: int = LEGEND_COLUMNS) -> int:
    """Put a legend above the Axes, where it covers neither points nor labels; return the rows there now."""
    from matplotlib.transforms import ScaledTranslation

    rows = -(-len(handles) // columns)
    lift = ScaledTranslation(0, ROW * above / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        bbox_transform=ax.transAxes + lift,
        ncols=-(-len(handles) // rows),
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
    return above + rows + bool(name)
