"""Checking dissimilarities: what comes of a square table, without an estimator around it."""

import numpy as np
import pandas as pd
import pytest

from tests.helpers import noisy_distances, with_missing
from unmask import MissingDissimilarityWarning
from unmask.checking import check_dissimilarities
from unmask.kernels import Workers


def checked(data, **options):
    return check_dissimilarities(data, workers=Workers(1), **options)


@pytest.fixture
def D(rng):
    return noisy_distances(rng, 8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_held_and_not_copied(D, dtype, order):
    array = np.array(np.maximum(D, D.T), dtype=dtype, order=order)
    found = checked(array)
    assert np.shares_memory(found.array_for("this"), array)
    assert found.array_for("this").flags.c_contiguous
    assert (found.n, found.missing) == (8, 0)
    assert found.largest == array.max()
    assert found.labels is None


def test_missing_pairs_are_counted_once(D, rng):
    holes = with_missing(rng, D, 0.2)
    with pytest.warns(MissingDissimilarityWarning, match="of 28 pairs"):
        assert checked(holes).missing == np.isnan(holes).sum() // 2


def test_columns_follow_the_rows_and_an_unlabelled_side_takes_the_labels_of_the_other(D):
    names = [f"o{i}" for i in range(8)]
    frame = pd.DataFrame(D, index=names, columns=names)
    for given in (
        frame.sample(frac=1, axis=1, random_state=0),
        pd.DataFrame(D, index=names),
        pd.DataFrame(D, columns=names),
    ):
        found = checked(given)
        np.testing.assert_array_equal(found.array_for("this"), D)
        assert list(found.labels) == names
