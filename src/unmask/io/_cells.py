"""Tables as rows of cells, whatever the file: what numbers, missing cells and text look like."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, time
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..checking import is_missing, require_choice
from ._files import InputFile

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {
    "\t": "tab-separated",
    ";": "semicolon-separated",
    "|": "separated by |",
    ",": "comma-separated",
    " ": "space-separated",
    None: "one cell per line",
}
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "null"]
)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
HEAD_ROWS, HEAD_CHARACTERS = 200, 2**20


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
        require_choice("delimiter", self.delimiter, [*DELIMITERS])
        require_choice("decimal", self.decimal, [".", ",", None])
        if self.header not in (None, True, False):
            raise ValueError(f"header={self.header!r} must be True, False, or None to detect it.")
        if self.delimiter == self.decimal == ",":
            raise ValueError("delimiter=',' and decimal=',' cannot both hold; choose another of one of them.")
        if not isinstance(self.sheet, str | None):
            raise ValueError(f"sheet={self.sheet!r} must be a name, or None for the first sheet.")
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)
        except (LookupError, ValueError, TypeError):
            raise ValueError(
                f"encoding={self.encoding!r} is not the name of an encoding; 'utf-8', 'latin-1' and 'utf-16' are."
            ) from None


# ---- cells


def as_text(cell: Any) -> str:
    """Return a cell as text, empty if it is missing."""
    if is_missing(cell):
        return ""
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, float | np.floating):
        number = float(cell)
        return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)
    return str(cell)


def is_whole(cell: str) -> bool:
    """Tell whether a cell is a whole number: digits, perhaps with a sign."""
    return _WHOLE.fullmatch(cell) is not None


def as_number(cell: str, decimal: str) -> float | None:
    """Return a cell as a number, NaN where it is missing, None where it is text."""
    if cell in MISSING:
        return np.nan
    if decimal == ",":
        cell = "text" if "." in cell else cell.replace(",", ".")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def is_text(cell: str, decimal: str) -> bool:
    """Tell whether a cell is neither a number nor missing."""
    return as_number(cell, decimal) is None


def not_a_number(cell: str, decimal: str) -> str:
    """Return the message for a cell that should be a number."""
    shown = repr(cell if len(cell) <= 40 else f"{cell[:40]}…")
    other = {".": (DECIMAL_COMMA, "comma", "point"), ",": (_DECIMAL_POINT, "point", "comma")}[decimal]
    if other[0].fullmatch(cell):
        return f"{shown} has a decimal {other[1]} where others have a decimal {other[2]}; use one of them throughout."
    return f"{shown} is not a number; correct it, or leave the cell empty if the number is missing."


def find_decimal(cells: Iterable[str]) -> str | None:
    """Return the decimal mark that most cells use, None where none does."""
    points = commas = 0
    for cell in cells:
        points += _DECIMAL_POINT.fullmatch(cell) is not None
        commas += DECIMAL_COMMA.fullmatch(cell) is not None
    return "," if commas > points else "." if points else None


def typed(cells: Iterable[str], decimal: str) -> pd.Series[Any]:
    """Return a column of numbers if every cell is one or is missing, and of text otherwise."""
    import pandas as pd

    cells = list(cells)
    numbers = [as_number(cell, decimal) for cell in cells]
    if None in numbers:
        return pd.Series([None if cell in MISSING else unescape(cell) for cell in cells], dtype=object)
    return pd.Series(numbers, dtype=np.float64)


# A spreadsheet runs a cell of a CSV file that begins with = + - or @. An apostrophe before it marks the cell as text.
# Cells that have the apostrophe already get another one, so that taking one off always gives the text that was written.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r\n]")


def escape(cell: Any) -> Any:
    """Return text with an apostrophe before it if a spreadsheet would run it; anything else as it is."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def unescape(cell: Any) -> Any:
    """Return the text that ``escape`` was given."""
    return cell[1:] if isinstance(cell, str) and _ESCAPED.match(cell) else cell


# ---- tables of cells


class Row(NamedTuple):
    """A row of cells, and the line of the file on which it begins."""

    line: int
    cells: list[str]


@dataclass
class Cells:
    """A table as rows of cells, of which the first are kept as its head; other kinds of files override ``rows``."""

    file: InputFile
    stored: Any = ()  # the rows
    decimal: str = "."
    detected: tuple[str, ...] = ()
    decimal_detected: tuple[str, ...] = ()
    named: bool | None = None  # whether the first row has names; None if that has to be detected
    labelled: bool = False  # the file itself says that the first column has labels
    escaped: bool = True  # text may have been escaped
    head: list[Row] = field(default_factory=list)
    complete: bool = False  # the head is all there is

    @cached_property
    def n_rows(self) -> int:
        """Number of all rows."""
        return len(self.head) if self.complete else sum(1 for _ in self.rows())

    def rows(self, skip: int = 0) -> Iterator[Row]:
        """Return all rows after the first ``skip``, without blank ones."""
        return iter(self.stored[skip:])

    def read_head(self, decimal: str | None = None) -> None:
        """Keep the first rows, and find out which decimal mark they have."""
        size = 0
        for row in self.rows():
            if len(self.head) > 2 and (len(self.head) >= HEAD_ROWS or size > HEAD_CHARACTERS):
                break
            self.head.append(row)
            size += sum(map(len, row.cells))
        else:
            self.complete = True
        if not self.head:
            raise self.file.problem("holds nothing but blank lines; write the table again.")
        found = find_decimal(cell for row in self.head for cell in row.cells)
        self.decimal = decimal or found or "."
        if found and self.escaped:
            self.decimal_detected = ("decimal comma" if self.decimal == "," else "decimal point",)

    def plain(self, cell: str) -> str:
        """Return the text of a label or name."""
        return unescape(cell) if self.escaped else cell

    def line(self, at: int, skip: int) -> int:
        """Return the line of a row, counted from 0 after the first ``skip``."""
        return next(islice(self.rows(skip), at, None)).line

    def require_width(self, rows: Iterable[Row], width: int) -> None:
        """Raise at the first row of another width."""
        for row in rows:
            if len(row.cells) != width:
                raise self.file.problem(
                    f"has {len(row.cells)} cells where {width} are expected; is a delimiter missing, or one too many?",
                    row=row.line,
                )

    def number(self, row: Row, at: int) -> float:
        """Return one cell as a number."""
        number = as_number(row.cells[at], self.decimal)
        if number is None:
            raise self.file.problem(not_a_number(row.cells[at], self.decimal), row=row.line, column=at + 1)
        return number

    def frame(self, skip: int, width: int, text: Collection[int] = (), *, numeric: bool) -> pd.DataFrame:
        """Return the rows after the first ``skip``: some columns as text, all others as numbers if they can be.

        With ``numeric`` they must be.
        """
        import pandas as pd

        columns: list[list[Any]] = [[] for _ in range(width)]
        for row in self.rows(skip):
            self.require_width([row], width)
            for at, cell in enumerate(row.cells):
                columns[at].append(self.plain(cell) if at in text else self.number(row, at) if numeric else cell)
        return pd.DataFrame(
            {at: c if numeric or at in text else typed(c, self.decimal) for at, c in enumerate(columns)}
        )
