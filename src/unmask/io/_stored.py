"""Reading files other than text: npy, npz, Parquet, JSON and Excel."""

from __future__ import annotations

import csv
import io
import json
import warnings
from dataclasses import replace
from datetime import date, time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import quote, require_package
from ._input_file import InputFile
from ._problems import FileProblem, one_line, times
from ._text import FormatOptions, Text, open_text

if TYPE_CHECKING:
    import pandas as pd

_LABEL_NAMES = ("labels", "label", "ids", "id", "names", "index")
_SPARSE_CELLS = 10**6  # from which JSON records may not be nearly empty


def read_stored(file: InputFile, options: FormatOptions) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a file of typed cells; labels stored with them are the index. Also return phrases that describe it."""
    file.stream.seek(0)
    frame, detected = {"npy": _numpy, "npz": _numpy, "parquet": _parquet, "json": _json}[file.kind](file, options)
    if not frame.size:
        raise file.problem(f"holds a {times(*frame.shape)} table, which has no cells; write the table again.")
    return frame, detected


# ---- NumPy


def _numpy(file: InputFile, _: FormatOptions) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers of old versions
            loaded = np.load(file.stream, allow_pickle=False)
            arrays = {"": loaded} if file.kind == "npy" else {name: loaded[name] for name in loaded.files}
            rest = file.stream.read(1) if file.kind == "npy" else b""
    except MemoryError:
        raise
    except Exception as error:  # a damaged file can cause any error
        raise file.problem(
            f"is damaged, cut off, or holds Python objects ({one_line(error)}); write an array of numbers again."
        ) from error
    if rest:
        raise file.problem("goes on behind its array; write one array alone.")
    numeric = {name: array for name, array in arrays.items() if array.dtype.kind in "biuf" and array.ndim}
    if len(numeric) != 1:
        held = f"several arrays of numbers ({quote(numeric)})" if numeric else "no array of numbers"
        raise file.problem(f"holds {held}, and one is expected; write that one alone, with labels as text if you like.")
    ((name, values),) = numeric.items()
    if values.ndim > 2:
        raise file.problem(f"holds a {times(*values.shape)} array; a table has rows and columns.")
    native = values.dtype.newbyteorder("=")
    values = np.ascontiguousarray(values, dtype=native if native in (np.float32, np.float64) else np.float64)
    frame = pd.DataFrame(values if values.ndim == 2 else values[:, None], copy=False)
    if file.kind == "npy":
        return frame, ("NumPy array",)
    texts = {name: array for name, array in arrays.items() if array.dtype.kind in "US" and array.ndim == 1}
    named = next((name for name in texts if name.lower() in _LABEL_NAMES), next(iter(texts), None))
    if named is None:
        return frame, ("NumPy archive", f"array {name!r}")
    labels = [label.decode("utf-8", "replace") if isinstance(label, bytes) else str(label) for label in texts[named]]
    if len(labels) != len(frame):
        raise file.problem(f"holds {len(labels)} labels for {len(frame)} rows; name each once.")
    return frame.set_axis(labels, axis=0), ("NumPy archive", f"array {name!r}", f"labels from {named!r}")


# ---- Parquet


def _parquet(file: InputFile, _: FormatOptions) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a Parquet file; text is counted before it is unpacked, since a dictionary can repeat a long one cheaply."""
    parquet = require_package("pyarrow.parquet", "reading Parquet files", "files")
    pa = require_package("pyarrow", "reading Parquet files", "files")
    compute = require_package("pyarrow.compute", "reading Parquet files", "files")

    try:
        schema = parquet.read_schema(file.stream)
        file.stream.seek(0)
        repeated = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        opened = parquet.ParquetFile(file.stream, read_dictionary=repeated)
        meta = opened.metadata
        file.require_room(meta.num_rows * max(meta.num_columns, 1) * 8, f"promises {meta.num_rows:,} rows")
        _require_room_for_columns(file, meta)
        for kind in schema:
            if pa.types.is_nested(kind.type):
                raise file.problem(f"holds lists or records in column {kind.name!r}; use text or numbers.")
        table = opened.read()
        for name, column in zip(table.column_names, table.columns, strict=True):
            if name in repeated:
                lengths = [compute.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
                unpacked = sum(compute.sum(chunk).as_py() or 0 for chunk in lengths)
                file.require_room(unpacked, f"unpacks the texts in column {name!r}")
        frame: pd.DataFrame = table.to_pandas()
        for name in repeated:
            if name in frame:
                frame[name] = frame[name].astype(object)
    except (FileProblem, MemoryError):
        raise
    except Exception as error:  # pyarrow's errors, and those of pandas on what it gave
        raise file.problem(f"is a damaged Parquet file ({one_line(error)}); write it again.") from error
    return frame, ("Parquet",)


def _require_room_for_columns(file: InputFile, meta: Any) -> None:
    for at in range(meta.num_row_groups):
        for column in map(meta.row_group(at).column, range(meta.num_columns)):
            # A text may be written as the beginning of the one before: at worst each is as long as all.
            worst = column.num_values if "DELTA_BYTE_ARRAY" in column.encodings else 1
            file.require_room(column.total_uncompressed_size * worst, f"has the column {column.path_in_schema!r}")


# ---- JSON


def _json(file: InputFile, options: FormatOptions) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a list of records, a list of rows, a dict of columns, or pandas' form "split"."""
    data = _decoded(file, options.encoding or "utf-8-sig")
    names: list[Any] | None = None
    labels = None
    if isinstance(data, dict) and {"columns", "data"} <= set(data) and isinstance(data["data"], list):
        rows, names, labels = data["data"], data["columns"], data.get("index")
    elif isinstance(data, dict):
        columns = list(data.values())
        if not all(isinstance(cells, list) for cells in columns) or len(set(map(len, columns))) != 1:
            raise file.problem("holds no table: a dict of columns has one list per column, all of the same length.")
        rows, names = [list(row) for row in zip(*columns, strict=True)], list(data)
    elif isinstance(data, list) and data and all(isinstance(record, dict) for record in data):
        names = list(dict.fromkeys(name for record in data for name in record))
        cells, given = len(names) * len(data), sum(map(len, data))
        if cells > max(_SPARSE_CELLS, 100 * given):
            raise file.problem(
                f"has {len(data):,} records with {len(names):,} names, and nearly every record lacks nearly every "
                "name; give all records the same names."
            )
        rows = [[record.get(name) for name in names] for record in data]
    elif isinstance(data, list) and data and all(isinstance(row, list) for row in data):
        rows = data
    else:
        raise file.problem("holds no table: a list of records, a list of rows or a dict of columns is one.")
    frame = _frame_of_rows(file, rows, names)
    if isinstance(labels, list) and len(labels) == len(frame):
        frame.index = [str(label) for label in labels]  # type: ignore[assignment]
    return frame, ("JSON",)


def _decoded(file: InputFile, encoding: str) -> Any:
    try:
        return json.loads(file.stream.read().decode(encoding))
    except UnicodeError:
        raise file.problem(f"is not text in the encoding {encoding}; save it as UTF-8, or pass its encoding.") from None
    except json.JSONDecodeError as error:
        raise file.problem(
            f"is not JSON ({error.msg.lower()}); write it again.", row=error.lineno, column=error.colno
        ) from None
    except (RecursionError, ValueError):  # brackets in brackets, and numbers of thousands of digits
        raise file.problem("is JSON of a depth or size that no table has; write it again.") from None


def _frame_of_rows(file: InputFile, rows: list[Any], names: Any) -> pd.DataFrame:
    import pandas as pd

    width = len(names) if isinstance(names, list) else len(rows[0]) if isinstance(rows[0], list) else 0
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != width:
            raise file.problem(f"does not have {width} cells as the others, or is not a row.", row=number)
        for column, cell in enumerate(row, 1):
            if isinstance(cell, list | dict):
                raise file.problem("holds a list or a dict in a cell; use text or a number.", row=number, column=column)
    frame = pd.DataFrame(rows, columns=list(map(str, names)) if isinstance(names, list) else range(width), dtype=object)
    return pd.DataFrame({at: _typed(frame.iloc[:, at].tolist()) for at in range(width)}).set_axis(frame.columns, axis=1)


def _typed(cells: list[Any]) -> pd.Series[Any]:
    """Return a column; "Infinity", which JSON can only hold as text, becomes a number in a column of numbers."""
    import pandas as pd

    numbers = [cell for cell in cells if isinstance(cell, int | float) and not isinstance(cell, bool)]
    others = {cell for cell in cells if isinstance(cell, str | bool)} - {"Infinity", "-Infinity"}
    if numbers and not others and (len(numbers) < len(cells) or any(abs(cell) >= 2**63 for cell in numbers)):
        limit = 2**1023  # of whole numbers that are numbers at all
        known = [
            cell if isinstance(cell, str | float) or cell is None else max(-limit, min(cell, limit)) for cell in cells
        ]
        return pd.Series([np.nan if cell is None else float(cell) for cell in known])
    return pd.Series(cells, dtype=np.float64 if all(cell is None for cell in cells) else None)


# ---- Excel


def open_excel(file: InputFile, options: FormatOptions) -> Text:
    """Return a sheet of a workbook as the text file that it would be if it were saved as such."""
    openpyxl = require_package("openpyxl", "reading Excel files", "files")
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    cells = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and rules, which do not matter here
        try:
            book = openpyxl.load_workbook(file.stream, read_only=True, data_only=True)
            names = book.sheetnames
            if options.sheet is not None and options.sheet not in names:
                raise file.problem(f"has no sheet {options.sheet!r}; it has {quote(names)}.")
            name = options.sheet or names[0]
            book[name].reset_dimensions()  # the size that a sheet states is not relied on
            rows = []
            for row in book[name].iter_rows(values_only=True):
                cells += len(row) + 1
                file.require_room(8 * cells, "has a sheet of millions of cells")
                known = [_as_text(cell) for cell in row]
                while known and not known[-1]:
                    known.pop()
                rows.append(known)
            book.close()
        except (FileProblem, MemoryError):
            raise
        except Exception as error:  # openpyxl's own, and those of anything in a damaged file
            raise file.problem(f"is a damaged Excel file ({one_line(error)}); save it again.") from error
    width = max(map(len, rows), default=0)
    for known in rows:
        writer.writerow([*known, *[""] * (width - len(known))] if known else [])
    sheet = replace(file, kind="text", stream=io.BytesIO(out.getvalue().encode()))
    text = open_text(sheet, replace(options, delimiter="\t", encoding="utf-8"))
    others = f", the first of {len(names)}" if options.sheet is None and len(names) > 1 else ""
    text.detected = ("Excel", f"sheet {name!r}{others}")
    return text


def _as_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    return " ".join(str(cell).split("\n")).strip()
