"""Which measurement level, and which estimator, predict dissimilarities best."""

from __future__ import annotations

from ..plotting import plot_estimators
from ._html import Column, Html, number, paragraph, table
from ._pictures import CHART, draw, figure_element
from ._section import beside, section
from ._subject import Subject


@section("estimators", "Which level, which estimator?")
def estimators_section(subject: Subject) -> Html:
    """Show how well levels and estimators predict pairs that they did not see."""
    subject.require_few("The comparison of levels and estimators", "some 50 further fits")
    found = subject.reading.estimators(random_state=subject.options.seed)
    picture = figure_element(
        [draw(lambda ax: plot_estimators(found, ax=ax), CHART)],
        "Error of held-out dissimilarities for each measurement level and estimator.",
        "How far off dissimilarities are that were left out of the fit, a fifth at a time; bars are one standard error "
        "of the difference from the best. The one that is filled is recommended.",
    )
    columns = [
        Column("Level", list(found.index.get_level_values("level"))),
        Column("Estimator", list(found.index.get_level_values("estimator"))),
        Column("Error", [number(value) for value in found["heldout"]], numeric=True),
        Column("Above the best", [_above(*row) for row in zip(found["above"], found["above_se"], strict=True)]),
    ]
    said = paragraph(found.attrs["recommendation"])
    return beside(picture, said, table("Levels and estimators", columns, "estimators-table"))


def _above(value: float, error: float) -> str:
    return f"{number(value)} ± {number(error)}" if error else "best"
