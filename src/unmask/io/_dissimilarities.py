"""Reading dissimilarities from files of any usual form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import find_labels, is_long, is_unlabelled, require_choice
from ..dissimilarities import similarity_to_dissimilarity
from ._arrays import read_array
from ._dialect import FormatOptions, Grid, open_grid
from ._frames import numbers_of_columns, read_typed
from ._input_file import InputFile, open_input
from ._layout import Layout, find_layout
from ._pairs import table_of_pairs
from ._phylip import is_phylip, read_phylip
from ._problems import times
from ._square import SquareTable, agreed_labels, check_square, fill_other_half
from ._tabular import from_condensed, read_rows
from ._text import find_encoding, lines_of

if TYPE_CHECKING:
    import pandas as pd

OnLayout = Callable[[Layout, Grid | None], None]
_SHAPES = ("auto", "square", "lower", "condensed", "long", "lsmat", "phylip")


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
    weights : DataFrame or None
        Weights of the pairs, where several raters judged them (`read_ratings`).
    """

    dissimilarities: pd.DataFrame
    detected: tuple[str, ...]
    path: str
    weights: pd.DataFrame | None = None


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
    pseudocount: float | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> DissimilarityFile:
    r"""Read dissimilarities from a file, in any of the usual forms.

    Parameters
    ----------
    path : str or path
        CSV, TSV or any delimited text, NumPy's npy and npz, Parquet, Excel, JSON or PHYLIP; text, npy and JSON may be
        compressed by gzip. What a file is, its first bytes say.
    shape : {"auto", "square", "lower", "condensed", "long", "lsmat", "phylip"}, default="auto"
        A square table, a lower triangle, one number per pair, a list of pairs (object, object, dissimilarity),
        scikit-bio's matrices or PHYLIP's; detected by default.
    delimiter : {",", ";", tab, " ", "|"}, optional
        What stands between cells; a blank means any number of them. Detected by default.
    decimal : {".", ","}, optional
        The decimal mark; detected by default.
    header : bool, optional
        Whether the first row holds names; detected by default.
    encoding : str, optional
        By default UTF-8, or what a byte-order mark says.
    sheet : str, optional
        The sheet of an Excel file; by default the first.
    symmetrize : {None, "mean"}, default=None
        With "mean" the two numbers of each pair are averaged; otherwise a file in which they differ is refused.
    similarity : str, optional
        The file holds similarities of this kind, for example "correlation" or "counts": a method of
        :func:`unmask.dissimilarities.similarity_to_dissimilarity`, which makes dissimilarities of them.
    pseudocount : float, optional
        For ``similarity="confusion"``: added to every cell.
    max_expanded : int, optional
        How many bytes a compressed file may unpack to; by default a quarter of the machine's memory.
    name : str, optional
        What to call the file in messages and in the result, for example the name under which it was uploaded; by
        default its path.

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
    """
    require_choice("shape", shape, _SHAPES)
    require_choice("symmetrize", symmetrize, (None, "mean"))
    kind = None if similarity is None else SimilarityKind(similarity, pseudocount)
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    return dissimilarities_of(open_input(path, max_expanded, name), shape, options, symmetrize, similarity_kind=kind)


@dataclass(frozen=True)
class SimilarityKind:
    """The kind of the similarities in a file."""

    method: str
    pseudocount: float | None = None

    def dissimilarities(self, file: InputFile, table: SquareTable, symmetrize: str | None) -> SquareTable:
        """Turn a table of similarities into one of dissimilarities."""
        fill_other_half(table.values)
        if symmetrize == "mean":
            table = table.averaged()
        try:
            D = similarity_to_dissimilarity(table.frame(), self.method, pseudocount=self.pseudocount)
        except ValueError as error:
            raise file.problem(str(error).replace("method=", "similarity=")) from None
        phrase = f"similarities ({self.method}) turned into dissimilarities"
        return replace(table, values=D.to_numpy(copy=True), detected=(*table.detected, phrase))


