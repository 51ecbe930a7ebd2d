"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from ._files import FileProblem, problem

# Errors of a full or failing disk.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# A draft older than this many seconds was left by a killed process.
_STALE = 3600.0


@contextmanager
def atomic_path(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a temporary file next to ``path``, which takes its place when all has been written.

    Parameters
    ----------
    path : str or path
        The file to write. A link is followed: what it points to is replaced, and the link stays.

    Yields
    ------
    Path
        An empty file in the same folder and with the same suffix, to be written by any means. On leaving without an
        error it is brought to the disk and renamed to ``path`` in one step, so that a reader sees the old file or
        the new one and never half of it; on an error it is removed, and what was at ``path`` stays.

    Raises
    ------
    FileProblem
        If ``path`` is a folder, or its folder does not exist or cannot be written to, or the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "map.txt") as draft:
    ...     _ = draft.write_text("0.5", encoding="utf-8")
    >>> [file.name for file in folder.iterdir()]
    ['map.txt']
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise problem(path, "is a folder; give the name of a file to write in it.")
    if not target.parent.is_dir():
        raise problem(path, f"there is no folder {str(target.parent)!r} to write it to; make the folder first.")
    # Names are limited to 255 bytes: the end, which has the suffix, is what programs look at.
    end = target.name if len(os.fsencode(target.name)) <= 200 else target.name[-40:]
    _remove_old_drafts(target.parent, end)
    draft = target.with_name(f".{secrets.token_hex(8)}-{end}")
    try:
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # less the user's umask
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
        except OSError as error:
            raise not_written(path, error) from error
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())  # bring it to the disk before the renaming
        try:
            os.replace(draft, target)
        except OSError as error:
            raise problem(path, f"cannot be replaced ({_reason(error)}); close the programs that use it.") from error
        with suppress(OSError):  # the new name is an entry of the folder, which some systems can bring to the disk too
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise not_written(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)  # after the renaming there is nothing left to remove


def _remove_old_drafts(folder: Path, end: str) -> None:
    """Remove the drafts that killed processes left; recent ones may be in use."""
    pattern = re.compile(rf"\.[0-9a-f]{{16}}-{re.escape(end)}")
    with suppress(OSError):
        for entry in folder.iterdir():
            if pattern.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > _STALE:
                entry.unlink()


def not_written(path: str | PathLike[str], error: OSError) -> FileProblem:
    """Return the error for a file that the system would not write."""
    if error.errno in _FULL:  # libraries have words of their own for it
        reason = os.strerror(error.errno or 0).lower()
        return problem(path, f"cannot be written ({reason}); free some space, or choose another place.")
    return problem(path, f"cannot be written ({_reason(error)}); choose another folder.")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
