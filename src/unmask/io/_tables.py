"""Reading tables of features, known features of given objects, and files that may hold either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import find_labels, is_missing, is_unlabelled, quote
from ._cells import Cells, FormatOptions, as_text, is_text, is_whole, typed
from ._dissimilarities import DissimilarityFile, checked, open_cells
from ._files import FileProblem, InputFile, open_input, times
from ._layout import Layout, find_layout, first_row
from ._shapes import read_square
from ._text import open_text
from ._typed import open_typed

if TYPE_CHECKING:
    import pandas as pd

_LABEL_NAMES = frozenset(
    ["id", "ids", "label", "labels", "name", "names", "object", "objects", "index", "sample", "sample id", "sampleid"]
)
# A first column of such a name is the labels if it has whole numbers, each once.
_NUMBERED_NAMES = frozenset(
    [
        "case",
        "participant",
        "patient",
        "person",
        "plot",
        "quadrat",
        "respondent",
        "site",
        "specimen",
        "station",
        "subject",
    ]
)


@dataclass(frozen=True)
class TableFile:
    """A table as it was read, and what was detected about the file.

    Attributes
    ----------
    table : DataFrame
        One row per object, indexed by label where the file has labels, and one column per feature.
    detected : tuple of str
        What was detected about the file, in short phrases.
    path : str
        The file.
    """

    table: pd.DataFrame
    detected: tuple[str, ...]
    path: str


def read_table(
    path: str | PathLike[str],
    *,
    index: str | bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> TableFile:
    r"""Read a table of features, one row per object.

    Parameters
    ----------
    path : str or path
        CSV, TSV or any delimited text, NumPy's npy and npz, Parquet, Excel or JSON; text, npy and JSON may be
        compressed by gzip.
    index : str or bool, optional
        The column that holds the labels; False for none. By default a column named id, label, name or the like,
        or else the first column if it holds text and each label once.
    delimiter, decimal, header, encoding, sheet, max_expanded, name
        As for `read_dissimilarities`.

    Returns
    -------
    TableFile
        The table, and what was detected about the file.

    Raises
    ------
    FileProblem
        If the file cannot be read or does not hold a table: one sentence with the place in the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("name,age,town\nAda,36,London\nBo,41,\n", encoding="utf-8")
    >>> print(read_table(file).table.loc["Ada", "age"])
    36
    """
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    with open_input(path, max_expanded, name) as file:
        return _table_of(file, options, index)[0]


def read_known(
    path: str | PathLike[str],
    labels: Any,
    *,
    columns: Sequence[str] | None = None,
    index: str | bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> TableFile:
    r"""Read known features of given objects, joined by label.

    Parameters
    ----------
    path : str or path
        Any table that `read_table` reads.
    labels : Index or sequence
        The objects, in the order of the result.
    columns : sequence of str, optional
        The columns to return, in this order; by default all.
    index, delimiter, decimal, header, encoding, sheet, max_expanded, name
        As for `read_table`.

    Returns
    -------
    TableFile
        The table with one row per object, in their order. Rows of other objects are left out; a table without labels
        and with as many rows as there are objects is taken in their order. ``detected`` has a phrase for either.

    Raises
    ------
    FileProblem
        If an object has no row or more than one, or a column is not there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("name,age,town\nAda,36,London\nBo,41,\n", encoding="utf-8")
    >>> read_known(file, ["Bo", "Ada"], columns=["age"]).table["age"].tolist()
    [41, 36]
    """
    import pandas as pd

    if isinstance(columns, str):
        raise ValueError(f"columns={columns!r} must be a list of names; for one column pass [{columns!r}].")
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    with open_input(path, max_expanded, name) as file:
        read, repeated = _table_of(file, options, index)
        if repeated is not None:
            raise file.problem(
                f"{repeated}; give every object a label of its own, or pass index=False to take the rows in order."
            )
        objects = labels if isinstance(labels, pd.Index) else pd.Index(list(labels))
        table = read.table
        if columns is not None:
            table = table.iloc[:, [_position(file, list(table.columns), str(name)) for name in columns]]
        at, phrases = _joined(file, table, objects)
        return TableFile(table.iloc[at].set_axis(objects, axis=0), (*read.detected, *phrases), read.path)


def read_data(
    path: str | PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | None = None,
    name: str | None = None,
) -> DissimilarityFile | TableFile:
    r"""Read dissimilarities if a file holds them, and a table of features otherwise.

    Parameters
    ----------
    path : str or path
        Any file that `read_dissimilarities` or `read_table` reads.
    delimiter, decimal, header, encoding, sheet, max_expanded, name
        As for these.

    Returns
    -------
    DissimilarityFile or TableFile
        The last phrase of ``detected`` gives the kind that was chosen, and why.

    Raises
    ------
    FileProblem
        If the file can be read as neither, or holds ratings of pairs, which `read_dissimilarities` combines.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "cities.csv"
    >>> _ = file.write_text("0,1,2\n1,0,3\n2,3,0\n", encoding="utf-8")
    >>> read_data(file).detected[-1]
    'taken for dissimilarities: symmetric, with zeros on the diagonal'
    """
    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    with open_input(path, max_expanded, name) as file:
        cells, layout = open_cells(file, options)
        sure, why = layout is not None, "PHYLIP"
        try:
            if layout is None:
                layout = find_layout(cells, "auto", options.header)
                sure, why = _judged(cells, layout)
            read = checked(file, read_square(cells, layout, None))
            return replace(read, detected=(*read.detected, f"taken for dissimilarities: {why}"))
        except FileProblem as problem:
            if sure:
                raise
            table, _ = _table_of(file, options, None, cells)
            why = problem.what.split(";")[0].rstrip(".")
            return replace(table, detected=(*table.detected, f"taken for a table of features: {why}"))


def _judged(cells: Cells, layout: Layout) -> tuple[bool, str]:
    """Tell whether a layout can only be one of dissimilarities, and why; raise if it is hardly one."""
    if layout.shape == "condensed":
        if layout.header is not None:
            raise cells.file.problem("its one column has a name")
        return False, "one number per pair"
    if layout.shape != "long":
        why = "a lower triangle" if layout.shape == "lower" else "labels of rows and columns agree"
        return layout.sure, why if layout.sure else "symmetric, with zeros on the diagonal"
    rows = [row.cells for row in cells.head[layout.skip :] if len(row.cells) > max(layout.ends)]
    one, two = ([row[at] for row in rows] for at in layout.ends)
    objects = {*one, *two}
    texts = sum(is_text(cell, cells.decimal) for cell in objects)
    n_pairs = len({frozenset(pair) for pair in zip(one, two, strict=True)})
    few = cells.complete and n_pairs < 0.25 * len(objects) * (len(objects) - 1)
    if layout.rater is None and (not {*one} & {*two} or (not texts and few)):
        raise cells.file.problem("three columns, whose first two do not name the same objects")
    return layout.rater is not None or texts == len(objects), "a list of pairs of the same objects"


# ---- tables


def _table_of(
    file: InputFile, options: FormatOptions, index: str | bool | None, cells: Cells | None = None
) -> tuple[TableFile, str | None]:
    """Read a table from an open file; also return why a column that may hold labels was not used for them."""
    from pandas.api import types

    if not isinstance(index, str | None) and index is not False:
        raise ValueError(f"index={index!r} must be the name of a column, False for none, or None to detect it.")
    if cells is None:
        cells = open_text(file, options) if file.kind == "text" else open_typed(file, options)
    names, skip = _names(cells, cells.named if options.header is None else options.header)
    likely = {at for at, name in enumerate(names) if _is_label_name(name) or name == index}
    likely |= {0} if not names[0] or _numbers_objects(names[0]) else set()
    frame = cells.frame(skip, len(names), likely, numeric=False)
    empty = len(names) > 1 and not names[-1] and skip and frame.iloc[:, -1].isna().all()
    own = cells.labelled and index is not None  # the file's own labels, which are not wanted
    if own or empty:
        kept = slice(int(own), len(names) - bool(empty))
        names, frame = names[kept], frame.iloc[:, kept].copy()
    _require_distinct(cells, names)
    frame.columns = [name or f"x{at + 1}" for at, name in enumerate(names)]  # type: ignore[assignment]
    label_at = _label_column(cells, frame, index, unnamed=not names[0])
    detected = [*(["gzip"] if file.packed else []), *cells.detected]
    if cells.named is None:
        detected += ["names in the first row"] if skip else ["no header: columns named x1, x2 …"] * (len(names) > 1)
    detected += cells.decimal_detected
    for at in likely & set(range(len(names))) - {label_at} if cells.named is None else ():
        frame.isetitem(at, typed(frame.iloc[:, at], cells.decimal).array)
    for at, (_, column) in enumerate(frame.items()):  # of tens of thousands of columns iloc is slow
        if at != label_at:
            head = [row.cells[at] for row in cells.head[skip:] if at < len(row.cells)]
            detected += _doubts(cells, skip, column, head)
    frame, phrase, why = _labelled(cells, skip, frame, label_at, asked=isinstance(index, str))
    if not frame.size:
        raise file.problem("holds no features beside its labels; add a column.")
    texts = [name for name, kind in frame.dtypes.items() if not types.is_numeric_dtype(kind)]
    detected += [phrase, *(["an empty last column left out"] if empty else []), f"{times(*frame.shape)} table"]
    return TableFile(frame, (*detected, f"text in {quote(texts)}" if texts else "all numbers"), file.path), why


def _doubts(cells: Cells, skip: int, column: pd.Series[Any], head: list[str]) -> list[str]:
    """Return a phrase for a column of text that begins with numbers, or of numbers that may be codes."""
    if column.dtype.kind in "iuf":
        digits = [cell for cell in head if cell.isdecimal() and cell.isascii()]
        read = [as_text(float(cell)) if column.dtype.kind == "f" else str(int(cell)) for cell in digits]
        codes = [(cell, number) for cell, number in zip(digits, read, strict=True) if cell != number]
        return [f"column {column.name!r} holds {cell!r}, read as {number}; is it a code?" for cell, number in codes[:1]]
    if column.dtype.kind == "b" or any(is_text(cell, cells.decimal) for cell in head):
        return []
    texts = ((row, cell) for row, cell in enumerate(column) if isinstance(cell, str) and is_text(cell, cells.decimal))
    row, cell = next(texts, (0, ""))
    because = f"column {column.name!r} is text because of {cell[:40]!r} in row {cells.line(row, skip)}"
    return [because] if cell else []


def _names(cells: Cells, header: bool | None) -> tuple[list[str], int]:
    """Return the names of the columns, and how many rows they take."""
    first, body = cells.head[0].cells, [row.cells for row in cells.head[1:]]
    named = _is_named(first, body, cells.decimal) if header is None else header
    if not named:
        return ["" if cells.labelled and not at else f"x{at + 1 - cells.labelled}" for at in range(len(first))], 0
    if not body:
        raise cells.file.problem("has a header and no rows below it; write the table again.")
    names = first_row(cells)
    # R leaves out the cell above the labels.
    return (["", *names] if len(names) == len(body[0]) - 1 else names), 1


def _is_named(first: list[str], body: list[list[str]], decimal: str) -> bool:
    """Tell whether the first row names the columns: by its texts, or as pandas numbers columns."""
    texts = [is_text(cell, decimal) for cell in first]
    if not body:
        return all(texts)
    texts_or_blank = all(text or not cell for text, cell in zip(texts, first, strict=True))
    numbered = not first[0] and first[1:] == [str(at) for at in range(len(first) - 1)]
    if len(first) == len(body[0]) - 1 or texts_or_blank or numbered or any(map(_is_label_name, first)):
        return True
    columns = ([row[at] for row in body if at < len(row)] for at in range(len(first)))
    return any(
        text and not any(is_text(cell, decimal) for cell in cells) for text, cells in zip(texts, columns, strict=True)
    )


def _is_label_name(name: str) -> bool:
    """Tell whether a column of this name holds labels."""
    return name.strip().lstrip("#").replace("_", " ").replace("-", " ").casefold() in _LABEL_NAMES


def _numbers_objects(name: str) -> bool:
    """Tell whether a column of this name may number the objects."""
    name = name.strip().replace("_", " ").replace("-", " ").casefold()
    return name in _NUMBERED_NAMES or name.endswith(" id")


def _require_distinct(cells: Cells, names: list[str]) -> None:
    first: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        if name and first.setdefault(name, at) != at:
            raise cells.file.problem(
                f"two columns are named {name!r} ({first[name]} and {at}); give each a name of its own.",
                row=cells.head[0].line or None,
                column=at,
            )


# ---- labels


def _label_column(cells: Cells, frame: pd.DataFrame, index: str | bool | None, *, unnamed: bool) -> int | None:
    """Return the column that may hold the labels."""
    from pandas.api import types

    names, first = list(frame.columns), frame.iloc[:, 0]
    if isinstance(index, str):
        return _position(cells.file, names, index)
    if index is False or unnamed:
        return 0 if unnamed and index is None else None
    texts = list(map(as_text, first))
    numbers = types.is_bool_dtype(first.dtype) or not any(is_text(cell, cells.decimal) for cell in texts)
    counted = first.is_unique and _numbers_objects(names[0]) and all(map(is_whole, texts))
    otherwise = None if len(names) < 2 or (numbers and not counted) else 0
    return next((at for at, name in enumerate(names) if _is_label_name(name)), otherwise)


def _labelled(
    cells: Cells, skip: int, frame: pd.DataFrame, at: int | None, *, asked: bool
) -> tuple[pd.DataFrame, str, str | None]:
    """Set the labels of the rows; also return a phrase for them, and why a column that may hold them was not used."""
    if at is None:
        return frame, "rows numbered", None
    name, stored = frame.columns[at], cells.labelled and at == 0
    labels = [label if stored else as_text(label) for label in frame.iloc[:, at]]
    seen: set[Any] = set()
    for position, label in enumerate(labels):
        if label in seen or is_missing(label) or not str(label).strip():
            wrong = f"column {name!r} has {f'the label {label!r} twice' if label in seen else 'an empty label'}"
            row = cells.line(position, skip)
            if asked:
                raise cells.file.problem(f"{wrong}; give every object a label of its own.", row=row, column=at + 1)
            why = f"{wrong} in row {row}"
            return frame, f"rows numbered, since {why}", why
        seen.add(label)
    where = "stored with the table" if stored else f"in column {name!r}" if at else "in the first column"
    return frame.drop(columns=name).set_axis(labels, axis=0), f"labels {where}", None


def _position(file: InputFile, names: list[str], wanted: str) -> int:
    if wanted not in names:
        near = get_close_matches(wanted, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {quote(names)}."
        raise file.problem(f"has no column {wanted!r}; {hint}")
    return names.index(wanted)


def _joined(file: InputFile, table: pd.DataFrame, objects: pd.Index) -> tuple[Any, tuple[str, ...]]:
    """Return the row of each object, and phrases for how rows were joined."""
    at = find_labels(table.index, objects)
    if is_unlabelled(table.index) or (is_unlabelled(objects) and (at < 0).all()):
        if len(table) != len(objects):
            raise file.problem(
                f"has {len(table)} rows and no labels in common with the {len(objects)} objects; give it a column of "
                "labels, or one row per object."
            )
        return np.arange(len(objects)), ("without labels to join by, rows taken in the order of the objects",)
    if (at < 0).any():
        raise file.problem(
            f"has no row for {quote(objects[at < 0])}; add the rows, or leave these objects out. It has rows for "
            f"{quote(table.index)}."
        )
    others = table.index.delete(at)
    rows = "row" if len(others) == 1 else "rows"
    left_out = (f"{len(others)} {rows} of other objects left out: {quote(others)}",) if len(others) else ()
    return at, ("joined by label", *left_out)
