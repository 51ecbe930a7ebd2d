"""Detecting how dissimilarities are arranged, from the first rows of a file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ._cells import Cells, as_number, is_text, is_whole

_RATERS = frozenset(
    ["rater", "judge", "who", "participant", "subject", "person", "respondent", "annotator", "worker", "user"]
)
Rows = list[list[str]]


@dataclass(frozen=True)
class Layout:
    """Where the numbers and the labels are."""

    shape: str  # "square", "lower", "condensed" or "long"
    header: list[str] | None = None  # what the first row names
    labelled: bool = False  # labels in the first column
    extra: bool = False  # every row ends in a delimiter with nothing behind it
    sure: bool = False  # it can hardly be anything but dissimilarities
    # Columns of a list of pairs.
    ends: tuple[int, int] = (0, 1)
    value: int = 2
    rater: int | None = None

    @property
    def skip(self) -> int:
        """Number of rows before the first one of numbers."""
        return int(self.header is not None)


def find_layout(cells: Cells, shape: str, header: bool | None, rater: str | None = None) -> Layout:
    """Return how the dissimilarities are arranged, in the shape given or, for "auto", the shape detected."""
    table = [row.cells for row in cells.head]
    mark = cells.decimal
    header = cells.named if header is None else header
    begins = None if cells.labelled else _triangle_begins(table)
    if shape in ("auto", "condensed"):
        one_row = len(table) == 1 and cells.complete and not any(is_text(cell, mark) for cell in table[0])
        if shape == "condensed" or max(map(len, table)) == 1 or one_row:
            named = header if header is not None else len(table) > 1 and is_text(table[0][-1], mark)
            return Layout("condensed", table[0] if named else None)
    if shape == "long" or (shape == "auto" and begins is None and not cells.labelled):
        pairs = _find_pairs(table, cells, header, rater, asked=shape == "long")
        if pairs is not None:
            return pairs
        if shape == "long":
            raise cells.file.problem(
                f"has {len(table[-1])} cells where a list of pairs has three: object, object, dissimilarity.",
                row=cells.head[-1].line,
            )
        widths = {len(row) for row in table}
        named_twice = all(is_text(cell, mark) for row in table[1:] for cell in row[:2])
        if len(widths) == 1 and min(widths) > 3 and len(table) > 2 and named_twice:
            raise cells.file.problem(
                f"has {min(widths)} columns, and the first two hold text; a list of pairs has three, object, object, "
                "dissimilarity, and perhaps a column of raters, named by rater=…: leave out other columns, or read it "
                "as a table of features."
            )
    return _table_layout(table, cells, header, begins)


def _triangle_begins(table: Rows) -> int | None:
    """Return the row in which a triangle begins, 0 or, below a header, 1; None if rows do not grow by one."""
    counts = [len(row) for row in table]
    for start in (0, 1):
        rows = counts[start:]
        steps = [after - before for before, after in pairwise(rows)]
        # Most rows are one cell longer than the one above; the reader reports a row that is not.
        if len(rows) > 1 and rows[0] <= 2 and 3 * steps.count(1) >= 2 * len(steps):
            return start
    return None


# ---- lists of pairs


def _find_pairs(table: Rows, cells: Cells, header: bool | None, rater: str | None, *, asked: bool) -> Layout | None:
    """Return the columns of a list of pairs; None if the first rows do not look like one, unless it is asked for."""
    mark = cells.decimal
    lengths = [len(row) for row in table]
    width = max(set(lengths), key=lengths.count)
    if width not in (3, 4) or (width == 3 and rater is not None):
        return None
    regular = [row for row in table if len(row) == width]
    if header is None:
        named = _is_named(regular, mark) if width == 4 else len(table) > 1 and is_text(regular[0][-1], mark)
    else:
        named = header
    body = regular[1:] if named else regular
    names = table[0] if named else None
    if width == 3:
        pairs = Layout("long", names)
        return pairs if asked or (body and _are_pairs(table, body, pairs, cells)) else None
    wanted = {rater.strip().casefold()} if rater is not None else _RATERS
    by_name = [at for at, name in enumerate(names or []) if name.strip().casefold() in wanted]
    found = []
    for at in by_name or ([] if rater is not None else range(4)):
        first, second, value = (other for other in range(4) if other != at)
        columns = [[row[column] for row in body] for column in (first, second, value, at)]
        if (
            not body
            or any(is_text(cell, mark) for cell in columns[2])
            or not _name_objects(columns[0], columns[1], mark)
        ):
            continue
        one, two = (set(column) for column in columns[:2])
        shared = 2 * len(one & two) >= min(len(one), len(two))
        repeated = 2 * len({frozenset(pair) for pair in zip(*columns[:2], strict=True)}) <= len(body)
        texts = all(is_text(cell, mark) for cell in one | two)
        several = 2 * len(set(columns[3])) <= len(body) or (repeated and texts and not cells.complete)  # sorted by pair
        if asked or rater is not None or ((shared or repeated) and several if by_name else shared and texts):
            found.append(Layout("long", names, ends=(first, second), value=value, rater=at))
    return found[0] if len(found) == 1 else None


def _is_named(table: Rows, mark: str) -> bool:
    """Tell whether the first row has text in a column that holds numbers below it."""
    body = table[1:]
    tops = [at for at, cell in enumerate(table[0]) if body and is_text(cell, mark)]
    return any(not any(is_text(row[at], mark) for row in body) for at in tops)


def _are_pairs(table: Rows, body: Rows, pairs: Layout, cells: Cells) -> bool:
    """Tell whether three columns are object, object, dissimilarity."""
    mark = cells.decimal
    texts = [is_text(cell, mark) for row in body for cell in row[:2]]
    if any(len(row) != 3 for row in table) and not all(texts):  # a wrong row of names is reported by the reader
        return False
    first, second, values = map(list, zip(*body, strict=True))
    # Two objects, with their labels above and to the left, are a square table.
    square = pairs.header is not None and first == pairs.header[1:]
    if square or any(is_text(cell, mark) for cell in values) or not _name_objects(first, second, mark):
        return False
    # Three objects have a square table of three columns too, which has zeros on its diagonal.
    numbered = len(body) == 3 and cells.complete and 2 * sum(texts) < len(texts)
    return not numbered or any(as_number(body[at][at], mark) for at in range(3))


def _name_objects(first: list[str], second: list[str], mark: str) -> bool:
    """Tell whether two columns hold labels of the same kind: texts or whole numbers, but for a few empty cells."""
    texts = [[is_text(label, mark) for label in labels] for labels in (first, second)]
    if (all(texts[0]) and not any(texts[1])) or (all(texts[1]) and not any(texts[0])):
        return False  # names beside numbers: features of labelled objects
    filled = [label for label in [*first, *second] if label]
    few_empty = 4 * len(filled) >= 3 * (len(first) + len(second))
    return few_empty and all(is_whole(label) or is_text(label, mark) for label in filled)


# ---- labels


def _table_layout(table: Rows, cells: Cells, header: bool | None, begins: int | None) -> Layout:
    """Find the labels of a square table or a triangle."""
    triangle, mark = begins is not None, cells.decimal
    named = (bool(begins) if triangle else _has_header(table, cells)) if header is None else header
    # Every row, with the header, may end in a delimiter, which makes an empty last column.
    extra = not triangle and len(table) > 1 and all(len(row) > 2 and not row[-1] for row in table)
    if extra:
        one_more = len(table[0]) == len(table) + 1 + _mostly_text([row[0] for row in table], mark)
        extra = named or (cells.complete and one_more)
    table = [row[:-1] for row in table] if extra else table
    body = table[1:] if named else table
    left = [cells.plain(row[0]) for row in body]
    if triangle:
        # Numbers from 0 or 1 are labels, unless they could be a diagonal of zeros.
        counted = left in ([str(start + at) for at in range(len(left))] for start in (0, 1))
        counted = counted and any(as_number(row[-1], mark) != 0 for row in body[1:])
        labelled = bool(body) and (len(body[0]) == 2 or _mostly_text(left, mark) or counted)
    else:
        labelled = cells.labelled or _has_labels(table[0] if named else None, body, cells)
    shape = "lower" if triangle else "square"
    if not named:
        return Layout(shape, None, labelled, extra, sure=labelled or triangle)
    first = [cells.plain(cell) for cell in table[0]]
    first[0] = first[0].lstrip("# ") if first[0].startswith("#") else first[0]
    # R leaves out the cell above the labels.
    corner = labelled and bool(body) and (left[0] != first[0] if triangle else len(first) == len(body[0]))
    labels = first[1:] if corner else first
    return Layout(shape, labels, labelled, extra, sure=triangle or (labelled and left == labels[: len(left)]))


def _mostly_text(cells: list[str], mark: str) -> bool:
    return 2 * sum(is_text(cell, mark) for cell in cells) > len(cells)


def _has_header(table: Rows, cells: Cells) -> bool:
    """Tell whether the first row holds labels."""
    first, body = table[0], table[1:]
    texts = [is_text(cell, cells.decimal) for cell in first]
    filled = sum(cell != "" for cell in first[1:])
    corner = not first[0] or texts[0]
    if 2 * sum(texts[1:]) > filled or (corner and 2 * sum(texts[1:]) >= max(filled, 1)):
        return True
    names = first[1:]
    if any(texts[1:]) or not body or not all(map(is_whole, names)) or len(set(names)) < len(names):
        return False
    # Whole numbers: the labels of the rows as well, or one row too many for a square.
    left = [row[0] for row in body]
    if first[0] == "" and all(len(row) > at and row[at] == "" for at, row in enumerate(body, 1)):
        return False  # the whole diagonal is empty
    if not is_whole(first[0]):
        return left == names[: len(left)] or first[0] == ""
    if len(first) == len(body[0]) - 1:
        return left == first[: len(left)]
    return cells.complete and len(body) == len(first) == len(body[0])


def _has_labels(header: list[str] | None, body: Rows, cells: Cells) -> bool:
    """Tell whether the first column of a square table holds labels."""
    if not body:
        return False
    left = [row[0] for row in body]
    if _mostly_text(left, cells.decimal):
        return True
    if header is None:
        one_too_many = cells.complete and {len(row) for row in body} == {len(body) + 1}
        return one_too_many and all(map(is_whole, left))
    if len(header) == len(body[0]) - 1 or left == header[1 : len(left) + 1]:
        return True
    return cells.complete and len(header) == len(body[0]) == len(body) + 1
