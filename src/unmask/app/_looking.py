"""Requests that look at a study and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..inspection import procrustes
from ._describe import draw_values, find_column
from ._pictures import thumbnail
from ._requests import Message, field, request

if TYPE_CHECKING:
    from ..discovery import Step
    from ._session import Session


@request("hello")
def hello(session: Session, message: Message) -> Message:
    """Tell a page that has just come everything."""
    from ._session import PROTOCOL

    if message.get("protocol") != PROTOCOL:
        raise ValueError("this page is of another version of unmask; reload it.")
    return {"state": session.state()["state"]}


@request("objects")
def objects(session: Session, _: Message) -> Message:
    """Return what the objects are called."""
    return {"labels": [str(label) for label in session.study.material.objects]}


@request("column")
def column(session: Session, message: Message) -> Message:
    """Return the values of a column, as they are drawn."""
    values, kind = find_column(session.study, field(message, "key", str))
    return {"name": str(values.name), **draw_values(values, kind)}


def find_step(session: Session, message: Message, name: str = "step") -> Step:
    """Return the step that a message names."""
    from ..discovery import Step

    number, tree = field(message, name, int), session.study.tree
    step = tree[number - 1] if 0 < number <= len(tree) else None
    if not isinstance(step, Step):
        raise ValueError(f"there is no map {number} any more; reload the page.")
    return step


@request("map")
def map_of(session: Session, message: Message) -> Message:
    """Return the map of a step, perhaps turned onto another one."""
    step = find_step(session, message)
    points = step.embedding
    if message.get("onto") is not None:
        other = find_step(session, message, "onto").embedding
        points = procrustes(other, points, scale=False).aligned.iloc[:, : points.shape[1]]
    return {
        "step": step.id,
        "axes": [str(name) for name in step.embedding.columns],
        "points": points.to_numpy(dtype="f4"),
        "stress": step.stress_per_point.to_numpy(dtype="f4"),
    }


@request("pictures")
def pictures(session: Session, message: Message) -> Message:
    """Return the pictures of some objects."""
    labels = session.study.material.objects
    wanted: list[Any] = field(message, "objects", list)
    found = [(at, _picture(session, labels[at])) for at in wanted if isinstance(at, int) and 0 <= at < len(labels)]
    return {"pictures": [{"object": at, "mime": "image/png", "data": data} for at, data in found if data is not None]}


def _picture(session: Session, label: Any) -> bytes | None:
    """Return the picture of an object, made small and written anew: a study that was loaded may hold any bytes."""
    kept = session.study.material.pictures.get(label)
    if kept is not None and label not in session.pictures:
        try:
            session.pictures[label] = thumbnail(kept, f"the picture of {label}")
        except ValueError as problem:
            session.pictures[label] = None
            session.tell({"event": "notice", "level": "warning", "text": f"The study has a picture less: {problem}"})
    return session.pictures.get(label)


@request("view")
def view(session: Session, message: Message) -> None:
    """Remember how a step was looked at, for when the page comes back."""
    session.views[str(find_step(session, message).id)] = field(message, "view", dict)
