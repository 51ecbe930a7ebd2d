"""Reading a study back: everything in its files is checked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import is_file, quote
from ..dissimilarities import make_transformer
from ..estimators import imputed_frame
from ..io import FileProblem
from ..problem import feature_type
from ._actions import Action, Adoption, Amendment, Forgetting, Step
from ._data import ComparedFeatures, Data, SquareTable, TableInFile
from ._fitting import ESTIMATORS, check_params
from ._material import Material, read_types
from ._pictures import SUFFIXES, suffix_of
from ._proposals import Context, check_written
from ._save import SCHEMA, SCHEMA_VERSION, STUDY, Kept, Saved, file_state, recover, tables_of
from ._tables import FORMATS, KINDS, WrongTableError, from_cells, header_of, read_cells
from ._tree import Known, Tree, known_after
from ._values import decode
from ._zip import DamagedError, Zip, is_plain

if TYPE_CHECKING:
    import pandas as pd

# ---- the study


@dataclass(frozen=True)
class _Files:
    """The files of a study, and what study.json says about them."""

    place: Path
    read: Callable[[str], bytes]  # a file by its name
    study: dict[str, Any]
    labels: pd.Index
    elsewhere: bool = True  # whether it may name a file beside its own

    def table(self, name: str) -> pd.DataFrame | None:
        """Return a table with the objects as its index; None if the study has none of this name."""
        return self._table(name, self.labels)

    def imputed(self, id_: int, record: dict[str, Any]) -> pd.DataFrame:
        """Return the missing cells that a step estimated; a study of an earlier version has no word of them."""
        import pandas as pd

        count = _field(record, "imputed", int) if "imputed" in record else 0
        cells = self._table(f"fit{id_}-imputed", pd.RangeIndex(count))
        return imputed_frame() if cells is None else cells

    def small(self, name: str, features: list[str], columns: list[str]) -> pd.DataFrame:
        """Return a table about features rather than objects; it has not been written if there are none."""
        import pandas as pd

        table = self._table(name, pd.Index(features))
        return pd.DataFrame(np.empty((0, len(columns))), index=[], columns=columns) if table is None else table

    def _table(self, name: str, labels: pd.Index) -> pd.DataFrame | None:
        import pandas as pd

        tables = _field(self.study, "tables", dict)
        if name not in tables:
            return None
        file = _field(tables[name], "file", str)
        columns = self._columns(tables[name])
        if not is_plain(file):
            raise DamagedError(f"{STUDY} names the file {file!r}, which is not in the study.")
        try:
            header, cells = read_cells(self.read(file), _field(self.study, "format", str))
            _require_like(header, cells, columns, labels)
            read = [from_cells(cells[at + 1], column, labels) for at, column in enumerate(columns)]
        except FileNotFoundError:
            raise DamagedError(f"the file {file!r} is missing, which {STUDY} names; save the study again.") from None
        except WrongTableError as error:
            raise DamagedError(f"{file} {error}; it has been changed since it was saved.") from None
        return pd.concat(read, axis=1) if read else pd.DataFrame(index=labels)

    def _columns(self, described: dict[str, Any]) -> list[dict[str, Any]]:
        if described.get("columns") == "objects":
            return [{"name": str(label), "kind": "float"} for label in self.labels]
        columns: list[dict[str, Any]] = _field(described, "columns", list)
        for column in columns:
            _field(column, "name", str)
            _require_choice(_field(column, "kind", str), KINDS, "kind")
        return columns


def _require_like(header: list[str], cells: list[list[Any]], columns: list[dict[str, Any]], labels: pd.Index) -> None:
    """Raise unless a file has the columns and the objects that study.json says."""
    expected = header_of(columns)
    if header != expected:
        wrong = next((pair for pair in zip(header, expected, strict=False) if pair[0] != pair[1]), None)
        said = (
            f"column {wrong[0]!r} where {wrong[1]!r} should be"
            if wrong
            else f"{len(header)} columns, not {len(expected)}"
        )
        raise WrongTableError(f"has {said}")
    objects = [str(label) for label in labels]
    if cells[0] != objects:
        if len(cells[0]) != len(objects):
            raise WrongTableError(f"has {len(cells[0])} rows, not {len(objects)}")
        row = next(at for at, pair in enumerate(zip(cells[0], objects, strict=True)) if pair[0] != pair[1])
        raise WrongTableError(f"has {cells[0][row]!r} in row {row + 2} where {objects[row]!r} should be")


@contextmanager
def _naming(shown: str) -> Iterator[None]:
    """Turn whatever is wrong with the files of a study into one sentence that begins with its name."""
    try:
        yield
    except FileProblem:
        raise
    except DamagedError as error:
        what, cause = str(error), None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        what, cause = f"{STUDY} cannot be understood ({type(error).__name__}: {first_line}).", error
    else:
        return
    raise FileProblem(f"{shown}: {what}", shown) from cause


@dataclass(frozen=True)
class Loaded:
    """A study that was read: what it is of, what was done, and what of it is in which file."""

    material: Material
    title: str
    tree: Tree
    here: int
    saved: Saved


def load(path: Path, name: str | None = None, *, elsewhere: bool = True) -> Loaded:
    """Return a study that was saved."""
    with _naming(str(path) if name is None else name):
        files = replace(_open(path), elsewhere=elsewhere)
        described = _field(files.study, "tables", dict)
        # Before they are read: a file that is changed meanwhile counts as changed.
        names = {name: str(table.get("file")) for name, table in described.items()}
        names |= {name: name for name in _texts({"pictures": [], **files.study}, "pictures")}
        states = {name: file_state(files.place, file) for name, file in names.items()}
        material, tree = _material(files), _tree(files)
        _require_consistent(material, tree)
        here = _field(files.study, "here", int)
        if not 0 <= here <= len(tree.actions):
            raise DamagedError(f"{STUDY} has {here!r} for 'here', which is no action.")
        kept = {
            name: Kept(owners, described[name], states[name])
            for name, (owners, _) in tables_of(material, tree).items()
            if name in described
        }
        pictures = zip(files.study.get("pictures", []), material.pictures.values(), strict=True)
        kept |= {name: Kept((data,), {"file": name}, states[name]) for name, data in pictures}
        saved = Saved(files.place, _field(files.study, "format", str), kept)
        return Loaded(material, _field(files.study, "title", str), tree, here, saved)


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
    with _naming(str(path)):
        files = _open(Path(path))
        material, adopted = _material(files), files.table("adopted")
    tables = {"known": material.known, "table": material.table}
    if isinstance(material.data, ComparedFeatures):
        tables["features"] = material.data.fitted
    else:
        tables["dissimilarities"] = material.data.fitted
    if material.weights is not None:
        tables["weights"] = material.weights
    if adopted is not None:
        tables["adopted"] = adopted
    return {name: table for name, table in tables.items() if not hasattr(table, "columns") or table.shape[1]}


def _open(path: Path) -> _Files:
    if not path.exists():
        recover(path)
    if not path.exists():
        raise DamagedError("is not there; give the folder or zip file that Discovery.save wrote.")
    read = (lambda name: (path / name).read_bytes()) if path.is_dir() else Zip(path).read
    try:
        study = json.loads(read(STUDY).decode("utf-8"))
    except FileNotFoundError:
        raise DamagedError(f"has no {STUDY}; give the folder or zip file that Discovery.save wrote.") from None
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{STUDY} is no JSON ({error}).") from None
    if not isinstance(study, dict) or study.get("schema") != SCHEMA:
        raise DamagedError(f"{STUDY} is not that of a study of unmask; give what Discovery.save wrote.")
    version = _field(study, "schema_version", int)
    if version != SCHEMA_VERSION:
        raise DamagedError(
            f"was written in version {version} of the format by unmask {study.get('unmask_version')}, and this one "
            f"reads version {SCHEMA_VERSION}; load it with that version of unmask.",
        )
    _require_choice(_field(study, "format", str), FORMATS, "format")
    return _Files(Path(os.path.realpath(path)), read, study, _labels(_field(study, "objects", dict)))


def _labels(objects: dict[str, Any]) -> pd.Index:
    import pandas as pd

    labels = decode(_field(objects, "labels", list))
    if objects.get("numbered"):
        return pd.RangeIndex(len(labels))
    index: pd.Index = pd.Index(labels, name=objects.get("name"), tupleize_cols=False)
    if not index.is_unique:
        raise DamagedError(f"{STUDY} has a label twice.")
    return index


def _material(files: _Files) -> Material:
    import pandas as pd

    def or_nothing(name: str) -> pd.DataFrame:
        table = files.table(name)
        return pd.DataFrame(index=files.labels) if table is None else table

    weights = files.table("weights")
    known = or_nothing("known")
    return Material(
        _data(files),
        known,
        or_nothing("table"),
        None if weights is None else weights.set_axis(files.labels, axis=1),
        read_types(decode(_field(files.study, "known_types", dict)), known),
        _pictures(files),
    )


def _data(files: _Files) -> Data:
    """Return what the maps were made from: a table, or the features of many objects, or a table in a file."""
    dtype = _field(files.study, "dtype", str)
    _require_choice(dtype, ("float32", "float64"), "dtype")
    if "file" in files.study:
        return _in_file(files)
    D, features = files.table("dissimilarities"), files.table("features")
    if D is not None:
        return SquareTable(D.set_axis(files.labels, axis=1).astype(np.dtype(dtype)))
    if features is None:
        raise DamagedError(f"{STUDY} names no table of dissimilarities.")
    metric, params = _field(files.study, "metric", str), decode(_field(files.study, "metric_params", dict))
    make_transformer(metric, params or None)  # which says what is wrong with either
    return ComparedFeatures(features, metric, params, dtype == "float32")


def _in_file(files: _Files) -> TableInFile:
    """Return the table in the file that the study was made from; it must be there, and the same."""
    record = _field(files.study, "file", dict)
    if not files.elsewhere:
        raise DamagedError(
            f"was made from the dissimilarities in the file {record.get('path')!r}, which is not in it, and a study "
            "that is handed over may name no file of this machine; open it where that file is.",
        )
    data = TableInFile(_field(record, "path", str))
    if not is_file(data.path) or not Path(data.path).exists():
        raise DamagedError(f"was made from the dissimilarities in {data.path!r}, which is not there; put it back.")
    if data.source.n != len(files.labels) or data.checksum != _field(record, "checksum", int):
        raise DamagedError(f"was made from the dissimilarities in {data.path!r}, which has been changed since then.")
    return data


def _pictures(files: _Files) -> dict[Any, bytes]:
    """Return the pictures; a study of an earlier version has no word of them."""
    found: dict[Any, bytes] = {}
    for name in _texts({"pictures": [], **files.study}, "pictures"):
        row = re.fullmatch(rf"picture(\d{{1,9}})\.({'|'.join(SUFFIXES)})", name)
        if row is None or int(row[1]) >= len(files.labels):
            raise DamagedError(f"{STUDY} names the picture {name!r}, which is not in the study.")
        try:
            data = files.read(name)
        except FileNotFoundError:
            raise DamagedError(f"the file {name!r} is missing, which {STUDY} names; save the study again.") from None
        if suffix_of(data) != row[2]:
            raise DamagedError(f"{name} is no picture of its kind; it has been changed since it was saved.")
        found[files.labels[int(row[1])]] = data
    return found


# ---- actions


def _tree(files: _Files) -> Tree:
    adopted = files.table("adopted")
    tree = Tree()
    for at, record in enumerate(_field(files.study, "actions", list)):
        action = _field(record, "action", str)
        _require_choice(action, tuple(_READERS), "action")
        parent = _field(record, "parent", int)
        if _field(record, "id", int) != at + 1 or not 0 <= parent <= at:
            raise DamagedError(f"{STUDY} has {record.get('id')!r} after {parent!r} as the action {at + 1}.")
        tree = tree.add(_READERS[action](files, record, adopted), parent)
    return tree


def _step(files: _Files, record: dict[str, Any], _: pd.DataFrame | None) -> Step:
    import pandas as pd

    number, estimator = _field(record, "number", int), _field(record, "estimator", str)
    name = f"fit{_field(record, 'id', int)}"
    _require_choice(estimator, tuple(ESTIMATORS), "estimator")
    objects = files.table(f"{name}-map")
    if objects is None:
        raise DamagedError(f"{STUDY} names no map of step {number}.")
    embedding = pd.DataFrame(objects.to_numpy()[:, :-1], index=files.labels, columns=list(objects.columns)[:-1])
    free = files.table(f"{name}-free")
    # A study of an earlier version has no word of adjusting, nor of what leak and stress are compared with.
    leak = float(_field(record, "leak", (int, float)))
    earlier: dict[str, Any] = {"free_leak": leak, "stress_se": 0.0, "solver": ""}
    earlier |= dict.fromkeys(("leak_reference", "shown_stress", "known_stress"), float("nan"))
    return Step(
        number=number,
        estimator=estimator,
        params=_params(estimator, decode(_field(record, "params", dict))),
        known=_texts(record, "known"),
        known_types=_types(decode(_field(record, "known_types", dict))),
        embedding=embedding,
        free_embedding=embedding if free is None else free,
        coef=files.small(f"{name}-coef", list(_texts(record, "coef")), []),
        importance=files.small(f"{name}-importance", list(_texts(record, "importance")), ["raw", "standardized"]),
        imputed=files.imputed(record["id"], record),
        stress=float(_field(record, "stress", (int, float))),
        stress_se=float(_field(earlier | record, "stress_se", (int, float))),
        solver=str(_field(earlier | record, "solver", str)),
        leak=leak,
        free_leak=float(_field(earlier | record, "free_leak", (int, float))),
        leak_reference=float(_field(earlier | record, "leak_reference", (int, float))),
        shown_stress=float(_field(earlier | record, "shown_stress", (int, float))),
        known_stress=float(_field(earlier | record, "known_stress", (int, float))),
        stress_per_point=objects.iloc[:, -1].rename("stress"),
        warnings=_texts(record, "warnings"),
        converged=_field(record, "converged", bool),
        finished=_field(record, "finished", bool),
        seconds=float(_field(record, "seconds", (int, float))),
        versions=_versions(record),
    )


def _params(estimator: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a fit, checked as those of a new one are."""
    others = {name: value for name, value in params.items() if name != "n_components"}
    return check_params(estimator, _field(params, "n_components", int), others)


