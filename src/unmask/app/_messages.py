"""Messages between page and server: JSON with binary buffers, the same over every transport."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

# How arrays travel; everything else is turned into one of these.
_TYPES: dict[str, np.dtype[Any]] = {"f4": np.dtype("<f4"), "i4": np.dtype("<i4"), "bytes": np.dtype("u1")}
_TYPES["f8"] = np.dtype("<f8")  # only for whole numbers that would be others in four bytes


def split(message: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Return a message as plain JSON data, and the arrays and bytes in it as buffers."""
    buffers: list[bytes] = []
    return {str(name): _plain(value, buffers) for name, value in message.items()}, buffers


def join(message: Any, buffers: list[bytes]) -> Any:
    """Put the buffers of a message back into their places; the inverse of `split`."""
    if isinstance(message, list):
        return [join(part, buffers) for part in message]
    if not isinstance(message, dict):
        return message
    if set(message) == {"buffer", "type", "shape"}:
        return _array(message, buffers)
    return {name: join(part, buffers) for name, part in message.items()}


def encode(message: Mapping[str, Any]) -> str | bytes:
    """Return a message as one frame of a WebSocket: text, or, where it has buffers, bytes."""
    data, buffers = split(message)
    if not buffers:
        return json.dumps(data, allow_nan=False)
    data["buffers"] = [len(buffer) for buffer in buffers]
    text = json.dumps(data, allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *(buffer + bytes(-len(buffer) % 8) for buffer in buffers)])


def decode(frame: str | bytes) -> dict[str, Any]:
    """Read a frame that `encode` or the page wrote; a ValueError if it is none."""
    if isinstance(frame, str):
        return _object(json.loads(frame))
    end = 4 + int.from_bytes(frame[:4], "little")
    if end > len(frame):
        raise ValueError("the text of the message is longer than the message.")
    data = _object(json.loads(frame[4:end]))
    buffers = []
    for length in data.pop("buffers", []):
        if not isinstance(length, int) or length < 0 or end + length > len(frame):
            raise ValueError("a buffer of the message is longer than the message.")
        buffers.append(frame[end : end + length])
        end += length + -length % 8
    joined: dict[str, Any] = join(data, buffers)
    return joined


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError("a message must be a JSON object.")
    return data


def _array(place: dict[str, Any], buffers: list[bytes]) -> Any:
    number, kind, shape = place["buffer"], place["type"], place["shape"]
    if not isinstance(number, int) or not 0 <= number < len(buffers) or kind not in _TYPES:
        raise ValueError(f"buffer {number!r} of type {kind!r}: there is none such in this message.")
    if kind == "bytes":
        return buffers[number]
    return np.frombuffer(buffers[number], dtype=_TYPES[kind]).reshape(shape)


def _plain(value: Any, buffers: list[bytes]) -> Any:
    """Return a value as JSON knows it; of an array or bytes the place where it is."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part, buffers) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, buffers) for part in value]
    if isinstance(value, bytes):
        return _place(buffers, value, "bytes", [len(value)])
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        kind = "i4" if value.dtype.kind != "f" else "f8" if _is_long(value) else "f4"
        return _place(buffers, np.ascontiguousarray(value, dtype=_TYPES[kind]).tobytes(), kind, list(value.shape))
    return _plain_cell(value.item() if isinstance(value, np.generic) else value)


def _is_long(value: np.ndarray[Any, Any]) -> bool:
    """Whether an array has whole numbers, such as dates, that four bytes do not hold."""
    return value.dtype.itemsize > 4 and bool(np.any((np.abs(value) > 2**24) & (value == np.rint(value))))


def _plain_cell(value: Any) -> Any:
    """Return a cell of a table: null where it is missing or not finite, text where JSON has no other form."""
    import pandas as pd

    if pd.isna(value) or (isinstance(value, float) and math.isinf(value)):
        return None
    return value if isinstance(value, str | bool | int | float) else str(value)


def _place(buffers: list[bytes], data: bytes, kind: str, shape: list[int]) -> dict[str, Any]:
    buffers.append(data)
    return {"buffer": len(buffers) - 1, "type": kind, "shape": shape}
