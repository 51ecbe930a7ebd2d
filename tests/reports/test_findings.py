"""What the page says: numbers of the fits, the leak, the tests, other methods, cautions."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalMDS, MissingDissimilarityWarning
from unmask.discovery import Discovery, _reading
from unmask.inspection import bootstrap, compare, dbrda_test, method_names, scree
from unmask.problem.leak import leak_reference
from unmask.reports._fit import RIVALS
from unmask.reports._text import number

from .markup import read, section, table
from .studies import QUICK, distances, page_of, quick_study, small_study


def test_the_page_has_every_part_in_order_and_none_fails(page):
    assert [e.text for e in read(page).all("h2")] == [
        "Findings",
        "Before and after",
        "Step by step",
        "The known features",
        "How good the last map is",
        "Would a simpler method have done?",
        "To repeat it",
    ]
    assert "could not be made" not in page
    assert "While this page was made" not in page


def test_the_data_and_the_known_features(page):
    assert ["Pairs with a dissimilarity", "91 of 91"] in table(page, "data")
    assert table(page, "types")[1:] == [
        ["gender", "nominal", "2", "0", "column 'gender' of the table"],
        ["degree", "numeric", "3", "0", "column 'degree' of the table"],
    ]


def test_every_step_has_a_picture_its_stress_and_what_was_adopted_on_it(page, study):
    steps = section(page, "steps")
    assert [e.text for e in steps.all("h3")] == [
        "Map 1: nothing known",
        "Map 2: given gender",
        "Map 3: given gender and degree",
    ]
    assert "Adopted gender (column 'gender' of the table): men on one side, women on the other" in steps.text
    assert [image.attributes["alt"] for image in steps.all("img")] == [
        "Map 1 of 14 objects, nothing known. Coloured by gender.",
        "Map 2 of 14 objects, given gender. Coloured by degree.",
        "Map 3 of 14 objects, given gender, degree. Coloured by degree.",  # the last known feature
    ]
    for step in study.steps:
        assert number(step.stress) in steps.text


def test_the_scree_is_that_of_inspection(page, study, kinship):
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0)
    found = scree(mds, kinship.dissimilarities, study.known, max_components=6)
    shown = table(page, "scree")
    assert [row[:2] for row in shown[1:]] == [[str(p), number(s)] for p, s in found["stress"].items()]
    assert f"bends most at {found.attrs['elbow']} dimension" in section(page, "fit").text


def test_importances_have_the_intervals_of_the_bootstrap_and_the_tests_of_dbrda(page, study, kinship):
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0)
    found = bootstrap(mds, kinship.dissimilarities, study.known, n_resamples=8, random_state=0).importance
    tests = dbrda_test(kinship.dissimilarities, study.known, random_state=0)
    shown = table(page, "importance")
    assert shown[0] == ["Feature", "Importance", "95% interval", "F", "p"]
    for name, value, interval, f, p in shown[1:]:
        row = found.loc[name]
        assert (value, interval) == (number(row["standardized"]), f"{number(row['low'])} to {number(row['high'])}")
        assert (f, p) == (number(tests.loc[name, "F"]), f"{tests.loc[name, 'p_value']:.3f}")


def test_the_worst_objects_and_pairs(page, study, kinship):
    stress = study.step.stress_per_point.sort_values(ascending=False, kind="stable")
    points, pairs = table(page, "points"), table(page, "pairs")
    assert [row[0] for row in points[1:]] == list(stress.index)
    assert points[1][1] == f"{stress.iloc[0] / stress.mean():.2f}"
    gaps = [abs(float(aim) - float(distance)) for _, aim, distance in pairs[1:]]
    assert len(gaps) == 10
    assert all(a >= b - 0.11 for a, b in pairwise(gaps))  # both rounded to three digits
    first, second = pairs[1][0].split(" and ")
    assert number(kinship.dissimilarities.loc[first, second]) == pairs[1][1]


def test_history_versions_and_script(page, study):
    (history,) = [e for e in read(page).all("ol") if e.attributes.get("class") == "history"]
    lines = [e.text for e in history.all("li")]
    assert lines[0].startswith("Map 1, conditional scaling in 2 dimensions, nothing known: stress 0.0")
    assert lines[1].startswith("Adopted gender (column 'gender' of the table): men on one side")
    assert len(lines) == len(study.actions)
    assert ["numpy", np.__version__, np.__version__] in table(page, "versions")
    (script,) = section(page, "record").all("pre")
    assert script.text == study.to_script("kinship.zip").rstrip("\n")


def test_a_bootstrap_that_fails_leaves_importances_without_intervals(study, monkeypatch, no_pictures):
    def fail(*_, **__):
        raise ValueError("no residuals")

    monkeypatch.setattr(_reading, "bootstrap", fail)
    page = page_of(study, scree=False, bootstrap=5, compare=False)
    assert table(page, "importance")[0] == ["Feature", "Importance", "F", "p"]
    assert "Intervals could not be made (ValueError: no residuals)" in section(page, "findings").text
    assert "This part could not be made (ValueError: no residuals)" in section(page, "fit").text


def test_without_a_test_the_page_says_why(no_pictures):
    D = distances(12)[1]
    D[0, 1] = D[1, 0] = np.nan
    study = Discovery(D, known=pd.DataFrame({"x": np.arange(12.0)}))
    with pytest.warns(MissingDissimilarityWarning):
        study.fit(2, n_init=1)
    page = page_of(study, **QUICK)
    assert table(page, "importance")[0] == ["Feature", "Importance"]
    assert "There is no test of the dissimilarities: 2 cells" in section(page, "findings").text


# ---- the leak


@pytest.fixture
def leaking():
    """Return a function that makes a study: one known feature of two that act together, and too many dimensions."""
    X, D = distances(40, 2)

    def study(p=3, **options):
        made = Discovery(D, known=pd.DataFrame({"x": X[:, 0]}))
        made.fit(p, n_init=1, **options)
        return made

    return study


def test_a_map_that_repeats_a_known_feature_says_so_with_the_remedy(no_pictures, leaking):
    study = leaking(adjust=False)
    leak = study.step.leak
    page = page_of(study, **QUICK)
    assert leak > 0.5
    words = f"its leak is {leak:.2f}, more than chance: 19 of 20 random maps stay below {leak_reference(40, 3, 1):.2f}"
    findings = section(page, "findings").text
    assert f"The last map repeats the known features: {words}." in findings
    assert "adjust=True" in findings
    assert f"The last map shows known features. x, along a line; {words}." in findings
    (_, (feature, along, *_)) = table(page, "repeats")
    assert (feature, along) == ("x", f"{leak:.2f} ({leak_reference(40, 3, 1):.2f})")


def test_an_adjusted_map_is_shown_beside_the_free_one_each_with_its_stress(no_pictures, leaking):
    step = (study := leaking()).step
    page = page_of(study, **QUICK | {"compare": ["mds"]})
    assert step.adjusted
    assert step.stress < step.shown_stress < step.known_stress < 1
    findings = section(page, "findings").text
    assert f"as it was fitted, its leak was {step.free_leak:.2f}" in findings
    shares = [f"{100 * (1 - value):.1f}\N{NO-BREAK SPACE}%" for _, value in step.stresses]
    assert f"{shares[0]} (free fit with 4 dimensions: {shares[1]}; known features alone: {shares[2]})" in findings
    assert "The last map as it was fitted, and adjusted for the known features." in section(page, "known").text
    assert table(page, "repeats")[1][1].startswith("0.00 (")
    drawn, free, *_ = (number(value) for _, value in step.stresses)
    assert f"that of the 3 dimensions drawn (free fit with 4 dimensions: {free})" in section(page, "rivals").text
    assert table(page, "methods")[1][1] == drawn
    assert table(page, "fits")[1][2:4] == ["3 of 4 fitted", free]


def test_a_map_that_repeats_nothing_says_so(no_pictures, leaking):
    page = page_of(leaking(1, orthogonal=True), **QUICK)
    findings = section(page, "findings").text
    assert "uncorrelated with the known features by construction" in findings
    assert "Neighbours on it do not tell the known features beyond chance." in findings


def test_a_feature_along_no_line_is_found(no_pictures):
    """Rings: the known feature is the distance from the centre, which no line shows and every neighbour tells."""
    angle, size = np.arange(60) * 2.4, np.tile([1.0, 2.0, 3.0], 20)
    ring = size[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    study = Discovery(squareform(pdist(ring)), known=pd.DataFrame({"size": size}))
    study.fit(2, n_init=1)
    page = page_of(study, **QUICK)
    assert study.step.leak < study.step.leak_reference
    findings = section(page, "findings").text
    assert "it shows size, along no line" in findings
    assert "none of the known features beyond chance" not in findings
    assert "The last map shows known features. size, along no line" in findings


@pytest.mark.parametrize(
    ("options", "p", "words"),
    [({"adjust": False}, 3, "more than chance"), ({"orthogonal": True}, 1, "0 by construction"), ({}, 0, None)],
)
def test_the_leak_of_every_map_stands_beside_chance(no_pictures, leaking, options, p, words):
    step = (study := leaking(p, **options)).step
    text = section(page_of(study, **QUICK), "steps").text
    if words is None:
        assert "Leak" not in text
    elif step.uncorrelated:
        assert f"Leak of the known features{words}" in text
    else:
        assert f"Leak of the known features{step.leak:.2f}, {words}: 19 of 20 random maps stay below" in text


# ---- other methods


def test_rivals_are_those_of_inspection(page, study, kinship):
    shown = table(page, "methods")
    found = compare(kinship.dissimilarities, study.known, methods=["partial-dbrda", "mds"], random_state=0)
    assert [row[0] for row in shown[1:]] == ["This study's last map", RIVALS["partial-dbrda"], RIVALS["mds"]]
    assert shown[1][1] == number(study.step.stress)
    mds = found.loc["mds"]
    leak = f"{mds['leak']:.2f} ({mds['leak_reference']:.2f})"
    assert shown[3][1:] == [number(mds["stress"]), leak, f"{mds['trustworthiness']:.2f}"]
    assert shown[2][2] == "0.00"  # by construction


def test_every_rival_has_a_name_in_plain_words():
    assert set(method_names()) == set(RIVALS)


def test_conditional_scaling_is_no_rival_of_itself(no_pictures):
    options = {"scree": False, "bootstrap": 0, "compare": ["conditional-mds", "partial-dbrda"]}
    page = page_of(quick_study(), **options)
    study = quick_study()
    study.undo()
    study.fit(2)
    assert "with its defaults" in section(page, "rivals").text  # which make more starts
    assert "with its defaults" not in section(page_of(study, **options), "rivals").text


def test_a_method_that_cannot_be_run_is_named_with_the_reason(no_pictures):
    D = distances(12)[1]
    D[0, 1] = D[1, 0] = np.nan
    study = Discovery(D)
    with pytest.warns(MissingDissimilarityWarning):
        study.fit(2, n_init=1)
    page = page_of(study, scree=False, bootstrap=0, compare=["mds", "partial-dbrda"])
    text = section(page, "rivals").text
    assert "Methods that made no map:" in text
    assert "partial-dbrda: ValueError: 2 cells of dissimilarities are missing" in text
    shown = table(page, "methods")
    assert [row[0] for row in shown[1:]] == ["This study's last map", RIVALS["mds"]]
    assert shown[1][3] == "\N{EN DASH}"  # of trustworthiness, which needs all pairs
    assert section(page, "findings").text.count("1 of 66 pairs") == 1


def test_a_method_that_was_not_registered(no_pictures):
    page = page_of(quick_study(), scree=False, bootstrap=0, compare=["magic"])
    for part in ("rivals", "findings"):
        assert "methods=['magic']" in section(page, part).text


# ---- cautions


def test_cautions_are_in_plain_words(no_pictures):
    study = small_study(8, known=pd.DataFrame({"x": np.arange(8.0), "copy": 2 * np.arange(8.0)}))
    with pytest.warns(UserWarning, match="carry no information"):
        study.fit(2, n_init=1)
    with pytest.warns(UserWarning, match="carry no information"), pytest.warns(UserWarning, match="before the stress"):
        study.fit(2, n_init=1, max_iter=1)
    study.adopt("later", from_axis=0, why="seen")
    page = page_of(study, **QUICK)
    text = section(page, "findings").text
    assert "Few objects. Among 8 objects almost any pattern can be chance." in text
    assert "Maps 1, 2. Known features were left out, or could not be estimated well" in text
    assert "Map 2. The search stopped before it had settled" in text
    assert "Not fitted yet. Adopted after the last map, which was not given: later" in text
    assert "not settled" in section(page, "steps").text


def test_an_interrupted_map_is_marked(no_pictures):
    study = small_study()
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, callback=lambda *_: True)
    page = page_of(study, **QUICK)
    assert "The fit was interrupted, and its map is what it had by then" in section(page, "findings").text
    assert "interrupted" in section(page, "steps").text
    assert "interrupted" in table(page, "fits")[1]


def test_fewer_dimensions_than_the_elbow_are_cautioned_against(no_pictures):
    angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    study = Discovery(np.hypot(*(np.subtract.outer(x, x) for x in (np.cos(angle), np.sin(angle)))))
    study.fit(1, n_init=1)
    page = page_of(study, bootstrap=0, compare=False)
    assert "bends most at 2 dimensions; the last map has 1" in section(page, "fit").text
    assert "More dimensions. The stress bends at 2 dimensions and the last map has 1" in section(page, "findings").text


def test_importance_that_may_be_nothing_is_cautioned_against(no_pictures):
    noise = np.random.default_rng(3).normal(size=12)
    study = Discovery(distances(12, 2)[1], known=pd.DataFrame({"noise": noise}))
    study.fit(2, n_init=1)
    page = page_of(study, scree=False, bootstrap=20, compare=False)
    low = float(table(page, "importance")[1][2].split(" to ")[0])
    assert ("Perhaps nothing" in section(page, "findings").text) == (low <= 0)
    assert low <= 0


def test_nothing_to_warn_of(study, no_pictures):
    assert "Nothing was found to warn of." in section(page_of(study, **QUICK), "findings").text


def test_many_cautions_are_folded(study, no_pictures, monkeypatch):
    monkeypatch.setattr("unmask.reports._findings.cautions", lambda _: [f"caution {i}" for i in range(33)])
    text = section(page_of(study, **QUICK), "findings").text
    assert "25 more cautions" in re.sub(r"\s+", " ", text)
    assert "3 more cautions are not shown." in text


def test_a_part_that_lacks_its_package_is_no_caution(study, no_pictures, monkeypatch):
    def missing(*_, **__):
        raise ImportError("this needs the package 'x'")

    monkeypatch.setattr("unmask.discovery._reading.compare", missing)
    page = page_of(study, **QUICK | {"compare": ["mds"]})
    assert "This part is not there: this needs the package 'x'." in section(page, "rivals").text
    assert "package" not in section(page, "findings").text
