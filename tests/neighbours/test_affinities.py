"""Affinities of t-SNE and UMAP, plain and balanced."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from unmask.graphs import SearchRows, balanced_neighbours
from unmask.neighbours import TSNE, UMAP, affinities, directed_affinities


def directed(X, strata, model, k):
    found = balanced_neighbours(SearchRows(X, "euclidean"), strata, k)
    return directed_affinities(found, model, k, (len(X), len(X))).toarray()


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(80, 5))


def test_entropy_is_that_of_the_perplexity(X):
    P = directed(X, np.zeros(80, dtype=int), TSNE(10.0, 12.0), 30)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    entropy = -np.sum(P * np.log(np.where(P > 0, P, 1.0)), axis=1)
    np.testing.assert_allclose(entropy, np.log(10.0), atol=1e-3)
    D = cdist(X, X) ** 2
    ratio = np.log(P[0, np.argsort(D[0])[1]] / P[0, np.argsort(D[0])[5]])
    other = np.log(P[0, np.argsort(D[0])[5]] / P[0, np.argsort(D[0])[9]])
    nearest = D[0, np.argsort(D[0])]
    assert ratio / other == pytest.approx((nearest[5] - nearest[1]) / (nearest[9] - nearest[5]))


def test_weights_of_umap_add_up_to_the_logarithm(X):
    P = directed(X, np.zeros(80, dtype=int), UMAP(15, 0.1, 1.0), 15)
    np.testing.assert_allclose(P.sum(axis=1), np.log2(16), atol=1e-3)
    np.testing.assert_allclose(P.max(axis=1), 1.0)


def test_curve_of_umap():
    """The values that umap-learn finds for its defaults."""
    assert UMAP(15, 0.1, 1.0).curve == pytest.approx((1.577, 0.8951), abs=1e-3)
    assert UMAP(15, 0.5, 1.0).curve == pytest.approx((0.583, 1.334), abs=1e-3)


@pytest.mark.parametrize("model", [TSNE(8.0, 12.0), UMAP(15, 0.1, 1.0)])
def test_joint_affinities(X, model):
    strata = np.arange(80) % 2
    P = directed(X, strata, model, 15)
    found = balanced_neighbours(SearchRows(X, "euclidean"), strata, 15)
    joint = affinities(found, model, 15, strata).toarray()
    within = strata[:, None] == strata[None]
    plain = (P + P.T) / 2 if isinstance(model, TSNE) else P + P.T - P * P.T
    expected = np.where(within, plain, np.sqrt(P * P.T))
    np.testing.assert_allclose(joint, expected * (80 / expected.sum()), rtol=1e-5)
    np.testing.assert_array_equal(joint, joint.T)
    found = balanced_neighbours(SearchRows(X, "euclidean"), strata, 15)
    everywhere = affinities(found, model, 15, strata, mutual=False).toarray()
    np.testing.assert_allclose(everywhere, plain * (80 / plain.sum()), rtol=1e-5)


@pytest.mark.parametrize("model", [TSNE(8.0, 12.0), UMAP(15, 0.1, 1.0)])
def test_duplicates_have_equal_weights(model):
    found = balanced_neighbours(SearchRows(np.zeros((30, 2)), "euclidean"), np.zeros(30, dtype=int), 15)
    P = directed_affinities(found, model, 15, (30, 30))
    assert np.ptp(P.data) == 0.0
    assert np.isfinite(P.data).all()
