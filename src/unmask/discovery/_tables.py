"""Tables of a study as files that people can read, from which every cell comes back with its type."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import is_missing, require_package
from ..io import unescape
from ._values import decode, encode

if TYPE_CHECKING:
    import pandas as pd

LABELS = "object"
FORMATS = ("csv", "parquet")


class WrongTableError(ValueError):
    """A table is not what study.json says; the message goes on after the name of the file."""


# ---- columns


def describe(column: pd.Series[Any]) -> dict[str, Any]:
    """Return what is saved about a column in study.json, to read it back with its type."""
    kind = column.dtype
    if isinstance(levels := getattr(kind, "categories", None), type(None)):
        names = {"f": "float", "i": "int", "b": "bool"}
        name = names.get(kind.kind) or ("text" if _is_text(column) else "cells")
        described: dict[str, Any] = {"name": str(column.name), "kind": name}
    else:
        described = {"name": str(column.name), "kind": "category", "levels": [encode(level) for level in levels]}
        described["ordered"] = bool(kind.ordered)  # type: ignore[union-attr]
    missing = np.flatnonzero(column.isna().to_numpy())
    # An empty cell may be empty text; of a column of numbers it can only be missing.
    return described | ({"missing": missing.tolist()} if described["kind"] != "float" and len(missing) else {})


def _is_text(column: pd.Series[Any]) -> bool:
    return all(type(cell) is str for cell in column if not is_missing(cell))


def to_cells(column: pd.Series[Any], described: dict[str, Any]) -> pd.Series[Any]:
    """Return a column as numbers or text, which any file format can hold."""
    import pandas as pd

    kind = described["kind"]
    if kind in ("float", "int"):
        return column.astype(np.float64 if kind == "float" else np.int64)
    write = _writer(described)
    cells = [None if gap else write(cell) for cell, gap in zip(column, column.isna(), strict=True)]
    return pd.Series(cells, index=column.index, name=column.name, dtype=object)


def _writer(described: dict[str, Any]) -> Callable[[Any], str]:
    if described["kind"] == "category":
        texts = _level_texts(described["levels"])
        return lambda cell: texts[json.dumps(encode(cell))]
    return _WRITERS[described["kind"]]


_WRITERS: dict[str, Callable[[Any], str]] = {
    "bool": str,
    "text": str,
    "cells": lambda cell: json.dumps(encode(cell), ensure_ascii=False),
}


def _level_texts(levels: list[Any]) -> dict[str, str]:
    """Return how each level (as JSON) is written: as its text, or as JSON if two levels have the same text."""
    keys, texts = [json.dumps(level) for level in levels], [str(decode(level)) for level in levels]
    return dict(zip(keys, texts if len(set(texts)) == len(texts) else keys, strict=True))


def from_cells(cells: list[Any], described: dict[str, Any], labels: pd.Index) -> pd.Series[Any]:
    """Return a column from its cells (text, or numbers of their own type).

    Raises
    ------
    WrongTableError
        If a cell is not of the column's type.
    """
    import pandas as pd

    name, kind, gaps = described["name"], described["kind"], set(described.get("missing", []))
    read = _reader(described)
    values = [None if row in gaps else _cell(read, cell, row, name, kind) for row, cell in enumerate(cells)]
    if kind == "category":
        dtype = pd.CategoricalDtype([decode(level) for level in described["levels"]], bool(described["ordered"]))
        return pd.Series(pd.Categorical(values, dtype=dtype), index=labels, name=name)
    types: dict[str, Any] = {"float": np.float64, "int": np.int64, "bool": bool}
    if kind in types:
        return pd.Series(np.array(values, dtype=types[kind]), index=labels, name=name)
    return pd.Series(np.array([*values, None], dtype=object)[:-1], index=labels, name=name, dtype=object)


def _reader(described: dict[str, Any]) -> Callable[[Any], Any]:
    if described["kind"] == "category":
        texts = _level_texts(described["levels"])
        back = {text: decode(json.loads(key)) for key, text in texts.items()}
        return back.__getitem__
    return _READERS[described["kind"]]


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda cell: np.nan if cell in ("", None) else float(cell),
    "int": int,
    "bool": {"True": True, "False": False}.__getitem__,
    "text": lambda cell: cell,
    "cells": lambda cell: decode(json.loads(cell)),
}
KINDS = (*_READERS, "category")


def _cell(read: Callable[[Any], Any], cell: Any, row: int, name: str, kind: str) -> Any:
    try:
        return read(cell)
    except (KeyError, ValueError, TypeError):
        raise WrongTableError(
            f"has {cell!r} in row {row + 2}, column {name!r}, which is no cell of type {kind}"
        ) from None


# ---- files


def to_frame(table: pd.DataFrame, columns: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a table to be written: labels as text in the first column, then the columns."""
    import pandas as pd

    names = header_of(columns)
    if all(described["kind"] == "float" for described in columns):  # such as N² dissimilarities, all at once
        frame = table.astype(np.float64).reset_index(drop=True).set_axis(names[1:], axis=1)
        frame.insert(0, names[0], [str(label) for label in table.index])
        return frame
    cells = [to_cells(table.iloc[:, at], described) for at, described in enumerate(columns)]
    labels = pd.Series([str(label) for label in table.index], dtype=object)
    frame = pd.concat([labels, *(column.reset_index(drop=True) for column in cells)], axis=1)
    return frame.set_axis(names, axis=1)


def header_of(columns: list[dict[str, Any]]) -> list[str]:
    """Return the names of all columns in the file; the first is that of the labels, unlike any other."""
    names = [described["name"] for described in columns]
    first = LABELS
    while first in names:
        first += "_"
    return [first, *names]


def read_cells(data: bytes, file_format: str) -> tuple[list[str], list[list[Any]]]:
    """Return the header and the columns of a file.

    Raises
    ------
    WrongTableError
        If the bytes are no table.
    """
    return {"csv": _read_csv, "parquet": _read_parquet}[file_format](data)


def _read_csv(data: bytes) -> tuple[list[str], list[list[Any]]]:
    try:
        text = data.decode("utf-8")
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        raise WrongTableError(f"is no CSV table ({error})") from None
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise WrongTableError(f"has {len(row)} cells in row {number + 2} but {len(header)} column names")
    columns = [[unescape(row[at]) for row in rows] for at in range(len(header))]
    return [unescape(name) for name in header], columns


def _read_parquet(data: bytes) -> tuple[list[str], list[list[Any]]]:
    import pandas as pd

    pyarrow = require_package("pyarrow", "reading Parquet files", "files")
    try:
        frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise WrongTableError(f"is no Parquet table ({str(error).partition(chr(10))[0]})") from None
    return [str(name) for name in frame.columns], [frame.iloc[:, at].tolist() for at in range(frame.shape[1])]
