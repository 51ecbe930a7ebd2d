"""Turning rows of cells into typed columns: numbers if all cells are numbers, otherwise text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ._dialect import Grid
from ._escape import unescape
from ._numbers import as_number, is_text, is_whole, parse
from ._text import FileRow

if TYPE_CHECKING:
    import pandas as pd

_CELLS_AT_A_TIME = 2**18
_NOTHING = frozenset(["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"])  # "None" may be a level
_LABEL_NAMES = frozenset(
    ["id", "ids", "label", "labels", "name", "names", "object", "objects", "index", "sample", "sample id", "sampleid"]
)
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


def is_label_name(name: str) -> bool:
    """Tell whether a column of this name holds labels."""
    return name.strip().lstrip("#").replace("_", " ").replace("-", " ").casefold() in _LABEL_NAMES


class MoreTextColumns(Exception):  # noqa: N818  (no error: a reason to begin again)
    """Columns that were read as numbers and hold text, each with the row and text of its first such cell."""

    def __init__(self, columns: dict[int, tuple[int, str]]) -> None:
        super().__init__(columns)
        self.columns = columns


@dataclass(frozen=True)
class ColumnNames:
    """The names of columns, and how many rows they take."""

    names: list[str]
    rows: int
    detected: str
    first_unnamed: bool = False  # nothing stands above the first column, as above labels


@dataclass
class Columns:
    """The cells of a table, column by column."""

    text: dict[int, list[str]]
    numbers: Array
    numeric: list[int]
    rows: list[int] = field(default_factory=list)  # numbers of the rows in the file


def find_names(grid: Grid, header: bool | None) -> ColumnNames:
    """Detect whether the first row names the columns."""
    first, body = grid.head[0].cells(), [row.cells() for row in grid.head[1:]]
    named = _is_named(first, body, grid.decimal) if header is None else header
    if not named:
        names = [f"x{at + 1}" for at in range(len(first))]
        return ColumnNames(names, 0, "no header: columns named x1, x2 …" if len(first) > 1 else "")
    if not body:
        raise grid.file.problem("has a header and no rows below it; write the table again.")
    names = [unescape(name) for name in first]
    names[0] = names[0].lstrip("# ") if names[0].startswith("#") else names[0]
    if len(names) == len(body[0]) - 1:  # R leaves out the cell above the labels
        names = ["", *names]
    return ColumnNames(names, 1, "names in the first row", first_unnamed=not names[0])


def _is_named(first: list[str], body: list[list[str]], decimal: str) -> bool:
    if not body:
        return all(is_text(cell, decimal) for cell in first)
    if len(first) == len(body[0]) - 1:
        return True
    texts = [is_text(cell, decimal) for cell in first]
    if all(text or not cell for text, cell in zip(texts, first, strict=True)):
        return True
    if not first[0] and first[1:] == [str(at) for at in range(len(first) - 1)]:
        return True  # what pandas writes for columns without names
    if any(is_label_name(cell) for cell in first):
        return True
    columns = [[cells[at] for cells in body if at < len(cells)] for at in range(len(first))]
    numeric = [all(not is_text(cell, decimal) for cell in cells) for cells in columns]
    return any(text and number for text, number in zip(texts, numeric, strict=True))


def read_columns(grid: Grid, names: ColumnNames, text: Iterable[int]) -> Columns:
    """Read all rows; ``text`` says which columns are kept as text, and all others must be numbers."""
    width = len(names.names)
    kept: dict[int, list[str]] = {at: [] for at in sorted(set(text))}
    numeric = [at for at in range(width) if at not in kept]
    blocks: list[Array] = []
    row_numbers: list[int] = []
    wrong: dict[int, tuple[int, str]] = {}
    rows = grid.rows(names.rows)
    while block := list(islice(rows, max(1, _CELLS_AT_A_TIME // width))):
        cells = list(_regular(grid, block, width))
        for at, column in kept.items():
            column += [row[at] for row in cells]
        row_numbers += [row.number for row in block]
        values = _block(cells, numeric, grid.decimal)
        if values is None:
            for at, cell in _first_texts(cells, block, numeric, grid.decimal):
                wrong.setdefault(at, cell)
        elif not wrong:
            blocks.append(values)
    if wrong:
        raise MoreTextColumns(wrong)
    return Columns(kept, np.concatenate(blocks) if blocks else np.empty((0, len(numeric))), numeric, row_numbers)


def _regular(grid: Grid, block: list[FileRow], width: int) -> Iterator[list[str]]:
    for row in block:
        cells = row.cells()
        if len(cells) != width:
            raise grid.file.problem(
                f"has {len(cells)} cells where {width} are expected; is a delimiter missing, or one too many?",
                row=row.number,
            )
        yield cells


def _block(cells: list[list[str]], numeric: list[int], decimal: str) -> Array | None:
    if not numeric:
        return np.empty((len(cells), 0))
    values = parse("\n".join("\n".join(row[at] for at in numeric) for row in cells), decimal)
    if values is None or len(values) != len(cells) * len(numeric):
        parsed = [[as_number(row[at], decimal) for at in numeric] for row in cells]
        return None if any(value is None for row in parsed for value in row) else np.array(parsed, dtype=np.float64)
    return values.reshape(len(cells), len(numeric))


def _first_texts(
    cells: list[list[str]], block: list[FileRow], numeric: list[int], decimal: str
) -> Iterator[tuple[int, tuple[int, str]]]:
    for at in numeric:
        for row, place in zip(cells, block, strict=True):
            if is_text(row[at], decimal):
                yield at, (place.number, row[at])
                break


# ---- types


def typed_text(cells: list[str]) -> pd.Series[Any]:
    """Return a column of text, or of truth values if it holds nothing else."""
    import pandas as pd

    known = [None if cell in _NOTHING else unescape(cell) for cell in cells]
    if all(cell in _TRUTH for cell in known) and known:
        return pd.Series([_TRUTH[str(cell)] for cell in known], dtype=bool)
    return pd.Series(known)


def typed_numbers(values: Array, *, written_whole: bool) -> pd.Series[Any]:
    """Return a column of numbers: integers if ``written_whole``."""
    import pandas as pd

    if written_whole and len(values) and np.all(np.abs(values) < 2**53) and np.all(values == np.round(values)):
        return pd.Series(values.astype(np.int64))
    return pd.Series(values)


def written_whole(grid: Grid, names: ColumnNames) -> list[bool]:
    """Tell for each column whether its first cells are whole numbers."""
    table = [row.cells() for row in grid.head[names.rows :]]
    return [all(is_whole(cells[at]) for cells in table if at < len(cells)) for at in range(len(names.names))]


def leading_zeros(rows: list[list[str]]) -> dict[int, str]:
    """Return the columns that have whole numbers with leading zeros in these rows, each with the first of them."""
    codes: dict[int, str] = {}
    for cells in rows:
        for at, cell in enumerate(cells):
            if len(cell) > 1 and cell[0] == "0" and cell.isdigit():
                codes.setdefault(at, cell)
    return codes
