"""Metric: scikit-learn's conventions, agreement with scipy and scikit-learn, tiles, memory, errors."""

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import scipy.spatial.distance
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import _VALID_METRICS, haversine_distances, nan_euclidean_distances

from unmask import MissingDissimilarityWarning
from unmask.dissimilarities import Metric, make_transformer

PRESENCE = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
# What scipy names in public: functions of two vectors. The first of these compares sets of points; newer versions do
# without the others.
OTHERS = ("directed_hausdorff", "kulczynski1", "sokalmichener")
SCIPY = [
    name
    for name in scipy.spatial.distance.__all__
    if list(inspect.signature(getattr(scipy.spatial.distance, name)).parameters)[:2] in (["u", "v"], ["p", "q"])
    and name not in OTHERS
]


def city(x, y, scale=1.0):
    return scale * np.abs(x - y).sum()


def features(rng, metric, n=40, columns=5):
    if metric not in PRESENCE:
        return rng.random((n, columns)) + 0.01
    X = rng.integers(0, 2, (n, columns))
    X[~X.any(axis=1), 0] = 1
    return X


def wide(X):
    """Return a sparse array with 64-bit indices."""
    sparse = scipy.sparse.csr_array(X)
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    return sparse


# Metrics that are not defined for rows of zeros (cosine, Bray-Curtis …) refuse the checks' data, as they should.
def test_scipy_has_not_grown():
    assert {"braycurtis", "jensenshannon", "mahalanobis", "yule"} < set(SCIPY)
    for name in {*SCIPY, *_VALID_METRICS} - {"wminkowski"}:  # which scipy no longer has
        make_transformer(name)  # raises if the name is not known


