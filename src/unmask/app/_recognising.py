"""Requests that turn a gesture into a feature."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import type_from_text
from ._describe import draw_values, scale_of, type_name
from ._looking import turn_of
from ._requests import Message, field, request

if TYPE_CHECKING:
    import pandas as pd

    from ._session import Session


def _label(labels: pd.Index, place: Any) -> Any:
    """Return the label of an object that the page names by its place."""
    at = int(place) if isinstance(place, str) and place.isdecimal() else place
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < len(labels):
        raise ValueError(f"the page named object {place!r}, and objects are 0 to {len(labels) - 1}; reload it.")
    return labels[at]


def read_way(session: Session, message: Message) -> dict[str, Any]:
    """Return a way to a feature as `discovery` takes it: with labels, where the page counts objects."""
    way = dict(field(message, "way", dict))
    labels = session.study.material.objects
    if isinstance(way.get("groups"), dict):
        way["groups"] = {name: [_label(labels, at) for at in members] for name, members in way["groups"].items()}
    if isinstance(way.get("along"), list):
        axes = tuple(way.get("axes") or (0, 1))
        way["axes"] = axes
        way["along"] = [
            _label(labels, place.get("object")) if isinstance(place, dict) else _own_place(session, place, axes)
            for place in way["along"]
        ]
    return way


def _own_place(session: Session, place: Any, axes: tuple[int, ...]) -> list[float]:
    """Return a place of the map as it is shown, in the coordinates of the step."""
    turn = turn_of(session, session.study.step)
    shown = np.zeros(len(turn))
    shown[list(axes)] = place
    return [float(value) for value in (turn @ shown)[list(axes)]]


def read_kind(message: Message) -> Any:
    """Return the type that a message declares, if any."""
    return None if message.get("kind") is None else type_from_text(field(message, "kind", str))


def read_cells(labels: pd.Index, values: Message, column: pd.Series[Any], kind: Any) -> dict[Any, Any]:
    """Return cells by label; text that was typed becomes what the other values of the feature are."""
    cells = {_label(labels, at): value for at, value in values.items()}
    return {label: _cell(label, value, column, kind) for label, value in cells.items()}


def _cell(label: Any, value: Any, column: pd.Series[Any], kind: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    same = next((own for own in column.dropna().unique() if str(own) == text), None)
    if not text or same is not None:
        return same
    if scale_of(column, kind) in ("category", "ordered") and column.dtype.kind not in "iuf":
        return text
    number = _number(text)
    if number is None:
        raise ValueError(
            f"{column.name} of {label}: {value!r} is no number, and the other values are; write one such as 1.5, or "
            "nothing where it is missing."
        )
    return number


def _number(text: str) -> float | int | None:
    """Return the number that a text is, if it is one."""
    with suppress(ValueError):
        number = float(text.replace("_", "?"))
        return int(text) if text.lstrip("+-").isdecimal() else number if isfinite(number) else None
    return None


@request("preview")
def preview(session: Session, message: Message) -> Message:
    """Return the values that a gesture gives, and how far they are known already."""
    found = session.study.preview(**read_way(session, message), kind=read_kind(message))
    return {
        "type": type_name(found.values, found.kind),
        **draw_values(found.values, found.kind),
        "known": found.r2 if session.study.known.shape[1] else None,
        "warnings": list(found.warnings),
    }


@request("adopt", changes=True)
def adopt(session: Session, message: Message) -> Message:
    """Make a feature known under a name, with corrections by hand: all of it, or nothing."""
    study, name = session.study, field(message, "name", str)
    since, branch = len(study.tree), study.branch(study.title)
    branch.adopt(name, **read_way(session, message), kind=read_kind(message), why=str(message.get("why") or ""))
    if message.get("corrections"):
        column, kind = branch.known[name], branch.known_types.get(name)
        branch.amend(name, values=read_cells(study.material.objects, message["corrections"], column, kind))
    study.go(study.take_over(branch, since))
    session.changed()
    return {"action": study.here}


@request("amend", changes=True)
def amend(session: Session, message: Message) -> Message:
    """Correct a known feature: its values, its type or its name."""
    study, name, kind, values = session.study, field(message, "name", str), read_kind(message), message.get("values")
    if values is not None and name in study.known:
        own = study.known_types.get(name) if kind is None else kind
        values = read_cells(study.material.objects, values, study.known[name], own)
    study.amend(
        name,
        values=values,
        kind=kind,
        rename=message.get("rename"),
        why=str(message.get("why") or ""),
    )
    session.changed()
    return {"action": study.here}


@request("use", changes=True)
def use(session: Session, message: Message) -> Message:
    """Put a known feature aside, or make it known again."""
    study, name = session.study, field(message, "name", str)
    if message.get("on"):
        if name not in study.features:
            raise ValueError(f"{name!r} was never known here; reload the page.")
        study.adopt(name, values=study.features[name], kind=study.feature_types.get(name), why="known again")
    else:
        study.forget(name)
    session.changed()
    return {"action": study.here}


@request("contrast")
def contrast(session: Session, message: Message) -> Message:
    """Rank all columns by how a group differs from others."""
    labels = session.study.material.objects
    group, other = ([_label(labels, at) for at in message.get(side) or ()] for side in ("group", "other"))
    found = session.study.contrast(group, other or None)
    return {
        "rows": [
            {
                "column": str(row["column"]),
                "key": f"{row['where']}:{row['column']}",
                "strength": row["strength"],
                "p_value": row["p_value"],
                "text": row["note"] or f"{row['group']} against {row['other']}",
            }
            for row in found.to_dict("records")
        ]
    }
