"""Correlations against scikit-learn and numbers worked by hand, alignment by label, and their errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cross_decomposition import CCA

from unmask import ConditionalMDS
from unmask.inspection import (
    abs_correlations,
    average_canonical_correlation,
    canonical_correlations,
    leak,
    recovery,
)


def test_they_equal_those_of_scikit_learn(rng):
    X = rng.standard_normal((80, 3))
    Y = X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((80, 2))
    a, b = CCA(n_components=2, max_iter=10_000, tol=1e-12).fit(X, Y).transform(X, Y)
    expected = [np.corrcoef(a[:, c], b[:, c])[0, 1] for c in range(2)]
    np.testing.assert_allclose(canonical_correlations(X, Y), expected, rtol=1e-6)
    assert average_canonical_correlation(X, Y) == pytest.approx(np.mean(expected), rel=1e-6)


def test_one_dimensional_input_is_a_column_and_a_constant_has_no_correlation():
    x = np.arange(5.0)
    assert average_canonical_correlation(x, -x) == pytest.approx(1)
    assert average_canonical_correlation(x, np.ones(5)) == 0


def test_rows_are_matched_by_label(rng):
    X = pd.DataFrame(rng.standard_normal((9, 2)), index=list("abcdefghi"))
    shuffled = X.iloc[::-1]
    np.testing.assert_allclose(canonical_correlations(X, shuffled), 1.0, rtol=1e-12)
    assert canonical_correlations(X, shuffled.to_numpy())[1] < 0.9


def test_correlations_of_axes_with_features_are_numpys(rng):
    U = rng.standard_normal((30, 2))
    features = pd.DataFrame(U @ rng.standard_normal((2, 3)) + rng.standard_normal((30, 3)), columns=list("xyz"))
    table = abs_correlations(U, features)
    expected = np.abs(np.corrcoef(U.T, features.T)[:2, 2:])
    np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-14)
    assert list(table.index) == ["axis1", "axis2"]
    assert list(table.columns) == ["x", "y", "z"]


def test_a_shift_or_a_huge_scale_does_not_change_a_correlation(rng):
    x, y = rng.standard_normal((2, 40))
    expected = abs(np.corrcoef(x, y)[0, 1])
    np.testing.assert_allclose(abs_correlations(x, y * 1e200), expected, rtol=1e-10)
    np.testing.assert_allclose(abs_correlations(x, y + 1e6), expected, rtol=1e-8)


def test_a_constant_has_no_correlation_and_a_series_keeps_its_name():
    table = abs_correlations(np.arange(4.0), pd.Series([2.5] * 4, name="flat"))
    assert np.isnan(table.loc["axis1", "flat"])


def test_leak_is_the_estimators(kinship):
    known = kinship.known[["gender", "degree"]]
    mds = ConditionalMDS(3, metric="precomputed", n_init=2, random_state=0).fit(kinship.dissimilarities, known=known)
    assert leak(mds, known) == pytest.approx(mds.leak_, rel=1e-9)
    assert leak(mds, known.iloc[::-1]) == pytest.approx(mds.leak_, rel=1e-9)  # the estimator's labels are used
    assert leak(mds.embedding_, known) == pytest.approx(mds.leak_, rel=1e-9)
    assert leak(mds, None) == 0.0


def test_leak_of_categories_is_the_root_of_eta_squared():
    u = np.array([1.0, 2.0, 4.0, 8.0, 3.0])
    groups = pd.Series(list("aabbc"), name="group")
    between = sum(len(g) * (g.mean() - u.mean()) ** 2 for _, g in pd.Series(u).groupby(groups))
    expected = np.sqrt(between / np.sum((u - u.mean()) ** 2))
    assert leak(u, groups) == pytest.approx(expected, rel=1e-12)
    numbers = groups.map({"a": 0, "b": 1, "c": 2})
    assert leak(u, numbers, known_types={"group": "nominal"}) == pytest.approx(expected, rel=1e-12)


def test_leak_ignores_copies_without_a_warning(rng):
    u, v = rng.standard_normal((2, 20))
    assert leak(u, np.column_stack([v, 2 * v])) == pytest.approx(abs(np.corrcoef(u, v)[0, 1]), rel=1e-9)


def test_recovery_gives_both_scores(rng):
    features = pd.DataFrame(rng.standard_normal((40, 3)), columns=list("xyz"))
    known = features[["x"]]
    U = features[["y"]].to_numpy() + 0.5 * rng.standard_normal((40, 1))
    scores = recovery(U, known, features)
    beside = np.column_stack([U, known])
    assert scores["acc_all"] == pytest.approx(average_canonical_correlation(beside, features), rel=1e-12)
    assert scores["acc_unknown"] == pytest.approx(average_canonical_correlation(U, features[["y", "z"]]), rel=1e-12)
    assert recovery(U, known.to_numpy(), features, unknown=["y", "z"]).equals(scores)
    one = recovery(U, known["x"], features, unknown="y")
    assert one["acc_unknown"] == pytest.approx(abs(np.corrcoef(U[:, 0], features["y"])[0, 1]), rel=1e-12)


def test_with_nothing_known_both_scores_agree(rng):
    features = rng.standard_normal((20, 2))
    scores = recovery(features + rng.standard_normal((20, 2)), None, features)
    assert scores["acc_all"] == pytest.approx(scores["acc_unknown"], rel=1e-12)
    assert scores["acc_all"] < 1


def test_the_papers_score_credits_the_known_feature_with_itself(rng):
    features = pd.DataFrame(np.linalg.qr(rng.standard_normal((50, 5)))[0], columns=list("abcde"))
    features -= features.mean()
    nothing = rng.standard_normal((50, 1))
    scores = recovery(nothing, features[["a", "b", "c", "d"]], features)
    assert scores["acc_all"] > 0.8
    assert scores["acc_unknown"] < 0.4
