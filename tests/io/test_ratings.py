"""Ratings of pairs by several raters: recognised, combined, reversed and weighed."""

import numpy as np
import pandas as pd
import pytest

from unmask.io import FileProblem, TableFile, read_data, read_dissimilarities, write_table

PAIRS = [("tea", "rum"), ("tea", "milk"), ("rum", "milk"), ("rum", "gin")]
NAMES = ["tea", "rum", "milk", "gin"]


@pytest.fixture
def frame():
    """Ratings of four drinks by three raters, from 1 to 9, who disagree about some, and name either object first."""
    rng = np.random.default_rng(3)
    rows = [
        (who, *(pair if rng.random() < 0.5 else pair[::-1]), int(np.clip(round(5 + spread * rng.normal()), 1, 9)))
        for who in ("Ann", "Bob", "Cid")
        for pair, spread in zip(PAIRS, [0.1, 2.0, 1.0, 1.0], strict=True)
    ]
    return pd.DataFrame(rows, columns=["who", "one", "other", "rating"])


def of_pairs(frame, how):
    return (
        frame["rating"].groupby([frozenset(pair) for pair in zip(frame["one"], frame["other"], strict=True)]).agg(how)
    )


@pytest.mark.parametrize("aggregate", ["mean", "median"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".parquet"])
def test_ratings_of_a_pair_become_one(frame, tmp_path, aggregate, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"r{suffix}"
    writers = {".json": lambda: frame.to_json(path, orient="records"), ".parquet": lambda: frame.to_parquet(path)}
    writers.get(suffix, lambda: write_table(frame, path))()
    read = read_dissimilarities(path, aggregate=aggregate)
    reversed_ = read_dissimilarities(path, aggregate=aggregate, similarity="reverse")
    on_scale = read_dissimilarities(path, aggregate=aggregate, similarity="reverse:1:9")
    ends = frame["rating"].min() + frame["rating"].max()
    for pair, rating in of_pairs(frame, aggregate).items():
        assert read.dissimilarities.loc[tuple(pair)] == pytest.approx(rating)
        assert reversed_.dissimilarities.loc[tuple(pair)] == pytest.approx(ends - rating)
        assert on_scale.dissimilarities.loc[tuple(pair)] == pytest.approx(10 - rating)
    assert np.isnan(read.dissimilarities.loc["tea", "gin"])
    assert any(phrase.startswith("12 ratings by 3 raters, 3 of each pair") for phrase in read.detected)


def test_count_and_spread_of_a_pair_are_reported(frame, tmp_path):
    read = read_dissimilarities(write_table(frame, tmp_path / "r.csv"), aggregate="mean")
    for (one, other), row in read.ratings.iterrows():
        ratings = frame["rating"][[{one, other} == {a, b} for a, b in zip(frame["one"], frame["other"], strict=True)]]
        assert row["count"] == 3
        assert row["mean"] == pytest.approx(ratings.mean())
        assert row["spread"] == pytest.approx(ratings.std())


def test_weights_are_by_count_or_by_spread(frame, tmp_path):
    frame = frame.drop(index=[0, 4]).reset_index(drop=True)  # one rating of tea and rum is left
    read = read_dissimilarities(write_table(frame, tmp_path / "r.csv"), aggregate="mean")
    counts = read.weights("count")
    np.testing.assert_allclose([counts.loc[pair] for pair in PAIRS], np.array([1, 3, 3, 3]) / 2.5)
    variance = of_pairs(frame, "var")[list(map(frozenset, PAIRS))].to_numpy()
    variance = (np.where(np.isnan(variance), np.nanmean(variance), variance) + np.nanmean(variance)) / 2
    expected = np.array([1, 3, 3, 3]) / variance
    weights = read.weights("spread")
    np.testing.assert_allclose([weights.loc[pair] for pair in PAIRS], expected / expected.mean(), rtol=1e-12)
    pd.testing.assert_frame_equal(weights, weights.T)
    assert weights.loc["tea", "gin"] == 0
    assert (np.diag(weights) == 0).all()
    once = read_dissimilarities(
        write_table(frame.tail(4).reset_index(drop=True), tmp_path / "once.csv"), aggregate="mean"
    )
    with pytest.raises(ValueError, match="by='count'"):
        once.weights("spread")
    with pytest.raises(ValueError, match="aggregate"):
        read_dissimilarities(write_table(read.dissimilarities, tmp_path / "d.csv")).weights()


def numbered(frame):
    return frame.assign(**{name: frame[name].map(NAMES.index) for name in ("one", "other")})


FORMS = {
    "named": lambda f: f,
    "another order": lambda f: f[["one", "other", "rating", "who"]].rename(columns={"who": "participant"}),
    "sorted by pair": lambda f: f.sort_values(["one", "other"]),
    "numbered raters": lambda f: f.assign(who=f["who"].map({"Ann": 1, "Bob": 2, "Cid": 3})),
    "unknown name": lambda f: f.rename(columns={"who": "xyz"}),
    "numbered objects": numbered,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("read", [read_data, read_dissimilarities])
def test_ratings_are_recognised_and_the_way_out_is_given(frame, tmp_path, form, read):
    path = write_table(FORMS[form](frame).reset_index(drop=True), tmp_path / "r.csv")
    with pytest.raises(FileProblem, match=r"12 ratings of 4 pairs of 4 objects by 3 raters.*aggregate='mean'.*reverse"):
        read(path)
    assert read_dissimilarities(path, aggregate="mean").dissimilarities.shape == (4, 4)


def test_ratings_without_names_of_columns(frame, tmp_path):
    path = tmp_path / "r.csv"
    frame.to_csv(path, index=False, header=False)
    read = read_dissimilarities(path, aggregate="mean", similarity="reverse")
    assert sorted(read.dissimilarities.index) == sorted(NAMES)
    frame.drop(columns="who").to_csv(path, index=False, header=False)
    assert read_dissimilarities(path, aggregate="mean").ratings["count"].tolist() == [3] * 4
    with pytest.raises(FileProblem, match="aggregate='mean'"):
        read_data(path)


def test_the_column_of_raters_can_be_named(frame, tmp_path):
    numbers = numbered(frame).assign(who=np.repeat([0, 1, 2], 4)).rename(columns={"who": "xyz"})
    path = write_table(numbers, tmp_path / "r.csv")
    assert isinstance(read_data(path), TableFile)
    read = read_dissimilarities(path, aggregate="mean", rater="xyz")
    assert any("by 3 raters" in phrase for phrase in read.detected)
    with pytest.raises(FileProblem):
        read_dissimilarities(path, aggregate="mean", rater="whom")
    far = write_table(frame.assign(rating=["far", *frame["rating"][1:]]), tmp_path / "far.csv")
    with pytest.raises(FileProblem):
        read_dissimilarities(far, aggregate="mean", rater="who")


def test_a_rater_may_be_missing_in_records(tmp_path):
    rows = [("x", "y", None, 1.0), ("x", "z", "u", 2.0), ("y", "z", "u", 3.0)]
    pd.DataFrame(3 * rows, columns=["a", "b", "rater", "d"]).to_json(tmp_path / "d.json", orient="records")
    with pytest.raises(FileProblem, match="column 3"):
        read_dissimilarities(tmp_path / "d.json")
