"""A study in a folder or zip file: files that are only added, and study.json, which names those that belong to it.

A file name is never used again for other contents, and study.json is replaced in one step after all files have been
written. So a reader sees the old study or the new one, also after a save that was killed.
"""

from __future__ import annotations

import io
import json
import os
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ..checking import is_file
from ..dissimilarities import make_transformer
from ..io import FileProblem, atomic_path, memory_limit, not_written
from ._data import ComparedFeatures, Data, SquareTable, TableInFile
from ._files import Origin
from ._fitting import check_params
from ._material import Material, picture_type, read_types
from ._records import Action, Step, Text, known_after
from ._values import decode, encode

if TYPE_CHECKING:
    from ._study import Discovery

SCHEMA, SCHEMA_VERSION, STUDY = "unmask study", 5, "study.json"
# The names of the files of a study; the 8 digits belong to the study or the record.
OURS = re.compile(
    r"(\.[0-9a-f]{16}-)?(dissimilarities|features|weights|known|table|(picture|fit|adopt|amend)\d+)-[0-9a-f]{8}"
    r"\.(json|npy|png|jpg|gif|webp)|\.[0-9a-f]{16}-study\.json"
)
# A file that study.json does not name may belong to a save that is under way; after so many seconds it does not.
STALE = 3600.0
# A zip file has no year before 1980; the same study always gives the same bytes.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
# A zip file may hold this many times its own size, and this many bytes in any case.
MOST_EXPANSION, ALWAYS_ALLOWED = 200, 50_000_000
_WAY_OUT = "give the folder or zip file that Discovery.save wrote."
_RECORD: TypeAdapter[Any] = TypeAdapter(Annotated[Action, Field(discriminator="action")])


def _file_name(name: str) -> str:
    """Raise unless a name is that of a file, and not a path that leads elsewhere."""
    if name in ("", ".", "..") or not PurePosixPath(name).name == PureWindowsPath(name).name == name:
        raise ValueError(f"{name!r} is not the name of a file in the study")
    return name


class Document(BaseModel):
    """The contents of study.json; ``files`` has the SHA-256 of each file.

    The dissimilarities are in a file of the study, made of features by a ``metric``, or in a file elsewhere (``path``).
    """

    model_config = ConfigDict(extra="forbid")

    schema_name: Literal["unmask study"] = Field(alias="schema")
    schema_version: Literal[5]
    unmask_version: str
    uuid: str = Field(pattern="^[0-9a-f]{32}$")
    revisions: list[str]
    title: Text
    origin: Origin | None
    labels: list[Any]
    labels_name: str | None
    numbered: bool
    single: bool = False
    metric: str | None = None
    metric_params: dict[str, Any] = Field(default_factory=dict)
    path: str | None = None
    checksum: int = 0
    known_types: dict[str, Any]
    files: dict[Annotated[str, AfterValidator(_file_name)], str]
    here: int = Field(ge=0)
    actions: list[dict[str, Any]]


# ---- saving


def save(study: Discovery, path: Path, *, force: bool = False) -> None:
    """Write a study as a folder, or as a zip file if the name says so."""
    before, is_new = study.revisions, not path.exists()
    written: list[Path] = []

    def write(name: str, data: bytes) -> None:
        written.extend([path / name] if name != STUDY else [])
        with atomic_path(path / name) as draft:
            draft.write_bytes(data)

    try:
        if path.suffix.lower() == ".zip":
            with atomic_path(path) as draft, zipfile.ZipFile(draft, "w") as packed:
                _write(study, path, lambda name, data: packed.writestr(_entry(name), data, zipfile.ZIP_DEFLATED))
        else:
            _require_place(path, force)
            path.mkdir(exist_ok=True)
            _remove_others(path, *_write(study, path, write))
    except BaseException as error:
        if study.revisions != before and read_saved(path).get("revisions") == list(study.revisions):
            if isinstance(error, Exception):  # after all was written
                return
            raise
        study.revisions = before
        for file in written:
            file.unlink(missing_ok=True)
        if is_new and path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        # Name the study, not one of its files.
        if isinstance(error, FileProblem):
            raise FileProblem(f"{path}: {error.what}", str(path)) from error
        if isinstance(error, OSError):
            raise not_written(path, error) from error
        raise


def _require_place(path: Path, force: bool) -> None:
    """Raise unless a folder can be made or holds nothing but a study."""
    what = None
    others = path.is_dir() and any(not OURS.fullmatch(own.name) for own in path.iterdir())
    if path.exists() and not path.is_dir():
        what = "is a file; give the name of a folder, or of a file that ends in .zip."
    elif others and not force and not (path / STUDY).is_file():
        what = "is a folder with other things in it; give the name of a new folder."
    elif not path.parent.is_dir():
        what = f"there is no folder {str(path.parent)!r}; make it first."
    if what is not None:
        raise FileProblem(f"{path}: {what}", str(path))


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, ZIP_DATE)
    entry.external_attr = 0o644 << 16
    return entry


