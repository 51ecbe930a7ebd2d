"""Other methods beside the map: their numbers, their names, and why one was not run."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unmask import MissingDissimilarityWarning
from unmask.discovery import Discovery
from unmask.inspection import compare
from unmask.reports import render_report
from unmask.reports._html import number

from .markup import rows, section
from .studies import distances, quick_study


def test_rivals_are_those_of_inspection(page, study, kinship):
    (shown,) = rows(section(page, "rivals"))
    found = compare(kinship.dissimilarities, study.known, methods=["partial-dbrda", "mds"], random_state=0)
    assert [row[0] for row in shown[1:]] == [
        "This study's last map",
        "Partial distance-based redundancy analysis",
        "Metric scaling, told nothing",
    ]
    assert shown[1][1] == number(study.step.stress)
    mds = found.loc["mds"]
    assert shown[3][1:] == [
        number(mds["stress"]),
        f"{mds['leak']:.2f} ({mds['leak_reference']:.2f})",
        f"{mds['trustworthiness']:.2f}",
    ]
    assert shown[2][2] == "0.00"  # by construction


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_missing_known_cells_are_estimated_for_the_rivals(no_pictures):
    known = pd.DataFrame({"a": [np.nan, *np.random.default_rng(0).normal(size=11)]})
    page = render_report(
        quick_study(known=known), scree=False, bootstrap=0, compare=["mds-then-regress", "partial-dbrda"]
    )
    text = section(page, "rivals").text
    assert "1 missing cell of the known features is estimated, and all methods use the estimates." in text
    assert "could not be made" not in text
    assert "Partial distance-based redundancy analysis" in text


def test_conditional_scaling_is_no_rival_of_itself(no_pictures):
    page = render_report(quick_study(), scree=False, bootstrap=0, compare=["conditional-mds", "partial-dbrda"])
    study = quick_study()
    study.undo()
    study.fit(2)
    plain = render_report(study, scree=False, bootstrap=0, compare=["conditional-mds", "partial-dbrda"])
    assert "with its defaults" in section(page, "rivals").text  # which make more starts
    assert "with its defaults" not in section(plain, "rivals").text


def test_a_method_that_cannot_be_run_is_named_with_the_reason(no_pictures):
    D = distances(12)[1]
    D[0, 1] = D[1, 0] = np.nan
    study = Discovery(D)
    with pytest.warns(MissingDissimilarityWarning):
        study.fit(2, n_init=1)
    page = render_report(study, scree=False, bootstrap=0, compare=["mds", "partial-dbrda"])
    said = section(page, "rivals")
    assert "Methods that made no map:" in said.text
    assert "partial-dbrda: ValueError: 2 cells of dissimilarities are missing" in said.text
    (shown,) = rows(said)
    assert [row[0] for row in shown[1:]] == ["This study's last map", "Metric scaling, told nothing"]
    assert shown[1][3] == "\N{EN DASH}"  # of trustworthiness, which needs all pairs
    assert "Said by the methods:" in said.text
    cautions = section(page, "cautions").text
    assert cautions.count("1 of 66 pairs") == 1


def test_a_method_that_was_not_registered(no_pictures):
    page = render_report(quick_study(), scree=False, bootstrap=0, compare=["magic"])
    assert "must name registered methods" in section(page, "rivals").text
    assert "must name registered methods" in section(page, "cautions").text


def test_all_rivals_are_asked_for_by_default():
    from unmask.reports._report import _options
    from unmask.reports._rivals import RIVALS

    assert _options(True, 0, True, 0, 0, Path("a") / "b", False).rivals == tuple(RIVALS)
    assert _options(True, 0, False, 0, 0, "b", False).rivals == ()


def test_every_rival_has_a_name_in_plain_words():
    from unmask.inspection import method_names
    from unmask.reports._rivals import RIVALS

    assert set(method_names()) == set(RIVALS)
