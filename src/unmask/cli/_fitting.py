"""Fitting a map with a progress bar, showing it, and writing the results."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._folder import FORMATS, STUDY, Folder
from ._options import Keeping
from ._output import Advance, Output, as_text, progress

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..discovery import Discovery, Step

TABLES = ("embedding", "free_embedding", "coef", "importance", "stress_per_point", "imputed", "history")
MOST_CELLS = 10
MAP, REPORT, PLACED = "map.png", "report.html", "placed.png"
# What other commands make of a map, and which.
OF_ANOTHER_MAP = {REPORT: "unmask report", PLACED: "unmask place"} | dict.fromkeys(
    (f"placed.{kind}" for kind in FORMATS), "unmask place"
)
OTHERS = (MAP, STUDY)
# What precedes the search, if anything does.
STAGES = {"graph": "Finding neighbours", "paths": "Finding shortest paths"}


def fit_map(
    output: Output, study: Discovery, estimator: str, params: dict[str, Any], keeping: Keeping | None = None
) -> Step:
    """Add a fit to a study. Ctrl-C ends it with the best map so far, and the step says so."""
    from ..solvers import automatic_n_starts

    keeping = keeping or Keeping()
    if estimator == "classical" and keeping != Keeping():
        raise ValueError("--checkpoint and --resume are for a search, and --closed-form makes none; leave them out.")
    starts = params.get("n_init") or automatic_n_starts(len(study.material.objects))
    known = ", ".join(study.known.columns)
    text = f"Fitting, given {known}" if known else "Fitting, nothing known"
    if estimator != "classical":
        output.note(f"{text}: {starts} starts; Ctrl-C keeps the best map so far.")
    with heard(output, text, keeping) as hearing:
        return study.fit(estimator=estimator, callback=hearing, **params, **keeping.params)


@contextmanager
def heard(output: Output, text: str, keeping: Keeping) -> Iterator[list[Any]]:
    """Show how far a fit is while it lasts, and keep it; give those who hear of it."""
    from ..discovery import UnfinishedWarning
    from ..progress import Checkpoint

    with progress(output, text, 1.0, timed=False) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", UnfinishedWarning)  # said in the words of this command
        hearing: list[Any] = [] if output.quiet else [make_meter(advance, text)]
        if keeping.file is not None:
            hearing.append(Checkpoint(keeping.file))
        yield hearing


def make_meter(advance: Advance, text: str) -> Any:
    """Return a listener that passes on how much of a search is done, where it is and how long it still takes."""
    from ..progress import Progress, TimeLeft

    class Meter(TimeLeft):
        def begin(self, stage: str, n_starts: int) -> None:
            super().begin(stage, n_starts)
            if not n_starts:
                advance(0.0, STAGES.get(stage, text))

        def update(self, progress: Progress) -> None:
            super().update(progress)
            left = self.left(progress)
            advance(left.done, f"{text}: {progress}", str(left))

    return Meter()


# ---- showing


def show_step(output: Output, step: Step) -> None:
    """Print the results of a fit."""
    from ..checking import count

    state = "" if step.finished else ", unfinished"
    state += "" if step.converged or not step.finished else ", not converged"
    output.say(f"Map of {len(step.embedding)} objects in {count(step.n_components, 'dimension')}, {step.title}{state}")
    output.say(f"stress {step.stress_in_words}{error_of(step)}{leak_of(step)}")
    if len(step.importance):
        output.show(step.importance, "importance", index="known")
    show_imputed(output.say, step)
    if step.n_components:
        output.show(step.embedding, "map")


def error_of(step: Step) -> str:
    """Return in words how sure a stress is that was estimated from some of the pairs."""
    return f", estimated from random pairs, standard error {as_text(step.stress_se)}" if step.stress_se else ""


def leak_of(step: Step) -> str:
    """Return in words how much a map repeats of what is known, and how much it would by chance."""
    from ..problem.leak import leak_in_words

    if not step.known or not step.n_components:
        return ""
    if step.adjusted:
        return f", leak 0 by construction (adjusted; before, it was {step.free_leak:.2f})"
    if step.uncorrelated:
        return ", leak 0 by construction (orthogonal)"
    return f", leak {leak_in_words(step.leak, step.leak_reference)}"


def show_imputed(say: Callable[[str], None], step: Step) -> None:
    """Print the estimates of missing cells of known features, one a line; of many only the first."""
    for line in imputed_lines(step.imputed.head(MOST_CELLS)):
        say(line)
    if len(step.imputed) > MOST_CELLS:
        say(f"… and {len(step.imputed) - MOST_CELLS} more missing cells")


def imputed_lines(imputed: pd.DataFrame) -> list[str]:
    """Return a line about each missing cell: what was estimated, and how sure that is."""
    return [_imputed_line(cell) for cell in imputed.to_dict("records")]


def _imputed_line(cell: dict[Any, Any]) -> str:
    sure = ""
    if not math.isnan(cell["certainty"]):
        sure = f" (certainty {cell['certainty']:.2f})"
    elif not math.isnan(cell["lower"]):
        sure = f" (95%: {as_text(cell['lower'])} to {as_text(cell['upper'])})"
    remark = f", {cell['remark']}" if cell["remark"] else ""
    return f"missing: {cell['feature']} of {cell['object']}, estimated {as_text(cell['value'])}{sure}{remark}"


def document_of(step: Step) -> dict[str, Any]:
    """Return the results of a fit for the JSON document."""
    same = (
        "stress",
        "shown_stress",
        "known_stress",
        "stress_se",
        "solver",
        "leak",
        "leak_reference",
        "adjusted",
        "free_leak",
        "converged",
        "finished",
        "seconds",
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


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its index as a column, named label."""
    return frame.rename_axis("label").reset_index()


