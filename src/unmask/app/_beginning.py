"""Requests that begin a study: from files that were dropped, from an example, or from one that was saved."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ..checking import quote
from ..discovery import Discovery
from ..io import read_data, read_dissimilarities, read_table
from ..problem import FEATURE_TYPES, type_from_text
from ._describe import scale_of, type_name
from ._examples import EXAMPLES
from ._files import Kept
from ._guard import UPLOAD_LIMIT
from ._loop import begin_fit
from ._pictures import thumbnail
from ._requests import Message, field, request

if TYPE_CHECKING:
    import pandas as pd

    from ._session import Session

ROLES = ("dissimilarities", "features", "known", "table", "pictures")
METRICS = ("euclidean", "seuclidean", "cityblock", "cosine", "correlation", "braycurtis", "gower")

# Rows and columns of a file that are shown before a study begins.
HEAD, ACROSS = 8, 50


@dataclass(frozen=True)
class Part:
    """A file that was dropped: what it was taken for, and the table in it."""

    file: str
    kept: Kept
    role: str
    table: pd.DataFrame | None = None

    @property
    def told(self) -> Message:
        """What the page shows of it."""
        told: Message = {
            "file": self.file,
            "name": self.kept.name,
            "role": self.role,
            "rows": 0,
            "columns": [],
            "head": [],
        }
        if self.table is None:
            return told
        frame = self.table
        shown = [] if self.role == "dissimilarities" else [_column(frame[name]) for name in frame.columns]
        head = frame.head(HEAD).reset_index().to_numpy(object)[:, : ACROSS + 1]
        return {**told, "rows": len(frame), "columns": shown, "head": [[str(cell) for cell in row] for row in head]}


def _column(column: pd.Series[Any]) -> Message:
    return {"name": str(column.name), "type": type_name(column), "missing": int(column.isna().sum())}


def _read(session: Session, message: Message) -> tuple[list[Part], list[Message]]:
    """Read the files of a message as they were corrected; problems are told, not raised."""
    corrections = message.get("corrections") or {}
    roles = corrections.get("roles") or {}
    parts: list[Part] = []
    problems: list[Message] = []
    for file in message.get("files") or []:
        kept = session.files.kept(file)
        main = any(part.role in ("dissimilarities", "features") for part in parts)
        try:
            parts.append(_read_one(file, kept, roles.get(file), corrections.get("labels"), main))
        except ValueError as problem:
            problems.append(_problem(file, problem))
            parts.append(Part(file, kept, roles.get(file) or "table"))
    return parts, problems


def _problem(file: str, problem: ValueError) -> Message:
    place = {"row": getattr(problem, "row", None), "column": getattr(problem, "column", None)}
    return {"file": file, **place, "text": getattr(problem, "what", str(problem))}


def _read_one(file: str, kept: Kept, role: str | None, labels: str | None, has_main: bool) -> Part:
    """Read one file: the first that can be is what objects differ by; tables that follow stand beside it."""
    if role is not None and role not in ROLES:
        raise ValueError(f"{role!r} is nothing that a file can be; choose one of {quote(ROLES)}.")
    if kept.is_picture:
        return Part(file, kept, "pictures")
    if role == "dissimilarities":
        return Part(file, kept, role, read_dissimilarities(kept.path, name=kept.name).dissimilarities)
    if role is None and not has_main and labels is None:
        read: Any = read_data(kept.path, name=kept.name)
        if hasattr(read, "dissimilarities"):
            return Part(file, kept, "dissimilarities", read.dissimilarities)
    table = read_table(kept.path, index=labels, name=kept.name).table
    return Part(file, kept, role or ("table" if has_main else "features"), table)


@request("datasets")
def datasets(_session: Session, _: Message) -> Message:
    """List the examples."""
    return {"rows": [{"name": e.name, "text": e.text, "objects": e.objects} for e in EXAMPLES.values()]}


@request("upload")
def upload(session: Session, message: Message) -> Message:
    """Keep a file that comes as a message, where there is no server."""
    data = field(message, "data", bytes)
    return session.files.keep(field(message, "name", str), io.BytesIO(data), UPLOAD_LIMIT)


@request("detect")
def detect(session: Session, message: Message) -> Message:
    """Say what the files that were dropped are taken for, and what is wrong with them."""
    parts, problems = _read(session, message)
    told = []
    for part in parts:
        try:
            told.append(part.told)
        except ValueError as problem:
            problems.append(_problem(part.file, problem))
            told.append(replace(part, table=None).told)
    columns = [
        str(name) for part in parts if part.table is not None and part.role != "dissimilarities" for name in part.table
    ]
    types = [form for kind in FEATURE_TYPES.values() for form in kind.forms if "(" not in form]
    return {
        "title": PurePath(parts[0].kept.name).stem if parts else "",
        "parts": told,
        "problems": problems,
        "choices": {"metrics": list(METRICS), "types": types, "labels": columns},
    }


@request("begin")
def begin(session: Session, message: Message) -> Message | None:
    """Begin a study and fit its first map, unless it has one."""
    if message.get("dataset") is not None:
        example = EXAMPLES.get(message["dataset"])
        if example is None:
            raise ValueError(f"{message['dataset']!r} is no example; these are {', '.join(EXAMPLES)}.")
        study = example.begin()
    elif message.get("study") is not None:
        study = Discovery.load(session.files.kept(message["study"]).path)
    else:
        study = _from_files(session, message)
    session.begin(study)
    return None if study.steps else begin_fit(session)


def _from_files(session: Session, message: Message) -> Discovery:
    import pandas as pd

    parts, problems = _read(session, message)
    if problems:
        raise ValueError(problems[0]["text"])
    corrections = message.get("corrections") or {}
    by_role = {role: [part for part in parts if part.role == role] for role in ROLES}
    main = [*by_role["dissimilarities"], *by_role["features"]]
    if len(main) != 1 or main[0].table is None:
        raise ValueError(
            f"{len(main)} files say how objects differ; there must be one: a table of dissimilarities, or of features."
        )
    types = {name: type_from_text(text) for name, text in (corrections.get("types") or {}).items()}
    data, metric, beside = main[0].table, "precomputed", [part.table for part in by_role["table"]]
    if main[0].role == "features":
        metric = corrections.get("metric") or "euclidean"
        if metric == "euclidean" and corrections.get("standardise", True):
            metric = "seuclidean"
        beside = [data, *beside]
        data = data if metric == "gower" else _numbers(data, types)
        if not data.shape[1]:
            raise ValueError(f"{main[0].kept.name} has no column of numbers to compare objects by; choose 'gower'.")
    tables = [frame for frame in beside if frame is not None]
    known = [part.table for part in by_role["known"] if part.table is not None]
    aligned = pd.concat(known, axis=1) if known else None
    return Discovery(
        data,
        known=aligned,
        table=pd.concat(tables, axis=1) if tables else None,
        known_types={name: kind for name, kind in types.items() if aligned is not None and name in aligned} or None,
        metric=metric,
        title=str(message.get("title") or PurePath(main[0].kept.name).stem),
        pictures=_pictures(by_role["pictures"]) or None,
    )


def _numbers(data: pd.DataFrame, types: dict[str, Any]) -> pd.DataFrame:
    """Return the columns of numbers, without those that were said to be codes, ranks or angles."""
    numbers = data.select_dtypes("number")
    return numbers[[name for name in numbers if scale_of(numbers[name], types.get(str(name))) == "number"]]


def _pictures(parts: list[Part]) -> dict[str, bytes]:
    """Return the pictures by the label of their object, which is the name of the file without its end."""
    return {PurePath(part.kept.name).stem: thumbnail(part.kept.path, part.kept.name) for part in parts}
