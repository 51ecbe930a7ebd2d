"""The command that makes a map."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ._folder import STUDY, Folder, open_folder
from ._options import DataPath, Reading, Saving, Search, fitting_option, output_option
from ._output import Outcome, Output, as_text, labelled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..discovery import Discovery, Step

MAP = "map.png"
# Files that other commands write into the folder of a study, about its last map.
OF_THE_LAST_MAP = {"report.html": "report", "placed.csv": "place", "placed.png": "place"}
MOST_CELLS = 10
PATIENCE = 20  # seconds to wait for a Dask scheduler

CheckpointFile = Annotated[
    Path | None,
    fitting_option(
        "--checkpoint", metavar="FILE", dir_okay=False, help="Save the fit in this file while it runs (.npz)."
    ),
]
Color = Annotated[
    str | None,
    output_option("--color", metavar="COLUMN", help="Colour the picture by a column of any of the files."),
]


def fit(
    output: Output,
    data: DataPath,
    reading: Reading,
    search: Search,
    saving: Saving,
    checkpoint: CheckpointFile = None,
    color: Color = None,
) -> Outcome:
    """Map objects from their dissimilarities, or from a table of features, given known features.

    Ctrl-C ends the search: the best map so far is printed and saved, marked unfinished, and the exit code is 130.
    """
    from ..discovery import UnfinishedWarning
    from ..progress import Checkpoint

    folder = _free_for_study(saving)
    checkpoint = checkpoint or (Path(search.init) if search.init else None)
    if checkpoint and search.estimator == "classical":
        raise ValueError("--checkpoint and --init are for a search, and --estimator classical makes none.")
    with _cluster_for(data), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnfinishedWarning)  # this command says so itself
        study = reading.study(output, data)
        paint = _column(study, color, folder)
        output.note(f"Fitting, {_given(study)}; Ctrl-C keeps the best map so far.")
        callback = None if checkpoint is None else Checkpoint(checkpoint)
        step = study.fit(estimator=search.estimator, callback=callback, **search.params)
        for text in step.warnings if step.finished else ():
            output.warn(text.partition(": ")[2])  # of which most were printed when they arose
        if folder is not None:  # first, because the reader of the output may stop reading
            _save(output, folder, study, paint)
    _show(output, step)
    written = [] if folder is None else folder.say_written(output)
    assert study.origin is not None  # the files
    document = {**_document(step), "origin": study.origin.model_dump(), "written": written}
    if not step.finished:
        saved = "" if folder is None else f"; it was saved in {folder.path}"
        go_on = "" if checkpoint is None else f"; --init {checkpoint} continues it"
        output.alert(f"Stopped: the map is unfinished{saved}{go_on}.")
    return Outcome(document, step.finished)


def _given(study: Discovery) -> str:
    known = ", ".join(study.known.columns)
    return f"given {known}" if known else "nothing known"


@contextmanager
def _cluster_for(data: Path) -> Iterator[None]:
    """Let the workers of a Dask cluster read a Zarr array, if DASK_SCHEDULER_ADDRESS names its scheduler."""
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    if not address or data.suffix != ".zarr":
        yield
        return
    from ..checking import require_package

    distributed = require_package("distributed", "DASK_SCHEDULER_ADDRESS", "dask")
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(f"DASK_SCHEDULER_ADDRESS={address}: no Dask scheduler answers there ({error}).") from error
    with client:
        yield


# ---- saving


def _free_for_study(saving: Saving) -> Folder | None:
    """Return the folder of the study; raise if it holds another one in which somebody recognised features."""
    folder = open_folder(saving)
    if folder is None or saving.force or not (folder.path / STUDY).is_file():
        return folder
    saved = json.loads((folder.path / STUDY).read_text(encoding="utf-8"))
    adopted = [action["name"] for action in saved.get("actions", []) if action.get("action") == "adopt"]
    if adopted:
        raise ValueError(
            f"--out {folder.path}: this folder holds a study in which {adopted[0]!r} was adopted; choose another "
            "folder, or replace the study with --force."
        )
    return folder


def _column(study: Discovery, name: str | None, folder: Folder | None) -> pd.Series[Any] | None:
    """Return the column to colour the map by."""
    from ..checking import quote

    if name is None:
        return None
    if folder is None:
        raise ValueError("--color is about the picture in the folder of --out; add --out, or leave it out.")
    tables = study.known, study.table
    for table in tables:
        if name in table.columns:
            return table[name]
    names = [column for table in tables for column in table.columns]
    raise ValueError(f"--color: no file has a column {name!r}; there are {quote(names) or 'none'}.")


def _save(output: Output, folder: Folder, study: Discovery, paint: Any) -> None:
    """Save the study, with its map as a table and a picture; remove files about an earlier map."""
    folder.path.parent.mkdir(parents=True, exist_ok=True)
    study.save(folder.path, force=True)  # open_folder has checked
    folder.written.append(str(folder.path))
    for name, command in OF_THE_LAST_MAP.items():
        if (folder.path / name).exists():
            (folder.path / name).unlink()
            output.warn(f"Removed {folder.path / name}, which is about another map; unmask {command} makes a new one.")
    step = study.step
    folder.table("map", step.embedding.join(step.stress_per_point))
    if step.n_components:
        folder.picture(
            MAP, picture_of(step.embedding, step.title if step.finished else f"{step.title} (unfinished)", paint)
        )
    else:
        (folder.path / MAP).unlink(missing_ok=True)


def picture_of(embedding: pd.DataFrame, title: str, color: Any = None) -> Figure:
    """Draw a map."""
    from matplotlib.figure import Figure

    from ..plotting import plot_map

    figure = Figure(figsize=(7.5, 6.5), layout="constrained")
    plot_map(embedding, color=color, title=title, ax=figure.add_subplot())
    return figure


# ---- showing


def _show(output: Output, step: Step) -> None:
    """Print the results of a fit."""
    from ..checking import count

    state = "" if step.finished else ", unfinished"
    state += "" if step.converged or not step.finished else ", not converged"
    output.say(f"Map of {len(step.embedding)} objects in {count(step.n_components, 'dimension')}, {step.title}{state}")
    error = f", estimated from random pairs, standard error {as_text(step.stress_se)}" if step.stress_se else ""
    output.say(f"stress {step.stress_in_words}{error}{_leak_of(step)}")
    if len(step.importance):
        output.show(step.importance, "importance", index="known")
    show_imputed(output, step.imputed)
    if step.n_components:
        output.show(step.embedding, "map")


def _leak_of(step: Step) -> str:
    """Return in words how much a map repeats of the known features, and how much it would by chance."""
    from ..problem.leak import leak_in_words

    if not step.known or not step.n_components:
        return ""
    if step.adjusted:
        return f", leak 0 by construction (adjusted; before, it was {step.free_leak:.2f})"
    if step.uncorrelated:
        return ", leak 0 by construction (orthogonal)"
    return f", leak {leak_in_words(step.leak, step.leak_reference)}"


def show_imputed(output: Output, imputed: pd.DataFrame) -> None:
    """Print the estimates of missing cells of known features, one per line; only the first of many."""
    for cell in imputed.head(MOST_CELLS).to_dict("records"):
        sure = ""
        if not math.isnan(cell["certainty"]):
            sure = f" (certainty {cell['certainty']:.2f})"
        elif not math.isnan(cell["lower"]):
            sure = f" (95%: {as_text(cell['lower'])} to {as_text(cell['upper'])})"
        remark = f", {cell['remark']}" if cell["remark"] else ""
        output.say(f"missing: {cell['feature']} of {cell['object']}, estimated {as_text(cell['value'])}{sure}{remark}")
    if len(imputed) > MOST_CELLS:
        output.say(f"… and {len(imputed) - MOST_CELLS} more missing cells")


def _document(step: Step) -> dict[str, Any]:
    """Return the results of a fit for the JSON document."""
    same = (
        *("stress", "shown_stress", "known_stress", "stress_se", "solver", "leak", "leak_reference", "adjusted"),
        *("free_leak", "converged", "finished", "seconds"),
    )
    tables = {name: getattr(step, name) for name in ("embedding", "free_embedding", "coef", "importance")}
    tables["stress_per_point"] = step.stress_per_point.to_frame()
    plain = (str, int, float, list, type(None))
    return {
        "estimator": step.estimator,
        "params": {name: value if isinstance(value, plain) else repr(value) for name, value in step.params.items()},
        "objects": len(step.embedding),
        "known": list(step.known),
        **{name: getattr(step, name) for name in same},
        **{name: labelled(table) for name, table in tables.items()},
        "imputed": step.imputed,
    }
