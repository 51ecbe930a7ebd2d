"""Scores against scikit-learn and against numbers worked by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import trustworthiness

from unmask import ConditionalMDS
from unmask.inspection import neighbourhood_scores


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
