"""Pictures of the objects of a study, as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pandas as pd

from ..checking import quote
from ._proposals import own_labels

# The first bytes of a picture tell what it is. SVG is none of these: it may hold a program.
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))
SUFFIXES = ("png", "jpg", "gif", "webp")
# A thumbnail has some kilobytes.
MOST_BYTES = 10_000_000


def read_pictures(pictures: Any, objects: pd.Index) -> dict[Any, bytes]:
    """Return the bytes of pictures by the label of the object, in the order of the objects."""
    if pictures is None:
        return {}
    if not isinstance(pictures, Mapping):
        raise ValueError(f"pictures={type(pictures).__name__} must be a dictionary from labels to bytes or paths.")
    labels = own_labels(pictures, objects, "pictures")
    if len(set(labels)) < len(labels):
        twice = [label for label in objects if labels.count(label) > 1]
        raise ValueError(f"pictures has two for {quote(twice)}; give one for each object.")
    found = {label: _read(given, label) for label, given in zip(labels, pictures.values(), strict=True)}
    return {label: found[label] for label in objects if label in found}


def _read(given: Any, label: Any) -> bytes:
    if isinstance(given, str | PathLike):
        try:
            with Path(fspath(given)).open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ValueError(f"pictures[{label!r}]: {fspath(given)} cannot be read ({reason}).") from error
    elif isinstance(given, bytes | bytearray | memoryview):
        data = bytes(given)
    else:
        raise ValueError(f"pictures[{label!r}] is of type {type(given).__name__}; give bytes, or the path of a file.")
    if len(data) > MOST_BYTES:
        raise ValueError(f"pictures[{label!r}] has more than {MOST_BYTES:,} bytes; make it smaller.")
    if suffix_of(data) is None:
        raise ValueError(f"pictures[{label!r}] is no PNG, JPEG, GIF or WebP; convert it to one of them.")
    return data


def suffix_of(data: bytes) -> str | None:
    """Return the suffix of a picture by its first bytes; None if it is of no kind that a study keeps."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    return next((suffix for magic, suffix in _MAGIC if data.startswith(magic)), None)
