"""Writing a study: a folder to which files are only added, and study.json, which names those that belong to it.

A file name is never used again for other contents, and study.json is replaced in one step after all files have been
written: a reader sees the old study or the new one, and so does everybody after a save that was killed.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ..checking import require_choice
from ..io import FileProblem, atomic_path, not_written
from ._data import ComparedFeatures, SquareTable, TableInFile
from ._files import Origin
from ._pictures import suffix_of
from ._records import Adoption, Amendment, Step, Text
from ._tables import Column, Format, describe, write_cells
from ._values import decode, encode

if TYPE_CHECKING:
    from ._study import Discovery

SCHEMA = "unmask study"
SCHEMA_VERSION = 3
STUDY = "study.json"
# The names of the files of a study; the 8 digits say of which study or record.
OURS = re.compile(
    r"(\.[0-9a-f]{16}-)?(dissimilarities|features|weights|known|table|picture\d+|fit\d+|feature\d+)-[0-9a-f]{8}"
    r"\.(csv|parquet|png|jpg|gif|webp)|\.[0-9a-f]{16}-study\.json"
)
# A file that study.json does not name may be of a save that is under way; after so many seconds it is not.
STALE = 3600.0
# A zip file has no year before 1980; the same study always gives the same bytes.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def _plain_name(name: str) -> str:
    """Raise unless a name is that of a file, and not a path that leads elsewhere."""
    if name in ("", ".", "..") or not PurePosixPath(name).name == PureWindowsPath(name).name == name:
        raise ValueError(f"{name!r} is not the name of a file in the study")
    return name


FileName = Annotated[str, AfterValidator(_plain_name)]


class Strict(BaseModel):
    """A part of study.json, in which no entry is unknown."""

    model_config = ConfigDict(extra="forbid")


class SavedFile(Strict):
    """A file of a study: its fingerprint, and the columns of a table (None: one for each object)."""

    sha256: str
    columns: list[Column] | None = None


class Objects(Strict):
    """The labels of the objects."""

    labels: list[Any]
    name: str | None = None
    numbered: bool = False


class SavedData(Strict):
    """Where the dissimilarities are: in a table, made of features by a metric, or in a file elsewhere."""

    dtype: Literal["float32", "float64"]
    metric: str | None = None
    metric_params: dict[str, Any] = Field(default_factory=dict)
    path: str | None = None
    checksum: int = 0


class Document(Strict):
    """The contents of study.json."""

    schema_name: Literal["unmask study"] = Field(alias="schema")
    schema_version: Literal[3]
    unmask_version: str
    uuid: str = Field(pattern="^[0-9a-f]{32}$")
    revision: int = Field(ge=1)
    title: Text
    origin: Origin | None = None
    format: Format
    objects: Objects
    data: SavedData
    known_types: dict[str, Any]
    files: dict[FileName, SavedFile]
    here: int = Field(ge=0)
    actions: list[dict[str, Any]]


class NewerError(FileProblem):
    """A newer version of the study would be lost."""


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the study, not one of its files, in errors about writing."""
    try:
        yield
    except FileProblem as error:
        raise FileProblem(f"{path}: {error.what}", str(path)) from error
    except OSError as error:
        raise not_written(path, error) from error


def save(study: Discovery, path: Path, file_format: Any) -> None:
    """Write a study as a folder, or as a zip file if the name says so."""
    require_choice("format", file_format, ("csv", "parquet"))
    with _named(path):
        try:
            if path.suffix.lower() == ".zip":
                with atomic_path(path) as draft, tempfile.TemporaryDirectory() as folder:
                    _write(study, Path(folder), file_format, path)
                    _pack(Path(folder), draft)
            else:
                _save_folder(study, path, file_format)
        except BaseException as error:
            if isinstance(error, NewerError) or not _is_saved(study, path):
                raise
            study.revision += 1
            if not isinstance(error, Exception):  # such as Ctrl-C, after all was written
                raise
        else:
            study.revision += 1


def _save_folder(study: Discovery, path: Path, file_format: Format) -> None:
    if path.exists() and not path.is_dir():
        raise FileProblem(f"{path}: is a file; give the name of a folder, or of a file that ends in .zip.", str(path))
    if path.is_dir() and any(not OURS.fullmatch(own.name) for own in path.iterdir()) and not (path / STUDY).is_file():
        raise FileProblem(f"{path}: is a folder with other things in it; give the name of a new folder.", str(path))
    if not path.parent.is_dir():
        raise FileProblem(f"{path}: there is no folder {str(path.parent)!r}; make it first.", str(path))
    is_new = not path.exists()
    path.mkdir(exist_ok=True)
    try:
        _write(study, path, file_format, path)
    except BaseException:
        if is_new and not any(path.iterdir()):
            path.rmdir()
        raise


def read_saved(place: Path) -> dict[str, Any]:
    """Return study.json of a folder or zip file as it is; empty if there is none that can be read."""
    try:
        if place.is_dir():
            data = (place / STUDY).read_bytes()
        else:
            with zipfile.ZipFile(place) as packed:
                data = packed.read(STUDY)
        saved = json.loads(data, object_hook=decode)
        return saved if isinstance(saved, dict) and saved.get("schema_version") == SCHEMA_VERSION else {}
    except (OSError, ValueError, LookupError, zipfile.BadZipFile, RecursionError):
        return {}


