"""Text is drawn as it was written: no formulas, and fonts that have the characters of every script."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..checking import is_pandas, warn_user
from ..estimators import labels_of_fit
from ..graphs import as_network

P = ParamSpec("P")
R = TypeVar("R")
MOST_SHOWN = 8
# Unicode categories of invisible characters: controls, marks that belong to the character before, blanks.
UNSEEN = ("Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp", "Cs", "Cn")
# A font that draws a box for every character.
PLACEHOLDER = "Last Resort"


def as_written(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function draw text literally (``$`` starts no formula), in fonts that have its characters."""

    @wraps(function)
    def drawn(*arguments: P.args, **options: P.kwargs) -> R:
        import matplotlib
        from matplotlib.text import Text

        seen = frozenset(c for text in _texts((arguments, options)) for c in text if not c.isascii())
        style: Any = {"text.parse_math": False, "font.family": _families(seen)}
        with matplotlib.rc_context(style), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # said above, once
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


def _without_controls(text: str) -> str:
    """Return a text with blanks for tabs and other controls, which no font can draw."""
    return "".join(" " if unicodedata.category(c) == "Cc" and c != "\n" else c for c in text)


# ---- the texts


def _texts(data: Any) -> Iterator[str]:
    """Yield the texts in what is drawn: labels, levels, names, titles."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        yield from _texts([*data.keys(), *data.values()])
    elif isinstance(data, list | tuple | set):
        for part in data:
            yield from _texts(part)
    elif is_pandas(data):
        yield from _texts_of_pandas(data)
    elif (network := as_network(data)) is not None:
        yield from map(str, network.nodes)
    elif hasattr(data, "get_params"):  # a fitted estimator
        named = (getattr(data, name, None) for name in ("coef_", "known_summary_", "level_positions_"))
        tables = (labels_of_fit(data), *named)
        yield from _texts([table for table in tables if table is not None])
    elif hasattr(data, "dtype") or hasattr(data, "to_numpy"):
        values = np.asarray(data)
        yield from _texts(list(getattr(data, "columns", [])))
        yield from (str(cell) for cell in values.ravel()) if values.dtype.kind in "OU" else ()


def _texts_of_pandas(data: Any) -> Iterator[str]:
    from pandas.api import types

    if not hasattr(data, "index"):  # an index itself
        yield from map(str, data)
        return
    yield from map(str, data.index)
    columns = [data[name] for name in data.columns] if hasattr(data, "columns") and data.columns.is_unique else []
    for column in columns or ([data] if not hasattr(data, "columns") else []):
        yield str(column.name)
        if not types.is_numeric_dtype(column.dtype):
            yield from map(str, column.unique())


# ---- the fonts


def _families(characters: frozenset[str]) -> list[str]:
    """Return the font families of the present style, and further ones for characters that it lacks."""
    import matplotlib

    present = [str(family) for family in matplotlib.rcParams["font.family"]]
    visible = frozenset(c for c in characters if unicodedata.category(c) not in UNSEEN)
    if not visible:
        return present
    further, missing = _fallback(tuple(present), visible)
    if missing:
        shown = "".join(sorted(missing)[:MOST_SHOWN]) + ("…" if len(missing) > MOST_SHOWN else "")
        warn_user(
            f"no installed font has the characters {shown}, which are drawn as boxes; install one that has them, such "
            "as Noto Sans CJK or Noto Emoji.",
            UserWarning,
        )
    return [*present, *further]


@lru_cache(maxsize=32)
def _fallback(present: tuple[str, ...], characters: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    """Return installed families for the characters that the present ones lack, and the characters that none has."""
    from matplotlib import font_manager

    missing = characters.difference(*map(_characters_of, present))
    chosen: list[str] = []
    names = {font.name for font in font_manager.fontManager.ttflist if PLACEHOLDER not in font.name}
    while missing:
        best = max(sorted(names), key=lambda name: len(missing & _characters_of(name)))
        if not missing & _characters_of(best):
            break
        chosen.append(best)
        missing -= _characters_of(best)
    return chosen, missing


def _file_of(family: str) -> str:
    """Return the upright, regular file of a family; asking matplotlib for it would log every family that has none."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager, weight_dict

    files = [font for font in fontManager.ttflist if font.name == family]
    if not files:  # "sans-serif" and the like
        return str(findfont(FontProperties(family=[family])))
    weights = [weight_dict[font.weight] if isinstance(font.weight, str) else font.weight for font in files]
    best = min(range(len(files)), key=lambda at: (files[at].style != "normal", abs(weights[at] - 400)))
    return files[best].fname


@cache
def _characters_of(family: str) -> frozenset[str]:
    """Return the characters that a font can draw; none of one that cannot be scaled, as emoji in colour."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(_file_of(family))
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()
