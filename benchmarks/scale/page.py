"""The tables of RESULTS-SCALE.md and of docs/scaling.md, made from the numbers in scale.json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..adjusted import page
from ..report import table
from .contenders import GIVEN, STOCHASTIC

MANY = 100_000  # objects that the page tells the cost of in words

HOW = """CPU seconds of one map with one thread, after compilation; each contender in a process of its own, and
{side_by_side} of them side by side. Everybody gets the same features (float32, 20 columns) and draws two dimensions
unless it says otherwise, with the settings that its package has by default or recommends. The exact solver has one
start. Up to 3,000 objects the stochastic one is the exact one with its default number of starts. Memory is the largest
beyond the data. Stress is measured over the same random pairs for all who minimise it. Who would need more than
{limit:.0f} CPU seconds, by the growth over the two sizes before, was not run (in brackets: what it would take), and who
did was stopped."""


def _measured(found: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["who"], row["n"]): row for row in found["rows"]}


def _why_not(row: dict[str, Any] | None) -> str:
    """Say why there is no number."""
    if row is None:
        return ""
    if "expected" in row:
        return f"({float(format(row['expected'], '.2g')):,.0f})"
    if "stopped" in row:
        return f"> {row['stopped']:.0f}"
    return "not installed" if "missing" in row else "failed"


def _grid(
    found: dict[str, Any],
    shown: Callable[[dict[str, Any]], str],
    instead: Callable[[dict[str, Any] | None], str] = lambda _: "",
) -> str:
    """Return a table of contenders by numbers of objects; who has nothing to show is left out."""
    rows = _measured(found)
    sizes = sorted({n for _, n in rows})
    names = list(dict.fromkeys(who for who, _ in rows))
    body = []
    for who in names:
        cells = [rows.get((who, n)) for n in sizes]
        texts = [shown(row) if row and "cpu" in row else instead(row) for row in cells]
        if any(texts):
            body.append([who, *texts])
    return table(["", *(f"{n:,}" for n in sizes)], body)


def seconds(found: dict[str, Any]) -> str:
    """Return the table of CPU seconds."""
    return _grid(found, lambda row: f"{row['cpu']:.2g}" if row["cpu"] < 10 else f"{row['cpu']:.0f}", _why_not)


def ratios(found: dict[str, Any]) -> str:
    """Return the table of CPU seconds as multiples of the stochastic solver's."""
    rows = _measured(found)

    def ratio(row: dict[str, Any]) -> str:
        ours = rows.get((STOCHASTIC, row["n"]), {}).get("cpu")
        return "" if not ours else f"{row['cpu'] / ours:.2g}"

    return _grid(found, ratio)


def memory(found: dict[str, Any]) -> str:
    """Return the table of the largest memory beyond the data, in MB."""
    return _grid(found, lambda row: f"{row['memory']:.0f}")


def stress(found: dict[str, Any]) -> str:
    """Return the table of stresses, of those who minimise it."""
    return _grid(found, lambda row: "" if row["stress"] is None else f"{row['stress']:.4f}")


def about(found: dict[str, Any]) -> str:
    """Say when, where and with what all this was measured."""
    names = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    busy = " — **the machine was busy**" * (found["others"] > 0.1)
    measured = (
        f"Measured on {found['date']} at commit {found['commit'] or 'unknown'}, by {found['command']} "
        f"({found['minutes']:.0f} min) on {found['processor']};\nother processes used {found['others']:.0%} of the "
        f"cores meanwhile{busy}. Versions: {names}."
    )
    return "\n\n".join([measured, *found["notes"]])


def headline(found: dict[str, Any]) -> str:
    """Say what the largest maps cost that were drawn given something."""
    rows = [row for row in found["rows"] if row["who"] == GIVEN and "cpu" in row and row["n"] >= MANY]
    costs = [f"{row['n']:,} objects took {row['cpu']:.0f} CPU s and {row['memory']:.0f} MB" for row in rows]
    per_object = [f"{1e6 * row['cpu'] / row['n']:.0f}" for row in rows]
    if not rows:
        return f"No map of {MANY:,} objects or more was drawn."
    return (
        f"With 3 dimensions, given 2 known features, {' and '.join(costs)}\nbeyond the data "
        f"by the stochastic solver: {', '.join(per_object)} µs an object."
    )


def markdown(found: dict[str, Any]) -> str:
    """Return RESULTS-SCALE.md."""
    failures = [f"- {row['who']}: {row.get('missing') or row['failed']}" for row in found["rows"] if _broken(row)]
    parts = ["# What a map costs, from a thousand objects to a million", about(found), HOW.format(**found)]
    parts += ["## CPU seconds", seconds(found), f"## As multiples of: {STOCHASTIC}", ratios(found)]
    parts += ["## Memory beyond the data, MB", memory(found), "## Stress", stress(found)]
    parts += ["## Not run", "\n".join(failures)] * bool(failures)
    for title, lines in (("Flights", found["flights"]), ("Against the exact solver", found["against_exact"])):
        parts += [f"## {title}", _as_printed(lines)] * bool(lines)
    return "\n\n".join(parts) + "\n"


def _as_printed(lines: list[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _broken(row: dict[str, Any]) -> bool:
    return "missing" in row or "failed" in row


def renew(text: str, found: dict[str, Any]) -> str:
    """Return docs/scaling.md with its numbers replaced."""
    parts = {"about": about(found), "cost": seconds(found), "headline": headline(found)}
    return page.renew(text, {**parts, "flights": _as_printed(found["flights"])}, by="make bench-scale")
