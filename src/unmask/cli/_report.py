"""The command that makes a page of a study."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ._options import Force, Seed, StudyPath, output_option
from ._output import Outcome, Output

part_option = partial(typer.Option, rich_help_panel="Parts of the page")
PagePath = Annotated[
    Path | None,
    output_option(
        "--out",
        "-o",
        metavar="FILE",
        dir_okay=False,
        help="The page; by default report.html in the folder of the study, or beside a zip file.",
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
    random_state: Seed = 0,
) -> Outcome:
    """Make one self-contained HTML page of a study: the maps, how well they fit, the known features, and the script."""
    from ..discovery import Discovery
    from ..reports import write_report

    saved = Discovery.load(study)
    in_study = out is None and study.is_dir()
    path = out or (study / "report.html" if in_study else study.with_suffix(".html"))
    if path.exists() and not in_study and not force:
        raise ValueError(f"{path}: is there already; choose another name, or replace it with --force.")
    write_report(
        saved,
        path,
        title=title,
        scree=scree,
        bootstrap=bootstrap,
        compare=compare,
        max_objects=max_objects,
        seed=random_state,
        saved_as=study,
        interactive=interactive,
    )
    output.say(f"Wrote {path}")
    return Outcome({"written": [str(path)]})
