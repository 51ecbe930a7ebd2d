"""Weights of pairs and missing dissimilarities, through the estimator."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tests.helpers import symmetric_weights
from unmask import ConditionalMDS, MissingDissimilarityWarning
from unmask.datasets import make_car_brands
from unmask.kernels import ArraySource

from .fits import assert_same_map, fit


def test_constant_array_weights_are_unit_weights(kinship, start, base):
    assert_same_map(
        base, fit(kinship.dissimilarities, kinship.known[["gender", "degree"]], np.full((14, 14), 3.0), **start)
    )


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.coo_array, np.asarray])
def test_zero_weights_equal_missing_dissimilarities(kinship, start, form):
    known = kinship.known[["gender", "degree"]]
    W = np.ones((14, 14))
    W[0, 5] = W[5, 0] = W[2, 3] = W[3, 2] = 0
    holes = kinship.dissimilarities.mask(W == 0)
    with pytest.warns(MissingDissimilarityWarning, match="2 of 91 pairs"):
        missing = fit(holes, known, **start)
    assert_same_map(missing, fit(kinship.dissimilarities, known, form(W), **start))


def test_weights_in_another_order_are_aligned_by_label(kinship, start, rng):
    W = pd.DataFrame(symmetric_weights(rng, 14), kinship.dissimilarities.index, kinship.dissimilarities.index)
    known = kinship.known[["gender", "degree"]]
    ordered = fit(kinship.dissimilarities, known, W, **start)
    assert_same_map(ordered, fit(kinship.dissimilarities, known, W.iloc[::-1, ::-1], **start))


def test_sammon_weights_accept_duplicates(kinship):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    D = np.block([[D, D[:, :1]], [D[:1], np.zeros((1, 1))]])  # Aunt twice, at dissimilarity 0
    mds = fit(D, weights="sammon", n_init=5)
    assert np.isfinite(mds.stress_)
    assert np.linalg.norm(mds.embedding_[0] - mds.embedding_[14]) < 1e-2 * np.abs(mds.embedding_).max()


def test_predicting_held_out_pairs_beats_the_mean(rng):
    """With pairs missing at random the fitted distances still follow the true ones."""
    cars = make_car_brands(40, noise=0.05, random_state=3)
    D = cars.dissimilarities.to_numpy().copy()
    holes = np.triu(rng.uniform(size=D.shape) < 0.2, 1)
    D[holes | holes.T] = np.nan
    with pytest.warns(MissingDissimilarityWarning):
        mds = fit(D, cars.known.iloc[:, :4], n_components=3, n_init=5)
    Z = np.column_stack([mds.embedding_, cars.known.iloc[:, :4].to_numpy() @ mds.coef_.to_numpy()])
    d = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    truth = cars.noiseless.to_numpy()[holes]
    assert np.corrcoef(d[holes], truth)[0, 1] > 0.9
    assert np.mean((d[holes] - truth) ** 2) < 0.2 * np.var(truth)  # the mean of the others would leave all of it


def test_weights_that_are_a_source_are_refused_in_a_sentence(kinship, rng):
    W = ArraySource(symmetric_weights(rng, 14))
    with pytest.raises(ValueError, match=r"weights is a source .*pass an array of weights"):
        ConditionalMDS(metric="precomputed").fit(kinship.dissimilarities, weights=W)