def _write(study: Discovery, place: Path, write: Callable[[str, bytes], None]) -> tuple[Any, Any]:
    """Write the files that a folder does not have yet, and study.json; return the files before and now."""
    before = study.revisions
    there = _require_ancestor(study, before, place).get("files", {})
    files = {}
    for name, make in _contents(study):
        if name in there and (place / name).is_file():
            files[name] = there[name]
        else:
            data = make()
            write(name, data)
            files[name] = fingerprint(data)
    document = _next_revision(study, files)
    _require_ancestor(study, before, place)
    write(STUDY, document)
    return there, files


def _remove_others(folder: Path, before: Any, now: Any) -> None:
    """Remove the files of the study that was there before, and those that a killed save left long ago."""
    for path in folder.iterdir():
        if OURS.fullmatch(path.name) and path.name not in now:
            with suppress(OSError):
                if path.name in before or time.time() - path.stat().st_mtime > STALE:
                    path.unlink()


def read_saved(place: Path) -> dict[str, Any]:
    """Return study.json of a folder or zip file as it is; empty if there is none that can be read."""
    try:
        saved = json.loads(_reader(place)(STUDY), object_hook=decode)
        return saved if isinstance(saved, dict) and saved.get("schema_version") == SCHEMA_VERSION else {}
    except (OSError, ValueError, LookupError, RecursionError, DamagedError):
        return {}


def _require_ancestor(study: Discovery, revisions: tuple[str, ...], place: Path) -> dict[str, Any]:
    """Return study.json at a place; raise if that is a version of the same study from which this one does not come."""
    saved = read_saved(place)
    there = saved.get("revisions", [])
    if saved.get("uuid") == study.uuid and there != list(revisions[: len(there)]):
        raise FileProblem(
            f"{place}: holds a newer version of this study, or one that was changed elsewhere (revision {len(there)}; "
            f"this one goes on from {len(revisions)}), which would be lost. Load it and go on there, or save this one "
            "to another place.",
            str(place),
        )
    return saved


def _as_json(value: Any, indent: int | None = None) -> bytes:
    return f"{json.dumps(encode(value), indent=indent, ensure_ascii=False, allow_nan=False)}\n".encode()


def fingerprint(data: bytes) -> str:
    """Return the SHA-256 of a file."""
    return sha256(data).hexdigest()


