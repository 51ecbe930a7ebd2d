"""Requests that turn a gesture into a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..discovery import Adoption, Amendment
from ..problem import type_from_text
from ._describe import draw_values, type_name
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
        way["along"] = [
            _label(labels, place.get("object")) if isinstance(place, dict) else place for place in way["along"]
        ]
        way["axes"] = tuple(way.get("axes") or (0, 1))
    return way


def read_kind(message: Message) -> Any:
    """Return the type that a message declares, if any."""
    return None if message.get("kind") is None else type_from_text(field(message, "kind", str))


def _by_label(labels: pd.Index, values: Any) -> dict[Any, Any]:
    return {_label(labels, at): value for at, value in values.items()}


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
        branch.amend(name, values=_by_label(study.material.objects, message["corrections"]))
    study.go(study.take_over(branch, since))
    session.changed()
    return {"action": study.here}


@request("amend", changes=True)
def amend(session: Session, message: Message) -> Message:
    """Correct a known feature: its values, its type or its name."""
    study = session.study
    values = None if message.get("values") is None else _by_label(study.material.objects, message["values"])
    study.amend(
        field(message, "name", str),
        values=values,
        kind=read_kind(message),
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
        again = [action for action in study.tree if isinstance(action, Adoption | Amendment) and action.called == name]
        kind = again[-1].kind if again else study.material.known_types.get(name)
        study.adopt(name, values=study.features[name], kind=kind, why="known again")
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
