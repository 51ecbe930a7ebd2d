"""The tables of docs/adjusted.md, made from the numbers in adjusted.json."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..report import table
from . import simulated

SHOWN = {"rest": "with what V does not predict", "whole": "with the whole truth", "told": "neighbours tell V"}

# Of real data, with the number of digits.
COLUMNS = {
    "rest": ("ACC", 3),
    "leak": ("leak", 2),
    "neighbours": ("neighbours tell V", 2),
    "reference": ("by chance below", 2),
    "groups": ("neighbours tell groups", 2),
    "stress": ("stress", 4),
    "free": ("dimensions fitted", 0),
}


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that show numbers, by name."""
    shown = [kind.name for kind in simulated.KINDS if not kind.weak]
    return {
        "about": _about(found),
        **{measure: _by_kind(found["simulated"], shown, measure) for measure in SHOWN},
        "weak": _weak(found["simulated"], set(shown)),
        "real": _real(found["real"]),
    }


def renew(text: str, parts: dict[str, str], by: str = "make adjusted") -> str:
    """Return a page with what stands between its marks replaced; they name the command that does it."""
    for name, part in parts.items():
        marks = rf"(<!-- {name}: by {by} -->\n\n).*?(\n\n<!-- end of {name} -->)"
        text, number = re.subn(marks, lambda m, part=part: m[1] + part + m[2], text, flags=re.DOTALL)
        if number != 1:
            raise ValueError(f"the page has {number} places marked {name!r}; it must have one.")
    return text


def _about(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return (
        f"Measured on {found['date']} by `make adjusted`: {found['sets']} sets of {found['objects']} objects for each "
        f"row, seeds spawned from `SeedSequence({found['seed']})`,\n{found['starts']} starts; {versions}."
    )


def _by_kind(rows: list[dict[str, Any]], kinds: Iterable[str], measure: str) -> str:
    cells = {(row["kind"], row["method"]): _with_error(row[measure]) for row in rows}
    methods = simulated.METHODS
    return table(["effect of V", *methods], ([kind, *(cells[kind, m] for m in methods)] for kind in kinds))


def _weak(rows: list[dict[str, Any]], others: set[str]) -> str:
    mine = (row for row in rows if row["kind"] not in others)
    body = ([row["method"], _number(row["free"][0], 0), *(_with_error(row[m]) for m in SHOWN)] for row in mine)
    return table(["", "dimensions fitted", *SHOWN.values()], body)


def _real(rows: list[dict[str, Any]]) -> str:
    body = []
    for before, row in zip([{}, *rows], rows, strict=False):
        first = row["data"] if before.get("data") != row["data"] else ""
        numbers = (_number(row.get(name), digits) for name, (_, digits) in COLUMNS.items())
        body.append([first, row["method"], *numbers])
    return table(["data", "method", *(heading for heading, _ in COLUMNS.values())], body)


def _with_error(of: list[float]) -> str:
    mean, error = of
    return f"{mean:.3f} ± {error:.3f}"


def _number(value: float | None, digits: int) -> str:
    """Return a number, without a sign if it is rounded to 0, or nothing."""
    if value is None:
        return ""
    return f"{round(value, digits) + 0.0:.{digits}f}"
