"""Writing files: whole or not at all, with exact numbers, and with text that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import errno
import gzip
import math
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from numbers import Integral, Number, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import is_missing, is_pandas, is_unlabelled
from ._cells import escape
from ._files import FileProblem, problem, reason

if TYPE_CHECKING:
    import pandas as pd

# Errors of a full or failing disk.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# A draft older than this many seconds was left by a killed process.
_STALE = 3600.0
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@contextmanager
def atomic_path(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a temporary file next to ``path``, which takes its place when all has been written.

    Parameters
    ----------
    path : str or path
        The file to write. A link is followed: what it points to is replaced, and the link stays.

    Yields
    ------
    Path
        An empty file in the same folder and with the same suffix, to be written by any means. Without an error it is
        renamed to ``path`` in one step, so that a reader sees the old file or the new one; on an error it is removed.

    Raises
    ------
    FileProblem
        If ``path`` is a folder, or its folder does not exist or cannot be written to, or the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "map.txt") as draft:
    ...     _ = draft.write_text("0.5", encoding="utf-8")
    >>> [file.name for file in folder.iterdir()]
    ['map.txt']
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise problem(path, "is a folder; give the name of a file to write in it.")
    if not target.parent.is_dir():
        raise problem(path, f"there is no folder {str(target.parent)!r} to write it to; make the folder first.")
    # Names are limited to 255 bytes: the end, which has the suffix, is what programs look at.
    end = target.name if len(os.fsencode(target.name)) <= 200 else target.name[-40:]
    _remove_old_drafts(target.parent, end)
    draft = target.with_name(f".{secrets.token_hex(8)}-{end}")
    try:
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # less the user's umask
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
        except OSError as error:
            raise not_written(path, error) from error
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())  # bring it to the disk before the renaming
        try:
            os.replace(draft, target)
        except OSError as error:
            raise problem(path, f"cannot be replaced ({reason(error)}); close the programs that use it.") from error
        with suppress(OSError):  # the new name is an entry of the folder, which some systems can bring to the disk too
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise not_written(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)  # after the renaming there is nothing left to remove


def _remove_old_drafts(folder: Path, end: str) -> None:
    """Remove the drafts that killed processes left; recent ones may be in use."""
    pattern = re.compile(rf"\.[0-9a-f]{{16}}-{re.escape(end)}")
    with suppress(OSError):
        for entry in folder.iterdir():
            if pattern.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > _STALE:
                entry.unlink()


def not_written(path: str | PathLike[str], error: OSError) -> FileProblem:
    """Return the error for a file that the system would not write."""
    full = error.errno in _FULL
    why = os.strerror(error.errno or 0).lower() if full else reason(error)  # libraries have words of their own for it
    way_out = "free some space, or choose another place" if full else "choose another folder"
    return problem(path, f"cannot be written ({why}); {way_out}.")


def write_table(frame: pd.DataFrame, path: str | PathLike[str]) -> Path:
    """Write a table as CSV or TSV.

    Parameters
    ----------
    frame : DataFrame or Series
        The table. Its index is written too, unless it only numbers the rows (0, 1, 2 …).
    path : str or path
        The file, with the suffix ``.csv`` or ``.tsv``; ``.gz`` after it compresses. A file of that name is replaced,
        as by `atomic_path`.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    FileProblem
        If the suffix is another one, or the file cannot be written.

    Notes
    -----
    Text that a spreadsheet would run as a formula gets an apostrophe before it, which the functions that read files
    take off. Numbers have as many digits as it takes to read them back exactly.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [-0.5, 1.0]}, index=pd.Index(["=Ada", "Bo"], name="who"))
    >>> file = write_table(frame, Path(tempfile.mkdtemp()) / "map.csv")
    >>> print(file.read_text(encoding="utf-8"))
    who,x
    '=Ada,-0.5
    Bo,1.0
    <BLANKLINE>
    """
    import pandas as pd
    from pandas.api import types

    table = _with_labels(frame, "")
    suffix = Path(Path(path).name.lower().removesuffix(".gz")).suffix
    if suffix not in _DELIMITERS:
        raise problem(
            path,
            f"the suffix {suffix or '(none)'} is not .csv, .tsv, .csv.gz or .tsv.gz; use one of these. pandas writes "
            "other formats, for example by frame.to_parquet.",
        )
    columns = []
    for at in range(table.shape[1]):
        column = table.iloc[:, at]
        kind = column.dtype
        plain = types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) or types.is_datetime64_any_dtype(kind)
        columns.append(column if plain else pd.Series(map(_escaped, column.astype(object)), dtype=object))
    safe: pd.DataFrame = pd.concat(columns, axis=1) if columns else table
    safe.columns = pd.Index([escape(name) for name in table.columns], dtype=object)
    texts = [*safe.columns, *(cell for _, column in safe.items() if column.dtype.kind == "O" for cell in column)]
    # A lone carriage return would end the row, and the csv module may not quote it; blanks around a cell are not read.
    quote_all = any(isinstance(text, str) and ("\r" in text or text != text.strip()) for text in texts)
    with atomic_path(path) as draft:
        packed = draft.suffix.lower() == ".gz"
        text = safe.to_csv(
            None if packed else draft,
            sep=_DELIMITERS[suffix],
            index=False,
            lineterminator="\n",
            quoting=csv.QUOTE_NONNUMERIC if quote_all else csv.QUOTE_MINIMAL,
            encoding="utf-8",
        )
        if packed:
            draft.write_bytes(gzip.compress(str(text).encode(), mtime=0))  # the same table always gives the same bytes
    return Path(path)


def _with_labels(data: Any, unnamed: str) -> pd.DataFrame:
    """Return a table whose first columns are the labels, unless they only number the rows."""
    import pandas as pd

    if not is_pandas(data):
        raise ValueError(f"frame={type(data).__name__} must be a pandas DataFrame or Series; make one first.")
    if not hasattr(data, "columns"):
        data = data.to_frame("value" if data.name is None else data.name)
    if isinstance(data.columns, pd.MultiIndex):
        raise ValueError(
            f"frame has {data.columns.nlevels} rows of column names and a file has one; join them, for example by "
            "frame.columns.map('/'.join)."
        )
    if is_unlabelled(data.index):
        return data  # type: ignore[no-any-return]
    many = unnamed and data.index.nlevels > 1
    names = [
        (f"{unnamed} {at}" if many else unnamed) if name is None else str(name)
        for at, name in enumerate(data.index.names, 1)
    ]
    frame: pd.DataFrame = data.rename_axis(index=names).reset_index(allow_duplicates=True)
    return frame


def _escaped(cell: Any) -> Any:
    if is_missing(cell):
        return None
    return cell if isinstance(cell, Number | np.bool_ | date) else escape(str(cell))


def plain_data(data: Any) -> Any:
    """Return data as types that JSON has: tables become lists of records, NaN None, and infinite numbers text."""
    if isinstance(data, Mapping):
        return {str(key): plain_data(value) for key, value in data.items()}
    if is_pandas(data):
        table = _with_labels(data, "label").astype(object)
        return [plain_data(dict(zip(table.columns, row, strict=True))) for row in table.itertuples(index=False)]
    if isinstance(data, np.ndarray | list | tuple | set | frozenset):
        return [plain_data(value) for value in (sorted(data) if isinstance(data, set | frozenset) else data)]
    if is_missing(data):
        return None
    convert = next((convert for kind, convert in _PLAIN if isinstance(data, kind)), None)
    if convert is not None:
        return convert(data)
    if hasattr(data, "isoformat"):  # dates, times and durations
        return data.isoformat()
    raise TypeError(f"data of type {type(data).__name__} have no form in JSON; turn them into numbers, text or lists.")


def _plain_number(value: Any) -> float | str:
    number = float(value)
    return number if math.isfinite(number) else "Infinity" if number > 0 else "-Infinity"


# In this order: True is an integer too, and an integer real.
_PLAIN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str | PathLike, str),
    (bool | np.bool_, bool),
    (Integral, int),
    (Real, _plain_number),
)
