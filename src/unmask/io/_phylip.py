"""PHYLIP: the number of objects, then a label and its distances per object."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ._cells import Cells, Row, as_number
from ._files import InputFile
from ._layout import Layout


def is_phylip(lines: Iterable[str]) -> bool:
    """Tell whether the first two lines are those of a PHYLIP file: a number alone, then a label."""
    first, second, *_ = [*[line for line in lines if line.strip()][:2], "", ""]
    if not re.fullmatch(r"\s*\d{1,9}\s*", first) or not second or re.search("[,;|]", second):
        return False
    cells = second.split()
    return as_number(cells[0], ".") is None or len(cells) == int(first) + 1


def read_phylip(file: InputFile, lines: Iterable[str]) -> tuple[Cells, Layout]:
    """Read a square matrix, whose rows may go on in the next lines, or a lower triangle, as rows of cells."""
    numbered = [(number, line.split(), line) for number, line in enumerate(lines, 1) if line.strip()]
    number, count, line = numbered.pop(0) if numbered else (1, [], "")
    if len(count) != 1 or not count[0].isdecimal() or int(count[0]) < 1:
        raise file.problem(
            f"a PHYLIP file begins with the number of objects, not with {line.strip()[:40]!r}; choose another shape.",
            row=number,
        )
    n, first = int(count[0]), numbered[0][1][1:] if numbered else []
    none = all(as_number(cell, ".") is None for cell in first)  # a triangle without diagonal
    lower = n > 1 and (none or (len(first) == 1 and as_number(first[0], ".") == 0))
    rows: list[Row] = []
    while numbered:
        number, cells, line = numbered.pop(0)
        wanted = len(rows) + (not none) if lower else n
        while not lower and len(cells) <= wanted and numbered and as_number(numbered[0][1][0], ".") is not None:
            cells = cells + numbered.pop(0)[1]
        if len(cells) <= wanted and len(strict := line[10:].split()) == wanted:  # a label of ten characters
            cells = [line[:10].strip(), *strict]
        if len(cells) <= wanted:
            raise file.problem(
                f"has {len(cells) - 1} numbers after {cells[0]!r}, not {wanted}; correct it.", row=number
            )
        at = len(cells) - wanted  # a label may contain blanks
        rows.append(Row(number, [" ".join(cells[:at]), *cells[at:]]))
    if len(rows) != n:
        raise file.problem(f"promises {n} objects in its first row, but has {len(rows)}; correct the number.")
    return Cells(file, rows, head=rows, complete=True, detected=("PHYLIP",), escaped=False), Layout(
        "lower" if lower else "square", labelled=True, sure=True
    )
