"""The growth picture: seconds against N on log axes, with slopes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .cases import growth
from .measure import OURS, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, distinguishable with any colour vision; ours stands out by weight as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw(results: Results, path: Path) -> bool:
    """Draw one line per contender, labelled at its end; return whether there was enough to draw."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patheffects import withStroke

    series = _series(results)
    if not series:
        return False
    figure, axes = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    for (who, (n, seconds)), colour, label in zip(series.items(), COLOURS, _spread(series), strict=False):
        width = 2.6 if who == OURS else 1.4
        axes.plot(n, seconds, "o-", color=colour, lw=width, ms=4 + width / 2, zorder=3 if who == OURS else 2)
        slope = np.polyfit(np.log(n[-3:]), np.log(seconds[-3:]), 1)[0]
        weight = "bold" if who == OURS else "normal"
        text = f"{who}  $N^{{{slope:.1f}}}$"
        halo = [withStroke(linewidth=3, foreground="white")]  # a label may lie on another's line
        axes.text(
            n[-1] * 1.08, label, text, color=colour, va="center", fontsize=9, fontweight=weight, path_effects=halo
        )
    _dress(axes, sorted({int(x) for n, _ in series.values() for x in n}))
    figure.savefig(path, dpi=200)
    plt.close(figure)
    return True


def _series(results: Results) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return N and seconds of everybody measured at two sizes or more, one start each."""
    found: dict[str, list[tuple[int, float]]] = {}
    for m in results.measurements:
        if m.case == growth.CASE and m.who != growth.MANY and m.wall is not None:
            found.setdefault(m.who, []).append((m.n, m.wall))
    return {who: (*np.array(sorted(rows)).T,) for who, rows in found.items() if len(rows) > 1}  # type: ignore[misc]


def _spread(series: dict[str, tuple[np.ndarray, np.ndarray]], factor: float = 1.35) -> list[float]:
    """Return heights for the labels: of those that end at the same N each is clearly above the one below."""
    heights = np.array([seconds[-1] for _, seconds in series.values()])
    ends = np.array([n[-1] for n, _ in series.values()])
    for end in np.unique(ends):
        last = 0.0
        for at in np.argsort(np.where(ends == end, heights, np.inf))[: int((ends == end).sum())]:
            heights[at] = last = max(heights[at], last * factor)
    return [float(height) for height in heights]


def _dress(axes: Axes, sizes: list[int]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set(xscale="log", yscale="log", xlabel="objects $N$", ylabel="seconds (wall clock)")
    axes.set_title("A whole map in two dimensions, one start", loc="left", fontsize=11)
    axes.set_xticks(sizes, [f"{size:,}".replace(",", "\N{THIN SPACE}") for size in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="minor", length=0)
    axes.grid(alpha=0.25, lw=0.6)
    axes.set_xlim(sizes[0] * 0.85, sizes[-1] * 3.2)
    low, high = axes.get_ylim()  # whole decades, so that at least two are labelled
    axes.set_ylim(10 ** np.floor(np.log10(low)), 10 ** np.ceil(np.log10(high)))
    axes.spines[["top", "right"]].set_visible(False)
