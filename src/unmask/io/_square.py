"""A square table read from a file, and its labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import WrongPair, check_dissimilarities, quote
from ..kernels import ArraySource, Workers
from ._input_file import InputFile

if TYPE_CHECKING:
    import pandas as pd

Place = Callable[[int, int], tuple[int | None, int | None]]


@dataclass
class Square:
    """A square table, NaN where nothing is given; the place of each cell in the file; and phrases that describe it."""

    values: Array
    labels: Sequence[Any] | None
    place: Place
    detected: tuple[str, ...]
    ratings: pd.DataFrame | None = None
    scale: tuple[float, float] | None = None  # the smallest and the largest rating


@dataclass(frozen=True)
class _Labelled(ArraySource):
    """A square table with labels, as the check names objects by them."""

    labels: Any = None
    average = "pass symmetrize='mean' to average the two"


def check_square(file: InputFile, square: Square, symmetrize: str | None) -> None:
    """Raise unless the table holds dissimilarities; make it exactly symmetric, with zeros on its diagonal."""
    fill_other_half(square.values)
    if symmetrize == "mean":
        square.values = averaged(square.values)
        square.detected += ("the two halves averaged",)
    try:
        check_dissimilarities(_Labelled(square.values, square.labels), workers=Workers(1), warn=False)
    except WrongPair as error:
        row, column = square.place(*error.pair)
        raise file.problem(str(error), row=row, column=column) from None
    except ValueError as error:
        raise file.problem(str(error)) from None
    if not np.array_equal(square.values, square.values.T, equal_nan=True):
        apart = np.nanmax(np.abs(square.values - square.values.T))
        square.values = averaged(square.values)
        square.detected += (f"the two halves, which differ by rounding (at most {apart:.2g}), averaged",)
    np.fill_diagonal(square.values, 0.0)


def averaged(values: Array) -> Array:
    """Return the mean of the two numbers of each pair; where one is missing the other."""
    mean = (values + values.T) / 2
    return np.where(np.isnan(mean), np.fmax(values, values.T), mean)


def fill_other_half(values: Array) -> None:
    """Fill a half that is wholly empty from the other one."""
    below, above = halves_filled(values)
    if above != below:
        np.copyto(values, values.T.copy(), where=np.isnan(values))


def halves_filled(values: Array) -> tuple[bool, bool]:
    """Tell whether anything is given below the diagonal, and above it."""
    n = len(values)
    below = any(not np.isnan(values[i, :i]).all() for i in range(n))
    return below, any(not np.isnan(values[i, i + 1 :]).all() for i in range(n))


def agreed_labels(
    file: InputFile, left: list[Any] | None, above: list[Any] | None, line: Callable[[int], int]
) -> tuple[list[Any] | None, list[int] | None]:
    """Return the labels of the objects, and the order that brings the columns into that of the rows, if needed."""
    if left is not None:
        _require_unique(file, left, "row", line)
    if above is not None:
        shift = 1 + (left is not None)
        _require_unique(file, above, "column", partial(int.__add__, shift))
    if left is None or above is None or left == above:
        return (above if left is None else left), None
    at = {str(label): position for position, label in enumerate(above)}
    in_rows = [label for label in left if str(label) not in at]
    if in_rows:
        there = set(map(str, left))
        raise file.problem(
            f"the labels of rows and columns disagree: {quote(in_rows)} only in the first column, "
            f"{quote(label for label in at if label not in there) or 'none'} only in the first row; give both the same."
        )
    order = [at[str(label)] for label in left]
    return left, None if order == list(range(len(left))) else order


def _require_unique(file: InputFile, labels: list[Any], kind: str, place: Callable[[int], int]) -> None:
    seen: dict[str, int] = {}
    for at, label in enumerate(labels):
        if not str(label).strip():
            raise file.problem("an object has no label; give it one.", **{kind: place(at)})
        if str(label) in seen:
            raise file.problem(
                f"the label {str(label)!r} is that of {kind} {place(seen[str(label)])} too; give every object a label "
                "of its own.",
                **{kind: place(at)},
            )
        seen[str(label)] = at
