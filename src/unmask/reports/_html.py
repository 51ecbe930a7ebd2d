"""Markup: every text is escaped on its way into the page, because only `element` makes what is not escaped.

Small functions in place of a template language: the page has a dozen kinds of elements, no loops that a designer would
edit, and jinja2 would be one more package for everybody who installs the library.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

# Unassigned, private or broken characters, and controls: not allowed in a page, or invisible in it.
UNPRINTABLE = ("Cc", "Cs", "Cn", "Co")
# Marks that turn the direction of all text after them; each name has a direction of its own anyway (see `name_of`).
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
VOID = frozenset({"img", "link", "meta", "source"})
NOTHING = "\N{EN DASH}"
# Longer texts are cut: a label of a megabyte would be the page.
LONGEST = 120


class Html(str):
    """Markup that is safe to put into the page as it is."""

    __slots__ = ()


def clean(text: object) -> str:
    """Return text on one line, with a replacement mark for each character that a browser cannot show."""
    one_line = " ".join(str(text).split())
    return "".join(REPLACEMENT if c in TURNING or unicodedata.category(c) in UNPRINTABLE else c for c in one_line)


def clip(text: object, most: int = LONGEST) -> str:
    """Return clean text of at most so many characters."""
    shown = clean(text)
    return shown if len(shown) <= most else f"{shown[: most - 1].rstrip()}…"


def clip_apart(names: Iterable[object], most: int) -> list[str]:
    """Return clipped names, numbered where two would become the same."""
    clipped: dict[str, None] = {}
    for name in names:
        short, suffix = clip(name, most), 2
        while short in clipped:
            short, suffix = f"{clip(name, most - 3)} {suffix}", suffix + 1
        clipped[short] = None
    return list(clipped)


def element(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element; attributes, and children that are not `Html`, are escaped.

    An attribute is named without its trailing underscore and with hyphens for others; None leaves it out.
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    opening = " ".join([name, *(f'{key}="{escape(str(value))}"' for key, value in given.items())])
    return Html(f"<{opening}>" if name in VOID else f"<{opening}>{join(children)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Return parts joined into one piece of markup; those that are not `Html` are escaped."""
    return Html(between.join(part if isinstance(part, Html) else escape(str(part)) for part in parts))


def paragraph(*children: object) -> Html:
    """Return a paragraph."""
    return element("p", *children)


def name_of(text: object, most: int = LONGEST) -> Html:
    """Return a name given by a user, kept apart from the text around it whatever its direction of writing."""
    return element("bdi", clip(text, most))


def names_of(names: Sequence[object]) -> Html:
    """Return names as an enumeration: a, b and c."""
    shown = [name_of(name, 60) for name in names]
    if len(shown) > 12:
        shown = [*shown[:10], Html(f"{len(names) - 10} more")]
    return join([join(shown[:-1], ", "), shown[-1]], " and ") if len(shown) > 1 else join(shown)


def note(*children: object) -> Html:
    """Return a paragraph that is set apart as a note."""
    return element("p", *children, class_="note")


def items(lines: Iterable[object], kind: str = "ul", **attributes: object) -> Html:
    """Return a list."""
    return element(kind, *(element("li", line) for line in lines), **attributes)


# ---- numbers


def number(value: float) -> str:
    """Return a number with three significant digits, with an exponent only if it is very large or small."""
    if not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if size >= 1000 or value == int(value):
        return f"{value:,.0f}" if size < 1e9 else f"{value:.2e}"
    return np.format_float_positional(value, 3, fractional=False, trim="-") if size >= 1e-4 else f"{value:.1e}"


def percent(share: float) -> str:
    """Return a share (0 to 1) as a percentage."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%" if math.isfinite(share) else NOTHING


def count(n: int, noun: str) -> str:
    """Return a count with its noun, in the singular or the plural."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


# ---- tables


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, its cells, and whether these are numbers."""

    heading: str
    cells: Sequence[object]
    numeric: bool = False


def table(caption: str, columns: Sequence[Column], identity: str) -> Html:
    """Return a table in a box in which it can be scrolled, by keyboard too; its first column names the rows."""
    head = element("tr", *(element("th", c.heading, scope="col", class_=_side(c)) for c in columns))
    rows = []
    for row in range(len(columns[0].cells)):
        first, *others = columns
        cells = [element("td", c.cells[row], class_=_side(c)) for c in others]
        rows.append(element("tr", element("th", first.cells[row], scope="row", class_=_side(first)), *cells))
    title = element("caption", caption, id=f"{identity}-caption")
    whole = element("table", title, element("thead", head), element("tbody", *rows))
    return scrolling(whole, labelledby=f"{identity}-caption")


def _side(column: Column) -> str | None:
    return "number" if column.numeric else None


def scrolling(content: Html, *, label: str | None = None, labelledby: str | None = None) -> Html:
    """Return a box that scrolls by itself when its content is too wide, and that the keyboard can reach."""
    named = {"aria_label": label, "aria_labelledby": labelledby}
    return element("div", content, class_="scroll", role="region", tabindex="0", **named)


def facts(pairs: Sequence[tuple[str, object]]) -> Html:
    """Return a list of names with their values."""
    rows = (element("div", element("dt", name), element("dd", value)) for name, value in pairs)
    return element("dl", *rows, class_="facts")
