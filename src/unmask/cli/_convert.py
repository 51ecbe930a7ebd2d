"""The command that writes dissimilarities, or a table, in another form or format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ._folder import require_free
from ._inputs import read_input, require_columns, tell
from ._options import DataPath, Force, Given, Reading, names_in, output_option, reading_option
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
    output_option(
        "--to",
        help="Form to write: square by default, phylip for a file .phy; table keeps a table of features as it is.",
    ),
]
Columns = Annotated[
    list[str] | None,
    reading_option(
        "--columns",
        "-c",
        metavar="A,B",
        help="Columns of a table that are known, and not compared; with --to table, those to write.",
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
    from ..io import write_table

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
    if to == "phylip":
        _write_phylip(frame, target)
    else:
        write_table(_FORMS[to](frame), target)
    output.say(f"Wrote {target}: {len(frame)} objects, {to}")
    return Outcome({"objects": len(frame), "form": to, "written": [str(target)]})


def _table(output: Output, data: Path, reading: Reading, columns: list[str] | None) -> pd.DataFrame:
    from ..io import read_table

    file = read_table(data, index=reading.labels, **reading.format_options)
    tell(output, file)
    if columns is None:
        return file.table
    require_columns(data, file.table, columns, "--columns")
    return file.table[columns]


# ---- forms


def _square(D: pd.DataFrame) -> pd.DataFrame:
    """Return the whole square, always with labels: a square of numbers alone is ambiguous."""
    import pandas as pd

    names = pd.Index([str(label) for label in D.index])
    return D.set_axis(names, axis=0).set_axis(names, axis=1)


def _lower(D: pd.DataFrame) -> pd.DataFrame:
    import numpy as np

    return _square(D.mask(np.triu(np.ones(D.shape, dtype=bool), 1)))


def _condensed(D: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd
    from scipy.spatial.distance import squareform

    return pd.DataFrame({"dissimilarity": squareform(D.to_numpy(), checks=False)})


def _long(D: pd.DataFrame) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    i, j = np.triu_indices(len(D), 1)
    pairs = {"object": D.index[i], "other": D.index[j], "dissimilarity": D.to_numpy()[i, j]}
    return pd.DataFrame(pairs).dropna(ignore_index=True)


# Forms that are tables.
_FORMS: dict[str, Callable[[Any], Any]] = {
    "table": lambda frame: frame,
    "square": _square,
    "lower": _lower,
    "condensed": _condensed,
    "long": _long,
}


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
