"""New objects on a finished map."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS, estimators
from unmask.datasets import load_kinship
from unmask.discovery import Discovery
from unmask.estimators import refit
from unmask.io._text import exact

KNOWN = ("--known", "known.csv", "--columns", "gender")


@pytest.fixture
def fitted(shell):
    """Fit twelve terms given gender, and write the other two as new ones."""
    kin = load_kinship()
    old, new = kin.dissimilarities.index[:12], kin.dissimilarities.index[12:]
    kin.dissimilarities.loc[old, old].to_csv("old.csv")
    kin.dissimilarities.loc[new, old[::-1]].to_csv("new.csv")  # columns go by label
    kin.known.loc[new, ["degree", "gender"]].to_csv("new-known.csv")
    shell("fit", "old.csv", *KNOWN, "--n-init", 4, "--out", "result", "--quiet")
    return shell


def transformed():
    kin = load_kinship()
    old, new = kin.dissimilarities.index[:12], kin.dissimilarities.index[12:]
    mds = ConditionalMDS(metric="precomputed", n_init=4, random_state=0)
    mds.fit(kin.dissimilarities.loc[old, old], known=kin.known.loc[old, ["gender"]])
    return mds.transform(kin.dissimilarities.loc[new, old], known=kin.known.loc[new, ["gender"]])


def test_new_objects_are_where_the_library_puts_them(fitted):
    found = fitted.json("place", "result", "new.csv", "--known", "new-known.csv", "--out", "placed")
    assert [row["label"] for row in found["placed"]] == ["Son", "Uncle"]
    np.testing.assert_array_equal([[row["axis1"], row["axis2"]] for row in found["placed"]], transformed())
    table = pd.read_csv("placed/placed.csv", index_col=0, **exact())
    np.testing.assert_array_equal(table.to_numpy(), transformed())
    assert (fitted.folder / "placed" / "placed.png").exists()
    done = fitted("place", "result", "new.csv", "--known", "new-known.csv", "--step", 1, "--quiet")
    assert done.stdout.startswith("placed on the map, given gender\n")


def test_cells_that_the_map_estimated_are_told(shell):
    kin = load_kinship()
    known = kin.known[["gender"]].map({1: "male", 2: "female"}.get)
    known.loc["Aunt", "gender"] = None
    known.to_csv("holes.csv")
    shell("fit", "dissimilarities.csv", "--known", "holes.csv", "--n-init", 2, "--out", "result", "--quiet")
    kin.dissimilarities.iloc[:1].set_axis(["New"]).to_csv("new.csv")
    pd.DataFrame({"gender": ["female"]}, index=["New"]).to_csv("of-new.csv")
    done = shell("place", "result", "new.csv", "--known", "of-new.csv", "--quiet", "--out", "placed")
    assert "missing: gender of Aunt, estimated female (certainty " in done.stdout


def test_what_is_known_of_them_is_needed(fitted):
    assert "the map was fitted given gender" in fitted.refusal("place", "result", "new.csv")
    fitted("fit", "old.csv", "--n-init", 1, "--out", "bare", "--quiet")
    assert "nothing was known" in fitted.refusal("place", "bare", "new.csv", "--known", "new-known.csv")
    fitted("place", "bare", "new.csv")


def test_steps_before_the_last(fitted):
    study = Discovery.load("result")
    study.forget("gender")
    study.fit(1, n_init=1)
    study.adopt("side", from_axis=0)
    study.save("longer.zip")
    last = fitted.json("place", "longer.zip", "new.csv")
    assert last["known"] == []
    assert last["step"] == 2
    assert set(last["placed"][0]) == {"label", "axis1"}
    first = fitted.json("place", "longer.zip", "new.csv", "--known", "new-known.csv", "--step", 1)
    np.testing.assert_array_equal([[row["axis1"], row["axis2"]] for row in first["placed"]], transformed())
    assert "--step 3: the study has 2 steps" in fitted.refusal("place", "longer.zip", "new.csv", "--step", 3)


def test_a_map_that_was_edited_is_no_place(fitted):
    (file,) = (fitted.folder / "result").glob("fit1-*.json")
    file.write_text(file.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    assert file.name in fitted.refusal("place", "result", "new.csv", "--known", "new-known.csv")


def test_an_unfinished_map_is_no_place(fitted):
    file = fitted.folder / "result" / "study.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"finished": true', '"finished": false'), encoding="utf-8")
    assert "its map is unfinished" in fitted.refusal("place", "result", "new.csv", "--known", "new-known.csv")


def test_features_of_new_objects(shell, features):
    features.iloc[:10].to_csv("old.csv")
    features.iloc[10:].to_csv("new.csv")
    shell("fit", "old.csv", "--columns", "site", "--n-init", 2, "--out", "result", "--quiet")
    found = shell.json("place", "result", "new.csv")
    numbers = features[["length", "width", "height"]]
    mds = ConditionalMDS(metric="seuclidean", n_init=2, random_state=0)
    mds.fit(numbers.iloc[:10], known=features[["site"]].iloc[:10])
    np.testing.assert_allclose(
        [[row["axis1"], row["axis2"]] for row in found["placed"]],
        mds.transform(numbers.iloc[10:], known=features[["site"]].iloc[10:]),
        rtol=1e-5,
        atol=1e-5,
    )
    features.iloc[10:].drop(columns="width").to_csv("new.csv")
    assert "have no feature 'width'" in shell.refusal("place", "result", "new.csv")
    features.iloc[10:].drop(columns="site").to_csv("new.csv")
    assert "the map was fitted given site" in shell.refusal("place", "result", "new.csv")


def test_a_map_that_is_another_one_when_it_is_fitted_again(fitted, monkeypatch):
    def other(estimator, X, **options):
        return refit(estimator.set_params(max_iter=1), X, **options)

    monkeypatch.setattr(estimators, "refit", other)
    words = ("place", "result", "new.csv", "--known", "new-known.csv")
    assert "again led to another map" in fitted(*words, code=2).stderr


def test_a_study_that_is_none(shell):
    assert "nothere: is not there" in shell.refusal("place", "nothere", "known.csv")
    (shell.folder / "empty").mkdir()
    assert "study.json" in shell.refusal("place", "empty", "known.csv")
