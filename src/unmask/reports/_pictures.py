"""Pictures for the page: drawn by `unmask.plotting`, stored in it as SVG, in which text stays text.

A picture stands in an ``img``, where a browser runs nothing, whatever a label contains. The browser writes the text:
it can write from right to left, and has fonts for alphabets that matplotlib's own font lacks.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches; a browser shows 96 pixels for each, and a phone has room for some 350.
MAP = (4.1, 3.8)
TALL = (4.1, 4.3)
CHART = (4.1, 3.1)
SQUARE = (4.1, 3.6)
WIDE = (8.6, 4.5)
# A list of points that are drawn one by one takes 100 bytes each; more than this become pixels.
MOST_SHAPES = 400
RASTER_DPI = 144

# A white rim keeps labels legible on lines and ellipses; matplotlib's own would turn text into outlines of letters.
TEXT = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;"
    "paint-order:stroke;stroke:#fff;stroke-width:2px;stroke-linejoin:round}"
)
# What a viewer does not need: the type of the document, who made it, and each text's own list of fonts.
SUPERFLUOUS = re.compile(r"<\?xml.*?\?>|<!DOCTYPE[^>]*>|<metadata>.*?</metadata>|font-family: [^;\"]*;? ?", re.DOTALL)


def draw(drawing: Callable[[Any], object], size: tuple[float, float], columns: int = 1) -> str:
    """Return a picture as a data URL.

    `drawing` draws on the Axes that it is called with: on one, or on an array of so many columns.
    """
    from matplotlib.figure import Figure

    with _own_style():
        figure = Figure(figsize=size, layout="constrained", facecolor="none")
        drawing(figure.subplots(1, columns))
        _keep_small(figure)
        stored = io.StringIO()
        figure.savefig(stored, format="svg", dpi=RASTER_DPI, metadata={"Date": None})
    svg = SUPERFLUOUS.sub("", stored.getvalue()).strip()
    svg = svg.replace('<style type="text/css">', f'<style type="text/css">{TEXT}', 1)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@contextmanager
def _own_style() -> Iterator[None]:
    """Draw in matplotlib's default style, whatever the user's is; a dollar sign begins no formula."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "unmask", "text.parse_math": False})
        for said in ("Glyph .* missing from font", "no installed font has the characters"):
            warnings.filterwarnings("ignore", said, UserWarning)  # the browser will have it
        yield


def _keep_small(figure: Figure) -> None:
    """Keep text as text, and turn drawings of many shapes into pixels."""
    for ax in figure.axes:
        for text in ax.texts:
            text.set_path_effects([])
        for drawn in ax.collections:
            if not drawn.get_rasterized():
                shapes = max(len(np.atleast_2d(drawn.get_offsets())), len(drawn.get_paths()))
                drawn.set_rasterized(shapes > MOST_SHAPES)
