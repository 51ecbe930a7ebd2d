"""Writing tables and JSON: whole files or none, exact numbers, and text that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from functools import partial
from numbers import Integral, Number, Real
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..checking import is_missing, is_pandas, is_unlabelled, quote, require_choice, require_package
from ._atomic import atomic_path
from ._cells import escape
from ._files import one_line, problem

if TYPE_CHECKING:
    import pandas as pd


def write_table(frame: pd.DataFrame, path: str | PathLike[str], *, format: str | None = None) -> Path:  # noqa: A002
    """Write a table as CSV, TSV, Parquet or JSON.

    Parameters
    ----------
    frame : DataFrame or Series
        The table. Its index is written too, unless pandas made it up itself (0, 1, 2 …).
    path : str or path
        The file. It is written whole or not at all; a file of that name is replaced.
    format : {"csv", "tsv", "parquet", "json"}, optional
        The format; by default the suffix of ``path`` says it. ``.gz`` after the suffix of a text format compresses.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    FileProblem
        If the suffix says no format, or the file cannot be written.
    ValueError
        If the table cannot be written in this format.

    Notes
    -----
    Text that a spreadsheet would run as a formula gets an apostrophe before it in CSV and TSV, which `read_table` takes
    off. Numbers have as many digits as it takes to read them back exactly. JSON is a list of records.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [-0.5, 1.0]}, index=pd.Index(["=Ada", "Bo"], name="who"))
    >>> file = write_table(frame, Path(tempfile.mkdtemp()) / "map.csv")
    >>> print(file.read_text(encoding="utf-8"))
    who,x
    '=Ada,-0.5
    Bo,1.0
    <BLANKLINE>
    """
    frame = _as_frame(frame)
    require_choice("format", format, (*_WRITERS, None))
    chosen = format or Path(Path(path).name.lower().removesuffix(".gz")).suffix.removeprefix(".")
    if chosen not in _WRITERS:
        raise problem(
            path,
            f"the suffix {'.' + chosen if chosen else '(none)'} says no format to write; use .csv, .tsv, .parquet or "
            ".json (.gz after it compresses), or pass format=.",
        )
    with atomic_path(path) as draft:
        _WRITERS[chosen](frame, draft)
    return Path(path)


def write_json(data: Any, path: str | PathLike[str]) -> Path:
    """Write data as JSON that people can read too.

    Parameters
    ----------
    data : dict, list, number, text, array, DataFrame, …
        What to write: keys keep their order, arrays become lists, tables lists of records.
    path : str or path
        The file. It is written whole or not at all; ``.gz`` at its end compresses.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    FileProblem
        If the file cannot be written.
    TypeError
        If the data hold something that JSON has no form for.

    Notes
    -----
    NaN becomes null, and infinite numbers the text "Infinity" or "-Infinity", which ``float`` understands.

    Examples
    --------
    >>> import tempfile
    >>> file = write_json({"stress": 0.25, "path": [1, float("nan")]}, Path(tempfile.mkdtemp()) / "fit.json")
    >>> print(file.read_text(encoding="utf-8"))
    {
      "stress": 0.25,
      "path": [
        1,
        null
      ]
    }
    <BLANKLINE>
    """
    plain = plain_data(data)  # before the file is touched
    with atomic_path(path) as draft, _text_file(draft) as file:
        json.dump(plain, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
    return Path(path)


# ---- formats


def _as_frame(data: Any) -> pd.DataFrame:
    import pandas as pd

    if not is_pandas(data):
        raise ValueError(f"frame={type(data).__name__} must be a pandas DataFrame or Series; make one first.")
    if not hasattr(data, "columns"):
        data = data.to_frame("value" if data.name is None else data.name)
    if isinstance(data.columns, pd.MultiIndex):
        raise ValueError(
            f"frame has {data.columns.nlevels} rows of column names and a file has one; join them, for example by "
            "frame.columns.map('/'.join)."
        )
    frame: pd.DataFrame = data
    return frame


def _with_labels(frame: pd.DataFrame, unnamed: str) -> pd.DataFrame:
    """Return a table whose first columns are the labels, unless pandas made them up."""
    if is_unlabelled(frame.index):
        return frame
    many = unnamed and frame.index.nlevels > 1
    names = [
        (f"{unnamed} {at}" if many else unnamed) if name is None else str(name)
        for at, name in enumerate(frame.index.names, 1)
    ]
    return frame.set_axis(frame.index.set_names(names), axis=0).reset_index(allow_duplicates=True)


def _write_text(frame: pd.DataFrame, draft: Path, delimiter: str) -> None:
    import pandas as pd
    from pandas.api import types

    table = _with_labels(frame, "")
    columns = []
    for at in range(table.shape[1]):
        column = table.iloc[:, at]
        kind = column.dtype
        plain = types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) or types.is_datetime64_any_dtype(kind)
        columns.append(column if plain else pd.Series(map(_escaped, column.astype(object)), dtype=object))
    safe: pd.DataFrame = pd.concat(columns, axis=1) if columns else table
    safe.columns = pd.Index([escape(name) for name in table.columns], dtype=object)
    texts = [*safe.columns, *(cell for _, column in safe.items() if column.dtype.kind == "O" for cell in column)]
    # A lone carriage return would end the row, and the csv module may not quote it; blanks around a cell are not read.
    quote_all = any(isinstance(text, str) and ("\r" in text or text != text.strip()) for text in texts)
    with _text_file(draft) as file:
        safe.to_csv(
            file,
            sep=delimiter,
            index=False,
            lineterminator="\n",
            quoting=csv.QUOTE_NONNUMERIC if quote_all else csv.QUOTE_MINIMAL,
        )


def _escaped(cell: Any) -> Any:
    if is_missing(cell):
        return None
    return cell if isinstance(cell, Number | np.bool_ | date) else escape(str(cell))


def _write_parquet(frame: pd.DataFrame, draft: Path) -> None:
    pyarrow = require_package("pyarrow", "writing Parquet files", "files")
    if draft.name.lower().endswith(".gz"):
        raise ValueError("Parquet files are compressed already; leave .gz off the name.")
    try:
        frame.to_parquet(draft, engine="pyarrow", index=None if is_unlabelled(frame.index) else True)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise ValueError(
            f"frame cannot be written as Parquet ({one_line(error)}); give each column cells of one type, and each "
            "column a name of its own, or write CSV."
        ) from error


def _write_records(frame: pd.DataFrame, draft: Path) -> None:
    # One row per line: as easy to compare as CSV.
    lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) for record in _records(frame)]
    with _text_file(draft) as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n")


_WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "csv": partial(_write_text, delimiter=","),
    "tsv": partial(_write_text, delimiter="\t"),
    "parquet": _write_parquet,
    "json": _write_records,
}


@contextmanager
def _text_file(draft: Path) -> Iterator[IO[str]]:
    """Open a file for text, compressed if its name ends in .gz; the same text always gives the same bytes."""
    if not draft.name.lower().endswith(".gz"):
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    with (
        draft.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as file,
    ):
        yield file


# ---- plain data for JSON


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    table = _with_labels(frame, "label")
    names = [str(name) for name in table.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"frame has two columns of the name {quote(repeated)}, which JSON cannot hold; rename one.")
    columns = [[plain_data(cell) for cell in table.iloc[:, at].astype(object)] for at in range(table.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def plain_data(data: Any) -> Any:
    """Return data as types that JSON has."""
    for known, convert in _PLAIN:
        if isinstance(data, known) and type(data).__name__ != "NaTType":  # pandas' missing date claims to be a date
            return convert(data)
    if is_pandas(data):
        return _records(_as_frame(data))
    if is_missing(data):
        return None
    if hasattr(data, "isoformat"):
        return data.isoformat()
    raise TypeError(f"data of type {type(data).__name__} have no form in JSON; turn them into numbers, text or lists.")


def _plain_number(value: Any) -> float | str | None:
    number = float(value)
    if math.isnan(number):
        return None
    return number if math.isfinite(number) else "Infinity" if number > 0 else "-Infinity"


def _plain_list(values: Any) -> list[Any]:
    return [plain_data(value) for value in values]


# In this order: True is an integer, and numpy's float64 a float.
_PLAIN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (type(None), lambda data: data),
    (str, str),
    (bool | np.bool_, bool),
    (Integral, int),
    (Real, _plain_number),
    (PathLike, fspath),
    (Mapping, lambda data: {str(key): plain_data(value) for key, value in data.items()}),
    (np.ndarray, lambda data: plain_data(data.tolist())),
    (list | tuple, _plain_list),
    (set | frozenset, lambda data: _plain_list(sorted(data))),
    (date | time, lambda data: data.isoformat()),
)
