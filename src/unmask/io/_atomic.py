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

from ._problems import FileProblem, problem

# Errors of a full or failing disk.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# A draft older than this many seconds was left by a killed process.
STALE = 3600.0


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
    draft = _new_sibling(path, target)
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())  # bring it to the disk before the renaming
        _replace(path, draft, target)
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise not_written(path, error) from error
    finally:
        draft.unlink(missing_ok=True)  # after the renaming there is nothing left to remove


def _new_sibling(path: str | PathLike[str], target: Path) -> Path:
    """Make an empty file with a new name, and with the permissions that ``target`` has or would have."""
    if target.is_dir():
        raise problem(path, "is a folder; give the name of a file to write in it.")
    if not target.parent.is_dir():
        raise problem(path, f"there is no folder {str(target.parent)!r} to write it to; make the folder first.")
    _sweep_drafts(target)
    draft = target.with_name(f".{secrets.token_hex(8)}-{_draft_name(target)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # less the user's umask
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise not_written(path, error) from error
    return draft


def _draft_name(target: Path) -> str:
    # Names are limited to 255 bytes: the end, which has the suffix, is what programs look at.
    return target.name if len(os.fsencode(target.name)) <= 200 else target.name[-40:]


def _sweep_drafts(target: Path) -> None:
    """Remove the drafts that killed processes left; recent ones may be in use."""
    pattern = re.compile(rf"\.[0-9a-f]{{16}}-{re.escape(_draft_name(target))}")
    with suppress(OSError):
        for entry in target.parent.iterdir():
            if pattern.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > STALE:
                entry.unlink()


def not_written(path: str | PathLike[str], error: OSError) -> FileProblem:
    """Return the error for a file that the system would not write."""
    if error.errno in FULL:  # libraries have words of their own for it
        reason, way_out = os.strerror(error.errno).lower(), "free some space, or choose another place"
    else:
        reason, way_out = _reason(error), "choose another folder"
    return problem(path, f"cannot be written ({reason}); {way_out}.")


def _replace(path: str | PathLike[str], draft: Path, target: Path) -> None:
    try:
        os.replace(draft, target)
    except OSError as error:
        raise problem(path, f"cannot be replaced ({_reason(error)}); close the programs that use it.") from error
    # The new name is an entry of the folder, which some systems can bring to the disk too.
    with suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
