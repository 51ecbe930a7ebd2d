"""What the page says, part by part, and options and studies that are refused."""

from itertools import pairwise

import numpy as np
import pytest

from unmask import ConditionalMDS
from unmask.discovery import _reading
from unmask.inspection import bootstrap, scree
from unmask.reports import render_report
from unmask.reports._html import number

from .markup import read, rows, section
from .studies import small_study

# ---- what it says


def test_the_page_has_every_part_in_order(page):
    headings = [e.text for e in read(page).all("h2")]
    assert headings == [
        "Contents",
        "In short",
        "What was asked",
        "Before and after",
        "Step by step",
        "Does the last map repeat what was known?",
        "How many dimensions?",
        "What the known features do",
        "How good the fit is",
        "How sure the places are",
        "Would a simpler method have done?",
        "What to be careful about",
        "History",
        "Versions",
        "The script",
    ]


def test_no_part_of_an_ordinary_study_fails(page):
    assert "could not be made" not in page
    assert "While this page was made" not in page


def test_it_says_what_was_asked(page):
    said = section(page, "asked")
    assert "91 of 91" in said.text
    (known,) = rows(said)
    assert known[1:] == [
        ["gender", "nominal", "2", "0", "column 'gender' of the table"],
        ["degree", "numeric", "3", "0", "column 'degree' of the table"],
    ]


def test_every_step_is_told_with_what_was_adopted_and_why(page, study):
    said = section(page, "steps")
    assert [e.text for e in said.all("h3")] == [
        "Map 1: nothing known",
        "Map 2: given gender",
        "Map 3: given gender and degree",
    ]
    assert "Adopted gender (column 'gender' of the table): men on one side, women on the other" in said.text
    assert len(said.all("img")) == 3
    for step in study.steps:
        assert number(step.stress) in said.text


def test_maps_are_coloured_by_what_was_recognised_on_them(page):
    alts = [image.attributes["alt"] for image in section(page, "steps").all("img")]
    assert alts == [
        "Map 1 of 14 objects, nothing known. Coloured by gender.",
        "Map 2 of 14 objects, given gender. Coloured by degree.",
        "Map 3 of 14 objects, given gender, degree. Coloured by degree.",  # which it was told last
    ]


def test_the_scree_is_that_of_inspection(page, study, kinship):
    step = study.step
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0)
    found = scree(mds, kinship.dissimilarities, study.known, max_components=6)
    (shown,) = rows(section(page, "scree"))
    assert [row[:2] for row in shown[1:]] == [[str(p), number(s)] for p, s in found["stress"].items()]
    assert f"bends most at {found.attrs['elbow']} dimension" in section(page, "scree").text
    assert found.loc[2, "stress"] <= step.stress


def test_importances_have_the_intervals_of_the_bootstrap(page, study, kinship):
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0)
    found = bootstrap(mds, kinship.dissimilarities, study.known, n_resamples=8, random_state=0).importance
    (shown,) = rows(section(page, "importance"))
    assert shown[0] == ["Feature", "Importance", "95% interval"]
    for name, value, interval in shown[1:]:
        row = found.loc[name]
        assert (value, interval) == (number(row["standardized"]), f"{number(row['low'])} to {number(row['high'])}")


def test_stress_per_point_is_that_of_the_step(page, study):
    _, points = rows(section(page, "quality"))
    stress = study.step.stress_per_point.sort_values(ascending=False, kind="stable")
    assert [row[0] for row in points[1:]] == list(stress.index)
    assert points[1][1] == f"{stress.iloc[0] / stress.mean():.2f}"


def test_the_worst_pairs_have_the_largest_residuals(page, study, kinship):
    pairs, _ = rows(section(page, "quality"))
    gaps = [abs(float(aim) - float(distance)) for _, aim, distance in pairs[1:]]
    assert len(gaps) == 10
    assert all(a >= b - 0.11 for a, b in pairwise(gaps))  # both rounded to three digits
    first, second = pairs[1][0].split(" and ")
    assert number(kinship.dissimilarities.loc[first, second]) == pairs[1][1]


def test_history_versions_and_script(page, study):
    told = [e.text for e in section(page, "history").all("li")]
    assert told[0].startswith("Map 1, conditional scaling in 2 dimensions, nothing known: stress 0.0")
    assert told[1].startswith("Adopted gender (column 'gender' of the table): men on one side")
    assert len(told) == len(study.actions)
    (versions,) = rows(section(page, "versions"))
    assert ["numpy", np.__version__, np.__version__] in versions
    (script,) = section(page, "script").all("pre")
    assert script.text == study.to_script("kinship.zip").rstrip("\n")


# ---- cautions


def test_the_report_says_which_test_of_a_known_feature_to_report(page):
    said = section(page, "importance").text
    assert "The test to report with this map is permutation_test (unmask test)" in said
    assert "without a map, is dbrda_test (unmask dbrda)" in said


def test_a_bootstrap_that_fails_leaves_importances_without_intervals(study, monkeypatch, no_pictures):
    def fail(*_, **__):
        raise ValueError("no residuals")

    monkeypatch.setattr(_reading, "bootstrap", fail)
    page = render_report(study, scree=False, bootstrap=5, compare=False)
    said = section(page, "importance")
    assert rows(said)[0][0] == ["Feature", "Importance"]
    assert "Intervals could not be made (ValueError: no residuals)" in said.text
    assert "This part could not be made (ValueError: no residuals)" in section(page, "sureness").text


# ---- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scree": 1}, "scree=1 must be True or False"),
        ({"bootstrap": -1}, "bootstrap=-1 must be an integer of at least 0"),
        ({"bootstrap": 1}, "bootstrap=1 says nothing about spread"),
        ({"compare": "mds"}, "compare='mds' must be True, False or a list"),
        ({"compare": [1]}, r"compare=\[1\] must be True, False or a list"),
        ({"seed": -1}, "seed=-1 must be an integer of at least 0"),
        ({"max_objects": 0.5}, "max_objects=0.5 must be an integer of at least 0"),
    ],
)
def test_bad_options_are_named(study, options, message):
    with pytest.raises(ValueError, match=message):
        render_report(study, **options)


def test_bad_studies_are_named():
    with pytest.raises(ValueError, match="study is of type str; pass a Discovery"):
        render_report("study.zip")
    with pytest.raises(ValueError, match="study has no fit to report"):
        render_report(small_study())
