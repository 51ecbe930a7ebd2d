"""The command that opens the workbench in the browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ._fit import study_of
from ._folder import require_free
from ._inputs import Input, is_study, open_study, read_beside, read_input
from ._options import Force, Given, Reading, TablePath, output_option
from ._output import Outcome, Output

Start = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DATA…|STUDY]",
        help="A file of dissimilarities or features, with further tables and pictures as the page takes them, or a "
        "study to go on with; without it the page asks.",
    ),
]
StudyOut = Annotated[
    Path | None,
    output_option("--out", "-o", metavar="STUDY", help="Folder or zip file in which the study is saved as you go."),
]
page_option = partial(typer.Option, rich_help_panel="The page")
Host = Annotated[
    str, page_option("--host", help="Address to listen at, 0.0.0.0 for all; any but loopback lets other machines in.")
]
Port = Annotated[int, page_option("--port", min=0, max=65535, help="Port to listen at; 0 takes a free one.")]
Browser = Annotated[bool, page_option("--browser/--no-browser", help="Open the page in the browser.")]


def explore(
    output: Output,
    given: Given,
    reading: Reading,
    paths: Start = None,
    table: TablePath = None,
    out: StudyOut = None,
    force: Force = False,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
) -> Outcome:
    """Open the workbench: see the map, draw what you recognise, name it, condition on it, look again.

    It runs on this machine, in the browser; Ctrl-C ends it. A STUDY is saved as you go, and so is one with --out.
    """
    try:
        from ..app import Session, begin_with, serve
    except ImportError as missing:
        raise ValueError(f"the workbench needs {missing.name}; install it with: pip install 'unmask[app]'.") from None
    several, data = paths or [], paths[0] if paths and len(paths) == 1 else None
    place = open_study(data).place if data is not None and is_study(data) else None
    if out is not None and not _is_same(out, place) and not _is_empty(out):
        require_free(out, force=force)
    study = None if data is None else begin_study(output, data, given, reading, table)[0]
    if data is None and (given != Given() or table is not None or reading != Reading()):
        raise ValueError("DATA is missing; name the one file that the other options are about, or drop it on the page.")
    path = place if out is None else out
    session = Session(study, path=path)
    if len(several) > 1:
        try:
            begin_with(session, several)
        except BaseException:
            session.close()
            raise
    serve(session, host=host, port=port, open_browser=browser, say=output.say)
    return Outcome({"saved": None if path is None or session.failure is not None else str(path)})


def _is_same(out: Path, place: Path | None) -> bool:
    """Whether a study is saved where it is."""
    return place is not None and out.exists() and out.samefile(place)


def _is_empty(out: Path) -> bool:
    return out.is_dir() and not any(out.iterdir())


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
