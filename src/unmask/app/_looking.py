"""Requests that look at a study and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..inspection import procrustes
from ._describe import draw_values, find_column
from ._inputs import pictures_of
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


def turn_of(session: Session, step: Step) -> np.ndarray[Any, Any]:
    """Return the orthogonal matrix that turns a step's map onto the map before it, as the page shows that.

    A flat map is turned and mirrored freely. Of other maps only the signs of axes change, so that what is drawn in the
    plane of two axes still is in the plane of two axes.
    """
    if step.id not in session.turns:
        before = next((other for other in reversed(_path_to(session, step)) if other.id != step.id), None)
        onto = None if before is None else before.embedding.to_numpy() @ turn_of(session, before)
        session.turns[step.id] = turn_onto(step.embedding.to_numpy(), onto)
    return session.turns[step.id]


def turn_onto(points: np.ndarray[Any, Any], onto: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """Return the matrix that turns points onto other points of the same objects."""
    p = points.shape[1]
    shared = 0 if onto is None else min(p, onto.shape[1])
    if onto is None or not shared or not np.ptp(points, axis=0).any() or not np.ptp(onto, axis=0).any():
        return np.eye(p)
    if p == shared == 2:
        rotation: np.ndarray[Any, Any] = procrustes(onto[:, :2], points, scale=False).rotation.to_numpy()
        return rotation
    products = np.sum((points - points.mean(axis=0))[:, :shared] * onto[:, :shared], axis=0)
    return np.diag([*np.where(products < 0, -1.0, 1.0), *np.ones(p - shared)])


def _path_to(session: Session, step: Step) -> list[Step]:
    from ..discovery import Step

    tree, at, path = session.study.tree, step.id, []
    while at:
        action = tree[at - 1]
        path += [action] if isinstance(action, Step) else []
        at = action.parent
    return path[::-1]


@request("map")
def map_of(session: Session, message: Message) -> Message:
    """Return the map of a step, turned onto the one before it."""
    step = find_step(session, message)
    return {
        "step": step.id,
        "axes": [str(name) for name in step.embedding.columns],
        "points": np.asarray(step.embedding.to_numpy() @ turn_of(session, step), dtype="f4"),
        "stress": step.stress_per_point.to_numpy(dtype="f4"),
    }


@request("pictures", slow=True)
def pictures(session: Session, message: Message) -> Message:
    """Return the pictures of some objects."""
    wanted: list[Any] = field(message, "objects", list)
    material = session.study.material
    if session.pictures is None:
        session.pictures, problems = session.jobs.result(pictures_of, material) if material.pictures else ({}, [])
        for problem in problems:
            session.tell({"event": "notice", "level": "warning", "text": f"One picture less: {problem}"})
    labels = material.objects
    found = {at: session.pictures.get(labels[at]) for at in wanted if isinstance(at, int) and 0 <= at < len(labels)}
    return {"pictures": [{"object": at, "mime": "image/png", "data": data} for at, data in found.items() if data]}


@request("view")
def view(session: Session, message: Message) -> None:
    """Remember how a step was looked at, for when the page comes back."""
    session.views[str(find_step(session, message).id)] = field(message, "view", dict)
