"""Writing a study: first as a draft beside its place, and then into it.

What has not changed since it was last written there, or read from there, is taken over and not written again: all
tables of a study belong to records that never change, so that the same record has the same file.
"""

from __future__ import annotations

import math
import operator
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checking import require_choice, warn_user
from ..io import (
    FileProblem,
    atomic_path,
    draft_beside,
    drafts_beside,
    not_written,
    sweep_drafts,
    write_json,
    write_table,
)
from ._actions import Action, Adoption, Amendment, Forgetting, Step
from ._data import ComparedFeatures, Data, SquareTable, TableInFile
from ._material import Material
from ._pictures import suffix_of
from ._tables import FORMATS, describe, to_frame
from ._tree import Tree, adopted_columns
from ._values import encode
from ._zip import pack

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "unmask study"
SCHEMA_VERSION = 2
STUDY = "study.json"
# At the end of the name of a study that is being replaced; before it is the name of the draft that replaces it.
OLD = ".old"


@dataclass(frozen=True)
class Kept:
    """A table that is in a file: the records it was made of, what study.json says about it, and the file's state."""

    owners: tuple[Any, ...]
    described: dict[str, Any]
    state: FileState | None

    def is_of(self, owners: tuple[Any, ...]) -> bool:
        """Return whether a table that is made of these records is this one."""
        return len(owners) == len(self.owners) and all(map(operator.is_, owners, self.owners))


@dataclass(frozen=True)
class Saved:
    """A study as it was last saved to, or loaded from, some place."""

    path: Path
    format: str
    tables: dict[str, Kept]

    def find(self, name: str, owners: tuple[Any, ...]) -> Kept | None:
        """Return the table of this name, if it is the same still and so is its file."""
        kept = self.tables.get(name)
        if kept is None or kept.state is None or not kept.is_of(owners):
            return None
        return kept if file_state(self.path, kept.described["file"]) == kept.state else None


# Number of the file on its disk, size and time of the last change.
FileState = tuple[int, int, int]


def file_state(path: Path, file: str) -> FileState | None:
    """Return by what it is seen whether a file of a study has been changed; of a zip file it is the whole."""
    try:
        state = (path / file if path.is_dir() else path).stat()
    except OSError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns


