"""Pictures coloured by columns of any of the files."""

import pandas as pd
import pytest

from unmask import plotting

GENDER = ("dissimilarities.csv", "--known", "known.csv", "--columns", "gender", "--n-init", 1)


@pytest.fixture
def colors(monkeypatch):
    """Return the columns that maps are coloured by."""
    seen = []
    original = plotting.plot_map

    def watched(embedding, *, color, **options):
        seen.append(color)
        return original(embedding, color=color, **options)

    monkeypatch.setattr(plotting, "plot_map", watched)
    return seen


def test_a_column_that_the_fit_is_not_given_colours_the_picture(shell, colors):
    found = shell.json("fit", *GENDER, "--out", "result", "--color", "degree")
    assert found["known"] == ["gender"]
    known = pd.read_csv("known.csv", index_col=0)
    pd.testing.assert_series_equal(colors[0], known["degree"], check_dtype=False, check_names=False)
    assert colors[0].name == "degree"
    assert (shell.folder / "result" / "map.png").stat().st_size > 1000


def test_without_it_the_picture_is_plain(shell, colors):
    shell("fit", *GENDER, "--out", "result")
    assert colors == [None]


def test_columns_of_a_table_of_features_and_of_a_table_beside(shell, features, colors):
    words = ("fit", "leaves.csv", "--features", "length,width", "--n-init", 1, "--out", "r", "-d", 1)
    shell(*words, "--color", "site")
    assert colors[0].tolist() == features["site"].tolist()
    pd.DataFrame({"letters": range(12)}, index=features.index).to_csv("beside.csv")
    shell(*words, "--table", "beside.csv", "--color", "letters")
    assert colors[1].tolist() == list(range(12))


def test_a_column_that_is_not_there_is_refused_before_the_fit(shell, colors):
    refusal = shell.refusal("fit", *GENDER, "--out", "result", "--color", "degre")
    assert "no file has a column 'degre'" in refusal
    assert "'generation_difference'" in refusal
    assert not (shell.folder / "result").exists()
    assert shell.refusal("fit", *GENDER, "--color", "gender").startswith("--color is about the picture")
