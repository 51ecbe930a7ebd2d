"""Whether the last map repeats what was known: in a sentence, feature by feature, and as it is before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..discovery import LeftOut
from ..plotting import plot_leak
from ._html import Column, Html, count, join, name_of, note, paragraph, table
from ._maps import paint_of, pair_pictures
from ._pictures import MAP, WIDE, draw, figure_element
from ._section import section
from ._subject import Subject

if TYPE_CHECKING:
    import pandas as pd

LEAK_WARNING = "LeakWarning"
LEVEL = 0.05


def leak_in_short(subject: Subject) -> Html:
    """Say in a sentence or two whether the last map repeats what was known, and what was or can be done about it."""
    step = subject.last
    if not step.known or not step.n_components:
        return Html("")
    if step.adjusted:
        return paragraph(
            f"The last map is adjusted: as it was fitted, its leak was {step.free_leak:.2f}, and what the known "
            "features predict was taken off it. Distances and stress are those of the free map, of "
            f"{count(step.free_embedding.shape[1], 'dimension')}.{_told_by_neighbours(subject)}"
        )
    chance = f"; by chance it would be below {step.leak_reference:.2f} in 19 of 20 maps"
    leak = f"(leak {step.leak:.2f}{chance if step.leak_reference == step.leak_reference else ''})"  # not NaN
    if repeats_what_is_known(subject):
        return paragraph(
            f"The last map repeats what was known {leak}. Fit it with adjust=True (on the command line --adjust yes), "
            "which takes that off the map and leaves the fit as it is; or with fewer dimensions, or a leak_penalty."
        )
    return paragraph(f"It repeats nothing of what was known beyond chance {leak}.")


def _told_by_neighbours(subject: Subject) -> str:
    """Say what neighbours on the map still tell of what is known; nothing if that was not computed."""
    leaks = subject.made("leaks")
    if leaks is None:
        return ""
    told = leaks[leaks["neighbours_p"] <= LEVEL]
    if told.empty:
        return " Neighbours on it tell nothing of what was known beyond chance."
    named = ", ".join(
        f"{name} {score:.2f} (by chance below {reference:.2f})"
        for name, score, reference in zip(told.index, told["neighbours"], told["neighbours_reference"], strict=True)
    )
    return f" Neighbours on it still tell more than chance: {named}."


def repeats_what_is_known(subject: Subject) -> bool:
    """Return whether the last fit warned of a leak."""
    return any(text.startswith(LEAK_WARNING) for text in subject.last.warnings)


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
    return join([_words(step.adjusted), _table(report), picture, _both_maps(subject)])


def _words(adjusted: bool) -> Html:
    along = "0 by construction here, since the map is adjusted" if adjusted else "how far the map varies along with it"
    return paragraph(
        f"Three measures for each known feature. Along a line: {along}. Neighbours: how well an object's neighbours on "
        "the map tell its value, which sees clusters and rings too. Distances: whether objects that differ in the "
        "feature lie apart. Each stands beside what it exceeds by chance in one map of twenty."
    )


def _table(report: pd.DataFrame) -> Html:
    columns = [Column("Feature", [name_of(str(name)) for name in report.index])]
    for measure, heading in (("linear", "Along a line"), ("neighbours", "Neighbours"), ("distance", "Distances")):
        cells = [
            f"{value:.2f} ({reference:.2f})"
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
