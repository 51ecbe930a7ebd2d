"""Reading dissimilarities from files of any usual form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import is_long, is_unlabelled, require_choice
from ..dissimilarities import similarity_to_dissimilarity
from ._escape import unescape
from ._input_file import InputFile, open_input
from ._layout import Layout, find_layout
from ._pairs import AGGREGATES, Roles, find_roles, table_of_pairs
from ._phylip import is_phylip, read_phylip
from ._problems import times
from ._square import Square, agreed_labels, averaged, check_square, fill_other_half, halves_filled
from ._stored import open_excel, read_stored
from ._text import MISSING, FormatOptions, Text, not_a_number, open_text, text_lines

if TYPE_CHECKING:
    import pandas as pd

SHAPES = ("auto", "square", "lower", "condensed", "long", "phylip")
_NOT_SQUARE = "dissimilarities are a square table, one row and one column per object: is this a table of features?"


@dataclass(frozen=True)
class DissimilarityFile:
    """Dissimilarities as they were read, and what was detected about the file.

    Attributes
    ----------
    dissimilarities : DataFrame of shape (n_samples, n_samples)
        Symmetric, zero on the diagonal, NaN for pairs that the file does not give. Labels are text if the file is;
        without labels objects are numbered from 0.
    detected : tuple of str
        What was detected about the file, in short phrases.
    path : str
        The file.
    ratings : DataFrame or None
        Where several ratings of a pair were combined: one row per pair with the combined rating, the count of ratings
        and their spread (the standard deviation), as they stand in the file.
    """

    dissimilarities: pd.DataFrame
    detected: tuple[str, ...]
    path: str
    ratings: pd.DataFrame | None = None

    def weights(self, by: str = "count") -> pd.DataFrame:
        """Return weights of the pairs from their ratings, for ``fit(weights=…)``; their mean is 1.

        Parameters
        ----------
        by : {"count", "spread"}, default="count"
            The number of ratings; or this number divided by their variance, so that pairs on which raters agree count
            more. The variance is averaged with the mean variance of all pairs, because few raters may agree by chance.

        Returns
        -------
        DataFrame of shape (n_samples, n_samples)
            0 for pairs without a rating.
        """
        import pandas as pd

        require_choice("by", by, ("count", "spread"))
        if self.ratings is None:
            raise ValueError("there are no ratings to weigh the pairs by; pass aggregate='mean' when the file is read.")
        weight = self.ratings["count"].astype(float)
        if by == "spread":
            variance = self.ratings["spread"] ** 2
            typical = float(variance.mean())  # NaN if no pair was rated twice
            if not typical > 0:
                raise ValueError("raters never differ, or no pair was rated twice; use by='count'.")
            weight = weight / ((variance.fillna(typical) + typical) / 2)
        D = self.dissimilarities
        i, j = (D.index.get_indexer(self.ratings.index.get_level_values(level)) for level in range(2))
        weight = weight.where(i != j)
        values = np.zeros(D.shape)
        values[i, j] = values[j, i] = (weight / weight.mean()).fillna(0.0).to_numpy()
        return pd.DataFrame(values, index=D.index, columns=D.columns)


def read_dissimilarities(
    path: str | PathLike[str],
    *,
    shape: str = "auto",
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    symmetrize: str | None = None,
    similarity: str | None = None,
    aggregate: str | None = None,
    rater: str | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> DissimilarityFile:
    r"""Read dissimilarities from a file, in any of the usual forms.

    Parameters
    ----------
    path : str or path
        CSV, TSV or any delimited text, NumPy's npy and npz, Parquet, Excel, JSON or PHYLIP; text, npy and JSON may be
        compressed by gzip. The first bytes of the file decide, not its name.
    shape : {"auto", "square", "lower", "condensed", "long", "phylip"}, default="auto"
        A square table, a lower triangle, one number per pair, a list of pairs (object, object, dissimilarity), or
        PHYLIP; detected by default. scikit-bio's LSMat is a square table.
    delimiter : {",", ";", tab, " ", "|"}, optional
        The character between cells; a blank means any number of them. Detected by default.
    decimal : {".", ","}, optional
        The decimal mark; detected by default.
    header : bool, optional
        Whether the first row holds names; detected by default.
    encoding : str, optional
        By default UTF-8, or the encoding of the byte-order mark.
    sheet : str, optional
        The sheet of an Excel file; by default the first.
    symmetrize : {None, "mean"}, default=None
        With "mean" the two numbers of each pair are averaged; otherwise a file in which they differ is refused.
    similarity : str, optional
        The file holds similarities, which are turned into dissimilarities: "reverse" subtracts each from the sum of the
        largest and the smallest; "reverse:1:9" does so for a scale from 1 to 9. Or a method of
        :func:`unmask.dissimilarities.similarity_to_dissimilarity`, such as "correlation", "counts" or "confusion";
        "confusion:0.5" adds 0.5 to every cell.
    aggregate : {"mean", "median"}, optional
        Combine the numbers of pairs that occur several times in a list of pairs, such as the ratings of several raters.
    rater : str, optional
        The column that names the raters in a list of pairs; detected by default.
    max_expanded : int, optional
        How many bytes a compressed file may unpack to; by default a quarter of the machine's memory.
    name : str, optional
        The name of the file in messages and in the result, for example the one under which it was uploaded; by default
        its path.

    Returns
    -------
    DissimilarityFile
        The table, and what was detected about the file.

    Raises
    ------
    FileProblem
        If the file cannot be read or does not hold dissimilarities: one sentence with the place in the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "cities.csv"
    >>> _ = file.write_text("Bern;Basel;0,95\nBern;Chur;2,4\nBasel;Chur;2,3\n", encoding="utf-8")
    >>> read = read_dissimilarities(file)
    >>> print(read.dissimilarities.loc["Chur", "Bern"])
    2.4
    >>> read.detected
    ('semicolon-separated', 'decimal comma', 'list of pairs, 3 of the 3 pairs of 3 objects')

    Ratings of how alike two drinks are, from 1 to 9:

    >>> rows = ["who,one,other,alike", "Ann,tea,milk,6", "Bob,milk,tea,4", "Ann,tea,rum,1", "Ann,rum,milk,2"]
    >>> _ = file.write_text("\n".join(rows), encoding="utf-8")
    >>> read = read_dissimilarities(file, similarity="reverse:1:9", aggregate="mean")
    >>> print(read.dissimilarities.loc["tea", "milk"])
    5.0
    """
    require_choice("shape", shape, SHAPES)
    require_choice("symmetrize", symmetrize, (None, "mean"))
    require_choice("aggregate", aggregate, (*AGGREGATES, None))
    if rater is not None and aggregate is None:
        raise ValueError(f"rater={rater!r} belongs to aggregate, which is None; pass aggregate='mean'.")
    convert = None if similarity is None else _conversion(similarity)
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    with open_input(path, max_expanded, name) as file:
        square = read_square(file, open_cells(file, options, shape), options, shape, aggregate, rater)
        return finish(file, square, symmetrize, convert)


def finish(
    file: InputFile, square: Square, symmetrize: str | None = None, convert: Callable[[Square], str] | None = None
) -> DissimilarityFile:
    """Turn similarities into dissimilarities, check them and label them."""
    import pandas as pd

    if convert is not None:
        fill_other_half(square.values)
        if symmetrize == "mean":
            square.values = averaged(square.values)
        try:
            square.detected += (convert(square),)
        except ValueError as error:
            raise file.problem(str(error).replace("method=", "similarity=")) from None
    check_square(file, square, symmetrize)
    index = None if square.labels is None else pd.Index(square.labels)
    frame = pd.DataFrame(square.values, index=index, columns=index, copy=False)
    return DissimilarityFile(frame, (*(("gzip",) if file.packed else ()), *square.detected), file.path, square.ratings)


# ---- similarities


def _conversion(similarity: str) -> Callable[[Square], str]:
    """Return the function that turns a table of similarities into dissimilarities and describes this in a phrase."""
    method, *texts = str(similarity).split(":")
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise ValueError(f"similarity={similarity!r} must have numbers after the colon.") from None
    if method == "reverse" and len(numbers) in (0, 2):
        return lambda square: _reverse(square, numbers)
    if method == "reverse" or len(numbers) > (method == "confusion"):
        raise ValueError(
            f"similarity={similarity!r} has the wrong number of numbers after its name; write 'reverse', "
            "'reverse:1:9' (the ends of the scale), 'confusion:0.5', or a name alone."
        )

    def convert(square: Square) -> str:
        import pandas as pd

        index = None if square.labels is None else pd.Index(square.labels)
        S = pd.DataFrame(square.values, index=index, columns=index)
        pseudocount = numbers[0] if numbers else None
        square.values = similarity_to_dissimilarity(S, method, pseudocount=pseudocount).to_numpy(copy=True)
        return f"similarities ({method}) turned into dissimilarities"

    return convert


def _reverse(square: Square, ends: list[float]) -> str:
    """Subtract each similarity from the sum of the largest and the smallest."""
    values = square.values
    np.fill_diagonal(values, np.nan)
    if square.scale is None and not np.isnan(values).all():
        square.scale = (float(np.nanmin(values)), float(np.nanmax(values)))
    if square.scale is None:
        raise ValueError("holds no similarity at all.")
    low, high = sorted(ends) if ends else square.scale
    if not low <= square.scale[0] <= square.scale[1] <= high:
        raise ValueError(
            f"similarities go from {square.scale[0]:g} to {square.scale[1]:g}, beyond {low:g} to {high:g}."
        )
    square.values = low + high - values
    return f"similarities reversed, {low + high:g} - x, on a scale from {low:g} to {high:g}"


# ---- forms


def open_cells(file: InputFile, options: FormatOptions, shape: str = "auto") -> Text | None:
    """Detect the format of a text file or sheet; None for typed files, and for PHYLIP."""
    if file.kind == "excel":
        return open_excel(file, options)
    if file.kind != "text":
        return None
    if shape == "phylip" or (shape == "auto" and options.delimiter is None):
        with text_lines(file, options.encoding) as lines:
            if shape == "phylip" or is_phylip(line for line, _ in zip(lines, range(20), strict=False)):
                return None
    return open_text(file, options)


def read_square(
    file: InputFile,
    text: Text | None,
    options: FormatOptions,
    shape: str,
    aggregate: str | None = None,
    rater: str | None = None,
    layout: Layout | None = None,
) -> Square:
    """Read a file in any form as a square table."""
    if text is None and file.kind == "text":
        with text_lines(file, options.encoding) as lines:
            square = read_phylip(file, lines)
    elif text is None:
        frame, detected = read_stored(file, options)
        square = _of_typed(file, frame, shape, aggregate, rater)
        square.detected = (*detected, *square.detected)
    else:
        layout = find_layout(text, shape, options.header, rater) if layout is None else layout
        skip = int(layout.header is not None)
        if text.complete and len(text.head) == skip:
            raise file.problem("has a header and no rows below it; write the table again.")
        if layout.shape == "long":
            square = _long(text, layout, skip, aggregate)
        else:
            square = {"condensed": _condensed, "lower": _lower, "square": _square}[layout.shape](text, layout, skip)
        square.detected = (*text.detected, *square.detected)
    if aggregate is not None and square.ratings is None:
        raise file.problem(
            f"does not hold a list of pairs, so there is nothing to combine by aggregate={aggregate!r}; leave it out, "
            "or name the column of raters by rater=…."
        )
    return square


def _long(text: Text, layout: Layout, skip: int, aggregate: str | None) -> Square:
    roles = layout.roles
    assert roles is not None
    width = 3 if roles.rater is None else 4
    frame = text.numbers(skip, width, [at for at in range(width) if at != roles.value])
    for at in roles[:2]:
        frame[at] = [unescape(label) for label in frame[at]]
    square = table_of_pairs(text.file, frame, roles, lambda at: text.line(at, skip), aggregate)
    square.detected = (*text.decimal_detected, *square.detected)
    return square


def _condensed(text: Text, _: Layout, skip: int) -> Square:
    cells = [(row.line, at, cell) for row in text.rows(skip) for at, cell in enumerate(row.cells, 1)]
    values = text.parse(cells)
    square = _of_condensed(text.file, values, lambda at: cells[at][:2])
    square.detected = ("no labels", *text.decimal_detected, *square.detected)
    return square


def _lower(text: Text, layout: Layout, skip: int) -> Square:
    file = text.file
    rows = [(row.line, row.cells) for row in text.rows(skip)]
    labelled = int(layout.labelled)
    first = len(rows[0][1]) - labelled
    for at, (line, cells) in enumerate(rows):
        if len(cells) - labelled != first + at or not 1 - labelled <= first <= 1:
            raise file.problem(
                f"has {len(cells)} cells where a lower triangle has {at + 1 + labelled * first}, one more than in the "
                "row above; is a delimiter missing, or one too many?",
                row=line,
            )
    numbers = [
        text.parse([(line, at, cell) for at, cell in enumerate(cells[labelled:], 1 + labelled)]) for line, cells in rows
    ]
    diagonal = first == 1 if labelled else all(np.isnan(row[-1]) or row[-1] == 0 for row in numbers)
    ends = {row[-1] for row in numbers if len(row)}
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
    for at, row in enumerate(numbers, shift):
        values[at, : len(row)] = row
    left = [unescape(cells[0]) for _, cells in rows] if labelled else None
    labels, order = agreed_labels(file, left, layout.header, lambda at: rows[at][0])
    if order is not None:
        raise file.problem("names the objects in another order in its header than in its first column; use one.")
    said = f"lower triangle of {n} objects, {'with' if diagonal else 'without'} diagonal"
    place = lambda i, j: (rows[max(i, j) - shift][0], min(i, j) + 1 + labelled)  # noqa: E731
    return Square(values, labels, place, (layout.detected, *text.decimal_detected, said))


def _square(text: Text, layout: Layout, skip: int) -> Square:
    labelled = int(layout.labelled)
    width = len(text.head[skip].cells)
    if text.complete and len(text.head) - skip < width - labelled - layout.extra:
        raise text.file.problem(
            f"has {len(text.head) - skip} rows and {width - labelled - layout.extra} columns of numbers; {_NOT_SQUARE}"
        )
    frame = text.numbers(skip, width, [0] if labelled else []).iloc[:, : width - layout.extra]
    numbers = frame.iloc[:, labelled:]
    left = [unescape(label) for label in frame.iloc[:, 0]] if labelled else None
    square = _of_square(text.file, numbers, left, layout.header, lambda at: text.line(at, skip), labelled)
    *moved, shape = square.detected[1:]
    square.detected = (layout.detected, *moved, *text.decimal_detected, shape)
    return square


def _of_square(
    file: InputFile,
    frame: pd.DataFrame,
    left: list[Any] | None,
    above: list[Any] | None,
    line: Callable[[int], int],
    first: int,
) -> Square:
    """Return a table of numbers as a square table; ``first`` cells stand before each row."""
    n, width = frame.shape
    if n != width or (above is not None and len(above) != width):
        raise file.problem(
            f"has {n} rows and {width if above is None else len(above)} columns of numbers; {_NOT_SQUARE}"
        )
    labels, order = agreed_labels(file, left, above, line)
    values = np.ascontiguousarray(frame.to_numpy())
    values = values.copy() if not values.flags.writeable or values.dtype.kind != "f" else values
    values = values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)
    across = np.arange(n) if order is None else np.array(order)
    values = values if order is None else values[:, across]
    below, over = halves_filled(values)
    shape = "square" if below == over else "lower triangle" if below else "upper triangle"
    where = "rows and columns" if left is not None and above is not None else "rows" if left is not None else "columns"
    said = ["no labels" if labels is None else f"labels of {where}"]
    said += [] if order is None else ["columns put into the order of the rows"]
    place = lambda i, j: (line(i), int(across[j]) + 1 + first)  # noqa: E731
    return Square(values, labels, place, (*said, f"{times(n, n)} {shape}"))


def _of_condensed(file: InputFile, values: Array, place: Callable[[int], tuple[int, int]]) -> Square:
    """Return the square table of a vector that has one number per pair."""
    n = round((1 + np.sqrt(1 + 8 * len(values))) / 2)
    if n * (n - 1) // 2 != len(values):
        near = [k * (k - 1) // 2 for k in (n - 1, n, n + 1)]
        raise file.problem(
            f"has {len(values)} numbers in one line, but a condensed table of n objects has n(n-1)/2 of them, such as "
            f"{near[0]}, {near[1]} or {near[2]}; is it cut off, or a table of features?"
        )
    file.require_room(n * n * 8, f"has the pairs of {n} objects")
    square = np.zeros((n, n), dtype=values.dtype)
    start = 0
    for i in range(n - 1):  # row by row: the places of all pairs at once would take more room than the table
        end = start + n - 1 - i
        square[i, i + 1 :] = square[i + 1 :, i] = values[start:end]
        start = end
    placed = lambda i, j: place(min(i, j) * n - min(i, j) * (min(i, j) + 1) // 2 + abs(j - i) - 1)  # noqa: E731
    return Square(square, None, placed, (f"condensed, {len(values)} pairs of {n} objects",))


# ---- typed columns


def _of_typed(file: InputFile, frame: pd.DataFrame, shape: str, aggregate: str | None, rater: str | None) -> Square:
    """Return the table of a file whose cells have types, in the form that is asked for or detected."""
    from pandas.api import types

    line = (1).__add__
    roles = _roles_of_typed(frame, shape, rater)
    if roles is not None:
        frame = frame.copy()
        frame.isetitem(roles.value, _numbers(file, frame.iloc[:, [roles.value]], roles.value).iloc[:, 0].to_numpy())
        return table_of_pairs(file, frame, roles, line, aggregate)
    labels = None if is_unlabelled(frame.index) else list(frame.index)
    first = 0
    if labels is None and frame.shape[1] > 1:
        text = not types.is_numeric_dtype(frame.dtypes.iloc[0])
        if text or frame.shape[1] == len(frame) + 1:
            labels, frame, first = [str(label) for label in frame.iloc[:, 0]], frame.iloc[:, 1:], 1
    numbers = _numbers(file, frame, first)
    if 1 in numbers.shape and numbers.size > 1 and shape in ("auto", "condensed"):
        return _of_condensed(
            file, numbers.to_numpy(dtype=np.result_type(np.float32, *numbers.dtypes)).ravel(), lambda at: (at + 1, 1)
        )
    above = None if is_unlabelled(frame.columns) else list(frame.columns)
    return _of_square(file, numbers, labels, above, line, first)


def _roles_of_typed(frame: pd.DataFrame, shape: str, rater: str | None) -> Roles | None:
    """Return the columns of a list of pairs, None if the table is something else."""
    if shape not in ("auto", "long") or frame.shape[1] not in (3, 4) or not is_unlabelled(frame.index):
        return None
    ends = frame.iloc[:, :2]
    numbered = all(kind.kind == "f" for kind in frame.dtypes) and (ends == ends.round()).to_numpy().all()
    if frame.shape[1] == 3 and numbered and len(frame) != 3:  # numbers of objects in an array
        for at in range(2):
            frame.isetitem(at, ends.iloc[:, at].to_numpy().astype(np.int64))
    if frame.shape[1] == 3:
        return Roles(0, 1, 2) if shape == "long" or is_long(frame) else None
    table = [list(map(str, frame.columns)), *frame.head(200).map(str).to_numpy().tolist()]
    return find_roles(table, ".", True, rater, complete=False, asked=shape == "long")


def _numbers(file: InputFile, frame: pd.DataFrame, first: int) -> pd.DataFrame:
    """Return a table of numbers; raise at the first cell that is not a number. ``first`` columns come before it."""
    import pandas as pd
    from pandas.api import types

    if all(types.is_numeric_dtype(kind) and isinstance(kind, np.dtype) for kind in frame.dtypes):
        return frame
    columns = {}
    for at in range(frame.shape[1]):
        column = frame.iloc[:, at]
        numbers = pd.to_numeric(column, errors="coerce")
        wrong = (numbers.isna() & column.notna() & ~column.isin(list(MISSING))).to_numpy()
        if wrong.any():
            row = int(np.argmax(wrong))
            raise file.problem(not_a_number(str(column.iloc[row]), "."), row=row + 1, column=at + 1 + first)
        columns[at] = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    return pd.DataFrame(columns, index=frame.index).set_axis(frame.columns, axis=1)
