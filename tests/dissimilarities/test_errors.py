"""Bad input is refused: the message names the argument, the object or the value. One table for all transformers."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from unmask import ConditionalIsomap, ConditionalMDS
from unmask.dissimilarities import (
    Geodesic,
    Metric,
    NetworkDissimilarity,
    TextureDissimilarity,
    WordDissimilarity,
    similarity_to_dissimilarity,
)

X = np.random.default_rng(0).random((4, 3)) + 0.1
SITES = pd.DataFrame([[1, 2], [3, 1]], columns=["oak", "fern"], index=["hill", "slope"])
SIZES = pd.CategoricalDtype(["small", "large"], ordered=True)
TEXT = ["the cat drinks milk", "the dog drinks water"] * 5
EYE, COUNTS = np.eye(20), [[4, 2, 0], [2, 9, 3], [0, 3, 4]]
CORRELATIONS = [[1, 0.5, -0.5], [0.5, 1, 0.2], [-0.5, 0.2, 1]]
CONFUSED = [[3, 1, 1], [1, 3, 1], [1, 1, 3]]
GRAPH = kneighbors_graph(np.random.default_rng(0).normal(size=(60, 3)), 10, mode="distance")
MANY = np.random.default_rng(0).random((801, 3))


def metric(name, data=X, **params):
    return Metric(name, metric_params=params or None).fit(data)


def gower(cells, **params):
    return metric("gower", pd.DataFrame({"a": cells}), **params)


def new_row(name, row):
    """Compare a new site with two that are sound."""
    return Metric(name).fit(SITES).transform(pd.DataFrame([row], columns=SITES.columns, index=["dell"]))


def similar(S, method, cell=None, both=True, **options):
    S = np.array(S, dtype=float)
    if cell is not None:
        i, j, value = cell
        S[i, j] = value
        S[j, i] = value if both else S[j, i]
    return similarity_to_dissimilarity(pd.DataFrame(S, list("abc"), list("abc")), method, **options)


def paths(change):
    return Geodesic(5, metric="precomputed").fit(sp.csr_array(change(GRAPH)))


def isomap(**params):
    return ConditionalIsomap(1, n_neighbors=8, n_init=1, random_state=0, **params).fit(MANY)


A_AND_B, B_AND_B = "object 'a', object 'b'", "object 'b', object 'b'"
ERRORS = [
    # names and parameters of metrics
    *[(lambda near=near: metric(near), "braycurtis") for near in ("brayurtis", "Bray-Curtis")],
    (lambda: metric("precomputd"), "precomputed"),
    (lambda: metric("geodesic"), "Geodesic()"),
    (lambda: metric(7), "metric=7"),
    (lambda: ConditionalMDS(metric="euclidian").fit(X), "'euclidean'"),
    (lambda: ConditionalMDS(metric=Geodesic(), metric_params={"p": 3}).fit(X), "metric_params"),
    (lambda: ConditionalMDS(metric="precomputed", metric_params={"p": 3}).fit(X), "metric_params"),
    (lambda: ConditionalMDS(metric=Geodesic).fit(X), "metric=Geodesic()"),
    (lambda: ConditionalMDS(metric=StandardScaler()).fit(X), "metric=StandardScaler()"),
    (lambda: metric("euclidean", q=3), "metric_params has 'q'"),
    (lambda: metric("haversine", q=3), "metric_params has 'q'"),
    *[(lambda w=w: metric("euclidean", w=w), "['w']") for w in ([1, 2], [1, 2, -1], ["a", "b", "c"])],
    *[(lambda p=p: metric("minkowski", p=p), "['p']") for p in (0, -1, "3", True, np.nan)],
    (lambda: metric("seuclidean", V=[1, 0, 1]), "column 1"),
    (lambda: metric("mahalanobis", VI=np.eye(2)), "['VI']"),
    (lambda: metric("mahalanobis", VI=-np.eye(3)), "['VI']"),
    (lambda: metric("aitchison", pseudocount=-1), "['pseudocount']"),
    (lambda: metric("wasserstein", order=0.5), "['order']"),
    (lambda: metric("wasserstein_histogram", positions=[1]), "['positions']"),
    (lambda: metric("wasserstein_histogram", positions=[1, np.inf, 2]), "['positions']"),
    (lambda: metric("dtw", window=0), "['window']"),
    (lambda: metric("dtw", penalty=-1), "['penalty']"),
    (lambda: metric("dtw", psi=1), "metric_params has 'psi'"),
    # objects that a metric cannot compare, in a fit and as new ones
    *[(lambda name=name: new_row(name, [0, 0]), "new object 'dell'") for name in ("cosine", "jensenshannon")],
    *[(lambda name=name: metric(name, [[1, 2], [0, 0]]), "object 1") for name in ("cosine", "robust_aitchison")],
    (lambda: new_row("correlation", [0.1, 0.1]), "new object 'dell'"),
    *[(lambda name=name: new_row(name, [0, -1]), "-1") for name in ("braycurtis", "jensenshannon", "aitchison")],
    (lambda: metric("robust_aitchison", [[1, 2], [-1, 2]]), "-1 (object 1, column 0)"),
    (lambda: metric("wasserstein", [[1.0], []]), "object 1"),
    (lambda: metric("wasserstein", [[1.0], [np.nan]]), "object 1"),
    (lambda: metric("wasserstein", [[1.0], [np.inf]]), "object 1"),
    (lambda: metric("wasserstein", [[1.0], ["a"]]), "object 1"),
    (lambda: metric("wasserstein", [1.0, 2.0]), "object 0"),
    (lambda: metric("wasserstein", [[1.0]]), "1 sample(s)"),
    (lambda: metric("wasserstein_histogram", [[1, 2], [0, 0]]), "object 1"),
    (lambda: metric("wasserstein_histogram", [[1, 2], [0, -1]]), "-1"),
    (lambda: metric("dtw", [[1.0, 2.0], [1.0, np.nan, 2.0]]), "object 1"),
    (lambda: metric("dtw", [[1.0, 2.0], [np.nan]]), "object 1"),
    # mixed tables
    (lambda: gower([1.0, np.inf]), "'a'"),
    (lambda: gower([1, "n/a", 3]), "'n/a'"),
    (lambda: gower([1j, 2]), "'a'"),
    (lambda: gower(pd.period_range("2020", periods=2, freq="Y")), "'a'"),
    (lambda: gower([[1], [2]]), "'a'"),
    (lambda: gower([1]), "(1, 1)"),
    (lambda: gower([1, 2], asymmetric=["a"]), "asymmetric"),
    (lambda: gower([1, 2], asymmetric="a"), "['asymmetric']"),
    (lambda: gower([1, 2], asymmetric=["b"]), "['asymmetric']"),
    *[(lambda w=w: gower([1, 2], weights=w), "['weights']") for w in ({"b": 1}, [1, 2], [-1], np.zeros(1))],
    (lambda: metric("gower", pd.DataFrame([[1, 2], [3, 4]], columns=[7, 7])), "'7'"),
    (lambda: gower([1, 2]).transform(pd.DataFrame({"a": ["x"]})), "'x'"),
    (lambda: gower(pd.to_datetime(["2020", "2021"])).transform(pd.DataFrame({"a": [1]})), "dates"),
    (lambda: gower(pd.Series(["small", "large"], dtype=SIZES)).transform(pd.DataFrame({"a": ["huge"]})), "'huge'"),
    # words, images, networks, graphs
    *[
        (lambda words=words: WordDissimilarity(3).fit(words, text=TEXT), "X must be a list")
        for words in ("cat", [["cat"]], ["cat", 3], [], pd.DataFrame({"cat": ["dog"]}), pl.DataFrame({"cat": ["dog"]}))
    ],
    (lambda: WordDissimilarity(3).fit(["cat", "dog", "Cat"], text=TEXT), "'Cat'"),
    *[
        (lambda text=text: WordDissimilarity(3).fit(["cat"], text=text), "text must be a list")
        for text in (None, ["a", ["b"]], pd.DataFrame({"verse": TEXT}))
    ],
    (lambda: WordDissimilarity(3).fit(["cat"], text=""), "n_components=3"),
    *[
        (lambda images=images: TextureDissimilarity().fit(images), "X must hold images")
        for images in (EYE, pd.DataFrame(EYE), [])
    ],
    (lambda: TextureDissimilarity().fit(np.zeros((2, 20, 20, 3))), "(20, 20, 3)"),
    (lambda: TextureDissimilarity().fit([EYE]), "n_samples=1"),
    (lambda: TextureDissimilarity().fit(pd.Series({"a": EYE, "b": np.eye(8)})), "object 'b'"),
    *[
        (lambda image=image: TextureDissimilarity().fit([EYE, image]), "object 1")
        for image in (np.full((20, 20), np.nan), np.full((20, 20), 0.1), np.eye(3), [["a"] * 20] * 20)
    ],
    (lambda: NetworkDissimilarity().fit(sp.csr_array(np.ones((3, 4)))), "(3, 4)"),
    (lambda: NetworkDissimilarity().fit(sp.csr_array((3, 3))), "no edges"),
    (lambda: NetworkDissimilarity().fit(sp.csr_array([[0, 1.0], [2.0, 0]])), "not symmetric"),
    (lambda: NetworkDissimilarity().fit(sp.csr_array([[0, -1.0], [-1.0, 0]])), "(0, 1)"),
    (lambda: paths(lambda graph: graph * -1), "Negative values"),
    (lambda: paths(lambda graph: graph + sp.eye_array(60)), "diagonal"),
    (lambda: paths(lambda graph: graph + 1e-3 * (graph != 0).multiply(sp.triu(graph))), "not symmetric"),
    (lambda: Geodesic(2, metric="precomputed").fit(np.ones((4, 3))), "square"),
    (lambda: Geodesic(2, metric="precomputed").fit(1 - np.eye(4)).transform(-np.ones((1, 4))), "Negative values"),
    (lambda: Geodesic(2, metric="precomputed").fit(1 - np.eye(4)).transform(np.ones((1, 3))), "4 features"),
    (lambda: isomap(n_landmarks=1), "n_landmarks=1"),
    (lambda: isomap(n_landmarks=802), "n_landmarks=802"),
    (lambda: isomap(n_landmarks=9, level="ordinal"), "level='ordinal'"),
    (lambda: isomap(n_landmarks=9, weights="curvilinear"), "weights='curvilinear'"),
    # similarities
    (lambda: similar(COUNTS, "pearson"), "method='pearson'"),
    (lambda: similarity_to_dissimilarity(np.ones((2, 3)), "unit"), "(2, 3)"),
    (lambda: similarity_to_dissimilarity(pd.Series([1.0]), "unit"), "(1,)"),
    (lambda: similarity_to_dissimilarity(pd.DataFrame([["x", 1]] * 2), "unit"), "S: column"),
    (lambda: similarity_to_dissimilarity(pd.DataFrame(np.eye(2), list("aa"), list("aa")), "unit"), "'a'"),
    (lambda: similarity_to_dissimilarity(pd.DataFrame(np.eye(2), list("ab"), list("ac")), "unit"), "header of S"),
    (lambda: similar(CORRELATIONS, "correlation", (0, 1, np.inf)), A_AND_B),
    (lambda: similar(CORRELATIONS, "correlation", (0, 1, 0.4), both=False), A_AND_B),
    (lambda: similar(CORRELATIONS, "correlation", (0, 1, np.nan), both=False), A_AND_B),
    (lambda: similar(COUNTS, "counts", (0, 1, 3), both=False), "confusion"),
    *[
        (lambda method=method: similar(CORRELATIONS, method, (0, 1, -1.5)), A_AND_B)
        for method in ("correlation", "cosine", "absolute_correlation", "unit")
    ],
    (lambda: similar(COUNTS, "correlation"), "1 on the diagonal"),
    (lambda: similar(COUNTS, "counts", (0, 1, -2)), A_AND_B),
    (lambda: similar(COUNTS, "counts", (0, 1, 5)), A_AND_B),
    *[(lambda own=own: similar(COUNTS, "counts", (1, 1, own)), "occurrences") for own in (0, np.nan)],
    *[(lambda o=o: similar(COUNTS, "counts", occurrences=o), "occurrences") for o in ([1, 2], [4, 9, 2], [4, 9, 0])],
    (lambda: similar(-np.eye(3), "confusion"), "S has -1"),
    (lambda: similar(np.diag([3.0, 0.0, 2.0]), "confusion", pseudocount=0.5), B_AND_B),
    (lambda: similar(CONFUSED, "confusion", (0, 1, 0)), "pseudocount"),
    (lambda: similar(CONFUSED, "confusion", (1, 1, np.nan)), B_AND_B),
    (lambda: similar(CONFUSED, "confusion", (0, 1, 4)), A_AND_B),
    (lambda: similar(COUNTS, "confusion", pseudocount=-1), "pseudocount=-1"),
    (lambda: similar(CORRELATIONS, "standard", (0, 1, 3)), A_AND_B),
    (lambda: similar(CORRELATIONS, "standard", (1, 1, np.nan)), B_AND_B),
    # A large object does not excuse a small pair.
    (lambda: similar([[1e12, 0, 0], [0, 1, 3], [0, 3, 1]], "standard"), "object 'b', object 'c'"),
    (lambda: similar(CORRELATIONS, "correlation", pseudocount=1), "pseudocount"),
    (lambda: similar(COUNTS, "confusion", occurrences=[1, 2, 3]), "occurrences"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "named"), ERRORS)
def test_bad_input_is_refused(call, named, monkeypatch):
    monkeypatch.setattr("unmask.kernels._sources.MOST_SQUARED", 799)
    with pytest.raises(ValueError, match=re.escape(named)):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: NetworkDissimilarity().fit(np.ones((3, 3))),
        lambda: similarity_to_dissimilarity(sp.csr_array(np.eye(3)), "counts"),
        lambda: Metric("braycurtis").fit(sp.csr_array(np.eye(4))),
    ],
)
def test_other_kinds_of_data_are_refused(call):
    with pytest.raises(TypeError, match=r"sparse|toarray"):
        call()


def test_parameters_that_are_wrong_leave_the_tags_alone():
    for wrong in (Metric("zzz"), Metric(metric_params={"q": 3}), Geodesic(metric="zzz")):
        wrong.__sklearn_tags__()
