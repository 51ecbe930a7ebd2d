"""Text files: encoding, delimiter and decimal mark are detected from the first lines, then pandas reads the cells.

Where pandas fails, or would read cells in a way of its own, the csv module reads the file, to name the row and column
of what is wrong.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any

from ._cells import (
    DECIMAL_COMMA,
    DELIMITERS,
    HEAD_CHARACTERS,
    HEAD_ROWS,
    MISSING,
    Cells,
    FormatOptions,
    Row,
    find_decimal,
    is_text,
    typed,
)
from ._files import FileProblem, InputFile

if TYPE_CHECKING:
    import pandas as pd

_JUDGED_LINES = 30  # from which the delimiter is detected
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass
class Text(Cells):
    """A text file as rows of cells."""

    encoding: str = "utf-8"
    delimiter: str | None = None
    comments: int = 0  # lines at the beginning that are not part of the table
    quoted: bool = False  # there are quotation marks, which keep blanks at the end of a cell
    nul: bool = False  # there are NUL bytes
    first_end: int = 0  # the line on which the first row ends

    def rows(self, skip: int = 0) -> Iterator[Row]:
        """Read the rows after the first ``skip``, without blank ones."""
        with lines_of(self.file, self.encoding) as lines:
            body: Iterable[str] = islice(lines, self.comments, None)
            if self.delimiter == " ":
                body = (line.replace("\t", " ").strip(" \r\n") + "\n" for line in body)
            reader = csv.reader(body, delimiter=self.delimiter or "\x1f", skipinitialspace=True, strict=True)
            line, at = self.comments + 1, 0
            while True:
                try:
                    cells = next(reader, None)
                except csv.Error as error:
                    raise self.file.problem(
                        f"cannot be cut into cells ({error}); close every quotation mark, double those within a cell, "
                        "and put a delimiter after each cell.",
                        row=line,
                    ) from None
                if cells is None:
                    return
                cells = cells if self.quoted else [cell.rstrip() for cell in cells]
                if len(cells) > 1 or any(cells):
                    self.first_end = self.first_end or self.comments + reader.line_num
                    at += 1
                    if at > skip:
                        yield Row(line, cells)
                line = self.comments + reader.line_num + 1

    def frame(self, skip: int, width: int, text: Collection[int] = (), *, numeric: bool) -> pd.DataFrame:
        """Read by pandas; where this fails, or leaves a doubt, by the csv module."""
        from pandas.api import types

        # pandas reads `"a"b` as `ab`, and ends cells at NUL: the csv module refuses both.
        self.require_width(self.rows(skip) if self.quoted or self.nul else self.head[skip:], width)
        frame = self._by_pandas(skip, width, text, numeric=numeric)
        if frame is None:
            return super().frame(skip, width, text, numeric=numeric)
        for at, kind in frame.dtypes.items():
            truth = types.is_bool_dtype(kind)
            if at in text or (types.is_numeric_dtype(kind) and not truth):
                continue
            if numeric:
                return super().frame(skip, width, text, numeric=True)
            if not truth:
                cells = frame[at].astype(object).where(frame[at].notna(), "").astype(str)
                frame[at] = typed(cells if self.quoted else cells.str.rstrip(), self.decimal)
        return frame

    def _by_pandas(self, skip: int, width: int, text: Collection[int], *, numeric: bool) -> pd.DataFrame | None:
        """Read by pandas; None if it fails, or takes a label for a missing cell."""
        import pandas as pd

        def label(cell: str) -> str:
            return self.plain(cell if self.quoted else cell.rstrip())

        stream = _decoded(self.file, self.encoding)
        try:
            for _ in range(self.first_end if skip else self.comments):
                stream.readline()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # of text far down, which is an error below
                frame: pd.DataFrame = pd.read_csv(
                    stream,
                    header=None,
                    names=range(width),  # type: ignore[arg-type]
                    index_col=False,
                    sep=r"\s+" if self.delimiter == " " else self.delimiter or "\x1f",
                    decimal=self.decimal,
                    converters=dict.fromkeys(text, label),  # type: ignore[arg-type]
                    na_values=sorted(MISSING),
                    keep_default_na=False,
                    skipinitialspace=True,
                    low_memory=numeric,
                    **exact(),
                )
        except (ValueError, OverflowError):  # pandas' own errors are ValueErrors too
            return None
        finally:
            stream.detach()
        if any(frame[at].isna().any() for at in text):
            return None
        if frame[width - 1].isna().any():
            self.require_width(self.rows(skip), width)  # pandas fills rows that are too short
        return frame


def exact() -> dict[str, Any]:
    """Return the option for exact numbers, which later versions of pandas always read and no longer accept."""
    import pandas as pd

    major, minor = (int(part) for part in pd.__version__.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def open_text(file: InputFile, options: FormatOptions) -> Text:
    """Detect the format of a text file from its first lines."""
    encoding = encoding_of(file, options.encoding)
    first: list[str] = []
    with lines_of(file, encoding) as lines:
        for line in lines:
            first.append(line)
            if len(first) > 2 and (len(first) >= HEAD_ROWS or sum(map(len, first)) > HEAD_CHARACTERS):
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
    text = Text(file, encoding=encoding, delimiter=delimiter, comments=comments)
    text.quoted, text.nul = _holds(file, b'"'), _holds(file, b"\0")
    text.read_head("." if delimiter == "," else options.decimal)
    bom = {"utf-8-sig": "UTF-8 with a byte-order mark", "utf-16": "UTF-16"}.get(encoding)
    text.detected = (
        *filter(None, [f"encoding {encoding}" if options.encoding else bom, DELIMITERS[delimiter]]),
        *([f"{comments} comment line{'s' * (comments > 1)} left out"] if comments else []),
    )
    return text


# ---- encodings and lines


def encoding_of(file: InputFile, given: str | None) -> str:
    """Return the encoding that was given or that the byte-order mark shows, UTF-8 otherwise."""
    file.stream.seek(0)
    start = file.stream.read(3)
    return given or next((known for mark, known in _MARKS.items() if start.startswith(mark)), "utf-8")


def _holds(file: InputFile, byte: bytes) -> bool:
    """Tell whether a byte is anywhere in a file."""
    file.stream.seek(0)
    return any(byte in part for part in iter(lambda: file.stream.read(2**20), b""))


def _decoded(file: InputFile, encoding: str) -> io.TextIOWrapper:
    file.stream.seek(0)
    return io.TextIOWrapper(file.stream, encoding=encoding, newline="")


@contextmanager
def lines_of(file: InputFile, encoding: str) -> Iterator[Iterator[str]]:
    """Open a file for its lines, with their ends."""
    text = _decoded(file, encoding)

    def checked() -> Iterator[str]:
        for number, line in enumerate(text, 1):
            if "\0" in line:
                raise file.problem(
                    "holds NUL characters, which text never has; if it is UTF-16, pass encoding='utf-16-le' or "
                    "'utf-16-be', and otherwise write it again.",
                    row=number,
                )
            yield line

    try:
        yield checked()
    except UnicodeError as error:
        raise _undecodable(file, encoding, error) from None
    finally:
        with suppress(ValueError):  # the file is closed already
            text.detach()  # the file stays open


def _undecodable(file: InputFile, encoding: str, error: UnicodeError) -> FileProblem:
    """Return the error for the first line that is not in the encoding."""
    row, why = None, getattr(error, "reason", None) or error
    if encoding.startswith("utf-8"):
        file.stream.seek(0)
        for row, line in enumerate(file.stream, 1):  # noqa: B007
            if line.decode("utf-8", "replace").encode() != line:
                break
    return file.problem(
        f"is not text in the encoding {encoding} ({why}); save the file as UTF-8, or pass its encoding, for example "
        "encoding='latin-1'.",
        row=row,
    )


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
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # a huge cell, which is reported later
        cells = line.split(delimiter)
    return [cell.strip() for cell in cells]


def _best_delimiter(lines: list[str], decimal: str | None) -> str | None:
    """Return the delimiter that divides lines into a table, of numbers if possible; None for one cell per line."""
    quality = {}
    for delimiter in ("\t", ";", "|", ",", " "):
        cut = [_cut(line, delimiter) for line in lines]
        if delimiter == decimal or not cut or 2 * sum(len(cells) > 1 for cells in cut) < len(cut):
            continue
        # All cells but the first row and column, which may be labels, should be numbers.
        body = [cell for cells in cut[1:] for cell in cells[1:]] or [cell for cells in cut for cell in cells]
        mark = decimal or ("." if delimiter == "," else find_decimal(chain.from_iterable(cut)) or ".")
        numbers = sum(not is_text(cell, mark) for cell in body) / len(body)
        # A text that another delimiter would divide is a sign of the wrong one.
        others = set("\t;|,") - {delimiter}
        torn = sum(any(others & set(cell) and is_text(cell, mark) for cell in cells) for cells in cut) / len(cut)
        quality[delimiter] = (_regular([len(cells) for cells in cut]), -torn, numbers)
    spaced = quality.pop(" ", None)
    best = max(quality, key=lambda delimiter: quality[delimiter], default=None)  # the first of equals
    if best is None or spaced is None:
        return " " if spaced and (spaced[0] or spaced[2] == 1) else best
    # Texts contain blanks too: these delimit only if every cell is then a number, no other delimiter achieves that,
    # and no text is left that another delimiter would divide ("13.2,1.78,cultivar 2").
    numbers_only = spaced[2] == 1 > quality[best][2] and spaced[1] >= quality[best][1]
    return " " if numbers_only or (spaced[0] and best == "," and _are_decimal(lines)) else best


def _regular(counts: list[int]) -> bool:
    """Tell whether rows have the same length, or grow by one as a triangle does, with or without a header."""
    steps = [{after - before for before, after in pairwise(rows)} for rows in (counts, counts[1:])]
    return any(step <= {0} or step == {1} for step in steps)


def _are_decimal(lines: list[str]) -> bool:
    """Tell whether all commas are decimal commas, in lines of three cells or more between blanks."""
    parts = [line.split() for line in lines]
    cells = [cell for line in parts for cell in line if "," in cell]
    return max(map(len, parts)) > 2 and all(map(DECIMAL_COMMA.fullmatch, cells))
