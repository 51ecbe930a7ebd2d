"""Requests that begin a study: from files that were dropped, from an example, or from one that was saved."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import quote
from ..discovery import Discovery, coding_of, study_from_files
from ..io import read_data, read_dissimilarities, read_table
from ..problem import FEATURE_TYPES, type_from_text
from ._describe import type_name
from ._examples import EXAMPLES
from ._files import Kept
from ._guard import MOST_ROWS, UPLOAD_LIMIT
from ._loop import begin_fit
from ._pictures import thumbnail
from ._requests import Message, request
from ._requests import field as field_of

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ._session import Session

ROLES = ("dissimilarities", "features", "known", "table", "pictures")
METRICS = ("euclidean", "seuclidean", "cityblock", "cosine", "correlation", "braycurtis", "gower")

# Rows and columns of a file that are shown before a study begins, and missing cells of it that are named.
HEAD, ACROSS = 8, 50
NAMED_CELLS = 20

# Metrics that pass over missing cells.
PASSES_OVER = ("gower",)


@dataclass(frozen=True)
class Part:
    """A file that was dropped: what it was taken for, and the table in it."""

    file: str
    kept: Kept
    role: str
    table: pd.DataFrame | None = None
    types: dict[str, Any] = field(default_factory=dict)  # that were declared
    study: Discovery | None = None

    @property
    def rows(self) -> int:
        """Number of its rows, or of the objects of a study."""
        whole = self.table if self.study is None else self.study.material.objects
        return 0 if whole is None else len(whole)

    @property
    def told(self) -> Message:
        """What the page shows of it."""
        told: Message = {
            "file": self.file,
            "name": self.kept.name,
            "role": self.role,
            "rows": self.rows,
            "columns": [],
            "head": [],
        }
        if self.table is None:
            return told
        frame = self.table
        if self.role != "dissimilarities":
            told["columns"] = [_column(column, self.types.get(str(name))) for name, column in frame.items()]
        head = frame.iloc[:HEAD, :ACROSS].astype(object)
        cells = [[str(label), *map(str, row)] for label, row in zip(head.index, head.to_numpy(), strict=True)]
        return {**told, "head": cells}


def _column(column: pd.Series[Any], kind: Any) -> Message:
    return {"name": str(column.name), "type": type_name(column, kind), "missing": int(column.isna().sum())}


def _read(session: Session, message: Message) -> tuple[list[Part], list[Message]]:
    """Read the files of a message as they were corrected; problems are told, not raised."""
    corrections = message.get("corrections") or {}
    roles, types = corrections.get("roles") or {}, _types(corrections)
    parts: list[Part] = []
    problems: list[Message] = []
    for file in message.get("files") or []:
        kept = session.files.kept(file)
        main = any(part.role in ("dissimilarities", "features") for part in parts)
        try:
            part = replace(_read_one(file, kept, roles.get(file), corrections.get("labels"), main), types=types)
            parts.append(part)
            if part.role == "features" and corrections.get("metric") not in PASSES_OVER:
                problems += _missing(part)
        except (ValueError, ImportError) as problem:  # of a package that reads it and is not there, with the way to it
            problems.append(_problem(file, problem))
            parts.append(Part(file, kept, roles.get(file) or "table"))
    return parts, problems


def _problem(file: str, problem: Exception) -> Message:
    place = {"row": getattr(problem, "row", None), "column": getattr(problem, "column", None)}
    return {"file": file, **place, "text": getattr(problem, "what", str(problem))}


def _types(corrections: Message) -> dict[str, Any]:
    """Return the types that were declared for columns, by name."""
    return {name: type_from_text(text) for name, text in (corrections.get("types") or {}).items()}


def _missing(part: Part) -> list[Message]:
    """Return the missing cells of what objects are compared by: the distance of two objects needs them all."""
    assert part.table is not None
    numbers = part.table.select_dtypes("number")
    compared = numbers[[name for name in numbers if coding_of(numbers[name], part.types) == "numeric"]]
    places = np.argwhere(compared.isna().to_numpy())
    across = [part.table.columns.get_loc(name) for name in compared]
    way = "; fill it, compare by 'gower', which passes over it, or say that this column is no number"
    found = [
        {
            "file": part.file,
            "row": int(row) + 1,
            "column": across[at] + 1,
            "text": f"{compared.columns[at]} of {compared.index[row]} is missing{way}.",
        }
        for row, at in places[:NAMED_CELLS]
    ]
    if len(places) > NAMED_CELLS:
        more = f"{len(places) - NAMED_CELLS:,} more cells are missing."
        found.append({"file": part.file, "row": None, "column": None, "text": f"{part.kept.name}: {more}"})
    return found


def _read_one(file: str, kept: Kept, role: str | None, labels: str | None, has_main: bool) -> Part:
    """Read one file: the first that can be is what objects differ by; tables that follow stand beside it."""
    _require_role(role)
    if kept.is_picture:
        return Part(file, kept, "pictures")
    if kept.path.suffix == ".zip":
        part = Part(file, kept, "study", study=_load(kept))
    else:
        part = _read_part(file, kept, role, labels, has_main)
    _require_few(kept.name, part.rows)
    return part


def _require_role(role: Any) -> None:
    if role is not None and role not in ROLES:
        raise ValueError(f"{role!r} is nothing that a file can be; choose one of {quote(ROLES)}.")


def _require_few(name: str, n: int) -> None:
    if n > MOST_ROWS:
        raise ValueError(
            f"{name} has {n:,} rows, and the workbench shows at most {MOST_ROWS:,} objects; take a sample, or fit them "
            "in Python."
        )


def _load(kept: Kept) -> Discovery:
    # It may be of anybody: what it names elsewhere on this machine is not opened.
    return Discovery.load(kept.path, name=kept.name, elsewhere=False)


def _read_part(file: str, kept: Kept, role: str | None, labels: str | None, has_main: bool) -> Part:
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
    data = field_of(message, "data", bytes)
    return session.files.keep(field_of(message, "name", str), io.BytesIO(data), UPLOAD_LIMIT)


@request("detect", slow=True)
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
    types = [form for kind in FEATURE_TYPES.values() for form in kind.forms]
    return {
        "title": PurePath(parts[0].kept.name).stem if parts else "",
        "parts": told,
        "problems": problems,
        "choices": {"metrics": list(METRICS), "types": types, "labels": columns},
    }


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
        study = _from_files(session, message if saved is None else {"files": [saved]})
    with session.up_to_date(message):
        session.begin(study)
        if study.origin is not None and study.origin.assumed and not study.steps:
            session.tell({"event": "notice", "level": "info", "text": " ".join(study.origin.assumed)})
        return None if study.steps else begin_fit(session)


def begin_with(session: Session, paths: Sequence[Path]) -> None:
    """Begin a study with several files of this machine, taken as the page takes those that are dropped on it."""
    files = []
    for path in paths:
        if not path.is_file():
            raise ValueError(f"{path}: there is no such file; of several, each must be one.")
        with path.open("rb") as content:
            files.append(session.files.keep(path.name, content, UPLOAD_LIMIT)["file"])
    answer = session.handle({"do": "begin", "files": files, "revision": session.revision})
    if not answer["ok"]:
        raise ValueError(answer["error"])


def _from_files(session: Session, message: Message) -> Discovery:
    corrections = message.get("corrections") or {}
    given, labels = corrections.get("roles") or {}, corrections.get("labels")
    by_role: dict[str, list[Kept]] = {role: [] for role in ("study", *ROLES)}
    kinds: list[str] = []
    for file in message.get("files") or []:
        kept, role = session.files.kept(file), given.get(file)
        _require_role(role)
        if kept.is_picture or kept.path.suffix == ".zip":
            role = "pictures" if kept.is_picture else "study"
        elif role is None:
            # The first that can be says how objects differ; tables that follow stand beside it.
            role = "table" if kinds else "features"
            kinds += ["auto"] if role == "features" else []
        elif role in ("dissimilarities", "features"):
            kinds.append(role)
        by_role[role].append(kept)
    main = [*by_role["dissimilarities"], *by_role["features"]]
    if by_role["study"]:
        (kept, *more) = by_role["study"]
        if more or any(by_role[role] for role in ROLES):
            raise ValueError(f"{kept.name} is a study, which has its tables; drop it alone.")
        study = _load(kept)
    elif len(main) != 1:
        raise ValueError(
            f"{len(main)} files say how objects differ; there must be one: a table of dissimilarities, or of features."
        )
    else:
        metric = corrections.get("metric")
        if metric == "euclidean" and corrections.get("standardise", True):
            metric = "seuclidean"
        if metric is None and not corrections.get("standardise", True):
            metric = "euclidean"
        kept = main[0]
        study = study_from_files(
            kept.path,
            known=[part.path for part in by_role["known"]],
            table=[part.path for part in by_role["table"]],
            metric=metric,
            types=_types(corrections),
            kind=kinds[0],
            read_as={"index": labels},
            pictures=_pictures(by_role["pictures"]) or None,
            title=str(message.get("title") or PurePath(kept.name).stem),
            names={str(part.path): part.name for parts in by_role.values() for part in parts},
        )
    _require_few(kept.name, len(study.material.objects))
    return study


def _pictures(pictures: list[Kept]) -> dict[str, bytes]:
    """Return the pictures by the label of their object, which is the name of the file without its end."""
    return {PurePath(kept.name).stem: thumbnail(kept.path, kept.name) for kept in pictures}
