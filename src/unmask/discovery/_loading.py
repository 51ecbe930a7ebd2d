"""Reading a study that was saved: whatever is wrong with its files is one sentence."""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, TypeAdapter, ValidationError

from ..checking import is_file
from ..dissimilarities import make_transformer
from ..io import FileProblem, memory_limit
from ._data import ComparedFeatures, Data, SquareTable, TableInFile
from ._fitting import check_params
from ._history import History, Known, saved_columns
from ._material import Material, read_types
from ._pictures import suffix_of
from ._records import Action, Step
from ._saving import SCHEMA, SCHEMA_VERSION, STUDY, Document, fingerprint
from ._tables import Column, read_table
from ._values import decode

# A zip file may hold this many times its own size, and this many bytes in any case.
MOST_EXPANSION = 200
ALWAYS_ALLOWED = 50_000_000

_RECORDS: TypeAdapter[Any] = TypeAdapter(Annotated[Action, Field(discriminator="action")])
_WAY_OUT = "give the folder or zip file that Discovery.save wrote."


class DamagedError(Exception):
    """A study cannot be read; the message goes on after the path of the study."""


class MissingError(DamagedError):
    """A file that study.json names is missing."""


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
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        what, cause = f"{STUDY} cannot be understood ({where}: {first['msg']}).", error
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        what, cause = f"{STUDY} cannot be understood ({type(error).__name__}: {first_line}).", error
    raise FileProblem(f"{shown}: {what}", shown) from cause


@dataclass(frozen=True)
class Loaded:
    """A study that was read."""

    document: Document
    material: Material
    history: History


def load(path: Path, name: str | None = None, *, elsewhere: bool = True) -> Loaded:
    """Return a study that was saved."""
    with _explained(str(path) if name is None else name):
        return _read_whole(path, lambda read, text: _load(read, text, elsewhere))


def read_tables(path: Any) -> dict[str, pd.DataFrame]:
    """Read the tables of a saved study.

    Parameters
    ----------
    path : str or path
        A folder or a zip file that :meth:`Discovery.save` wrote.

    Returns
    -------
    dict of DataFrame
        ``dissimilarities`` (of many objects ``features``, or what is mapped from the file that holds them) and, where
        the study has them, ``weights``, ``known``, ``table`` and ``adopted``, each with
        the objects' labels and with the types that its columns had.

    Raises
    ------
    FileProblem
        If something is missing or not as it was written.
    """
    loaded = load(Path(path))
    material, actions = loaded.material, loaded.history.actions
    adopted = {name: actions[at - 1].values for at, name in saved_columns(actions).items()}  # type: ignore[union-attr]
    tables: dict[str, Any] = {
        "features" if isinstance(material.data, ComparedFeatures) else "dissimilarities": material.data.fitted,
        "weights": material.weights,
        "known": material.known,
        "table": material.table,
        "adopted": pd.DataFrame(adopted, index=material.objects),
    }
    shown = {name: table for name, table in tables.items() if table is not None}
    return {name: table for name, table in shown.items() if not hasattr(table, "columns") or table.shape[1]}


# ---- files


def _read_whole(path: Path, load: Callable[[Callable[[str], bytes], str], Loaded]) -> Loaded:
    """Read a study that may be saved meanwhile: if a file is missing by now, study.json names others by now."""
    text = None
    while True:
        read, before = _reader(path), text
        try:
            text = read(STUDY).decode("utf-8")
        except FileNotFoundError:
            raise DamagedError(f"has no {STUDY}; {_WAY_OUT}") from None
        try:
            return load(read, text)
        except MissingError:
            if text == before:
                raise


def _reader(path: Path) -> Callable[[str], bytes]:
    """Return what reads a file of a study by its name."""
    if path.is_dir():
        return lambda name: (path / name).read_bytes()
    if not os.path.lexists(path):
        os.stat(path.parent)  # which says what is wrong with a path, if it is not only missing
        raise DamagedError(f"is not there; {_WAY_OUT}")
    return _Zip(path).read


