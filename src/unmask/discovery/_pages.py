"""A study as a table, as text, as a page and as a picture."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from ..checking import count
from ..problem.leak import leak_in_words
from ._material import Material
from ._records import Action, Change, Step


def history_table(actions: tuple[Action, ...]) -> pd.DataFrame:
    """Return the steps, one a row, with what was adopted on each."""
    steps = [action for action in actions if isinstance(action, Step)]
    features = list(dict.fromkeys(name for step in steps for name in step.importance.index))
    rows = [_row(step, features) for step in steps]
    after: dict[int, list[Change]] = {}
    number = 0
    for action in actions:
        if isinstance(action, Step):
            number = action.number
        else:
            after.setdefault(number, []).append(action)
    if 0 in after:
        rows.insert(0, {"step": 0, "known": ""})
    for row in rows:
        done = after.get(row["step"], [])
        row["adopted"] = ", ".join(action.short for action in done)
        row["why"] = "; ".join(a.why for a in done if a.why)
    columns = ["step", "known", *BEFORE, *(f"importance_{name}" for name in features), *AFTER, "adopted", "why"]
    return pd.DataFrame(rows, columns=columns).set_index("step")


# Columns of the history before and after those of the importances, which are attributes of the steps.
BEFORE = ("n_components", "estimator", "adjusted", "stress", "leak", "leak_reference")
AFTER = ("converged", "finished", "warnings", "seconds")


def _row(step: Step, features: list[str]) -> dict[str, Any]:
    importance = step.importance["standardized"]
    own = {name: getattr(step, name) for name in (*BEFORE, *AFTER)}
    importances = {f"importance_{name}": importance.get(name, float("nan")) for name in features}
    own["warnings"] = len(step.warnings)
    return {"step": step.number, "known": ", ".join(step.known), **own, **importances}


# ---- text and pages


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


def text_of(material: Material, actions: tuple[Action, ...], title: str, known: list[str]) -> str:
    """Return the study in a few lines of text."""
    head, *lines = _sentences(material, actions, known)
    return "\n  ".join([f"Discovery {title!r}: {head}" if title else f"Discovery: {head}", *lines])


def html_of(material: Material, actions: tuple[Action, ...], title: str, known: list[str]) -> str:
    """Return the study as a piece of a page; all text in it is escaped."""
    head, *lines = _sentences(material, actions, known)
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    history = history_table(actions)
    shown = history.drop(columns="seconds").to_html(escape=True, float_format=lambda x: f"{x:.4g}", na_rep="")
    table = shown if len(history) else ""
    return f"<div><strong>{escape(title or 'Discovery')}</strong><p>{escape(head)}</p><ul>{items}</ul>{table}</div>"


# ---- pictures


def draw(steps: tuple[Step, ...], color: Any, ax: Any) -> Any:
    """Draw one map, or two side by side."""
    from ..plotting import plot_map, plot_pair

    if len(steps) == 1:
        return plot_map(steps[0].embedding, color=color, title=steps[0].title, ax=ax)
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
    first, second = steps
    return plot_pair(
        first.embedding, second.embedding, color=color, ax=ax, titles=(first.title, second.title), scale=False
    )
