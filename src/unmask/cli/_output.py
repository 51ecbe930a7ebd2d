"""Printing: results on standard output, as text or as one JSON document; everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

# Files and pipes have no edge at which lines are wrapped or cells cut.
WIDTH_OF_A_FILE = 1000
MOST_ROWS = 50
MOST_DECIMALS = 8


@dataclass(frozen=True)
class Outcome:
    """The result of a command: a JSON document, and whether the command came to its end."""

    document: dict[str, Any]
    finished: bool = True


@dataclass
class Output:
    """Where a command prints: ``say`` for results, ``note`` for remarks, ``warn`` for what needs attention.

    Parameters
    ----------
    quiet : bool
        No remarks and no progress.
    as_json : bool
        Standard output holds one JSON document and nothing else.
    """

    quiet: bool = False
    as_json: bool = False
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        if not self.as_json:
            _console(sys.stdout).print(printable(text), soft_wrap=True)

    def show(self, frame: pd.DataFrame, title: str | None = None, *, index: str = "", most: int = MOST_ROWS) -> None:
        """Print a table of the result; only its first rows if it is long."""
        if self.as_json:
            return
        if title is not None:
            self.say(title)
        _console(sys.stdout).print(as_text_table(frame.head(most), index))
        if len(frame) > most:
            self.say(f"… and {len(frame) - most} more rows")

    def note(self, text: str) -> None:
        """Print a remark, such as what was detected in a file."""
        self.notes.append(text)
        if not self.quiet:
            self.alert(text)

    def warn(self, text: str) -> None:
        """Print a warning, once."""
        line = _first_line(text)
        if line not in self.warnings:
            self.warnings.append(line)
            self.alert(f"Warning: {line}")

    def fail(self, text: str) -> None:
        """Print why there is no result."""
        self.alert(f"Error: {_first_line(text)}")

    def alert(self, text: str) -> None:
        """Print a line on standard error, also with ``--quiet``."""
        _console(sys.stderr).print(printable(text), soft_wrap=True)

    def finish(self, outcome: Outcome) -> None:
        """Print the document if JSON was asked for."""
        if self.as_json:
            from ..io import plain_data

            document = {**outcome.document, "notes": self.notes, "warnings": self.warnings}
            # Only ASCII, so that the encoding of a terminal cannot spoil it.
            sys.stdout.write(json.dumps(plain_data(document), indent=2, allow_nan=False) + "\n")
            sys.stdout.flush()


def _console(file: IO[str]) -> Console:
    from rich.console import Console

    # No markup, emoji or highlighting: a label that looks like them is a label.
    width = None if file.isatty() else WIDTH_OF_A_FILE
    return Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def as_text_table(frame: pd.DataFrame, index: str = "") -> Any:
    """Return a table for a terminal; each column of numbers has as many decimals as its largest number needs."""
    from pandas.api import types
    from rich.table import Table
    from rich.text import Text

    table = Table()
    table.add_column(printable(index))
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        number = types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind)
        table.add_column(printable(str(name)), justify="right" if number else "left")
    columns = [_texts(frame.iloc[:, at]) for at in range(frame.shape[1])]
    for row in zip(map(as_text, frame.index), *columns, strict=True):
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _texts(column: pd.Series[Any]) -> list[str]:
    from pandas.api import types

    if not types.is_float_dtype(column.dtype):
        return [as_text(cell) for cell in column]
    largest = max((abs(cell) for cell in column if math.isfinite(cell)), default=0.0)
    decimals = max(3 - math.floor(math.log10(largest)), 0) if largest > 0 else 0
    if decimals > MOST_DECIMALS:
        return [as_text(cell) for cell in column]
    return [_fixed(cell, decimals) if math.isfinite(cell) else as_text(cell) for cell in column]


def _fixed(cell: float, decimals: int) -> str:
    """Return a number with a number of decimals, or with an exponent where it would wrongly read as zero."""
    text = f"{cell:.{decimals}f}"
    if float(text) != 0.0:
        return text
    return f"{cell:.1e}" if cell else f"{0.0:.{decimals}f}"


def as_text(cell: Any) -> str:
    """Return a cell as text; "-" if it is missing."""
    if isinstance(cell, float):
        return "-" if math.isnan(cell) else f"{cell:.6g}"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "-" if cell is None else str(cell)


def printable(text: str) -> str:
    """Return text without control characters, which could steer a terminal: labels come from files."""
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def labelled(frame: pd.DataFrame, label: str = "label") -> pd.DataFrame:
    """Return a table with its index as a first column."""
    return frame.rename_axis(label).reset_index()


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
