"""ConditionalClassicalMDS: the published closed form, and what it becomes in special cases."""

import numpy as np
import pytest
from sklearn.manifold import ClassicalMDS

from tests.helpers import noisy_distances
from unmask import ConditionalClassicalMDS
from unmask.datasets import make_car_brands
from unmask.solvers import canonical_map


def fit(D, known=None, **options):
    return ConditionalClassicalMDS(metric="precomputed", **options).fit(D, known=known)


def test_it_matches_the_independent_computation(kinship, reference):
    expected = reference("g_eigen_GD_matrix_p2")
    mds = fit(kinship.dissimilarities, kinship.known[["gender", "degree"]])
    np.testing.assert_allclose(mds.eigenvalues_, expected["eig"], rtol=1e-10)
    np.testing.assert_allclose(mds.coef_, expected["B"], rtol=1e-10)
    np.testing.assert_allclose(mds.embedding_, canonical_map(np.array(expected["U"])), atol=1e-9)
    assert mds.stress_ == pytest.approx(expected["stress"], rel=1e-10)


def test_without_known_features_it_is_classical_scaling(rng):
    D = noisy_distances(rng, 40)
    D = np.maximum(D, D.T)
    mine = fit(D, n_components=3).embedding_
    other = canonical_map(ClassicalMDS(n_components=3, metric="precomputed").fit_transform(D))
    np.testing.assert_allclose(mine, other, atol=1e-10)


def test_full_coefficients_do_not_depend_on_how_features_are_coded(rng):
    cars = make_car_brands(50, random_state=1)
    V = cars.known.iloc[:, :3].to_numpy()
    recoded = V @ rng.standard_normal((3, 3)) + 4
    one, two = (fit(cars.dissimilarities, known, coef="full") for known in (V, recoded))
    np.testing.assert_allclose(one.embedding_, two.embedding_, atol=1e-9)
    assert one.stress_ == pytest.approx(two.stress_, rel=1e-9)


def test_exact_data_are_reproduced(rng):
    U, V = rng.standard_normal((30, 2)) * [2, 1], rng.standard_normal((30, 2))
    # Known and unknown features must be uncorrelated for the regression to separate them exactly.
    V -= V.mean(axis=0)
    Z = np.column_stack([U, V @ np.array([[2.0, 0.3], [0.3, 1.0]])])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    assert fit(D, V, n_components=4, coef="full").stress_ < fit(D, V, n_components=2, coef="full").stress_ < 0.05


def test_new_objects_are_projected_and_fitted_ones_return_to_their_points(kinship):
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known)
    np.testing.assert_allclose(mds.transform(kinship.dissimilarities, known=known), mds.embedding_, atol=1e-9)
    noisy = kinship.dissimilarities.to_numpy()[:3] + 0.5
    assert np.abs(mds.transform(noisy, known=known[:3]) - mds.embedding_[:3]).max() < 5


def test_negative_eigenvalues_give_axes_of_zeros():
    D = np.ones((5, 5)) - np.eye(5)
    D[0, 1] = D[1, 0] = D[2, 3] = D[3, 2] = 5.0  # far from Euclidean
    mds = fit(D, n_components=4)
    assert mds.eigenvalues_[3] < 0
    assert np.all(mds.embedding_[:, 3] == 0)
    assert np.isfinite(mds.transform(D)).all()


def test_missing_dissimilarities_are_refused(kinship):
    D = kinship.dissimilarities.astype(float).mask(kinship.dissimilarities == 27)
    with (
        pytest.warns(UserWarning, match="missing"),
        pytest.raises(ValueError, match="use ConditionalMDS, or fill them"),
    ):
        fit(D)
    mds = fit(kinship.dissimilarities)
    with pytest.raises(ValueError, match="the new dissimilarities have NaN"):
        mds.transform(D)