def save(
    material: Material,
    tree: Tree,
    here: int,
    title: str,
    path: Path,
    file_format: str,
    before: Saved | None = None,
) -> Saved:
    """Write a study as a folder, or as a zip file if the name says so; return what was written."""
    require_choice("format", file_format, FORMATS)
    place = Path(os.path.realpath(path))
    last = before if before is not None and (before.path, before.format) == (place, file_format) else None
    draft = _Draft(material, tree, here, title, file_format, last or Saved(place, file_format, {}))
    if path.suffix.lower() == ".zip":
        with _naming(path), atomic_path(path) as file, tempfile.TemporaryDirectory() as folder:
            kept: list[str] = []
            draft.write(Path(folder), kept.append)
            pack(Path(folder), file, place, kept)
        return draft.saved()
    _require_room(path)
    sweep_drafts(path)
    beside = draft_beside(path)
    try:
        with _naming(path):
            beside.mkdir()
            draft.write(beside, lambda file: _take_over(place / file, beside / file))
            _put(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return draft.saved()


def _take_over(old: Path, new: Path) -> None:
    """Give a file to the draft too, without writing it again where the disk can do that."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copy2(old, new)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the study, not its draft, in errors about files."""
    try:
        yield
    except FileProblem as error:
        raise FileProblem(f"{path}: {error.what}", str(path)) from error
    except OSError as error:
        raise not_written(path, error) from error


def _require_room(path: Path) -> None:
    """Raise unless the path is free, an empty folder, or a study, which is replaced."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise FileProblem(f"{path}: is a file; give the name of a folder, or of a file that ends in .zip.", str(path))
    if path.is_dir() and any(path.iterdir()) and not (path / STUDY).is_file():
        raise FileProblem(f"{path}: is a folder with other things in it; give the name of a new folder.", str(path))
    if not path.parent.is_dir():
        raise FileProblem(f"{path}: there is no folder {str(path.parent)!r}; make it first.", str(path))


def _put(draft: Path, path: Path) -> None:
    """Move a draft into its place; what was there is removed after that."""
    if path.exists():
        old = draft.with_name(draft.name + OLD)
        os.rename(path, old)
        try:
            os.rename(draft, path)
        except BaseException:
            os.rename(old, path)
            raise
    else:
        os.rename(draft, path)
    for old in drafts_beside(path, OLD):  # of this save, and of those that were killed here
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(_draft_of(old), ignore_errors=True)


def _draft_of(old: Path) -> Path:
    return old.with_name(old.name.removesuffix(OLD))


def recover(path: Path) -> None:
    """Finish a save that was killed after it had put the old study aside and before the new one was in its place.

    A draft is whole when it has its ``study.json``, which is written last; without one the old study comes back.
    """
    for old in drafts_beside(path, OLD):
        draft = _draft_of(old)
        whole = (draft / STUDY).is_file()
        with suppress(OSError):  # another process may be faster
            os.rename(draft if whole else old, path)
            state = "and has been finished" if whole else "; this is the study as it was before"
            warn_user(f"{path}: a save was interrupted{' ' * whole}{state}.", UserWarning)
            shutil.rmtree(old if whole else draft, ignore_errors=True)
            return


# ---- what is written


@dataclass(frozen=True)
class _Draft:
    """A study to be written."""

    material: Material
    tree: Tree
    here: int
    title: str
    format: str
    last: Saved
    tables: dict[str, Kept] = field(default_factory=dict)
    pictures: dict[str, Kept] = field(default_factory=dict)

    def write(self, folder: Path, take_over: Callable[[str], object]) -> None:
        """Write the files of the study into a folder; those that are there already are taken over."""

        def put(name: str, owners: tuple[Any, ...], write: Callable[[], dict[str, Any]]) -> Kept:
            kept = self.last.find(name, owners)
            if kept is None:
                return Kept(owners, write(), None)
            take_over(kept.described["file"])
            return kept

        for name, (owners, make) in tables_of(self.material, self.tree).items():
            self.tables[name] = put(name, owners, partial(self._write_table, name, make, folder))
        for name, data in _picture_files(self.material).items():
            self.pictures[name] = put(name, (data,), partial(_write_picture, name, data, folder))
        write_json(self._study(), folder / STUDY)

    def saved(self) -> Saved:
        """Return what has been written, when it is in its place."""
        path = self.last.path
        files = (self.tables | self.pictures).items()
        kept = {name: replace(kept, state=file_state(path, kept.described["file"])) for name, kept in files}
        return Saved(path, self.format, kept)

    def _write_table(self, name: str, make: Callable[[], pd.DataFrame], folder: Path) -> dict[str, Any]:
        table = make()
        file = f"{name}.{self.format}"
        if name in SQUARE:
            columns: Any = [{"name": str(label), "kind": "float"} for label in table.columns]
        else:
            columns = [describe(table.iloc[:, at]) for at in range(table.shape[1])]
        write_table(to_frame(table, columns), folder / file, format=self.format)
        return {"file": file, "columns": "objects" if name in SQUARE else columns}

    def _study(self) -> dict[str, Any]:
        import pandas as pd

        labels = self.material.objects
        columns = adopted_columns(self.tree.actions)
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "unmask_version": version("unmask"),
            "title": self.title,
            "format": self.format,
            "objects": {
                "labels": [encode(label) for label in labels],
                "name": labels.name,
                "numbered": isinstance(labels, pd.RangeIndex),
            },
            "dtype": str(self.material.data.dtype),
            **_data(self.material.data),
            "known_types": encode(self.material.known_types),
            "tables": {name: kept.described for name, kept in self.tables.items()},
            "pictures": list(self.pictures),
            "here": self.here,
            "actions": [_action(action, columns) for action in self.tree.actions],
        }


def _data(data: Data) -> dict[str, Any]:
    """Return what study.json says about dissimilarities that are in no table of the study."""
    if isinstance(data, ComparedFeatures):
        return {"metric": data.metric, "metric_params": encode(dict(data.metric_params))}
    return {"file": {"path": data.path, "checksum": data.checksum}} if isinstance(data, TableInFile) else {}


def _write_picture(name: str, data: bytes, folder: Path) -> dict[str, Any]:
    (folder / name).write_bytes(data)
    return {"file": name}


def _picture_files(material: Material) -> dict[str, bytes]:
    """Return the pictures by the names of their files, which have the number of the object."""
    rows = [at for at, label in enumerate(material.objects) if label in material.pictures]
    pictures = zip(rows, material.pictures.values(), strict=True)  # which have the order of the objects
    return {f"picture{row}.{suffix_of(data)}": data for row, data in pictures}


# Tables whose columns are the objects.
SQUARE = ("dissimilarities", "weights")
# The records a table is made of, and how.
_Table = tuple[tuple[Any, ...], "Callable[[], pd.DataFrame]"]


def tables_of(material: Material, tree: Tree) -> dict[str, _Table]:
    """Return the tables of a study by name, those that have any cells."""
    data, given = material.data, {"weights": material.weights}
    given |= {"dissimilarities": data.table} if isinstance(data, SquareTable) else {}
    given |= {"features": data.features} if isinstance(data, ComparedFeatures) else {}
    given |= {"known": material.known, "table": material.table}
    tables = {name: _as_it_is(table) for name, table in given.items() if table is not None and table.size}
    adopted = tuple(action for action in tree.actions if isinstance(action, Adoption | Amendment))
    if adopted:
        tables["adopted"] = adopted, lambda: _adopted(material, tree)
    for step in (action for action in tree.actions if isinstance(action, Step)):
        tables |= {name: ((step,), make) for name, make in _step_tables(step).items()}
    return tables


def _as_it_is(table: pd.DataFrame) -> _Table:
    return (table,), lambda: table


def _adopted(material: Material, tree: Tree) -> pd.DataFrame:
    import pandas as pd

    columns: Any = {name: tree.actions[id_ - 1] for id_, name in adopted_columns(tree.actions).items()}
    return pd.DataFrame({name: action.values for name, action in columns.items()}, index=material.objects)


def _step_tables(step: Step) -> dict[str, Callable[[], pd.DataFrame]]:
    """Return the tables of a step by name, those that have any cells."""
    places = {"stress per point": step.stress_per_point.to_numpy()}
    found = {"coef": step.coef, "importance": step.importance, "imputed": step.imputed}
    found |= {"free": step.free_embedding} if step.adjusted else {}
    tables = {f"fit{step.id}-{name}": _as_it_is(table)[1] for name, table in found.items() if table.size}
    return {f"fit{step.id}-map": lambda: step.embedding.assign(**places), **tables}


def _action(action: Action, columns: dict[int, str]) -> dict[str, Any]:
    """Return what study.json says about an action."""
    return {"id": action.id, "parent": action.parent, **_RECORDS[type(action)](action, columns.get(action.id))}


def _step(step: Step, _: str | None) -> dict[str, Any]:
    found = ("number", "estimator", "stress", "stress_se", "leak", "free_leak")
    same = (*found, "converged", "finished", "seconds", "solver")
    record: dict[str, Any] = {"action": "fit"} | {name: getattr(step, name) for name in same}
    for name in ("leak_reference", "shown_stress", "known_stress"):
        if not math.isnan(getattr(step, name)):  # of a study of an earlier version; JSON has no NaN
            record[name] = getattr(step, name)
    return record | {
        "params": encode(dict(step.params)),
        "known": list(step.known),
        "known_types": encode(dict(step.known_types)),
        "warnings": list(step.warnings),
        "versions": dict(step.versions),
        "coef": [str(name) for name in step.coef.columns],
        "importance": [str(name) for name in step.importance.index],
        "imputed": len(step.imputed),
    }


def _adoption(adoption: Adoption, column: str | None) -> dict[str, Any]:
    source = {"kind": encode(adoption.kind), "source": encode(dict(adoption.source))}
    named = {"action": "adopt", "name": adoption.name, "column": column}
    return {**named, **source, "why": adoption.why, "step": adoption.step}


def _amendment(amendment: Amendment, column: str | None) -> dict[str, Any]:
    named = {"action": "amend", "name": amendment.name, "column": column, "rename": amendment.rename}
    cells = [encode(label) for label in amendment.cells]
    return {**named, "cells": cells, "kind": encode(amendment.kind), "why": amendment.why}


_RECORDS: dict[type, Callable[[Any, str | None], dict[str, Any]]] = {
    Step: _step,
    Adoption: _adoption,
    Amendment: _amendment,
    Forgetting: lambda action, _: {"action": "forget", "name": action.name, "why": action.why},
}
