"""Detecting how dissimilarities are arranged in a text file, from its first rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ._escape import unescape
from ._pairs import Roles, find_roles
from ._text import Text, as_number, is_text, is_whole

Cells = list[str]


@dataclass(frozen=True)
class Layout:
    """Where the numbers and the labels are."""

    shape: str  # "square", "lower", "condensed" or "long"
    header: list[str] | None = None  # labels in the first row
    labelled: bool = False  # labels in the first column
    extra: bool = False  # every row ends in a delimiter with nothing behind it
    sure: bool = True  # it can hardly be anything but dissimilarities
    roles: Roles | None = None  # the columns of a list of pairs

    @property
    def detected(self) -> str:
        """A phrase for where the labels are."""
        if self.header is not None and self.labelled:
            return "labels in the first row and column"
        if self.labelled:
            return "labels in the first column"
        return "no labels" if self.header is None else "labels in the first row"


def find_layout(text: Text, shape: str, header: bool | None, rater: str | None = None) -> Layout:
    """Return how the dissimilarities are arranged, in the shape given or, for "auto", the shape detected."""
    table = [row.cells for row in text.head]
    mark = text.decimal
    begins = _triangle_begins(table)
    if shape in ("auto", "condensed"):
        one_row = len(table) == 1 and text.complete and not any(is_text(cell, mark) for cell in table[0])
        if shape == "condensed" or max(map(len, table)) == 1 or one_row:
            named = header if header is not None else len(table) > 1 and is_text(table[0][-1], mark)
            return Layout("condensed", table[0] if named else None, sure=False)
    if shape == "long" or (shape == "auto" and begins is None):
        roles = find_roles(table, mark, header, rater, complete=text.complete, asked=shape == "long")
        if roles is not None:
            return Layout("long", table[0] if roles.named else None, sure=False, roles=roles)
        if shape == "long":
            raise text.file.problem(
                f"has {len(table[-1])} cells where a list of pairs has three: object, object, dissimilarity.",
                row=text.head[-1].line,
            )
        _refuse_wide_pairs(table, text)
    return _table_layout(table, text, header, begins)


# ---- the shape


def _triangle_begins(table: list[Cells]) -> int | None:
    """Return the row in which a triangle begins, 0 or, below a header, 1; None if rows do not grow by one."""
    counts = [len(cells) for cells in table]
    for start in (0, 1):
        rows = counts[start:]
        steps = [after - before for before, after in pairwise(rows)]
        # Most rows are one cell longer than the one above; the reader reports a row that is not.
        if len(rows) > 1 and rows[0] <= 2 and 3 * steps.count(1) >= 2 * len(steps):
            return start
    return None


def _refuse_wide_pairs(table: list[Cells], text: Text) -> None:
    """Raise if pairs have more than one number each: to choose one would be a guess."""
    widths = {len(cells) for cells in table}
    body = table[1:]
    if len(widths) > 1 or min(widths) <= 3 or len(body) < 2:
        return
    if all(is_text(cell, text.decimal) for cells in body for cell in cells[:2]):
        raise text.file.problem(
            f"has {min(widths)} columns, and the first two hold text; a list of pairs has three, object, object, "
            "dissimilarity, and perhaps a column of raters, named by rater=…: leave out other columns, or read it as a "
            "table of features."
        )


# ---- labels


def _table_layout(table: list[Cells], text: Text, header: bool | None, begins: int | None) -> Layout:
    """Find the labels of a square table or a triangle."""
    triangle = begins is not None
    named = (bool(begins) if triangle else _has_header(table, text)) if header is None else header
    extra = not triangle and _ends_in_nothing(table, text, named)
    if extra:
        table = [cells[:-1] for cells in table]
    body = table[1:] if named else table
    labelled = _is_labelled_triangle(body, text) if triangle else _has_labels(table[0] if named else None, body, text)
    shape = "lower" if triangle else "square"
    if not named:
        return Layout(shape, None, labelled, extra, sure=labelled or triangle)
    first = [unescape(cell) for cell in table[0]]
    first[0] = first[0].lstrip("# ") if first[0].startswith("#") else first[0]
    left = [unescape(cells[0]) for cells in body]
    # R leaves out the cell above the labels.
    corner = labelled and bool(body) and (left[0] != first[0] if triangle else len(first) == len(body[0]))
    labels = first[1:] if corner else first
    return Layout(shape, labels, labelled, extra, sure=triangle or (labelled and left == labels[: len(left)]))


def _ends_in_nothing(table: list[Cells], text: Text, named: bool) -> bool:
    """Tell whether every row, with the header, ends in a delimiter, which makes an empty last column."""
    if len(table) < 2 or any(len(cells) < 3 or cells[-1] for cells in table):
        return False
    labelled = _mostly_text([cells[0] for cells in table], text)
    return named or (text.complete and len(table[0]) == len(table) + 1 + labelled)


def _has_header(table: list[Cells], text: Text) -> bool:
    """Tell whether the first row holds labels."""
    first, body = table[0], table[1:]
    texts = [is_text(cell, text.decimal) for cell in first]
    filled = sum(cell != "" for cell in first[1:])
    corner = not first[0] or texts[0]
    if 2 * sum(texts[1:]) > filled or (corner and 2 * sum(texts[1:]) >= max(filled, 1)):
        return True
    names = first[1:]
    if any(texts[1:]) or not body or not all(map(is_whole, names)) or len(set(names)) < len(names):
        return False
    # Whole numbers: the labels of the rows as well, or one row too many for a square.
    left = [cells[0] for cells in body]
    if first[0] == "" and all(len(cells) > at and cells[at] == "" for at, cells in enumerate(body, 1)):
        return False  # the whole diagonal is empty
    if not is_whole(first[0]):
        return left == names[: len(left)] or first[0] == ""
    if len(first) == len(body[0]) - 1:
        return left == first[: len(left)]
    return text.complete and len(body) == len(first) == len(body[0])


def _mostly_text(cells: Cells, text: Text) -> bool:
    return 2 * sum(is_text(cell, text.decimal) for cell in cells) > len(cells)


def _has_labels(header: Cells | None, body: list[Cells], text: Text) -> bool:
    """Tell whether the first column of a square table holds labels."""
    if not body:
        return False
    left = [cells[0] for cells in body]
    if _mostly_text(left, text):
        return True
    if header is None:
        one_too_many = text.complete and {len(cells) for cells in body} == {len(body) + 1}
        return one_too_many and all(map(is_whole, left))
    if len(header) == len(body[0]) - 1 or left == header[1 : len(left) + 1]:
        return True
    return text.complete and len(header) == len(body[0]) == len(body) + 1


def _is_labelled_triangle(body: list[Cells], text: Text) -> bool:
    """Tell whether the first column of a triangle holds labels."""
    left = [cells[0] for cells in body]
    if len(body[0]) == 2 or _mostly_text(left, text):
        return True
    counted = any(left == [str(start + at) for at in range(len(left))] for start in (0, 1))
    return counted and any(as_number(cells[-1], text.decimal) != 0 for cells in body[1:])