class _Zip:
    """The files of a zip file, which may be no larger than is likely."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.left = min(max(ALWAYS_ALLOWED, MOST_EXPANSION * path.stat().st_size), memory_limit())

    def read(self, name: str) -> bytes:
        try:
            with zipfile.ZipFile(self.path) as packed:
                if name not in packed.namelist():
                    raise FileNotFoundError(name)
                with packed.open(name) as file:
                    data = file.read(self.left + 1)  # whatever the header promises
        except zipfile.BadZipFile as error:
            raise DamagedError(f"is not a zip file that can be read ({error}); {_WAY_OUT}") from None
        except (zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
            raise DamagedError(f"{name!r} in it cannot be read ({error}).") from None
        self.left -= len(data)
        if self.left < 0:
            raise DamagedError(
                f"holds more than {MOST_EXPANSION} times its own size, or than memory has room for; if it can be "
                "trusted, unpack it and load the folder.",
            )
        return data


@dataclass(frozen=True)
class _Files:
    """The files of a study, and what study.json says about them."""

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
            raise DamagedError(
                f"the file {name!r} cannot be read ({(error.strerror or str(error)).lower()})."
            ) from None
        if fingerprint(data) != self.document.files[name].sha256:
            raise DamagedError(f"{name} has been changed since it was saved.")
        return data

    def table(self, name: str) -> pd.DataFrame | None:
        """Return a table with the objects as its index; None if the study has none of this name."""
        file = f"{name}.{self.document.format}"
        if file not in self.document.files:
            return None
        columns = self.document.files[file].columns
        if columns is None:
            columns = [Column(name=str(label), kind="float") for label in self.labels]
        return read_table(self.bytes_of(file), columns, self.labels, self.document.format)


# ---- the study


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
    labels = document.objects.labels
    index = pd.RangeIndex(len(labels)) if document.objects.numbered else pd.Index(labels, tupleize_cols=False)
    if not index.is_unique:
        raise DamagedError(f"{STUDY} has a label twice.")
    files = _Files(read, document, index.rename(document.objects.name))
    material, history = _material(files, elsewhere), History(_actions(files))
    if document.here > len(history.actions):
        raise DamagedError(f"{STUDY} has {document.here} for 'here', which is not an action.")
    history.go(document.here)
    for end in {0, *(action.id for action in history.actions)} - {action.parent for action in history.actions}:
        Known(material, history.path(end))
    return Loaded(document, material, history)


def _material(files: _Files, elsewhere: bool) -> Material:
    key, empty = files.document.uuid[:8], pd.DataFrame(index=files.labels)
    known, table, weights = (files.table(f"{name}-{key}") for name in ("known", "table", "weights"))
    known = empty if known is None else known
    return Material(
        _data(files, key, elsewhere),
        known,
        empty if table is None else table,
        None if weights is None else weights.set_axis(files.labels, axis=1),
        read_types(files.document.known_types, known),
        _pictures(files),
    )


def _data(files: _Files, key: str, elsewhere: bool) -> Data:
    """Return what the maps were made from: a table, or the features of many objects, or a table in a file."""
    about = files.document.data
    if about.path is not None:
        return _table_elsewhere(about.path, about.checksum, len(files.labels), elsewhere)
    if about.metric is None:
        D = files.table(f"dissimilarities-{key}")
        if D is None:
            raise DamagedError(f"{STUDY} names no table of dissimilarities.")
        return SquareTable(D.set_axis(files.labels, axis=1).astype(np.dtype(about.dtype)))
    make_transformer(about.metric, about.metric_params or None)  # which raises if either is wrong
    features = files.table(f"features-{key}")
    if features is None:
        raise DamagedError(f"{STUDY} names no table of features.")
    return ComparedFeatures(features, about.metric, about.metric_params, about.dtype == "float32")


def _table_elsewhere(path: str, checksum: int, n: int, elsewhere: bool) -> TableInFile:
    """Return the table in the file that the study was made from; it must be there, and the same."""
    if not elsewhere:
        raise DamagedError(
            f"was made from the dissimilarities in the file {path!r}, which is not in it, and a study "
            "that is handed over may name no file of this machine; open it where that file is.",
        )
    data = TableInFile(path)
    if not is_file(path) or not Path(path).exists():
        raise DamagedError(f"was made from the dissimilarities in {path!r}, which is not there; put it back.")
    if data.source.n != n or data.checksum != checksum:
        raise DamagedError(f"was made from the dissimilarities in {path!r}, which has been changed since then.")
    return data


def _pictures(files: _Files) -> dict[Any, bytes]:
    found = {}
    for name in files.document.files:
        if row := re.match(r"picture(\d{1,9})-", name):
            picture = files.bytes_of(name)
            if suffix_of(picture) is None:
                raise DamagedError(f"{name} is not a PNG, JPEG, GIF or WebP.")
            found[files.labels[int(row[1])]] = picture
    return found


def _actions(files: _Files) -> tuple[Action, ...]:
    actions: list[Action] = []
    for at, entry in enumerate(files.document.actions):
        name = f"{entry.get('id')}-{entry.get('key')}"
        tables: dict[str, Any] = {}
        if entry.get("action") == "fit":
            tables = _tables_of_step(files.table(f"fit{name}"))
        elif entry.get("action") in ("adopt", "amend"):
            values = files.table(f"feature{name}")
            if values is None or values.shape[1] != 1:
                raise DamagedError(f"{STUDY} names no values of {entry.get('name')!r}.")
            tables = {"values": values.iloc[:, 0]}
        action: Action = _RECORDS.validate_python({**entry, **tables})
        if action.id != at + 1 or not 0 <= action.parent <= at:
            raise DamagedError(f"{STUDY} has {action.id} after {action.parent} as the action {at + 1}.")
        if isinstance(action, Step):
            params = {name: value for name, value in action.params.items() if name != "n_components"}
            check_params(action.estimator, action.params["n_components"], params)
        assert action.text  # which can be written
        actions.append(action)
    return tuple(actions)


def _tables_of_step(table: pd.DataFrame | None) -> dict[str, Any]:
    if table is None:
        raise DamagedError(f"{STUDY} names no map of a fit.")
    part = {
        name: table.filter(regex=f"^{name} ").rename(columns=lambda text: text.partition(" ")[2])
        for name in ("map", "free", "known")
    }
    return {
        "embedding": part["map"],
        "free_embedding": part["free"] if part["free"].shape[1] else part["map"],
        "known_map": part["known"],
        "stress_per_point": table["stress per point"].rename("stress"),
    }
