"""Correcting a known feature: its values, its type, its name."""

import numpy as np
import pandas as pd
import pytest

from unmask import Nominal
from unmask.discovery import Amendment, Discovery

from .studies import FAST, assert_same


@pytest.fixture
def known(fitted):
    """A study in which gender and degree are known."""
    fitted.adopt("gender", column="gender", kind="nominal")
    fitted.adopt("degree", column="degree")
    return fitted


def test_some_values_are_corrected_and_the_others_stay(known):
    given = known.fit(2, **FAST)
    before = known.known["degree"]
    done = known.amend("degree", values={"Aunt": 1.5, "Son": 1}, why="looked it up")
    assert isinstance(done, Amendment)
    assert done.cells == ("Aunt",)  # a son was of the first degree before
    assert done.text == "correction of 'degree' (1 value)"
    expected = before.astype(float)
    expected["Aunt"] = 1.5
    pd.testing.assert_series_equal(known.known["degree"], expected)
    assert known.known_of(given)["degree"].tolist() == before.tolist()
    after = known.fit(2, **FAST)
    assert after.stress != given.stress
    known.undo()
    known.undo()
    assert known.known["degree"].tolist() == before.tolist()


def test_all_values_can_be_replaced(known):
    assert known.amend("degree", values=list(range(14))).values.tolist() == list(range(14))
    series = pd.Series(7.0, index=["Uncle", "Aunt"])
    assert known.amend("degree", values=series).cells == ("Aunt", "Uncle")
    with pytest.raises(ValueError, match="values has 3 entries but there are 14 objects"):
        known.amend("degree", values=[1, 2, 3])
    assert known.amend("degree", values={"Aunt": None}).values.isna().sum() == 1


def test_a_type_and_a_name_are_corrected(known):
    known.amend("degree", kind="ordinal", rename="distance")
    assert list(known.known) == ["gender", "distance"]
    assert known.known_types == {"gender": "nominal", "distance": "ordinal"}
    assert known.fit(2, **FAST).known == ("gender", "distance")
    known.adopt("degree", column="generation")  # the old name is free
    assert list(known.known) == ["gender", "distance", "degree"]
    known.amend("gender", rename="sex")
    assert known.known_types == {"sex": "nominal", "distance": "ordinal"}
    assert known.history["adopted"].tolist() == ["gender, degree, degree corrected", "degree, gender corrected"]


def test_what_is_known_from_the_start_can_be_corrected(kinship):
    study = Discovery(kinship.dissimilarities, kinship.known[["gender"]], known_types={"gender": Nominal()})
    study.amend("gender", values={"Aunt": 1})
    assert study.known.loc["Aunt", "gender"] == 1
    assert study.material.known.loc["Aunt", "gender"] == 2
    assert study.known_types == {"gender": Nominal()}


@pytest.mark.parametrize("ordered", [False, True])
def test_levels_keep_their_order(kinship, ordered):
    grade = pd.Categorical(np.array(["low", "high"])[np.arange(14) % 2], ["low", "high"], ordered=ordered)
    study = Discovery(kinship.dissimilarities, pd.DataFrame({"grade": grade}, index=kinship.known.index))
    study.amend("grade", values={"Aunt": "high"})
    assert study.known["grade"].dtype == grade.dtype
    if ordered:
        with pytest.raises(ValueError, match="'top', which is no level of 'grade'; its levels are, in order, 'low'"):
            study.amend("grade", values={"Aunt": "top"})
    else:
        study.amend("grade", values={"Aunt": "top"})
        assert list(study.known["grade"].cat.categories) == ["low", "high", "top"]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("degree", {}, "changes nothing; give values, kind or rename"),
        ("size", {"kind": "nominal"}, "name='size' is not known now; known are 'gender', 'degree'"),
        ("degree", {"rename": "gender"}, "rename='gender' is taken by a feature that is known"),
        ("degree", {"rename": " "}, "rename=' ' must be text"),
        ("degree", {"values": {"Cousin": 1}}, "values names 'Cousin', which are not among the objects"),
        ("degree", {"values": [1] * 14}, "is the same for all objects"),
        ("degree", {"kind": "strange"}, "is declared 'strange'"),
    ],
)
def test_what_cannot_be_corrected_changes_nothing(known, name, given, message):
    before = known.tree
    with pytest.raises(ValueError, match=message):
        known.amend(name, **given)
    assert known.tree == before


def test_corrections_are_saved_replayed_and_in_the_script(known, tmp_path):
    known.fit(2, **FAST)
    known.amend("degree", values={"Aunt": 1.5}, rename="distance", why="looked it up")
    known.amend("gender", kind="numeric")
    known.fit(1, **FAST)
    path = known.save(tmp_path / "study.zip")
    loaded = Discovery.load(path)
    assert_same(known, loaded)
    assert loaded.replay()["same"].all()
    names = {}
    exec(known.to_script(path), names)
    pd.testing.assert_frame_equal(names["study"].known, known.known)
    np.testing.assert_allclose(names["maps"][3], known.embedding, atol=1e-8)
    assert "corrected 'degree' (1 value, now called 'distance'): looked it up" in repr(known)
