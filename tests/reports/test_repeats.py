"""What a map repeats of what is known."""

import pandas as pd
import pytest

from unmask.discovery import Discovery
from unmask.problem.leak import leak_reference
from unmask.reports import render_report

from .markup import rows, section
from .studies import QUICK, distances


@pytest.fixture
def leaking():
    """Return a function that makes a study: one known feature of two that act together, and too many dimensions."""
    X, D = distances(40, 2)

    def study(p=3, **options):
        made = Discovery(D, known=pd.DataFrame({"x": X[:, 0]}))
        made.fit(p, n_init=1, **options)
        return made

    return study


def test_what_the_last_map_repeats_is_said_in_short_and_not_among_the_cautions(no_pictures, leaking):
    study = leaking(adjust=False)
    leak = study.step.leak
    page = render_report(study, **QUICK)
    assert leak > 0.5
    said = section(page, "short").text
    assert f"The last map repeats what was known (leak {leak:.2f}; by chance it would be below" in said
    assert f"below {leak_reference(40, 3, 1):.2f} in 19 of 20 maps)" in said
    assert "adjust=True" in said
    assert "repeats" not in section(page, "cautions").text
    ((_, (feature, along, *_)),) = rows(section(page, "repeats"))
    assert feature == "x"
    assert along == f"{leak:.2f} ({leak_reference(40, 3, 1):.2f})"


def test_an_adjusted_map_is_shown_beside_the_free_one(no_pictures, leaking):
    study = leaking()
    page = render_report(study, **QUICK)
    assert study.step.adjusted
    assert f"as it was fitted, its leak was {study.step.free_leak:.2f}" in section(page, "short").text
    assert "The last map as it was fitted, and adjusted for what was known." in section(page, "repeats").text
    assert rows(section(page, "repeats"))[0][1][1].startswith("0.00 (")
    # Distances are those of the free map: the record is enough for the Shepard diagram, nothing is fitted again.
    assert "left out" not in section(page, "quality").text


def test_a_map_that_repeats_nothing_says_so(no_pictures, leaking):
    assert (
        "It repeats nothing of what was known beyond chance (leak 0.00"
        in section(render_report(leaking(1, orthogonal=True), **QUICK), "short").text
    )
