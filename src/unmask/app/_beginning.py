"""Requests that begin a study: from files that were dropped, from an example, or from one that was saved."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from . import _inputs
from ._examples import EXAMPLES, example_maps
from ._guard import UPLOAD_LIMIT
from ._loop import begin_fit
from ._requests import Message, field, request

if TYPE_CHECKING:
    from ._session import Session


@request("datasets")
def datasets(_session: Session, _: Message) -> Message:
    """List the examples."""
    return {"rows": [{"name": e.name, "text": e.text, "objects": e.objects} for e in EXAMPLES.values()]}


@request("examples", slow=True)
def examples(session: Session, _: Message) -> Message:
    """Return a small map of each example, by its name."""
    if session.example_maps is None:
        session.example_maps = session.jobs.result(example_maps, urgent=False)
    return {"maps": session.example_maps}


@request("upload")
def upload(session: Session, message: Message) -> Message:
    """Keep a file that comes as a message, where there is no server."""
    data = field(message, "data", bytes)
    return session.files.keep(field(message, "name", str), io.BytesIO(data), UPLOAD_LIMIT)


def _files(session: Session, message: Message) -> list[Any]:
    return [(file, session.files.kept(file)) for file in message.get("files") or []]


def _corrections(message: Message) -> _inputs.Corrections:
    try:
        return _inputs.Corrections.model_validate(message.get("corrections") or {})
    except ValidationError as problem:
        raise ValueError(f"the page sent corrections that are none; reload it ({problem.error_count()}).") from None


@request("detect", slow=True)
def detect(session: Session, message: Message) -> Message:
    """Say what the files that were dropped are taken for, and what is wrong with them."""
    found: Message = session.jobs.result(_inputs.detect, _files(session, message), _corrections(message))
    return found


@request("begin", changes=True, slow=True)
def begin(session: Session, message: Message) -> Message | None:
    """Begin a study and fit its first map, unless it has one."""
    if message.get("dataset") is not None:
        example = EXAMPLES.get(message["dataset"])
        if example is None:
            raise ValueError(f"{message['dataset']!r} is no example; these are {', '.join(EXAMPLES)}.")
        study = example.begin()
    else:
        saved = message.get("study")
        files = _files(session, message if saved is None else {"files": [saved]})
        title = str(message.get("title") or "")
        study = session.jobs.result(_inputs.make_study, files, _corrections(message), title)
    with session.up_to_date(message):
        session.begin(study)
        if study.origin is not None and study.origin.assumed and not study.steps:
            session.tell({"event": "notice", "level": "info", "text": " ".join(study.origin.assumed)})
        return None if study.steps else begin_fit(session)
