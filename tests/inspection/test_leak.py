"""The report of what a map repeats: two measures beside chance, and words that follow from them."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS
from unmask.inspection import _leak as leak_module
from unmask.inspection import leak, leak_report, mds_then_regress, partial_dbrda
from unmask.problem import check_known
from unmask.problem.leak import leak_reference, neighbour_leak

NUMBERS = [
    "linear",
    "linear_reference",
    "linear_p",
    "neighbours",
    "neighbours_baseline",
    "neighbours_reference",
    "neighbours_p",
]


@pytest.fixture(scope="module")
def ring():
    rng = np.random.default_rng(2)
    angle = rng.uniform(0, 2 * np.pi, 90)
    table = pd.DataFrame(
        {
            "radius": rng.uniform(1, 3, 90),
            "side": np.where(np.cos(angle) > 0, "right", "left"),
            "noise": rng.standard_normal(90),
        },
        index=[f"o{i}" for i in range(90)],
    )
    U = table["radius"].to_numpy()[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return pd.DataFrame(U, index=table.index, columns=["a", "b"]), table


def test_words_follow_from_what_is_on_the_map(ring):
    U, table = ring
    report = leak_report(U, table)
    assert list(report.columns) == ["type", *NUMBERS, "verdict"]
    assert list(report.index) == ["radius", "side", "noise", "(all)"]
    assert report["type"].tolist() == ["numeric", "nominal", "numeric", ""]
    assert report["verdict"].tolist() == [
        "on the map, along no line",
        "on the map, along a line",
        "no more than chance",
        "on the map, along a line",
    ]
    assert not report.attrs["adjusted"]


def test_numbers_are_those_of_the_measures(ring):
    U, table = ring
    report = leak_report(U, table)
    assert report.loc["side", "linear"] == pytest.approx(leak(U, table["side"]), rel=1e-12)
    assert report.loc["(all)", "linear"] == pytest.approx(leak(U, table), rel=1e-12)
    assert report.loc["(all)", "linear_reference"] == leak_reference(90, 2, 3)
    coded = check_known(table, 90, None, "auto")
    near = neighbour_leak(U.to_numpy(), coded, np.random.default_rng(0))
    for name in table:
        assert report.loc[name, "neighbours"] == pytest.approx(near[name].score, rel=1e-9)
        assert report.loc[name, "neighbours_reference"] == pytest.approx(near[name].reference, abs=0.1)
    one = leak_report(U, table["radius"])
    assert list(one.index) == ["radius"]
    assert one.loc["radius", "linear"] == report.loc["radius", "linear"]


def test_labels_units_and_seeds(ring):
    U, table = ring
    report = leak_report(U, table)
    pd.testing.assert_frame_equal(report, leak_report(U, table.iloc[::-1]))
    other = table.assign(radius=1e6 + 1e3 * table["radius"], side=table["side"].map({"left": "z", "right": "y"}))
    pd.testing.assert_frame_equal(report, leak_report(1e-3 * U + 7, other), rtol=1e-6)
    again = leak_report(U, table, random_state=1, n_permutations=19)
    assert (again["neighbours_p"] >= 0.05).all()
    np.testing.assert_allclose(again["neighbours"], report["neighbours"], rtol=1e-12)
    assert (again["neighbours_baseline"] != report["neighbours_baseline"]).all()


def test_a_map_without_what_is_known_is_compared_with_such_maps(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender", "degree"]]
    for U in (mds_then_regress(D, known), partial_dbrda(D, known).embedding):
        report = leak_report(U, known)
        assert report.attrs["adjusted"]
        assert (report["linear"] < 1e-9).all()
        assert report[["linear_reference", "linear_p"]].isna().all(axis=None)  # chance has no part in it
        assert report.loc["gender", "verdict"] == "no more than chance"
    orthogonal = ConditionalMDS(metric="precomputed", orthogonal=True, random_state=0).fit(D, known=known)
    report, near = leak_report(orthogonal, known), orthogonal.knn_leak_
    assert report["linear_reference"].isna().all()
    np.testing.assert_allclose(report["neighbours_baseline"][:-1], near["baseline"], atol=0.1)
    free = ConditionalMDS(metric="precomputed", random_state=0).fit(D)
    report = leak_report(free, known)
    assert not report.attrs["adjusted"]
    assert (report["verdict"] == "on the map, along a line").all()


@pytest.mark.slow
@pytest.mark.parametrize("adjusted", [False, True])
def test_chance_is_found_as_often_as_it_should_be(adjusted):
    """Every measure has level .05 on maps of noise, and the verdict, which takes either, at most twice that."""
    rng, number = np.random.default_rng(11), 200
    table = pd.DataFrame({"species": np.repeat(["a", "b", "c"], 10), "size": rng.standard_normal(30)})
    V = np.column_stack([np.ones(30), check_known(table, 30, None, "auto").values])
    found = []
    for seed in range(number):
        U = rng.standard_normal((30, 2))
        U = U - V @ np.linalg.lstsq(V, U, rcond=None)[0] if adjusted else U
        report = leak_report(U, table, n_permutations=39, random_state=seed)
        assert report.attrs["adjusted"] == adjusted
        tests = report.loc[["species", "size"], ["linear_p", "neighbours_p"]] <= 0.05
        found.append(np.column_stack([tests, report["verdict"].iloc[:2] != "no more than chance"]))
    levels, error = np.mean(found, axis=0), np.sqrt(0.05 * 0.95 / number)
    assert (levels[:, :2] < 0.05 + 4 * error).all()
    assert levels[:, 2].mean() < 0.14
    if adjusted:
        assert (levels[:, 0] == 0).all()


def test_features_that_tell_nothing_of_their_own(ring):
    U, _ = ring
    table = pd.DataFrame({"genus": np.tile(["x", "x", "y"], 30), "species": np.tile(["a", "b", "c"], 30), "same": 1.0})
    report = leak_report(U.to_numpy(), table)
    assert list(report.index) == ["genus", "species", "same", "(all)"]
    assert report.loc["same", "verdict"] == "the same for all objects"
    assert report.loc["genus", "linear"] == pytest.approx(leak(U, table["genus"].to_numpy()), rel=1e-12)
    assert np.isfinite(report[NUMBERS].to_numpy()).all()


def test_samples_of_many_objects(rng, monkeypatch):
    monkeypatch.setattr(leak_module, "MOST_NEAR", 60)
    U = rng.standard_normal((300, 2))
    report = leak_report(U, U[:, 0], n_permutations=19)
    assert report.loc["known0", "linear"] == pytest.approx(1.0)
    assert report.loc["known0", "neighbours_p"] == 0.05
    pd.testing.assert_frame_equal(report, leak_report(U, U[:, 0], n_permutations=19))


def test_nothing_known_and_maps_without_dimensions():
    report = leak_report(np.arange(5.0), None)
    assert report.empty
    assert list(report.columns) == ["type", *NUMBERS, "verdict"]
    flat = leak_report(np.empty((9, 0)), np.arange(9.0))
    assert flat.loc["known0", "linear"] == 0.0
    assert flat.loc["known0", "verdict"] == "no more than chance"