def _types(types: dict[Any, Any]) -> dict[Any, Any]:
    """Return declared types of known features, checked."""
    for name, kind in types.items():
        feature_type(kind, str(name))
    return types


def _versions(record: dict[str, Any]) -> dict[str, str]:
    versions: dict[str, str] = _field(record, "versions", dict)
    for package in versions:
        _field(versions, package, str)
    return versions


def _adopted(record: dict[str, Any], adopted: pd.DataFrame | None, name: str) -> pd.Series[Any]:
    """Return the values of an adoption or a correction."""
    column = _field(record, "column", str)
    if adopted is None or column not in adopted.columns:
        raise DamagedError(f"the values of {name!r}, which was adopted, are missing.")
    values: pd.Series[Any] = adopted[column].rename(name)
    return values


def _kind(record: dict[str, Any], name: str) -> Any:
    kind = decode(record.get("kind"))
    if kind is not None:
        feature_type(kind, name)
    return kind


def _adoption(_files: _Files, record: dict[str, Any], adopted: pd.DataFrame | None) -> Adoption:
    name = _field(record, "name", str)
    values = _adopted(record, adopted, name)
    source = decode(_field(record, "source", dict))
    sources = [way for way in source if way != "axes"]
    if len(sources) != 1:
        raise DamagedError(f"{STUDY} names {len(sources)} sources of {name!r}, not one.")
    return Adoption(name, values, _kind(record, name), source, _field(record, "why", str), record.get("step"))


