"""Groups of objects between which no dissimilarity counts: an error that lists them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances
from unmask import ConditionalMDS

GROUP = np.repeat([0, 1, 2], [2, 12, 7])
N = len(GROUP)
NAMES = [f"o{i}" for i in range(N)]
pytestmark = pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")


@pytest.fixture(scope="module")
def whole():
    return noisy_distances(np.random.default_rng(1), N, 4)


def within(D, group):
    return np.where(group[:, None] == group, D, np.nan)


def test_missing_dissimilarities_between_groups_are_an_error_that_lists_them(whole):
    D = pd.DataFrame(within(whole, GROUP), NAMES, NAMES)
    listed = r"12 objects \('o2', 'o3'.*\); 7 objects \('o14'.*\); 2 objects \('o0', 'o1'\)\. Fit each group on its own"
    with pytest.raises(ValueError, match=r"3 groups between which all dissimilarities are missing: " + listed):
        ConditionalMDS(metric="precomputed").fit(D)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_so_are_weights_of_zero(whole, form):
    W = (GROUP[:, None] == GROUP).astype(float)
    with pytest.raises(ValueError, match=r"3 groups between which all weights are zero: 12 objects \('2', '3'"):
        ConditionalMDS(metric="precomputed").fit(whole, weights=form(W))


def test_of_many_groups_the_largest_are_listed(whole):
    with pytest.raises(ValueError, match=r"9 groups .*: 5 objects .*; and 4 more groups\."):
        ConditionalMDS(metric="precomputed").fit(within(whole, np.append(np.arange(18) // 2, [8, 8, 8])))


def test_an_object_alone_is_named(whole):
    alone = np.arange(N) == N - 1
    with pytest.raises(ValueError, match=f"object {N - 1} has no dissimilarity to any other object left"):
        ConditionalMDS(metric="precomputed").fit(within(whole, alone))
    W = np.where(alone[:, None] == alone, 1.0, 0.0)
    with pytest.raises(ValueError, match=f"object {N - 1} has no weight with any other object"):
        ConditionalMDS(metric="precomputed").fit(whole, weights=W)
