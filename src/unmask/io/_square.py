"""A square table read from a file, and the checks that it holds dissimilarities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import quote, rounding_level
from ._input_file import InputFile
from ._problems import FileProblem

if TYPE_CHECKING:
    import pandas as pd

Place = Callable[[int, int], tuple[int | None, int | None]]
_ROWS = 256  # looked at together
SIMILARITY_HINT = "are these similarities? Say of which kind, for example similarity='correlation'."


@dataclass(frozen=True)
class SquareTable:
    """A square table, NaN where nothing is given; where in the file each cell is; and phrases that describe it."""

    values: Array
    labels: Sequence[Any] | None
    place: Place
    detected: tuple[str, ...]

    def prefixed(self, *phrases: str) -> SquareTable:
        """Return the table with further phrases before its own."""
        return replace(self, detected=(*phrases, *self.detected))

    def averaged(self, *phrases: str) -> SquareTable:
        """Return the table with the two numbers of each pair averaged, and further phrases after its own.

        Where one of the two is missing the other is kept.
        """
        mean = (self.values + self.values.T) / 2
        values = np.where(np.isnan(mean), np.fmax(self.values, self.values.T), mean)
        return replace(self, values=values, detected=(*self.detected, *phrases))

    def frame(self) -> pd.DataFrame:
        """Return the table with its labels."""
        import pandas as pd

        labels = None if self.labels is None else pd.Index(self.labels)
        return pd.DataFrame(self.values, index=labels, columns=labels, copy=False)

    def pair(self, i: int, j: int) -> str:
        """Name a pair for a message."""
        if self.labels is None:
            return f"objects {i + 1} and {j + 1}"
        return f"objects {str(self.labels[i])!r} and {str(self.labels[j])!r}"

    def problem(self, file: InputFile, i: int, j: int, what: str) -> FileProblem:
        """Return the error for a cell."""
        row, column = self.place(i, j)
        return file.problem(what, row=row, column=column)


def check_square(file: InputFile, table: SquareTable, symmetrize: str | None) -> SquareTable:
    """Return the table if it holds dissimilarities, exactly symmetric, with zeros on its diagonal."""
    if len(table.values) < 2:
        raise file.problem(
            f"holds {'one object' if len(table.values) else 'no object'}; dissimilarities are between at least two."
        )
    fill_other_half(table.values)
    survey = _survey(table.values)
    if survey.infinite:
        raise _wrong(file, table, np.isinf, "is infinite; leave the cell empty where nothing is known.")
    if survey.smallest < 0:
        raise _wrong(file, table, lambda row: row < 0, f"is negative; {SIMILARITY_HINT}")
    if not survey.given:
        raise file.problem("holds no dissimilarity at all: every cell is empty or on the diagonal.")
    level = rounding_level(table.values, survey.largest)
    _require_empty_diagonal(file, table, level)
    if symmetrize == "mean" and survey.asymmetry > 0:
        return table.averaged("the two halves averaged")
    if survey.asymmetry > level:
        raise _asymmetry(file, table, level)
    if survey.asymmetry > 0:
        return table.averaged(f"the two halves, which differ by rounding (at most {survey.asymmetry:.2g}), averaged")
    return table


# ---- what can be wrong


@dataclass
class _Survey:
    largest: float = 0.0
    smallest: float = 0.0
    infinite: bool = False
    given: bool = False
    asymmetry: float = 0.0  # infinite where only one of the two is given


def _survey(values: Array) -> _Survey:
    """Look at the table once, a few rows at a time."""
    survey = _Survey()
    n = len(values)
    for start in range(0, n, _ROWS):
        rows, columns = values[start : start + _ROWS], values[:, start : start + _ROWS].T
        survey.infinite |= bool(np.isinf(rows).any())
        off = np.arange(start, start + len(rows))[:, None] != np.arange(n)
        there = off & ~np.isnan(rows)
        survey.given |= bool(there.any())
        survey.largest = max(survey.largest, float(np.max(rows, where=there, initial=0.0)))
        survey.smallest = min(survey.smallest, float(np.min(rows, where=there, initial=0.0)))
        if (np.isnan(rows) != np.isnan(columns)).any():
            survey.asymmetry = np.inf
        elif not survey.infinite:
            survey.asymmetry = max(survey.asymmetry, float(np.max(np.abs(rows - columns), where=there, initial=0.0)))
    return survey


def _wrong(file: InputFile, table: SquareTable, wrong: Callable[[Array], Any], what: str) -> FileProblem:
    """Return the error for the first cell that is wrong."""
    for i, row in enumerate(table.values):
        flags = wrong(row)
        flags[i] &= np.isinf(row[i])  # a wrong diagonal has its own message
        if flags.any():
            j = int(np.argmax(flags))
            return table.problem(file, i, j, f"{row[j]:g} for {table.pair(i, j)} {what}")
    raise AssertionError("the survey found what the second look did not")  # pragma: no cover


def _require_empty_diagonal(file: InputFile, table: SquareTable, level: float) -> None:
    """Raise if an object differs from itself; missing numbers and rounding errors on the diagonal become 0."""
    diagonal = np.nan_to_num(np.diagonal(table.values), nan=0.0)
    if (np.abs(diagonal) > level).any():
        at = int(np.argmax(np.abs(diagonal) > level))
        name = f"object {at + 1}" if table.labels is None else f"object {str(table.labels[at])!r}"
        itself = f"{diagonal[at]:g} on the diagonal, for {name}; an object's dissimilarity to itself is 0"
        raise table.problem(file, at, at, f"{itself}: {SIMILARITY_HINT}")
    np.fill_diagonal(table.values, 0.0)


def _asymmetry(file: InputFile, table: SquareTable, level: float) -> FileProblem:
    values = table.values
    for i, row in enumerate(values):
        flags = np.abs(row - values[:, i]) > level
        flags |= np.isnan(row) != np.isnan(values[:, i])
        if flags.any():
            j = int(np.argmax(flags))
            other, across = table.place(j, i)
            also = f" (row {other}, column {across})" if other and across else ""
            back = (
                f"{values[j, i]:g} the other way round{also}; correct one, or pass symmetrize='mean' to average them."
            )
            return table.problem(file, i, j, f"{row[j]:g} for {table.pair(i, j)}, but {back}")
    raise AssertionError("the survey found what the second look did not")  # pragma: no cover


def fill_other_half(values: Array) -> None:
    """Fill a half that is wholly empty from the other one."""
    n = len(values)
    above = any(not np.isnan(values[i, i + 1 :]).all() for i in range(n))
    below = any(not np.isnan(values[i, :i]).all() for i in range(n))
    if above == below:
        return
    for i in range(n):
        if below:
            values[:i, i] = values[i, :i]
        else:
            values[i + 1 :, i] = values[i, i + 1 :]


# ---- labels


def agreed_labels(
    file: InputFile, left: list[str] | None, above: list[str] | None, rows: Sequence[int | None]
) -> tuple[list[str] | None, list[int] | None]:
    """Return the labels of the objects, and the order that brings the columns into that of the rows, if needed."""
    if left is not None:
        _require_unique(file, left, [{"row": row} for row in rows])
    if above is not None:
        shift = 1 + (left is not None)
        _require_unique(file, above, [{"column": at + shift} for at in range(len(above))])
    if left is None or above is None or left == above:
        return (above if left is None else left), None
    if set(left) != set(above):
        in_rows, in_columns = [label for label in left if label not in set(above)], set(above) - set(left)
        raise file.problem(
            f"the labels of rows and columns disagree: {quote(in_rows) or 'none'} only in the first column, "
            f"{quote(label for label in above if label in in_columns) or 'none'} only in the first row; give both the "
            "same."
        )
    at = {label: position for position, label in enumerate(above)}
    return left, [at[label] for label in left]


def _require_unique(file: InputFile, labels: list[str], places: list[dict[str, int | None]]) -> None:
    seen: dict[str, dict[str, int | None]] = {}
    for label, place in zip(labels, places, strict=True):
        if not str(label).strip():
            raise file.problem("an object has no label; give it one.", **place)
        if label in seen:
            ((kind, before),) = seen[label].items()
            raise file.problem(
                f"the label {str(label)!r} is that of {kind} {before} too; give every object a label of its own.",
                **place,
            )
        seen[label] = place
