"""The shapes of dissimilarities in files, each read as a square table: square, triangle, condensed, pairs, PHYLIP."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import WrongPair, check_dissimilarities, quote, rounding_level
from ..kernels import ArraySource, Workers
from ._cells import Cells, as_number, not_a_number
from ._files import InputFile, times
from ._layout import Layout

if TYPE_CHECKING:
    import pandas as pd

_NOT_SQUARE = "dissimilarities are a square table, one row and one column per object: is this a table of features?"


@dataclass
class Square:
    """A square table, NaN where nothing is given; the place of each cell in the file; and phrases that describe it."""

    values: Array
    labels: list[Any] | None
    place: Callable[[int, int], tuple[int | None, int | None]]
    detected: tuple[str, ...]
    ratings: pd.DataFrame | None = None
    scale: tuple[float, float] | None = None  # the smallest and the largest rating


def read_square(cells: Cells, layout: Layout, aggregate: str | None) -> Square:
    """Read a file that is arranged in this way as a square table."""
    if cells.complete and len(cells.head) == layout.skip:
        raise cells.file.problem("has a header and no rows below it; write the table again.")
    if layout.shape == "long":
        return _of_pairs(cells, layout, aggregate)
    return {"condensed": _of_condensed, "lower": _of_triangle, "square": _of_table}[layout.shape](cells, layout)


def _where(above: Any, left: Any) -> str:
    if above is not None and left is not None:
        return "labels in the first row and column"
    return "no labels" if above is left is None else f"labels in the first {'row' if left is None else 'column'}"


# ---- square tables


def _of_table(cells: Cells, layout: Layout) -> Square:
    file, skip, above = cells.file, layout.skip, layout.header
    first, width = int(layout.labelled), len(cells.head[skip].cells)
    n = width - first - layout.extra

    def require_square(rows: int) -> None:
        if rows != n or (above is not None and len(above) != n):
            raise file.problem(
                f"has {rows} rows and {n if above is None else len(above)} columns of numbers; {_NOT_SQUARE}"
            )

    if cells.complete and len(cells.head) - skip < n:
        require_square(len(cells.head) - skip)  # before a text in a table of features is called a wrong number
    frame = cells.frame(skip, width, range(first), numeric=True)
    left = list(frame[0]) if first else None
    frame = frame.iloc[:, first : width - layout.extra]
    require_square(len(frame))
    labels, order = _agreed_labels(cells, skip, left, above)
    values = np.ascontiguousarray(frame.to_numpy())
    del frame
    if not values.flags.writeable or values.dtype not in (np.float32, np.float64):
        values = np.array(values, dtype=np.float32 if values.dtype == np.float32 else np.float64)
    values = values if order is None else values[:, order]
    below, over = halves_filled(values)
    shape = "square" if below == over else "lower triangle" if below else "upper triangle"
    moved = () if order is None else ("columns put into the order of the rows",)
    across = range(n) if order is None else order
    return Square(
        values,
        labels,
        lambda i, j: (cells.line(i, skip), across[j] + 1 + first - cells.labelled),
        (_where(above, left), *moved, *cells.decimal_detected, f"{times(n, n)} {shape}"),
    )


def _agreed_labels(
    cells: Cells, skip: int, left: list[Any] | None, above: list[Any] | None
) -> tuple[list[Any] | None, list[int] | None]:
    """Return the labels of the objects, and the order that brings the columns into that of the rows, if needed."""
    shift = 1 + (left is not None) - cells.labelled
    _require_unique(cells, left, lambda at: {"row": cells.line(at, skip)})
    _require_unique(cells, above, lambda at: {"column": at + shift})
    if left is None or above is None or left == above:
        return (above if left is None else left), None
    at = {str(label): position for position, label in enumerate(above)}
    in_rows, there = [label for label in left if str(label) not in at], set(map(str, left))
    if in_rows:
        raise cells.file.problem(
            f"the labels of rows and columns disagree: {quote(in_rows)} only in the first column, "
            f"{quote(label for label in at if label not in there) or 'none'} only in the first row; give both the same."
        )
    order = [at[str(label)] for label in left]
    return left, None if order == sorted(order) else order


def _require_unique(cells: Cells, labels: list[Any] | None, place: Callable[[int], dict[str, int]]) -> None:
    seen: dict[str, int] = {}
    for at, label in enumerate(labels or ()):
        if not str(label).strip():
            raise cells.file.problem("an object has no label; give it one.", **place(at))
        if seen.setdefault(str(label), at) != at:
            ((kind, other),) = place(seen[str(label)]).items()
            raise cells.file.problem(
                f"the label {str(label)!r} is that of {kind} {other} too; give every object a label of its own.",
                **place(at),
            )


# ---- a lower triangle, and one number per pair


def _of_triangle(cells: Cells, layout: Layout) -> Square:
    file, labelled = cells.file, int(layout.labelled)
    rows = list(cells.rows(layout.skip))
    first = len(rows[0].cells) - labelled
    for at, row in enumerate(rows):
        if len(row.cells) - labelled != first + at or not 1 - labelled <= first <= 1:
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
    file.require_room(n * n * 8, f"has the pairs of {n} objects")
    values = np.full((n, n), np.nan)
    for at, numbers_of_row in enumerate(numbers, shift):
        values[at, : len(numbers_of_row)] = numbers_of_row
    left = [cells.plain(row.cells[0]) for row in rows] if labelled else None
    labels, order = _agreed_labels(cells, layout.skip, left, layout.header)
    if order is not None:
        raise file.problem("names the objects in another order in its header than in its first column; use one.")
    said = f"lower triangle of {n} objects, {'with' if diagonal else 'without'} diagonal"
    return Square(
        values,
        labels,
        lambda i, j: (rows[max(i, j) - shift].line, min(i, j) + 1 + labelled),
        (_where(layout.header, left), *cells.decimal_detected, said),
    )


def _of_condensed(cells: Cells, layout: Layout) -> Square:
    file, skip = cells.file, layout.skip
    if max(len(row.cells) for row in cells.head) == 1:
        values = cells.frame(skip, 1, numeric=True)[0].to_numpy()

        def place(at: int) -> tuple[int, int]:
            return cells.line(at, skip), 1

    else:
        found = [(row.line, at + 1, cells.number(row, at)) for row in cells.rows(skip) for at in range(len(row.cells))]
        values = np.array([number for *_, number in found])

        def place(at: int) -> tuple[int, int]:
            return found[at][:2]

    n = round((1 + np.sqrt(1 + 8 * len(values))) / 2)
    if n * (n - 1) // 2 != len(values):
        near = [k * (k - 1) // 2 for k in (n - 1, n, n + 1)]
        raise file.problem(
            f"has {len(values)} numbers in one line, but a condensed table of n objects has n(n-1)/2 of them, such as "
            f"{near[0]}, {near[1]} or {near[2]}; is it cut off, or a table of features?"
        )
    file.require_room(n * n * 8, f"has the pairs of {n} objects")
    square = np.zeros((n, n), dtype=np.float32 if values.dtype == np.float32 else np.float64)
    start = 0
    for i in range(n - 1):  # row by row: the places of all pairs at once would take more room than the table
        end = start + n - 1 - i
        square[i, i + 1 :] = square[i + 1 :, i] = values[start:end]
        start = end

    def place_of_pair(i: int, j: int) -> tuple[int, int]:
        i, j = sorted((i, j))
        return place(i * n - i * (i + 1) // 2 + j - i - 1)

    said = f"condensed, {len(values)} pairs of {n} objects"
    return Square(square, None, place_of_pair, ("no labels", *cells.decimal_detected, said))


# ---- lists of pairs


def _of_pairs(cells: Cells, layout: Layout, aggregate: str | None) -> Square:
    """Read pairs, NaN for those that are not named; one that occurs again has the same number, or is combined."""
    import pandas as pd

    file, width = cells.file, 3 if layout.rater is None else 4
    frame = cells.frame(layout.skip, width, {*range(width)} - {layout.value}, numeric=True)
    ends = [_labels_of(frame[at]) for at in layout.ends]
    for end, at in zip(ends, layout.ends, strict=True):
        empty = (end.isna() | (end == "")).to_numpy()
        if empty.any():
            row = cells.line(int(np.argmax(empty)), layout.skip)
            raise file.problem("an object has no label; give it one.", row=row, column=at + 1)
    if len({pd.api.types.infer_dtype(end) for end in ends}) > 1:
        ends = [end.astype(str) for end in ends]
    codes, labels = pd.factorize(np.column_stack([end.to_numpy(dtype=object) for end in ends]).ravel())
    lower, upper = np.sort(codes.reshape(-1, 2), axis=1).T
    judged = pd.DataFrame({"i": lower, "j": upper, "x": frame[layout.value].to_numpy(dtype=np.float64)}).dropna()
    n = len(labels)
    file.require_room(n * n * 8, f"names {n:,} objects in {len(frame):,} pairs")
    groups = judged.groupby(["i", "j"], sort=False)["x"]
    n_raters = None if layout.rater is None else int(frame[layout.rater].replace("", None).nunique())
    if aggregate is None and layout.rater is not None:
        named = int((first := judged.drop_duplicates(["i", "j"]))["i"].ne(first["j"]).sum())
        raise file.problem(
            f"holds {len(judged):,} ratings of {named:,} pairs of {n:,} objects by {n_raters:,} raters, named in "
            f"column {layout.rater + 1}; combine them, for example with aggregate='mean', and if a high rating "
            "means that two objects are alike, add similarity='reverse'."
        )

    def place(row: int) -> tuple[int, int]:
        return cells.line(row, layout.skip), layout.value + 1

    if aggregate is None:
        _require_agreement(file, judged, groups.transform("first"), labels, place)
    combined = groups.agg(aggregate or "first")
    i, j = (combined.index.get_level_values(level) for level in ("i", "j"))
    values = np.full((n, n), np.nan)
    values[i, j] = values[j, i] = combined.to_numpy()
    detected = [f"list of pairs, {int((i != j).sum())} of the {n * (n - 1) // 2} pairs of {n} objects"]
    ratings = None
    if aggregate is not None:
        ratings = pd.DataFrame({aggregate: combined, "count": groups.size(), "spread": groups.std()})
        names = pd.Index(labels)
        ratings.index = pd.MultiIndex.from_arrays([names.take(i), names.take(j)], names=["object", "other"])
        detected.append(_describe(ratings, len(judged), n_raters, aggregate))

    def place_of_pair(i: int, j: int) -> tuple[int | None, int | None]:
        rows = judged.index[(judged["i"] == min(i, j)) & (judged["j"] == max(i, j))]
        return place(int(rows[0])) if len(rows) else (None, None)

    scale = (float(judged["x"].min()), float(judged["x"].max())) if len(judged) else None
    return Square(values, list(labels), place_of_pair, (*cells.decimal_detected, *detected), ratings, scale)


def _labels_of(end: pd.Series[Any]) -> pd.Series[Any]:
    """Return labels as they were written; whole numbers in an array of floating point are whole."""
    if end.dtype.kind == "f" and (end == end.round()).all():
        return end.astype(np.int64)
    return end


def _require_agreement(
    file: InputFile,
    judged: pd.DataFrame,
    first: pd.Series[Any],
    labels: Any,
    place: Callable[[int], tuple[int, int]],
) -> None:
    """Raise if a pair occurs again with another number."""
    x: Array = judged["x"].to_numpy()
    level = rounding_level(x, float(np.abs(x[np.isfinite(x)]).max(initial=0.0)))
    with np.errstate(invalid="ignore"):  # infinite numbers are reported later
        wrong = np.abs(x - first.to_numpy()) > level
    if not wrong.any():
        return
    at = judged.index[int(np.argmax(wrong))]
    i, j, value = judged.loc[at]
    same = judged.index[(judged["i"] == i) & (judged["j"] == j)]
    row, column = place(int(at))
    raise file.problem(
        f"{value:g} for the pair {str(labels[int(i)])!r} and {str(labels[int(j)])!r}, but {first[at]:g} in row "
        f"{place(int(same[0]))[0]}; keep one row per pair, or combine them with aggregate='mean' if several raters "
        "judged it.",
        row=row,
        column=column,
    )


def _describe(ratings: pd.DataFrame, total: int, n_raters: int | None, aggregate: str) -> str:
    least, most = ratings["count"].min(), ratings["count"].max()
    by = "" if n_raters is None else f" by {n_raters:,} raters"
    each = f"{most} of each pair" if least == most else f"{least} to {most} of a pair"
    spread = ratings["spread"].mean()
    apart = "" if np.isnan(spread) else f", which differ by {spread:.2g} (mean standard deviation)"
    return f"{total:,} ratings{by}, {each}{apart}; the {aggregate} of each pair"


# ---- PHYLIP: the number of objects, then a label and its distances per object


def is_phylip(lines: Iterable[str]) -> bool:
    """Tell whether the first two lines are those of a PHYLIP file: a number alone, then a label."""
    first, second, *_ = [*[line for line in lines if line.strip()][:2], "", ""]
    if not re.fullmatch(r"\s*\d{1,9}\s*", first) or not second or re.search("[,;|]", second):
        return False
    cells = second.split()
    return as_number(cells[0], ".") is None or len(cells) == int(first) + 1


def read_phylip(file: InputFile, lines: Iterable[str]) -> Square:
    """Read a square matrix, whose rows may go on in the next lines, or a lower triangle."""
    numbered = [(number, line.split(), line) for number, line in enumerate(lines, 1) if line.strip()]
    number, count, line = numbered.pop(0) if numbered else (1, [], "")
    if len(count) != 1 or not count[0].isdecimal() or int(count[0]) < 1:
        raise file.problem(
            f"a PHYLIP file begins with the number of objects, not with {line.strip()[:40]!r}; choose another shape.",
            row=number,
        )
    n = int(count[0])
    first = numbered[0][1][1:] if numbered else []
    none = all(as_number(cell, ".") is None for cell in first)  # a triangle without diagonal
    lower = n > 1 and (none or (len(first) == 1 and as_number(first[0], ".") == 0))
    rows: list[tuple[int, list[str]]] = []
    while numbered:
        number, cells, line = numbered.pop(0)
        wanted = len(rows) + (not none) if lower else n
        while not lower and len(cells) <= wanted and numbered and as_number(numbered[0][1][0], ".") is not None:
            cells = cells + numbered.pop(0)[1]
        if len(cells) <= wanted and len(strict := line[10:].split()) == wanted:  # a label of ten characters
            cells = [line[:10].strip(), *strict]
        if len(cells) <= wanted:
            raise file.problem(
                f"has {len(cells) - 1} numbers after {cells[0]!r}, not {wanted}; correct it.", row=number
            )
        at = len(cells) - wanted  # a label may contain blanks
        rows.append((number, [" ".join(cells[:at]), *cells[at:]]))
    if len(rows) != n:
        raise file.problem(f"promises {n} objects in its first row, but has {len(rows)}; correct the number.")
    file.require_room(n * n * 8, f"names {n:,} objects")
    values = np.full((n, n), np.nan)
    for at, (number, cells) in enumerate(rows):
        for column, cell in enumerate(cells[1:]):
            if (value := as_number(cell, ".")) is None:
                raise file.problem(not_a_number(cell, "."), row=number, column=column + 2)
            values[at, column] = value
    shape = "lower triangle" if lower else "square"
    return Square(values, [cells[0] for _, cells in rows], lambda i, j: (rows[i][0], j + 2), ("PHYLIP", shape))


# ---- the check


def check_square(file: InputFile, square: Square, symmetrize: str | None) -> None:
    """Raise unless the table holds dissimilarities; make it exactly symmetric, with zeros on its diagonal."""
    complete_halves(square.values)
    if symmetrize == "mean":
        square.values = averaged(square.values)
        square.detected += ("the two halves averaged",)
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
        square.values = averaged(square.values)
        square.detected += (f"the two halves, which differ by rounding (at most {apart:.2g}), averaged",)
    np.fill_diagonal(square.values, 0.0)


def averaged(values: Array) -> Array:
    """Return the mean of the two numbers of each pair; where one is missing the other."""
    mean = (values + values.T) / 2
    return np.where(np.isnan(mean), np.fmax(values, values.T), mean)


def complete_halves(values: Array) -> None:
    """Fill a half that is wholly empty from the other one."""
    below, above = halves_filled(values)
    if above != below:
        np.copyto(values, values.T.copy(), where=np.isnan(values))


def halves_filled(values: Array) -> tuple[bool, bool]:
    """Tell whether anything is given below the diagonal, and above it."""
    n = len(values)
    below = any(not np.isnan(values[i, :i]).all() for i in range(n))
    return below, any(not np.isnan(values[i, i + 1 :]).all() for i in range(n))
