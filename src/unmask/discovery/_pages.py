"""A study as a table, as text, and as a page."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from ..checking import count
from ..problem.leak import leak_in_words
from ._material import Material
from ._records import Action, Step

# Columns of the history before and after those of the importances, which are attributes of the steps.
BEFORE = ("n_components", "estimator", "adjusted", "stress", "leak", "leak_reference")
AFTER = ("converged", "finished", "warnings", "seconds")


def history_table(actions: tuple[Action, ...]) -> pd.DataFrame:
    """Return the steps, one a row, with what was adopted on each."""
    steps = [action for action in actions if isinstance(action, Step)]
    features = list(dict.fromkeys(name for step in steps for name in step.importance.index))
    rows: list[dict[str, Any]] = [{"step": 0, "known": "", "adopted": [], "why": []}]
    for action in actions:
        if isinstance(action, Step):
            importance = action.importance["standardized"]
            row = {"step": action.number, "known": ", ".join(action.known), "adopted": [], "why": []}
            row |= {name: getattr(action, name) for name in (*BEFORE, *AFTER)} | {"warnings": len(action.warnings)}
            rows.append(row | {f"importance_{name}": importance.get(name, float("nan")) for name in features})
        else:
            rows[-1]["adopted"].append(action.short)
            rows[-1]["why"] += [action.why] if action.why else []
    columns = ["step", "known", *BEFORE, *(f"importance_{name}" for name in features), *AFTER, "adopted", "why"]
    rows = [row | {"adopted": ", ".join(row["adopted"]), "why": "; ".join(row["why"])} for row in rows]
    return pd.DataFrame(rows if rows[0]["adopted"] else rows[1:], columns=columns).set_index("step")


def text_of(material: Material, actions: tuple[Action, ...], title: str, known: list[str]) -> str:
    """Return the study in a few lines of text."""
    head, *lines = _sentences(material, actions, known)
    return "\n  ".join([f"Discovery {title!r}: {head}" if title else f"Discovery: {head}", *lines])


def html_of(material: Material, actions: tuple[Action, ...], title: str, known: list[str]) -> str:
    """Return the study as a piece of a page; all text in it is escaped."""
    head, *lines = _sentences(material, actions, known)
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    history = history_table(actions).drop(columns="seconds")
    table = history.to_html(escape=True, float_format=lambda x: f"{x:.4g}", na_rep="") if len(history) else ""
    return f"<div><strong>{escape(title or 'Discovery')}</strong><p>{escape(head)}</p><ul>{items}</ul>{table}</div>"


def _sentences(material: Material, actions: tuple[Action, ...], known: list[str]) -> list[str]:
    """Return a sentence about the study, and one about each action."""
    table = f", a table of {material.table.shape[1]} columns" if material.table.shape[1] else ""
    lines = [f"{len(material.objects)} objects{table}; known now: {', '.join(known) or 'nothing'}"]
    for action in actions:
        if isinstance(action, Step):
            chance = leak_in_words(action.leak, action.leak_reference)
            leak = f", leak {'0 by construction' if action.uncorrelated else chance}" if action.known else ""
            state = "" if action.finished else ", unfinished" if not action.converged else ", interrupted"
            lines.append(
                f"step {action.number}: {action.estimator}, {count(action.n_components, 'dimension')}, {action.title}: "
                f"stress {action.stress_in_words}{leak}{state}"
            )
        else:
            origin = f" ({action.origin})" if action.origin else ""
            lines.append(f"{action.verb} {action.name!r}{origin}{': ' + action.why if action.why else ''}")
    return lines
