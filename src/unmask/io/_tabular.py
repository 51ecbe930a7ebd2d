"""Reading square tables, triangles, condensed vectors and lists of pairs from rows of cells."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ._dialect import Grid
from ._escape import unescape
from ._input_file import InputFile
from ._layout import Layout
from ._numbers import NumericRow, numbers_of, parse
from ._pairs import table_of_pairs
from ._problems import FileProblem, times
from ._square import SquareTable, agreed_labels
from ._text import Dialect, FileRow, TextRow

_PAIRS_AT_A_TIME = 2**16


def read_rows(grid: Grid, layout: Layout) -> SquareTable:
    """Read dissimilarities in the layout given."""
    return _READERS[layout.shape](grid, layout)


def _numbers(grid: Grid, layout: Layout) -> Iterator[NumericRow]:
    return numbers_of(grid.file, grid.rows(layout.header is not None), int(layout.labelled), grid.decimal)


# ---- square tables


def _read_square(grid: Grid, layout: Layout) -> SquareTable:
    file = grid.file
    width = len(layout.header) if layout.header is not None else None
    rows: list[Array] = []
    left: list[str] = []
    row_numbers: list[int] = []
    for row in _numbers(grid, layout):
        values = row.values[:-1] if layout.extra else row.values
        width = len(values) if width is None else width
        if len(values) != width:
            cells, expected = len(row.values) + layout.labelled, width + layout.labelled + layout.extra
            raise file.problem(
                f"has {cells} cells where {expected} are expected; is a delimiter missing, or one too many?",
                row=row.number,
            )
        if len(rows) == width:
            raise file.problem(f"has more rows than its {width} columns of numbers; {_NOT_SQUARE}", row=row.number)
        rows.append(values)
        row_numbers.append(row.number)
        left += [unescape(cell) for cell in row.first]
    if not rows:
        raise file.problem("has a header and no rows below it; write the table again.")
    if len(rows) != width:
        raise file.problem(f"has {len(rows)} rows and {width} columns of numbers; {_NOT_SQUARE}")
    labels, order = agreed_labels(file, left if layout.labelled else None, layout.header, row_numbers)
    values = _stacked(rows)
    across: IntArray = np.arange(len(values))
    detected: tuple[str, ...] = ()
    if order is not None:
        across = np.array(order)
        values = values[:, across]
        detected = ("columns put into the order of the rows",)
    shift = 1 + layout.labelled
    name = _half(values)
    detected = (layout.detected, *detected, *grid.decimal_detected, f"{times(len(values), len(values))} {name}")
    return SquareTable(values, labels, lambda i, j: (row_numbers[i], int(across[j]) + shift), detected)


_NOT_SQUARE = "dissimilarities are a square table, one row and one column per object: is this a table of features?"


def _stacked(rows: list[Array]) -> Array:
    """Put rows into one table; each is deleted once copied, so that memory holds the table only once."""
    values = np.empty((len(rows), len(rows[0])))
    rows.reverse()
    for at in range(len(rows)):
        values[at] = rows.pop()
    return values


def _half(values: Array) -> str:
    n = len(values)
    if n > 1 and all(np.isnan(values[i, i + 1 :]).all() for i in range(n)):
        return "lower triangle"
    return "upper triangle" if n > 1 and all(np.isnan(values[i, :i]).all() for i in range(n)) else "square"


# ---- lower triangles


def _read_lower(grid: Grid, layout: Layout) -> SquareTable:
    file = grid.file
    rows: list[Array] = []
    left: list[str] = []
    row_numbers: list[int] = []
    for row in _numbers(grid, layout):
        expected = len(rows) + (len(rows[0]) if rows else len(row.values))
        if len(row.values) != expected:
            cells = len(row.values) + layout.labelled
            raise file.problem(
                f"has {cells} cells where a lower triangle has {expected + layout.labelled}, one more than in the row "
                "above; is a delimiter missing, or one too many?",
                row=row.number,
            )
        rows.append(row.values)
        row_numbers.append(row.number)
        left += [unescape(cell) for cell in row.first]
    if not rows or not 1 - layout.labelled <= len(rows[0]) <= 1:
        raise file.problem("is no lower triangle, whose rows begin with one number and grow by one; choose a shape.")
    diagonal = len(rows[0]) == 1 if layout.labelled else _ends_on_diagonal(file, rows)
    # Without labels and diagonal the first object has no row.
    first = int(not diagonal and not layout.labelled)
    n = len(rows) + first
    if layout.header is not None and len(layout.header) != n:
        raise file.problem(f"names {len(layout.header)} objects in its header, but has rows for {n}; name each once.")
    values = np.full((n, n), np.nan)
    for at, row_values in enumerate(rows, first):
        values[at, : len(row_values)] = row_values
    labels, order = agreed_labels(file, left if layout.labelled else None, layout.header, row_numbers)
    if order is not None:
        raise file.problem("names the objects in another order in its header than in its first column; use one.")
    shift = 1 + layout.labelled
    with_or_without = "with" if diagonal else "without"
    detected = (layout.detected, *grid.decimal_detected, f"lower triangle of {n} objects, {with_or_without} diagonal")
    return SquareTable(values, labels, lambda i, j: (row_numbers[max(i, j) - first], min(i, j) + shift), detected)


def _ends_on_diagonal(file: InputFile, rows: list[Array]) -> bool:
    """Tell whether the last number of each row is that of an object with itself."""
    last = np.array([row[-1] for row in rows])
    if np.all(np.isnan(last) | (last == 0)):
        return True
    if len(rows) > 2 and np.all(last == last[0]) and last[0] >= max(np.nanmax(row) for row in rows):
        raise file.problem(
            f"every row of the triangle ends in {last[0]:g}, which no other number exceeds: if that is the diagonal, "
            "these are similarities; turn them into dissimilarities, or write a square table."
        )
    return False


# ---- condensed vectors


def _read_condensed(grid: Grid, layout: Layout) -> SquareTable:
    rows = list(_numbers(grid, layout))
    if not rows:
        raise grid.file.problem("has a header and no numbers below it; write the table again.")
    ends = np.cumsum([len(row.values) for row in rows])
    row_numbers = [row.number for row in rows]

    def place(at: int) -> tuple[int, int]:
        row = int(np.searchsorted(ends, at, side="right"))
        return row_numbers[row], at - int(ends[row] - len(rows[row].values)) + 1

    table = from_condensed(grid.file, np.concatenate([row.values for row in rows]), place)
    return table.prefixed("no labels", *grid.decimal_detected)


def from_condensed(
    file: InputFile, values: Array, place: Callable[[int], tuple[int | None, int | None]]
) -> SquareTable:
    """Return the square table of a vector that has one number per pair."""
    n = round((1 + np.sqrt(1 + 8 * len(values))) / 2)
    if n * (n - 1) // 2 != len(values):
        near = [k * (k - 1) // 2 for k in (n - 1, n, n + 1)]
        raise file.problem(
            f"has {len(values)} numbers in one line, but a condensed table of n objects has n(n-1)/2 of them, such as "
            f"{near[0]}, {near[1]} or {near[2]}; is it cut off, or a table of features?"
        )
    file.require_room(n * n, f"has the pairs of {n} objects")
    square = np.zeros((n, n), dtype=values.dtype)
    start = 0
    for i in range(n - 1):  # row by row: the places of all pairs at once would take more room than the table
        end = start + n - 1 - i
        square[i, i + 1 :] = square[i + 1 :, i] = values[start:end]
        start = end

    def placed(i: int, j: int) -> tuple[int | None, int | None]:
        i, j = min(i, j), max(i, j)
        return place(i * n - i * (i + 1) // 2 + j - i - 1)

    return SquareTable(square, None, placed, (f"condensed, {len(values)} pairs of {n} objects",))


# ---- lists of pairs


def _read_long(grid: Grid, layout: Layout) -> SquareTable:
    import pandas as pd

    file = grid.file
    codes: dict[str, int] = {}
    ends: list[IntArray] = [np.empty(0, dtype=np.int64)]
    lengths: list[Array] = [np.empty(0)]
    row_numbers = array("q")
    rows = grid.rows(layout.header is not None)
    while block := list(islice(rows, _PAIRS_AT_A_TIME)):
        labels, values = _pairs_fast(block, grid.decimal) or _pairs_slow(file, block, grid.decimal)
        own, distinct = pd.factorize(labels)  # in the order in which they appear, reading row by row
        ends.append(np.array([codes.setdefault(label, len(codes)) for label in distinct])[own])
        lengths.append(values)
        row_numbers.extend(row.number for row in block)
    if not codes:
        raise file.problem("has a header and no pairs below it; write the table again.")
    names = [unescape(label) for label in codes]
    pairs = np.concatenate(ends).reshape(-1, 2)
    at = np.frombuffer(row_numbers, dtype=np.int64)
    table = table_of_pairs(file, pairs[:, 0], pairs[:, 1], np.concatenate(lengths), names, at)
    return SquareTable(table.values, names, table.place, (*grid.decimal_detected, *table.detected))


def _pairs_fast(block: list[FileRow], decimal: str) -> tuple[Any, Array] | None:
    """Return the labels, row by row, and numbers of simple rows, None if a row is anything else."""
    texts = [row.text for row in block if isinstance(row, TextRow)]
    dialect = block[0].dialect if isinstance(block[0], TextRow) else Dialect()
    mark = dialect.delimiter or ""
    simple = len(texts) == len(block) and mark.strip() and all(text.count(mark) == 2 for text in texts)
    if not simple or any('"' in text for text in texts):
        return None
    cells = mark.join(texts).split(mark)
    values = parse("\n".join(cells[2::3]), decimal)
    del cells[2::3]
    labels = np.array([cell.strip() for cell in cells], dtype=object)
    return None if values is None or len(values) != len(block) or not all(labels) else (labels, values)


def _pairs_slow(file: InputFile, block: list[FileRow], decimal: str) -> tuple[Any, Array]:
    labels: list[str] = []
    values: list[Array] = []
    for row in numbers_of(file, block, 2, decimal):
        if len(row.values) != 1 or "" in row.first:
            raise _no_pair(file, row)
        labels += row.first
        values.append(row.values)
    return np.array(labels, dtype=object), np.concatenate(values)


def _no_pair(file: InputFile, row: NumericRow) -> FileProblem:
    cells = len(row.first) + len(row.values)
    if cells != 3:
        return file.problem(
            f"has {cells} cells where a list of pairs has three: object, object, dissimilarity.", row=row.number
        )
    return file.problem("an object has no label; give it one.", row=row.number, column=row.first.index("") + 1)


_READERS: dict[str, Callable[[Grid, Layout], SquareTable]] = {
    "square": _read_square,
    "lower": _read_lower,
    "condensed": _read_condensed,
    "long": _read_long,
}
