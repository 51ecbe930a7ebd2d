"""ConditionalClassicalMDS: the published closed form, and what it becomes in special cases."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist

from tests.helpers import noisy_distances
from unmask import ConditionalClassicalMDS, Cyclic, Spline
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
    J = np.eye(40) - 1 / 40
    values, vectors = np.linalg.eigh(-0.5 * J @ D**2 @ J)
    np.testing.assert_allclose(mine, canonical_map(vectors[:, -3:] * np.sqrt(values[-3:])), atol=1e-10)


def test_full_coefficients_do_not_depend_on_how_features_are_coded(rng):
    cars = make_car_brands(50, random_state=1)
    V = cars.known.iloc[:, :3].to_numpy()
    recoded = V @ rng.standard_normal((3, 3)) + 4
    one, two = (fit(cars.dissimilarities, known, coef="full") for known in (V, recoded))
    np.testing.assert_allclose(one.embedding_, two.embedding_, atol=1e-9)
    assert one.stress_ == pytest.approx(two.stress_, rel=1e-9)


def test_exact_data_are_nearly_reproduced_where_known_and_unknown_features_are_crossed():
    """On a grid squared differences are almost uncorrelated (the pairs i = i are not there), so B is almost exact."""
    grid = np.array([(u, v, w) for u in range(4) for v in range(4) for w in range(3)], dtype=float)
    U, V = grid[:, :1], grid[:, 1:]
    Z = np.column_stack([U, V * [2.0, 0.5]])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    mds = fit(D, V, n_components=1)
    assert mds.stress_ < 1e-4
    np.testing.assert_allclose(np.diag(mds.coef_), [2.0, 0.5], rtol=0.1)
    assert abs(np.corrcoef(mds.embedding_[:, 0], U[:, 0])[0, 1]) > 0.999


@pytest.mark.parametrize("q", [3, 40])
def test_full_coefficients_have_off_diagonal_entries_however_many_features(q):
    cars = make_car_brands(120, random_state=0)
    rng = np.random.default_rng(0)
    known = np.column_stack([cars.known.to_numpy()[:, :3], rng.standard_normal((120, q - 3))]) @ rng.standard_normal(
        (q, q)
    )
    B = fit(cars.dissimilarities, known, coef="full").coef_.to_numpy()
    assert np.count_nonzero(np.triu(B, 1)) > 0.9 * q * (q - 1) / 2


def test_too_many_products_are_refused():
    cars = make_car_brands(150, random_state=0)
    known = np.random.default_rng(0).standard_normal((150, 110))
    with pytest.raises(ValueError, match=r"110 columns of known features have 6105 products .* use coef='diagonal'"):
        fit(cars.dissimilarities, known, coef="full")


def test_new_objects_are_projected_and_fitted_ones_return_to_their_points(kinship):
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known)
    np.testing.assert_allclose(mds.transform(kinship.dissimilarities, known=known), mds.embedding_, atol=1e-9)
    # A new object in the middle of two that agree on everything known is placed in the middle of their points.
    D2 = kinship.dissimilarities.to_numpy() ** 2.0
    middle = np.sqrt((D2[[0]] + D2[[10]]) / 2)  # Aunt and Niece: same gender, same degree
    expected = (mds.embedding_[[0]] + mds.embedding_[[10]]) / 2
    np.testing.assert_allclose(mds.transform(middle, known=known.iloc[[0]].to_numpy()), expected, atol=1e-9)


def test_negative_eigenvalues_give_axes_of_zeros():
    D = np.ones((5, 5)) - np.eye(5)
    D[0, 1] = D[1, 0] = D[2, 3] = D[3, 2] = 5.0  # far from Euclidean
    mds = fit(D, n_components=4)
    assert mds.eigenvalues_[3] < 0
    assert np.all(mds.embedding_[:, 3] == 0)
    assert np.isfinite(mds.transform(D)).all()


def test_missing_dissimilarities_are_refused(kinship):
    D = kinship.dissimilarities.astype(float).mask(kinship.dissimilarities == 27)
    with pytest.raises(ValueError, match="use ConditionalMDS, or fill them"):
        fit(D)
    with pytest.raises(ValueError, match="has inf"):
        fit(D.fillna(np.inf))
    mds = fit(kinship.dissimilarities)
    with pytest.raises(ValueError, match="the new dissimilarities have NaN"):
        mds.transform(D)


@pytest.mark.parametrize(
    ("column", "declared", "message"),
    [
        (pd.Categorical(["a", "b", "c"] * 8, ordered=True), None, "'x' is ordinal, which the closed form cannot fit"),
        (np.arange(24), Cyclic(24), "'x' is cyclic, which the closed form cannot fit"),
        (np.arange(24), Spline(3), "'x' is spline, which the closed form cannot fit"),
        ([np.nan, *range(23)], None, "1 missing cells in column 'x', which the closed form cannot estimate"),
    ],
)
def test_the_closed_form_refuses_what_it_cannot_estimate(column, declared, message):
    known = pd.DataFrame({"x": column})
    D = noisy_distances(np.random.default_rng(5), 24, 4)
    types = None if declared is None else {"x": declared}
    with pytest.raises(ValueError, match=message):
        ConditionalClassicalMDS(metric="precomputed", known_types=types).fit(D, known=known)


def test_the_closed_form_recovers_exact_levels():
    rng = np.random.default_rng(16)
    places, U = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 2.0]]), rng.standard_normal((400, 1))
    group = rng.permutation(400) % 4
    Z = np.column_stack([U, places[group]])
    mds = ConditionalClassicalMDS(1, metric="precomputed", coef="grouped")
    mds.fit(cdist(Z, Z), known=pd.Series(group.astype(float), name="g").map({0: "a", 1: "b", 2: "c", 3: "d"}))
    np.testing.assert_allclose(pdist(mds.level_positions_.to_numpy()), pdist(places), rtol=0, atol=0.15)
    assert mds.known_summary_.loc["g", "type"] == "nominal"
    assert mds.known_imputed_.empty