@pytest.mark.parametrize("metric", SCIPY)
def test_metrics_of_scipy(rng, metric):
    X, new = features(rng, metric), features(rng, metric, 7)
    X[:, 1] *= 1 if metric in PRESENCE else 100  # columns that differ in scale, which some metrics undo
    inputs = (X.astype(bool), new.astype(bool)) if metric in PRESENCE else (X, new)
    params = {"mahalanobis": {"VI": np.linalg.inv(np.cov(X.T))}, "seuclidean": {"V": X.var(axis=0, ddof=1)}}.get(
        metric, {}
    )
    mine = Metric(metric).fit(X)
    expected = cdist(inputs[0], inputs[0], metric, **params)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(mine.dissimilarities_, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(mine.transform(new), cdist(inputs[1], inputs[0], metric, **params), rtol=1e-10, atol=0)
    if metric not in PRESENCE and metric != "jensenshannon":
        one_by_one = getattr(scipy.spatial.distance, metric)
        more = {"mahalanobis": params.get("VI"), "seuclidean": params.get("V")}.get(metric)
        by_hand = one_by_one(X[3], X[8]) if more is None else one_by_one(X[3], X[8], more)
        np.testing.assert_allclose(mine.dissimilarities_[3, 8], by_hand, rtol=1e-10, atol=0)


@pytest.mark.parametrize(
    "metric", ["l1", "l2", "manhattan", "cosine", "euclidean", "cityblock", "hamming", "correlation"]
)
def test_metrics_of_scikit_learn(rng, metric):
    X = features(rng, metric)
    expected = pairwise_distances(X, metric=metric)
    np.testing.assert_allclose(Metric(metric).fit_transform(X), expected, rtol=1e-7, atol=1e-7)


def test_other_names_are_the_same_metrics(rng):
    X, present = rng.random((20, 4)), rng.integers(0, 2, (20, 6))
    for other, name in {"infinity": "chebyshev", "p": "minkowski", "matching": "hamming"}.items():
        np.testing.assert_array_equal(Metric(other).fit_transform(X), Metric(name).fit_transform(X))
    michener = 2 * np.array([[np.mean(x != y) for y in present] for x in present])  # 2R / (S + 2R)
    michener /= 1 + michener / 2
    np.testing.assert_allclose(Metric("sokalmichener").fit_transform(present), michener, rtol=1e-12, atol=1e-15)


def test_jensen_shannon_of_nearly_equal_shares_is_zero_and_not_nan(rng):
    X = rng.random(30) * (1 + 1e-9 * rng.standard_normal((50, 30)))
    # Of which scipy 1.17 says NaN: the root of a rounding error below 0.
    np.testing.assert_allclose(Metric("jensenshannon").fit_transform(X), 0, rtol=0, atol=1e-7)
    huge = Metric("jensenshannon").fit_transform([[1e308, 1e308], [1.0, 3.0]])
    np.testing.assert_allclose(huge, Metric("jensenshannon").fit_transform([[1, 1], [1, 3]]), rtol=1e-14, atol=0)


def test_hellinger_is_the_root_of_one_less_the_overlap(rng):
    X = rng.random((20, 5))
    shares = X / X.sum(axis=1, keepdims=True)
    overlap = np.sqrt(shares) @ np.sqrt(shares).T
    D = Metric("hellinger").fit_transform(X)
    np.testing.assert_allclose(D, np.sqrt(np.maximum(1 - overlap, 0)), rtol=0, atol=1e-7)
    assert Metric("hellinger").fit_transform([[1, 0], [0, 1e300]])[0, 1] == pytest.approx(1, rel=1e-14)
    with pytest.raises(ValueError, match="metric='hellinger' is not defined for object 1 of X: it is all zeros"):
        Metric("hellinger").fit([[1, 2], [0, 0]])


def test_haversine(rng):
    places = np.radians(rng.uniform([-90, -180], [90, 180], (30, 2)))
    fitted = Metric("haversine").fit(places)
    np.testing.assert_allclose(fitted.dissimilarities_, haversine_distances(places), rtol=1e-7, atol=1e-12)
    # From the pole to the equator is a quarter of a great circle.
    quarter = Metric("haversine").fit_transform([[np.pi / 2, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(quarter[0, 1], np.pi / 2, rtol=1e-12, atol=0)
    with pytest.raises(ValueError, match=r"X holds 52 \(object 1, column 0\), .* numpy.radians\(X\) if these"):
        Metric("haversine").fit([[0.1, 0.2], [52.0, 1.0]])
    with pytest.raises(ValueError, match="X has 3 columns, but metric='haversine' takes two"):
        Metric("haversine").fit(rng.random((4, 3)))


def test_missing_cells_of_numbers(rng):
    X = rng.standard_normal((30, 5))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[3], X[9] = [1, np.nan, np.nan, np.nan, np.nan], [np.nan, 1, np.nan, np.nan, np.nan]
    with pytest.warns(MissingDissimilarityWarning, match=r"of 435 pairs have no dissimilarity \(NaN\)") as caught:
        D = Metric("nan_euclidean").fit_transform(X)
    assert int(str(caught[0].message).split()[0]) == np.isnan(D[np.triu_indices(30, 1)]).sum() > 0
    assert np.isnan(D[3, 9])
    np.testing.assert_allclose(D, nan_euclidean_distances(X), rtol=1e-6, atol=1e-7)
    # By hand: two of three columns are shared, 9 + 16 = 25, times 3/2.
    by_hand = Metric("nan_euclidean").fit_transform([[0, 0, np.nan], [3, 4, 5]])
    np.testing.assert_allclose(by_hand[0, 1], np.sqrt(37.5), rtol=1e-14, atol=0)


def test_parameters_come_from_the_fitted_objects_and_not_from_a_tile(rng):
    X = rng.random((530, 3)) * [1, 10, 100]  # more than a tile
    X[:30] += [5, 0, 0]  # rows 0 to 29 alone have other variances than all rows
    for metric, scipys in [
        ("seuclidean", {"V": X.var(axis=0, ddof=1)}),
        ("mahalanobis", {"VI": np.linalg.inv(np.cov(X.T))}),
    ]:
        D = Metric(metric).fit(X).dissimilarities_
        np.testing.assert_allclose(D, cdist(X, X, metric, **scipys), rtol=1e-10, atol=1e-12)
        given = Metric(metric, metric_params=scipys).fit(X[:30])
        np.testing.assert_allclose(given.dissimilarities_, D[:30, :30], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(given.transform(X[30:]), D[30:, :30], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis", "cosine"])
def test_result_does_not_depend_on_the_order_in_memory(rng, metric):
    X = rng.normal(size=(40, 5)) + 100.0
    by_rows, by_columns = (
        Metric(metric).fit_transform(order(X)) for order in (np.ascontiguousarray, np.asfortranarray)
    )
    np.testing.assert_array_equal(by_rows, by_columns)


def test_a_large_offset_does_no_harm(rng):
    X = rng.integers(0, 8, (30, 3)).astype(float)
    for metric in ("euclidean", "seuclidean", "mahalanobis", "nan_euclidean"):
        np.testing.assert_allclose(
            Metric(metric).fit_transform(X + 2.0**40), Metric(metric).fit_transform(X), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("minkowski", {"p": 3}),
        ("minkowski", {"p": 1.5, "w": [1, 2, 3, 4, 0]}),
        ("euclidean", {"w": [1, 2, 3, 4, 0]}),
        ("braycurtis", {"w": (1, 2, 3, 4, 0)}),
    ],
)
def test_further_arguments(rng, metric, params):
    X = features(rng, metric)
    before = repr(params)
    D = Metric(metric, metric_params=params).fit_transform(X)
    np.testing.assert_allclose(D, cdist(X, X, metric, **params), rtol=1e-12, atol=1e-7)
    assert repr(params) == before


def test_functions(rng):
    X = pd.DataFrame(rng.random((150, 4)))  # several tiles
    fitted = Metric(city, metric_params={"scale": 2.0}).fit(X)
    np.testing.assert_allclose(fitted.dissimilarities_, 2 * cdist(X, X, "cityblock"), rtol=1e-13, atol=0)
    np.testing.assert_allclose(fitted.transform(X[:3]), 2 * cdist(X[:3], X, "cityblock"), rtol=1e-13, atol=0)
    with pytest.raises(ValueError, match=r"gives 1 for object 'a' and object 'b' but -1 the other way round"):
        Metric(lambda x, y: y[0] - x[0]).fit(pd.DataFrame({"x": [0.0, 1.0, 3.0]}, index=list("abc")))
    with pytest.raises(ValueError, match=r"metric='dot' gives 9 for object 2 and itself; it must be 0"):
        Metric(np.dot).fit([[0.0], [1.0], [3.0]])
    with pytest.raises(ValueError, match="gives -1 for object 0 and object 1; a dissimilarity must be at least 0"):
        Metric(lambda x, y: -abs(x[0] - y[0])).fit([[0.0], [1.0], [3.0]])


# ---- tiles


@pytest.mark.parametrize(
    "metric",
    ["euclidean", "braycurtis", "mahalanobis", "nan_euclidean", "gower", "wasserstein", "jaccard", "dtw", city],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_result_depends_neither_on_threads_nor_on_tiles(rng, metric, dtype):
    X = features(rng, metric, 140 if metric in ("dtw", city) else 530)  # more than a tile
    D = Metric(metric, dtype=dtype, n_jobs=1).fit(X).dissimilarities_
    new = features(rng, metric, 19)
    for n_jobs in (2, 3, None):
        fitted = Metric(metric, dtype=dtype, n_jobs=n_jobs).fit(X)
        np.testing.assert_array_equal(fitted.dissimilarities_, D)
        assert fitted.dissimilarities_.dtype == fitted.transform(new).dtype == dtype
    shifted, others = fitted.transform(X[5:]), ~np.eye(len(X), dtype=bool)[5:]  # tiles begin at other pairs
    np.testing.assert_allclose(shifted[others], D[5:][others], rtol=1e-12 if dtype == "float64" else 1e-6, atol=1e-12)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any()


def test_a_fit_holds_nothing_else_of_the_size_of_its_result():
    program = """
import tracemalloc
import numpy as np
from unmask.dissimilarities import Metric

X = np.random.default_rng(0).random((3000, 10))
for metric in ("euclidean", "braycurtis", "gower", "mahalanobis"):
    Metric(metric, dtype="float32", n_jobs=2).fit(X[:600])  # what is imported on the way does not count
    tracemalloc.start()
    D = Metric(metric, dtype="float32", n_jobs=2).fit(X).dissimilarities_
    print(tracemalloc.get_traced_memory()[1] - D.nbytes)
    tracemalloc.stop()
"""
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    extra = [int(line) for line in printed.split()]
    assert len(extra) == 4
    # D takes 36 MB, in float64 72 MB. Two threads hold a few tiles of 2 MB each, and the features are 0.2 MB.
    assert max(extra) < 18e6


# ---- conventions


def test_the_input_is_left_alone_and_the_fit_can_be_stored(rng):
    X = rng.random((20, 3)).astype(np.float32)
    before = X.copy()
    for metric in ("mahalanobis", "aitchison", "wasserstein", "wasserstein_histogram", "gower", "jensenshannon"):
        fitted = Metric(metric).fit(X)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.transform(X[:4]), fitted.transform(X[:4]))
        np.testing.assert_array_equal(X, before)


def test_polars(rng):
    X = rng.random((10, 3))
    np.testing.assert_array_equal(Metric().fit_transform(pl.DataFrame(X)), Metric().fit_transform(X))


@pytest.mark.parametrize("metric", ["euclidean", "l1", "cosine"])
@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, wide])
def test_sparse_tables(rng, metric, container):
    X = rng.poisson(0.5, (40, 8)) + np.eye(40, 8)
    X[8:, 0] += 1
    dense = Metric(metric).fit(X)
    sparse = Metric(metric).fit(container(X))
    np.testing.assert_allclose(sparse.dissimilarities_, dense.dissimilarities_, rtol=1e-10, atol=1e-7)
    np.testing.assert_allclose(sparse.transform(container(X[:5])), dense.transform(X[:5]), rtol=1e-10, atol=1e-7)
    np.testing.assert_allclose(sparse.transform(X[:5]), dense.transform(X[:5]), rtol=1e-10, atol=1e-7)


def test_sparse_tables_are_refused_where_they_are_not_understood(rng):
    X = scipy.sparse.csr_array(np.eye(4))
    with pytest.raises(TypeError, match=r"Use '.toarray\(\)'"):
        Metric("braycurtis").fit(X)
    with pytest.raises(ValueError, match=r"metric_params=\{'w'.* cannot be used with a sparse X; .* X.toarray\(\)"):
        Metric("euclidean", metric_params={"w": np.ones(4)}).fit(X)
    with pytest.raises(ValueError, match=r"metric='cosine' is not defined for object 1 of X: it is all zeros"):
        Metric("cosine").fit(scipy.sparse.csr_array([[1, -1], [0, 0], [1, 2]]))


# ---- errors


@pytest.mark.parametrize("metric", PRESENCE)
def test_amounts_are_no_presence(metric):
    sites = pd.DataFrame({"oak": [1, 0, 1], "fern": [0, 3, 1]}, index=["hill", "slope", "dell"])
    with pytest.raises(ValueError, match=r"X holds 3 \(object 'slope', column 'fern'\), .* pass X > 0 .*'braycurtis'"):
        Metric(metric).fit(sites)
    np.testing.assert_array_equal(
        Metric(metric).fit_transform(sites > 0), Metric(metric).fit_transform(sites.clip(0, 1))
    )


@pytest.mark.parametrize("metric", ["braycurtis", "dice", "sokalsneath"])
def test_two_empty_objects_cannot_be_compared(metric):
    sites = pd.DataFrame([[0, 0], [1, 0], [0, 0]], columns=["oak", "fern"], index=["hill", "slope", "dell"])
    with pytest.raises(ValueError, match=f"metric='{metric}' gives nan for object 'hill' and object 'dell'; two"):
        Metric(metric).fit(sites)
    one = Metric(metric).fit(sites.iloc[:2])
    assert one.dissimilarities_[0, 1] == 1
    with pytest.raises(ValueError, match="gives nan for new object 'dell' and object 'hill'"):
        one.transform(sites.iloc[2:])


def test_numbers_too_large(rng):
    X = np.array([[0.0], [1e25]])
    with pytest.raises(ValueError, match="gives inf for object 0 and object 1; too large for dtype='float32'"):
        Metric("sqeuclidean", dtype="float32").fit(X)
    np.testing.assert_allclose(Metric("sqeuclidean").fit_transform(X)[0, 1], 1e50, rtol=1e-15, atol=0)
    with pytest.raises(ValueError, match=r"gives inf for object 0 and object 1; X has 1e\+175 among its features"):
        Metric("sqeuclidean").fit(X * 1e150)


def test_columns_without_a_scale(rng):
    X = pd.DataFrame({"a": rng.random(6), "b": 0.1, "c": rng.random(6)})
    with pytest.raises(ValueError, match="column 'b' of X has the variance 0"):
        Metric("seuclidean").fit(X)
    for dependent in (X, X.assign(b=X["a"] + X["c"]), rng.random((3, 4))):
        with pytest.raises(ValueError, match=r"covariances without an inverse .* metric_params=\{'VI': numpy"):
            Metric("mahalanobis").fit(dependent)
    pseudo = np.linalg.pinv(np.cov(X.to_numpy().T))
    expected = cdist(X, X, "mahalanobis", VI=pseudo)
    found = Metric("mahalanobis", metric_params={"VI": pseudo}).fit_transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


def test_text_and_missing_cells(rng):
    with pytest.raises(ValueError, match=r"could not convert string to float: .*: this metric needs numbers"):
        Metric().fit(pd.DataFrame({"a": ["x", "y"]}))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        Metric().fit([[0.0], [np.nan]])


@pytest.mark.parametrize(
    ("metric", "key"), [("cityblock", "w"), ("seuclidean", "V"), ("wasserstein_histogram", "positions")]
)
def test_numbers_for_columns_in_a_series_are_matched_by_name(rng, metric, key):
    X = pd.DataFrame(rng.random((6, 3)), columns=list("abc"))
    named, in_order = pd.Series({"c": 4.0, "a": 1.0, "b": 2.0}), [1.0, 2.0, 4.0]
    found = Metric(metric, metric_params={key: named}).fit(X)
    expected = Metric(metric, metric_params={key: in_order}).fit(X)
    np.testing.assert_array_equal(found.dissimilarities_, expected.dissimilarities_)
    np.testing.assert_array_equal(found.transform(X.iloc[:2]), expected.transform(X.iloc[:2]))
    with pytest.raises(ValueError, match=rf"\['{key}'\] names 'c', 'a', 'z', but X has the columns 'a', 'b', 'c'"):
        Metric(metric, metric_params={key: named.rename({"b": "z"})}).fit(X)


@pytest.mark.parametrize("shift", [0.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_of_many_columns_are_exact_where_products_of_rows_cancel(rng, shift, dtype):
    X = (rng.standard_normal((600, 150)) + shift).astype(dtype)
    X[5], X[7] = X[400], X[400] * (1 + 1e-7)
    D = Metric().fit_transform(X)
    np.testing.assert_allclose(D, cdist(X.astype(np.float64), X.astype(np.float64)), rtol=1e-12, atol=0)
    assert D[5, 400] == 0
    np.testing.assert_allclose(Metric().fit(X).transform(X[:9]), D[:9], rtol=1e-13, atol=0)
    with pytest.raises(ValueError, match="among its features, too large for finite distances"):
        Metric().fit(X.astype(np.float64) * 1e200)
