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
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

from ..checking import require_integer
from ._problems import FileProblem, problem

# Where the machine does not report its memory.
_USUAL_MEMORY = 16 * 2**30
# Files with the memory limit of a container.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_limit() -> int:
    """Return how many bytes a file may unpack to: a quarter of the memory, since a table takes a few times its text."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        memory = _USUAL_MEMORY
    for name in _LIMITS:
        with suppress(OSError, ValueError):  # "max": no limit
            memory = min(memory, int(Path(name).read_text(encoding="ascii")))
    return max(memory // 4, 2**20)


# The first bytes of a file decide its kind; the name is used only where they do not.
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
_SUFFIXES = {
    ".npy": "a NumPy array",
    ".npz": "a NumPy archive",
    ".parquet": "a Parquet file",
    ".pq": "a Parquet file",
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
}


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
                f"{what}, which would take {readable(size)}; more than {readable(self.limit)} is not read unless "
                "max_expanded allows it."
            )


@contextmanager
def open_input(path: str | PathLike[str], max_expanded: int | None, name: str | None = None) -> Iterator[InputFile]:
    """Open a file and detect its kind; every error of the system becomes a FileProblem."""
    place = str(path)
    name = place if name is None else str(name)
    limit = memory_limit() if max_expanded is None else require_integer("max_expanded", max_expanded, 1)
    try:
        _require_regular(place, name)
        with open(place, "rb") as stored:
            packed = stored.read(2) == b"\x1f\x8b"
            stored.seek(0)
            stream = io.BufferedReader(_Unpacked(name, stored, limit), 2**18) if packed else stored
            yield _opened(name, packed, limit, stream)
    except FileProblem:
        raise
    except OSError as error:
        raise problem(name, f"cannot be read ({(error.strerror or str(error)).lower()}).") from error
    except MemoryError as error:
        raise problem(name, "is larger than the memory there is; read a part of it.") from error


def readable(size: int) -> str:
    """Return a number of bytes in words, such as "1.5 MB"."""
    for unit, name in ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def _require_regular(place: str, name: str) -> None:
    try:
        state = Path(place).stat()
    except FileNotFoundError:
        raise problem(name, "there is no such file; check its name and folder.") from None
    except ValueError as error:  # an impossible name
        raise problem(name, f"cannot be read ({error}).") from error
    if stat.S_ISDIR(state.st_mode):
        raise problem(name, "is a folder; give the name of a file in it.")
    if not stat.S_ISREG(state.st_mode):
        raise problem(name, "is not a regular file; write what it gives to a file first.")


# ---- kinds


def _opened(name: str, packed: bool, limit: int, stream: IO[bytes]) -> InputFile:
    start = stream.read(16)
    if not start:
        raise problem(name, "is empty; write the table again.")
    for magic, why in _REFUSED.items():
        if start.startswith(magic):
            raise problem(name, why)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "text")
    stream.seek(0)
    if kind != "text" and packed:
        stream = io.BytesIO(stream.read())
    file = InputFile(name, kind, packed, limit, stream)
    if kind == "zip":
        return InputFile(name, _kind_of_zip(file), packed, limit, stream)
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    if kind == "text" and suffix in _SUFFIXES:
        raise file.problem(
            f"is not {_SUFFIXES[suffix]}, though its name ends in {suffix}; write it again, or correct the suffix."
        )
    return InputFile(name, "json", packed, limit, stream) if kind == "text" and suffix == ".json" else file


def _kind_of_zip(file: InputFile) -> str:
    """Return the kind of a zip archive; raise if it unpacks to more than the limit."""
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


# ---- unpacking


class _Unpacked(io.RawIOBase):
    """The bytes of a gzip file, up to a limit."""

    def __init__(self, name: str, packed: IO[bytes], limit: int) -> None:
        self._name, self._limit = name, limit
        self._stream = gzip.GzipFile(fileobj=packed, mode="rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: Any, /) -> int:
        try:
            data = self._stream.read(len(buffer))
        except EOFError:
            raise problem(self._name, "the compressed file ends too early; copy or download it again.") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise problem(self._name, f"the compressed file is damaged ({error}); copy it again.") from error
        if self._stream.tell() > self._limit:
            raise problem(
                self._name,
                f"unpacks to more than {readable(self._limit)}, which is not read unless max_expanded allows it.",
            )
        buffer[: len(data)] = data
        return len(data)
