"""Reading files with typed columns or cells: Parquet, JSON and Excel."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from datetime import date, time
from typing import TYPE_CHECKING, Any

from ..checking import quote, require_package
from ._input_file import InputFile, members
from ._numbers import as_number
from ._problems import FileProblem, one_line
from ._text import CellRow, find_encoding

if TYPE_CHECKING:
    import pandas as pd


def read_typed(file: InputFile, encoding: str | None) -> tuple[pd.DataFrame, str]:
    """Read a Parquet or JSON file; also return the name of its format."""
    return (_read_parquet(file), "Parquet") if file.kind == "parquet" else (_read_json(file, encoding), "JSON")


# ---- Parquet


def _read_parquet(file: InputFile) -> pd.DataFrame:
    """Read a Parquet file, after checking how many cells it has."""
    parquet = require_package("pyarrow.parquet", "reading Parquet files", "files")
    with file.seekable() as stream:
        try:
            opened = parquet.ParquetFile(stream)
            cells = opened.metadata.num_rows * max(opened.metadata.num_columns, 1)
            file.require_room(cells, f"promises {opened.metadata.num_rows:,} rows")
            frame: pd.DataFrame = opened.read().to_pandas()
        except FileProblem:
            raise
        except Exception as error:  # pyarrow's errors, and those of pandas on what it gave
            raise file.problem(f"is a damaged Parquet file ({one_line(error)}); write it again.") from error
    return frame


# ---- JSON


def _read_json(file: InputFile, encoding: str | None) -> pd.DataFrame:
    """Read a list of records, a list of rows, a dict of columns, or what pandas calls split."""
    import pandas as pd

    name = find_encoding(file, encoding).name
    with file.binary() as stream:
        data = _decoded(file, stream.read(), name)
    if isinstance(data, dict) and {"columns", "data"} <= set(data) and isinstance(data["data"], list):
        frame = _from_rows(file, data["data"], data["columns"])
        labels = data.get("index")
        if isinstance(labels, list) and len(labels) == len(frame):
            frame.index = pd.Index([str(label) for label in labels])
        return frame
    if isinstance(data, dict):
        return _from_columns(file, data)
    if isinstance(data, list) and data and all(isinstance(record, dict) for record in data):
        names = list(dict.fromkeys(name for record in data for name in record))
        return _from_rows(file, [[record.get(name) for name in names] for record in data], names)
    if isinstance(data, list) and data and all(isinstance(row, list) for row in data):
        return _from_rows(file, data, None)
    raise file.problem("holds no table: a list of records, a list of rows or a dict of columns is one.")


def _decoded(file: InputFile, content: bytes, encoding: str) -> Any:
    try:
        return json.loads(content.decode(encoding))
    except UnicodeError:
        raise file.problem(f"is not text in the encoding {encoding}; save it as UTF-8, or pass its encoding.") from None
    except json.JSONDecodeError as error:
        raise file.problem(
            f"is not JSON ({error.msg.lower()}); write it again.", row=error.lineno, column=error.colno
        ) from None
    except (RecursionError, ValueError):  # brackets in brackets, and numbers of thousands of digits
        raise file.problem("is JSON of a depth or size that no table has; write it again.") from None


def _from_columns(file: InputFile, data: dict[str, Any]) -> pd.DataFrame:
    lengths = {len(cells) for cells in data.values() if isinstance(cells, list)}
    if not data or len(lengths) != 1 or not all(isinstance(cells, list) for cells in data.values()):
        raise file.problem("holds no table: a dict of columns has one list per column, all of the same length.")
    return _from_rows(file, [list(row) for row in zip(*data.values(), strict=True)], list(data))


def _from_rows(file: InputFile, rows: list[Any], names: Any) -> pd.DataFrame:
    import pandas as pd

    width = len(names) if isinstance(names, list) else len(rows[0])
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != width:
            raise file.problem(f"has not the {width} cells of the others, or is no row.", row=number)
        for column, cell in enumerate(row, 1):
            if isinstance(cell, list | dict):
                raise file.problem("holds a list or a dict in a cell; use text or a number.", row=number, column=column)
    columns = [_typed([row[at] for row in rows]) for at in range(width)]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=pd.RangeIndex(len(rows)))
    if isinstance(names, list):
        frame.columns = pd.Index([str(name) for name in names], dtype=object)
    else:
        frame.columns = pd.RangeIndex(width)
    return frame


def _typed(cells: list[Any]) -> pd.Series[Any]:
    """Return a column; "Infinity", which JSON can only hold as text, becomes a number in a column of numbers."""
    import pandas as pd

    infinite = {"Infinity": float("inf"), "-Infinity": float("-inf")}
    if any(isinstance(cell, float | int) for cell in cells):
        cells = [infinite.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
    if any(isinstance(cell, int) and abs(cell) > 2**63 - 1 for cell in cells):
        cells = [float(cell) if isinstance(cell, int) and abs(cell) < 2**1023 else cell for cell in cells]
    if cells and all(cell is None for cell in cells):
        return pd.Series([float("nan")] * len(cells))
    return pd.Series(cells)


# ---- Excel


def excel_rows(file: InputFile, sheet: str | None) -> tuple[list[CellRow], tuple[str, ...]]:
    """Read a sheet as rows of text, all of the same length, as a text file would hold them."""
    openpyxl = require_package("openpyxl", "reading Excel files", "files")
    members(file)  # raises if they unpack to more than the limit
    with file.seekable() as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and rules, which do not matter here
        try:
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            name, phrase = _sheet(file, book.sheetnames, sheet)
            rows = list(_filled_rows(file, book[name]))
            book.close()
        except FileProblem:
            raise
        except Exception as error:  # openpyxl's own, and those of whatever it meets in a damaged file
            raise file.problem(f"is a damaged Excel file ({one_line(error)}); save it again.") from error
    width = max((len(row.known) for row in rows), default=0)
    return [CellRow(row.number, row.known + [""] * (width - len(row.known))) for row in rows], ("Excel", phrase)


def _sheet(file: InputFile, names: list[str], wanted: str | None) -> tuple[str, str]:
    if wanted is None:
        others = f", the first of {len(names)}" if len(names) > 1 else ""
        return names[0], f"sheet {names[0]!r}{others}"
    if wanted not in names:
        raise file.problem(f"has no sheet {wanted!r}; it has {quote(names)}.")
    return wanted, f"sheet {wanted!r}"


def _filled_rows(file: InputFile, sheet: Any) -> Iterator[CellRow]:
    """Give the rows that are not empty; the size that a sheet states is not relied on."""
    sheet.reset_dimensions()
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells += len(row) + 1
        file.require_room(cells, "has a sheet of millions of cells")
        known = [_as_text(cell) for cell in row]
        while known and not known[-1]:
            known.pop()
        if known:
            yield CellRow(number, known)


def _as_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    return str(cell).strip()


# ---- columns as numbers


def numbers_of_columns(file: InputFile, frame: pd.DataFrame, first: int = 0) -> pd.DataFrame:
    """Return a table of numbers; raise at the first cell that is not a number. ``first`` columns come before it."""
    import pandas as pd
    from pandas.api import types

    columns = []
    for at in range(frame.shape[1]):
        column = frame.iloc[:, at]
        if not (types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype)):
            column = pd.Series(
                [_number(file, cell, row, at + first + 1) for row, cell in enumerate(column, 1)], dtype=float
            )
        columns.append(column.to_numpy(dtype=float, na_value=float("nan")))
    return pd.DataFrame(dict(enumerate(columns)), index=frame.index)


def _number(file: InputFile, cell: Any, row: int, column: int) -> float:
    import pandas as pd

    if isinstance(cell, float | int) or pd.isna(cell) is True:
        return float("nan") if pd.isna(cell) else float(cell)
    value = as_number(cell, ".") if isinstance(cell, str) else None
    if value is None:
        raise file.problem(f"{str(cell)[:40]!r} is not a number; correct it.", row=row, column=column)
    return value
