"""Files other than text: npy, npz, Parquet, JSON and Excel."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import is_unlabelled, quote, require_package
from ._cells import Cells, FormatOptions, Row, as_number, as_text, not_a_number
from ._files import FileProblem, InputFile, one_line, times

if TYPE_CHECKING:
    import pandas as pd

_LABEL_NAMES = ("labels", "label", "ids", "id", "names", "index")
_SPARSE_CELLS = 10**6  # from which JSON records may not be nearly empty


@dataclass
class Typed(Cells):
    """A table whose columns have types; names, if there are any, are the first row, and labels the first column."""

    escaped: bool = False

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of all rows."""
        return len(self.stored) + bool(self.named)

    def rows(self, skip: int = 0) -> Iterator[Row]:
        """Return rows of cells as text, numbered without the row of names."""
        if self.named and not skip:
            yield Row(0, list(map(str, self.stored.columns)))
        for at, row in enumerate(self.stored.iloc[max(skip - bool(self.named), 0) :].itertuples(index=False), 1):
            yield Row(at, list(map(as_text, row)))

    def frame(self, skip: int, width: int, text: Collection[int] = (), *, numeric: bool) -> pd.DataFrame:  # noqa: ARG002
        """Return the columns as they are, or as numbers if they must be."""
        from pandas.api import types

        frame: pd.DataFrame = self.stored.set_axis(range(width), axis=1)  # a header is never part of the stored cells
        for at, kind in enumerate(frame.dtypes):
            if at in text or (types.is_numeric_dtype(kind) and isinstance(kind, np.dtype)):
                continue
            if not numeric:
                continue
            cells = [as_text(cell) for cell in frame[at]]
            numbers = [as_number(cell, ".") for cell in cells]
            if None in numbers:
                row = numbers.index(None)
                raise self.file.problem(not_a_number(cells[row], "."), row=row + 1, column=at + 1 - self.labelled)
            frame[at] = np.array(numbers, dtype=np.float64)
        return frame


def open_typed(file: InputFile, options: FormatOptions) -> Cells:
    """Read a file of typed cells."""
    file.stream.seek(0)
    if file.kind == "excel":
        return _excel(file, options)
    if file.kind == "json":
        cells = _json(file, options.encoding or "utf-8-sig")
        cells.read_head(".")
        return cells
    frame, detected = (_parquet(file), ("Parquet",)) if file.kind == "parquet" else _numpy(file)
    if not frame.size:
        raise file.problem(f"holds a {times(*frame.shape)} table, which has no cells; write the table again.")
    named, labelled = not is_unlabelled(frame.columns), not is_unlabelled(frame.index)
    if labelled:
        frame = frame.set_axis(list(map(str, frame.columns)), axis=1) if named else frame
        frame.insert(0, "", frame.index, allow_duplicates=True)
    cells = Typed(file, frame.reset_index(drop=True), detected=detected, named=named, labelled=labelled)
    cells.read_head(".")
    return cells


@contextmanager
def _damaged(file: InputFile, kind: str) -> Iterator[None]:
    """Turn whatever errors a damaged file causes in a library, and its warnings, into one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old headers, styles and rules, which do not matter here
            yield
    except (FileProblem, MemoryError):
        raise
    except Exception as error:
        raise file.problem(f"is a damaged {kind} ({one_line(error)}); write it again.") from error


# ---- NumPy


def _numpy(file: InputFile) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    with _damaged(file, "file of NumPy, or one of Python objects"):
        loaded = np.load(file.stream, allow_pickle=False)
        arrays = {"": loaded} if file.kind == "npy" else {name: loaded[name] for name in loaded.files}
        if file.kind == "npy" and file.stream.read(1):
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


def _parquet(file: InputFile) -> pd.DataFrame:
    """Read a Parquet file; text is counted before it is unpacked, since a dictionary can repeat a long one cheaply."""
    pa, parquet, compute = (
        require_package(name, "reading Parquet files", "files")
        for name in ("pyarrow", "pyarrow.parquet", "pyarrow.compute")
    )
    with _damaged(file, "Parquet file"):
        schema = parquet.read_schema(file.stream)
        nested = [column.name for column in schema if pa.types.is_nested(column.type)]
        if nested:
            raise file.problem(f"holds lists or records in column {nested[0]!r}; use text or numbers.")
        texts = [c.name for c in schema if pa.types.is_string(c.type) or pa.types.is_large_string(c.type)]
        file.stream.seek(0)
        opened = parquet.ParquetFile(file.stream, read_dictionary=texts)
        meta = opened.metadata
        file.require_room(meta.num_rows * max(meta.num_columns, 1) * 8, f"promises {meta.num_rows:,} rows")
        for group in map(meta.row_group, range(meta.num_row_groups)):
            for column in map(group.column, range(meta.num_columns)):
                # A text may be written as the beginning of the one before: at worst each is as long as all.
                worst = column.num_values if "DELTA_BYTE_ARRAY" in column.encodings else 1
                file.require_room(column.total_uncompressed_size * worst, f"has the column {column.path_in_schema!r}")
        table = opened.read()
        table.validate(full=True)  # pyarrow may crash on damaged cells when it turns them into those of pandas
        for name in texts:
            chunks = table.column(name).chunks
            lengths = [compute.binary_length(chunk.dictionary).take(chunk.indices) for chunk in chunks]
            unpacked = sum(compute.sum(chunk).as_py() or 0 for chunk in lengths)
            file.require_room(unpacked, f"unpacks the texts in column {name!r}")
        frame: pd.DataFrame = table.to_pandas()
        return frame.astype({name: object for name in texts if name in frame})


# ---- JSON


def _json(file: InputFile, encoding: str) -> Cells:
    """Read a list of records, a list of rows, a dict of columns, or pandas' form "split"."""
    names, labels, rows = _parts_of(file, _decoded(file, encoding))
    width = len(rows[0] if names is None else names)
    cells = [] if names is None else [Row(0, [*([] if labels is None else [""]), *map(str, names)])]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != width:
            raise file.problem(f"is not a list of {width} cells.", row=number)
        for at, cell in enumerate(row, 1):
            if isinstance(cell, list | dict):
                raise file.problem("holds a list or a dict in a cell; use text or a number.", row=number, column=at)
        cells.append(Row(number, [*([] if labels is None else [str(labels[number - 1])]), *map(as_text, row)]))
    labelled = labels is not None
    return Cells(file, cells, detected=("JSON",), named=names is not None, labelled=labelled, escaped=False)


