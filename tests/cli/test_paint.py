"""Pictures coloured, and marked, by columns of whatever tables were given."""

import pandas as pd
import pytest

from unmask.cli import _fitting

GENDER = ("dissimilarities.csv", "--known", "known.csv", "--columns", "gender", "--n-init", 1)


@pytest.fixture
def drawn(monkeypatch):
    """Return the maps that commands draw, by what they are drawn with."""
    pictures = []
    original = _fitting.picture_of

    def watched(embedding, title, **paint):
        pictures.append(paint)
        return original(embedding, title, **paint)

    monkeypatch.setattr(_fitting, "picture_of", watched)
    return pictures


def test_a_column_that_the_fit_is_not_given_colours_the_picture(shell, drawn):
    found = shell.json("fit", *GENDER, "--out", "result", "--color", "degree", "--shape", "gender")
    assert found["known"] == ["gender"]
    ((color, shape),) = [(paint["color"], paint["shape"]) for paint in drawn]
    known = pd.read_csv("known.csv", index_col=0)
    pd.testing.assert_series_equal(color, known["degree"], check_dtype=False, check_names=False)
    assert (color.name, shape.name) == ("degree", "gender")
    assert (shell.folder / "result" / "map.png").stat().st_size > 1000


def test_without_it_the_picture_is_plain(shell, drawn):
    shell("fit", *GENDER, "--out", "result")
    assert drawn == [{}]


def test_columns_of_a_table_of_features_that_are_not_compared(shell, features, drawn):
    shell("isomap", "leaves.csv", "--features", "length,width", "--n-init", 1, "--out", "r", "--color", "site", "-d", 1)
    assert drawn[0]["color"].tolist() == features["site"].tolist()


def test_columns_of_a_table_beside(shell, drawn):
    names = pd.read_csv("known.csv", index_col=0).index
    pd.DataFrame({"letters": [len(name) for name in names]}, index=names).to_csv("beside.csv")
    shell("fit", *GENDER, "--table", "beside.csv", "--out", "result", "--color", "letters")
    assert drawn[0]["color"].tolist() == [len(name) for name in names]


def test_a_near_miss_is_named_before_the_fit(shell, drawn):
    refusal = shell.refusal("fit", *GENDER, "--out", "result", "--color", "degre")
    assert refusal.startswith(
        "--color: no table that was given has a column 'degre' (did you mean 'degree'?); there are "
    )
    assert "'generation_difference'" in refusal
    assert "mean" not in shell.refusal("fit", *GENDER, "--out", "result", "--shape", "xyz")
    assert not (shell.folder / "result").exists()


def test_nothing_to_look_in_and_nothing_to_draw_on(shell):
    refusal = shell.refusal("fit", "dissimilarities.csv", "--out", "result", "--color", "gender")
    assert refusal == "--color gender: no table was given; say with --known or --table which file has it."
    assert shell.refusal("fit", *GENDER, "--shape", "gender").startswith("--shape is about the picture that --out DIR")


def test_more_categories_than_can_be_told_apart_are_refused_before_the_fit(shell):
    names = pd.read_csv("known.csv", index_col=0).index
    pd.DataFrame({"who": list(names)}, index=names).to_csv("beside.csv")
    refusal = shell.refusal("fit", *GENDER, "--table", "beside.csv", "--out", "result", "--shape", "who")
    assert "14" in refusal
    assert not (shell.folder / "result").exists()  # nothing was fitted
