"""Values that a study can save, as readable JSON and as Python code."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from ..problem import FEATURE_TYPES


def require_text(text: str, what: str) -> str:
    """Return text that a file can hold; raise on half a character (a lone surrogate)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what}={text!r} has half a character at position {error.start}, which no file can hold; remove it."
        ) from None
    return text


def read_only(table: Any) -> Any:
    """Return a table over the same memory in which no cell can be set, if it holds numbers of one type."""
    kinds = {*table.dtypes} if isinstance(table, pd.DataFrame) else {table.dtype}
    kind = next(iter(kinds), None)
    if len(kinds) != 1 or not isinstance(kind, np.dtype) or kind.kind not in "fib" or table.empty:
        return table
    values = table.to_numpy().view()
    values.flags.writeable = False
    labels = {"columns": table.columns} if isinstance(table, pd.DataFrame) else {"name": table.name}
    return type(table)(values, index=table.index, copy=False, **labels)


def _kind_of(value: Any) -> Any:
    """Return the class by which a value is written; "feature type" for all of these."""
    if type(value) in FEATURE_TYPES.values():
        return "feature type"
    # No other subclass counts: it would come back as something else.
    return datetime if isinstance(value, datetime) else type(value)


# ---- JSON


def encode(value: Any) -> Any:
    """Return a value as JSON; a value without a form in JSON becomes an object with a key that begins with $."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = _kind_of(value)
    if kind not in _ENCODERS:
        raise TypeError(f"{value!r} ({type(value).__name__}) cannot be written down")
    return _ENCODERS[kind](value)


def _encode_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {encode(key): encode(part) for key, part in value.items()}
    return {"$dict": [[encode(key), encode(part)] for key, part in value.items()]}


def _encode_table(table: pd.DataFrame) -> dict[str, Any]:
    columns = [_encode_column(str(name), column) for name, column in table.items()]
    labels = None if isinstance(table.index, pd.RangeIndex) else encode(list(table.index))
    return {"$table": columns, "labels": labels, "names": "object" if table.columns.dtype == object else "str"}


def _encode_column(name: str, column: pd.Series[Any]) -> dict[str, Any]:
    described = {"name": encode(name), "type": str(column.dtype)}
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = {"levels": encode(list(column.cat.categories)), "ordered": bool(column.cat.ordered)}
        return described | levels | {"cells": column.cat.codes.tolist()}
    if column.dtype.kind == "f" and not np.isinf(column).any():
        return described | {"cells": [None if math.isnan(cell) else cell for cell in column.tolist()]}
    return described | {"cells": encode(column.tolist())}


_ENCODERS: dict[Any, Callable[[Any], Any]] = {
    **dict.fromkeys((type(None), bool, int), lambda value: value),
    str: lambda value: require_text(value, "text"),
    float: lambda value: value if math.isfinite(value) else {"$float": str(value)},
    list: lambda value: [encode(part) for part in value],
    tuple: lambda value: {"$tuple": [encode(part) for part in value]},
    dict: _encode_dict,
    datetime: lambda value: {"$time": value.isoformat()},
    pd.DataFrame: _encode_table,
    "feature type": lambda value: {"$type": type(value).__name__} | {k: encode(v) for k, v in _given(value).items()},
}


def _given(feature_type: Any) -> dict[str, Any]:
    return {part.name: getattr(feature_type, part.name) for part in fields(feature_type)}


def decode(found: dict[str, Any]) -> Any:
    """Return the value of an object of JSON, as an `object_hook` of `json.loads`; raise on an unknown mark."""
    tag = next((key for key in found if key.startswith("$")), None)
    if tag is None:
        return found
    if tag not in _DECODERS:
        raise ValueError(f"the mark {tag!r} is unknown")
    return _DECODERS[tag](found)


def _decode_type(found: dict[str, Any]) -> Any:
    types = {kind.__name__: kind for kind in FEATURE_TYPES.values()}
    name = found.pop("$type")
    if name not in types:
        raise ValueError(f"{name!r} is not a type of a feature")
    return types[name](**found)


def _decode_table(found: dict[str, Any]) -> pd.DataFrame:
    labels, columns = found["labels"], found["$table"]
    rows = pd.RangeIndex(len(columns[0]["cells"]) if columns else 0)
    rows = rows if labels is None else pd.Index(labels, tupleize_cols=False)
    cells = [_decode_column(column).set_axis(rows) for column in columns]
    names = pd.Index([column["name"] for column in columns], dtype=object if found["names"] == "object" else "str")
    return pd.DataFrame(dict(enumerate(cells)), index=rows).set_axis(names, axis=1)


def _decode_column(column: dict[str, Any]) -> pd.Series[Any]:
    if column["type"] == "category":
        levels = pd.Index(column["levels"], tupleize_cols=False)
        return pd.Series(pd.Categorical.from_codes(column["cells"], levels, ordered=column["ordered"]))
    return pd.Series(object_array(column["cells"]), dtype=object).astype(column["type"])


def object_array(cells: list[Any]) -> Any:
    """Return any cells as a one-dimensional array; with a cell more, because NumPy would unpack tuples."""
    return np.array([*cells, None], dtype=object)[:-1]


_DECODERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "$float": lambda found: float(found["$float"]),
    "$tuple": lambda found: tuple(found["$tuple"]),
    "$dict": lambda found: dict(found["$dict"]),
    "$time": lambda found: pd.Timestamp(found["$time"]),
    "$table": _decode_table,
    "$type": _decode_type,
}


def plain(value: Any, what: str, way_out: str) -> Any:
    """Return a value as it comes back from a file; raise if it cannot be saved."""
    try:
        written = encode(value)
        return value if written is value else json.loads(json.dumps(written), object_hook=decode)
    except (TypeError, ValueError):
        shown = " ".join(repr(value).split())
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise ValueError(
            f"{what}={shown} is a {type(value).__name__}, which cannot be written into a study that people "
            f"can read; {way_out}"
        ) from None


# ---- code


def as_code(value: Any) -> str:
    """Return Python code for a value that can be saved, made of literals only; pandas is called pd."""
    kind = _kind_of(value)
    if kind not in _CODERS:  # its repr could be any code
        raise TypeError(f"{type(value).__name__} cannot be written down as code")
    return _CODERS[kind](value)


def _code_of_type(value: Any) -> str:
    named = [f"{k}={as_code(part)}" for k, part in _given(value).items() if part is not None and part is not False]
    return f"{type(value).__name__}({', '.join(named)})"


def _quoted(text: str) -> str:
    """Return text in double quotes where these need no escape, as formatters of code do."""
    quoted = repr(text)
    return f'"{quoted[1:-1]}"' if quoted[0] == "'" and '"' not in text and "\\'" not in quoted else quoted


_CODERS: dict[Any, Callable[[Any], str]] = {
    **dict.fromkeys((type(None), bool, int), repr),
    float: lambda value: repr(value) if math.isfinite(value) else f'float("{value}")',
    str: _quoted,
    list: lambda value: f"[{', '.join(map(as_code, value))}]",
    tuple: lambda value: f"({', '.join(map(as_code, value))}{',' if len(value) == 1 else ''})",
    dict: lambda value: f"{{{', '.join(f'{as_code(key)}: {as_code(part)}' for key, part in value.items())}}}",
    datetime: lambda value: f"pd.Timestamp({as_code(value.isoformat())})",
    "feature type": _code_of_type,
}
