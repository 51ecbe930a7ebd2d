"""PHYLIP's distance matrices: the number of objects, then a label and its distances per object."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._input_file import InputFile
from ._square import Square
from ._text import as_number, not_a_number

_WIDTH = 10  # of a label in the strict form, where no blank need follow it


def is_phylip(lines: Iterable[str]) -> bool:
    """Tell whether the first two lines are those of a PHYLIP file: a number alone, then a label."""
    first, second, *_ = [*[line for line in lines if line.strip()][:2], "", ""]
    if not re.fullmatch(r"\s*\d{1,9}\s*", first) or not second or re.search("[,;|]", second):
        return False
    cells = second.split()
    return as_number(cells[0], ".") is None or len(cells) == int(first) + 1


def read_phylip(file: InputFile, lines: Iterable[str]) -> Square:
    """Read a square matrix, whose rows may go on in the next lines, or a lower triangle."""
    numbered = [(number, line.split(), line) for number, line in enumerate(lines, 1) if line.strip()]
    number, count, line = numbered.pop(0) if numbered else (1, [], "")
    if len(count) != 1 or not count[0].isdecimal() or int(count[0]) < 1:
        raise file.problem(
            f"a PHYLIP file begins with the number of objects, not with {line.strip()[:40]!r}; choose another shape.",
            row=number,
        )
    n = int(count[0])
    first = numbered[0][1][1:] if numbered else []
    none = all(as_number(cell, ".") is None for cell in first)  # a triangle without diagonal
    lower = n > 1 and (none or (len(first) == 1 and as_number(first[0], ".") == 0))
    rows: list[tuple[int, list[str]]] = []
    while numbered:
        rows.append(_row(file, numbered, len(rows) + (not none) if lower else n, wraps=not lower))
    if len(rows) != n:
        raise file.problem(f"promises {n} objects in its first row, but has {len(rows)}; correct the number.")
    file.require_room(n * n * 8, f"names {n:,} objects")
    values = np.full((n, n), np.nan)
    for at, (number, cells) in enumerate(rows):
        for column, cell in enumerate(cells[1:]):
            if (value := as_number(cell, ".")) is None:
                raise file.problem(not_a_number(cell, "."), row=number, column=column + 2)
            values[at, column] = value
    shape = "lower triangle" if lower else "square"
    return Square(values, [cells[0] for _, cells in rows], lambda i, j: (rows[i][0], j + 2), ("PHYLIP", shape))


def _row(file: InputFile, numbered: list[Any], wanted: int, *, wraps: bool) -> tuple[int, list[str]]:
    """Take an object's label and numbers off the lines."""
    number, cells, line = numbered.pop(0)
    while wraps and len(cells) <= wanted and numbered and as_number(numbered[0][1][0], ".") is not None:
        cells = cells + numbered.pop(0)[1]
    if len(cells) <= wanted and len(strict := line[_WIDTH:].split()) == wanted:  # the label touches a number
        return number, [line[:_WIDTH].strip(), *strict]
    if len(cells) <= wanted:
        raise file.problem(f"has {len(cells) - 1} numbers after {cells[0]!r}, not {wanted}; correct it.", row=number)
    at = len(cells) - wanted  # a label may contain blanks
    return number, [" ".join(cells[:at]), *cells[at:]]