def _parts_of(file: InputFile, data: Any) -> tuple[list[Any] | None, list[Any] | None, list[Any]]:
    """Return the names of columns, the labels and the rows of a table in JSON."""
    names, labels, rows = None, None, data
    if isinstance(data, dict) and {"columns", "data"} <= set(data):
        names, labels, rows = data["columns"], data.get("index"), data["data"]
    elif isinstance(data, dict) and _are_equally_long(list(data.values())):
        names, rows = list(data), [list(row) for row in zip(*data.values(), strict=True)]
    elif isinstance(data, list) and data and all(isinstance(record, dict) for record in data):
        names = list(dict.fromkeys(name for record in data for name in record))
        if len(names) * len(data) > max(_SPARSE_CELLS, 100 * sum(map(len, data))):
            raise file.problem(
                f"has {len(data):,} records with {len(names):,} names, and nearly every record lacks nearly every "
                "name; give all records the same names."
            )
        rows = [[record.get(name) for name in names] for record in data]
    lists = all(isinstance(part, list) for part in (rows, names or [], labels or []))
    empty = not lists or not rows or not isinstance(rows[0], list) or not (names or rows[0])
    if empty or (labels and len(labels) != len(rows)):
        raise file.problem("holds no table; a list of records, a list of rows or a dict of equally long lists is one.")
    return names, labels or None, rows


def _are_equally_long(columns: list[Any]) -> bool:
    return all(isinstance(column, list) for column in columns) and len(set(map(len, columns))) == 1


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


# ---- Excel


def _excel(file: InputFile, options: FormatOptions) -> Cells:
    """Read a sheet of a workbook."""
    openpyxl = require_package("openpyxl", "reading Excel files", "files")
    rows, size = [], 0
    with _damaged(file, "Excel file"):
        book = openpyxl.load_workbook(file.stream, read_only=True, data_only=True)
        names = book.sheetnames
        if options.sheet is not None and options.sheet not in names:
            raise file.problem(f"has no sheet {options.sheet!r}; it has {quote(names)}.")
        name = options.sheet or names[0]
        book[name].reset_dimensions()  # the size that a sheet states is not relied on
        for line, row in enumerate(book[name].iter_rows(values_only=True), 1):
            size += len(row) + 1
            file.require_room(8 * size, "has a sheet of millions of cells")
            texts = [" ".join(as_text(cell).split("\n")).strip() for cell in row]
            while texts and not texts[-1]:
                texts.pop()
            if texts:
                rows.append(Row(line, texts))
        book.close()
    width = max((len(row.cells) for row in rows), default=0)
    file.require_room(8 * width * len(rows), "has a sheet of millions of cells")
    others = f", the first of {len(names)}" if options.sheet is None and len(names) > 1 else ""
    filled = [Row(line, texts + [""] * (width - len(texts))) for line, texts in rows]
    sheet = Cells(file, filled, detected=("Excel", f"sheet {name!r}{others}"))
    sheet.read_head(options.decimal)
    return sheet