def dissimilarities_of(
    file: InputFile,
    shape: str,
    options: FormatOptions,
    symmetrize: str | None,
    on_layout: OnLayout | None = None,
    similarity_kind: SimilarityKind | None = None,
) -> DissimilarityFile:
    """Read dissimilarities from an open file; ``on_layout`` is called with their layout, and may raise."""
    try:
        table = _read(file, shape, options, on_layout)
        if similarity_kind is not None:
            table = similarity_kind.dissimilarities(file, table, symmetrize)
        table = check_square(file, table, symmetrize)
    except MemoryError as error:
        raise file.problem("is larger than the memory there is; read a part of it.") from error
    detected = (*(("gzip",) if file.packed else ()), *table.detected)
    return DissimilarityFile(table.frame(), detected, file.path)


def _read(file: InputFile, shape: str, options: FormatOptions, on_layout: OnLayout | None) -> SquareTable:
    if file.kind in ("npy", "npz"):
        return _from_stored(file, shape)
    if file.kind in ("parquet", "json"):
        frame, name = read_typed(file, options.encoding)
        return _from_frame(file, frame, shape).prefixed(name)
    if file.kind == "text":
        encoding = find_encoding(file, options.encoding)
        with lines_of(file, encoding) as lines:
            phylip = shape == "phylip" or (shape == "auto" and options.delimiter is None and is_phylip(lines))
        if phylip:
            if on_layout is not None:
                on_layout(Layout("phylip"), None)
            with lines_of(file, encoding) as lines:
                return read_phylip(file, lines)
    with open_grid(file, options) as grid:
        return _from_grid(grid, shape, options, on_layout)


# ---- rows of cells


def _from_grid(grid: Grid, shape: str, options: FormatOptions, on_layout: OnLayout | None) -> SquareTable:
    asked = "square" if shape == "lsmat" else shape
    layout = find_layout(grid, asked, True if shape == "lsmat" else options.header)
    if shape == "lsmat":
        _require_lsmat(grid, layout)
    if on_layout is not None:
        on_layout(layout, grid)
    table = read_rows(grid, layout).prefixed(*grid.detected)
    return table.prefixed("LSMat") if shape == "lsmat" else table


def _require_lsmat(grid: Grid, layout: Layout) -> None:
    corner = grid.head[0].cells()[0]
    if not layout.labelled or corner:
        raise grid.file.problem(
            f"an LSMat file has labels in its first row and column and an empty cell above them, not {corner[:40]!r}; "
            "choose another shape.",
            row=grid.head[0].number,
            column=1,
        )


# ---- arrays


def _from_stored(file: InputFile, shape: str) -> SquareTable:
    stored = read_array(file)
    values = stored.values
    if values.ndim == 2 and 1 in values.shape and values.size > 1:
        values = values.ravel()
    if values.ndim == 1 and shape in ("auto", "condensed"):
        table = from_condensed(file, values, lambda at: (at + 1, None))
    elif values.ndim == 2 and values.shape[1] == 3 and (shape == "long" or (shape == "auto" and len(values) != 3)):
        table = _numbered_pairs(file, values)
    elif values.ndim == 2 and values.shape[0] == values.shape[1] and shape in ("auto", "square", "lower"):
        n = len(values)
        table = SquareTable(values, None, lambda i, j: (i + 1, j + 1), (f"{times(n, n)} square",))
    else:
        lengths = times(*values.shape) or "single"
        raise file.problem(
            f"holds a {lengths} array where shape={shape!r} needs another; a square table, a condensed vector or rows "
            "of object, object, dissimilarity can be read."
        )
    if stored.labels is not None:
        if len(stored.labels) != len(table.values) or table.labels is not None:
            raise file.problem(f"holds {len(stored.labels)} labels for {len(table.values)} objects; name each once.")
        table = replace(table, labels=agreed_labels(file, stored.labels, None, [None] * len(stored.labels))[0])
    return table.prefixed(*stored.detected)


def _numbered_pairs(file: InputFile, values: Any) -> SquareTable:
    ends = values[:, :2]
    if not np.all(ends == np.round(ends)) or not np.all(np.abs(ends) < 2**53):
        raise file.problem(
            f"holds {times(len(values), 3)} numbers, of which the first two in each row are not numbers of objects; "
            "dissimilarities are a square table or a list of pairs: is this a table of features?"
        )
    objects, codes = np.unique(ends.astype(np.int64), return_inverse=True)
    codes = codes.reshape(ends.shape)
    labels = [int(label) for label in objects]
    return table_of_pairs(file, codes[:, 0], codes[:, 1], values[:, 2], labels, np.arange(1, len(values) + 1))


