"""Whether the last map repeats what was known: in a sentence, feature by feature, and as it is before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..discovery import LeftOut, Step
from ..inspection import ON_THE_MAP
from ..plotting import plot_leak
from ..problem.leak import leak_in_words
from ._html import Column, Html, join, name_of, note, paragraph, table
from ._maps import paint_of, pair_pictures
from ._pictures import MAP, WIDE, draw, figure_element
from ._section import section
from ._subject import Subject

if TYPE_CHECKING:
    import pandas as pd

REMEDY = (
    "Fit it with adjust=True (on the command line --adjust yes), which takes that off the map and leaves the fit as it "
    "is; or with fewer dimensions."
)


def leak_in_short(subject: Subject) -> Html:
    """Say in a sentence or two whether the last map repeats what was known, and what was or can be done about it.

    The sentences say what the table of this page says, and the fit's own leak.
    """
    step = subject.last
    if not step.known or not step.n_components:
        return Html("")
    features = features_on_the_map(subject)
    listed = f" Feature by feature it shows {features}." if features else ""
    if step.uncorrelated:
        found = listed or " Neighbours on it do not tell what was known beyond chance."
        return paragraph(_by_construction(step), found if subject.made("leaks") is not None else "")
    leak = f"its leak is {leak_in_words(step.leak, step.leak_reference)}"
    if repeats_what_is_known(subject):
        return paragraph(f"The last map repeats what was known: {leak}. {REMEDY}{listed}")
    if features:
        return paragraph(f"Along its axes the last map repeats what was known no more than chance: {leak}.{listed}")
    return paragraph(f"It repeats nothing of what was known beyond chance: {leak}.")


def _by_construction(step: Step) -> str:
    if not step.adjusted:
        return "The last map is uncorrelated with what was known by construction (orthogonal=True)."
    return (
        f"The last map is adjusted: as it was fitted, its leak was {step.free_leak:.2f}, and what the known features "
        "predict was taken off it, so that its leak is 0 by construction."
    )


def features_on_the_map(subject: Subject) -> str:
    """Return in words what the last map shows of known features beyond chance; empty if nothing, or not computed."""
    leaks = subject.made("leaks")
    if leaks is None:
        return ""
    shown = leaks["verdict"][leaks["verdict"].str.startswith(ON_THE_MAP)]
    return "; ".join(f"{name}{verdict.removeprefix(ON_THE_MAP)}" for name, verdict in shown.items())


def repeats_what_is_known(subject: Subject) -> bool:
    """Return whether the leak of the last map is above chance."""
    return subject.last.leak > subject.last.leak_reference


@section("repeats", "Does the last map repeat what was known?")
def repeats_section(subject: Subject) -> Html:
    """Show for each known feature how much of it is left on the last map."""
    step = subject.last
    if not step.known:
        return note("Nothing was known to the last map.")
    if not step.n_components:
        raise LeftOut("What the last map repeats is not looked at: it has no dimensions.")
    report = subject.leaks
    height = 0.8 * len(report)
    sizes = ((WIDE[0], 1.7 + height), (MAP[0], 2.0 + height))
    picture = figure_element(
        [draw(lambda ax: plot_leak(report, ax=ax), size) for size in sizes],
        "What the map repeats of each known feature, beside what chance makes.",
        "Grey is what chance makes of each measure in 19 of 20 maps; a filled dot is above it.",
    )
    return join([_words(step), _table(report), picture, _both_maps(subject)])


def _words(step: Step) -> Html:
    along = "0 by construction here" if step.uncorrelated else "how far the map varies along with it"
    return paragraph(
        f"Two measures for each known feature. Along a line: {along}. Neighbours: how well an object's neighbours on "
        "the map tell its value, which sees clusters and rings too. Each stands beside what it exceeds by chance in "
        "one map of twenty."
    )


def _table(report: pd.DataFrame) -> Html:
    columns = [Column("Feature", [name_of(str(name)) for name in report.index])]
    for measure, heading in (("linear", "Along a line"), ("neighbours", "Neighbours")):
        cells = [
            f"{value:.2f} ({'by construction' if np.isnan(reference) else f'{reference:.2f}'})"
            for value, reference in zip(report[measure], report[f"{measure}_reference"], strict=True)
        ]
        columns.append(Column(f"{heading} (chance)", cells, numeric=True))
    columns.append(Column("In words", list(report["verdict"])))
    return table("What the last map repeats of what was known", columns, "repeats-table")


def _both_maps(subject: Subject) -> Html:
    """Show the map as it was fitted beside the adjusted one."""
    step = subject.last
    if not step.adjusted:
        return Html("")
    paint = paint_of(subject, step.known[0])
    titles = ("as it was fitted", "adjusted")
    pictures = pair_pictures(subject, step.free_embedding.iloc[:, :2], step.embedding.iloc[:, :2], titles, paint)
    words = join(["The last map as it was fitted, and adjusted for what was known.", paint.caption])
    return figure_element(pictures, f"The last map before and after adjusting.{paint.words}", words)
