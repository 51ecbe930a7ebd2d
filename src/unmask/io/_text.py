"""Reading text files as rows of cells, each with its line number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from ._input_file import InputFile
from ._problems import FileProblem

MAX_CELL = 131_072  # characters; the csv module's own limit
_MAX_LINES_OF_A_ROW = 1000  # within quotes a cell may have line breaks

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig", "UTF-8 with a byte-order mark"),
    (b"\xff\xfe", "utf-16", "UTF-16"),
    (b"\xfe\xff", "utf-16", "UTF-16"),
)


class Encoding(NamedTuple):
    """The encoding of a file, and a phrase that tells it."""

    name: str
    detected: str | None


@dataclass(frozen=True)
class Dialect:
    """How a text file is divided into cells."""

    delimiter: str | None = None  # None: one cell per line
    comments: int = 0  # lines at the beginning that are not part of the table

    def cells(self, text: str, *, strict: bool = True) -> list[str]:
        """Divide a row into cells; blanks around a cell are left out, except within quotes."""
        if self.delimiter is None:
            return [text.strip()]
        if '"' not in text:
            return text.split() if self.delimiter == " " else [cell.strip() for cell in text.split(self.delimiter)]
        if self.delimiter == " ":  # any number of blanks and tabs
            text = text.replace("\t", " ").strip()
        # Line breaks within quotes are kept only where the lines come one by one.
        lines = text.splitlines(keepends=True)
        try:
            return next(csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True, strict=strict), [])
        except csv.Error:
            if strict:
                raise
            return text.split(self.delimiter)


def find_encoding(file: InputFile, given: str | None) -> Encoding:
    """Return the encoding that was given, or that the file's byte-order mark tells; UTF-8 otherwise."""
    if given is not None:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=given)
        except (LookupError, TypeError, ValueError):
            raise ValueError(
                f"encoding={given!r} is not the name of an encoding; 'utf-8', 'latin-1' and 'utf-16' are."
            ) from None
        return Encoding(given, f"encoding {given}")
    with file.binary() as stream:
        start = stream.read(3)
    for mark, name, detected in _MARKS:
        if start.startswith(mark):
            return Encoding(name, detected)
    return Encoding("utf-8", None)


@contextmanager
def lines_of(file: InputFile, encoding: Encoding) -> Iterator[Iterator[str]]:
    """Open a file for its lines, with their ends."""
    with file.binary() as stream:
        text = io.TextIOWrapper(stream, encoding=encoding.name, newline="")  # type: ignore[arg-type]
        try:
            yield _checked(file, text)
        except UnicodeError as error:
            raise _undecodable(file, encoding, error) from None
        finally:
            text.detach()  # the file is closed by whoever opened it


def _checked(file: InputFile, text: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(text, 1):
        if "\0" in line:
            raise file.problem(
                "holds NUL characters, which no text has; if it is UTF-16, pass encoding='utf-16-le' or 'utf-16-be', "
                "and otherwise write it again.",
                row=number,
            )
        yield line


def _undecodable(file: InputFile, encoding: Encoding, error: UnicodeError) -> FileProblem:
    """Return the error for the first line that is not in the encoding."""
    way_out = "save the file as UTF-8, or pass its encoding, for example encoding='latin-1'."
    if encoding.name not in ("utf-8", "utf-8-sig"):
        reason = getattr(error, "reason", None) or error
        return file.problem(f"is not text in the encoding {encoding.name} ({reason}); {way_out}")
    with file.binary() as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as wrong:
                byte = f"0x{line[wrong.start]:02x}"
                return file.problem(f"is not UTF-8 text (byte {byte}); {way_out}", row=number)
    return file.problem(f"is not UTF-8 text; {way_out}")  # pragma: no cover


# ---- rows


@dataclass(slots=True)
class CellRow:
    """A row that is a list of cells already."""

    number: int  # of the line in the file on which the row begins, counted from 1
    known: list[str]

    def cells(self) -> list[str]:
        """Return all cells."""
        return self.known

    def flat(self, skip: int) -> tuple[list[str], int, str]:
        """Return the first cells, the number of all others, and these as one text, a line each."""
        return self.known[:skip], len(self.known[skip:]), "\n".join(self.known[skip:])


@dataclass(slots=True)  # not frozen: there are millions of them, and freezing doubles the time to make one
class TextRow:
    """A row of a text file, divided into cells when they are needed."""

    number: int  # as in CellRow
    text: str
    dialect: Dialect

    def cells(self) -> list[str]:
        """Return all cells."""
        return self.dialect.cells(self.text)

    def flat(self, skip: int) -> tuple[list[str], int, str]:
        """Return the first cells, the number of all others, and these as one text, a line each."""
        delimiter = self.dialect.delimiter
        if '"' in self.text or delimiter in (" ", None):
            return CellRow(self.number, self.cells()).flat(skip)
        *first, rest = self.text.split(delimiter, skip)
        if len(first) < skip:  # nothing behind the labels
            return [rest.strip()], 0, ""
        return [cell.strip() for cell in first], rest.count(str(delimiter)) + 1, rest.replace(str(delimiter), "\n")


FileRow = TextRow | CellRow


def rows_of(file: InputFile, lines: Iterable[str], dialect: Dialect) -> Iterator[TextRow]:
    """Join lines to rows where a quoted cell has line breaks; blank lines and comments are left out."""
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if number <= dialect.comments or not line.strip():
            continue
        text = line if '"' not in line else _whole(file, number, line, numbered, dialect)
        yield TextRow(number, text.rstrip("\r\n"), dialect)


def _whole(file: InputFile, number: int, text: str, following: Iterator[tuple[int, str]], dialect: Dialect) -> str:
    """Add lines until every quotation mark that was opened is closed."""
    for _ in range(_MAX_LINES_OF_A_ROW):
        try:
            dialect.cells(text)
        except csv.Error as error:
            _, more = next(following, (0, ""))
            if "unexpected end" not in str(error) or not more:
                raise file.problem(_explained(error), row=number) from None
            text += more
        else:
            return text
    raise file.problem(_explained(csv.Error("unexpected end")), row=number)


def _explained(error: csv.Error) -> str:
    message = str(error)
    if "field larger" in message:
        return f"holds a cell of more than {MAX_CELL:,} characters; is a quotation mark not closed?"
    if "unexpected end" in message:
        return "a quotation mark is opened here and not closed; close it, or double it within a cell."
    return f"cannot be cut into cells ({message}); double a quotation mark within a quoted cell."
