"""Messages between page and server: the page sends JSON, and is sent msgpack with arrays as they are in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgpack
import numpy as np

# How arrays travel: the number of the extension, and the type. The page has the same table (web/src/msgpack.ts).
_TYPES: dict[int, np.dtype[Any]] = {1: np.dtype("<f4"), 2: np.dtype("<f8"), 3: np.dtype("<i4")}


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as the page reads it; numbers that are missing or not finite are NaN or null."""
    packed: bytes = msgpack.packb(message, default=_plain, unicode_errors="surrogatepass")
    return packed


def decode(text: str | bytes) -> dict[str, Any]:
    """Read a message of the page; a ValueError if it is none."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("a message must be a JSON object.")
    return data


def _plain(value: Any) -> Any:
    """Return a value that msgpack does not know as one that it knows."""
    import pandas as pd

    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        kind = 3 if value.dtype.kind != "f" else 2 if _is_long(value) else 1
        return msgpack.ExtType(kind, np.ascontiguousarray(value, dtype=_TYPES[kind]).tobytes())
    if isinstance(value, np.generic):
        return value.item()
    return None if value is pd.NA or value is pd.NaT else str(value)


def _is_long(value: np.ndarray[Any, Any]) -> bool:
    """Whether an array has whole numbers, such as dates, that four bytes do not hold."""
    return value.dtype.itemsize > 4 and bool(np.any((np.abs(value) > 2**24) & (value == np.rint(value))))
