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
    In CSV and TSV, text that begins with ``= + - @``, a tab or a line break gets an apostrophe before it, in cells,
    labels and column names: a spreadsheet would run it as a formula. Numbers never do. `read_table` takes the
    apostrophe off. Numbers are written with as many digits as it takes to read them back exactly, and a missing cell
    is empty. JSON is a list of records, one per row; missing cells are null, and infinite ones the text "Infinity".

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
    chosen = format or _format_of(path)
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
    NaN becomes null, and infinite numbers the text "Infinity" or "-Infinity", which ``float`` understands: JSON has
    neither.

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


def _format_of(path: str | PathLike[str]) -> str:
    name = Path(path).name.lower().removesuffix(".gz")
    suffix = Path(name).suffix.removeprefix(".")
    if suffix not in _WRITERS:
        raise problem(
            path,
            f"the suffix {'.' + suffix if suffix else '(none)'} says no format to write; use .csv, .tsv, .parquet or "
            ".json (.gz after it compresses), or pass format=.",
        )
    return suffix


def _as_frame(data: Any) -> pd.DataFrame:
    import pandas as pd

    if not is_pandas(data):
        raise ValueError(f"frame={type(data).__name__} must be a pandas DataFrame or Series; make one first.")
    if hasattr(data, "columns"):
        frame: pd.DataFrame = data
    else:
        frame = data.to_frame("value" if data.name is None else data.name)
    if isinstance(frame.columns, pd.MultiIndex):
        raise ValueError(
            f"frame has {frame.columns.nlevels} rows of column names and a file has one; join them, for example by "
            "frame.columns.map('/'.join)."
        )
    return frame


def _write_text(frame: pd.DataFrame, draft: Path, delimiter: str) -> None:
    safe = _escaped(frame)
    with _text_file(draft) as file:
        safe.to_csv(
            file,
            sep=delimiter,
            index=not is_unlabelled(frame.index),
            lineterminator="\n",
            quoting=csv.QUOTE_NONNUMERIC if _needs_quotes(safe) else csv.QUOTE_MINIMAL,
        )


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
    records = _records(frame)
    with _text_file(draft) as file:
        # One row per line: as easy to compare as CSV.
        lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records)
        file.write("[\n" + ",\n".join(lines) + "\n]\n" if records else "[]\n")


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


# ---- text that is safe in a spreadsheet


def _escaped(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its text escaped, in cells, labels and names."""
    import pandas as pd

    columns = [_escaped_cells(frame.iloc[:, at]) for at in range(frame.shape[1])]
    index = _escaped_index(frame.index)
    safe = pd.concat(columns, axis=1) if columns else frame.copy()
    return safe.set_axis(index, axis=0).set_axis(
        pd.Index([escape(name) for name in frame.columns], dtype=object), axis=1
    )


def _escaped_index(index: pd.Index) -> pd.Index:
    import pandas as pd

    names = [escape(name) for name in index.names]
    if isinstance(index, pd.MultiIndex):
        levels = [_escaped_cells(index.get_level_values(at).to_series()) for at in range(index.nlevels)]
        return pd.MultiIndex.from_arrays([level.to_numpy() for level in levels], names=names)
    if is_unlabelled(index):
        return index
    labels: pd.Index = pd.Index(_escaped_cells(index.to_series()).to_numpy(), name=names[0])
    return labels


def _escaped_cells(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column with its text escaped; columns of numbers, truth values and dates as they are."""
    import pandas as pd
    from pandas.api import types

    kind = column.dtype
    if types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) or types.is_datetime64_any_dtype(kind):
        return column
    cells = [_escaped_cell(cell) for cell in column.astype(object)]
    return pd.Series(cells, index=column.index, name=column.name, dtype=object)


def _escaped_cell(cell: Any) -> Any:
    if is_missing(cell):
        return None
    return cell if isinstance(cell, Number | np.bool_ | date) else escape(str(cell))


def _needs_quotes(frame: pd.DataFrame) -> bool:
    """Tell whether some text must be quoted to be read back as it is.

    A lone carriage return would end the row, and the csv module may not quote it; blanks around a cell are not read.
    """
    texts: list[Any] = [*frame.columns, *frame.index.names]
    columns: list[Any] = [frame.index.get_level_values(at) for at in range(frame.index.nlevels)]
    for column in [*columns, *(frame.iloc[:, at] for at in range(frame.shape[1]))]:
        texts += list(column) if column.dtype.kind == "O" else []
    return any(isinstance(text, str) and ("\r" in text or text != text.strip()) for text in texts)


# ---- plain data for JSON


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    if is_unlabelled(frame.index):
        table = frame
    else:
        made_up = ["label"] if frame.index.nlevels == 1 else [f"label {at + 1}" for at in range(frame.index.nlevels)]
        names = [own if name is None else str(name) for name, own in zip(frame.index.names, made_up, strict=True)]
        table = frame.set_axis(frame.index.set_names(names), axis=0).reset_index(allow_duplicates=True)
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
