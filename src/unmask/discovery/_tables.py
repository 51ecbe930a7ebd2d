"""Tables of a study as files that people can read, from which every cell comes back with its type."""

from __future__ import annotations

import io
import json
import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel

from ..checking import is_missing, require_package
from ..io import unescape, write_table
from ._values import decode, encode

Format = Literal["csv", "parquet"]
# Later versions of pandas read numbers exactly by themselves.
EXACT: Any = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}


class Column(BaseModel):
    """What study.json says about a column: with it the cells come back with their type."""

    name: str
    kind: Literal["float", "int", "bool", "text", "cells"]
    missing: list[int] = []  # rows; an empty cell may also be empty text
    levels: list[Any] | None = None  # of a category, in order
    ordered: bool = False


def describe(column: pd.Series[Any]) -> Column:
    """Return what is saved about a column in study.json, to read it back with its type."""
    levels = getattr(column.dtype, "categories", None)
    cells = column if levels is None else levels.to_series()
    kind: Any = {"f": "float", "i": "int", "b": "bool"}.get("" if levels is not None else cells.dtype.kind)
    kind = kind or ("text" if all(type(cell) is str for cell in cells if not is_missing(cell)) else "cells")
    gaps = [] if kind == "float" else np.flatnonzero(column.isna().to_numpy()).tolist()
    described = Column(name=str(column.name), kind=kind, missing=gaps)
    if levels is not None:
        described.levels, described.ordered = list(levels), bool(column.cat.ordered)
    return described


def write_cells(table: pd.DataFrame, columns: list[Column], path: Any, file_format: Format) -> None:
    """Write a table: labels as text in the first column, then the columns as numbers or text."""
    frame = pd.concat(
        [pd.Series([str(label) for label in table.index], dtype=object)]
        + [_written(table.iloc[:, at], column).reset_index(drop=True) for at, column in enumerate(columns)],
        axis=1,
    )
    label = "object"
    while any(column.name == label for column in columns):
        label += "_"
    named = frame.set_axis([label, *(column.name for column in columns)], axis=1)
    write_table(named, path, format=file_format)


def _written(column: pd.Series[Any], described: Column) -> pd.Series[Any]:
    """Return a column as numbers or text, which any file format can hold."""
    if described.kind in ("float", "int"):
        return column.astype(np.float64 if described.kind == "float" else np.int64)
    write = _as_json if described.kind == "cells" else str
    cells = [None if gap else write(cell) for cell, gap in zip(column, column.isna(), strict=True)]
    return pd.Series(cells, dtype=object)


def _as_json(cell: Any) -> str:
    return json.dumps(encode(cell), ensure_ascii=False)


def read_table(data: bytes, columns: list[Column], labels: pd.Index, file_format: Format) -> pd.DataFrame:
    """Return a table from the bytes of its file."""
    names = [str(at) for at in range(len(columns) + 1)]
    if file_format == "parquet":
        require_package("pyarrow", "reading Parquet files", "files")
        frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow").set_axis(names, axis=1)
    else:
        numbers = {name for name, column in zip(names[1:], columns, strict=True) if column.kind == "float"}
        types = {name: np.float64 if name in numbers else str for name in names}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.ParserWarning)  # of cells that are not in any column
            frame = pd.read_csv(
                io.BytesIO(data),
                names=names,
                header=0,
                index_col=False,
                dtype=types,
                keep_default_na=False,
                na_values=dict.fromkeys(numbers, ""),
                **EXACT,
            )
        for name, column in zip(names[1:], columns, strict=True):
            if column.kind in ("text", "cells"):
                frame[name] = frame[name].astype(object).map(unescape)
    if len(frame) != len(labels):
        raise ValueError(f"a table has {len(frame)} rows for {len(labels)} objects")
    if all(column.kind == "float" for column in columns):  # such as N x N dissimilarities
        return frame.iloc[:, 1:].astype(np.float64).set_axis([c.name for c in columns], axis=1).set_axis(labels, axis=0)
    read = [_read(frame[name], column, labels) for name, column in zip(names[1:], columns, strict=True)]
    return pd.concat(read, axis=1)


def _read(cells: pd.Series[Any], described: Column, labels: pd.Index) -> pd.Series[Any]:
    types: dict[str, Any] = {"float": np.float64, "int": np.int64, "bool": bool}
    gaps, kind = set(described.missing), described.kind
    if kind in ("float", "int"):
        values: Any = cells.astype(types[kind]).to_numpy()
    else:
        read = _READERS[kind]
        texts = [None if row in gaps else read(str(cell)) for row, cell in enumerate(cells)]
        values = np.array([*texts, None], dtype=object)[:-1].astype(types.get(kind, object))
    if described.levels is not None:
        values = pd.Categorical(values, pd.Index(described.levels, tupleize_cols=False), ordered=described.ordered)
    dtype = object if values.dtype == object else None
    return pd.Series(values, index=labels, name=described.name, dtype=dtype)


_READERS: dict[str, Any] = {
    "bool": {"True": True, "False": False}.__getitem__,
    "text": str,
    "cells": lambda cell: json.loads(cell, object_hook=decode),
}
