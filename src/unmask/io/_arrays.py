"""Reading npy and npz files; their headers are compared with their sizes before memory is allocated."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .._typing import Array
from ..checking import quote
from ..kernels import LARGE
from ._input_file import InputFile, members, open_input, open_zip, readable
from ._problems import times

_LABEL_NAMES = ("labels", "label", "ids", "id", "names", "index")


@dataclass(frozen=True)
class StoredArray:
    """An array, and labels if they are stored with it."""

    values: Array
    labels: list[str] | None
    detected: tuple[str, ...]


@dataclass(frozen=True)
class _Header:
    shape: tuple[int, ...]
    columns_first: bool
    dtype: np.dtype[Any]
    name: str | None = None

    @property
    def is_numeric(self) -> bool:
        return self.dtype.kind in "biuf" and self.dtype.shape == ()

    @property
    def is_text(self) -> bool:
        return self.dtype.kind in "US" and len(self.shape) == 1


def read_array(file: InputFile) -> StoredArray:
    """Read the numbers of an npy file, or those of an npz file and their labels."""
    return _read_npy(file) if file.kind == "npy" else _read_npz(file)


def objects_of_large(path: str | PathLike[str]) -> int:
    """Return how many objects a square table in an npy file has that is too large to be read into memory; else 0."""
    if Path(path).suffix != ".npy" or not Path(path).is_file():
        return 0
    file = open_input(path, None)
    if file.kind != "npy" or file.packed:
        return 0
    with file.seekable() as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        header = _header(file, stream)
        _require_as_promised(file, header, size - stream.tell())
    square = len(header.shape) == 2 and header.shape[0] == header.shape[1]
    kept = header.dtype in (np.float32, np.float64)
    return header.shape[0] if square and kept and math.prod(header.shape) * header.dtype.itemsize > LARGE else 0


def _read_npy(file: InputFile) -> StoredArray:
    with file.seekable() as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        header = _header(file, stream)
        if not header.is_numeric:
            raise file.problem(f"holds an array of type {header.dtype}, which are not numbers; write numbers.")
        _require_as_promised(file, header, size - stream.tell())
        return StoredArray(_numbers(_array(file, stream, header)), None, ("NumPy array",))


def _read_npz(file: InputFile) -> StoredArray:
    sizes = {member.filename: member.file_size for member in members(file)}
    with file.seekable() as stream, open_zip(file, stream) as archive:
        headers = []
        for name, size in sizes.items():
            with archive.open(name) as member:
                header = _header(file, member, name.removesuffix(".npy"))
                _require_as_promised(file, header, size - member.tell())
                headers.append(header)
        chosen = _the_numbers(file, headers)
        texts = [header for header in headers if header.is_text]
        named = [header for header in texts if (header.name or "").lower() in _LABEL_NAMES] or texts
        labels = None
        if named:
            stored = _member(file, archive, named[0])
            labels = [name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in stored]
        detected = ("NumPy archive", f"array {chosen.name!r}") + ((f"labels from {named[0].name!r}",) if named else ())
        return StoredArray(_numbers(_member(file, archive, chosen)), labels, detected)


def _member(file: InputFile, archive: Any, header: _Header) -> Any:
    with archive.open(f"{header.name}.npy") as member:
        _header(file, member, header.name)
        return _array(file, member, header)


# ---- headers


def _header(file: InputFile, stream: IO[bytes], name: str | None = None) -> _Header:
    """Read the header of an array: its shape, its order and its type."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of old versions are read all the same
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, columns_first, dtype = read(stream)
    except Exception as error:  # a damaged header can cause any error
        raise file.problem("has a damaged header; write the array again.") from error
    if dtype.hasobject:
        raise file.problem(
            f"{_called(name)} holds Python objects (pickled), which could run any program when they are read; write "
            "numbers, for example by array.astype(float)."
        )
    return _Header(tuple(shape), columns_first, dtype, name)


def _called(name: str | None) -> str:
    return "the array" if name is None else f"the array {name!r}"


def _require_as_promised(file: InputFile, header: _Header, held: int) -> None:
    """Raise if the file does not hold what its header promises."""
    promised = math.prod(header.shape) * header.dtype.itemsize
    if promised != held or min(header.shape, default=1) < 0:
        shape = times(*header.shape) or "one number"
        raise file.problem(
            f"{_called(header.name)} is said to be {shape} of {header.dtype}, which takes {readable(promised)}, but "
            f"{readable(held)} are there; it is cut off, or its header is wrong: write it again."
        )


def _the_numbers(file: InputFile, headers: list[_Header]) -> _Header:
    """Return the one array of numbers in an archive."""
    numeric = [header for header in headers if header.is_numeric and header.shape]
    if len(numeric) == 1:
        return numeric[0]
    named = quote([header.name for header in numeric])
    held = f"several arrays of numbers ({named})" if numeric else "no array of numbers"
    raise file.problem(f"holds {held}, and one is expected; write that one alone, with labels as text if you like.")


# ---- numbers


def _array(file: InputFile, stream: IO[bytes], header: _Header) -> Any:
    """Read an array into memory; that the file has as many bytes has been checked."""
    values = np.empty(math.prod(header.shape), dtype=header.dtype)
    left = memoryview(values.view(np.uint8).data) if values.size else memoryview(b"")
    while len(left):
        data = stream.read(min(len(left), 2**24))
        if not data:  # pragma: no cover  (its size was right a moment ago)
            raise file.problem("ends too early; copy or write it again.")
        left[: len(data)] = data
        left = left[len(data) :]
    return values.reshape(header.shape, order="F" if header.columns_first else "C")


def _numbers(values: Any) -> Array:
    """Return numbers as single or double precision."""
    kept = values.dtype.newbyteorder("=")
    wanted = kept if kept in (np.float32, np.float64) else np.float64
    return np.asarray(np.ascontiguousarray(values, dtype=wanted))
