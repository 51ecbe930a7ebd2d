"""Requests that read a map: background jobs, whose results are kept for each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _work
from ._looking import find_step, turn_of
from ._requests import Message, field, request

if TYPE_CHECKING:
    from ._session import Session


def _read(session: Session, step: int, what: str) -> Message:
    kept = session.readings.get((step, what))
    if kept is not None:
        return {"result": kept}

    running = session.task("read", step=step, what=what)
    if running is not None:
        return {"job": running}

    def keep(found: Message) -> Message:
        if what == "ellipses":
            turn = turn_of(session, find_step(session, {"step": step}))
            found = {"axes": (found["axes"] @ turn).astype(np.float32)}
        session.readings[step, what] = found
        return {"step": step, "what": what, "result": found}

    study = session.study.branch(session.study.title)
    return session.start("read", what, keep, _work.read, study, step, what, urgent=False, step=step, what=what)


@request("read")
def read(session: Session, message: Message) -> Message:
    """Return what a step says beyond its map, at once if it was asked for before."""
    what = field(message, "what", str)
    if what not in _work.READERS:
        raise ValueError(f"{what!r} cannot be read off a map; choose one of {', '.join(_work.READERS)}.")
    return _read(session, find_step(session, message).id, what)


@request("ellipses")
def ellipses(session: Session, message: Message) -> Message:
    """Return how sure the place of each object is."""
    return _read(session, find_step(session, message).id, "ellipses")