# ---- writing


def write_study(
    output: Output, folder: Folder, study: Discovery, paint: dict[str, Any] | None = None, **record: Any
) -> None:
    """Write a study, and the tables and picture of its last map; `paint` holds options of `plot_map`."""
    folder.study(study)
    folder.table("history", labelled(study.history).rename(columns={"label": "step"}))
    write_step(output, folder, study.step, paint, **record)


def write_step(output: Output, folder: Folder, step: Step, paint: dict[str, Any] | None = None, **record: Any) -> None:
    """Write the tables and the picture of a map."""
    folder.table("embedding", step.embedding if step.n_components else None)
    folder.table("free_embedding", step.free_embedding if step.adjusted else None)
    folder.table("coef", step.coef if step.known else None)
    folder.table("importance", step.importance if step.known else None)
    folder.table("stress_per_point", step.stress_per_point.to_frame())
    folder.table("imputed", step.imputed if len(step.imputed) else None)
    for name, command in OF_ANOTHER_MAP.items():
        if folder.remove(name):
            output.warn(f"Removed {folder.path / name}, which told about another map; {command} makes a new one.")
    folder.remove(MAP)
    if step.n_components:
        title = step.title if step.finished else f"{step.title} (unfinished)"
        folder.picture(MAP, picture_of(step.embedding, title, **(paint or {})))
    folder.mark(finished=step.finished, **record)


def picture_of(embedding: pd.DataFrame, title: str, color: Any = None, shape: Any = None) -> Figure:
    """Draw a map."""
    from matplotlib.figure import Figure

    from ..plotting import plot_map

    figure = Figure(figsize=(7.5, 6.5), layout="constrained")
    plot_map(embedding, color=color, shape=shape, title=title, ax=figure.add_subplot())
    return figure


def say_unfinished(output: Output, step: Step, folder: Folder | None, keeping: Keeping) -> None:
    """Say last, where it is seen, that a map is unfinished, and how to go on."""
    if step.finished:
        return
    where = f"; what there is was written to {folder.path}" if folder is not None else ""
    on = f"; --resume {keeping.file} continues it" if keeping.file is not None else ""
    output.alert(f"Stopped: the map is unfinished{where}{on}.")


def say_written(output: Output, folder: Folder | None) -> list[str]:
    """Print which files were written, and return their names."""
    if folder is not None and folder.escapes:
        output.note(
            "Text that begins with = + - or @ was written with an apostrophe before it, so that no spreadsheet takes "
            "it for a formula; unmask reads it as it was."
        )
    paths = [str(path) for path in dict.fromkeys(folder.written)] if folder is not None else []
    for path in paths:
        output.say(f"Wrote {path}")
    return paths
