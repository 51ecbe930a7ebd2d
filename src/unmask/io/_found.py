"""Dissimilarities as they were found in a file, and everything that can be wrong with them, with its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import quote, rounding_level
from ._problems import FileProblem
from ._source import Source

if TYPE_CHECKING:
    import pandas as pd

Place = Callable[[int, int], tuple[int | None, int | None]]
_ROWS = 256  # looked at together
ALIKE = "are these similarities? Say of which kind, for example similarity='correlation'."


@dataclass(frozen=True)
class Found:
    """A square table, NaN where nothing is given; where in the file each cell is; and what to say of it."""

    values: Array
    labels: Sequence[Any] | None
    place: Place
    said: tuple[str, ...]


def sound(source: Source, found: Found, symmetrize: str | None) -> Found:
    """Return the table if it holds dissimilarities, exactly symmetric, with zeros on its diagonal."""
    if len(found.values) < 2:
        raise source.problem(
            f"holds {'one object' if len(found.values) else 'no object'}; dissimilarities are between at least two."
        )
    fill_other_half(found.values)
    survey = _survey(found.values)
    if survey.infinite:
        raise _wrong(source, found, np.isinf, "is infinite; leave the cell empty where nothing is known.")
    if survey.smallest < 0:
        raise _wrong(source, found, lambda row: row < 0, f"is negative; {ALIKE}")
    if not survey.given:
        raise source.problem("holds no dissimilarity at all: every cell is empty or on the diagonal.")
    level = rounding_level(found.values, survey.largest)
    _require_empty_diagonal(source, found, level)
    if symmetrize == "mean" and survey.asymmetry > 0:
        return replace(found, values=mean_of_halves(found.values), said=(*found.said, "the two halves averaged"))
    if survey.asymmetry > level:
        raise _asymmetry(source, found, level)
    if survey.asymmetry > 0:
        said = f"the two halves, which differ by rounding (at most {survey.asymmetry:.2g}), averaged"
        return replace(found, values=mean_of_halves(found.values), said=(*found.said, said))
    return found


def frame_of(found: Found) -> pd.DataFrame:
    """Return the table with its labels."""
    import pandas as pd

    labels = None if found.labels is None else pd.Index(found.labels)
    return pd.DataFrame(found.values, index=labels, columns=labels, copy=False)


def pair(found: Found, i: int, j: int) -> str:
    """Name a pair for a message."""
    if found.labels is None:
        return f"objects {i + 1} and {j + 1}"
    return f"objects {str(found.labels[i])!r} and {str(found.labels[j])!r}"


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


def _wrong(source: Source, found: Found, wrong: Callable[[Array], Any], what: str) -> FileProblem:
    """Return the error for the first cell that is wrong."""
    for i, row in enumerate(found.values):
        flags = wrong(row)
        flags[i] &= np.isinf(row[i])  # a wrong diagonal has a sentence of its own
        if flags.any():
            j = int(np.argmax(flags))
            number, column = found.place(i, j)
            return source.problem(f"{row[j]:g} for {pair(found, i, j)} {what}", row=number, column=column)
    raise AssertionError("the survey found what the second look did not")  # pragma: no cover


def _require_empty_diagonal(source: Source, found: Found, level: float) -> None:
    """Raise on an object that differs from itself; what is missing or rounding there becomes 0."""
    diagonal = np.nan_to_num(np.diagonal(found.values), nan=0.0)
    if (np.abs(diagonal) > level).any():
        at = int(np.argmax(np.abs(diagonal) > level))
        number, column = found.place(at, at)
        name = f"object {at + 1}" if found.labels is None else f"object {str(found.labels[at])!r}"
        raise source.problem(
            f"{diagonal[at]:g} on the diagonal, for {name}; an object's dissimilarity to itself is 0: {ALIKE}",
            row=number,
            column=column,
        )
    np.fill_diagonal(found.values, 0.0)


def _asymmetry(source: Source, found: Found, level: float) -> FileProblem:
    values = found.values
    for i, row in enumerate(values):
        flags = np.abs(row - values[:, i]) > level
        flags |= np.isnan(row) != np.isnan(values[:, i])
        if flags.any():
            j = int(np.argmax(flags))
            (number, column), (other, across) = found.place(i, j), found.place(j, i)
            also = f" (row {other}, column {across})" if other and across else ""
            return source.problem(
                f"{row[j]:g} for {pair(found, i, j)}, but {values[j, i]:g} the other way round{also}; correct one, or "
                "pass symmetrize='mean' to average them.",
                row=number,
                column=column,
            )
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


def mean_of_halves(values: Array) -> Array:
    """Average the two of each pair; where one is missing the other stands alone."""
    mean = (values + values.T) / 2
    return np.where(np.isnan(mean), np.fmax(values, values.T), mean)


# ---- labels


def agreed_labels(
    source: Source, left: list[str] | None, above: list[str] | None, rows: Sequence[int | None]
) -> tuple[list[str] | None, list[int] | None]:
    """Return the labels of the objects, and in which order the columns follow the rows if not in the same."""
    if left is not None:
        _require_unique(source, left, [{"row": row} for row in rows])
    if above is not None:
        shift = 1 + (left is not None)
        _require_unique(source, above, [{"column": at + shift} for at in range(len(above))])
    if left is None or above is None or left == above:
        return (above if left is None else left), None
    if set(left) != set(above):
        in_rows, in_columns = [label for label in left if label not in set(above)], set(above) - set(left)
        raise source.problem(
            f"the labels of rows and columns disagree: {quote(in_rows) or 'none'} only in the first column, "
            f"{quote(label for label in above if label in in_columns) or 'none'} only in the first row; give both the "
            "same."
        )
    at = {label: position for position, label in enumerate(above)}
    return left, [at[label] for label in left]


def _require_unique(source: Source, labels: list[str], places: list[dict[str, int | None]]) -> None:
    seen: dict[str, dict[str, int | None]] = {}
    for label, place in zip(labels, places, strict=True):
        if not str(label).strip():
            raise source.problem("an object has no label; give it one.", **place)
        if label in seen:
            ((kind, before),) = seen[label].items()
            raise source.problem(
                f"the label {str(label)!r} is that of {kind} {before} too; give every object a label of its own.",
                **place,
            )
        seen[label] = place
