"""New objects on a fitted map, and fitted ones back on their own points."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from tests.helpers import noisy_distances, symmetric_weights
from unmask import ConditionalMDS, Numeric

from .fits import fit


@pytest.mark.parametrize("options", [{}, {"weights": "sammon"}, {"coef": "diagonal"}])
def test_a_training_row_returns_its_own_point(kinship, options):
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known, n_init=5, **options)
    placed = mds.transform(kinship.dissimilarities.iloc[::-1], known=known)
    np.testing.assert_allclose(placed[::-1], mds.embedding_, atol=1e-9)


def test_training_rows_return_to_their_points_when_others_are_at_dissimilarity_zero(kinship):
    D = np.maximum(kinship.dissimilarities.to_numpy(dtype=float) - 30, 0)  # several pairs at 0, apart on the map
    mds = fit(D, n_init=20)
    np.testing.assert_allclose(mds.transform(D), mds.embedding_, atol=1e-9)
    known = kinship.known[["gender"]]
    W = symmetric_weights(np.random.default_rng(0), 14) ** 3
    for options in ({"orthogonal": True}, {"pair_weights": W}, {"weights": "sammon"}):
        mds = fit(D, known, n_components=1, n_init=5, **options)
        np.testing.assert_allclose(mds.transform(D, known=known), mds.embedding_, atol=1e-9, err_msg=str(options))


def test_training_rows_are_told_from_others_at_dissimilarity_zero_by_all_their_dissimilarities():
    """Held apart from what is known, a map does not put every object where its own row would fit best."""
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((30, 2))
        D = np.maximum(np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) - 0.5, 0)
        known = np.round(X[:, :1])
        mds = fit(D, known, n_components=1, n_init=2, orthogonal=True)
        np.testing.assert_allclose(mds.transform(D, known=known), mds.embedding_, atol=1e-9)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_training_rows_are_told_apart_by_dissimilarities_that_did_not_count(stored):
    """A new object brings all its dissimilarities; which of them counted in the fit must not matter."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        D = noisy_distances(rng, 20)
        i, j = rng.permutation(20).reshape(2, 10)
        D[i, j] = D[j, i] = 0
        W = symmetric_weights(rng, 20)
        W[W < 1.5] = 0
        mds = fit(D, pair_weights=stored(W), n_components=1, n_init=3)
        np.testing.assert_allclose(mds.transform(D), mds.embedding_, atol=1e-9)


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
@pytest.mark.parametrize("options", [{}, {"level": "interval"}, {"weights": "sammon"}, {"coef": "diagonal"}])
def test_training_rows_return_to_their_points_with_values_that_moved_within_their_error(options):
    """The values that are given again are those that were measured, not those that the fit made of them."""
    rng = np.random.default_rng(4)
    D = noisy_distances(rng, 20, noise=0.3)
    known = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    known.loc[3, "b"] = np.nan
    mds = fit(D, known, known_types={"a": Numeric(error=0.5)}, n_init=3, **options)
    assert np.abs(mds.known_corrected_["a"] - known["a"]).max() > 0.1
    rows = np.delete(np.arange(20), 3)
    placed = mds.transform(D[rows], known=known.iloc[rows])
    np.testing.assert_allclose(placed, mds.embedding_[rows], atol=1e-9)


def test_a_training_row_returns_to_its_point_without_the_zero_to_itself(kinship):
    """Placed from its other dissimilarities alone, an object finds the same optimum."""
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known, tol=1e-14)
    rows = kinship.dissimilarities.to_numpy(dtype=float).copy()
    np.fill_diagonal(rows, np.nan)
    placed = mds.transform(rows, known=known)
    D = kinship.dissimilarities.to_numpy()
    VB = known.to_numpy() @ mds.coef_.to_numpy()

    def stress(points):
        d2 = ((points[:, None] - mds.embedding_[None]) ** 2).sum(axis=2) + ((VB[:, None] - VB[None]) ** 2).sum(axis=2)
        error = (D - np.sqrt(d2)) ** 2
        np.fill_diagonal(error, 0)
        return error.sum(axis=1)

    own = stress(mds.embedding_)
    assert np.all(stress(placed) <= own * (1 + 1e-6))
    assert np.sum(np.abs(placed - mds.embedding_).max(axis=1) < 1e-3) >= 12


def test_new_objects_are_placed_where_they_belong(rng):
    U, V = rng.standard_normal((40, 2)) * [2, 1], rng.standard_normal((40, 1))
    Z = np.column_stack([U, 1.5 * V])
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    old, new = slice(0, 30), slice(30, 40)
    mds = fit(D[old, old], V[old])
    placed = mds.transform(D[new, old], known=V[new])
    both = np.concatenate([mds.embedding_, placed])
    np.testing.assert_allclose(pdist(both), pdist(U), atol=1e-3)


def test_new_objects_are_placed_one_by_one_as_all_at_once(kinship, by_gender, rng):
    rows = kinship.dissimilarities.to_numpy() * rng.uniform(0.8, 1.2, (14, 14))
    known = kinship.known[["gender"]].to_numpy()
    together = by_gender.transform(rows, known=known)
    apart = np.concatenate([by_gender.transform(rows[i : i + 1], known=known[i : i + 1]) for i in range(14)])
    np.testing.assert_allclose(apart, together, atol=1e-9)


def test_features_of_new_objects(rng):
    X = rng.standard_normal((30, 4))
    mds = ConditionalMDS(2, random_state=0, n_init=3, metric="minkowski", metric_params={"p": 1}).fit(
        X[:25], known=X[:25, :1]
    )
    assert mds.transform(X[25:], known=X[25:, :1]).shape == (5, 2)
    np.testing.assert_allclose(mds.transform(X[:25], known=X[:25, :1]), mds.embedding_, atol=1e-6)


def test_columns_of_new_known_features_are_matched_by_name(kinship):
    known = kinship.known[["gender", "degree"]]
    mds = fit(kinship.dissimilarities, known, n_init=2)
    placed = mds.transform(kinship.dissimilarities, known=known[["degree", "gender"]])
    np.testing.assert_allclose(placed, mds.embedding_, atol=1e-9)
