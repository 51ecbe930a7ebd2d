"""Few of very many pairs: kept as they are stored, and checked as their square would be."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from unmask import ConditionalIsomap, ConditionalMDS, GeneralMDS, MissingDissimilarityWarning
from unmask.checking import check_dissimilarities
from unmask.checking._sources import StoredPairs
from unmask.dissimilarities import Metric
from unmask.kernels import Workers


def check(data, **options):
    with Workers(1) as workers:
        return check_dissimilarities(data, **{"workers": workers} | options)


N, M = 20_000, 200_000


@pytest.fixture(scope="module")
def few():
    rng = np.random.default_rng(0)
    i, j = rng.integers(N, size=(2, M))
    i, j = np.concatenate([i, np.arange(N - 1)]), np.concatenate([j, np.arange(1, N)])  # all connected
    keys = np.unique(np.minimum(i, j)[i != j] * N + np.maximum(i, j)[i != j])
    return keys // N, keys % N, rng.uniform(1.0, 2.0, len(keys)).round(3)


def as_sparse(i, j, d):
    return sp.coo_array((d, (i, j)), shape=(N, N))


def as_long(i, j, d):
    # Objects are numbered in the order in which they appear: here, as they are.
    table = pd.DataFrame({"one": i, "other": j, "d": d}).sort_values(["one", "other"])
    return pd.concat([pd.DataFrame({"one": np.arange(N), "other": np.arange(N), "d": 0.0}), table])


@pytest.mark.parametrize("make", [as_sparse, as_long, lambda i, j, d: as_sparse(i, j, d) + as_sparse(j, i, d)])
@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_few_of_very_many_pairs_are_not_blown_up_to_a_square(few, make):
    i, j, d = few
    data = make(i, j, d)
    tracemalloc.start()
    checked = check(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.05 * N**2 * 8
    assert checked.missing == N * (N - 1) // 2 - len(d)
    assert checked.largest == d.max()
    rows, columns, delta = checked.source.stored_pairs()
    np.testing.assert_array_equal(rows, i)
    np.testing.assert_array_equal(columns, j)
    np.testing.assert_array_equal(delta, d)
    strip = checked.source.tile(slice(0, 3), slice(0, N))
    np.testing.assert_array_equal(strip, checked.source.rows(np.arange(3)))
    np.testing.assert_array_equal(checked.source.tile(np.array([2, 0]), slice(0, 9)), strip[[2, 0], :9])
    assert np.count_nonzero(~np.isnan(strip)) == 3 + np.sum(i < 3) + np.sum(j < 3)
    assert list(np.diagonal(strip)) == [0, 0, 0]


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::unmask.MapWarning")
def test_a_map_of_few_of_very_many_pairs_takes_little_memory(few):
    i, j, _ = few
    places = np.random.default_rng(1).standard_normal((N, 2))
    data = as_sparse(i, j, np.linalg.norm(places[i] - places[j], axis=1))
    mds = ConditionalMDS(2, metric="precomputed", n_init=1, max_iter=2, random_state=0)
    tracemalloc.start()
    mds.fit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * N**2 * 8
    assert 0 < mds.stress_ < 0.5


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_a_map_of_few_pairs_is_that_of_their_square(rng, monkeypatch):
    X = rng.standard_normal((40, 3))
    D = Metric().fit_transform(X)
    near = sp.coo_array(np.triu(np.where(np.quantile(D, 0.8) > D, D, 0.0)))
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0)
    square = clone(mds).fit(near, known=X[:, 0])
    monkeypatch.setattr("unmask.checking._sources.MANY_OBJECTS", 3)
    monkeypatch.setattr("unmask.checking._sources.FEW_PAIRS", 1.1)
    stored = clone(mds).fit(near + near.T, known=X[:, 0])
    assert stored.stress_ == pytest.approx(square.stress_, rel=1e-6)
    new = np.where(np.quantile(D, 0.8) > D, D, np.nan)
    np.testing.assert_array_equal(stored.transform(new, known=X[:, 0]), stored.embedding_)


@pytest.fixture
def five_hundred():
    """Sums along a ring of 500 objects, each with its five next ones: few pairs, kept as a list."""
    n = 500
    i, step = np.repeat(np.arange(n), 5), np.tile(np.arange(1, 6), n)
    chords = np.sin(np.pi * step / n) * (1 + 0.1 * np.cos(i))
    return sp.coo_array((chords, (np.minimum(i, (i + step) % n), np.maximum(i, (i + step) % n))), shape=(n, n))


@pytest.mark.parametrize(
    "estimator",
    [
        ConditionalMDS(level="interval"),
        ConditionalMDS(level="ordinal"),
        ConditionalMDS(weights="curvilinear"),
        GeneralMDS(),
    ],
)
@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_needs_the_square_of_few_pairs_makes_it(five_hundred, monkeypatch, estimator):
    estimator.set_params(metric="precomputed", n_init=1, max_iter=2, random_state=0)
    assert isinstance(check(five_hundred).source, StoredPairs)
    listed = clone(estimator).fit(five_hundred).embedding_
    monkeypatch.setattr("unmask.kernels._sources.MOST_SQUARED", 499)
    with pytest.raises(ValueError, match=r"needs all 500 x 500 .* read in parts; pass them as an array .*, or "):
        clone(estimator).fit(five_hundred)
    monkeypatch.setattr("unmask.checking._sources.MANY_OBJECTS", 501)
    squared = clone(estimator).fit(five_hundred).embedding_
    np.testing.assert_allclose(listed, squared, rtol=1e-9, atol=1e-15)  # sums may differ in the last bit


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_graph_of_few_pairs_is_not_brought_into_a_square(five_hundred, monkeypatch):
    isomap = ConditionalIsomap(5, metric="precomputed", n_init=1, max_iter=2, random_state=0)
    monkeypatch.setattr("unmask.kernels._sources.MOST_SQUARED", 499)
    listed = clone(isomap).fit(five_hundred).embedding_
    monkeypatch.setattr("unmask.checking._sources.MANY_OBJECTS", 501)
    np.testing.assert_array_equal(listed, clone(isomap).fit(five_hundred).embedding_)


def test_small_tables_and_full_ones_are_squares_as_ever(few):
    i, j, d = few
    small = (i < 300) & (j < 300)
    with pytest.warns(MissingDissimilarityWarning):
        checked = check(sp.coo_array((d[small], (i[small], j[small])), shape=(300, 300)))
    assert checked.array_for("this").shape == (300, 300)


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_few_pairs_are_checked_as_a_square_would_be(few):
    i, j, d = few
    both = as_sparse(i, j, d) + as_sparse(j, i, d)
    wrong = both.tolil()
    wrong[i[5], j[5]] = 9.0
    with pytest.raises(ValueError, match=rf"not symmetric: 9 and {d[5]:g} for the pair \(object {i[5]}, object {j[5]}"):
        check(wrong)
    with pytest.raises(ValueError, match=rf"has -1 for the pair \(object {i[5]}, object {j[5]}\)"):
        check(as_sparse(i, j, np.where(np.arange(len(d)) == 5, -1.0, d)))
    with pytest.raises(ValueError, match="has 3 on the diagonal, for object 7"):
        check(as_sparse(np.r_[i, 7], np.r_[j, 7], np.r_[d, 3.0]))
    lopsided = as_long(np.r_[i, j[5]], np.r_[j, i[5]], np.r_[d, 9.0])
    with pytest.raises(ValueError, match=f"not symmetric: {d[5]:g} and 9"):
        check(lopsided)
    with pytest.raises(ValueError, match=rf"names the pair \({i[5]}, {j[5]}\) 2 times"):
        check(as_long(np.r_[i, i[5]], np.r_[j, j[5]], np.r_[d, 9.0]))
    with pytest.raises(ValueError, match="cells of dissimilarities are missing"):
        check(both, complete_for="the closed form")


@pytest.mark.parametrize("form", ["triangle", "both", "long"])
def test_few_pairs_say_what_their_square_says(rng, monkeypatch, form):
    # Stored zeros, stored NaN and single precision included.
    n = 12
    i, j = np.triu_indices(n, 1)
    chosen = rng.random(len(i)) < 0.4
    i, j = i[chosen], j[chosen]
    d = rng.integers(0, 3, len(i)).astype(np.float32)
    d[3] = np.nan
    if form == "long":
        data = pd.DataFrame(
            {"one": np.r_[np.arange(n), i], "other": np.r_[np.arange(n), j], "d": np.r_[np.zeros(n), d]}
        )
    else:
        ends = (i, j) if form == "triangle" else (np.r_[i, j], np.r_[j, i])
        data = sp.coo_array((d if form == "triangle" else np.r_[d, d], ends), shape=(n, n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingDissimilarityWarning)
        square = check(data)
        monkeypatch.setattr("unmask.checking._sources.MANY_OBJECTS", 3)
        monkeypatch.setattr("unmask.checking._sources.FEW_PAIRS", 1.1)
        stored = check(data)
    assert isinstance(stored.source, StoredPairs)
    np.testing.assert_array_equal(stored.source.rows(np.arange(n)), square.array_for("this"))
    assert stored.source.dtype == square.array_for("this").dtype
    assert (stored.missing, stored.largest) == (square.missing, square.largest)