def _amendment(files: _Files, record: dict[str, Any], adopted: pd.DataFrame | None) -> Amendment:
    name, rename = _field(record, "name", str), record.get("rename")
    called = name if rename is None else _field(record, "rename", str)
    cells = tuple(decode(_field(record, "cells", list)))
    strangers = [label for label in cells if label not in files.labels]
    if strangers:
        raise ValueError(f"the correction of {name!r} names {quote(strangers)}, which are not among the objects")
    kind = _kind(record, called)
    return Amendment(name, _adopted(record, adopted, called), cells, kind, rename, _field(record, "why", str))


_READERS: dict[str, Callable[[_Files, dict[str, Any], Any], Action]] = {
    "fit": _step,
    "adopt": _adoption,
    "amend": _amendment,
    "forget": lambda _files, record, _: Forgetting(_field(record, "name", str), _field(record, "why", str)),
}


def _require_consistent(material: Material, tree: Tree) -> None:
    """Raise unless every action was possible after those before it, as in a study that was made step by step."""
    for action in tree.actions:
        before = tree.path(action.parent)
        known = known_after(material, before)
        steps = [step for step in before if isinstance(step, Step)]
        if isinstance(action, Step):
            _require_next_step(action, list(known.columns), len(steps) + 1)
        elif isinstance(action, Adoption):
            _require_adoptable(material, action, known, steps[-1] if steps else None)
        elif action.name not in known.columns:
            done = "put aside" if isinstance(action, Forgetting) else "corrected"
            raise ValueError(f"{action.name!r}, which was {done}, was not known")
        elif isinstance(action, Amendment) and action.rename in known.columns:
            raise ValueError(f"{action.name!r} is now called {action.rename!r} but that was taken by another feature")


