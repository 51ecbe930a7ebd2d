"""Opening a file, its kind and its bytes; and the error that names a place in it."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import IO

from ..checking import require_integer

# The first bytes of a file decide its kind.
_MAGIC = {b"\x93NUMPY": "npy", b"PAR1": "parquet", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip"}
_IN_R = "which only R reads; write a table there: write.csv(as.matrix(d), 'd.csv')."
_REFUSED = {
    b"BZh": "is compressed by bzip2; unpack it first, or compress it by gzip.",
    b"\xfd7zXZ\x00": "is compressed by xz; unpack it first, or compress it by gzip.",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; unpack it first, or compress it by gzip.",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an old Excel file (.xls); save it as .xlsx or CSV first.",
    b"\x89HDF\r\n\x1a\n": "is an HDF5 file, which is not read; write it as Parquet, npy or CSV first.",
    b"X\n\x00\x00": f"is an R data file (.rds), {_IN_R}",
    b"RDX": f"is a workspace of R (.RData), {_IN_R}",
    b"\x89PNG\r\n\x1a\n": "is a PNG picture; give the table that it was made from.",
    b"\xff\xd8\xff": "is a JPEG picture; give the table that it was made from.",
    b"%PDF-": "is a PDF file; copy the table into a CSV file first.",
}
_BINARY = (".npy", ".npz", ".parquet", ".pq", ".xlsx", ".xlsm")
# Files with the memory limit of a container.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class FileProblem(ValueError):  # noqa: N818  (the name that users see)
    """A file that cannot be read or written, explained in one sentence.

    Parameters
    ----------
    message : str
        The sentence, with the name of the file.
    path : str, optional
        The file, as it was given. This and all that follow are attributes.
    row, column : int, optional
        The place in the file, counted from 1 as in an editor or a spreadsheet; None if no single place is wrong.
    what : str, optional
        What is wrong, without the place; by default the message.
    """

    def __init__(
        self,
        message: str,
        path: str | None = None,
        row: int | None = None,
        column: int | None = None,
        what: str | None = None,
    ) -> None:
        super().__init__(message, path, row, column, what)  # all of them, so that the error survives pickling
        self.path, self.row, self.column = path, row, column
        self.what = message if what is None else what

    def __str__(self) -> str:
        return str(self.args[0])


def problem(path: str | PathLike[str], what: str, *, row: int | None = None, column: int | None = None) -> FileProblem:
    """Return the error for a place in a file."""
    places = [f"{name} {at}" for name, at in (("row", row), ("column", column)) if at is not None]
    return FileProblem(f"{', '.join([str(path), *places])}: {what}", str(path), row, column, what)


def reason(error: OSError) -> str:
    """Return why the system refused a file, for use in a sentence."""
    return (error.strerror or str(error)).lower()


def one_line(error: BaseException) -> str:
    """Return the beginning of an error's message, for use in a sentence."""
    return " ".join(str(error).split()).rstrip(".")[:200]


def times(*lengths: int) -> str:
    """Return the size of a table in the form "3 × 4"."""
    return " × ".join(f"{length:,}" for length in lengths)  # noqa: RUF001


def _readable(size: int) -> str:
    """Return a number of bytes with its unit, such as "1.5 MB"."""
    power = min((size.bit_length() - 1) // 10, 4)
    return f"{size / 2 ** (10 * power):.3g} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


def memory_limit() -> int:
    """Return how many bytes a file may unpack to: a quarter of the memory, since a table takes a few times its text."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        memory = 16 * 2**30  # where the machine does not report its memory
    for name in _LIMITS:
        with suppress(OSError, ValueError):  # "max": no limit
            memory = min(memory, int(Path(name).read_text(encoding="ascii")))
    return max(memory // 4, 2**20)


@dataclass(frozen=True)
class InputFile:
    """An open file that is not empty."""

    path: str  # its name in messages
    kind: str  # "text", "json", "npy", "npz", "parquet" or "excel"
    packed: bool  # compressed by gzip
    limit: int  # bytes that it may unpack to
    stream: IO[bytes]  # its bytes, unpacked

    def problem(self, what: str, *, row: int | None = None, column: int | None = None) -> FileProblem:
        """Return the error for a place in this file."""
        return problem(self.path, what, row=row, column=column)

    def require_room(self, size: int, what: str) -> None:
        """Raise if so many bytes are more than a file may unpack to."""
        if size > self.limit:
            raise self.problem(
                f"{what}, which would take {_readable(size)}; more than {_readable(self.limit)} is not read unless "
                "max_expanded allows it."
            )


@contextmanager
def open_input(path: str | PathLike[str], max_expanded: int | None, name: str | None = None) -> Iterator[InputFile]:
    """Open a file and detect its kind; every error of the system becomes a FileProblem."""
    name = str(path) if name is None else str(name)
    limit = memory_limit() if max_expanded is None else require_integer("max_expanded", max_expanded, 1)
    try:
        mode = 0 if "\0" in str(path) else os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            folder = stat.S_ISDIR(mode)
            what = "a folder; give the name of a file in it" if folder else "not a regular file; write one first"
            raise problem(name, f"is {what}.")
        with open(path, "rb") as stored:
            packed = stored.read(2) == b"\x1f\x8b"
            stored.seek(0)
            stream = _unpacked(name, stored, limit) if packed else stored
            yield _with_kind(InputFile(name, "text", packed, limit, stream))
    except FileNotFoundError:
        raise problem(name, "there is no such file; check its name and folder.") from None
    except OSError as error:
        raise problem(name, f"cannot be read ({reason(error)}).") from error
    except MemoryError as error:
        raise problem(name, "is larger than the memory there is; read a part of it.") from error


def _unpacked(name: str, packed: IO[bytes], limit: int) -> IO[bytes]:
    try:
        content = gzip.GzipFile(fileobj=packed, mode="rb").read(limit + 1)
    except EOFError:
        raise problem(name, "the compressed file ends too early; copy or download it again.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise problem(name, f"the compressed file is damaged ({error}); copy it again.") from error
    if len(content) > limit:
        raise problem(
            name, f"unpacks to more than {_readable(limit)}, which is not read unless max_expanded allows it."
        )
    return io.BytesIO(content)


def _with_kind(file: InputFile) -> InputFile:
    """Return the file with its kind, which its first bytes show; a name matters only where they do not."""
    start = file.stream.read(16)
    file.stream.seek(0)
    if not start:
        raise file.problem("is empty; write the table again.")
    for magic, why in _REFUSED.items():
        if start.startswith(magic):
            raise file.problem(why)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "text")
    suffix = Path(file.path.lower().removesuffix(".gz")).suffix
    if kind == "text" and suffix in _BINARY:
        raise file.problem(f"does not hold what its suffix {suffix} promises; write it again, or correct the suffix.")
    if kind == "text" and suffix == ".json":
        kind = "json"
    return replace(file, kind=_kind_of_zip(file) if kind == "zip" else kind)


def _kind_of_zip(file: InputFile) -> str:
    try:
        with zipfile.ZipFile(file.stream) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise file.problem(f"is a damaged archive ({error}); copy or write it again.") from error
    file.stream.seek(0)
    file.require_room(sum(member.file_size for member in members), "is an archive")
    names = [member.filename for member in members]
    if "[Content_Types].xml" in names or any(name.startswith("xl/") for name in names):
        return "excel"
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    raise file.problem("is a zip archive; unpack it first, and give the name of one file in it.")
