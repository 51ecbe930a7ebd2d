"""The shapes of dissimilarities in files, each read as a square table: square, triangle, condensed and pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import squareform

from .._typing import Array
from ..checking import WrongPair, check_dissimilarities, quote, rounding_level
from ..kernels import ArraySource, Workers
from ._cells import Cells
from ._files import InputFile, times
from ._layout import Layout

if TYPE_CHECKING:
    import pandas as pd

Place = Callable[[int, int], tuple[int | None, int | None]]


@dataclass
class Square:
    """A square table, NaN where nothing is given; the row and column of a pair in the file; and what was detected."""

    values: Array
    labels: list[Any] | None
    place: Place
    detected: tuple[str, ...]
    ratings: pd.DataFrame | None = None
    scale: tuple[float, float] | None = None  # the smallest and the largest rating


def read_square(cells: Cells, layout: Layout, aggregate: str | None) -> Square:
    """Read a file that is arranged in this way as a square table."""
    if cells.complete and len(cells.head) == layout.skip:
        raise cells.file.problem("has a header and no rows below it; write the table again.")
    if layout.shape == "long":
        square = _read_pairs(cells, layout, aggregate)
    else:
        readers = {"condensed": _read_condensed, "lower": _read_triangle, "square": _read_table}
        square = readers[layout.shape](cells, layout)
    square.detected = (*cells.detected, *square.detected)
    return square


def _where(above: Any, left: Any) -> str:
    if above is not None and left is not None:
        return "labels in the first row and column"
    return "no labels" if above is left is None else f"labels in the first {'row' if left is None else 'column'}"


# ---- square tables


def _read_table(cells: Cells, layout: Layout) -> Square:
    file, skip, above = cells.file, layout.skip, layout.header
    first, width = int(layout.labelled), len(cells.head[skip].cells)
    n = width - first - layout.extra
    n_rows, n_columns = cells.n_rows - skip, n if above is None else len(above)
    ragged = any(len(row.cells) != width for row in cells.head[skip:])
    if {n_rows, n_columns} != {n} and not ragged:  # before a text in a table of features is called a wrong number
        raise file.problem(
            f"has {n_rows} rows and {n_columns} columns of numbers; dissimilarities are a square table, one row and "
            "one column per object: is this a table of features?"
        )
    frame = cells.frame(skip, width, range(first), numeric=True)
    left = list(frame[0]) if first else None
    labels, order = _agreed_labels(cells, skip, left, above)
    values = np.ascontiguousarray(frame.iloc[:, first : width - layout.extra].to_numpy())
    del frame
    if not values.flags.writeable or values.dtype not in (np.float32, np.float64):
        values = np.array(values, dtype=np.float32 if values.dtype == np.float32 else np.float64)
    values = values if order is None else values[:, order]
    below, over = _filled_halves(values)
    shape = "square" if below == over else "lower triangle" if below else "upper triangle"
    moved = () if order is None else ("columns put into the order of the rows",)
    return Square(
        values,
        labels,
        lambda i, j: (cells.line(i, skip), (j if order is None else order[j]) + 1 + first - cells.labelled),
        (_where(above, left), *moved, *cells.decimal_detected, f"{times(n, n)} {shape}"),
    )


def _agreed_labels(
    cells: Cells, skip: int, left: list[Any] | None, above: list[Any] | None
) -> tuple[list[Any] | None, list[int] | None]:
    """Return the labels of the objects, and the order that brings the columns into that of the rows, if needed."""
    _require_unique(cells, left, lambda at: {"row": cells.line(at, skip)})
    _require_unique(cells, above, lambda at: {"column": at + 1 + (left is not None) - cells.labelled})
    if left is None or above is None or left == above:
        return (above if left is None else left), None
    at = {str(label): position for position, label in enumerate(above)}
    in_rows, in_columns = [label for label in left if str(label) not in at], set(at) - set(map(str, left))
    if in_rows:
        raise cells.file.problem(
            f"the labels of rows and columns disagree: {quote(in_rows)} only in the first column, "
            f"{quote(sorted(in_columns)) or 'none'} only in the first row; give both the same."
        )
    order = [at[str(label)] for label in left]
    return left, None if order == sorted(order) else order


def _require_unique(cells: Cells, labels: list[Any] | None, place: Callable[[int], dict[str, int]]) -> None:
    seen: dict[str, int] = {}
    for at, label in enumerate(map(str, labels or ())):
        if not label.strip():
            raise cells.file.problem("an object has no label; give it one.", **place(at))
        if seen.setdefault(label, at) != at:
            ((kind, other),) = place(seen[label]).items()
            raise cells.file.problem(
                f"the label {label!r} is that of {kind} {other} too; give every object a label of its own.", **place(at)
            )


# ---- a lower triangle, and one number per pair


def _read_triangle(cells: Cells, layout: Layout) -> Square:
    file, labelled = cells.file, int(layout.labelled)
    rows = list(cells.rows(layout.skip))
    first = len(rows[0].cells) - labelled
    for at, row in enumerate(rows):
        if len(row.cells) - labelled != first + at or first not in (0, 1) or first + labelled == 0:
            raise file.problem(
                f"has {len(row.cells)} cells where a lower triangle has {at + 1 + labelled * first}, one more than in "
                "the row above; is a delimiter missing, or one too many?",
                row=row.line,
            )
    numbers = [[cells.number(row, at) for at in range(labelled, len(row.cells))] for row in rows]
    diagonal = first == 1 if labelled else all(np.isnan(row[-1]) or row[-1] == 0 for row in numbers)
    ends = {row[-1] for row in numbers if row}
    if not (diagonal or labelled) and len(rows) > 2 and len(ends) == 1 and max(ends) >= max(map(np.nanmax, numbers)):
        raise file.problem(
            f"every row of the triangle ends in {max(ends):g}, which no other number exceeds: if that is the diagonal, "
            "these are similarities; say of which kind, for example similarity='correlation', in a square table."
        )
    shift = int(not diagonal and not labelled)  # without labels and diagonal the first object does not have a row
    n = len(rows) + shift
    if layout.header is not None and len(layout.header) != n:
        raise file.problem(f"names {len(layout.header)} objects in its header, but has rows for {n}; name each once.")
    values = _empty(file, n)
    for at, numbers_of_row in enumerate(numbers, shift):
        values[at, : len(numbers_of_row)] = numbers_of_row
    left = [cells.plain(row.cells[0]) for row in rows] if labelled else None
    labels, order = _agreed_labels(cells, layout.skip, left, layout.header)
    if order is not None:
        raise file.problem("names the objects in another order in its header than in its first column; use one.")
    shape = f"lower triangle of {n} objects, {'with' if diagonal else 'without'} diagonal"
    return Square(
        values,
        labels,
        lambda i, j: (rows[max(i, j) - shift].line, min(i, j) + 1 + labelled),
        (_where(layout.header, left), *cells.decimal_detected, shape),
    )


def _empty(file: InputFile, n: int, more: str = "") -> Array:
    """Return a table of missing dissimilarities, if there is room for it."""
    file.require_room(n * n * 8, f"names {n:,} objects{more}")
    return np.full((n, n), np.nan)


def _read_condensed(cells: Cells, layout: Layout) -> Square:
    if max(len(row.cells) for row in cells.head) == 1:
        values = cells.frame(layout.skip, 1, numeric=True)[0].to_numpy()
    else:
        values = np.array([cells.number(row, at) for row in cells.rows(layout.skip) for at in range(len(row.cells))])
    n = round((1 + np.sqrt(1 + 8 * len(values))) / 2)
    if n * (n - 1) // 2 != len(values):
        near = [k * (k - 1) // 2 for k in (n - 1, n, n + 1)]
        raise cells.file.problem(
            f"has {len(values)} numbers in one line, but a condensed table of n objects has n(n-1)/2 of them, such as "
            f"{near[0]}, {near[1]} or {near[2]}; is it cut off, or a table of features?"
        )
    cells.file.require_room(n * n * 8, f"has the pairs of {n:,} objects")
    kind = np.float32 if values.dtype == np.float32 else np.float64

    def place(i: int, j: int) -> tuple[int, int]:
        i, j = sorted((i, j))
        at = i * n - i * (i + 1) // 2 + j - i - 1
        for row in cells.rows(layout.skip):
            if at < len(row.cells):
                return row.line, at + 1
            at -= len(row.cells)
        raise AssertionError("a pair of the table is a cell of the file")  # pragma: no cover

    shape = f"condensed, {len(values)} pairs of {n} objects"
    values = squareform(values.astype(kind, copy=False), checks=False)
    return Square(values, None, place, ("no labels", *cells.decimal_detected, shape))


# ---- lists of pairs


def _read_pairs(cells: Cells, layout: Layout, aggregate: str | None) -> Square:
    """Read pairs, NaN for those that are not named; one that occurs again has the same number, or is combined."""
    import pandas as pd

    file, skip, width = cells.file, layout.skip, 3 if layout.rater is None else 4
    frame = cells.frame(skip, width, {*range(width)} - {layout.value}, numeric=True)
    for at in layout.ends:
        empty = (frame[at].isna() | (frame[at] == "")).to_numpy()
        if empty.any():
            row = cells.line(int(np.argmax(empty)), skip)
            raise file.problem("an object has no label; give it one.", row=row, column=at + 1)
        if frame[at].dtype.kind == "f" and (frame[at] == frame[at].round()).all():
            frame[at] = frame[at].astype(np.int64)  # whole numbers in an array of floating point
    ends = frame[list(layout.ends)].astype(object)
    if len({pd.api.types.infer_dtype(frame[at]) for at in layout.ends}) > 1:
        ends = ends.astype(str)
    codes, labels = pd.factorize(ends.to_numpy().ravel())
    lower, upper = np.sort(codes.reshape(-1, 2), axis=1).T
    numbers = pd.DataFrame({"i": lower, "j": upper, "x": frame[layout.value].to_numpy(dtype=np.float64)}).dropna()
    n, names = len(labels), pd.Index(labels)
    values = _empty(file, n, f" in {len(frame):,} pairs")
    groups = numbers.groupby(["i", "j"], sort=False)["x"]
    combined = groups.agg(aggregate or "first")
    i, j = (combined.index.get_level_values(level) for level in ("i", "j"))
    detected = [f"list of pairs, {int((i != j).sum())} of the {n * (n - 1) // 2} pairs of {n} objects"]
    n_raters = None if layout.rater is None else int(frame[layout.rater].replace("", None).nunique())
    ratings = None
    if aggregate is not None:
        ratings = pd.DataFrame({aggregate: combined, "count": groups.size(), "spread": groups.std()})
        ratings.index = pd.MultiIndex.from_arrays([names.take(i), names.take(j)], names=["object", "other"])
        detected.append(_describe(ratings, len(numbers), n_raters, aggregate))
    elif layout.rater is not None:
        raise file.problem(
            f"holds {len(numbers):,} ratings of {(i != j).sum():,} pairs of {n:,} objects by {n_raters:,} raters, "
            f"named in column {layout.rater + 1}; combine them, for example with aggregate='mean', and if a high "
            "rating means that two objects are alike, add similarity='reverse'."
        )
    else:
        _require_agreement(cells, layout, numbers, groups.transform("first"), names)
    values[i, j] = values[j, i] = combined.to_numpy()

    def place(i: int, j: int) -> tuple[int | None, int | None]:
        rows = numbers.index[(numbers["i"] == min(i, j)) & (numbers["j"] == max(i, j))]
        return (cells.line(int(rows[0]), skip), layout.value + 1) if len(rows) else (None, None)

    scale = (float(numbers["x"].min()), float(numbers["x"].max())) if len(numbers) else None
    return Square(values, list(labels), place, (*cells.decimal_detected, *detected), ratings, scale)


def _require_agreement(
    cells: Cells, layout: Layout, numbers: pd.DataFrame, first: pd.Series[Any], names: pd.Index
) -> None:
    """Raise if a pair occurs again with another number."""
    x: Array = numbers["x"].to_numpy()
    with np.errstate(invalid="ignore"):  # infinite numbers are reported later
        wrong = np.abs(x - first.to_numpy()) > rounding_level(x, float(np.abs(x[np.isfinite(x)]).max(initial=0.0)))
    if not wrong.any():
        return
    at = numbers.index[int(np.argmax(wrong))]
    i, j, value = numbers.loc[at]
    one = numbers.index[(numbers["i"] == i) & (numbers["j"] == j)][0]
    raise cells.file.problem(
        f"{value:g} for the pair {str(names[int(i)])!r} and {str(names[int(j)])!r}, but {first[at]:g} in row "
        f"{cells.line(int(one), layout.skip)}; keep one row per pair, or combine them with aggregate='mean' if several "
        "raters judged it.",
        row=cells.line(int(at), layout.skip),
        column=layout.value + 1,
    )


def _describe(ratings: pd.DataFrame, total: int, n_raters: int | None, aggregate: str) -> str:
    least, most = ratings["count"].min(), ratings["count"].max()
    by = "" if n_raters is None else f" by {n_raters:,} raters"
    each = f"{most} of each pair" if least == most else f"{least} to {most} of a pair"
    spread = ratings["spread"].mean()
    apart = "" if np.isnan(spread) else f", which differ by {spread:.2g} (mean standard deviation)"
    return f"{total:,} ratings{by}, {each}{apart}; the {aggregate} of each pair"


# ---- the check


def check_square(file: InputFile, square: Square, symmetrize: str | None) -> None:
    """Raise unless the table holds dissimilarities; make it exactly symmetric, with zeros on its diagonal."""
    complete(square, symmetrize)
    try:
        source = ArraySource(square.values, square.labels, "pass symmetrize='mean' to average the two")
        check_dissimilarities(source, workers=Workers(1), warn=False)
    except WrongPair as error:
        row, column = square.place(*error.pair)
        raise file.problem(str(error), row=row, column=column) from None
    except ValueError as error:
        raise file.problem(str(error)) from None
    if not np.array_equal(square.values, square.values.T, equal_nan=True):
        apart = np.nanmax(np.abs(square.values - square.values.T))
        square.values = _averaged(square.values)
        square.detected += (f"the two halves, which differ by rounding (at most {apart:.2g}), averaged",)
    np.fill_diagonal(square.values, 0.0)


def complete(square: Square, symmetrize: str | None) -> None:
    """Fill a half that is wholly empty from the other one, or average the two if that is asked for."""
    values = square.values
    below, above = _filled_halves(values)
    if above != below:
        np.copyto(values, values.T.copy(), where=np.isnan(values))
    if symmetrize == "mean":
        square.values = _averaged(values)
        square.detected += ("the two halves averaged",)


def _averaged(values: Array) -> Array:
    """Return the mean of the two numbers of each pair; where one is missing the other."""
    mean = (values + values.T) / 2
    return np.where(np.isnan(mean), np.fmax(values, values.T), mean)


def _filled_halves(values: Array) -> tuple[bool, bool]:
    """Tell whether anything is given below the diagonal, and above it."""
    n = len(values)
    below = any(not np.isnan(values[i, :i]).all() for i in range(n))
    return below, any(not np.isnan(values[i, i + 1 :]).all() for i in range(n))
