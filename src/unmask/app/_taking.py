"""Requests for files: reports, tables, the study, a script."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checking import require_package
from ..io import write_table
from . import _work
from ._files import Kept
from ._requests import Message, field, request

if TYPE_CHECKING:
    from ..discovery import Discovery
    from ._session import Session


def _csv(study: Discovery, path: Path, _: str) -> None:
    write_table(_table(study), path)


def _parquet(study: Discovery, path: Path, _: str) -> None:
    try:
        require_package("pyarrow", "a Parquet file", "files")
    except ImportError as missing:
        raise ValueError(f"{missing}, or take the CSV.") from None
    _table(study).to_parquet(path, engine="pyarrow")


def _table(study: Discovery) -> Any:
    """Return the last map, with what is known, one row per object."""
    known = study.known
    taken = {*study.embedding.columns, "label"}
    apart = known.rename(columns={name: f"{name} (known)" for name in known.columns if name in taken})
    return study.embedding.join(apart).rename_axis("label")


def _study(study: Discovery, path: Path, _: str) -> None:
    study.save(path)


def _script(study: Discovery, path: Path, saved_as: str) -> None:
    path.write_text(study.to_script(saved_as), encoding="utf-8")


_MAKERS: dict[str, tuple[str, str, Callable[[Discovery, Path, str], None]]] = {
    "csv": (".csv", "text/csv", _csv),
    "parquet": (".parquet", "application/octet-stream", _parquet),
    "study": (".zip", "application/zip", _study),
    "script": (".py", "text/x-python", _script),
}


@request("take", slow=True)
def take(session: Session, message: Message) -> Message:
    """Make a file of the study as it is here."""
    what = field(message, "what", str)
    with session.lock:
        study = session.study.branch(session.study.title)
    plain_title = re.sub(r"[^\w-]+", "-", study.title).strip("-") or "study"
    saved_as = f"{plain_title}.zip"  # the study when it is taken, which the script reads
    if what == "report":
        key, kept = session.files.make(f"{plain_title}.html")
        then = lambda _: {"result": _handed(session, key, kept, "text/html")}  # noqa: E731
        with session.lock:
            arguments = study, str(kept.path), saved_as
            return session.start("report", "the report", then, _work.report, *arguments, urgent=False)
    if what not in _MAKERS:
        raise ValueError(f"{what!r} cannot be taken away; choose one of report, {', '.join(_MAKERS)}.")
    suffix, mime, make = _MAKERS[what]
    key, kept = session.files.make(f"{plain_title}{suffix}")
    make(study, kept.path, saved_as)
    return _handed(session, key, kept, mime)


def _handed(session: Session, key: str, kept: Kept, mime: str) -> Message:
    """Return where a file is to be fetched, or, where there is no server, the file."""
    session.files.count(kept)
    if session.by_http:
        return {"url": f"/take/{key}", "name": kept.name}
    return {"data": kept.path.read_bytes(), "name": kept.name, "mime": mime}
