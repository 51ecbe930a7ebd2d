"""Parsing cells as numbers: in blocks, which is fast, and cell by cell where a block holds something else."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ._input_file import InputFile
from ._text import MAX_CELL, FileRow

BLOCK = 2**23  # characters read at a time
_ROW = 200  # characters added to the size of each row, so that a block does not get too many short ones
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "null", "None"]
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")


class NumericRow(NamedTuple):
    """The numbers of a row, NaN where a cell is missing, and the cells before them."""

    number: int  # of the row in the file
    first: list[str]
    values: Array


def is_whole(cell: str) -> bool:
    """Tell whether a cell is a whole number: digits, perhaps with a sign."""
    return _WHOLE.fullmatch(cell) is not None


def as_number(cell: str, decimal: str) -> float | None:
    """Return a cell as a number, NaN where it is missing, None where it is text."""
    if cell in MISSING:
        return np.nan
    if decimal == ",":
        cell = "text" if "." in cell else cell.replace(",", ".")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def is_text(cell: str, decimal: str) -> bool:
    """Tell whether a cell is neither a number nor missing."""
    return as_number(cell, decimal) is None


def find_decimal(cells: Iterable[str]) -> str | None:
    """Return the decimal mark that most cells use, None where none does."""
    points = commas = 0
    for cell in cells:
        points += _DECIMAL_POINT.fullmatch(cell) is not None
        commas += _DECIMAL_COMMA.fullmatch(cell) is not None
    return "," if commas > points else "." if points else None


def numbers_of(file: InputFile, rows: Iterable[FileRow], skip: int, decimal: str) -> Iterator[NumericRow]:
    """Give each row's numbers, after ``skip`` cells that are not numbers.

    The cells of a block are put below each other and parsed at once, which takes a quarter of the time of ``float``;
    only a block that cannot be parsed is looked at cell by cell.
    """
    block: list[FileRow] = []
    flat: list[tuple[list[str], int, str]] = []
    size = 0
    for row in rows:
        block.append(row)
        flat.append(row.flat(skip))
        size += len(flat[-1][2]) + _ROW
        if size > BLOCK:
            yield from _parsed(file, block, flat, skip, decimal)
            block, flat, size = [], [], 0
    yield from _parsed(file, block, flat, skip, decimal)


def _parsed(
    file: InputFile, block: list[FileRow], flat: list[tuple[list[str], int, str]], skip: int, decimal: str
) -> Iterator[NumericRow]:
    ends = np.cumsum([count for _, count, _ in flat])
    total = int(ends[-1]) if len(ends) else 0
    values = parse("\n".join(text for _, count, text in flat if count), decimal) if total else np.empty(0)
    if values is None or len(values) != total:  # a cell that is no number, or has a line break in it
        for row in block:
            cells = row.cells()
            yield NumericRow(row.number, cells[:skip], _slowly(file, row.number, cells, skip, decimal))
        return
    for row, (first, count, _), end in zip(block, flat, ends, strict=True):
        yield NumericRow(row.number, first, values[end - count : end])


def parse(lines: str, decimal: str) -> Array | None:
    """Return one number per line, NaN where it is missing; None if a line is something else.

    Every number is the one nearest to what is written, so that what was written with all digits comes back exactly.
    """
    import pandas as pd

    if decimal == ",":
        if "." in lines:
            return None
        lines = lines.replace(",", ".")
    try:
        frame = pd.read_csv(
            io.BytesIO(f"{lines}\n".encode()),
            header=None,
            names=["x"],
            sep="\x1f",
            dtype={"x": np.float64},
            na_values=sorted(MISSING),
            keep_default_na=False,
            skip_blank_lines=False,
            quoting=csv.QUOTE_NONE,
            low_memory=False,
            **_exact(),
        )
    except (ValueError, OverflowError):  # pandas' own errors are ValueErrors too
        return None
    values: Array = frame["x"].to_numpy()
    return values


def _exact() -> dict[str, Any]:
    """Return the option for exact parsing, which later versions of pandas always do and no longer accept."""
    import pandas as pd

    major, minor = (int(part) for part in pd.__version__.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _slowly(file: InputFile, number: int, cells: list[str], skip: int, decimal: str) -> Array:
    values = [as_number(cell, decimal) for cell in cells[skip:]]
    for at, value in enumerate(values, skip):
        if value is None:
            raise file.problem(not_a_number(cells[at], decimal), row=number, column=at + 1)
    return np.array(values, dtype=np.float64)


def not_a_number(cell: str, decimal: str) -> str:
    """Return the message for a cell that should be a number."""
    if len(cell) > MAX_CELL:
        return f"holds a cell of more than {MAX_CELL:,} characters; is a delimiter or line break missing?"
    shown = repr(cell if len(cell) <= 40 else f"{cell[:40]}…")
    other = {".": (_DECIMAL_COMMA, "comma", "point"), ",": (_DECIMAL_POINT, "point", "comma")}[decimal]
    if other[0].fullmatch(cell):
        return f"{shown} has a decimal {other[1]} where others have a decimal {other[2]}; use one of them throughout."
    return f"{shown} is not a number; correct it, or leave the cell empty where nothing is known."
