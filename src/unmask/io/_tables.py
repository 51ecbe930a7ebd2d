"""Reading tables of features, and known features of given objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import find_labels, is_unlabelled, quote
from ._arrays import read_array
from ._columns import (
    ColumnNames,
    MoreTextColumns,
    find_names,
    is_label_name,
    leading_zeros,
    read_columns,
    typed_numbers,
    typed_text,
    written_whole,
)
from ._dialect import FormatOptions, Grid, open_grid
from ._escape import unescape
from ._frames import read_typed
from ._input_file import InputFile, open_input
from ._numbers import is_text, parse
from ._problems import times

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True)
class _RawTable:
    """A table before its labels are set: columns, candidates for labels as text, and rows in the file."""

    frame: pd.DataFrame
    texts: dict[int, list[str]]
    rows: Sequence[int]
    detected: tuple[str, ...]
    first_unnamed: bool = False
    labels: list[Any] | None = None  # known already


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
        The column that holds the labels; False if none does. By default a column named id, label, name or the like,
        or else the first column if it holds text and each label once.
    header : bool, optional
        Whether the first row names the columns; detected by default.
    delimiter, decimal, encoding, sheet, max_expanded, name
        As for `read_dissimilarities`.

    Returns
    -------
    TableFile
        The table, and what was detected about the file.

    Raises
    ------
    FileProblem
        If the file cannot be read or holds no table: one sentence with the place in the file.

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
    return table_of(open_input(path, max_expanded, name), options, index)[0]


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
    r"""Read what is known of given objects, joined by label.

    Parameters
    ----------
    path : str or path
        Any table that `read_table` reads.
    labels : Index or sequence
        The objects, in the order in which they are wanted.
    columns : sequence of str, optional
        The columns that are wanted, in this order; by default all.
    index, delimiter, decimal, header, encoding, sheet, max_expanded, name
        As for `read_table`.

    Returns
    -------
    TableFile
        The table with one row per object, in their order. Rows of other objects are left out, which ``detected``
        says. A table without labels that has as many rows as there are objects is taken in their order, which
        ``detected`` says too.

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

    options = FormatOptions(delimiter, decimal, header, encoding, sheet)
    file = open_input(path, max_expanded, name)
    read, repeated = table_of(file, options, index)
    objects = labels if isinstance(labels, pd.Index) else pd.Index(list(labels))
    table = read.table if columns is None else _chosen(file, read.table, columns)
    at, phrases = _joined(file, table, objects, repeated)
    return TableFile(table.iloc[at].set_axis(objects, axis=0), (*read.detected, *phrases), read.path)


def table_of(file: InputFile, options: FormatOptions, index: str | bool | None) -> tuple[TableFile, str | None]:
    """Read a table from an open file; also return why a column that may hold labels was not used for them."""
    if not isinstance(index, str | None) and index is not False:
        raise ValueError(f"index={index!r} must be the name of a column, False for none, or None to find out.")
    try:
        raw = _raw(file, options, index)
        frame, detected, repeated = _labelled(file, raw, index)
    except MemoryError as error:
        raise file.problem("is larger than the memory there is; read a part of it.") from error
    if not frame.shape[1] or not len(frame):
        raise file.problem("holds no features beside its labels; add a column.")
    packed = ("gzip",) if file.packed else ()
    kinds = _kinds(frame)
    return TableFile(frame, (*packed, *raw.detected, *detected, *kinds), file.path), repeated


def _kinds(frame: pd.DataFrame) -> tuple[str, ...]:
    """Describe the size of a table and which columns hold text, since a typing error turns numbers into text."""
    from pandas.api import types

    size = f"{times(*frame.shape)} table"
    texts = [name for name, kind in frame.dtypes.items() if not types.is_numeric_dtype(kind)]
    return (size, f"text in {quote(texts)}") if texts else (size, "all numbers")


# ---- raw tables


