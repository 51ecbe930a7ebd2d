"""Scores against scikit-learn and against numbers worked by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import trustworthiness

from unmask import ConditionalMDS
from unmask.datasets import make_car_brands
from unmask.inspection import coef_error, neighbourhood_scores, signal_to_noise


def test_neighbourhoods_equal_scikit_learns_with_the_roles_swapped(rng):
    X = rng.standard_normal((60, 5))
    U = X[:, :2] + 0.3 * rng.standard_normal((60, 2))
    table = neighbourhood_scores(squareform(pdist(X)), U)
    assert list(table.index) == [5, 10, 20]
    for k in table.index:
        assert table.loc[k, "trustworthiness"] == pytest.approx(trustworthiness(X, U, n_neighbors=k), rel=1e-12)
        assert table.loc[k, "continuity"] == pytest.approx(trustworthiness(U, X, n_neighbors=k), rel=1e-12)


def test_the_map_itself_scores_one_and_labels_are_aligned(rng):
    U = pd.DataFrame(rng.standard_normal((12, 2)), index=[f"o{i}" for i in range(12)])
    D = pd.DataFrame(squareform(pdist(U)), index=U.index, columns=U.index)
    table = neighbourhood_scores(D, U.iloc[::-1], n_neighbors=3)
    assert table.to_numpy().tolist() == [[1.0, 1.0]]
    assert neighbourhood_scores(D, U.iloc[::-1].to_numpy(), n_neighbors=3).to_numpy().max() < 1


def test_an_estimators_labels_are_used(kinship):
    D = kinship.dissimilarities
    mds = ConditionalMDS(metric="precomputed", init="closed-form").fit(D)
    given = neighbourhood_scores(D.to_numpy(), mds.embedding_, n_neighbors=[4])
    order = D.index[::-1]
    assert neighbourhood_scores(D, mds, n_neighbors=[4]).equals(given)
    other = neighbourhood_scores(D.loc[order, order], mds, n_neighbors=[4])  # ties are broken the other way round
    np.testing.assert_allclose(other, given, atol=0.05)
    assert list(neighbourhood_scores(D, mds).index) == [5]
    assert list(neighbourhood_scores(D.iloc[:5, :5], mds.embedding_[:5]).index) == [2]


def test_neighbourhoods_that_cannot_be(rng):
    D = squareform(pdist(rng.standard_normal((9, 2))))
    with pytest.raises(ValueError, match="n_neighbors=5 is too many for 9 objects; use at most 4"):
        neighbourhood_scores(D, D, n_neighbors=5)
    with pytest.raises(ValueError, match="n_neighbors=0 must be an integer of at least 1"):
        neighbourhood_scores(D, D, n_neighbors=[0])
    with pytest.raises(ValueError, match="embedding has 8 rows and dissimilarities has 9"):
        neighbourhood_scores(D, D[:8])
    D[0, 1] = D[1, 0] = np.nan
    with pytest.raises(ValueError, match=r"1 pairs have no dissimilarity .* comparing neighbourhoods needs all"):
        neighbourhood_scores(D, np.ones((9, 2)))


def test_signal_to_noise_by_hand():
    truth = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    noisy = truth + np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -2.0], [0.0, -2.0, 0.0]])
    scores = signal_to_noise(truth, noisy)
    assert scores["signal_to_noise"] == pytest.approx(50 / 5)
    assert scores["decibels"] == pytest.approx(10)
    assert scores["stress_of_truth"] == pytest.approx(5 / (16 + 16 + 9))
    assert signal_to_noise(truth, truth)["signal_to_noise"] == np.inf
    noisy[1, 2] = noisy[2, 1] = np.nan
    assert signal_to_noise(truth, noisy)["signal_to_noise"] == pytest.approx(25 / 1)


def test_signal_to_noise_is_aligned_and_below_the_stress_of_the_truth_lies_noise():
    cars = make_car_brands(random_state=3)
    order = cars.noiseless.index[::-1]
    scores = signal_to_noise(cars.noiseless.loc[order, order], cars.dissimilarities)
    assert scores["signal_to_noise"] == pytest.approx(1 / 0.2**2, rel=0.2)  # the noise's standard deviation is 0.2
    mds = ConditionalMDS(3, metric="precomputed", n_init=2, random_state=0)
    mds.fit(cars.dissimilarities, known=cars.features.iloc[:, :4])
    assert mds.stress_ < scores["stress_of_truth"]
    with pytest.raises(ValueError, match="truth has 29 rows and dissimilarities has 30"):
        signal_to_noise(cars.noiseless.iloc[:29, :29], cars.dissimilarities)


def test_coefficients_are_compared_up_to_rotation(rng):
    B = rng.standard_normal((3, 3))
    turned = B @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    np.testing.assert_allclose(coef_error(turned, B)["relative_error"], 0.0, atol=1e-7)
    table = coef_error(np.diag([1.0, 2.0]), [1.0, 4.0])
    np.testing.assert_allclose(table["relative_error"], [0.0, 0.5, 2 / np.sqrt(17)], rtol=1e-9, atol=1e-12)
    assert list(table.index) == ["known0", "known1", "(all)"]
    assert np.isnan(coef_error([1.0, 1.0], [1.0, 0.0]).loc["known1", "relative_error"])


def test_coefficients_are_matched_by_name_and_recovered_without_noise():
    cars = make_car_brands(n=40, noise=0.0, known_noise=0.0, random_state=0)
    known = cars.features[["technology", "value", "quality", "safety", "design"]]
    mds = ConditionalMDS(2, metric="precomputed", n_init=4, random_state=0).fit(cars.dissimilarities, known=known)
    table = coef_error(mds, cars.coef)
    assert list(table.index) == [*known.columns, "(all)"]
    assert table["relative_error"].max() < 0.01
    square = pd.DataFrame(np.diag(cars.coef), index=cars.coef.index, columns=cars.coef.index)
    pd.testing.assert_frame_equal(coef_error(mds, square), table)


def test_coefficients_that_cannot_be_compared():
    with pytest.raises(ValueError, match="coef is of 2 features and truth of 3"):
        coef_error([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="truth has no coefficient of 'b'; its features are 'a'"):
        coef_error(pd.Series({"a": 1.0, "b": 2.0}), pd.Series({"a": 1.0}))
    with pytest.raises(ValueError, match=r"coef has shape \(2, 3\); pass a square table"):
        coef_error(np.ones((2, 3)), [1.0, 2.0])
