"""The picture of docs/scaling.md: CPU seconds against the number of objects, on log axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..picture import COLOURS
from .contenders import EXACT, GIVEN, ISOMAP, STOCHASTIC

SHOWN_AS = {EXACT: "unmask, exact", STOCHASTIC: "unmask, stochastic", ISOMAP: "unmask, landmark Isomap"}
LEFT_OUT = (GIVEN,)  # its line lies upon that of the stochastic solver with nothing known
BLACK = "#000000"


def series(found: dict[str, Any]) -> dict[str, tuple[list[int], list[float]]]:
    """Return sizes and CPU seconds of everybody who drew two maps at least."""
    lines: dict[str, tuple[list[int], list[float]]] = {}
    for row in found["rows"]:
        if "cpu" in row and row["who"] not in LEFT_OUT:
            n, seconds = lines.setdefault(row["who"], ([], []))
            n.append(row["n"])
            seconds.append(row["cpu"])
    return {who: line for who, line in lines.items() if len(line[0]) > 1}


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw one line for each contender; ours are thick."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines = series(found)
    figure, axes = pyplot.subplots(figsize=(8.2, 5), layout="constrained")
    for (who, (n, seconds)), colour in zip(lines.items(), (*COLOURS, BLACK, "0.5"), strict=False):
        ours, label = who.startswith("unmask"), SHOWN_AS.get(who, who)
        style = "o-" if ours else "o--"
        axes.plot(n, seconds, style, color=colour, lw=2.6 if ours else 1.4, ms=5, zorder=2 + ours, label=label)
    _dress(axes, sorted({n for sizes, _ in lines.values() for n in sizes}), found["limit"])
    for text in figure.legend(loc="outside right upper", frameon=False, fontsize=9).get_texts():
        text.set_fontweight("bold" if text.get_text().startswith("unmask") else "normal")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _dress(axes: Any, sizes: list[int], limit: float) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set(xscale="log", yscale="log", xlabel="objects", ylabel="CPU seconds, one thread")
    axes.set_title("A map in two dimensions from 20 features", loc="left", fontsize=11)
    axes.axhline(limit, color="0.6", lw=1, ls=":")
    axes.text(sizes[0], limit * 1.1, f"who needs more than {limit:.0f} s is not run", color="0.45", fontsize=8)
    axes.set_xticks(sizes, [f"{size:,}".replace(",", "\N{THIN SPACE}") for size in sizes])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="minor", length=0)
    axes.grid(alpha=0.25, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
