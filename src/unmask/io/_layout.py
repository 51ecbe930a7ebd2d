"""Detecting how dissimilarities are arranged: by the first rows of a file, and by the number of all rows."""

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
    header = cells.named if header is None else header
    begins = None if cells.labelled else _triangle_begins(table)
    if shape in ("auto", "condensed"):
        one_row = len(table) == 1 and cells.complete and not _texts(table[0], cells)
        if shape == "condensed" or max(map(len, table)) == 1 or one_row:
            named = len(table) > 1 and _texts(table[0][-1:], cells) if header is None else header
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
        width = len(table[0])
        alike = width > 3 and len(table) > 2 and all(len(row) == width for row in table)
        if alike and all(_texts(row[:2], cells) == 2 for row in table[1:]):
            raise cells.file.problem(
                f"has {width} columns, and the first two hold text; a list of pairs has three, object, object, "
                "dissimilarity, and perhaps a column of raters, named by rater=…: leave out other columns, or read it "
                "as a table of features."
            )
    return _square(table, cells, header) if begins is None else _triangle(table, cells, header, begins)


def _texts(row: list[str], cells: Cells) -> int:
    """Return how many cells are neither numbers nor missing."""
    return sum(is_text(cell, cells.decimal) for cell in row)


# ---- lists of pairs


def _find_pairs(table: Rows, cells: Cells, header: bool | None, rater: str | None, *, asked: bool) -> Layout | None:
    """Return the columns of a list of pairs; None if the first rows do not look like one, unless it is asked for."""
    lengths = [len(row) for row in table]
    width = max(set(lengths), key=lengths.count)
    if width not in (3, 4) or (width == 3 and rater is not None):
        return None
    body = [row for row in table if len(row) == width]
    if header is None:
        named = _has_names(body, cells) if width == 4 else len(table) > 1 and _texts(body[0][-1:], cells) > 0
    else:
        named = header
    names = table[0] if named else None
    body = body[1:] if names else body
    if width == 3:
        pairs = Layout("long", names)
        return pairs if asked or (body and _are_pairs(table, body, pairs, cells)) else None
    wanted = {rater.strip().casefold()} if rater is not None else _RATERS
    by_name = [at for at, name in enumerate(names or []) if name.strip().casefold() in wanted]
    found = []
    for at in by_name or ([] if rater is not None else range(4)):
        first, second, value = (other for other in range(4) if other != at)
        ones, others, numbers, raters = ([row[column] for row in body] for column in (first, second, value, at))
        if not body or _texts(numbers, cells) or not _name_objects(ones, others, cells):
            continue
        one, two = set(ones), set(others)
        shared = 2 * len(one & two) >= min(len(one), len(two))
        repeated = 2 * len({frozenset(pair) for pair in zip(ones, others, strict=True)}) <= len(body)
        texts = _texts([*one, *two], cells) == len(one) + len(two)
        several = 2 * len(set(raters)) <= len(body) or (repeated and texts and not cells.complete)  # sorted by pair
        likely = (shared or repeated) and several if by_name else shared and texts
        if asked or rater is not None or likely:
            found.append(Layout("long", names, ends=(first, second), value=value, rater=at))
    return found[0] if len(found) == 1 else None


def _has_names(table: Rows, cells: Cells) -> bool:
    """Tell whether the first row has text in a column that holds numbers below it."""
    below = list(zip(*table[1:], strict=True))
    return any(_texts([top], cells) and not _texts([*rest], cells) for top, rest in zip(table[0], below, strict=False))


def _are_pairs(table: Rows, body: Rows, pairs: Layout, cells: Cells) -> bool:
    """Tell whether three columns are object, object, dissimilarity."""
    texts = sum(_texts(row[:2], cells) for row in body)
    if any(len(row) != 3 for row in table) and texts < 2 * len(body):  # a wrong row of names is reported by the reader
        return False
    first, second, values = map(list, zip(*body, strict=True))
    # Two objects, with their labels above and to the left, are a square table.
    square = pairs.header is not None and first == pairs.header[1:]
    if square or _texts(values, cells) or not _name_objects(first, second, cells):
        return False
    # Three objects have a square table of three columns too, which has zeros on its diagonal.
    numbered = len(body) == 3 and cells.complete and texts < len(body)
    return not numbered or any(as_number(body[at][at], cells.decimal) for at in range(3))


