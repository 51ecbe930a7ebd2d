"""Dissimilarities of features that are computed while pairs are passed over, against the table of the same metric."""

import time
import tracemalloc
import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tests.kernels import twins
from unmask import ConditionalClassicalMDS, ConditionalMDS, MissingDissimilarityWarning
from unmask.dissimilarities import Metric
from unmask.engines import make_engine
from unmask.kernels import ArraySource, Pairs, Weighting, Workers, features, placing

N = 1100  # five rows of tiles, the last of them short; two chunks
COMPILED = ["euclidean", "sqeuclidean", "cityblock", "cosine", "l2", "manhattan", "seuclidean", "mahalanobis"]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((N, 5)) + 2.0


def with_gaps(X):
    gaps = X.copy()
    gaps[np.random.default_rng(1).uniform(size=X.shape) < 0.3] = np.nan
    return gaps


@pytest.fixture
def large(monkeypatch):
    """Every table of a metric counts as large."""
    for name in ("LARGE", "LARGE_UNCOMPILED"):
        monkeypatch.setattr(f"unmask.dissimilarities._on_demand.{name}", 0)


# ---- the compiled comparison and its twin


@pytest.mark.parametrize("columns", [1, 4, 6])
@pytest.mark.parametrize("formula", list(features.Formula))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_compiled_comparison_is_the_plain_one(rng, columns, formula, dtype):
    rows, others = rng.standard_normal((30, columns)), rng.standard_normal((40, columns))
    rows, others = rows.astype(dtype), np.ascontiguousarray(others.T, dtype=dtype)
    found = features.Features(rows, others, formula).between(slice(0, 30), slice(3, 37))
    expected = twins.between(rows, others, 3, 37, formula)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 if dtype == np.float64 else 5e-6)


