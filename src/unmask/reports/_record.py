"""What is needed to repeat the study: history, versions, script."""

from __future__ import annotations

import platform
from importlib.metadata import version

from ..discovery import PACKAGES, Action, Step
from ._html import NOTHING, Column, Html, clean, clip, count, element, items, join, number, paragraph, scrolling, table
from ._section import METHODS, given, more, section, told
from ._subject import Subject

MOST_HISTORY = 40


@section("history", "History")
def history(subject: Subject) -> Html:
    """List what was done, in order, and the fits as a table."""
    actions = subject.study.actions
    shown = actions[-MOST_HISTORY:]
    lines = items(map(_line, shown), "ol", class_="history", start=len(actions) - len(shown) + 1)
    skipped = more(len(actions), len(shown), "action")
    return join([skipped, lines, _fits(subject)])


def _line(action: Action) -> Html:
    if not isinstance(action, Step):
        return told(action)
    size = count(action.n_components, "dimension")
    what = [element("b", f"Map {action.number}"), f", {METHODS[action.estimator]} in {size}, ", given(action)]
    return join([*what, f": stress {action.stress_in_words}."])


def _fits(subject: Subject) -> Html:
    steps = subject.study.steps[-MOST_HISTORY:]
    others = [{name: value for name, value in step.params.items() if name != "n_components"} for step in steps]
    parameters = [clip(", ".join(f"{name}={value!r}" for name, value in params.items())) for params in others]
    columns = [
        Column("Map", [f"{step.number}" for step in steps]),
        Column("Given", [given(step) for step in steps]),
        Column("Dimensions", [_dimensions(step) for step in steps], numeric=True),
        Column("Stress", [number(step.stress) for step in steps], numeric=True),
        Column("Leak", [f"{step.leak:.2f}" if step.known else NOTHING for step in steps], numeric=True),
        Column("Settled", ["interrupted" if not s.finished else "yes" if s.converged else "no" for s in steps]),
        Column("Parameters", parameters),
    ]
    return table("The fits", columns, "fits")


def _dimensions(step: Step) -> str:
    """Return the number of dimensions shown, and of those fitted, which the stress is of, if there are more."""
    fitted = step.free_embedding.shape[1]
    return f"{step.n_components}{f' of {fitted} fitted' * (fitted > step.n_components)}"


@section("versions", "Versions")
def versions(subject: Subject) -> Html:
    """List the versions of the packages that made the last map and this page."""
    now = {"python": platform.python_version()} | {name: version(name) for name in (*PACKAGES, "matplotlib")}
    made = subject.last.versions
    names = list(dict.fromkeys([*made, *now]))
    columns = [
        Column("Package", [clip(name) for name in names]),
        Column("The last map", [clip(made.get(name, NOTHING)) for name in names]),
        Column("This page", [now.get(name, NOTHING) for name in names]),
    ]
    return table("What made the numbers", columns, "versions-table")


@section("script", "The script")
def script(subject: Subject) -> Html:
    """Show the script that makes the maps again."""
    code = subject.study.to_script(subject.options.saved_as)
    words = paragraph(
        "It makes the maps again, from the dissimilarities on. It needs the study itself, saved with ",
        element("code", "study.save"),
        ".",
    )
    # Cleaned word by word, which keeps the spaces between them.
    shown = "\n".join(" ".join(map(clean, line.split(" "))) for line in code.splitlines())
    return join([words, scrolling(element("pre", element("code", shown)), label="The script, in Python")])
