"""The score: of dissimilarities that did not place the object."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, KFold

from unmask import ConditionalMDS

from .fits import fit


def test_the_score_is_of_dissimilarities_that_did_not_place_the_object(rng):
    """By hand: every new object from the even fitted ones, judged by the odd ones, and the other way round."""
    Z = rng.standard_normal((30, 4))
    D = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    D[25, 3] = np.nan
    V = Z[:, :1]
    mds = fit(D[:22, :22], V[:22], n_init=3)
    rows, VB = D[22:, :22], V * mds.coef_.to_numpy()
    missed = total = 0.0
    for first in (0, 1):
        used = np.arange(22) % 2 == first
        placed = mds.transform(np.where(used, rows, np.nan), known=V[22:])
        d = np.sqrt(((placed[:, None] - mds.embedding_[None]) ** 2).sum(axis=2) + (VB[22:] - VB[:22].T) ** 2)
        missed += np.nansum((d - rows)[:, ~used] ** 2)
        total += np.nansum(rows[:, ~used] ** 2)
    assert mds.score(rows, known=V[22:]) == pytest.approx(1 - missed / total, rel=1e-9)
    # An object with nothing in one half is judged by the other alone; one with nothing at all by nothing.
    rows[0, ::2] = np.nan
    rows[1] = np.nan
    assert np.isfinite(mds.score(rows, known=V[22:]))


def test_a_grid_search_finds_the_number_of_dimensions():
    """Two unknown features beside a known one, and noise; the stress alone would take as many as it can."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [2, 1.5, 1]
    noise = np.triu(0.1 * rng.normal(size=(40, 40)), 1)
    D = squareform(pdist(X)) * np.abs(1 + noise + noise.T)
    model = ConditionalMDS(metric="precomputed", n_init=2, random_state=0)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(model, {"n_components": [0, 1, 2, 4]}, cv=KFold(4)).fit(D, known=X[:, :1])
    assert search.best_params_ == {"n_components": 2}
