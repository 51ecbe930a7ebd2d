"""A new source of dissimilarities takes one file: a class with two ways to read a part of the table."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from unmask import ConditionalMDS
from unmask.inspection import compare
from unmask.kernels import Source

N = 300


class Line(Source):
    """Distances of points on a line, computed when they are asked for; no square table is ever made."""

    def __init__(self, x, labels=None):
        self.x, self.n, self.dtype, self.labels = x, len(x), x.dtype, labels
        self.largest_part = 0

    def tile(self, rows, columns):
        part = abs(self.x[rows, None] - self.x[None, columns])
        self.largest_part = max(self.largest_part, part.size)
        return part

    def rows(self, which):
        return self.tile(which, slice(None))


@pytest.fixture
def source(rng):
    return Line(rng.standard_normal(N), pd.Index([f"o{i}" for i in range(N)]))


@pytest.fixture
def D(source):
    return pd.DataFrame(abs(source.x[:, None] - source.x), source.labels, source.labels)


def fit(data, known=None, **options):
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, max_iter=20, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(mds).fit(data, known=known)


@pytest.mark.parametrize("weights", [None, "sammon"])
def test_its_map_is_the_map_of_its_table(source, D, weights):
    known = pd.DataFrame({"half": np.arange(N) % 2.0}, index=source.labels[::-1])
    mds, expected = (fit(data, known, weights=weights) for data in (source, D))
    np.testing.assert_array_equal(mds.embedding_, expected.embedding_)
    assert mds.stress_ == expected.stress_
    new, given = D.iloc[:3], known.loc[source.labels[:3]]
    np.testing.assert_array_equal(mds.transform(new, known=given), expected.transform(new, known=given))
    near = mds.predict_dissimilarities(objects=["o7", "o2"])
    pd.testing.assert_frame_equal(near, expected.predict_dissimilarities().loc[["o7", "o2"], ["o7", "o2"]])
    with pytest.raises(ValueError, match="objects names 'o300', which were not fitted"):
        mds.predict_dissimilarities(objects=["o7", "o300"])


def test_a_large_table_is_only_read_in_parts(rng):
    source = Line(rng.standard_normal(1100))
    assert isinstance(source, Source)
    assert fit(source).stress_ < 1e-3
    assert 0 < source.largest_part < 1100**2 / 4


def test_what_needs_all_of_it_says_so(source):
    with pytest.raises(ValueError, match="compare needs all 300 x 300 dissimilarities at once"):
        compare(source)
    with pytest.raises(ValueError, match=r"level='interval' needs all 300 x 300 .* or use level='ratio'"):
        fit(source, level="interval")
