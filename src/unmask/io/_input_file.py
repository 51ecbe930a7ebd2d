"""Opening a file: its kind, and its bytes, unpacked up to a limit."""

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
from typing import IO, Any, BinaryIO

from ..checking import require_integer
from ._problems import FileProblem, problem

# Where the machine does not say how much memory it has.
_USUAL_MEMORY = 16 * 2**30
# Memory that this process and those beside it may use, where the system sets such a limit.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_limit() -> int:
    """Return how many bytes a file may unpack to: a quarter of the memory, since a table takes a few times its text."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not every system says
        memory = _USUAL_MEMORY
    for name in _LIMITS:
        with suppress(OSError, ValueError):  # "max": no limit
            memory = min(memory, int(Path(name).read_text(encoding="ascii")))
    return max(memory // 4, 2**20)


# The first bytes of a file tell its kind; its name is used only where they do not.
_GZIP = b"\x1f\x8b"
_MAGIC = ((b"\x93NUMPY", "npy"), (b"PAR1", "parquet"))
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_IN_R = "which only R reads; write a table there: write.csv(as.matrix(d), 'd.csv')."
_REFUSED = (
    (b"BZh", "is compressed by bzip2; unpack it first, or compress it by gzip."),
    (b"\xfd7zXZ\x00", "is compressed by xz; unpack it first, or compress it by gzip."),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd; unpack it first, or compress it by gzip."),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an old Excel file (.xls); save it as .xlsx or CSV first."),
    (b"\x89HDF\r\n\x1a\n", "is an HDF5 file, which is not read; write it as Parquet, npy or CSV first."),
    (b"X\n\x00\x00", f"is a file of R's own (.rds), {_IN_R}"),
    (b"RDX", f"is a workspace of R (.RData), {_IN_R}"),
    (b"\x89PNG\r\n\x1a\n", "is a PNG picture; what it shows cannot be read: give the table it was made from."),
    (b"\xff\xd8\xff", "is a JPEG picture; what it shows cannot be read: give the table it was made from."),
    (b"%PDF-", "is a PDF file; copy the table into a CSV file first."),
)
_SUFFIXES = {".npy": "npy", ".npz": "npz", ".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel", ".xlsm": "excel"}
_NAMES = {"npy": "a NumPy array", "npz": "a NumPy archive", "parquet": "a Parquet file", "excel": "an Excel workbook"}


@dataclass(frozen=True)
class InputFile:
    """A file that exists and is not empty."""

    path: str  # as it is named in messages
    kind: str  # "text", "json", "npy", "npz", "parquet" or "excel"
    packed: bool
    limit: int  # bytes
    size: int  # bytes, as stored
    place: str | None = None  # where it is, unless at path

    @contextmanager
    def binary(self) -> Iterator[IO[bytes]]:
        """Open the file for its bytes, unpacked, as a stream."""
        try:
            with open(self.place or self.path, "rb") as stream:
                unpacked = _Unpacked(self.path, stream, self.limit) if self.packed else None
                yield stream if unpacked is None else io.BufferedReader(unpacked, buffer_size=2**18)
        except OSError as error:
            raise problem(self.path, f"cannot be read ({(error.strerror or str(error)).lower()}).") from error

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """Open the file for its bytes, unpacked, as a stream with ``seek``; a packed file is unpacked into memory."""
        with self.binary() as stream:
            yield io.BytesIO(stream.read()) if self.packed else stream

    def problem(self, what: str, *, row: int | None = None, column: int | None = None) -> FileProblem:
        """Return the error for a place in this file."""
        return problem(self.path, what, row=row, column=column)

    def require_room(self, cells: int, what: str) -> None:
        """Raise if a table of so many numbers is larger than what a file may unpack to."""
        if cells * 8 > self.limit:
            raise self.problem(
                f"{what}, which would take {readable(cells * 8)}; more than {readable(self.limit)} is not read unless "
                "max_expanded allows it."
            )


def open_input(path: str | PathLike[str], max_expanded: int | None, name: str | None = None) -> InputFile:
    """Return a file with its kind; raise if it cannot be read. In messages it goes by the name."""
    place = str(path)
    name = place if name is None else str(name)
    limit = memory_limit() if max_expanded is None else require_integer("max_expanded", max_expanded, 1)
    size = _regular_size(place, name)
    with InputFile(name, "text", False, limit, size, place).binary() as stream:
        start = stream.read(16)
    packed = start.startswith(_GZIP)
    whole = InputFile(name, "text", packed, limit, size, place)
    if packed:
        with whole.binary() as stream:
            start = stream.read(16)
    if not start:
        raise problem(name, "is empty; write the table again.")
    return replace(whole, kind=_kind(whole, start))


def readable(size: int) -> str:
    """Return a number of bytes in words, such as "1.5 MB"."""
    for unit, name in ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def _regular_size(place: str, name: str) -> int:
    try:
        state = Path(place).stat()
    except FileNotFoundError:
        raise problem(name, "there is no such file; check its name and folder.") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise problem(name, f"cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    if stat.S_ISDIR(state.st_mode):
        raise problem(name, "is a folder; give the name of a file in it.")
    if not stat.S_ISREG(state.st_mode):
        raise problem(name, "is not a regular file; write what it gives to a file first.")
    if state.st_size == 0:
        raise problem(name, "is empty; write the table again.")
    return state.st_size


# ---- kinds


def _kind(file: InputFile, start: bytes) -> str:
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            return kind
    for magic, why in _REFUSED:
        if start.startswith(magic):
            raise file.problem(why)
    if start.startswith(_ZIP):
        return _kind_of_zip(file)
    suffix = Path(file.path.lower().removesuffix(".gz")).suffix
    if suffix in _SUFFIXES:
        raise file.problem(
            f"is not {_NAMES[_SUFFIXES[suffix]]}, though its name ends in {suffix}; write it again, or give it the "
            "suffix of what it is."
        )
    return "json" if suffix == ".json" else "text"


def _kind_of_zip(file: InputFile) -> str:
    names = [member.filename for member in members(file)]
    if "[Content_Types].xml" in names or any(name.startswith("xl/") for name in names):
        return "excel"
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    raise file.problem("is a zip archive; unpack it first, and give the name of one file of it.")


def members(file: InputFile) -> list[zipfile.ZipInfo]:
    """Return the entries of a zip archive; raise if they unpack to more than the limit."""
    with file.seekable() as stream, open_zip(file, stream) as archive:
        entries = archive.infolist()
    total = sum(entry.file_size for entry in entries)
    if total > file.limit:
        raise file.problem(
            f"unpacks to {readable(total)} from {readable(file.size)}; more than {readable(file.limit)} is not "
            "read unless max_expanded allows it."
        )
    return entries


@contextmanager
def open_zip(file: InputFile, stream: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; any error becomes a FileProblem."""
    try:
        with zipfile.ZipFile(stream) as archive:
            yield archive
    except FileProblem:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, ValueError) as error:
        raise file.problem(f"is a damaged archive ({error}); copy or write it again.") from error


# ---- unpacking


class _Unpacked(io.RawIOBase):
    """The bytes of a gzip file, up to a limit."""

    def __init__(self, path: str, packed: BinaryIO | IO[bytes], limit: int) -> None:
        self._path, self._limit, self._left = path, limit, limit
        self._stream = gzip.GzipFile(fileobj=packed, mode="rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            data = self._stream.read(len(buffer))
        except EOFError:
            raise problem(self._path, "the compressed file ends too early; copy or download it again.") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise problem(self._path, f"the compressed file is damaged ({error}); copy it again.") from error
        self._left -= len(data)
        if self._left < 0:
            raise problem(
                self._path,
                f"unpacks to more than {readable(self._limit)}, which is not read unless max_expanded allows it.",
            )
        buffer[: len(data)] = data
        return len(data)
