"""Dissimilarities of N objects and the sites they come from."""

import numpy as np
import pytest

from tests.helpers import noisy_distances

from .fits import N


@pytest.fixture(scope="module")
def D():
    return noisy_distances(np.random.default_rng(5), N, 4)


@pytest.fixture(scope="module")
def sites():
    return np.array(["north", "east", "south", "west"])[np.random.default_rng(6).permutation(N) % 4]
