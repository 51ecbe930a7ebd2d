"""Similarities and judgements of several raters, from the command line."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS
from unmask.discovery import Discovery
from unmask.dissimilarities import similarity_to_dissimilarity
from unmask.io import read_dissimilarities


@pytest.fixture
def correlations():
    frame = pd.DataFrame(np.random.default_rng(1).standard_normal((20, 5)), columns=list("abcde"))
    R = frame.corr()
    R.to_csv("r.csv")
    return R


def test_similarities_are_fitted(shell, correlations):
    D = similarity_to_dissimilarity(correlations, "correlation")
    mds = ConditionalMDS(2, metric="precomputed", n_init=3, random_state=0).fit(D)
    found = shell.json("fit", "r.csv", "--similarity", "correlation", "--n-init", 3, "--out", "result")
    assert found["stress"] == pytest.approx(mds.stress_, rel=1e-6)
    assert found["origin"]["similarity"] == Discovery.load("result").origin.similarity == "correlation"


def test_similarities_are_recognised_and_the_way_out_is_told(shell, correlations):
    why = shell.refusal("fit", "r.csv")
    assert "Are these similarities?" in why
    assert "similarity='confusion:0.5x'" in shell.refusal("fit", "r.csv", "--similarity", "confusion:0.5x")
    assert "leave out what the file does not hold" in shell.refusal(
        "fit", "r.csv", "--similarity", "unit", "--metric", "gower"
    )


@pytest.fixture
def judged(shell):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((6, 2))
    rows = [
        (who, f"o{i}", f"o{j}", abs(np.linalg.norm(points[i] - points[j]) + 0.2 * rng.standard_normal()))
        for who in "xyz"
        for i in range(6)
        for j in range(i)
    ]
    pd.DataFrame(rows, columns=["who", "one", "other", "d"]).to_csv(shell.folder / "judged.csv", index=False)


@pytest.mark.usefixtures("judged")
def test_raters_are_averaged_and_weighted(shell):
    read = read_dissimilarities("judged.csv", aggregate="median", rater="who")
    mds = ConditionalMDS(2, metric="precomputed", n_init=3, random_state=0)
    words = ("fit", "judged.csv", "--aggregate", "median", "--rater", "who", "--n-init", 3)
    assert shell.json(*words)["stress"] == pytest.approx(mds.fit(read.dissimilarities).stress_, rel=1e-6)
    for by in ("count", "spread"):
        weighted = mds.fit(read.dissimilarities, weights=read.weights(by)).stress_
        assert shell.json(*words, "--rating-weights", by)["stress"] == pytest.approx(weighted, rel=1e-6)
    similar = read_dissimilarities("judged.csv", aggregate="mean", similarity="reverse")
    words = ("fit", "judged.csv", "--similarity", "reverse", "--aggregate", "mean", "--n-init", 3)
    assert shell.json(*words)["stress"] == pytest.approx(mds.fit(similar.dissimilarities).stress_, rel=1e-6)


@pytest.mark.usefixtures("judged")
def test_raters_that_are_not_asked_for(shell):
    assert "aggregate='mean'" in shell.refusal("fit", "judged.csv")
    pd.read_csv("judged.csv").drop(columns="who").to_csv("pairs.csv", index=False)
    assert "aggregate='mean'" in shell.refusal("fit", "pairs.csv")
    assert "--rating-weights is for a list" in shell.refusal("fit", "pairs.csv", "--rating-weights", "count")
    words = ("judged.csv", "--aggregate", "mean", "--rater", "who", "--rating-weights", "spread")
    assert "compare takes no weights" in shell.refusal("compare", *words)


def test_a_picture_is_named_as_such(shell):
    (shell.folder / "map.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    assert shell.refusal("fit", "map.png").startswith("map.png: is a PNG picture")


def test_a_fit_no_better_than_chance_asks_whether_these_are_similarities(shell, kinship):
    D = kinship.dissimilarities
    (100 - D).where(~np.eye(14, dtype=bool), 0).to_csv("s.csv")
    found = shell.json("fit", "s.csv", "--n-init", 2)
    assert any("Are these similarities?" in text for text in found["warnings"])
    D.to_csv("d.csv")
    assert not shell.json("fit", "d.csv", "--n-init", 2)["warnings"]