def _require_newest(study: Discovery, place: Path) -> dict[str, Any]:
    """Return study.json at a place; raise if it is a newer one of the same study."""
    saved = read_saved(place)
    if saved.get("uuid") == study.uuid and saved.get("revision", 0) > study.revision:
        raise NewerError(
            f"{place}: holds a newer version of this study (revision {saved['revision']}; this one goes on from "
            f"{study.revision}), which would be lost. Load it and go on there, or save this one to another place.",
            str(place),
        )
    return saved


def _is_saved(study: Discovery, place: Path) -> bool:
    """Return whether the study is at a place as it is to be saved now."""
    saved = read_saved(place)
    return (saved.get("uuid"), saved.get("revision")) == (study.uuid, study.revision + 1)


def _write(study: Discovery, folder: Path, file_format: Format, place: Path) -> None:
    """Write the files of a study that are not in a folder yet, and study.json; then remove those of a study before."""
    before = _require_newest(study, place)
    there = before.get("files", {}) if place == folder else {}
    files: dict[str, SavedFile] = {}
    written: list[Path] = []
    try:
        for name, write in _files_of(study, file_format).items():
            if name in there and (folder / name).is_file():
                files[name] = SavedFile.model_validate(there[name])
            else:
                written.append(folder / name)
                files[name] = write(folder / name)
        with atomic_path(folder / STUDY) as draft:
            draft.write_text(_document(study, files, file_format), encoding="utf-8")
            _require_newest(study, place)
    except BaseException:
        if not _is_saved(study, folder):
            for path in written:
                path.unlink(missing_ok=True)
        raise
    for path in folder.iterdir():
        if OURS.fullmatch(path.name) and path.name not in files and (path.name in there or _is_stale(path)):
            with suppress(OSError):
                path.unlink()


def _is_stale(path: Path) -> bool:
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > STALE
    return False


def _pack(folder: Path, draft: Path) -> None:
    with zipfile.ZipFile(draft, "w") as packed:
        for file in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(file.name, ZIP_DATE)
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)


# ---- what is written


def _files_of(study: Discovery, file_format: Format) -> dict[str, Callable[[Path], SavedFile]]:
    """Return what writes each file of a study, by the name of the file."""
    material, key = study.material, study.uuid[:8]
    data = material.data
    tables: dict[str, Any] = {
        f"dissimilarities-{key}": data.table if isinstance(data, SquareTable) else None,
        f"features-{key}": data.features if isinstance(data, ComparedFeatures) else None,
        f"weights-{key}": material.weights,
        f"known-{key}": material.known,
        f"table-{key}": material.table,
    }
    for action in study.tree:
        if isinstance(action, Step):
            tables[f"fit{action.id}-{action.key}"] = table_of_step(action)
        elif isinstance(action, Adoption | Amendment):
            tables[f"feature{action.id}-{action.key}"] = action.values.to_frame()
    files: dict[str, Callable[[Path], SavedFile]] = {
        f"{name}.{file_format}": partial(_write_table, table, file_format)
        for name, table in tables.items()
        if table is not None and table.size
    }
    for row, label in enumerate(material.objects):
        if label in material.pictures:
            picture = material.pictures[label]
            files[f"picture{row}-{key}.{suffix_of(picture)}"] = partial(_write_picture, picture)
    return files


def table_of_step(step: Step) -> pd.DataFrame:
    """Return the tables of a fit with one row per object side by side, each column named by the table it is of."""
    tables = {"map": step.embedding, "free": step.free_embedding if step.adjusted else None, "known": step.known_map}
    named = [table.add_prefix(f"{name} ") for name, table in tables.items() if table is not None]
    return pd.concat([*named, step.stress_per_point.rename("stress per point")], axis=1)


def _write_table(table: pd.DataFrame, file_format: Format, path: Path) -> SavedFile:
    is_square = path.name.startswith(("dissimilarities", "weights"))
    if is_square:
        columns = [Column(name=str(label), kind="float") for label in table.columns]
    else:
        columns = [describe(table.iloc[:, at]) for at in range(table.shape[1])]
    write_cells(table, columns, path, file_format)
    return SavedFile(sha256=fingerprint(path.read_bytes()), columns=None if is_square else columns)


def _write_picture(picture: bytes, path: Path) -> SavedFile:
    with atomic_path(path) as draft:
        draft.write_bytes(picture)
    return SavedFile(sha256=fingerprint(picture))


def fingerprint(data: bytes) -> str:
    """Return the SHA-256 of a file."""
    return sha256(data).hexdigest()


def _document(study: Discovery, files: dict[str, SavedFile], file_format: Format) -> str:
    material = study.material
    labels, data = material.objects, material.data
    about: dict[str, Any] = {"dtype": str(data.dtype)}
    if isinstance(data, ComparedFeatures):
        about |= {"metric": data.metric, "metric_params": dict(data.metric_params)}
    if isinstance(data, TableInFile):
        about |= {"path": data.path, "checksum": data.checksum}
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "unmask_version": version("unmask"),
        "uuid": study.uuid,
        "revision": study.revision + 1,
        "title": study.title,
        "origin": None if study.origin is None else study.origin.model_dump(mode="json"),
        "format": file_format,
        "objects": {"labels": list(labels), "name": labels.name, "numbered": isinstance(labels, pd.RangeIndex)},
        "data": about,
        "known_types": material.known_types,
        "files": {name: file.model_dump(exclude_defaults=True) for name, file in files.items()},
        "here": study.here,
        "actions": [_described(action) for action in study.tree],
    }
    return json.dumps(encode(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _described(action: Any) -> dict[str, Any]:
    """Return what study.json says of an action: all but the tables that have files of their own."""
    fields = type(action).model_fields
    entries = {name: value for name, value in action if not fields[name].exclude}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in entries.items()}
