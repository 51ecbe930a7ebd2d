"""The simple rivals: partial db-RDA against R's vegan and explicit projections, scaling with regression."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from tests.helpers import noisy_distances
from unmask.inspection import dbrda_test, leak, mds_then_regress, partial_dbrda, procrustes


def projected(D, V):
    """Return (I - H) G (I - H) by explicit projections."""
    n = len(D)
    J = np.eye(n) - 1 / n
    G = -0.5 * J @ D**2 @ J
    V = np.column_stack([np.ones(n), V])
    R = np.eye(n) - V @ np.linalg.pinv(V)
    return R @ G @ R


# R's vegan: dbrda(D ~ 1 + Condition(gender)), dbrda(D ~ 1 + Condition(gender + degree)), anova(…, by = "margin")
@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (["gender"], [555.4683, 491.5077, 265.5097, 176.6406]),
        (["gender", "degree"], [491.96339, 280.20685, 213.80338, 89.86671]),
    ],
)
def test_eigenvalues_are_those_of_vegan(kinship, known, expected):
    found = partial_dbrda(kinship.dissimilarities, kinship.known[known])
    np.testing.assert_allclose(found.eigenvalues[:4], expected, rtol=1e-6)


def test_marginal_statistics_are_those_of_vegan(kinship):
    table = dbrda_test(kinship.dissimilarities, kinship.known[["gender", "degree"]], n_permutations=0)
    np.testing.assert_allclose(table["F"][:2], [11.1377, 8.2734], atol=5e-5)
    assert table["df"].tolist() == [1, 1, 11]
    assert table["p_value"].isna().all()


def test_redundancy_analysis_equals_explicit_projections(kinship, rng):
    D, V = kinship.dissimilarities.to_numpy(), kinship.known[["gender", "degree"]].to_numpy()
    values = np.sort(np.linalg.eigvalsh(projected(D, V)))[::-1]
    found = partial_dbrda(kinship.dissimilarities, kinship.known[["gender", "degree"]].iloc[::-1])
    values = values[np.abs(values) > 1e-6]
    np.testing.assert_allclose(found.eigenvalues, values / 13, rtol=1e-9)
    assert found.inertia["unknown"] == pytest.approx(found.eigenvalues.sum(), rel=1e-10)
    assert found.inertia["total"] == pytest.approx(found.inertia["known"] + found.inertia["unknown"], rel=1e-12)
    assert list(found.embedding.index) == list(kinship.dissimilarities.index)
    np.testing.assert_allclose(np.sum(found.embedding**2, axis=0), values[:2], rtol=1e-9)
    assert leak(found.embedding, kinship.known[["gender", "degree"]]) < 1e-12


def test_the_rivals_find_what_is_left_of_euclidean_distances(rng):
    V = rng.standard_normal((40, 2))
    rest = rng.standard_normal((40, 2))
    basis = np.linalg.qr(np.column_stack([np.ones(40), V]))[0]
    U = rest - basis @ (basis.T @ rest)
    D = squareform(pdist(np.column_stack([U, V])))
    for found in (
        partial_dbrda(D, V).embedding,
        mds_then_regress(D, V, random_state=0),
    ):
        comparison = procrustes(U, found, scale=False)
        assert comparison.statistic < 1e-6


def test_without_known_features_it_is_classical_scaling(rng):
    X = rng.standard_normal((20, 2))
    found = partial_dbrda(squareform(pdist(X)))
    assert procrustes(X, found.embedding, scale=False).statistic < 1e-20
    assert len(found.eigenvalues) == 2
    assert mds_then_regress(squareform(pdist(X)), random_state=0).shape == (20, 2)


def test_negative_eigenvalues_give_flat_axes():
    D = np.array([[0, 1, 1, 3], [1, 0, 1, 1], [1, 1, 0, 1], [3, 1, 1, 0]], dtype=float)
    found = partial_dbrda(D, n_components=3)
    assert found.eigenvalues.iloc[-1] < 0
    assert (found.embedding["axis3"] == 0).all()


def test_categories_are_taken_out_by_their_means(rng):
    D = noisy_distances(rng, 30)
    group = pd.Series(rng.choice(list("abc"), 30), name="group")
    dummies = pd.get_dummies(group, drop_first=True).to_numpy(dtype=float)
    values = np.sort(np.linalg.eigvalsh(projected(D, dummies)))[::-1]
    for known, types in ((group, None), (group.map({"a": 5, "b": 1, "c": 2}), {"group": "nominal"})):
        found = partial_dbrda(D, known, known_types=types)
        np.testing.assert_allclose(found.eigenvalues[:3], values[:3] / 29, rtol=1e-9)
        table = dbrda_test(D, known, known_types=types, n_permutations=0)
        assert table.loc["group", "df"] == 2
        means = mds_then_regress(D, known, known_types=types, random_state=0).groupby(group.to_numpy()).mean()
        np.testing.assert_allclose(means, 0.0, atol=1e-12)


def test_one_numeric_feature_of_one_dimension_is_ordinary_regression(rng):
    x, y = rng.standard_normal((2, 25))
    y += x
    r = np.corrcoef(x, y)[0, 1]
    table = dbrda_test(squareform(pdist(y[:, None])), x, n_permutations=999, random_state=0)
    assert table.loc["known0", "F"] == pytest.approx(r**2 / (1 - r**2) * 23, rel=1e-9)
    assert table.loc["known0", "sum_of_squares"] == pytest.approx(r**2 * np.sum((y - y.mean()) ** 2), rel=1e-9)
    assert table.loc["(residual)", "sum_of_squares"] == pytest.approx(
        (1 - r**2) * np.sum((y - y.mean()) ** 2), rel=1e-9
    )
    assert table.loc["known0", "p_value"] == 0.001


def test_copies_explain_each_other(rng):
    D, v = noisy_distances(rng, 20), rng.standard_normal(20)
    table = dbrda_test(D, pd.DataFrame({"v": v, "twice": 2 * v, "w": rng.standard_normal(20)}), n_permutations=9)
    assert table["df"].tolist() == [0, 0, 1, 17]
    assert table["F"].isna().tolist() == [True, True, False, True]


def test_p_values_are_uniform_when_a_feature_says_nothing(rng):
    p_values = []
    for _ in range(100):
        v, w = rng.standard_normal((2, 15))
        X = np.column_stack([v, rng.standard_normal((15, 2))])
        table = dbrda_test(
            squareform(pdist(X)), np.column_stack([v, w]), n_permutations=39, random_state=rng.integers(99)
        )
        p_values.append(table.loc["known1", "p_value"])
    assert np.mean(np.array(p_values) <= 0.2) == pytest.approx(0.2, abs=0.12)
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.1)


def test_the_test_gives_the_same_p_values_again(kinship):
    tables = [dbrda_test(kinship.dissimilarities, kinship.known[["gender"]], n_permutations=99) for _ in range(2)]
    pd.testing.assert_frame_equal(*tables)
    noise = pd.DataFrame({"noise": np.random.default_rng(0).standard_normal(len(kinship.known))}, kinship.known.index)
    first, second = (dbrda_test(kinship.dissimilarities, noise)["p_value"].iloc[0] for _ in range(2))
    assert 0.002 < first < 1
    assert first == second
