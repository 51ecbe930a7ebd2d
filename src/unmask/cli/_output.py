"""Printing: results on standard output, for people or as one JSON document; all else on standard error."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from ._words import in_our_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

# Files and pipes have no edge to wrap lines or cut cells at.
WIDTH_OF_A_FILE = 1000
MOST_ROWS = 50
MOST_DECIMALS = 8


@dataclass(frozen=True)
class Outcome:
    """The result of a command: a JSON document, and whether it came to its end."""

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

    # ---- for people

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        if not self.as_json:
            self.results.print(printable(text), soft_wrap=True)

    def show(self, frame: pd.DataFrame, title: str | None = None, *, index: str = "", most: int = MOST_ROWS) -> None:
        """Print a table of the result; of a long one its first rows."""
        if self.as_json:
            return
        if title is not None:
            self.say(title)
        self.results.print(as_text_table(frame.head(most), index))
        if len(frame) > most:
            self.say(f"… and {len(frame) - most} more rows")

    def note(self, text: str) -> None:
        """Print a remark, such as what was detected in a file."""
        self.notes.append(text)
        if not self.quiet:
            self.alert(text)

    def warn(self, text: str) -> None:
        """Print a warning, once."""
        line = one_line(text)
        if line not in self.warnings:
            self.warnings.append(line)
            self.alert(f"Warning: {line}")

    def fail(self, text: str) -> None:
        """Print why there is no result."""
        self.alert(f"Error: {one_line(text)}")

    def alert(self, text: str) -> None:
        """Print a line on standard error, whatever was asked for."""
        self.remarks.print(printable(text), soft_wrap=True)

    # ---- where

    @property
    def results(self) -> Console:
        """Standard output."""
        return _console(sys.stdout)

    @property
    def remarks(self) -> Console:
        """Standard error."""
        return _console(sys.stderr)

    @property
    def shows_progress(self) -> bool:
        """Whether to show a progress bar: somebody is watching."""
        return not self.quiet and sys.stderr.isatty()

    # ---- for machines

    def finish(self, outcome: Outcome) -> None:
        """Print the document if JSON was asked for."""
        if self.as_json:
            from ..io import plain_data

            # Escaped, so that no terminal's encoding can spoil it.
            document = {**outcome.document, "notes": self.notes, "warnings": self.warnings}
            text = json.dumps(plain_data(document), indent=2, allow_nan=False)
            sys.stdout.write(text + "\n")
            sys.stdout.flush()


def _console(file: IO[str]) -> Console:
    from rich.console import Console

    terminal = file.isatty()
    # No markup, emoji or highlighting: a label that looks like them is a label.
    return Console(file=file, width=None if terminal else WIDTH_OF_A_FILE, markup=False, emoji=False, highlight=False)


def as_text_table(frame: pd.DataFrame, index: str = "") -> Any:
    """Return a table for a terminal, each column of numbers with as many decimals as its largest needs."""
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
    """Return a number with so many decimals; with an exponent if it would wrongly read as zero."""
    text = f"{cell:.{decimals}f}"
    if float(text) != 0.0:
        return text
    return f"{cell:.1e}" if cell else f"{0.0:.{decimals}f}"


def as_text(cell: Any) -> str:
    """Return a cell as people read it."""
    if isinstance(cell, float):
        return "-" if cell != cell else f"{cell:.6g}"  # noqa: PLR0124  (what is missing is not itself)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "-" if cell is None else str(cell)


def printable(text: str) -> str:
    """Return text without control characters, which could steer a terminal: labels come from files."""
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def one_line(text: str) -> str:
    """Return the first line of a message, in the words of the command line."""
    line = next((line for line in str(text).splitlines() if line.strip()), "").strip()
    return in_our_words(line)


# ---- progress


# Hears how much of a piece of work is done and, if that changes on the way, what is being done.
Advance = Callable[..., None]
# Seconds between two lines about the progress of work that nobody watches; most work is done before the first.
BETWEEN_LINES = 20.0


class Lines:
    """Prints a line about the progress of a piece of work now and then."""

    def __init__(self, output: Output, text: str, total: float) -> None:
        self.output, self.text, self.total = output, text, total
        self.begun = self.last = time.monotonic()

    def __call__(self, done: float, text: str | None = None, left: str | None = None) -> None:
        now, before = time.monotonic(), self.text
        self.text = text or self.text
        if now - self.last < BETWEEN_LINES or not (0 < done < self.total or self.text != before):
            return
        self.last = now
        if not done:
            self.output.alert(self.text)
            return
        if left is None:
            seconds = (now - self.begun) * (self.total - done) / done
            left = f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"
        self.output.alert(", ".join([f"{self.text}: {done / self.total:.0%} done", *([left] if left else [])]))


@contextmanager
def progress(output: Output, text: str, total: float | None, *, timed: bool = True) -> Iterator[Advance]:
    """Show progress and the time left: as a bar on a terminal, else as a line now and then.

    Yields
    ------
    callable
        To be called with how much of ``total`` is done, what is being done, and how long it still takes in words; if
        this is never said it is reckoned from the share that is done, unless ``timed`` is False.
    """
    if not output.shows_progress:
        yield (lambda *_: None) if output.quiet or total is None else Lines(output, text, total)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    clock = TimeRemainingColumn() if timed else TextColumn("{task.fields[left]}")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), clock)
    with Progress(*columns, console=output.remarks, transient=True) as bar:
        task = bar.add_task(text, total=total, left="")
        yield lambda done, now=None, left="": bar.update(task, completed=done, description=now or text, left=left)
