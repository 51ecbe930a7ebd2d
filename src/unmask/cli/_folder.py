"""Folders for results. A folder that is neither empty nor from unmask is refused, unless it is forced."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ._options import Saving

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ._output import Output

# A folder with one of these is from unmask: the first is in every study, the second in a folder of other results.
STUDY, MARK = "study.json", "unmask.json"


@dataclass
class Folder:
    """A folder that may be written to; it is made when the first file is written."""

    path: Path
    written: list[str] = field(default_factory=list)

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Write a table as CSV."""
        from ..io import write_table

        write_table(frame, self.claim(f"{name}.csv"))

    def picture(self, name: str, figure: Figure) -> None:
        """Write a picture."""
        from ..io import atomic_path

        with atomic_path(self.claim(name)) as draft:
            figure.savefig(draft, dpi=150)

    def claim(self, name: str) -> Path:
        """Return the path of a file that is about to be written; the folder is marked as one of unmask."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not is_study(self.path) and not (self.path / MARK).exists():
            (self.path / MARK).write_text('{"schema": "unmask results"}\n', encoding="utf-8")
        self.written.append(str(self.path / name))
        return self.path / name

    def say_written(self, output: Output) -> list[str]:
        """Print what was written, and return it."""
        for path in self.written:
            output.say(f"Wrote {path}")
        return self.written


def is_study(path: Path) -> bool:
    """Return whether a path is a saved study rather than a file of data."""
    return path.suffix.lower() == ".zip" or (path / STUDY).is_file()


def open_folder(saving: Saving) -> Folder | None:
    """Return the folder to write to, checked before the work begins; None if nothing is to be written."""
    path = saving.out
    if path is None:
        return None
    ours = is_study(path) or (path / MARK).is_file()
    if not ours and not saving.force and path.is_dir() and any(path.iterdir()):
        raise ValueError(f"--out {path}: this folder holds other files; choose another one, or add --force.")
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise ValueError(f"--out {path}: nothing can be written to {str(nearest)!r}; choose another folder.")
    return Folder(path)
