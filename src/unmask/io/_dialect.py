"""Detecting how a text file is divided into cells, from its first lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise

from ..checking import require_choice
from ._frames import excel_rows
from ._input_file import InputFile
from ._numbers import find_decimal, is_text
from ._text import Dialect, FileRow, find_encoding, lines_of, rows_of

_DELIMITERS = {
    "\t": "tab-separated",
    ";": "semicolon-separated",
    "|": "separated by |",
    ",": "comma-separated",
    " ": "space-separated",
    None: "one cell per line",
}
_DECIMALS = {".": "decimal point", ",": "decimal comma"}
_HEAD_LINES = 200
_HEAD_CHARACTERS = 2**20
_JUDGED_LINES = 30  # from which the delimiter is detected


@dataclass(frozen=True)
class Grid:
    """A file as rows of cells, of which the first ones have been read already."""

    file: InputFile
    head: Sequence[FileRow]
    rest: Iterator[FileRow]  # the rows after the head
    complete: bool  # the head is all there is
    decimal: str
    detected: tuple[str, ...]
    decimal_detected: tuple[str, ...] = ()

    def rows(self, skip: int = 0) -> Iterator[FileRow]:
        """Give all rows once, after the first ``skip``."""
        return chain(self.head[skip:], self.rest)


@dataclass(frozen=True)
class FormatOptions:
    """The format of a file as far as the user gave it; None where it is to be detected."""

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        """Raise if an option is invalid."""
        require_choice("delimiter", self.delimiter, [*_DELIMITERS])
        require_choice("decimal", self.decimal, [*_DECIMALS, None])
        if self.delimiter == self.decimal == ",":
            raise ValueError("delimiter=',' and decimal=',' cannot both hold; choose another of one of them.")
        if self.header not in (None, True, False):
            raise ValueError(f"header={self.header!r} must be True, False, or None to find out.")
        for name in ("encoding", "sheet"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                raise ValueError(f"{name}={value!r} must be a name, or None to find out.")


@contextmanager
def open_grid(file: InputFile, options: FormatOptions) -> Iterator[Grid]:
    """Open a text file or a sheet of an Excel file as rows of cells."""
    if file.kind == "excel":
        sheet, detected = excel_rows(file, options.sheet)
        yield _grid_of(file, iter(sheet), options.decimal, detected)
        return
    encoding = find_encoding(file, options.encoding)
    with lines_of(file, encoding) as lines:
        first = _first_lines(lines)
    dialect = find_dialect(first, options)
    with ExitStack() as stack:
        rows = rows_of(file, stack.enter_context(lines_of(file, encoding)), dialect)
        detected = tuple(filter(None, (encoding.detected, _DELIMITERS[dialect.delimiter])))
        if dialect.comments:
            detected += (f"{dialect.comments} comment line{'s' * (dialect.comments > 1)} left out",)
        yield _grid_of(file, rows, options.decimal, detected, separated_by_comma=dialect.delimiter == ",")


def _grid_of(
    file: InputFile,
    rows: Iterator[FileRow],
    decimal: str | None,
    detected: tuple[str, ...],
    *,
    separated_by_comma: bool = False,
) -> Grid:
    """Read the first rows and detect the decimal mark."""
    head: list[FileRow] = []
    size = 0
    complete = False
    while len(head) < 3 or (len(head) < _HEAD_LINES and size < _HEAD_CHARACTERS):
        row = next(rows, None)
        if row is None:
            complete = True
            break
        head.append(row)
        size += row.flat(0)[1] * 8
    if not head:
        raise file.problem("holds nothing but blank lines; write the table again.")
    mark = decimal or find_decimal(chain.from_iterable(row.cells() for row in head))
    if mark and separated_by_comma:
        mark = "."
    return Grid(file, head, rows, complete, mark or ".", detected, (_DECIMALS[mark],) if mark else ())


def _first_lines(lines: Iterator[str]) -> list[str]:
    """Return the first lines, from which the format is detected."""
    first: list[str] = []
    size = 0
    for line in lines:
        first.append(line)
        size += len(line)
        if len(first) > 2 and (len(first) >= _HEAD_LINES or size > _HEAD_CHARACTERS):
            break
    return first


# ---- the delimiter


def find_dialect(lines: list[str], options: FormatOptions) -> Dialect:
    """Detect how lines are divided into cells."""
    leading = _leading_comments(lines)
    body = [line.rstrip("\r\n") for line in lines[leading:] if line.strip()][:_JUDGED_LINES]
    delimiter = options.delimiter or _best_delimiter(body, options.decimal)
    dialect = Dialect(delimiter)
    if leading and body:
        # A last "comment" that has as many cells as the table is its header.
        last = max(at for at in range(leading) if lines[at].strip())
        cells, expected = (len(dialect.cells(line, strict=False)) for line in (lines[last], body[0]))
        if cells > 1 and cells in (expected, expected - 1):
            leading = last
    return Dialect(delimiter, comments=leading)


def _leading_comments(lines: list[str]) -> int:
    """Return how many lines at the beginning are comments, with the blank ones among them."""
    count = 0
    for at, line in enumerate(lines, 1):
        if line.lstrip("\ufeff").startswith("#"):
            count = at
        elif line.strip():
            break
    return count


def _best_delimiter(lines: list[str], decimal: str | None) -> str | None:
    """Return the delimiter that divides lines into a table, of numbers if possible; None for one cell per line."""
    quality = {}
    for delimiter in ("\t", ";", "|", ",", " "):
        if delimiter == decimal:
            continue
        cut = [Dialect(delimiter).cells(line, strict=False) for line in lines]
        if cut and 2 * sum(len(cells) > 1 for cells in cut) >= len(cut):
            regular, torn = _regular([len(cells) for cells in cut]), _share_torn(cut, delimiter, decimal)
            quality[delimiter] = (regular, -torn, _share_of_numbers(cut, delimiter, decimal))
    spaced = quality.pop(" ", None)
    if not quality:
        return " " if spaced and spaced[0] else None
    best = max(quality, key=lambda delimiter: quality[delimiter])  # of equals, the first
    # Blanks are in texts too: they delimit only where that makes every cell a number, nothing else does, and no text
    # is left that another delimiter would divide ("13.2,1.78,cultivar 2").
    return " " if spaced and spaced[2] == 1 > quality[best][2] and spaced[1] >= quality[best][1] else best


def _regular(counts: list[int]) -> bool:
    """Tell whether rows have the same length, or grow by one as a triangle does, with or without a header."""
    for rows in (counts, counts[1:]):
        steps = {after - before for before, after in pairwise(rows)}
        if steps <= {0} or steps == {1}:
            return True
    return False


def _share_torn(cut: list[list[str]], delimiter: str, decimal: str | None) -> float:
    """Return the share of lines with a text that contains another delimiter, a sign of the wrong one."""
    mark = _mark(chain.from_iterable(cut), delimiter, decimal)
    others = set("\t;|,") - {delimiter}
    torn = [any(others & set(cell) and is_text(cell, mark) for cell in cells) for cells in cut]
    return sum(torn) / len(torn)


def _mark(cells: Iterable[str], delimiter: str, decimal: str | None) -> str:
    return decimal or ("." if delimiter == "," else find_decimal(cells) or ".")


def _share_of_numbers(cut: list[list[str]], delimiter: str, decimal: str | None) -> float:
    """Return the share of numbers among all cells but the first row and column, which may be labels."""
    body = [cell for cells in cut[1:] for cell in cells[1:]] or [cell for cells in cut for cell in cells]
    mark = _mark(body, delimiter, decimal)
    return sum(not is_text(cell, mark) for cell in body) / len(body)
