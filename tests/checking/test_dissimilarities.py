"""Checking dissimilarities: what comes of a square table, without an estimator around it."""

import numpy as np
import pandas as pd
import pytest

from tests.helpers import noisy_distances, with_missing
from unmask import MissingDissimilarityWarning
from unmask.checking import check_dissimilarities
from unmask.kernels import Source, Workers


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


def test_missing_pairs_are_refused_where_all_are_needed(D):
    D[0, 1] = D[1, 0] = np.nan
    with pytest.raises(ValueError, match=r"2 cells of dissimilarities are missing.*the closed form"):
        checked(D, complete_for="the closed form")


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


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({(2, 5): np.inf, (5, 2): np.inf}, r"inf for the pair \(object 2, object 5\)"),
        ({(2, 5): -1.0, (5, 2): -1.0}, r"-1 for the pair \(object 2, object 5\).*Are these similarities"),
        ({(2, 5): 9.0}, r"9 and .* for the pair \(object 2, object 5\); correct it, or pass \(D \+ D\.T\) / 2"),
        ({(2, 5): np.nan}, r"nan and .* for the pair \(object 2, object 5\); fill in the missing one"),
        ({(3, 3): 1.0}, "1 on the diagonal, for object 3"),
    ],
)
def test_the_first_cell_that_is_wrong_is_named(D, cells, message):
    for cell, value in cells.items():
        D[cell] = value
    with pytest.raises(ValueError, match=message):
        checked(D)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((2, 2)), "only n_samples=2 objects; a map needs at least 3"),
        (np.zeros((4, 4)), "all dissimilarities are zero"),
        (np.where(np.eye(4), 0, np.nan), r"all 6 pairs are missing"),
        (np.ones((4, 5)), r"has shape \(4, 5\) but must be square"),
        ((1 - np.eye(4)) * 1e-301, "the largest dissimilarity is 1e-301; it must be between 1e-300 and 1e"),
        ((1 - np.eye(4)) * 1j, "complex"),
    ],
)
def test_tables_that_are_wrong_as_a_whole(table, message):
    with pytest.raises(ValueError, match=message):
        checked(table)


class Strips(Source):
    """A source that is no array: whoever reads it gets copies of its parts."""

    def __init__(self, values):
        self.values, self.n, self.dtype = values, len(values), values.dtype

    def tile(self, rows, columns):
        return self.values[rows, columns].copy()

    def rows(self, which):
        return self.values[which]


def test_a_source_is_looked_through_and_handed_on_as_it_is(D):
    source = Strips(D)
    found = checked(source)
    assert found.source is source
    assert (found.n, found.largest, found.missing) == (8, D.max(), 0)
    with pytest.raises(ValueError, match="pass them as an array"):
        _ = found.array_for("this")
    D[2, 5] = 9.0
    with pytest.raises(ValueError, match=r"9 and .* for the pair \(object 2, object 5\)"):
        checked(source)
