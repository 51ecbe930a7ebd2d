"""Pairs that several raters judged, and similarities."""

import numpy as np
import pandas as pd
import pytest

from unmask.dissimilarities import similarity_to_dissimilarity
from unmask.io import FileProblem, read_data, read_dissimilarities, read_ratings

PAIRS = [("tea", "rum"), ("tea", "milk"), ("rum", "milk"), ("rum", "gin")]


@pytest.fixture
def judged(tmp_path):
    """Write judgements of four objects by three raters, who disagree about some, and return them."""
    rng = np.random.default_rng(3)
    rows = [
        (who, *(pair if rng.random() < 0.5 else pair[::-1]), round(5 + spread * rng.standard_normal(), 2))
        for pair, spread in zip(PAIRS, [0.1, 2.0, 1.0, 1.0], strict=True)
        for who in ("Ann", "Bob", "Cid")
    ]
    frame = pd.DataFrame(rows, columns=["who", "one", "other", "distance"])
    frame.to_csv(tmp_path / "judged.csv", index=False)
    return tmp_path / "judged.csv", frame


@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_judgements_of_a_pair_become_one(judged, aggregate):
    path, frame = judged
    read = read_ratings(path, aggregate=aggregate, rater="who")
    pairs = frame.apply(lambda row: frozenset((row["one"], row["other"])), axis=1)
    for pair, distance in frame["distance"].groupby(pairs).agg(aggregate).items():
        assert read.dissimilarities.loc[tuple(pair)] == pytest.approx(distance)
    assert np.isnan(read.dissimilarities.loc["tea", "gin"])
    assert read.detected[-1] == f"12 judgements by 3 raters, 3 of each pair; the {aggregate} of each pair"


def test_weights_are_by_number_and_spread(judged):
    path, frame = judged
    weights = read_ratings(path, rater="who").weights
    variance = frame["distance"].groupby(np.arange(12) // 3).var().to_numpy()
    expected = 3 / ((variance + variance.mean()) / 2)
    expected /= expected.mean()
    np.testing.assert_allclose([weights.loc[pair] for pair in PAIRS], expected, rtol=1e-12)
    pd.testing.assert_frame_equal(weights, weights.T)
    assert weights.loc["tea", "gin"] == 0
    assert (np.diag(weights) == 0).all()


def test_what_is_no_list_of_judgements_is_said(judged, tmp_path):
    path, frame = judged
    with pytest.raises(FileProblem, match=r"has 4 columns, .* say with rater=… which column"):
        read_ratings(path)
    with pytest.raises(FileProblem, match="has no column 'whom' for rater"):
        read_ratings(path, rater="whom")
    frame.drop(columns="who").assign(distance="far").to_csv(tmp_path / "far.csv", index=False)
    with pytest.raises(FileProblem, match="'distance', its third column, must hold numbers"):
        read_ratings(tmp_path / "far.csv")
    frame.iloc[:3].to_csv(tmp_path / "same.csv", index=False)
    assert read_ratings(tmp_path / "same.csv", rater="who").weights is not None
    frame.iloc[::3].to_csv(tmp_path / "once.csv", index=False)
    assert read_ratings(tmp_path / "once.csv", rater="who").weights is None


def test_repeated_pairs_are_no_table_of_features(judged, tmp_path):
    _, frame = judged
    frame.drop(columns="who").to_csv(tmp_path / "pairs.csv", index=False)
    with pytest.raises(FileProblem, match=r"keep one row per pair, or let unmask\.io\.read_ratings average them"):
        read_data(tmp_path / "pairs.csv")


@pytest.mark.parametrize("form", ["square", "lower", "long"])
def test_similarities_in_every_form(tmp_path, form):
    rng = np.random.default_rng(0)
    names = ["oak", "elm", "ash", "fir"]
    R = pd.DataFrame(rng.standard_normal((30, 4)), columns=names).corr()
    path = tmp_path / "r.csv"
    if form == "square":
        R.to_csv(path)
    elif form == "lower":
        path.write_text(
            "\n".join(",".join([n, *map(repr, R.to_numpy()[i, : i + 1].tolist())]) for i, n in enumerate(names)),
            encoding="utf-8",
        )
    else:
        i, j = np.triu_indices(4, 1)
        pd.DataFrame({"a": R.index[i], "b": R.index[j], "r": R.to_numpy()[i, j]}).to_csv(path, index=False)
    read = read_dissimilarities(path, similarity="correlation")
    expected = similarity_to_dissimilarity(R, "correlation")
    np.testing.assert_allclose(read.dissimilarities.loc[names, names], expected, atol=1e-12)
    assert "similarities (correlation) turned into dissimilarities" in read.detected
    with pytest.raises(FileProblem, match=r"are these similarities\? Say of which kind, for example similarity='corr"):
        read_dissimilarities(path)


def test_what_cannot_be_such_similarities_is_refused_with_the_file(tmp_path):
    path = tmp_path / "c.csv"
    cells = [[9, 1, 0, 2], [2, 8, 1, 1], [1, 1, 7, 3], [0, 2, 1, 9]]
    path.write_text("\n".join(["a,b,c,d", *(",".join(map(str, row)) for row in cells)]), encoding="utf-8")
    with pytest.raises(
        FileProblem, match=r"c\.csv: the similarities are not symmetric.* Did you mean similarity='confusion'"
    ):
        read_dissimilarities(path, similarity="correlation")
    read = read_dissimilarities(path, similarity="confusion", pseudocount=0.5)
    expected = similarity_to_dissimilarity(np.array(cells), "confusion", pseudocount=0.5)
    np.testing.assert_allclose(read.dissimilarities, expected)
