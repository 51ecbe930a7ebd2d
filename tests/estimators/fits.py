"""Fits of dissimilarities, and whether two of them are the same map."""

import numpy as np
import pytest

from unmask import ConditionalMDS


def fit(D, known=None, pair_weights=None, **options):
    options = {"metric": "precomputed", "random_state": 0} | options
    return ConditionalMDS(**options).fit(D, known=known, weights=pair_weights)


def assert_same_map(one, other, rtol=1e-6):
    size = np.abs(one.embedding_).max()
    assert other.stress_ == pytest.approx(one.stress_, rel=1e-7)
    np.testing.assert_allclose(other.embedding_, one.embedding_, atol=rtol * size)
