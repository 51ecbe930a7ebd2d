"""Reading tables of features, known features of given objects, and files that may hold either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import find_labels, is_unlabelled, quote
from ._dissimilarities import DissimilarityFile, finish, open_cells, read_square
from ._escape import unescape
from ._input_file import InputFile, open_input
from ._layout import find_layout
from ._problems import FileProblem, times
from ._stored import read_stored
from ._text import FormatOptions, Text, is_text, open_text, typed

if TYPE_CHECKING:
    import pandas as pd

_LABEL_NAMES = frozenset(
    ["id", "ids", "label", "labels", "name", "names", "object", "objects", "index", "sample", "sample id", "sampleid"]
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
    _require_index(index)
    with open_input(path, max_expanded, name) as file:
        return _table_of(file, None, options, index)[0]


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
    _require_index(index)
    with open_input(path, max_expanded, name) as file:
        read, repeated = _table_of(file, None, options, index)
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
        text = open_cells(file, options)
        sure = text is None and file.kind == "text"  # PHYLIP
        try:
            why = "PHYLIP" if sure else "symmetric, with zeros on the diagonal"
            layout = None
            if text is not None:
                layout = find_layout(text, "auto", options.header)
                if layout.shape == "long":
                    sure = _names_objects(text, layout)
                    why = "a list of pairs of the same objects"
                elif layout.shape == "condensed":
                    why = "one number per pair"
                    if layout.header is not None:
                        raise file.problem("its one column has a name")
                elif layout.sure:
                    sure = True
                    why = "a lower triangle" if layout.shape == "lower" else "labels of rows and columns agree"
            read = finish(file, read_square(file, text, options, "auto", layout=layout))
            return replace(read, detected=(*read.detected, f"taken for dissimilarities: {why}"))
        except FileProblem as problem:
            if sure:
                raise
            table, _ = _table_of(file, text, options, None)
            why = problem.what.split(";")[0].rstrip(".")
            return replace(table, detected=(*table.detected, f"taken for a table of features: {why}"))


def _names_objects(text: Text, layout: Any) -> bool:
    """Tell whether a list of pairs can hardly be a table of features; raise if it is hardly a list of pairs."""
    roles = layout.roles
    body = [row.cells for row in text.head[roles.named :]]
    ends = [[cells[at] for cells in body if len(cells) > at] for at in (roles.first, roles.second)]
    shared = set(ends[0]) & set(ends[1])
    pairs = {frozenset(pair) for pair in zip(*ends, strict=False)}
    objects = set(ends[0]) | set(ends[1])
    numbered = not any(is_text(cell, text.decimal) for cell in objects)
    few = text.complete and len(pairs) < 0.25 * len(objects) * (len(objects) - 1)
    if roles.rater is None and (not shared or (numbered and few)):
        raise text.file.problem("three columns, whose first two do not name the same objects")
    return roles.rater is not None or (bool(shared) and all(is_text(cell, text.decimal) for cell in objects))


# ---- tables


def _require_index(index: Any) -> None:
    if not isinstance(index, str | None) and index is not False:
        raise ValueError(f"index={index!r} must be the name of a column, False for none, or None to detect it.")


def _table_of(
    file: InputFile, text: Text | None, options: FormatOptions, index: str | bool | None
) -> tuple[TableFile, str | None]:
    """Read a table from an open file; also return why a column that may hold labels was not used for them."""
    from pandas.api import types

    detected: list[str] = ["gzip"] if file.packed else []
    if file.kind in ("text", "excel"):
        text = text or open_cells(file, options, "table") or open_text(file, options)
        frame, why = _of_text(text, options.header, index, detected)
    else:
        frame, why = _of_typed(file, options, index, detected)
    if not frame.size:
        raise file.problem("holds no features beside its labels; add a column.")
    texts = [name for name, kind in frame.dtypes.items() if not types.is_numeric_dtype(kind)]
    detected += [f"{times(*frame.shape)} table", f"text in {quote(texts)}" if texts else "all numbers"]
    return TableFile(frame, tuple(detected), file.path), why


def _of_typed(
    file: InputFile, options: FormatOptions, index: str | bool | None, detected: list[str]
) -> tuple[pd.DataFrame, str | None]:
    frame, phrases = read_stored(file, options)
    detected += phrases
    named = not is_unlabelled(frame.columns)
    frame = frame.set_axis([str(name) if named else f"x{at + 1}" for at, name in enumerate(frame.columns)], axis=1)
    _require_distinct(file, list(frame.columns), None)
    if index is None and not is_unlabelled(frame.index):
        detected.append("labels stored with the table")
        return frame, None
    frame = frame.reset_index(drop=True)
    at = _label_column(file, frame, index, unnamed=False)
    cells = None if at is None else _as_text(frame.iloc[:, at])
    return _labelled(file, frame, at, cells, (1).__add__, index, detected)


def _of_text(
    text: Text, header: bool | None, index: str | bool | None, detected: list[str]
) -> tuple[pd.DataFrame, str | None]:
    file = text.file
    names, skip = _names(text, header)
    body = [row.cells for row in text.head[skip:]]
    columns = {at: [cells[at] for cells in body if at < len(cells)] for at in range(len(names))}
    numeric = {at for at, cells in columns.items() if not any(is_text(cell, text.decimal) for cell in cells)}
    likely = {at for at, name in enumerate(names) if _is_label_name(name) or name == index or (at == 0 and not name)}
    frame = text.columns(skip, len(names), likely)
    width = len(names)
    trailing: list[str] = []
    if width > 1 and not names[-1] and skip and frame.iloc[:, -1].isna().all():
        names, width = names[:-1], width - 1
        trailing = ["an empty last column left out"]
        frame = frame.iloc[:, :width]
    _require_distinct(file, names, text.head[0].line)
    unnamed = bool(skip) and not names[0]
    frame.columns = [name or f"x{at + 1}" for at, name in enumerate(names)]  # type: ignore[assignment]
    many = "names in the first row" if skip else "no header: columns named x1, x2 …" if width > 1 else None
    detected += filter(None, [*text.detected, many, *text.decimal_detected])
    for at, kind in enumerate(frame.dtypes):
        if at in likely:
            continue
        name = frame.columns[at]
        if kind.kind in "iufb":
            code = next((cell for cell in columns[at] if len(cell) > 1 and cell[0] == "0" and cell.isdigit()), None)
            if code is not None:
                detected.append(f"column {name!r} has leading zeros ({code!r}) and is read as numbers; is it a code?")
            continue
        detected += _why_text(text, skip, name, frame.iloc[:, at]) if at in numeric else []
        frame.isetitem(at, [unescape(cell) for cell in frame.iloc[:, at]])
    label_at = _label_column(file, frame, index, unnamed=unnamed)
    cells = None if label_at is None else [unescape(cell) for cell in _as_text(frame.iloc[:, label_at])]
    for at in likely - {label_at, *range(width, len(columns))}:
        frame.isetitem(at, typed(_as_text(frame.iloc[:, at]), text.decimal).array)
    frame, why = _labelled(file, frame, label_at, cells, lambda at: text.line(at, skip), index, detected)
    detected += trailing
    return frame, why


def _as_text(column: pd.Series[Any]) -> list[str]:
    return ["" if missing else str(cell) for cell, missing in zip(column, column.isna(), strict=True)]


def _why_text(text: Text, skip: int, name: str, column: pd.Series[Any]) -> list[str]:
    """Return a phrase for the first text in a column that begins with numbers."""
    for row, cell in enumerate(column):
        if isinstance(cell, str) and is_text(cell, text.decimal):
            return [f"column {name!r} is text because of {cell[:40]!r} in row {text.line(row, skip)}"]
    return []


def _names(text: Text, header: bool | None) -> tuple[list[str], int]:
    """Return the names of the columns, and how many rows they take."""
    first, body = text.head[0].cells, [row.cells for row in text.head[1:]]
    named = _is_named(first, body, text.decimal) if header is None else header
    if not named:
        return [f"x{at + 1}" for at in range(len(first))], 0
    if not body:
        raise text.file.problem("has a header and no rows below it; write the table again.")
    names = [unescape(name) for name in first]
    names[0] = names[0].lstrip("# ") if names[0].startswith("#") else names[0]
    # R leaves out the cell above the labels.
    return (["", *names] if len(names) == len(body[0]) - 1 else names), 1


def _is_named(first: list[str], body: list[list[str]], decimal: str) -> bool:
    texts = [is_text(cell, decimal) for cell in first]
    if not body:
        return all(texts)
    if len(first) == len(body[0]) - 1 or all(text or not cell for text, cell in zip(texts, first, strict=True)):
        return True
    if not first[0] and first[1:] == [str(at) for at in range(len(first) - 1)]:
        return True  # what pandas writes for columns without names
    if any(map(_is_label_name, first)):
        return True
    columns = [[cells[at] for cells in body if at < len(cells)] for at in range(len(first))]
    return any(
        text and not any(is_text(cell, decimal) for cell in cells) for text, cells in zip(texts, columns, strict=True)
    )


def _is_label_name(name: str) -> bool:
    """Tell whether a column of this name holds labels."""
    return name.strip().lstrip("#").replace("_", " ").replace("-", " ").casefold() in _LABEL_NAMES


def _require_distinct(file: InputFile, names: list[str], row: int | None) -> None:
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if name and first.setdefault(name, at) != at:
            raise file.problem(
                f"two columns are named {name!r} ({first[name] + 1} and {at + 1}); give each a name of its own.",
                row=row,
                column=at + 1,
            )


# ---- labels


def _label_column(file: InputFile, frame: pd.DataFrame, index: str | bool | None, *, unnamed: bool) -> int | None:
    """Return the column that may hold the labels."""
    from pandas.api import types

    names = list(frame.columns)
    if index is False:
        return None
    if isinstance(index, str):
        return _position(file, names, index)
    if unnamed:
        return 0
    named = next((at for at, name in enumerate(names) if _is_label_name(name)), None)
    if named is not None:
        return named
    kind = frame.dtypes.iloc[0]
    return None if len(names) < 2 or types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) else 0


def _labelled(
    file: InputFile,
    frame: pd.DataFrame,
    at: int | None,
    cells: list[str] | None,
    line: Any,
    index: str | bool | None,
    detected: list[str],
) -> tuple[pd.DataFrame, str | None]:
    """Set the labels of the rows; also return why a column that may hold them was not used."""
    if at is None or cells is None:
        detected.append("rows numbered")
        return frame, None
    name = frame.columns[at]
    seen: set[str] = set()
    for position, label in enumerate(cells):
        if not label.strip() or label in seen:
            wrong = f"the label {label!r} twice" if label in seen else "an empty label"
            row = line(position)
            if isinstance(index, str):
                raise file.problem(
                    f"column {name!r} has {wrong}; give every object a label of its own.", row=row, column=at + 1
                )
            why = f"column {name!r} has {wrong} in row {row}"
            detected.append(f"rows numbered, since {why}")
            return frame, why
        seen.add(label)
    detected.append("labels in the first column" if at == 0 else f"labels in column {name!r}")
    return frame.drop(columns=name).set_axis(cells, axis=0), None


def _position(file: InputFile, names: list[str], wanted: str) -> int:
    if wanted not in names:
        near = get_close_matches(wanted, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {quote(names)}."
        raise file.problem(f"has no column {wanted!r}; {hint}")
    return names.index(wanted)


def _joined(file: InputFile, table: pd.DataFrame, objects: pd.Index) -> tuple[Any, tuple[str, ...]]:
    """Return the row of each object, and phrases for how rows were joined."""
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
    return at, ("joined by label", f"{len(surplus)} {rows} of other objects left out: {quote(table.index[surplus])}")