def _contents(study: Discovery) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each file of a study, and a function that makes its contents."""
    material, key = study.material, study.uuid[:8]
    data = material.data
    squares = {"dissimilarities": data.table if isinstance(data, SquareTable) else None, "weights": material.weights}
    for name, square in squares.items():
        if square is not None:
            yield f"{name}-{key}.npy", partial(_square_bytes, square.to_numpy())
    features = data.features if isinstance(data, ComparedFeatures) else None
    for name, table in (("features", features), ("known", material.known), ("table", material.table)):
        if table is not None and table.shape[1]:
            yield f"{name}-{key}.json", partial(_as_json, {name: table.reset_index(drop=True)})
    for row, label in enumerate(material.objects):
        if label in material.pictures:
            picture = material.pictures[label]
            yield f"picture{row}-{key}.{picture_type(picture)}", partial(bytes, picture)
    for action in study.tree:
        tables = {
            name: (value if hasattr(value, "columns") else value.to_frame()).reset_index(drop=True)
            for name, value in action
            if _has_file(action, name)
        }
        if tables:
            yield f"{action.action}{action.id}-{action.key}.json", partial(_as_json, tables)


def _has_file(action: Action, name: str) -> bool:
    """Return whether a field is a table with one row per object, which is written into a file of its own."""
    return bool(type(action).model_fields[name].exclude)


def _square_bytes(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(values), allow_pickle=False)
    return stream.getvalue()


def _next_revision(study: Discovery, files: dict[str, str]) -> bytes:
    """Return study.json of a revision, which is added to the study."""
    labels, data = study.material.objects, study.material.data
    about: dict[str, Any] = {}
    if isinstance(data, ComparedFeatures):
        about = {"single": data.single, "metric": data.metric, "metric_params": dict(data.metric_params)}
    if isinstance(data, TableInFile):
        about = {"path": data.path, "checksum": data.checksum}
    actions = [
        {name: list(v) if isinstance(v, tuple) else v for name, v in action if not _has_file(action, name)}
        for action in study.tree
    ]
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "unmask_version": version("unmask"),
        "uuid": study.uuid,
        "revisions": list(study.revisions),
        "title": study.title,
        "origin": None if study.origin is None else study.origin.model_dump(mode="json"),
        "labels": list(labels),
        "labels_name": labels.name,
        "numbered": isinstance(labels, pd.RangeIndex),
        **about,
        "known_types": study.material.known_types,
        "files": files,
        "here": study.here,
        "actions": actions,
    }
    # The name of a revision follows from its contents: the same study gives the same bytes.
    study.revisions = (*study.revisions, fingerprint(_as_json(document))[:16])
    return _as_json(document | {"revisions": list(study.revisions)}, indent=1)


# ---- loading


class DamagedError(Exception):
    """A study cannot be read; the message goes on after the path of the study."""


class MissingError(DamagedError):
    """A file that study.json names is missing."""


Loaded = tuple[Document, Material, tuple[Action, ...]]


def load(path: Path, name: str | None = None, *, elsewhere: bool = True) -> Loaded:
    """Return a study that was saved."""
    with _explained(str(path) if name is None else name):
        text = None
        while True:
            read, before = _reader(path), text
            try:
                text = read(STUDY).decode("utf-8")
            except FileNotFoundError:
                raise DamagedError(f"has no {STUDY}; {_WAY_OUT}") from None
            try:
                return _load(read, text, elsewhere)
            except MissingError:  # if the study was saved meanwhile, study.json names other files now
                if text == before:
                    raise


@contextmanager
def _explained(shown: str) -> Iterator[None]:
    """Turn whatever is wrong with the files of a study into one sentence that begins with its name."""
    cause: Exception | None
    try:
        yield
        return
    except FileProblem:
        raise
    except DamagedError as error:
        what, cause = str(error), None
    except OSError as error:
        what, cause = f"cannot be read ({(error.strerror or str(error)).lower()}); {_WAY_OUT}", error
    except Exception as error:  # whatever somebody wrote into it
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        else:
            first_line = str(error).partition("\n")[0].rstrip(".")
            reason = f"{type(error).__name__}: {first_line}"
        what, cause = f"{STUDY} cannot be understood ({reason}).", error
    raise FileProblem(f"{shown}: {what}", shown) from cause


def _reader(path: Path) -> Callable[[str], bytes]:
    """Return a function that reads a file of a study by its name."""
    if path.is_dir():
        return lambda name: (path / name).read_bytes()
    if not os.path.lexists(path):
        os.stat(path.parent)  # which says what is wrong with a path, if it is not only missing
        raise DamagedError(f"is not there; {_WAY_OUT}")
    left = min(max(ALWAYS_ALLOWED, MOST_EXPANSION * path.stat().st_size), memory_limit())

    def read(name: str) -> bytes:
        nonlocal left
        try:
            with zipfile.ZipFile(path) as packed:
                if name not in packed.namelist():
                    raise FileNotFoundError(name)
                with packed.open(name) as file:
                    data = file.read(left + 1)  # whatever the header promises
        except zipfile.BadZipFile as error:
            raise DamagedError(f"is not a zip file that can be read ({error}); {_WAY_OUT}") from None
        except (zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
            raise DamagedError(f"{name!r} in it cannot be read ({error}).") from None
        left -= len(data)
        if left < 0:
            raise DamagedError(
                f"holds more than {MOST_EXPANSION} times its own size, or than memory has room for; if it can be "
                "trusted, unpack it and load the folder.",
            )
        return data

    return read


@dataclass(frozen=True)
class _Files:
    """The files of a study, and study.json about them."""

    read: Callable[[str], bytes]
    document: Document
    labels: pd.Index

    def bytes_of(self, name: str) -> bytes:
        """Return the contents of a file, checked."""
        try:
            data = self.read(name)
        except FileNotFoundError:
            raise MissingError(f"the file {name!r} is missing, which {STUDY} names.") from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise DamagedError(f"the file {name!r} cannot be read ({reason}).") from None
        if fingerprint(data) != self.document.files[name]:
            raise DamagedError(f"{name} has been changed since it was saved.")
        return data

    def tables(self, name: str) -> dict[str, Any]:
        """Return the tables in a file with the objects as their index; none if the study has no such file."""
        if f"{name}.json" not in self.document.files:
            return {}
        tables = json.loads(self.bytes_of(f"{name}.json"), object_hook=decode)
        return {part: table.set_axis(self.labels, axis=0) for part, table in tables.items()}

    def square(self, name: str) -> pd.DataFrame | None:
        """Return a square table of numbers; None if the study has none of this name."""
        if f"{name}.npy" not in self.document.files:
            return None
        values = np.load(io.BytesIO(self.bytes_of(f"{name}.npy")), allow_pickle=False)
        if values.dtype not in (np.float32, np.float64):
            raise ValueError(f"{name} holds {values.dtype}")
        return pd.DataFrame(values, index=self.labels, columns=self.labels)


def _load(read: Callable[[str], bytes], text: str, elsewhere: bool) -> Loaded:
    try:
        entries = json.loads(text, object_hook=decode)
    except json.JSONDecodeError as error:
        raise DamagedError(f"{STUDY} is not JSON ({error}).") from None
    if not isinstance(entries, dict) or entries.get("schema") != SCHEMA:
        raise DamagedError(f"{STUDY} is not that of a study of unmask; give what Discovery.save wrote.")
    if entries.get("schema_version") != SCHEMA_VERSION:
        raise DamagedError(
            f"was written in version {entries.get('schema_version')} of the format by unmask "
            f"{entries.get('unmask_version')}, and this one reads version {SCHEMA_VERSION}; load it with that version."
        )
    document = Document.model_validate(entries)
    labels = document.labels
    index = pd.RangeIndex(len(labels)) if document.numbered else pd.Index(labels, tupleize_cols=False)
    if not index.is_unique:
        raise DamagedError(f"{STUDY} has a label twice.")
    files = _Files(read, document, index.rename(document.labels_name))
    key, empty = document.uuid[:8], pd.DataFrame(index=files.labels)
    known, table = (files.tables(f"{name}-{key}").get(name, empty) for name in ("known", "table"))
    types = read_types(document.known_types, known)
    pictures, weights = _pictures(files), files.square(f"weights-{key}")
    material = Material(_data(files, key, elsewhere), known, table, weights, types, pictures)
    actions = _actions(files)
    if document.here > len(actions):
        raise DamagedError(f"{STUDY} has {document.here} for 'here', which is not an action.")
    paths: dict[int, tuple[Action, ...]] = {0: ()}
    for action in actions:
        paths[action.id] = (*paths[action.parent], action)
    for end in paths.keys() - {action.parent for action in actions}:
        known_after(material, paths[end])  # which raises if a feature is not known where it should be
    return document, material, actions


def _data(files: _Files, key: str, elsewhere: bool) -> Data:
    """Return a table of dissimilarities, the features of many objects, or a table in a file."""
    about = files.document
    if about.path is None and about.metric is None:
        D = files.square(f"dissimilarities-{key}")
        if D is None:
            raise DamagedError(f"{STUDY} names no table of dissimilarities.")
        return SquareTable(D)
    if about.path is None and about.metric is not None:
        make_transformer(about.metric, about.metric_params or None)  # which raises if either is wrong
        tables = files.tables(f"features-{key}")
        if not tables:
            raise DamagedError(f"{STUDY} names no table of features.")
        return ComparedFeatures(tables["features"], about.metric, about.metric_params, about.single)
    made, path = f"was made from the dissimilarities in the file {about.path!r}, which", str(about.path)
    if not elsewhere:
        raise DamagedError(
            f"{made} is not in it, and a study that is handed over may name no file of this machine; open it where "
            "that file is."
        )
    if not is_file(path) or not Path(path).exists():
        raise DamagedError(f"{made} is not there; put it back.")
    data = TableInFile(path)
    if data.source.n != len(files.labels) or data.checksum != about.checksum:
        raise DamagedError(f"{made} has been changed since then.")
    return data


def _pictures(files: _Files) -> dict[Any, bytes]:
    found = {}
    for name in files.document.files:
        if row := re.match(r"picture(\d{1,9})-", name):
            picture = files.bytes_of(name)
            if picture_type(picture) is None:
                raise DamagedError(f"{name} is not a PNG, JPEG, GIF or WebP.")
            found[files.labels[int(row[1])]] = picture
    return found


def _actions(files: _Files) -> tuple[Action, ...]:
    actions: list[Action] = []
    for at, entry in enumerate(files.document.actions):
        tables = files.tables(f"{entry.get('action')}{entry.get('id')}-{entry.get('key')}")
        tables |= {name: tables[name].iloc[:, 0] for name in ("values", "stress_per_point") if name in tables}
        action: Action = _RECORD.validate_python({**entry, **tables})
        if action.id != at + 1 or not 0 <= action.parent <= at:
            raise DamagedError(f"{STUDY} has {action.id} after {action.parent} as the action {at + 1}.")
        if isinstance(action, Step):
            params = {name: value for name, value in action.params.items() if name != "n_components"}
            check_params(action.estimator, action.params["n_components"], params)
        assert action.text  # which can be written
        actions.append(action)
    return tuple(actions)