def _raw(file: InputFile, options: FormatOptions, index: str | bool | None) -> _RawTable:
    import pandas as pd

    if file.kind in ("npy", "npz"):
        stored = read_array(file)
        if stored.values.ndim not in (1, 2):
            raise file.problem(f"holds a {times(*stored.values.shape)} array; a table has rows and columns.")
        values = stored.values.reshape(len(stored.values), -1)
        frame = pd.DataFrame(values, columns=[f"x{at + 1}" for at in range(values.shape[1])])
        if stored.labels is not None and len(stored.labels) != len(frame):
            raise file.problem(f"holds {len(stored.labels)} labels for {len(frame)} rows; name each once.")
        return _RawTable(frame, {}, range(1, len(frame) + 1), stored.detected, labels=stored.labels)
    if file.kind in ("parquet", "json"):
        return _from_typed(file, options, index)
    text: dict[int, tuple[int, str] | None] = {}
    while True:
        try:
            with open_grid(file, options) as grid:
                return _from_grid(grid, options, index, text)
        except MoreTextColumns as more:  # known only at the end of the file, and rare
            text.update(more.columns)


def _from_typed(file: InputFile, options: FormatOptions, index: str | bool | None) -> _RawTable:
    frame, name = read_typed(file, options.encoding)
    if is_unlabelled(frame.columns):
        frame = frame.set_axis([f"x{at + 1}" for at in range(frame.shape[1])], axis=1)
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    _require_distinct(file, list(frame.columns), None)
    labels = None if is_unlabelled(frame.index) or index is not None else list(frame.index)
    texts = {
        at: ["" if missing else str(cell) for cell, missing in zip(column, column.isna(), strict=True)]
        for at, (name, column) in enumerate(frame.items())
        if at == 0 or is_label_name(str(name)) or name == index
    }
    return _RawTable(frame.reset_index(drop=True), texts, range(1, len(frame) + 1), (name,), labels=labels)


def _from_grid(
    grid: Grid, options: FormatOptions, index: str | bool | None, text: dict[int, tuple[int, str] | None]
) -> _RawTable:
    import pandas as pd

    names = find_names(grid, options.header)
    candidates = [at for at, name in enumerate(names.names) if at == 0 or is_label_name(name) or name == index]
    head = [row.cells() for row in grid.head[names.rows :]]
    for cells in head:
        for at, cell in enumerate(cells[: len(names.names)]):
            if at not in text and is_text(cell, grid.decimal):
                text[at] = None
    whole = written_whole(grid, names)
    columns = read_columns(grid, names, {*text, *candidates})
    typed: dict[int, pd.Series[Any]] = {
        at: typed_numbers(columns.numbers[:, position], written_whole=whole[at])
        for position, at in enumerate(columns.numeric)
    }
    for at, cells in columns.text.items():
        values = None if at in text else parse("\n".join(cells), grid.decimal)
        right = values is not None and len(values) == len(cells)
        typed[at] = (
            typed_numbers(values, written_whole=whole[at]) if right and values is not None else typed_text(cells)
        )
    detected = [*grid.detected, names.detected, *grid.decimal_detected]
    for at, why in text.items():
        if why is not None:
            detected.append(f"column {names.names[at]!r} is text because of {why[1][:40]!r} in row {why[0]}")
    detected += [
        f"column {names.names[at]!r} has leading zeros ({cell!r}) and is read as numbers; is it a code?"
        for at, cell in leading_zeros(head).items()
        if at in typed and typed[at].dtype.kind in "if"
    ]
    kept, left_out = _without_empty_last(names, typed)
    _require_distinct(grid.file, [names.names[at] for at in kept if names.names[at]], grid.head[0].number)
    frame = pd.concat([typed[at] for at in kept], axis=1)
    frame.columns = pd.Index([names.names[at] or f"x{at + 1}" for at in kept], dtype=object)
    texts = {at: [unescape(cell) for cell in columns.text[at]] for at in candidates if at in kept}
    return _RawTable(frame, texts, columns.rows, (*filter(None, detected), *left_out), names.first_unnamed)


def _without_empty_last(names: ColumnNames, typed: dict[int, pd.Series[Any]]) -> tuple[list[int], tuple[str, ...]]:
    """Leave out a last column that has neither a name nor a cell: every row ends in a delimiter."""
    at = len(names.names) - 1
    if at > 0 and not names.names[at] and typed[at].isna().all():
        return list(range(at)), ("an empty last column left out",)
    return list(range(at + 1)), ()


