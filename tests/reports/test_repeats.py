"""What a map repeats of what is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask.discovery import Discovery
from unmask.problem.leak import leak_reference
from unmask.reports import render_report
from unmask.reports._html import number

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


def test_what_the_last_map_repeats_is_said_in_short_and_among_the_cautions(no_pictures, leaking):
    study = leaking(adjust=False)
    leak = study.step.leak
    page = render_report(study, **QUICK)
    assert leak > 0.5
    said = section(page, "short").text
    words = f"its leak is {leak:.2f}, more than chance: 19 of 20 random maps stay below {leak_reference(40, 3, 1):.2f}"
    assert f"The last map repeats what was known: {words}." in said
    assert "adjust=True" in said
    assert f"What was known is on the last map. x, along a line; {words}." in section(page, "cautions").text
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
    page = render_report(leaking(1, orthogonal=True), **QUICK)
    assert "no more than chance" in section(page, "repeats").text
    said = section(page, "short").text
    assert "uncorrelated with what was known by construction" in said
    assert "Neighbours on it do not tell what was known beyond chance." in said


def test_what_lies_along_no_line_is_said_in_short_too(no_pictures):
    """Rings: the known feature is the distance from the centre, which no line shows and every neighbour tells."""
    angle, size = np.arange(60) * 2.4, np.tile([1.0, 2.0, 3.0], 20)
    ring = size[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    study = Discovery(squareform(pdist(ring)), known=pd.DataFrame({"size": size}))
    study.fit(2, n_init=1)
    page = render_report(study, **QUICK)
    assert "on the map, along no line" in section(page, "repeats").text
    assert study.step.leak < study.step.leak_reference
    assert "shows size, along no line" in section(page, "short").text
    assert "nothing of what was known beyond chance" not in section(page, "short").text
    assert "What was known is on the last map. size, along no line" in section(page, "cautions").text


def test_a_share_stands_beside_that_without_a_map(no_pictures, leaking):
    step = (study := leaking()).step
    page = render_report(study, **QUICK)
    assert step.adjusted
    assert step.stress < step.shown_stress < step.known_stress < 1
    shares = [f"{100 * (1 - value):.1f}\N{NO-BREAK SPACE}%" for _, value in step.stresses]
    said = section(page, "short").text
    assert f"{shares[0]} (free fit with 4 dimensions: {shares[1]}; known features alone: {shares[2]})" in said
    assert f"accounted for, known features alone{shares[2]}" in said


def test_each_stress_of_an_adjusted_map_says_of_what_it_is(no_pictures, leaking):
    step = (study := leaking()).step
    page = render_report(study, **QUICK | {"compare": ["mds"]})
    drawn, free, *_ = (number(value) for _, value in step.stresses)
    assert f"that of the 3 dimensions drawn (free fit with 4 dimensions: {free})" in section(page, "rivals").text
    assert rows(section(page, "rivals"))[0][1][1] == drawn
    assert rows(section(page, "history"))[0][1][2:4] == ["3 of 4 fitted", free]


@pytest.mark.parametrize(("options", "p", "said"), [({"adjust": False}, 3, "more than chance"),
                                                    ({"orthogonal": True}, 1, "0 by construction"),
                                                    ({}, 0, None)])  # fmt: skip
def test_the_leak_of_every_map_stands_beside_chance(no_pictures, leaking, options, p, said):
    step = (study := leaking(p, **options)).step
    text = section(render_report(study, **QUICK), "steps").text
    if said is None:
        assert "Leak" not in text
    elif step.uncorrelated:
        assert f"Leak of what was known{said}" in text
    else:
        assert f"Leak of what was known{step.leak:.2f}, {said}: 19 of 20 random maps stay below" in text
