"""Files that came from the page, and files made for it: in a folder of their own, which ends with the session."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any

from ._guard import FILES_LIMIT

# Readers go by the end of a name; all else of the name that a page sends is only shown.
SUFFIXES = frozenset(
    [".csv", ".tsv", ".txt", ".dat", ".phy", ".dist", ".mat", ".xlsx", ".parquet", ".npy", ".npz", ".json", ".zip"]
)
PICTURES = frozenset([".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"])

PREFIX = "unmask-app-"
NO_ROOM = "there is no room for {} beside the files before; start the workbench again."
_CHUNK = 2**20


@dataclass(frozen=True)
class Kept:
    """A file: where it is, and what people call it."""

    path: Path
    name: str

    @property
    def is_picture(self) -> bool:
        """Whether it is called like a picture."""
        return self.path.suffix in PICTURES


def sweep() -> None:
    """Remove folders whose program was killed before it could; its number is in their name."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if os.name == "posix" and number.isdecimal() and not _is_running(int(number)) and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)  # one of another user stays


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


class Files:
    """The files of one session, under names that the session makes."""

    def __init__(self, limit: int = FILES_LIMIT) -> None:
        sweep()
        self._folder = tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)
        self._left = limit  # bytes that may still come in
        self._kept: dict[str, Kept] = {}
        self._made: dict[str, Kept] = {}

    def keep(self, name: str, stream: IO[bytes], limit: int) -> dict[str, Any]:
        """Keep a file that comes in, and return how it is called here."""
        shown = PurePath(name.replace("\\", "/")).name or "file"
        suffix = PurePath(shown).suffix.lower()
        if suffix not in SUFFIXES | PICTURES:
            raise ValueError(
                f"{shown} is no kind of file that is read here; tables are {', '.join(sorted(SUFFIXES))}, pictures "
                f"{', '.join(sorted(PICTURES))}."
            )
        file = secrets.token_hex(8)
        path = self._place(file, suffix)
        size = 0
        try:
            with path.open("xb") as target:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    if size > limit:
                        raise ValueError(f"{shown} is larger than {limit:,} bytes, the limit here; read it in Python.")
                    if size > self._left:
                        raise ValueError(NO_ROOM.format(shown))
                    target.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._left -= size
        self._kept[file] = Kept(path, shown)
        return {"file": file, "name": shown, "bytes": size}

    def kept(self, file: Any) -> Kept:
        """Return a file that came in."""
        if not isinstance(file, str) or file not in self._kept:
            raise ValueError("a file is no longer here; drop it again.")
        return self._kept[file]

    def make(self, name: str) -> tuple[str, Kept]:
        """Return a key and a place for a file that is made for the page."""
        if self._left <= 0:
            raise ValueError(NO_ROOM.format(name))
        key = secrets.token_hex(16)
        self._made[key] = Kept(self._place(key, PurePath(name).suffix), name)
        return key, self._made[key]

    def count(self, made: Kept) -> None:
        """Let a file that was made count against the limit."""
        self._left -= made.path.stat().st_size

    def made(self, key: str) -> Kept | None:
        """Return a file that was made, if it is there."""
        made = self._made.get(key)
        return made if made is not None and made.path.exists() else None

    def close(self) -> None:
        """Remove them all."""
        self._folder.cleanup()

    def _place(self, key: str, suffix: str) -> Path:
        return Path(self._folder.name) / f"{key}{suffix}"
