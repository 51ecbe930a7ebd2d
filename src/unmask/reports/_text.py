"""Names and numbers as the page writes them. What is not `Markup` is escaped on its way into the page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup

from ..discovery import Change, Step

# Unassigned, private or broken characters, and controls: not allowed in a page, or invisible in it.
UNPRINTABLE = ("Cc", "Cs", "Cn", "Co")
# Marks that turn the direction of all text after them; each name has a direction of its own anyway (see `name_of`).
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
NOTHING = "\N{EN DASH}"
# Longer texts are cut: a label of a megabyte would be the page. Reasons are whole sentences, sometimes several.
LONGEST, LONGEST_REASON = 120, 2000
MOST_NAMES = 12


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


def name_of(text: object, most: int = LONGEST) -> Markup:
    """Return a user's name or sentence, whose direction of writing does not turn the text around it."""
    return Markup("<bdi>{}</bdi>").format(clip(text, most))


def names_of(names: Sequence[object]) -> Markup:
    """Return names as an enumeration: a, b and c."""
    shown = [name_of(name, 60) for name in names]
    if len(shown) > MOST_NAMES:
        shown = [*shown[: MOST_NAMES - 2], Markup(f"{len(names) - MOST_NAMES + 2} more")]
    ahead = Markup(", ").join(shown[:-1])
    return Markup(" and ").join([ahead, shown[-1]]) if len(shown) > 1 else Markup("").join(shown)


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


def hidden(total: int, shown: int, what: str) -> str:
    """Return the sentence that says how many rows or items are not shown; empty if all are."""
    left = total - shown
    return f"{count(left, f'more {what}')} {'is' if left == 1 else 'are'} not shown." if left > 0 else ""


def given(step: Step) -> Markup:
    """Return the known features that a step was given, in words."""
    if not step.known:
        return Markup("nothing known")
    return Markup("given {}{}").format(names_of(step.known), ", adjusted" if step.adjusted else "")


def change_in_words(action: Change) -> Markup:
    """Return which feature was adopted, corrected or put aside, where it came from, and why."""
    where = Markup(" ({})").format(name_of(action.origin, 200)) if action.origin else ""
    why = Markup(": {}").format(name_of(action.why, LONGEST_REASON)) if action.why else "."
    return Markup("{} <b>{}</b>{}{}").format(action.verb.capitalize(), name_of(action.name), where, why)
