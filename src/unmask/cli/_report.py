"""The command that makes a page of a study."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._fitting import REPORT
from ._folder import Folder, read_mark, require_free
from ._inputs import open_study
from ._options import Force, Seed, StudyPath, output_option
from ._output import Advance, Outcome, Output, progress

if TYPE_CHECKING:
    from ..progress import Progress

part_option = partial(typer.Option, rich_help_panel="Parts of the page")
PagePath = Annotated[
    Path | None,
    output_option(
        "--out",
        "-o",
        metavar="FILE",
        dir_okay=False,
        help="The page; by default report.html in the folder of the fit, or beside a saved study.",
    ),
]


Scree = Annotated[bool, part_option("--scree/--no-scree", help="Fit other numbers of dimensions.")]
Bootstrap = Annotated[int, part_option("--bootstrap", min=0, help="Resamples for intervals; 0 for none.")]
Compare = Annotated[bool, part_option("--compare/--no-compare", help="Compare with other methods.")]
MaxObjects = Annotated[
    int, part_option("--max-objects", min=3, help="Parts that need many fits are left out beyond so many objects.")
]
Interactive = Annotated[
    bool, part_option("--interactive/--still", help="Maps to hover over, zoom and search, by a script in the page.")
]
Title = Annotated[str | None, part_option("--title", help="Heading of the page.")]


def report(
    output: Output,
    study: StudyPath,
    out: PagePath = None,
    force: Force = False,
    title: Title = None,
    scree: Scree = True,
    bootstrap: Bootstrap = 50,
    compare: Compare = True,
    max_objects: MaxObjects = 500,
    interactive: Interactive = False,
    seed: Seed = 0,
) -> Outcome:
    """Make one self-contained HTML page of a study: the maps, how well they fit, what is known, and the script."""
    saved = open_study(study)
    path = out if out is not None else _default(study)
    require_free(path, force=force or (out is None and path.name in read_mark(study).get("files", [])))
    from ..reports import write_report

    with progress(output, "Writing the report", 1) as advance:
        write_report(
            saved.study,
            path,
            title=title,
            scree=scree,
            bootstrap=bootstrap,
            compare=compare,
            max_objects=max_objects,
            seed=seed,
            saved_as=saved.place,
            interactive=interactive,
            callback=lambda heard: _show(heard, advance),
        )
    if read_mark(study) and path.parent == study:
        Folder(study, written=[path]).mark()
    output.say(f"Wrote {path}")
    return Outcome({"written": [str(path)]})


def _show(heard: Progress, advance: Advance) -> None:
    if heard.stage.startswith("report: "):  # not of the fits that a part needs
        advance(heard.iteration / heard.max_iter)


def _default(study: Path) -> Path:
    if read_mark(study):
        return study / REPORT
    # Not into a saved study, which is replaced as a whole when it is saved again.
    return study.parent / f"{study.resolve().stem}.html"