def _name_objects(first: list[str], second: list[str], cells: Cells) -> bool:
    """Tell whether two columns hold labels of the same kind: texts or whole numbers, but for a few empty cells."""
    shares = sorted(_texts(labels, cells) / len(labels) for labels in (first, second))
    if shares == [0, 1]:
        return False  # names beside numbers: features of labelled objects
    filled = [label for label in [*first, *second] if label]
    few_empty = 4 * len(filled) >= 3 * (len(first) + len(second))
    return few_empty and all(is_whole(label) or is_text(label, cells.decimal) for label in filled)


# ---- lower triangles


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


def _triangle(table: Rows, cells: Cells, header: bool | None, begins: int) -> Layout:
    named = bool(begins) if header is None else header
    body = table[1:] if named else table
    left = [cells.plain(row[0]) for row in body]
    # Numbers from 0 or 1 are labels, unless they could be a diagonal of zeros.
    counted = left in ([str(start + at) for at in range(len(left))] for start in (0, 1))
    counted = counted and any(as_number(row[-1], cells.decimal) != 0 for row in body[1:])
    labelled = bool(body) and (len(body[0]) == 2 or 2 * _texts(left, cells) > len(left) or counted)
    names = first_row(cells) if named else None
    if names and labelled and left[0] != names[0]:  # R leaves out the cell above the labels
        names = names[1:]
    return Layout("lower", names, labelled, sure=True)


# ---- square tables


def _square(table: Rows, cells: Cells, header: bool | None) -> Layout:
    """Find the labels of a square table: texts, or whole numbers that make one row or column too many."""
    # Every row, with the header, may end in a delimiter, which makes an empty last column.
    widths = [len(row) for row in table]
    width = max(set(widths), key=widths.count)
    extra = len(table) > 1 and all(len(row) > 2 and not row[-1] for row in table)
    if extra and (cells.n_rows == width - 1 or header or _above(table[0][:-1], cells)):
        table, width = [row[:-1] for row in table], width - 1
    else:
        extra = False
    first, left = table[0], [row[0] for row in table[1:]]
    above, beside = _above(first, cells), cells.labelled or 2 * _texts(left, cells) > max(len(left), 1)
    if header is not None:
        above = header
        beside = beside or cells.n_rows - above == width - 1
    elif len(first) == width - 1:  # R leaves out the cell above the labels
        above = beside = True
    elif above or beside:
        above, beside = above or cells.n_rows == width, beside or cells.n_rows == width
    else:
        # Whole numbers: a row too many for a square, a column too many, or the same ones above and to the left.
        labels = all(map(is_whole, first[1:])) and len(set(first[1:])) == len(first) - 1
        empty_diagonal = not first[0] and not any(row[at] for at, row in enumerate(table) if at < len(row))
        both = cells.n_rows == width and first[1:] == left and not is_whole(first[0]) and not empty_diagonal
        above = labels and (cells.n_rows == width + 1 or both)
        beside = (all(map(is_whole, [*left, *first[:1]])) and cells.n_rows == width - 1) or (above and both)
    names = None
    if above:
        names = first_row(cells)[int(beside and len(first) == width) : len(first)]
    body = table[1:] if above else table
    agreed = names is None or [cells.plain(row[0]) for row in body] == names[: len(body)]
    return Layout("square", names, beside, extra, sure=beside and agreed)


def _above(first: list[str], cells: Cells) -> bool:
    """Tell whether the texts in a first row are labels."""
    texts, filled = _texts(first[1:], cells), sum(cell != "" for cell in first[1:])
    corner = not first[0] or is_text(first[0], cells.decimal)
    return 2 * texts > filled or (corner and 0 < 2 * texts >= filled)


def first_row(cells: Cells) -> list[str]:
    """Return the names in the first row; the first one may be marked as a comment."""
    names = [cells.plain(cell) for cell in cells.head[0].cells]
    return [names[0].lstrip("# ") if names[0].startswith("#") else names[0], *names[1:]]
