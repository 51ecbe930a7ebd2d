"""The command that writes dissimilarities, or a table, in another form or format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ._folder import require_free
from ._inputs import read_input, require_columns, tell
from ._options import OUTPUT, READING, DataPath, Force, Given, Reading, names_in
from ._output import Outcome, Output

if TYPE_CHECKING:
    import pandas as pd

Target = Annotated[
    Path,
    typer.Argument(
        metavar="TO", help="The file to write: .csv, .tsv, .parquet or .json, with .gz to compress, or .phy."
    ),
]
Form = Annotated[
    Literal["square", "lower", "condensed", "long", "phylip", "table"] | None,
    typer.Option(
        "--to",
        help="Form to write: square by default, phylip for a file .phy; table keeps a table of features as it is.",
        rich_help_panel=OUTPUT,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "-c",
        metavar="A,B",
        help="Columns of a table that are known, and not compared; with --to table, those to write.",
        rich_help_panel=READING,
    ),
]


def convert(
    output: Output,
    data: DataPath,
    target: Target,
    reading: Reading,
    columns: Columns = None,
    to: Form = None,
    force: Force = False,
) -> Outcome:
    """Write dissimilarities in another form or format; of a table of features, the dissimilarities of its rows."""
    require_free(target, force=force)
    to = to or ("phylip" if target.suffix.lower() == ".phy" else "square")
    if to == "table":
        frame = _table(output, data, reading, names_in(columns))
    else:
        source = read_input(output, data, Given(columns=columns), reading)
        source.require_no_weights("convert")
        frame = source.dissimilarities
    if to == "condensed":
        output.note("This form has no labels: objects are numbered in their order.")
    _WRITERS[to](frame, target)
    output.say(f"Wrote {target}: {len(frame)} objects, {to}")
    return Outcome({"objects": len(frame), "form": to, "written": [str(target)]})


def _table(output: Output, data: Path, reading: Reading, columns: list[str] | None) -> pd.DataFrame:
    from ..io import read_table

    found = read_table(data, index=reading.labels, **reading.wishes)
    tell(output, found)
    if columns is None:
        return found.table
    require_columns(data, found.table, columns, "--columns")
    return found.table[columns]


# ---- forms


def _write_frame(frame: pd.DataFrame, target: Path) -> None:
    from ..io import write_table

    write_table(frame, target)


def _write_square(D: pd.DataFrame, target: Path) -> None:
    """Write all of it, with labels, also where objects are only numbered: a square of numbers alone is ambiguous."""
    import pandas as pd

    names = pd.Index([str(label) for label in D.index])
    _write_frame(D.set_axis(names, axis=0).set_axis(names, axis=1), target)


def _write_lower(D: pd.DataFrame, target: Path) -> None:
    import numpy as np

    upper = np.triu(np.ones(D.shape, dtype=bool), 1)
    _write_square(D.mask(upper), target)


def _write_condensed(D: pd.DataFrame, target: Path) -> None:
    import pandas as pd
    from scipy.spatial.distance import squareform

    values = pd.DataFrame({"dissimilarity": squareform(D.to_numpy(), checks=False)})
    _write_frame(values, target)


def _write_long(D: pd.DataFrame, target: Path) -> None:
    import numpy as np
    import pandas as pd

    i, j = np.triu_indices(len(D), 1)
    pairs = {"object": D.index[i], "other": D.index[j], "dissimilarity": D.to_numpy()[i, j]}
    _write_frame(pd.DataFrame(pairs).dropna(ignore_index=True), target)


def _write_phylip(D: pd.DataFrame, target: Path) -> None:
    from ..io import atomic_path

    names = [str(label) for label in D.index]
    if any(any(c.isspace() for c in name) or not name for name in names):
        raise ValueError(
            "labels with blanks cannot be written as PHYLIP, which ends a label at the first; rename them."
        )
    if D.isna().to_numpy().any():
        raise ValueError("PHYLIP has no way to leave a pair out, and some are missing; write another form.")
    rows = [" ".join([name, *map(repr, row)]) for name, row in zip(names, D.to_numpy().tolist(), strict=True)]
    with atomic_path(target) as draft:
        draft.write_text("\n".join([str(len(D)), *rows]) + "\n", encoding="utf-8")


_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "table": _write_frame,
    "square": _write_square,
    "lower": _write_lower,
    "condensed": _write_condensed,
    "long": _write_long,
    "phylip": _write_phylip,
}