# ---- typed columns


def _from_frame(file: InputFile, frame: pd.DataFrame, shape: str) -> SquareTable:
    if shape == "long" or (shape == "auto" and frame.shape[1] == 3 and is_long(frame)):
        return pairs_of_frame(file, frame)
    frame, first = _with_index(frame)
    numeric = numbers_of_columns(file, frame, first)
    if numeric.shape[1] == 1 and shape in ("auto", "condensed"):
        values = numeric.iloc[:, 0].to_numpy(copy=True)
        return from_condensed(file, values, lambda at: (at + 1, None))
    n, columns = numeric.shape
    if n != columns:
        raise file.problem(
            f"has {n} rows and {columns} columns of numbers; dissimilarities are a square table, one row and one "
            "column per object: is this a table of features?"
        )
    labels, order, where = _labels_of_frame(file, frame)
    values = np.array(numeric.to_numpy(), dtype=np.float64, order="C")
    if order is not None:
        values = values[:, order]
    across = np.arange(n) if order is None else order
    place = lambda i, j: (i + 1, int(across[j]) + 1 + first)  # noqa: E731
    return SquareTable(values, labels, place, (where, f"{times(n, n)} square"))


def _with_index(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the table with its first column as labels if it holds text and nothing else names the rows."""
    from pandas.api import types

    if not is_unlabelled(frame.index) or frame.shape[1] < 2:
        return frame, 0
    first = frame.iloc[:, 0]
    if types.is_numeric_dtype(first.dtype) and frame.shape[1] != len(frame) + 1:
        return frame, 0
    return frame.iloc[:, 1:].set_axis(first.astype(str).to_numpy(), axis=0), 1


def _labels_of_frame(file: InputFile, frame: pd.DataFrame) -> tuple[list[Any] | None, Any, str]:
    left = None if is_unlabelled(frame.index) else list(frame.index)
    above = None if is_unlabelled(frame.columns) else list(frame.columns)
    if left is not None and above is not None:
        at = find_labels(frame.columns, frame.index) if frame.columns.is_unique else np.full(len(left), -1)
        if (at >= 0).all() and frame.index.is_unique:
            same = bool((at == np.arange(len(at))).all())
            moved = "" if same else ", columns put into the order of the rows"
            return left, None if same else at, f"labels of rows and columns{moved}"
        left, above = [str(label) for label in left], [str(label) for label in above]
    labels, order = agreed_labels(file, left, above, list(range(1, len(frame) + 1)))
    where = "no labels" if labels is None else "labels of rows" if above is None else "labels of columns"
    return labels, order, where


def pairs_of_frame(file: InputFile, frame: pd.DataFrame) -> SquareTable:
    """Return the square table of a list of pairs."""
    import pandas as pd

    if frame.shape[1] != 3:
        raise file.problem(
            f"has {frame.shape[1]} columns where a list of pairs has three: object, object, dissimilarity."
        )
    for at in range(2):
        if frame.iloc[:, at].isna().any():
            row = int(np.argmax(frame.iloc[:, at].isna().to_numpy())) + 1
            raise file.problem("an object has no label; give it one.", row=row, column=at + 1)
    lengths = numbers_of_columns(file, frame.iloc[:, 2:], 2).iloc[:, 0].to_numpy()
    ends = [frame.iloc[:, at] for at in range(2)]
    # By their cells: before pandas 3 text had no type of its own.
    if len({pd.api.types.infer_dtype(end) for end in ends}) > 1:
        ends = [end.astype(str) for end in ends]
    both = np.column_stack([end.to_numpy(dtype=object) for end in ends]).ravel()
    flat, labels = pd.factorize(both)
    codes = flat.reshape(-1, 2)
    rows = np.arange(1, len(frame) + 1)
    return table_of_pairs(file, codes[:, 0], codes[:, 1], lengths, list(labels), rows)
