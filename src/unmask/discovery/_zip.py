"""Zip files of studies: written so that the same study gives the same bytes, and read as if they were hostile."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from copy import copy
from pathlib import Path, PurePosixPath, PureWindowsPath

from ..io import memory_limit

# A zip file has room for no year before 1980; the same study always gives the same bytes.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
# A zip file may hold this many times its own size, and this many bytes in any case: what is more is no study.
MOST_EXPANSION = 200
ALWAYS_ALLOWED = 50_000_000


class DamagedError(Exception):
    """A study cannot be read; the message goes on after the path of the study."""


def pack(folder: Path, draft: Path, old: Path, kept: Iterable[str]) -> None:
    """Write the files of a folder, and those that are kept of an old zip file, into a new one."""
    files = {file.name: file for file in folder.iterdir()}
    with zipfile.ZipFile(draft, "w") as packed:
        for name in sorted({*files, *kept}):
            if name in files:
                entry = zipfile.ZipInfo(name, ZIP_DATE)
                entry.external_attr = 0o644 << 16
                packed.writestr(entry, files[name].read_bytes(), zipfile.ZIP_DEFLATED)
            else:
                _copy_packed(old, name, packed)


def _copy_packed(old: Path, name: str, packed: zipfile.ZipFile) -> None:
    """Copy a file from one zip file to another as it is: packing takes most of the time of a save."""
    with zipfile.ZipFile(old) as source, old.open("rb") as stream:
        entry = copy(source.getinfo(name))
        with source.open(entry):  # which checks the header
            pass
        stream.seek(entry.header_offset + 26)
        lengths = stream.read(4)  # of the name and of what else there is, in the header of 30 bytes
        stream.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
        data = stream.read(entry.compress_size)
    assert packed.fp is not None
    entry.header_offset, entry.flag_bits = packed.fp.tell(), entry.flag_bits & ~0x08  # sizes are in the header
    packed.fp.write(entry.FileHeader(False))
    packed.fp.write(data)
    packed.filelist.append(entry)
    packed.NameToInfo[entry.filename] = entry
    packed.start_dir = packed.fp.tell()


class Zip:
    """The files of a zip file, which may be no larger than is likely."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as packed:
                entries = packed.infolist()
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise DamagedError(f"is no zip file ({error}); give what Discovery.save wrote.") from None
        strange = [entry.filename for entry in entries if not is_plain(entry.filename)]
        if strange:
            raise DamagedError(f"has {strange[0]!r} in it, which is no name of a file of a study.")
        self.left = min(max(ALWAYS_ALLOWED, MOST_EXPANSION * path.stat().st_size), memory_limit())

    def read(self, name: str) -> bytes:
        try:
            with zipfile.ZipFile(self.path) as packed, packed.open(name) as file:
                data = file.read(self.left + 1)  # whatever the header promises
        except KeyError:
            raise FileNotFoundError(name) from None
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError) as error:
            raise DamagedError(f"{name!r} in it cannot be read ({error}).") from None
        self.left -= len(data)
        if self.left < 0:
            raise DamagedError(
                f"holds more than {MOST_EXPANSION} times its own size, or than memory has room for; if it can be "
                "trusted, unpack it and load the folder.",
            )
        return data


def is_plain(name: str) -> bool:
    """Return whether a name is that of a file, and not a path that leads elsewhere."""
    return bool(name) and name not in (".", "..") and PurePosixPath(name).name == PureWindowsPath(name).name == name
