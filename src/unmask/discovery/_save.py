"""Writing a study: first as a draft beside its place, and then into it."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
from ._actions import Action, Adoption, Step
from ._data import ComparedFeatures, Data, SquareTable, TableInFile
from ._material import Material
from ._tables import FORMATS, describe, to_frame
from ._values import encode

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "unmask study"
SCHEMA_VERSION = 1
STUDY = "study.json"
# At the end of the name of a study that is being replaced; before it is the name of the draft that replaces it.
OLD = ".old"
# A zip file has room for no year before 1980; the same study always gives the same bytes.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def save(material: Material, actions: tuple[Action, ...], title: str, path: Path, file_format: str) -> Path:
    """Write a study as a folder, or as a zip file if the name says so."""
    require_choice("format", file_format, FORMATS)
    if path.suffix.lower() == ".zip":
        with _naming(path), atomic_path(path) as draft, tempfile.TemporaryDirectory() as folder:
            _write(material, actions, title, Path(folder), file_format)
            _pack(Path(folder), draft)
        return path
    _require_room(path)
    sweep_drafts(path)
    draft = draft_beside(path)
    try:
        with _naming(path):
            draft.mkdir()
            _write(material, actions, title, draft, file_format)
            _put(draft, path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return path


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


def _pack(folder: Path, draft: Path) -> None:
    with zipfile.ZipFile(draft, "w") as packed:
        for file in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(file.name, ZIP_DATE)
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)


# ---- what is written


def _write(material: Material, actions: tuple[Action, ...], title: str, folder: Path, file_format: str) -> None:
    import pandas as pd

    described = {}
    for name, table in _tables(material, actions).items():
        columns = [describe(table.iloc[:, at]) for at in range(table.shape[1])]
        file = f"{name}.{file_format}"
        write_table(to_frame(table, columns), folder / file, format=file_format)
        square = name in ("dissimilarities", "weights")  # whose columns are the objects
        described[name] = {"file": file, "columns": "objects" if square else columns}
    labels = material.objects
    study = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "unmask_version": version("unmask"),
        "title": title,
        "format": file_format,
        "objects": {
            "labels": [encode(label) for label in labels],
            "name": labels.name,
            "numbered": isinstance(labels, pd.RangeIndex),
        },
        "dtype": str(material.data.dtype),
        **_data(material.data),
        "known_types": encode(material.known_types),
        "tables": described,
        "actions": [_action(action) for action in actions],
    }
    write_json(study, folder / STUDY)


def _data(data: Data) -> dict[str, Any]:
    """Return what study.json says about dissimilarities that are in no table of the study."""
    if isinstance(data, ComparedFeatures):
        return {"metric": data.metric, "metric_params": encode(dict(data.metric_params))}
    return {"file": {"path": data.path, "checksum": data.checksum}} if isinstance(data, TableInFile) else {}


def _tables(material: Material, actions: tuple[Action, ...]) -> dict[str, pd.DataFrame]:
    """Return the tables of a study by name, those that have any cells."""
    import pandas as pd

    data = material.data
    tables = {
        "dissimilarities": data.table if isinstance(data, SquareTable) else pd.DataFrame(),
        "features": data.features if isinstance(data, ComparedFeatures) else pd.DataFrame(),
        "weights": material.weights if material.weights is not None else pd.DataFrame(),
        "known": material.known,
        "table": material.table,
    }
    adopted = {action.name: action.values for action in actions if isinstance(action, Adoption)}
    tables["adopted"] = pd.DataFrame(adopted, index=material.objects)
    for step in (action for action in actions if isinstance(action, Step)):
        objects = step.embedding.assign(**{"stress per point": step.stress_per_point.to_numpy()})
        tables |= {
            f"step{step.number}-map": objects,
            f"step{step.number}-coef": step.coef,
            f"step{step.number}-importance": step.importance,
            f"step{step.number}-imputed": step.imputed,
            **({f"step{step.number}-free": step.free_embedding} if step.adjusted else {}),
        }
    return {name: table for name, table in tables.items() if table.size}


def _action(action: Action) -> dict[str, Any]:
    """Return what study.json says about an action."""
    if isinstance(action, Step):
        same = (
            "number",
            "estimator",
            "stress",
            "leak",
            "free_leak",
            "converged",
            "finished",
            "seconds",
            "stress_se",
            "solver",
        )
        record: dict[str, Any] = {"action": "fit"} | {name: getattr(action, name) for name in same}
        if not math.isnan(action.leak_reference):  # of a study of an earlier version; JSON has no NaN
            record["leak_reference"] = action.leak_reference
        return record | {
            "params": encode(dict(action.params)),
            "known": list(action.known),
            "known_types": encode(dict(action.known_types)),
            "warnings": list(action.warnings),
            "versions": dict(action.versions),
            "coef": [str(name) for name in action.coef.columns],
            "importance": [str(name) for name in action.importance.index],
            "imputed": len(action.imputed),
        }
    if isinstance(action, Adoption):
        source = {"kind": encode(action.kind), "source": encode(dict(action.source))}
        return {"action": "adopt", "name": action.name, **source, "why": action.why, "step": action.step}
    return {"action": "forget", "name": action.name, "why": action.why}
