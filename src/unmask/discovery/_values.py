"""Values that a study can save, as readable JSON and as Python code."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any

import numpy as np

from ..problem import FEATURE_TYPES


def encode(value: Any) -> Any:
    """Return a value as JSON; what JSON has no form for becomes an object with a key that begins with $.

    Raises
    ------
    TypeError
        On anything that is no number, text, truth value, moment, list, tuple, dictionary or type of a feature.
    """
    if isinstance(value, np.generic):
        value = value.item()
    kind = _kind_of(value)
    if kind not in _ENCODERS:
        raise TypeError(f"{value!r} ({type(value).__name__}) cannot be written down")
    return _ENCODERS[kind](value)


def _kind_of(value: Any) -> Any:
    """Return the class by which a value is written down; the name of the tables for types of features."""
    if type(value) in FEATURE_TYPES.values():
        return "feature type"
    # Subclasses, such as enumerations, would come back as something else; of moments there are Python's and pandas'.
    return datetime if isinstance(value, datetime) else type(value)


def _encode_type(value: Any) -> dict[str, Any]:
    parts = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    return {"$type": type(value).__name__, **parts}


def _encode_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: encode(part) for key, part in value.items()}
    return {"$dict": [[encode(key), encode(part)] for key, part in value.items()]}


_ENCODERS: dict[Any, Callable[[Any], Any]] = {
    **dict.fromkeys((type(None), bool, int, str), lambda value: value),
    float: lambda value: value if math.isfinite(value) else {"$float": str(value)},
    list: lambda value: [encode(part) for part in value],
    tuple: lambda value: {"$tuple": [encode(part) for part in value]},
    dict: _encode_dict,
    datetime: lambda value: {"$time": value.isoformat()},
    "feature type": _encode_type,
}


def decode(value: Any) -> Any:
    """Return the value that was encoded.

    Raises
    ------
    ValueError
        On an object whose key begins with $ and is none of those that `encode` writes.
    """
    if isinstance(value, list):
        return [decode(part) for part in value]
    if not isinstance(value, dict):
        return value
    tag = next((key for key in value if key.startswith("$")), None)
    if tag is None:
        return {key: decode(part) for key, part in value.items()}
    if tag not in _DECODERS:
        raise ValueError(f"{tag!r} is no mark that this version knows")
    return _DECODERS[tag](value)


def _decode_type(value: dict[str, Any]) -> Any:
    types, name = {kind.__name__: kind for kind in FEATURE_TYPES.values()}, value["$type"]
    if name not in types:
        raise ValueError(f"{name!r} is no type of a feature")
    return types[name](**{key: decode(part) for key, part in value.items() if key != "$type"})


def _decode_time(value: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.Timestamp(value["$time"])


_DECODERS: dict[str, Any] = {
    "$float": lambda value: float(value["$float"]),
    "$tuple": lambda value: tuple(decode(part) for part in value["$tuple"]),
    "$dict": lambda value: {decode(key): decode(part) for key, part in value["$dict"]},
    "$time": _decode_time,
    "$type": _decode_type,
}


def plain(value: Any, what: str, way_out: str) -> Any:
    """Return a value as it comes back from a file; raise if it cannot be saved."""
    try:
        return decode(encode(value))
    except TypeError:
        raise ValueError(
            f"{what}={_short(value)} is a {type(value).__name__}, which cannot be written into a study that people "
            f"can read; {way_out}"
        ) from None


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_code(value: Any) -> str:
    """Return Python code for a value that can be saved; pandas is called pd.

    Raises
    ------
    TypeError
        On any other value: code is made of literals only.
    """
    kind = _kind_of(value)
    if kind not in _CODERS:  # its repr would be code that somebody else wrote
        raise TypeError(f"{type(value).__name__} cannot be written down as code")
    return _CODERS[kind](value)


def _code_of_tuple(value: Any) -> str:
    return f"({', '.join(map(as_code, value))}{',' if len(value) == 1 else ''})"


def _code_of_dict(value: Any) -> str:
    return f"{{{', '.join(f'{as_code(key)}: {as_code(part)}' for key, part in value.items())}}}"


def _code_of_type(value: Any) -> str:
    given = {field.name: getattr(value, field.name) for field in fields(value)}
    told = [name for name, part in given.items() if part is not None and part is not False]  # no bound, no log
    return f"{type(value).__name__}({', '.join(f'{name}={as_code(given[name])}' for name in told)})"


def _quoted(text: str) -> str:
    """Return text in double quotes where these need no escape, as formatters of code do."""
    quoted = repr(text)
    return f'"{quoted[1:-1]}"' if quoted[0] == "'" and '"' not in text and "\\'" not in quoted else quoted


_CODERS: dict[Any, Callable[[Any], str]] = {
    **dict.fromkeys((type(None), bool, int), repr),
    float: lambda value: repr(value) if math.isfinite(value) else f'float("{value}")',
    str: _quoted,
    list: lambda value: f"[{', '.join(map(as_code, value))}]",
    tuple: _code_of_tuple,
    dict: _code_of_dict,
    datetime: lambda value: f"pd.Timestamp({as_code(value.isoformat())})",
    "feature type": _code_of_type,
}
