"""The command that opens the workbench in the browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ._folder import is_study
from ._options import Force, Reading, output_option
from ._output import Outcome, Output

Start = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DATA…|STUDY]",
        help="A file of dissimilarities or features, further tables and pictures of its objects; or a study to go on "
        "with; without it the page asks.",
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
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def explore(
    output: Output,
    reading: Reading,
    paths: Start = None,
    out: StudyOut = None,
    force: Force = False,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
) -> Outcome:
    """Open the workbench: see the map, draw what you recognise, name it, condition on it, look again.

    It runs on this machine, in the browser; Ctrl-C ends it. A STUDY is saved as you go, and so is one with --out.
    """
    from ..discovery import Discovery

    try:
        from ..app import Session, serve
    except ImportError as missing:
        raise ValueError(f"the workbench needs {missing.name}; install it with: pip install 'unmask[app]'.") from None
    data, others = (paths[0], paths[1:]) if paths else (None, [])
    saved = data if data is not None and (data.is_dir() or is_study(data)) and data.suffix != ".zarr" else None
    if reading != Reading() and (data is None or saved is not None):
        raise ValueError("the options for files need DATA: one or more files, and not a study, which has its tables.")
    if saved is not None and others:
        raise ValueError(f"{saved} is a study, which has its tables; leave the other files out.")
    free = out is None or not out.exists() or (out.is_dir() and not any(out.iterdir()))
    if not free and not force and not (saved is not None and out is not None and out.samefile(saved)):
        raise ValueError(f"{out}: is there already; choose another name, or replace it with --force.")
    study = None
    if saved is not None:
        study = Discovery.load(saved)
    elif data is not None:
        pictures = {path.stem: path for path in others if path.suffix.lower() in PICTURES}
        tables = [path for path in others if path not in pictures.values()]
        study = reading.study(output, data, table=tables, pictures=pictures or None)
    path = out or saved
    session = Session(study, path=path)
    serve(session, host=host, port=port, open_browser=browser, say=output.say)
    return Outcome({"saved": None if path is None or session.failure is not None else str(path)})
