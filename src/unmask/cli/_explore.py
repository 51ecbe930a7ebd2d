"""The command that opens the workbench in the browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ._discover import begin_study
from ._inputs import is_study, open_study
from ._options import Given, Reading, TablePath, output_option
from ._output import Outcome, Output

Start = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA|STUDY]",
        help="A file of dissimilarities or features, or a study to go on with; without it the page asks.",
    ),
]
StudyOut = Annotated[
    Path | None,
    output_option("--out", "-o", metavar="STUDY", help="Folder or zip file in which the study is saved as you go."),
]
page_option = partial(typer.Option, rich_help_panel="The page")
Host = Annotated[str, page_option("--host", help="Address to listen at; any other lets other machines in.")]
Port = Annotated[int, page_option("--port", min=0, max=65535, help="Port to listen at; 0 takes a free one.")]
Browser = Annotated[bool, page_option("--browser/--no-browser", help="Open the page in the browser.")]


def explore(
    output: Output,
    given: Given,
    reading: Reading,
    data: Start = None,
    table: TablePath = None,
    out: StudyOut = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
) -> Outcome:
    """Open the workbench: see the map, draw what you recognise, name it, condition on it, look again.

    It runs on this machine, in the browser; Ctrl-C ends it. A STUDY is saved as you go, and so is one with --out.
    """
    try:
        from ..app import Session, serve
    except ImportError as missing:
        raise ValueError(f"the workbench needs {missing.name}; install it with: pip install 'unmask[app]'.") from None
    study = None if data is None else begin_study(output, data, given, reading, table)[0]
    if data is None and (given != Given() or table is not None or reading != Reading()):
        raise ValueError("DATA is missing; name the file that the other options are about, or drop it on the page.")
    path = out
    if path is None and data is not None and is_study(data):
        path = open_study(data).place
    serve(Session(study, path=path), host=host, port=port, open_browser=browser, say=output.say)
    return Outcome({"saved": None if path is None else str(path)})
