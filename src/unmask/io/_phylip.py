"""PHYLIP's distance matrices: the number of objects, then a label and its distances per object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ._dialect import Grid
from ._input_file import InputFile
from ._layout import Layout
from ._numbers import as_number
from ._square import SquareTable
from ._tabular import read_rows
from ._text import CellRow

_COUNT = re.compile(r"\s*(\d{1,9})\s*")
_WIDTH = 10  # of a label in the strict form, where no blank need follow it


def is_phylip(lines: Iterable[str]) -> bool:
    """Tell whether the first two lines are those of a PHYLIP file: a number alone, then a label."""
    filled = (line for line in lines if line.strip())
    first, second = next(filled, ""), next(filled, "")
    count = _COUNT.fullmatch(first)
    if count is None or not second or re.search("[,;|]", second):
        return False
    cells = second.split()
    return _is_label(cells[0]) or len(cells) == int(count[1]) + 1


def read_phylip(file: InputFile, lines: Iterator[str]) -> SquareTable:
    """Read a square matrix or a lower triangle."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    number, line = next(numbered, (1, ""))
    count = _COUNT.fullmatch(line)
    if count is None:
        raise file.problem(
            f"a PHYLIP file begins with the number of objects, not with {line.strip()[:40]!r}; choose another shape.",
            row=number,
        )
    n = int(count[1])
    rows = list(_rows(file, numbered, n))
    if len(rows) != n:
        raise file.problem(f"promises {n} objects in row {number}, but has {len(rows)}; correct the number.")
    if n == 0:
        raise file.problem("promises no objects; correct the number.", row=number)
    lower = len(rows[0].cells()) < min(n, 2) + 1
    grid = Grid(file, rows, iter(()), True, ".", ())
    return read_rows(grid, Layout("lower" if lower else "square", None, labelled=True)).prefixed("PHYLIP")


def _rows(file: InputFile, numbered: Iterator[tuple[int, str]], n: int) -> Iterator[CellRow]:
    """Give each object's label and numbers; those of a square matrix may go on in the next lines."""
    diagonal: int | None = None  # of a triangle: how many numbers its first row has
    for at, (number, line) in enumerate(numbered):
        if at == 0:
            diagonal = _triangle(line, n)
        wanted = n if diagonal is None else at + diagonal
        cells = _labelled(line, wanted)
        while diagonal is None and len(cells) <= n:
            _, more = next(numbered, (0, ""))
            if not more or _is_label(more.split()[0]):
                break
            cells += more.split()
        if len(cells) != wanted + 1:
            raise file.problem(
                f"has {len(cells) - 1} numbers after the label {cells[0]!r} where {wanted} are expected; correct it, "
                "or the number of objects in the first row.",
                row=number,
            )
        yield CellRow(number, cells)


def _triangle(line: str, n: int) -> int | None:
    """Return how many numbers the first row of a triangle has, None for a square matrix."""
    cells = line.split()
    given = len(cells) - 1
    if n > 1 and (given == 0 or all(_is_label(cell) for cell in cells)):
        return 0
    return 1 if n > 1 and given == 1 and as_number(cells[1], ".") == 0 else None


def _labelled(line: str, wanted: int) -> list[str]:
    """Divide a line into a label, which may contain blanks, and at most so many numbers."""
    cells = line.split()
    if len(cells) > wanted:
        label = " ".join(cells[: len(cells) - wanted])
        return [label, *cells[len(cells) - wanted :]]
    strict = line[_WIDTH:].split()
    if len(strict) == wanted and _is_label(cells[0]):  # the label touches the first number
        return [line[:_WIDTH].strip(), *strict]
    return cells


def _is_label(cell: str) -> bool:
    return as_number(cell, ".") is None
