"""The command that begins or continues a study in a dialogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ._dialogue import REFERENCES, Dialogue
from ._fit import study_of
from ._fitting import OTHERS, TABLES, labelled, say_written
from ._folder import Folder, open_folder, read_mark
from ._inputs import Input, is_study, open_study, read_beside, read_input
from ._options import Given, IsomapNeighbors, Reading, Saving, Search, TablePath, fitting_option
from ._output import Outcome, Output

Start = Annotated[
    Path, typer.Argument(metavar="DATA|STUDY", help="A file of dissimilarities or features, or a study to go on with.")
]
References = Annotated[
    int,
    fitting_option(
        "--references", min=0, help="Random maps that groups and orders are compared with; 0 makes no suggestions."
    ),
]


def discover(
    output: Output,
    data: Start,
    given: Given,
    search: Search,
    reading: Reading,
    saving: Saving,
    table: TablePath = None,
    neighbors: IsomapNeighbors = None,
    references: References = REFERENCES,
) -> Outcome:
    """Look at a map, name what it shows, and look at the next map given that: a dialogue.

    Answers may be piped in. When they end, the study is saved if --out says where.
    """
    folder = open_folder(saving, TABLES, OTHERS)
    study, record = begin_study(output, data, given, reading, table)
    params = search.params
    if neighbors is not None:
        params["n_neighbors"] = neighbors
    if folder is None and read_mark(data):
        folder = Folder(data, saving.file_format)  # to go on where the study is
    dialogue = Dialogue(
        output,
        study,
        "mds" if neighbors is None else "isomap",
        params,
        references,
        folder,
        record,
        saving.out is not None,
    )
    ended = dialogue.run()
    written = say_written(output, dialogue.folder) if dialogue.was_saved else []
    steps = labelled(study.history).rename(columns={"label": "step"})
    document = {"known": list(study.known.columns), "history": steps, "saved": dialogue.is_saved, "written": written}
    return Outcome(document, ended)


def _with_unselected(beside: Any, source: Input, given: Given, reading: Reading) -> Any:
    """Return the external table and the columns of --known that were not selected: maps may show them too."""
    from ..io import read_known

    if given.known is None or given.columns is None or source.known is None:
        return beside
    table = read_known(given.known, source.objects, index=reading.labels).table
    elsewhere = [*source.known.columns, *(() if beside is None else beside.columns)]
    rest = table.drop(columns=[name for name in elsewhere if name in table.columns])
    return rest if beside is None else beside.join(rest)


def begin_study(
    output: Output, data: Path, given: Given, reading: Reading, table: Path | None
) -> tuple[Any, dict[str, Any]]:
    """Return a study of data, or one that was saved, and the record of where its data came from."""
    if not is_study(data):
        source = read_input(output, data, given, reading)
        beside = read_beside(output, table, source.objects, reading.labels)
        return study_of(source, _with_unselected(beside, source, given, reading)), source.record
    if given != Given() or table is not None or reading != Reading():
        raise ValueError(
            f"{data} is a study, which has its tables; leave --known, --columns, --types, --table and how to read "
            "files out."
        )
    saved = open_study(data)
    return saved.study, saved.record
