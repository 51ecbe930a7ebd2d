"""Fitting a table that stays in its file, here or on the workers of a Dask cluster: a map without a study."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._fitting import TABLES, document_of, heard, say_unfinished, say_written, show_step, write_step
from ._folder import open_folder
from ._options import names_in
from ._output import Outcome, Output
from ._types import types_of

if TYPE_CHECKING:
    import pandas as pd

    from ._fit import Files

# How long to wait for a scheduler, in seconds.
PATIENCE = 20


def is_stored(data: Path) -> bool:
    """Tell a table that is read in parts: an array of Zarr."""
    return data.name.endswith(".zarr")


def fit_stored(output: Output, files: Files, params: dict[str, Any], scheduler: str | None) -> Outcome:
    """Fit one map to a table in parts, show it and write it."""
    from ..discovery import fit_alone

    folder = open_folder(files.saving, TABLES, ("map.png",))
    _refuse(files)
    with _cluster(scheduler):
        known = _read_known(output, files, _number_of_objects(files.data))
        text = (
            f"Fitting {files.data}, given {', '.join(known.columns)}" if len(known.columns) else f"Fitting {files.data}"
        )
        with heard(output, text, files.keeping) as callback:
            given = {**params, **files.keeping.params}
            step = fit_alone(str(files.data), known, types_of(files.given.types), given, callback)
    record = {"file": str(files.data), "known": list(known.columns)}
    if folder is not None:
        write_step(output, folder, step, data=record)
    show_step(output, step)
    written = say_written(output, folder)
    say_unfinished(output, step, folder, files.keeping)
    return Outcome({**document_of(step), "data": record, "written": written}, step.finished)


def _refuse(files: Files) -> None:
    """Raise on options that are for tables of which all is read."""
    from ._options import Reading
    from ._paint import Painting

    for given, default, what in (
        (files.reading, Reading(index=files.reading.index), "how DATA is read, except --index"),
        (files.painting, Painting(), "colours and shapes"),
        (files.table, None, "--table"),
    ):
        if given != default:
            raise ValueError(
                f"{files.data} is read in parts and makes no study, to which {what} belong; leave them out."
            )


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[None]:
    """Work on a cluster, if one is named, while the fit lasts."""
    if scheduler is None:
        yield
        return
    from ..checking import require_package

    distributed = require_package("distributed", "--scheduler", "dask")
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(f"--scheduler {scheduler}: no Dask scheduler answers there ({error}).") from error
    with client:
        yield


def _number_of_objects(path: Path) -> int:
    from ..checking import require_package

    shape = require_package("zarr", str(path), "zarr").open(str(path), mode="r").shape
    return int(shape[0])


def _read_known(output: Output, files: Files, n: int) -> pd.DataFrame:
    """Return what is known about the objects: the rows of a table in their order, for they have no labels."""
    import pandas as pd

    from ..io import read_table
    from ._inputs import require_columns, tell

    given, objects = files.given, pd.RangeIndex(n)
    if given.known is None:
        if given.columns is not None:
            raise ValueError(
                f"--columns: {files.data} holds dissimilarities; name the table of the columns by --known."
            )
        return pd.DataFrame(index=objects)
    file = read_table(given.known, index=files.reading.labels)
    tell(output, file)
    columns = names_in(given.columns)
    require_columns(given.known, file.table, columns or [], "--columns")
    table = file.table if columns is None else file.table[columns]
    if len(table) != n:
        raise ValueError(
            f"--known {given.known} has {len(table)} rows, but {files.data} has {n} objects; one row each."
        )
    return table.set_axis(objects, axis=0)