@pytest.mark.parametrize("columns", [1, 3, 4, 7, 8, 21])
@pytest.mark.parametrize("formula", ["euclidean", "sqeuclidean", "cityblock"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_are_compared_as_scipy_does(rng, columns, formula, dtype):
    X = rng.standard_normal((600, columns)).astype(dtype)
    compared = features.Features.of_rows(X, formula)
    expected = cdist(X, X, formula)
    tolerance = 1e-14 if dtype == np.float64 else 2e-6
    whole = compared.between(slice(0, 600), slice(0, 600))
    assert whole.dtype == dtype
    np.testing.assert_allclose(whole, expected, rtol=tolerance)
    part = compared.between(slice(3, 290), slice(250, 590))
    np.testing.assert_allclose(part, expected[3:290, 250:590], rtol=tolerance)
    which = np.array([599, 0, 0, 300])
    np.testing.assert_allclose(compared.between(which, slice(250, 590)), expected[which, 250:590], rtol=tolerance)
    desk = np.full((256, 700), -1.0)
    compared.fill(slice(0, 200), slice(300, 600), desk)
    np.testing.assert_allclose(desk[:200, :300], expected[:200, 300:], rtol=tolerance)
    assert (desk[200:] == -1).all()
    assert (desk[:, 300:] == -1).all()


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("params", [{}, {"w": [1.0, 2.0, 0.5, 1.0]}])
def test_cosines_of_nearly_parallel_rows_are_the_same_in_a_table(rng, offset, dtype, params):
    X = (rng.standard_normal((N, 4)) + offset).astype(dtype)
    cosine = Metric("cosine", metric_params=params)
    table, on_demand = cosine.fit_transform(X), cosine.on_demand(X)
    np.testing.assert_allclose(on_demand.tile(slice(0, N), slice(0, N)), table, rtol=1e-5)
    # By hand: half the squared sine of the angle, from what is across the first of two rows.
    x, y = (X[:2].astype(float) * np.sqrt(params.get("w", 1.0))).astype(np.longdouble)
    across = y - x * (x @ y) / (x @ x)
    expected = float(across @ across / (y @ y) / 2)
    assert table[0, 1] == pytest.approx(expected, rel=1e-3)


def test_cosines_of_nearly_parallel_rows_keep_their_digits(rng):
    X = 1.0 + 1e-6 * rng.standard_normal((N, 3))
    a, b = X[:1].astype(np.longdouble), X[1:].astype(np.longdouble)
    across = (
        np.linalg.norm(np.cross(a, b).astype(float), axis=1)
        / np.linalg.norm(a.astype(float))
        / np.linalg.norm(X[1:], axis=1)
    )
    exact = 2.0 * np.sin(np.arcsin(across) / 2.0) ** 2
    found = Metric("cosine").on_demand(X).tile(slice(0, 1), slice(1, N))[0]
    np.testing.assert_allclose(found, exact, rtol=1e-8)


# ---- one pass


def engines(source, D, weighting=Weighting.UNIT, W=None, threads=1):
    options = {} if W is None else {"W": W}
    floor = float(np.nanmin(D[D > 0])) / 4
    for given in (source, ArraySource(D)):
        pairs = Pairs(given, 0.25, weighting, floor=floor, **options)
        yield make_engine(pairs, Workers(threads))


@pytest.mark.parametrize("metric", [*COMPILED, "correlation", "chebyshev"])
@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON, Weighting.ARRAY])
def test_a_pass_is_that_of_the_table(X, metric, weighting):
    D = Metric(metric).fit_transform(X)
    source = Metric(metric).on_demand(X)
    W = np.random.default_rng(2).uniform(size=D.shape)
    W = W + W.T if weighting == Weighting.ARRAY else None
    fly, read = engines(source, D, weighting, W)
    Z = np.random.default_rng(3).standard_normal((N, 7))
    assert fly.total == pytest.approx(read.total, rel=1e-10)
    (stress, G), (expected, expected_G) = fly.stress(Z), read.stress(Z)
    assert stress == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-10 * np.abs(expected_G).max())
    np.testing.assert_allclose(fly.point_stress(Z), read.point_stress(Z), rtol=1e-10)
    product, expected = (engine.graph.squared_product(Z, np.empty((N, 0)), 0.0) for engine in (fly, read))
    np.testing.assert_allclose(product, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("metric", ["nan_euclidean", "gower"])
def test_missing_cells_are_passed_over_by_blocks(X, metric):
    gaps = with_gaps(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingDissimilarityWarning)
        D = Metric(metric).fit_transform(gaps)
    assert np.isnan(D).any()
    fly, read = engines(Metric(metric).on_demand(gaps), D, Weighting.MASKED)
    Z = np.random.default_rng(3).standard_normal((N, 2))
    assert fly.stress(Z)[0] == pytest.approx(read.stress(Z)[0], rel=1e-10)
    np.testing.assert_allclose(fly.stress(Z)[1], read.stress(Z)[1], rtol=0, atol=1e-10 * N)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_single_precision(X, metric):
    single = X.astype(np.float32)
    D = Metric(metric, dtype="float32").fit_transform(single)
    source = Metric(metric, dtype="float32").on_demand(single)
    assert source.tile(slice(0, 3), slice(0, N)).dtype == np.float32
    fly, read = engines(source, D)
    Z = np.random.default_rng(3).standard_normal((N, 3))
    assert fly.stress(Z)[0] == pytest.approx(read.stress(Z)[0], rel=1e-6)
    np.testing.assert_allclose(fly.stress(Z)[1], read.stress(Z)[1], rtol=0, atol=1e-5 * N)


def test_double_features_are_compared_in_double_also_for_a_single_result(X):
    far = X + 1e6  # of which single precision would leave one digit
    D = Metric(dtype="float32").fit_transform(far)
    np.testing.assert_array_equal(Metric(dtype="float32").on_demand(far).tile(slice(0, N), slice(0, N)), D)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
def test_threads_change_nothing(X, metric):
    source = Metric(metric).on_demand(X)
    Z = np.random.default_rng(3).standard_normal((N, 2))
    found = []
    for threads in (1, 2, 3):
        with Workers(threads) as workers:
            engine = make_engine(Pairs(source, 0.25), workers)
            found.append((*engine.stress(Z), engine.point_stress(Z), engine.total))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_function_is_called_by_one_thread_at_a_time(rng):
    inside = []

    def metric(a, b):
        inside.append(1)
        time.sleep(0)  # lets another thread in
        most = len(inside)
        value = float(np.abs(a - b).sum())
        inside.pop()
        assert most == 1
        return value

    X = rng.standard_normal((60, 2))
    source = Metric(metric).on_demand(X)
    parts = [None] * 6

    def read(at):
        parts[at] = source.tile(slice(10 * at, 10 * at + 10), slice(0, 60))

    with Workers(3) as workers:
        workers.run(read, 6)
    np.testing.assert_allclose(np.concatenate(parts), cdist(X, X, "cityblock"), rtol=1e-14)


# ---- estimators


def fit_both(mds, X, monkeypatch, **data):
    """Return a fit that makes the table, and one that computes it in every pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        made = clone(mds).fit(X, **data)
        for name in ("LARGE", "LARGE_UNCOMPILED"):
            monkeypatch.setattr(f"unmask.dissimilarities._on_demand.{name}", 0)
        monkeypatch.setattr("unmask.dissimilarities.Metric._square", None)  # no table is made
        return made, clone(mds).fit(X, **data)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "sqeuclidean", "cityblock", "canberra"])
@pytest.mark.parametrize("weights", [None, "sammon"])
def test_a_fit_that_makes_no_table_is_the_fit_of_the_table(X, monkeypatch, metric, weights):
    mds = ConditionalMDS(2, metric=metric, weights=weights, n_init=1, max_iter=12, random_state=0)
    made, fly = fit_both(mds, X, monkeypatch, known=X[:, :1])
    assert fly.stress_ == pytest.approx(made.stress_, rel=1e-10)
    np.testing.assert_allclose(fly.stress_path_, made.stress_path_, rtol=1e-10)
    np.testing.assert_allclose(fly.embedding_, made.embedding_, rtol=0, atol=1e-8 * np.abs(made.embedding_).max())
    np.testing.assert_allclose(fly.coef_, made.coef_, rtol=1e-8)
    np.testing.assert_allclose(fly.stress_per_point_, made.stress_per_point_, rtol=1e-8)
    np.testing.assert_allclose(
        fly.transform(X[:3], known=X[:3, :1]), made.transform(X[:3], known=X[:3, :1]), rtol=0, atol=1e-6
    )


def test_the_closed_form_makes_no_table(X, monkeypatch):
    made, fly = fit_both(ConditionalClassicalMDS(2), X, monkeypatch, known=X[:, :1])
    assert fly.stress_ == pytest.approx(made.stress_, rel=1e-10)
    np.testing.assert_allclose(fly.embedding_, made.embedding_, rtol=0, atol=1e-10 * np.abs(made.embedding_).max())


def test_labels_names_and_types_are_as_ever(X, monkeypatch):
    frame = pd.DataFrame(X[:60].astype(np.float32), columns=list("abcde"), index=[f"o{i // 2}" for i in range(60)])
    mds = ConditionalMDS(2, n_init=1, random_state=0).set_output(transform="pandas")
    made, fly = fit_both(mds, frame, monkeypatch)
    assert list(fly.feature_names_in_) == list(made.feature_names_in_) == list("abcde")
    assert list(fly.stress_per_point_.index) == list(frame.index)
    assert fly.embedding_.dtype == np.float32
    np.testing.assert_array_equal(fly.embedding_, made.embedding_)


@pytest.mark.usefixtures("large")
def test_pairs_without_a_common_cell_are_said_once(X):
    mds = ConditionalMDS(2, metric="nan_euclidean", n_init=1, max_iter=3, tol=0.5, random_state=0)
    with pytest.warns(MissingDissimilarityWarning, match=r"of 19900 pairs have no dissimilarity") as heard:
        mds.fit(with_gaps(X[:200]))
    assert sum(issubclass(warning.category, MissingDissimilarityWarning) for warning in heard) == 1


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "options",
    [
        {"metric": Metric("euclidean")},
        {"level": "ordinal"},
        {"weights": "curvilinear"},
        {"solver": "smacof"},
    ],
)
def test_what_needs_the_table_still_makes_it(X, monkeypatch, options):
    made = []
    square = Metric._square
    monkeypatch.setattr(Metric, "_square", lambda self, source: made.append(source.n) or square(self, source))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ConditionalMDS(2, n_init=1, max_iter=3, random_state=0, **options).fit(X[:50])
    assert made == [50]


def test_a_table_is_large_by_its_memory(monkeypatch):
    X = np.zeros((100, 2))
    for metric, name in (("euclidean", "LARGE"), ("canberra", "LARGE_UNCOMPILED")):
        for dtype, bytes_each in (("float64", 8), ("float32", 4)):
            source = Metric(metric, dtype=dtype).on_demand(X)
            monkeypatch.setattr(f"unmask.dissimilarities._on_demand.{name}", 100**2 * bytes_each)
            assert not source.is_large
            monkeypatch.setattr(f"unmask.dissimilarities._on_demand.{name}", 100**2 * bytes_each - 1)
            assert source.is_large


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("metric", ["euclidean", "correlation"])
def test_memory_grows_with_the_number_of_objects(rng, metric):
    X = rng.standard_normal((4000, 6))
    mds = ConditionalMDS(2, metric=metric, n_init=1, max_iter=2, n_jobs=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clone(mds).fit(X[:1200])  # compiling takes memory too
        tracemalloc.start()
        mds.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 0.2 * 4000**2 * 8


@pytest.mark.usefixtures("large")
def test_what_cannot_be_compared_is_named():
    X = pd.DataFrame(np.array([[0, 0], [1, 0], [0, 0], [1, 1]]), index=list("abcd"))
    with pytest.raises(ValueError, match=r"metric='braycurtis' gives nan for object 'a' and object 'c'"):
        ConditionalMDS(metric="braycurtis").fit(X)
    with pytest.raises(ValueError, match=r"X has 1e\+200 among its features, too large"):
        ConditionalMDS().fit(np.where(np.eye(N, 3), 1e200, 0.0))


# ---- new objects


@pytest.mark.parametrize("metric", ["euclidean", "nan_euclidean", Metric("cityblock"), "precomputed"])
def test_new_objects_are_placed_some_at_a_time(X, monkeypatch, metric):
    fitted, new, known = X[:80].copy(), X[80:130].copy(), X[:, :1]
    if metric == "nan_euclidean":
        new[:, 0] = np.nan
        new[40, 1:], fitted[5, 0] = np.nan, np.nan
        new[40, 0] = 1.0  # which it shares with all but one
    if metric == "precomputed":
        fitted, new = cdist(fitted, fitted), cdist(new, fitted)
    mds = ConditionalMDS(2, metric=metric, n_init=1, random_state=0).fit(fitted, known=known[:80])
    largest = []
    place = placing.place

    def watch(delta, *args):
        largest.append(len(delta))
        return place(delta, *args)

    monkeypatch.setattr(placing, "place", watch)

    def said():
        if metric == "nan_euclidean":
            return pytest.warns(MissingDissimilarityWarning, match="1 of 4000 pairs")
        return nullcontext()

    with said():
        whole = mds.transform(new, known=known[80:130])
    monkeypatch.setattr("unmask.kernels._sources.MOST_CELLS", 7 * 80)
    with said():
        some = mds.transform(new, known=known[80:130])
    assert largest == [50] + 7 * [7] + [1]
    np.testing.assert_array_equal(some, whole)
    assert mds.score(new[:9], known=known[80:89]) > 0


def test_new_objects_are_named_by_their_number_whatever_part_they_are_in(X, monkeypatch):
    monkeypatch.setattr("unmask.kernels._sources.MOST_CELLS", 7 * 80)
    new = X[80:130].copy()
    new[33] = np.nan
    mds = ConditionalMDS(2, metric="nan_euclidean", n_init=1, random_state=0).fit(X[:80])
    with pytest.raises(ValueError, match="new object 33 has no dissimilarity to any fitted object"):
        mds.transform(new)
    mds = ConditionalMDS(2, metric="braycurtis", n_init=1, random_state=0).fit(
        np.abs(X[:80]) * (np.arange(80) > 0)[:, None]
    )
    new = np.abs(X[80:130])
    new[33] = 0.0
    with pytest.raises(ValueError, match="gives nan for new object 33 and object 0"):
        mds.transform(new)


def test_memory_of_new_objects_grows_with_the_fitted_ones(rng):
    X = rng.standard_normal((2000, 4))
    mds = ConditionalMDS(2, n_init=1, tol=1e-3, random_state=0).fit(X)
    mds.transform(X[:3])
    new = rng.standard_normal((20_000, 4))
    tracemalloc.start()
    mds.transform(new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.15 * 20_000 * 2000 * 8
