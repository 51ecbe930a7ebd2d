"""Dissimilarities that are read in parts: sources, memory maps, and few of very many pairs."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from unmask import ConditionalIsomap, ConditionalMDS, GeneralMDS, MissingDissimilarityWarning, inspection
from unmask.checking import check_dissimilarities
from unmask.checking._stored import StoredPairs
from unmask.discovery import Discovery
from unmask.dissimilarities import Geodesic, Metric
from unmask.kernels import Source, Workers


def check(data, **options):
    with Workers(1) as workers:
        return check_dissimilarities(data, **{"symmetrize": None, "workers": workers} | options)


# ---- sources


class Formula:
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
    assert (checked.missing, checked.labels, checked.asymmetry) == (0, None, 0.0)
    assert checked.largest == np.sqrt(699)
    assert source.largest_part <= 256 * 700
    with pytest.raises(ValueError, match="the scree plot needs all 700 x 700 dissimilarities at once"):
        checked.array_for("the scree plot")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda source, U: GeneralMDS(metric="precomputed").fit(source), "GeneralMDS needs all .* use ConditionalMDS"),
        (lambda source, U: ConditionalIsomap(metric="precomputed").fit(source), "Geodesic needs all 40 x 40"),
        (lambda source, U: Discovery(source), "a study needs all 40 x 40"),
        (
            lambda source, U: inspection.scree(ConditionalMDS(metric="precomputed"), source),
            "scree needs all 40 x 40",
        ),
        (inspection.neighbourhood_scores, "neighbourhood_scores needs all 40 x 40"),
        (lambda source, U: inspection.signal_to_noise(source, source), "signal_to_noise needs all 40 x 40"),
        (lambda source, U: inspection.compare(source), "compare needs all 40 x 40"),
    ],
)
def test_what_needs_all_dissimilarities_at_once_says_so(rng, use, message):
    with pytest.raises(ValueError, match=rf"{message}.*"):
        use(Formula(40), rng.standard_normal((40, 2)))


def changed(value, there, back=None):
    def change(i, j, values):
        values = np.where((i == there[0]) & (j == there[1]), value, values)
        return np.where((i == there[1]) & (j == there[0]), value if back is None else back, values)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(np.inf, (3, 400)), r"has inf for the pair \(object 3, object 400\)"),
        (
            changed(-1.0, (3, 400)),
            r"Negative values in data: dissimilarities has -1 for the pair \(object 3, object 400",
        ),
        (changed(2.0, (400, 400)), r"has 2 on the diagonal, for object 400"),
        (changed(5.0, (3, 400), 6.0), r"not symmetric: 5 and 6 for the pair \(object 3, object 400\)"),
        (changed(np.nan, (3, 400), 6.0), r"not symmetric: nan and 6 for the pair \(object 3, object 400\)"),
        (lambda i, j, values: values * 0, "all dissimilarities are zero"),
        (lambda i, j, values: np.where(i == j, 0, np.nan), "all 125250 pairs are missing"),
    ],
)
def test_what_is_wrong_with_a_source_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        check(Formula(501, change))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda source: ConditionalMDS().fit(source), "use metric='precomputed', or pass features"),
        (lambda source: ConditionalMDS(metric=Geodesic(5)).fit(source), "use metric='precomputed', or pass features"),
        (lambda source: Geodesic(5).fit(source), "use metric='precomputed', or pass features"),
        (lambda source: Metric().fit(source), "pass features to compare"),
        (
            lambda source: ConditionalMDS(metric="precomputed", n_init=1).fit(source).transform(source),
            "pass those of new objects to them as an array with one row per new object",
        ),
    ],
)
def test_a_source_in_the_wrong_place_is_refused_with_the_way_out(use, message):
    with pytest.raises(ValueError, match=f"X is a source, which shows .*; {message}"):
        use(Formula(30))


def test_a_source_that_lacks_something_is_refused():
    class Tiles:
        n, dtype, tile = 9, np.dtype(float), None

    half, short = Formula(9), Formula(9, labels=list("abc"))
    half.dtype = np.dtype(np.float16)
    for source, message in (
        (Tiles(), "the source of dissimilarities has no 'rows'; it must have n, dtype, tile and rows"),
        (half, "has dtype float16; it must be float64 or float32"),
        (short, "has 3 labels for n=9 objects"),
        (Formula(501, changed(5.0, (3, 400), 6.0)), "not symmetric: 5 and 6 .* or let the source average the two"),
    ):
        with pytest.raises(ValueError, match=message):
            check(source)
    assert check(Formula(3, labels=list("abc"))).labels.tolist() == ["a", "b", "c"]


def test_options_for_a_source():
    holes = Formula(400, changed(np.nan, (3, 300)), labels=pd.Index([f"o{i}" for i in range(400)]))
    with pytest.warns(MissingDissimilarityWarning, match="1 of 79800 pairs"):
        checked = check(holes)
    assert (checked.missing, checked.labels[3]) == (1, "o3")
    with pytest.raises(ValueError, match=r"2 cells of dissimilarities are missing .* and the closed form needs all"):
        check(holes, complete_for="the closed form")
    with pytest.raises(ValueError, match="symmetrize='mean' with dissimilarities that are read in parts"):
        check(Formula(10), symmetrize="mean")
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
    lopsided = D + np.triu(D)
    averaged = check(mapped(lopsided), symmetrize="mean").array_for("this")
    np.testing.assert_array_equal(averaged, (lopsided + lopsided.T) / 2)


def test_a_large_memory_map_that_would_have_to_be_copied_is_refused(mapped, rng, monkeypatch):
    monkeypatch.setattr("unmask.checking._dissimilarities.LARGE_COPY", 8 * 99)
    D = Metric().fit_transform(rng.standard_normal((20, 3)))
    assert check(mapped(D)).n == 20
    with pytest.raises(ValueError, match=r"memory map: symmetrize='mean' would copy it; pass numpy\.array\(X\)"):
        check(mapped(D), symmetrize="mean")
    with pytest.raises(ValueError, match="it holds int64 rather than float64 or float32"):
        check(mapped((10 * D).astype(np.int64)))
    with pytest.raises(ValueError, match="it is a part of a larger one"):
        check(mapped(D)[:10, :10])
    assert check(np.array(mapped(D)[:10, :10]), symmetrize="mean").n == 10


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
    D = Metric(metric).fit_transform(X)
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


# ---- few of very many pairs

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
@pytest.mark.filterwarnings("ignore::unmask.FewPairsWarning")
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
    monkeypatch.setattr("unmask.checking._stored.MANY_OBJECTS", 3)
    monkeypatch.setattr("unmask.checking._stored.FEW_PAIRS", 1.1)
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
        ConditionalIsomap(n_neighbors=5),
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
    monkeypatch.setattr("unmask.checking._stored.MANY_OBJECTS", 501)
    np.testing.assert_array_equal(listed, clone(estimator).fit(five_hundred).embedding_)


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
    averaged = check(wrong, symmetrize="mean")
    assert averaged.source.stored_pairs()[2][5] == pytest.approx((9 + d[5]) / 2, rel=1e-15)
    expected = 2 * (9 - d[5]) ** 2 / 4 / (2 * np.sum(d**2) - d[5] ** 2 + 81)
    assert averaged.asymmetry == pytest.approx(expected, rel=1e-12)
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
        monkeypatch.setattr("unmask.checking._stored.MANY_OBJECTS", 3)
        monkeypatch.setattr("unmask.checking._stored.FEW_PAIRS", 1.1)
        stored = check(data)
    assert isinstance(stored.source, StoredPairs)
    np.testing.assert_array_equal(stored.source.rows(np.arange(n)), square.array_for("this"))
    assert stored.source.dtype == square.array_for("this").dtype
    assert (stored.missing, stored.largest) == (square.missing, square.largest)
