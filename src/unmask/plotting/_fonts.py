"""Text is drawn as it was written: no formulas, and further fonts for scripts that the usual one lacks."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
# Fonts with many scripts, tried in this order where they are installed; matplotlib takes each character from the first
# font that has it, and names a character that none has.
FURTHER = (
    "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans", "Microsoft YaHei", "PingFang SC",
    "Hiragino Sans", "Malgun Gothic", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Noto Sans Arabic",
    "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Arial Unicode MS", "Noto Sans Symbols",
    "Noto Sans Symbols 2", "Noto Emoji", "Segoe UI Symbol", "Symbola", "DejaVu Sans", "STIXGeneral", "Unifont",
)  # fmt: skip


def as_written(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function draw text literally (``$`` starts no formula), in fonts that have its characters."""

    @wraps(function)
    def drawn(*arguments: P.args, **options: P.kwargs) -> R:
        import matplotlib
        from matplotlib.text import Text

        families = [*matplotlib.rcParams["font.family"], *_installed()]
        style: Any = {"text.parse_math": False, "font.family": families}
        with matplotlib.rc_context(style), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # said when all is drawn
            result = function(*arguments, **options)
            for ax in np.ravel(np.asarray(result, dtype=object)):
                for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
                    label.set(**style_of_text())
                for text in ax.findobj(Text):
                    text.set_text(_without_controls(text.get_text()))
        return result

    return drawn


def style_of_text() -> dict[str, Any]:
    """Return the present style of text, for texts of Axes that were made elsewhere, such as titles."""
    from matplotlib import rcParams

    return {"parse_math": rcParams["text.parse_math"], "fontfamily": rcParams["font.family"]}


@cache
def _installed() -> tuple[str, ...]:
    """Return the further fonts that this machine has: to ask matplotlib for one that it lacks is logged each time."""
    from matplotlib.font_manager import fontManager

    there = {font.name for font in fontManager.ttflist}
    return tuple(name for name in FURTHER if name in there)


def _without_controls(text: str) -> str:
    """Return a text with blanks for tabs and other controls, which no font can draw."""
    return "".join(" " if unicodedata.category(c) == "Cc" and c != "\n" else c for c in text)
