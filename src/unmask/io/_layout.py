"""Detecting how dissimilarities are arranged in rows of cells, from the first rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ._dialect import Grid
from ._escape import unescape
from ._numbers import as_number, is_text, is_whole

Cells = list[str]


@dataclass(frozen=True)
class Layout:
    """Where the numbers and the labels are."""

    shape: str  # "square", "lower", "condensed", "long" or "phylip"
    header: list[str] | None = None  # labels in the first row
    labelled: bool = False  # labels in the first column
    extra: bool = False  # every row ends in a delimiter, behind which there is nothing
    sure: bool = True  # it can hardly be anything but dissimilarities

    @property
    def detected(self) -> str:
        """Where the labels are."""
        if self.header is not None and self.labelled:
            return "labels in the first row and column"
        if self.labelled:
            return "labels in the first column"
        return "no labels" if self.header is None else "labels in the first row"


def find_layout(grid: Grid, shape: str, header: bool | None) -> Layout:
    """Return how the dissimilarities are arranged, in the shape given or, for "auto", the shape detected."""
    table = [row.cells() for row in grid.head]
    if shape == "auto":
        shape = _shape(table, grid, header)
    if shape in ("square", "lower"):
        return _table_layout(table, grid, header)
    named = header if header is not None else len(table) > 1 and is_text(table[0][-1], grid.decimal)
    return Layout(shape, [unescape(cell) for cell in table[0]] if named else None, sure=False)


# ---- the shape


def _shape(table: list[Cells], grid: Grid, header: bool | None) -> str:
    counts = [len(cells) for cells in table]
    if max(counts) == 1 or (len(table) == 1 and grid.complete and not any(is_text(c, grid.decimal) for c in table[0])):
        return "condensed"
    if _triangle_begins(table) is None:
        _refuse_wide_pairs(table, grid)
        if _is_long(table, grid, header):
            return "long"
    return "square"


def _triangle_begins(table: list[Cells]) -> int | None:
    """Return the row in which a triangle begins, 0 or, below a header, 1; None if rows do not grow by one."""
    counts = [len(cells) for cells in table]
    for start in (0, 1):
        rows = counts[start:]
        if len(rows) > 1 and rows[0] <= 2 and _grows(rows):
            return start
    return None


def _grows(counts: list[int]) -> bool:
    """Tell whether most rows are one cell longer than the one above; the reader reports a row that is not."""
    steps = [after - before for before, after in pairwise(counts)]
    return 3 * steps.count(1) >= 2 * len(steps)


def _is_long(table: list[Cells], grid: Grid, header: bool | None) -> bool:
    """Tell whether rows are pairs: three cells, the first two labels, the third a number."""
    if not _has_three_columns(table, grid):
        return False
    table = [cells for cells in table if len(cells) == 3]
    named = is_text(table[0][2], grid.decimal) if header is None else header
    body = table[1:] if named else table
    if not body or any(is_text(cells[2], grid.decimal) for cells in body):
        return False
    if named and [cells[0] for cells in body] == list(table[0][1:]):
        return False  # two objects, with their labels above and to the left
    if not _name_objects([cells[0] for cells in body], [cells[1] for cells in body], grid.decimal):
        return False
    texts = [is_text(cell, grid.decimal) for cells in body for cell in cells[:2]]
    if len(body) == 3 and grid.complete and 2 * sum(texts) < len(texts):
        # Three objects have a square table of three columns too, which has zeros on its diagonal.
        return any(as_number(body[at][at], grid.decimal) != 0 for at in range(3))
    return True


def _name_objects(first: Cells, second: Cells, decimal: str) -> bool:
    """Tell whether two columns hold labels of the same kind: texts or whole numbers, but for a few empty cells."""
    texts = [[is_text(label, decimal) for label in labels] for labels in (first, second)]
    if (all(texts[0]) and not any(texts[1])) or (all(texts[1]) and not any(texts[0])):
        return False  # names beside numbers: features of labelled objects
    filled = [label for label in [*first, *second] if label]
    few_empty = 5 * len(filled) >= 4 * (len(first) + len(second))
    return few_empty and all(is_whole(label) or is_text(label, decimal) for label in filled)


def _has_three_columns(table: list[Cells], grid: Grid) -> bool:
    """Tell whether rows have three cells; if they begin with labels, a few others count as errors of these rows."""
    three = [cells for cells in table if len(cells) == 3]
    if len(three) == len(table):
        return True
    return 2 * len(three) > len(table) and all(is_text(cell, grid.decimal) for cells in three[1:] for cell in cells[:2])


def _refuse_wide_pairs(table: list[Cells], grid: Grid) -> None:
    """Raise if pairs have more than one number each: which of them to read would be a guess."""
    widths = {len(cells) for cells in table}
    body = table[1:]
    if len(widths) > 1 or min(widths) <= 3 or len(body) < 2:
        return
    if all(is_text(cell, grid.decimal) for cells in body for cell in cells[:2]):
        raise grid.file.problem(
            f"has {min(widths)} columns, of which the first two hold text; a list of pairs has three, object, object, "
            "dissimilarity: leave the others out, or read it as a table of features."
        )


# ---- labels


def _table_layout(table: list[Cells], grid: Grid, header: bool | None) -> Layout:
    """Find the labels of a square table or a triangle."""
    begins = _triangle_begins(table)
    triangle = begins is not None
    named = (bool(begins) if triangle else _has_header(table, grid)) if header is None else header
    extra = not triangle and _ends_in_nothing(table, grid, named)
    if extra:
        table = [cells[:-1] for cells in table]
    body = table[1:] if named else table
    labelled = _is_labelled_triangle(body, grid) if triangle else _has_labels(table[0] if named else None, body, grid)
    shape = "lower" if triangle else "square"
    if not named:
        return Layout(shape, None, labelled, extra, sure=labelled or triangle)
    first = [unescape(cell) for cell in table[0]]
    first[0] = first[0].lstrip("# ") if first[0].startswith("#") else first[0]
    left = [unescape(cells[0]) for cells in body]
    # R leaves out the cell above the labels.
    corner = labelled and (left[0] != first[0] if triangle else len(first) == len(body[0]))
    labels = first[1:] if corner else first
    return Layout(shape, labels, labelled, extra, sure=triangle or (labelled and left == labels[: len(left)]))


def _ends_in_nothing(table: list[Cells], grid: Grid, named: bool) -> bool:
    """Tell whether every row, with the header, ends in a delimiter, which makes an empty last column."""
    if len(table) < 2 or any(len(cells) < 3 or cells[-1] for cells in table):
        return False
    if named:
        return True
    labelled = _mostly_text([cells[0] for cells in table], grid)
    return grid.complete and len(table[0]) == len(table) + 1 + labelled


def _has_header(table: list[Cells], grid: Grid) -> bool:
    """Tell whether the first row holds labels."""
    first, body = table[0], table[1:]
    texts = [is_text(cell, grid.decimal) for cell in first]
    filled = sum(cell != "" for cell in first[1:])
    corner = not first[0] or texts[0]
    if 2 * sum(texts[1:]) > filled or (corner and 2 * sum(texts[1:]) >= max(filled, 1)):
        return True
    return not any(texts[1:]) and bool(body) and _has_numbered_header(first, body, grid)


def _has_numbered_header(first: Cells, body: list[Cells], grid: Grid) -> bool:
    """Tell whether a first row of whole numbers holds labels."""
    names = first[1:]
    if not all(is_whole(cell) for cell in names) or len(set(names)) < len(names):
        return False
    left = [cells[0] for cells in body]
    if first[0] == "" and all(len(cells) > at and cells[at] == "" for at, cells in enumerate(body, 1)):
        return False  # the whole diagonal is empty
    if not is_whole(first[0]):  # an empty corner, or a word in it
        return left == list(names[: len(left)]) or first[0] == ""
    if len(first) == len(body[0]) - 1:
        return left == list(first[: len(left)])
    return grid.complete and len(body) == len(first) == len(body[0])  # one row too many for a square


def _mostly_text(cells: Cells, grid: Grid) -> bool:
    return 2 * sum(is_text(cell, grid.decimal) for cell in cells) > len(cells)


def _has_labels(header: Cells | None, body: list[Cells], grid: Grid) -> bool:
    """Tell whether the first column of a square table holds labels."""
    if not body:
        return False
    left = [cells[0] for cells in body]
    if _mostly_text(left, grid):
        return True
    if header is None:
        one_too_many = grid.complete and {len(cells) for cells in body} == {len(body) + 1}
        return one_too_many and all(is_whole(cell) for cell in left)
    if len(header) == len(body[0]) - 1 or left == list(header[1 : len(left) + 1]):
        return True
    return grid.complete and len(header) == len(body[0]) == len(body) + 1


def _is_labelled_triangle(body: list[Cells], grid: Grid) -> bool:
    """Tell whether the first column of a triangle holds labels."""
    left = [cells[0] for cells in body]
    if len(body[0]) == 2 or _mostly_text(left, grid):
        return True
    counted = any(left == [str(start + at) for at in range(len(left))] for start in (0, 1))
    return counted and any(as_number(cells[-1], grid.decimal) != 0 for cells in body[1:])
