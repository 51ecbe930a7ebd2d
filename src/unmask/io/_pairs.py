"""Lists of pairs: object, object, dissimilarity, and perhaps the rater who judged the pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import Array
from ..checking import rounding_level
from ._input_file import InputFile
from ._square import Square
from ._text import is_text, is_whole

if TYPE_CHECKING:
    import pandas as pd

AGGREGATES = ("mean", "median")
_RATERS = frozenset(
    ["rater", "judge", "who", "participant", "subject", "person", "respondent", "annotator", "worker", "user"]
)


class Roles(NamedTuple):
    """The columns of a list of pairs, by position, and whether the first row names them."""

    first: int
    second: int
    value: int
    rater: int | None = None
    named: bool = False


def find_roles(
    table: list[list[str]], decimal: str, header: bool | None, rater: str | None, *, complete: bool, asked: bool
) -> Roles | None:
    """Return the columns of a list of pairs; None if its first rows do not look like one, unless it is asked for."""
    width = max(set(lengths := [len(cells) for cells in table]), key=lengths.count)
    if width == 3 and rater is None:
        return _three_columns(table, decimal, header, complete=complete, asked=asked)
    table = [cells for cells in table if len(cells) == width]
    named = _is_named(table, decimal) if header is None else header
    names = [name.strip().casefold() for name in table[0]] if named else [""] * width
    body = table[1:] if named else table
    if not body or width != 4:
        return None
    columns = [list(column) for column in zip(*body, strict=True)]
    wanted = {rater.strip().casefold()} if rater is not None else _RATERS
    by_name = [at for at, name in enumerate(names) if name in wanted]
    found = []
    for at in by_name or ([] if rater is not None else range(4)):
        first, second, value = (other for other in range(4) if other != at)
        one, two = columns[first], columns[second]
        if any(is_text(cell, decimal) for cell in columns[value]) or not _name_objects(one, two, decimal):
            continue
        pairs = {frozenset(pair) for pair in zip(one, two, strict=True)}
        shared = 2 * len(set(one) & set(two)) >= min(len(set(one)), len(set(two)))
        repeated = 2 * len(pairs) <= len(body)
        texts = all(is_text(cell, decimal) for cell in [*one, *two])
        n_raters = len(set(columns[at]))
        several = 2 * n_raters <= len(body) or (repeated and texts and not complete)  # sorted by pair
        if asked or rater is not None or ((shared or repeated) and several if by_name else shared and texts):
            found.append(Roles(first, second, value, at, named))
    return found[0] if len(found) == 1 else None


def _is_named(table: list[list[str]], decimal: str) -> bool:
    """Tell whether the first row has text in a column that holds numbers below it."""
    first, body = table[0], table[1:]
    return any(
        is_text(cell, decimal) and not any(is_text(cells[at], decimal) for cells in body)
        for at, cell in enumerate(first)
        if body
    )


def _three_columns(
    table: list[list[str]], decimal: str, header: bool | None, *, complete: bool, asked: bool
) -> Roles | None:
    three = [cells for cells in table if len(cells) == 3]
    named = (len(table) > 1 and is_text(table[0][-1], decimal)) if header is None else header
    roles = Roles(0, 1, 2, None, named)
    if asked:
        return roles
    body = three[1:] if named else three
    texts = [is_text(cell, decimal) for cells in body for cell in cells[:2]]
    if len(three) < len(table) and not all(texts):  # a wrong row among pairs of names is reported by the reader
        return None
    if not body or any(is_text(cells[2], decimal) for cells in body):
        return None
    first, second, _ = map(list, zip(*body, strict=True))
    # Two objects, with their labels above and to the left, are a square table.
    if (named and first == table[0][1:]) or not _name_objects(first, second, decimal):
        return None
    if len(body) == 3 and complete and 2 * sum(texts) < len(texts):
        # Three objects have a square table of three columns too, which has zeros on its diagonal.
        return roles if any(float(body[at][at] or 0) != 0 for at in range(3)) else None
    return roles


def _name_objects(first: list[str], second: list[str], decimal: str) -> bool:
    """Tell whether two columns hold labels of the same kind: texts or whole numbers, but for a few empty cells."""
    texts = [[is_text(label, decimal) for label in labels] for labels in (first, second)]
    if (all(texts[0]) and not any(texts[1])) or (all(texts[1]) and not any(texts[0])):
        return False  # names beside numbers: features of labelled objects
    filled = [label for label in [*first, *second] if label]
    few_empty = 5 * len(filled) >= 4 * (len(first) + len(second))
    return few_empty and all(is_whole(label) or is_text(label, decimal) for label in filled)


def table_of_pairs(
    file: InputFile, frame: pd.DataFrame, roles: Roles, line: Callable[[int], int], aggregate: str | None
) -> Square:
    """Return the square table of a list of pairs, NaN for pairs that it does not name.

    A pair that occurs several times must have the same number each time, unless ``aggregate`` combines them.
    ``line`` gives the place of a row in the file.
    """
    import pandas as pd

    ends = [frame.iloc[:, at] for at in (roles.first, roles.second)]
    for end, at in zip(ends, roles[:2], strict=True):
        empty = (end.isna() | (end == "")).to_numpy()
        if empty.any():
            raise file.problem("an object has no label; give it one.", row=line(int(np.argmax(empty))), column=at + 1)
    if len({pd.api.types.infer_dtype(end) for end in ends}) > 1:
        ends = [end.astype(str) for end in ends]
    codes, labels = pd.factorize(np.column_stack([end.to_numpy(dtype=object) for end in ends]).ravel())
    lower, upper = np.sort(codes.reshape(-1, 2), axis=1).T
    lengths = frame.iloc[:, roles.value].to_numpy(dtype=np.float64)
    judged = pd.DataFrame({"i": lower, "j": upper, "x": lengths}).dropna()
    n = len(labels)
    file.require_room(n * n * 8, f"names {n:,} objects in {len(frame):,} pairs")
    groups = judged.groupby(["i", "j"], sort=False)["x"]
    n_raters = None if roles.rater is None else int(frame.iloc[:, roles.rater].nunique())
    named = int((first := judged.drop_duplicates(["i", "j"]))["i"].ne(first["j"]).sum())
    if aggregate is None:
        if n_raters is not None:
            raise file.problem(
                f"holds {len(judged):,} ratings of {named:,} pairs of {n:,} objects by {n_raters:,} raters, named in "
                f"column {roles.rater + 1}; combine them, for example with aggregate='mean', and if a high rating "  # type: ignore[operator]
                "means that two objects are alike, add similarity='reverse'."
            )
        _require_agreement(file, judged, groups.transform("first"), labels, line, roles.value + 1)
    combined = groups.agg(aggregate or "first")
    i, j = (combined.index.get_level_values(level) for level in ("i", "j"))
    values = np.full((n, n), np.nan)
    values[i, j] = values[j, i] = combined.to_numpy()
    detected = [f"list of pairs, {named} of the {n * (n - 1) // 2} pairs of {n} objects"]
    ratings = None
    if aggregate is not None:
        names = [pd.Index(labels, name=name) for name in ("object", "other")]
        ratings = pd.DataFrame({aggregate: combined, "count": groups.size(), "spread": groups.std()})
        ratings.index = pd.MultiIndex.from_arrays([names[0].take(i), names[1].take(j)])
        detected.append(_describe(ratings, len(judged), n_raters, aggregate))

    def place(i: int, j: int) -> tuple[int | None, int | None]:
        rows = judged.index[(judged["i"] == min(i, j)) & (judged["j"] == max(i, j))]
        return (line(int(rows[0])), roles.value + 1) if len(rows) else (None, None)

    scale = (float(judged["x"].min()), float(judged["x"].max())) if len(judged) else None
    return Square(values, list(labels), place, tuple(detected), ratings, scale)


def _require_agreement(
    file: InputFile, judged: pd.DataFrame, first: pd.Series[Any], labels: Any, line: Callable[[int], int], column: int
) -> None:
    """Raise if a pair occurs again with another number."""
    x: Array = judged["x"].to_numpy()
    level = rounding_level(x, float(np.abs(x[np.isfinite(x)]).max(initial=0.0)))
    with np.errstate(invalid="ignore"):  # infinite numbers are reported later
        wrong = np.abs(x - first.to_numpy()) > level
    if wrong.any():
        at = judged.index[int(np.argmax(wrong))]
        row = judged.loc[at]
        same = judged.index[(judged["i"] == row["i"]) & (judged["j"] == row["j"])]
        raise file.problem(
            f"{row['x']:g} for the pair {str(labels[int(row['i'])])!r} and {str(labels[int(row['j'])])!r}, but "
            f"{first[at]:g} in row {line(int(same[0]))}; keep one row per pair, or combine them with aggregate='mean' "
            "if several raters judged it.",
            row=line(int(at)),
            column=column,
        )


def _describe(ratings: pd.DataFrame, total: int, n_raters: int | None, aggregate: str) -> str:
    least, most = ratings["count"].min(), ratings["count"].max()
    by = "" if n_raters is None else f" by {n_raters:,} raters"
    each = f"{most} of each pair" if least == most else f"{least} to {most} of a pair"
    spread = ratings["spread"].mean()
    apart = "" if np.isnan(spread) else f", which differ by {spread:.2g} (mean standard deviation)"
    return f"{total:,} ratings{by}, {each}{apart}; the {aggregate} of each pair"
