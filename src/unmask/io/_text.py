"""Text files: encoding, delimiter and decimal mark are detected from the first lines, then pandas reads the cells.

Only where pandas fails, or leaves a doubt, is the file read again by the csv module: to name the row and the column of
what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import Array
from ..checking import require_choice
from ._input_file import InputFile
from ._problems import FileProblem

if TYPE_CHECKING:
    import pandas as pd

_DELIMITERS = {
    "\t": "tab-separated",
    ";": "semicolon-separated",
    "|": "separated by |",
    ",": "comma-separated",
    " ": "space-separated",
    None: "one cell per line",
}
_DECIMALS = {".": "decimal point", ",": "decimal comma"}
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "null"]
)
_HEAD_LINES = 200
_HEAD_CHARACTERS = 2**20
_JUDGED_LINES = 30  # from which the delimiter is detected
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_MARKS = {
    b"\xef\xbb\xbf": ("utf-8-sig", "UTF-8 with a byte-order mark"),
    b"\xff\xfe": ("utf-16", "UTF-16"),
    b"\xfe\xff": ("utf-16", "UTF-16"),
}


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
            raise ValueError(f"header={self.header!r} must be True, False, or None to detect it.")
        for name in ("encoding", "sheet"):
            if not isinstance(getattr(self, name), str | None):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a name, or None to detect it.")
        if self.encoding is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)
            except (LookupError, TypeError, ValueError):
                raise ValueError(
                    f"encoding={self.encoding!r} is not the name of an encoding; 'utf-8', 'latin-1' and 'utf-16' are."
                ) from None


# ---- cells


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
    other = {".": (_DECIMAL_COMMA, "comma", "point"), ",": (_DECIMAL_POINT, "point", "comma")}[decimal]
    if other[0].fullmatch(cell):
        return f"{shown} has a decimal {other[1]} where others have a decimal {other[2]}; use one of them throughout."
    return f"{shown} is not a number; correct it, or leave the cell empty if the number is missing."


def typed(cells: list[str], decimal: str) -> pd.Series[Any]:
    """Return a column of numbers if every cell is one or is missing, and of text otherwise."""
    import pandas as pd

    numbers: list[float] = []
    for cell in cells:
        number = as_number(cell, decimal)
        if number is None:
            return pd.Series([None if cell in MISSING else cell for cell in cells])
        numbers.append(number)
    return pd.Series(numbers, dtype=np.float64)


# ---- files


class Row(NamedTuple):
    """A row of cells, the line on which it begins, and the line after it."""

    line: int
    after: int
    cells: list[str]


@dataclass
class Text:
    """A text file as rows of cells, of which the first are known."""

    file: InputFile
    encoding: str
    delimiter: str | None
    comments: int  # lines at the beginning that are not part of the table
    decimal: str = "."
    detected: tuple[str, ...] = ()
    decimal_detected: tuple[str, ...] = ()
    quoted: bool = False
    head: list[Row] = field(default_factory=list)
    complete: bool = False  # the head is all there is

    def rows(self, skip: int = 0) -> Iterator[Row]:
        """Read rows of cells, after the first ``skip``; blank lines are left out."""
        start = self.comments if skip == 0 else self.head[skip - 1].after - 1
        with _lines(self.file, self.encoding, start) as lines:
            blanks = self.delimiter == " "  # any number of blanks and tabs
            body = (line.replace("\t", " ").strip(" ") for line in lines) if blanks else lines
            delimiter = "\x1f" if self.delimiter is None else self.delimiter
            reader = csv.reader(body, delimiter=delimiter, skipinitialspace=True, strict=True)
            line = start + 1
            while True:
                try:
                    cells = next(reader, None)
                except csv.Error as error:
                    raise self.file.problem(_explained(error), row=line) from None
                if cells is None:
                    return
                after = start + reader.line_num + 1
                cells = cells if self.quoted else [cell.rstrip() for cell in cells]
                if len(cells) > 1 or any(cells):
                    yield Row(line, after, cells)
                line = after

    def line(self, at: int, skip: int) -> int:
        """Return the line of a row, counted from 0 after the first ``skip``."""
        return next(row.line for number, row in enumerate(self.rows(skip)) if number == at)

    def numbers(self, skip: int, width: int, text: Collection[int]) -> pd.DataFrame:
        """Return the rows after the first ``skip``: some columns as text, and all others as numbers."""
        from pandas.api import types

        frame = self._read(skip, width, text, low_memory=True)
        others = [at for at in range(width) if at not in text]
        if frame is not None and all(
            types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind) for kind in frame.dtypes[others].unique()
        ):
            return frame
        return self._slowly(skip, width, text, numeric=True)

    def columns(self, skip: int, width: int, text: Collection[int]) -> pd.DataFrame:
        """Return the rows after the first ``skip``: some columns as text, and all others as numbers if they can be."""
        from pandas.api import types

        frame = self._read(skip, width, text, low_memory=False)
        if frame is None:
            return self._slowly(skip, width, text, numeric=False)
        for at in frame.columns[
            [not (types.is_numeric_dtype(kind) or at in text) for at, kind in frame.dtypes.items()]
        ]:
            cells = ["" if missing else str(cell) for cell, missing in zip(frame[at], frame[at].isna(), strict=True)]
            if not self.quoted:
                cells = [cell.rstrip() for cell in cells]
            frame[at] = typed(cells, self.decimal)
        return frame

    def _read(self, skip: int, width: int, text: Collection[int], *, low_memory: bool) -> pd.DataFrame | None:
        """Read by pandas; None if it fails."""
        import pandas as pd

        self._require_width(self.head[skip:], width)
        start = self.comments if skip == 0 else self.head[skip - 1].after - 1
        stream = _open(self.file, self.encoding)
        try:
            for _ in range(start):
                stream.readline()
            frame = pd.read_csv(
                stream,
                header=None,
                names=range(width),  # type: ignore[arg-type]
                index_col=False,
                sep={" ": r"\s+", None: "\x1f"}.get(self.delimiter, self.delimiter),
                decimal=self.decimal,
                dtype=dict.fromkeys(text, object),  # type: ignore[arg-type]
                na_values=sorted(MISSING),
                keep_default_na=False,
                skipinitialspace=True,
                low_memory=low_memory,
                **exact(),
            )
        except FileProblem:
            raise
        except (ValueError, OverflowError):  # pandas' own errors are ValueErrors too
            return None
        finally:
            stream.detach()
        return frame if self._confirm(frame, skip, width, text) else None

    def _confirm(self, frame: pd.DataFrame, skip: int, width: int, text: Collection[int]) -> bool:
        """Look for rows that are too short, which pandas fills, and restore labels such as NA."""
        if not self.quoted:
            for at in text:
                frame[at] = [cell.rstrip() if isinstance(cell, str) else cell for cell in frame[at]]
        if not frame.iloc[:, -1].isna().any() and not any(frame[at].isna().any() for at in text):
            return True
        kept: dict[int, list[str]] = {at: [] for at in text}
        n = 0
        for row in self.rows(skip):
            self._require_width([row], width)
            n += 1
            for at, cells in kept.items():
                cells.append(row.cells[at])
        if n == len(frame):
            for at, cells in kept.items():
                frame[at] = np.array(cells, dtype=object)
        return n == len(frame)

    def _slowly(self, skip: int, width: int, text: Collection[int], *, numeric: bool) -> pd.DataFrame:
        """Read by the csv module, and raise at the first cell that is wrong."""
        import pandas as pd

        columns: list[list[Any]] = [[] for _ in range(width)]
        for row in self.rows(skip):
            self._require_width([row], width)
            for at, cell in enumerate(row.cells):
                number = as_number(cell, self.decimal) if numeric and at not in text else cell
                if number is None:
                    raise self.file.problem(not_a_number(cell, self.decimal), row=row.line, column=at + 1)
                columns[at].append(number)
        if numeric:
            return pd.DataFrame(dict(enumerate(columns)))
        return pd.DataFrame(
            {at: cells if at in text else typed(cells, self.decimal) for at, cells in enumerate(columns)}
        )

    def parse(self, cells: Iterable[tuple[int, int, str]]) -> Array:
        """Return cells, each with its line and column, as numbers."""
        values = []
        for line, column, cell in cells:
            number = as_number(cell, self.decimal)
            if number is None:
                raise self.file.problem(not_a_number(cell, self.decimal), row=line, column=column)
            values.append(number)
        return np.array(values, dtype=np.float64)

    def _require_width(self, rows: Iterable[Row], width: int) -> None:
        for row in rows:
            if len(row.cells) != width:
                raise self.file.problem(
                    f"has {len(row.cells)} cells where {width} are expected; is a delimiter missing, or one too many?",
                    row=row.line,
                )


def exact() -> dict[str, Any]:
    """Return the option for exact numbers, which later versions of pandas always read and no longer accept."""
    import pandas as pd

    major, minor = (int(part) for part in pd.__version__.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def open_text(file: InputFile, options: FormatOptions) -> Text:
    """Detect the format of a text file from its first lines."""
    encoding, phrase = _encoding(file, options.encoding)
    first: list[str] = []
    with _lines(file, encoding) as lines:
        for line in lines:
            first.append(line)
            if len(first) > 2 and (len(first) >= _HEAD_LINES or sum(map(len, first)) > _HEAD_CHARACTERS):
                break
    comments = _leading_comments(first)
    body = [line.rstrip("\r\n") for line in first[comments:] if line.strip()][:_JUDGED_LINES]
    delimiter = options.delimiter or _best_delimiter(body, options.decimal)
    if comments and body:
        # A last "comment" that has as many cells as the table is its header.
        last = max(at for at in range(comments) if first[at].strip())
        cells, expected = (len(_cut(line, delimiter)) for line in (first[last], body[0]))
        if cells > 1 and cells in (expected, expected - 1):
            comments = last
    text = Text(file, encoding, delimiter, comments, quoted='"' in "".join(first))
    size = 0
    for row in text.rows():
        if len(text.head) > 2 and (len(text.head) >= _HEAD_LINES or size > _HEAD_CHARACTERS):
            break
        text.head.append(row)
        size += sum(map(len, row.cells))
    else:
        text.complete = True
    if not text.head:
        raise file.problem("holds nothing but blank lines; write the table again.")
    mark = options.decimal or find_decimal(chain.from_iterable(row.cells for row in text.head))
    mark = "." if mark and delimiter == "," else mark
    text.decimal = mark or "."
    text.decimal_detected = (_DECIMALS[mark],) if mark else ()
    left_out = f"{comments} comment line{'s' * (comments > 1)} left out" if comments else None
    text.detected = tuple(filter(None, (phrase, _DELIMITERS[delimiter], left_out)))
    return text


def find_decimal(cells: Iterable[str]) -> str | None:
    """Return the decimal mark that most cells use, None where none does."""
    points = commas = 0
    for cell in cells:
        points += _DECIMAL_POINT.fullmatch(cell) is not None
        commas += _DECIMAL_COMMA.fullmatch(cell) is not None
    return "," if commas > points else "." if points else None


# ---- encodings and lines


class _Stream(io.TextIOWrapper):
    """Text without NUL characters, at which pandas would cut a cell off."""

    def read(self, size: int | None = -1, /) -> str:
        text = super().read(size)
        if "\0" in text:
            raise ValueError("a NUL character")
        return text


@contextmanager
def text_lines(file: InputFile, encoding: str | None) -> Iterator[Iterator[str]]:
    """Open a file for its lines, in the encoding that is given or detected."""
    with _lines(file, _encoding(file, encoding)[0]) as lines:
        yield lines


def _encoding(file: InputFile, given: str | None) -> tuple[str, str | None]:
    """Return the encoding that was given or that the byte-order mark shows, UTF-8 otherwise; and a phrase for it."""
    if given is not None:
        return given, f"encoding {given}"
    file.stream.seek(0)
    start = file.stream.read(3)
    return next((known for mark, known in _MARKS.items() if start.startswith(mark)), ("utf-8", None))


def _open(file: InputFile, encoding: str) -> _Stream:
    file.stream.seek(0)
    return _Stream(file.stream, encoding=encoding, newline="")


@contextmanager
def _lines(file: InputFile, encoding: str, skip: int = 0) -> Iterator[Iterator[str]]:
    """Open a file for its lines, with their ends."""
    text = _open(file, encoding)

    def checked() -> Iterator[str]:
        for number, line in enumerate(text, 1):
            if "\0" in line:
                raise file.problem(
                    "holds NUL characters, which text never has; if it is UTF-16, pass encoding='utf-16-le' or "
                    "'utf-16-be', and otherwise write it again.",
                    row=number,
                )
            if number > skip:
                yield line

    try:
        yield checked()
    except UnicodeError as error:
        raise _undecodable(file, encoding, error) from None
    finally:
        text.detach()  # the file stays open


def _undecodable(file: InputFile, encoding: str, error: UnicodeError) -> FileProblem:
    """Return the error for the first line that is not in the encoding."""
    way_out = "save the file as UTF-8, or pass its encoding, for example encoding='latin-1'."
    if encoding in ("utf-8", "utf-8-sig"):
        file.stream.seek(0)
        for number, line in enumerate(file.stream, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as wrong:
                return file.problem(f"is not UTF-8 text (byte 0x{line[wrong.start]:02x}); {way_out}", row=number)
    return file.problem(
        f"is not text in the encoding {encoding} ({getattr(error, 'reason', None) or error}); {way_out}"
    )


def _explained(error: csv.Error) -> str:
    message = str(error)
    if "field larger" in message:
        limit = f"{csv.field_size_limit():,}"
        return f"holds a cell of more than {limit} characters; is a quotation mark not closed, or a delimiter missing?"
    if "unexpected end" in message:
        return "a quotation mark is opened here and not closed; close it, or double it within a cell."
    return f"cannot be cut into cells ({message}); double a quotation mark within a quoted cell."


# ---- the delimiter


def _leading_comments(lines: list[str]) -> int:
    """Return how many lines at the beginning are comments, with the blank ones among them."""
    count = 0
    for at, line in enumerate(lines, 1):
        if line.lstrip("\ufeff").startswith("#"):
            count = at
        elif line.strip():
            break
    return count


def _cut(line: str, delimiter: str | None) -> list[str]:
    """Divide a line into cells, whether they can be read or not."""
    if delimiter is None:
        return [line.strip()]
    line = line.replace("\t", " ").strip() if delimiter == " " else line
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]


def _best_delimiter(lines: list[str], decimal: str | None) -> str | None:
    """Return the delimiter that divides lines into a table, of numbers if possible; None for one cell per line."""
    quality = {}
    for delimiter in ("\t", ";", "|", ",", " "):
        if delimiter == decimal:
            continue
        try:
            cut = [_cut(line, delimiter) for line in lines]
        except csv.Error:  # a huge cell, which is reported later
            cut = [line.split(delimiter) for line in lines]
        if cut and 2 * sum(len(cells) > 1 for cells in cut) >= len(cut):
            regular, torn = _regular([len(cells) for cells in cut]), _share_torn(cut, delimiter, decimal)
            quality[delimiter] = (regular, -torn, _share_of_numbers(cut, delimiter, decimal))
    spaced = quality.pop(" ", None)
    if not quality:
        return " " if spaced and spaced[0] else None
    best = max(quality, key=lambda delimiter: quality[delimiter])  # the first of equals
    # Texts contain blanks too: these delimit only if every cell is then a number, no other delimiter achieves that,
    # and no text is left that another delimiter would divide ("13.2,1.78,cultivar 2").
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
