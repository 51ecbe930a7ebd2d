"""Weights of pairs: an object with itself is no pair, whatever stands on the diagonal."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances
from unmask import MapWarning
from unmask.checking import check_dissimilarities
from unmask.kernels import Workers
from unmask.problem import build_pairs, warn_of_few_pairs

N = 6
# Leaving out half as many pairs as there are objects, a full diagonal would make up for them in a count.
LEFT_OUT = [(0, 1), (2, 3), (4, 5)]


@pytest.fixture
def D(rng):
    return noisy_distances(rng, N)


def weights(diagonal, left_out=()):
    W = np.ones((N, N))
    np.fill_diagonal(W, diagonal)
    for i, j in left_out:
        W[i, j] = W[j, i] = 0
    return W


def pairs_of(D, W=None):
    workers = Workers(1)
    checked = check_dissimilarities(D, workers=workers)
    return build_pairs(checked, None, W, workers)


@pytest.mark.parametrize("diagonal", [0.0, 1.0, 7.0])
def test_every_pair_counts_only_if_every_pair_has_a_weight(D, diagonal):
    assert pairs_of(D, weights(diagonal)).every_pair
    assert not pairs_of(D, weights(diagonal, LEFT_OUT)).every_pair
    assert not pairs_of(D, weights(diagonal, LEFT_OUT[:1])).every_pair


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("diagonal", [0.0, 1.0, -1.0, np.nan])
def test_few_pairs_are_counted_without_the_diagonal(D, diagonal, form):
    """Objects 0 and 1 have three pairs each, the others more: no more than three dimensions, but more than two."""
    pairs = pairs_of(D, form(weights(diagonal, [(0, 1), (0, 2), (1, 3)])))
    with pytest.warns(MapWarning, match=r"dimensions \(3\): object 0 \(3\), object 1 \(3\)\. Do not"):
        warn_of_few_pairs(pairs, 3, None)
    warn_of_few_pairs(pairs, 2, None)  # a warning is an error


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_few_dissimilarities_are_counted_without_the_diagonal(D):
    D[0, 1] = D[1, 0] = D[0, 2] = D[2, 0] = np.nan
    with pytest.warns(MapWarning, match=r"dimensions \(3\): object 0 \(3\)\. Do not"):
        warn_of_few_pairs(pairs_of(D), 3, None)
    warn_of_few_pairs(pairs_of(D), 2, None)


def test_a_weight_of_an_object_with_itself_is_the_weight_of_nothing(D):
    """Zero off the diagonal is zero; what stands on it does not save it."""
    with pytest.raises(ValueError, match="positive weight"):
        pairs_of(D, np.eye(N))
    with pytest.raises(ValueError, match="positive weight"):
        pairs_of(D, sp.csr_array(np.eye(N)))


def test_large_contiguous_input_is_not_copied(rng):
    """The engine must hold the user's own array (or its transpose), not a copy of it."""
    D = noisy_distances(rng, 50)
    for array in (D, np.asfortranarray(D), D.astype(np.float32)):
        workers = Workers(1)
        pairs = build_pairs(check_dissimilarities(array, workers=workers), None, None, workers)
        assert np.shares_memory(pairs.source.array, array)
