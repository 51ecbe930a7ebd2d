"""Gower's dissimilarity: numbers worked by hand and by another package, a plain twin, kinds of columns, errors."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unmask import MissingDissimilarityWarning
from unmask.dissimilarities import Metric
from unmask.io import read_table


def gower(**params):
    return Metric("gower", metric_params=params or None)


PEOPLE = pd.DataFrame(
    {
        "age": [21, 19, 30, 22, 45],
        "job": ["clerk", "clerk", "smith", "baker", "smith"],
        "pay": [3000.0, 1200.0, 32000.0, 1800.0, 2900.0],
        "wed": ["no", "no", "yes", "yes", "yes"],
        "savings": [6000.0, 1300.0, 22000.0, 10000.0, 100.0],
    }
)


def test_numbers_of_another_package():
    # gower_matrix of the package gower 0.1.2, which works in float32.
    expected = [
        [0.0, 0.069995, 0.803661, 0.452014, 0.639146],
        [0.069995, 0.0, 0.873656, 0.506425, 0.621998],
        [0.803661, 0.873656, 0.0, 0.567231, 0.504346],
        [0.452014, 0.506425, 0.567231, 0.0, 0.474477],
        [0.639146, 0.621998, 0.504346, 0.474477, 0.0],
    ]
    np.testing.assert_allclose(gower().fit_transform(PEOPLE), expected, rtol=0, atol=1e-6)


def test_numbers_worked_by_hand():
    size = pd.Categorical(["small", "large", None], categories=["small", "middle", "large", "huge"], ordered=True)
    X = pd.DataFrame({"weight": [0.0, 4.0, 10.0], "size": size, "colour": ["red", "blue", "red"]})
    X["wings"] = [True, True, None]
    D = gower().fit_transform(X)
    # weight: 4/10, 10/10, 6/10; size: ranks 0 and 2 of a range of 2; colour: 1, 0, 1; wings: 0 for the first pair.
    expected = [[0, (0.4 + 1 + 1 + 0) / 4, (1 + 0) / 2], [0.6, 0, (0.6 + 1) / 2], [0.5, 0.8, 0]]
    np.testing.assert_allclose(D, expected, rtol=1e-14, atol=0)


def twin(X, kinds, ranges, weights):
    """Compare cell by cell as Gower wrote it down."""
    n = len(X)
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            total = weight = 0.0
            for k, kind in enumerate(kinds):
                x, y = X.iloc[i, k], X.iloc[j, k]
                if pd.isna(x) or pd.isna(y) or (kind == "asymmetric" and not x and not y):
                    continue
                total += weights[k] * (abs(x - y) / ranges[k] if kind == "number" else float(x != y))
                weight += weights[k]
            D[i, j] = total / weight if weight else np.nan
    np.fill_diagonal(D, 0)
    return D


@pytest.mark.parametrize(
    ("weights", "plain"),
    [(None, [1, 1, 1, 1]), ({"b": 2.5, "d": 0}, [1, 2.5, 1, 0]), ([1, 2, 0.5, 3], [1, 2, 0.5, 3])],
)
def test_agrees_with_a_plain_twin(rng, weights, plain):
    n = 40
    X = pd.DataFrame(
        {
            "a": rng.standard_normal(n),
            "b": rng.choice(list("xyz"), n),
            "c": rng.integers(0, 2, n),
            "d": rng.integers(-5, 5, n).astype(float),
        }
    )
    X = X.astype({"b": object, "c": object}).mask(rng.random(X.shape) < 0.4)
    ranges = [np.ptp(X[c].dropna()) if c in "ad" else None for c in X]
    expected = twin(X, ["number", "name", "asymmetric", "number"], ranges, plain)
    missing = int(np.isnan(expected[np.triu_indices(n, 1)]).sum())
    metric = gower(asymmetric=["c"], weights=weights)
    with pytest.warns(MissingDissimilarityWarning, match=f"^{missing} of 780 pairs have no dissimilarity"):
        D = metric.fit_transform(X).to_numpy()
    assert missing > 0
    np.testing.assert_allclose(D, expected, rtol=1e-12, atol=1e-14)
    with pytest.warns(MissingDissimilarityWarning, match="of 120 pairs") as caught:
        again = metric.transform(X[:3]).to_numpy()
    assert int(str(caught[0].message).split()[0]) == np.isnan(again).sum()
    others = ~np.eye(3, 40, dtype=bool)
    np.testing.assert_array_equal(again[others], D[:3][others])


def test_scale_and_shift_of_numbers_and_names_of_categories_do_not_matter():
    D = gower().fit_transform(PEOPLE)
    other = PEOPLE.assign(age=7 - 3 * PEOPLE["age"], wed=PEOPLE["wed"] == "yes", job=PEOPLE["job"].astype("category"))
    np.testing.assert_allclose(gower().fit_transform(other), D, rtol=1e-13, atol=1e-15)


def test_new_objects_are_measured_in_the_fitted_ranges():
    X = pd.DataFrame({"x": [0.0, 10.0], "same": [1.0, 1.0], "kind": ["a", "b"]})
    new = pd.DataFrame({"x": [25.0, 5.0], "same": [1.0, 2.0], "kind": ["c", "a"]})
    fitted = gower().fit(X)
    # 25 is 2.5 and 1.5 ranges away; a column without range and a category not seen before are equal or not.
    expected = [[(2.5 + 0 + 1) / 3, (1.5 + 0 + 1) / 3], [(0.5 + 1 + 0) / 3, (0.5 + 1 + 1) / 3]]
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=1e-14, atol=0)
    np.testing.assert_allclose(fitted.transform(X), fitted.dissimilarities_, rtol=1e-14, atol=0)


def test_every_way_to_hold_numbers_dates_and_truth(rng):
    numbers = rng.integers(0, 100, 8)
    D = gower().fit_transform(numbers[:, None].astype(float))
    start = pd.Timestamp("2020-01-01")
    same = [
        pd.Series(numbers, dtype="Int64"),
        pd.Series([Decimal(int(v)) for v in numbers]),
        pd.Series([float(v) if v % 2 else int(v) for v in numbers], dtype=object),
        start + pd.to_timedelta(pd.Series(numbers), unit="D"),
        (start + pd.to_timedelta(pd.Series(numbers), unit="D")).dt.tz_localize("UTC"),
        pd.Series([datetime.date(2020, 1, 1) + datetime.timedelta(int(v)) for v in numbers]),
        pd.to_timedelta(pd.Series(numbers), unit="h"),
    ]
    for series in same:
        np.testing.assert_allclose(gower().fit_transform(series.to_frame("v")), D, rtol=1e-9, atol=1e-12)
    truth = numbers > 50
    expected = (truth[:, None] != truth[None]).astype(float)
    for series in (pd.Series(truth), pd.Series(truth, dtype="boolean"), pd.Series(truth).map({True: "y", False: "n"})):
        np.testing.assert_array_equal(gower().fit_transform(series.to_frame("v")), expected)


def test_arrays_lists_and_polars():
    D = gower().fit_transform(PEOPLE)
    np.testing.assert_array_equal(gower().fit_transform(PEOPLE.to_numpy(dtype=object)), D)
    np.testing.assert_array_equal(gower().fit_transform(PEOPLE.to_numpy(dtype=object).tolist()), D)
    np.testing.assert_array_equal(gower().fit_transform(pl.DataFrame(PEOPLE.to_dict("list"))), D)
    weighted = gower(weights={1: 3.0}).fit_transform(PEOPLE.to_numpy(dtype=object))
    np.testing.assert_array_equal(weighted, gower(weights={"job": 3.0}).fit_transform(PEOPLE))
    with pytest.raises(ValueError, match="X is an array of text, in which numbers would be taken for categories"):
        gower().fit(np.array([["1", "a"], ["2", "b"]]))


def test_a_column_without_any_cell_takes_no_part():
    D = gower().fit_transform(PEOPLE[["age"]])
    for dtype in (float, object, pd.CategoricalDtype(["a"], ordered=True)):
        empty = pd.Series([None] * 5, dtype=dtype)
        fitted = gower().fit(PEOPLE[["age"]].assign(empty=empty))
        np.testing.assert_array_equal(fitted.dissimilarities_, D)


def test_labels_and_names_of_columns():
    fitted = gower().fit(PEOPLE.set_axis(list("abcde")))
    assert list(fitted.get_feature_names_out()) == list("abcde")
    assert list(fitted.feature_names_in_) == list(PEOPLE.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(PEOPLE[PEOPLE.columns[::-1]])


def test_weights_in_a_series_are_matched_by_name(rng):
    X = pd.DataFrame(rng.standard_normal((6, 3)), columns=list("abc"))
    weights = pd.Series({"c": 3.0, "a": 1.0, "b": 2.0})
    found = Metric("gower", metric_params={"weights": weights}).fit_transform(X)
    np.testing.assert_array_equal(found, Metric("gower", metric_params={"weights": [1, 2, 3]}).fit_transform(X))


# ---- dates and codes, as files have them


def test_dates_of_a_file_are_compared_as_dates(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("when,x\n2020-01-01,0\n2020-01-11,0\nNA,0\n2020-02-20,1\n2020-01-31,1\n", encoding="utf-8")
    text = read_table(file, index=False).table
    dates = text.assign(when=pd.to_datetime(text["when"]))
    found = Metric("gower").fit(text)
    expected = Metric("gower").fit(dates)
    np.testing.assert_allclose(found.dissimilarities_, expected.dissimilarities_)
    assert found.dissimilarities_[0, 1] == pytest.approx(10 / 50 / 2)
    np.testing.assert_allclose(found.transform(text.iloc[:2]), expected.transform(dates.iloc[:2]))
    with pytest.raises(ValueError, match="column 'when' holds 'soon' but held dates in the fit"):
        found.transform(pd.DataFrame({"when": ["soon"], "x": [0]}))


@pytest.mark.parametrize(
    "cells", [["2020-01-01", "x"], ["2020-13-01", "2020-01-02"], ["2020", "2021"], ["1-2-3", "1-2-4"]]
)
def test_text_that_is_no_date_stays_text(cells):
    assert Metric("gower").fit(pd.DataFrame({"when": cells})).dissimilarities_[0, 1] == 1.0


def test_moments_with_and_without_a_zone_are_dates_too():
    for cells in (
        ["2020-01-01T10:00", "2020-01-01 16:00:00", "2020-01-02T10:00"],
        ["2020-01-01T10:00Z", "2020-01-01T16:00Z", "2020-01-02T10:00Z"],
    ):
        D = Metric("gower").fit(pd.DataFrame({"when": cells})).dissimilarities_
        np.testing.assert_allclose(D[0], [0, 0.25, 1])


def test_leading_zeros_of_a_file_are_said(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("zip,x\n01067,0.5\n80331,0\n20095,1\n", encoding="utf-8")
    assert any("'01067'" in phrase and "code" in phrase for phrase in read_table(file).detected)
    file.write_text("zip,x\n1067,0.5\n80331,0\n20095,1\n", encoding="utf-8")
    assert not any("leading zeros" in said for said in read_table(file).detected)
