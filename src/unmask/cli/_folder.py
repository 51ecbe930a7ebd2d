"""A folder of results, marked by a file that lists what unmask wrote there."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._options import Saving

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MARK = "unmask.json"
SCHEMA = "unmask results"
FORMATS = ("csv", "parquet", "json")
STUDY = "study"


def read_mark(path: Path) -> dict[str, Any]:
    """Return the contents of the mark of a folder; empty if it has none."""
    try:
        mark = json.loads((path / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(mark, dict) or mark.get("schema") != SCHEMA:
        return {}
    files = mark.get("files")
    return {**mark, "files": [name for name in files if isinstance(name, str)] if isinstance(files, list) else []}


@dataclass
class Folder:
    """A folder that may be written to.

    Attributes
    ----------
    path : Path
        The folder; it is made when the first file is written.
    file_format : str
        Of the tables.
    written : list of Path
        What has been written.
    escapes : bool
        Whether labels or other text in it were escaped.
    """

    path: Path
    file_format: str = "csv"
    written: list[Path] = field(default_factory=list)
    escapes: bool = False

    def table(self, name: str, frame: pd.DataFrame | None) -> None:
        """Write a table in place of an earlier one, whatever the format of that; None only removes the earlier one."""
        from ..io import write_table

        new = f"{name}.{self.file_format}"
        for old in (f"{name}.{kind}" for kind in FORMATS):
            if frame is None or old != new:
                self.remove(old)
        if frame is not None:
            write_table(frame, self._claim(new))
            self.escapes |= self.file_format == "csv" and _has_formulas(frame)

    def remove(self, name: str) -> bool:
        """Remove a file of earlier results if unmask wrote it; return whether it was there."""
        if name not in read_mark(self.path).get("files", []):
            return False
        there = (self.path / name).exists()
        (self.path / name).unlink(missing_ok=True)
        self.written = [file for file in self.written if file.name != name]
        self.mark(gone=name)
        return there

    def picture(self, name: str, figure: Figure) -> None:
        """Write a picture."""
        from ..io import atomic_path

        with atomic_path(self._claim(name)) as draft, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # said when it was drawn, once
            figure.savefig(draft, dpi=150)

    def study(self, study: Any) -> None:
        """Write a study, in a folder of its own."""
        study.save(self._claim(STUDY))

    def mark(self, gone: str | None = None, **record: Any) -> None:
        """Write the mark: a record about the results, and the files that unmask wrote, without the one that is gone."""
        from ..io import write_json

        old = read_mark(self.path)
        files = sorted({*old.get("files", []), *(file.name for file in self.written)} - {gone})
        write_json({**old, "schema": SCHEMA, "schema_version": 1, **record, "files": files}, self.path / MARK)

    def _claim(self, name: str) -> Path:
        """Return the path of a file that is about to be written, and list it in the mark."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.written.append(self.path / name)
        self.mark()
        return self.path / name


def _has_formulas(frame: pd.DataFrame) -> bool:
    """Return whether a label, a column name or a text in a table looks like a formula to a spreadsheet."""
    from ..io import escape

    texts = frame.select_dtypes(exclude="number").to_numpy(dtype=object).ravel()
    return any(escape(text) != text for text in (*frame.index, *frame.columns, *texts) if isinstance(text, str))


def open_folder(
    saving: Saving, tables: Collection[str], others: Collection[str] = (), *, unmistakable: bool = False
) -> Folder | None:
    """Return the folder to write to, checked before the work begins; None if nothing is to be written.

    Parameters
    ----------
    saving : Saving
        The folder, the format of its tables, and whether to write in any case.
    tables, others : collection of str
        Names of the tables and of the other files that may be written.
    unmistakable : bool
        Whether a folder without a mark that holds only files of these names may be written to.

    Raises
    ------
    ValueError
        If files of others would be replaced, or nothing can be written.
    """
    if saving.out is None:
        return None
    names = {f"{table}.{saving.file_format}" for table in tables} | set(others)
    if not saving.force:
        _require_ours(saving.out, names, unmistakable)
    _require_writable(saving.out)
    if saving.file_format == "parquet":
        from ..checking import require_package

        require_package("pyarrow", "writing Parquet files", "files")
    return Folder(saving.out, saving.file_format)


def _require_ours(path: Path, names: set[str], unmistakable: bool) -> None:
    there = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    mark = read_mark(path)
    if not there or (unmistakable and there <= names | {MARK}):
        return
    if not mark:
        raise ValueError(
            f"--out {path}: there are files in this folder that unmask did not write; choose another folder, or write "
            "there all the same with --force."
        )
    strange = sorted(there & names - set(mark.get("files", [])))
    if strange:
        raise ValueError(
            f"--out {path}: {strange[0]!r} in this folder is not from unmask and would be replaced; choose another "
            "folder, or replace it with --force."
        )


def _require_writable(path: Path) -> None:
    nearest = path
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise ValueError(f"--out {path}: nothing can be written to {str(nearest)!r}; choose another folder.")


def require_free(path: Path, *, force: bool) -> None:
    """Raise if a file would be replaced."""
    if path.exists() and not force:
        raise ValueError(f"{path}: is there already; choose another name, or replace it with --force.")