def _require_distinct(file: InputFile, names: list[str], row: int | None) -> None:
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if first.setdefault(name, at) != at:
            raise file.problem(
                f"two columns are named {name!r} (columns {first[name] + 1} and {at + 1}); give each a name of "
                "its own.",
                row=row,
                column=at + 1,
            )


# ---- labels


def _labelled(
    file: InputFile, raw: _RawTable, index: str | bool | None
) -> tuple[pd.DataFrame, tuple[str, ...], str | None]:
    """Set the labels; also return why a column that may hold them was not used."""
    import pandas as pd

    if raw.labels is not None:
        return raw.frame.set_axis(pd.Index(raw.labels), axis=0), ("labels stored with the table",), None
    if index is False:
        return raw.frame, ("rows numbered",), None
    names = list(raw.frame.columns)
    if isinstance(index, str):
        at = _position(file, names, index)
        repeated = _repeated(raw, at)
        if repeated is not None:
            raise file.problem(f"{repeated[0]}; give every object a label of its own.", row=repeated[1], column=at + 1)
    else:
        candidate = _candidate(raw)
        if candidate is None:
            return raw.frame, ("rows numbered",), None
        at, repeated = candidate, _repeated(raw, candidate)
        if repeated is not None:
            why = f"{repeated[0]} in row {repeated[1]}"
            return raw.frame, (f"rows numbered, since {why}",), why
    frame = raw.frame.drop(columns=names[at])
    detected = "labels in the first column" if at == 0 else f"labels in column {names[at]!r}"
    return frame.set_axis(pd.Index(raw.texts[at], name=None), axis=0), (detected,), None


def _candidate(raw: _RawTable) -> int | None:
    """Return the column that might hold the labels."""
    names = list(raw.frame.columns)
    if raw.first_unnamed:
        return 0
    for at, name in enumerate(names):
        if is_label_name(name) and at in raw.texts:
            return at
    from pandas.api import types

    kind = raw.frame.dtypes.iloc[0]
    return None if len(names) < 2 or types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) else 0


def _repeated(raw: _RawTable, at: int) -> tuple[str, int] | None:
    """Say which label of a column is missing or occurs twice, and in which row."""
    seen: set[str] = set()
    name = raw.frame.columns[at]
    for label, row in zip(raw.texts[at], raw.rows, strict=True):
        if not label.strip():
            return f"column {name!r} has an empty label", row
        if label in seen:
            return f"column {name!r} has the label {label!r} twice", row
        seen.add(label)
    return None


def _position(file: InputFile, names: list[str], wanted: str) -> int:
    if wanted not in names:
        near = get_close_matches(wanted, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {quote(names)}."
        raise file.problem(f"has no column {wanted!r}; {hint}")
    return names.index(wanted)


# ---- joining


def _chosen(file: InputFile, table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    if isinstance(columns, str):
        raise ValueError(f"columns={columns!r} must be a list of names; for one column pass [{columns!r}].")
    at = [_position(file, list(table.columns), str(name)) for name in columns]
    return table.iloc[:, at]


def _joined(
    file: InputFile, table: pd.DataFrame, objects: pd.Index, repeated: str | None
) -> tuple[Any, tuple[str, ...]]:
    """Return the row of each object, and phrases that tell how rows were joined."""
    if repeated is not None:
        raise file.problem(
            f"{repeated}; give every object a label of its own, or pass index=False to take the rows in their order."
        )
    if is_unlabelled(table.index) or (is_unlabelled(objects) and (find_labels(table.index, objects) < 0).all()):
        if len(table) != len(objects):
            raise file.problem(
                f"has {len(table)} rows and no labels in common with the {len(objects)} objects; give it a column of "
                "labels, or one row per object."
            )
        return np.arange(len(objects)), ("without labels to join by, rows taken in the order of the objects",)
    at = find_labels(table.index, objects)
    if (at < 0).any():
        raise file.problem(
            f"has no row for {quote(objects[at < 0])}; add the rows, or leave these objects out. It has rows for "
            f"{quote(table.index)}."
        )
    surplus = np.setdiff1d(np.arange(len(table)), at)
    if not len(surplus):
        return at, ("joined by label",)
    rows = "row" if len(surplus) == 1 else "rows"
    others = f"{len(surplus)} {rows} of other objects left out: {quote(table.index[surplus])}"
    return at, ("joined by label", others)
