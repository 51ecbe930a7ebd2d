"""Dissimilarities that are read in parts: sources, memory maps, and what a metric computes on demand."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS, MissingDissimilarityWarning
from unmask.checking import check_dissimilarities
from unmask.dissimilarities import Metric
from unmask.kernels import Source, Workers


def check(data, **options):
    with Workers(1) as workers:
        return check_dissimilarities(data, **{"workers": workers} | options)


# ---- sources


class Formula(Source):
    """Dissimilarities that a formula gives; never a square table."""

    def __init__(self, n, change=lambda i, j, values: values, labels=None):
        self.n, self.dtype, self.labels = n, np.dtype(np.float64), labels
        self.change = change
        self.largest_part = 0

    def tile(self, rows, columns):
        return self._values(np.arange(self.n)[rows], np.arange(self.n)[columns])

    def rows(self, which):
        return self._values(np.asarray(which), np.arange(self.n))

    def _values(self, i, j):
        i, j = i[:, None].astype(float), j[None, :].astype(float)
        values = np.sqrt(np.abs(i - j))
        self.largest_part = max(self.largest_part, values.size)
        return self.change(i, j, values)


def test_a_source_is_surveyed_in_parts_and_handed_on_as_it_is():
    source = Formula(700)
    assert isinstance(source, Source)
    checked = check(source)
    assert checked.source is source
    assert checked.n == 700
    assert (checked.missing, checked.labels) == (0, None)
    assert checked.largest == np.sqrt(699)
    assert source.largest_part <= 256 * 700
    with pytest.raises(ValueError, match="the scree plot needs all 700 x 700 dissimilarities at once"):
        checked.array_for("the scree plot")


def changed(value, there, back=None):
    def change(i, j, values):
        values = np.where((i == there[0]) & (j == there[1]), value, values)
        return np.where((i == there[1]) & (j == there[0]), value if back is None else back, values)

    return change


def test_options_for_a_source():
    holes = Formula(400, changed(np.nan, (3, 300)), labels=pd.Index([f"o{i}" for i in range(400)]))
    with pytest.warns(MissingDissimilarityWarning, match="1 of 79800 pairs"):
        checked = check(holes)
    assert (checked.missing, checked.labels[3]) == (1, "o3")
    with pytest.raises(ValueError, match=r"2 cells of dissimilarities are missing .* and the closed form needs all"):
        check(holes, complete_for="the closed form")
    with pytest.raises(ValueError, match="only n_samples=2 objects"):
        check(Formula(2))
    with pytest.raises(ValueError, match="duplicate labels"):
        check(Formula(4, labels=pd.Index(list("abca"))))


# ---- memory maps


@pytest.fixture
def mapped(tmp_path, rng):
    def make(values):
        np.save(tmp_path / "D.npy", values)
        return np.load(tmp_path / "D.npy", mmap_mode="r")

    return make


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_memory_map_is_not_copied(mapped, rng, dtype, order):
    D = Metric().fit_transform(rng.standard_normal((20, 3)))
    D = mapped(np.asarray(D, dtype=dtype, order=order))
    checked = check(D)
    assert np.shares_memory(checked.array_for("this"), D)
    expected = ConditionalMDS(2, metric="precomputed", n_init=1).fit(np.array(D)).embedding_
    np.testing.assert_array_equal(ConditionalMDS(2, metric="precomputed", n_init=1).fit(D).embedding_, expected)


def test_a_small_memory_map_is_copied_as_any_array_is(mapped, rng):
    """Which joblib makes of every array above 1 MB that it hands to a process, without being asked."""
    D = Metric().fit_transform(rng.standard_normal((20, 3)))
    counts = (10 * D).astype(np.int64)
    np.testing.assert_array_equal(check(mapped(counts)).array_for("this"), counts)
    np.testing.assert_array_equal(check(mapped(D)[:10, :10]).array_for("this"), D[:10, :10])


def test_a_large_memory_map_that_would_have_to_be_copied_is_refused(mapped, rng, monkeypatch):
    monkeypatch.setattr("unmask.checking._dissimilarities.LARGE_COPY", 8 * 99)
    D = Metric().fit_transform(rng.standard_normal((20, 3)))
    assert check(mapped(D)).n == 20
    with pytest.raises(ValueError, match="it holds int64 rather than float64 or float32"):
        check(mapped((10 * D).astype(np.int64)))
    with pytest.raises(ValueError, match=r"memory map: it is a part of a larger one.*; pass numpy\.array\(X\)"):
        check(mapped(D)[:10, :10])
    assert check(np.array(mapped(D)[:10, :10])).n == 10


# ---- dissimilarities that are computed when they are read

SERIES = [np.arange(1.0, 4 + k % 3) * (k + 1) for k in range(9)]


@pytest.mark.parametrize(
    ("metric", "data"),
    [
        ("cityblock", None),
        ("mahalanobis", None),
        (lambda x, y: float(np.abs(x - y).max()), None),
        ("wasserstein", SERIES),
        ("gower", pd.DataFrame({"a": list("xyxyzzxyx"), "b": np.arange(9.0)}, index=list("ABCDEFGHI"))),
        ("russellrao", np.eye(9, 12)),  # in which an object is not at 0 from itself
    ],
)
def test_on_demand_is_the_table_of_the_metric(rng, metric, data):
    X = rng.standard_normal((9, 3)) if data is None else data
    D = np.asarray(Metric(metric).fit_transform(X))
    source = Metric(metric).on_demand(X)
    assert isinstance(source, Source)
    assert (source.n, source.dtype) == (9, np.float64)
    np.testing.assert_allclose(source.tile(slice(0, 9), slice(0, 9)), D, rtol=1e-15, atol=0)
    np.testing.assert_array_equal(
        source.tile(slice(2, 5), slice(3, 8)), source.tile(slice(0, 9), slice(0, 9))[2:5, 3:8]
    )
    np.testing.assert_array_equal(source.rows(np.array([7, 0])), source.tile(slice(0, 9), slice(0, 9))[[7, 0]])
    np.testing.assert_array_equal(source.tile(np.array([7, 0]), slice(3, 8)), source.rows(np.array([7, 0]))[:, 3:8])
    checked = check(source)
    assert checked.largest == D.max()
    assert (checked.labels is None) == (not hasattr(X, "index") or metric == "wasserstein")


def test_on_demand_says_what_cannot_be_compared():
    X = pd.DataFrame(np.array([[0, 0], [1, 0], [0, 0], [1, 1]]), index=list("abcd"))
    source = Metric("braycurtis", dtype="float32").on_demand(X)
    assert source.dtype == source.tile(slice(1, 2), slice(1, 4)).dtype == np.float32
    with pytest.raises(ValueError, match=r"metric='braycurtis' gives nan for object 'a' and object 'c'"):
        check(source)