def _require_next_step(step: Step, known: list[str], number: int) -> None:
    if step.number != number:
        raise DamagedError(f"{STUDY} numbers a step {step.number} where {number} is the next on the way to it.")
    if list(step.known) != known:
        raise ValueError(
            f"step {number} is given {quote(step.known) or 'nothing'} but {quote(known) or 'nothing'} was known then"
        )


def _require_adoptable(material: Material, action: Adoption, known: Known, last: Step | None) -> None:
    if action.name in known.columns:
        raise ValueError(f"{action.name!r} is adopted but was taken by another feature")
    number = None if last is None else last.number
    if action.step != number or isinstance(action.step, bool):
        raise ValueError(f"{action.step!r} stands for 'step' of {action.name!r}, which was {number}")
    check_written(Context(material, last), action.source)


# ---- fields


def _field(record: Any, name: str, kind: Any) -> Any:
    """Return an entry of study.json, of the type it must have."""
    value = record.get(name) if isinstance(record, dict) else None
    # True is a number to Python, but not to a reader.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise DamagedError(f"{STUDY} has {value!r} for {name!r}, which is not what a study has there.")
    return value


def _texts(record: dict[str, Any], name: str) -> tuple[str, ...]:
    """Return an entry of study.json that is a list of texts."""
    values = _field(record, name, list)
    if not all(isinstance(value, str) for value in values):
        raise DamagedError(f"{STUDY} has {values!r} for {name!r}, which is not what a study has there.")
    return tuple(values)


def _require_choice(value: str, choices: tuple[str, ...], name: str) -> None:
    if value not in choices:
        raise DamagedError(f"{STUDY} has {value!r} for {name!r}, which is none of {', '.join(map(repr, choices))}.")
