"""What all transformers to dissimilarities promise: scikit-learn's conventions, labels, types, refusals."""

import copy
import inspect
import pickle
import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import TransformerMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from tests.helpers import common_checks
from unmask import ConditionalMDS, dissimilarities
from unmask.dissimilarities import (
    AcyclicLocallyLinear,
    Drill,
    Geodesic,
    KernelDissimilarity,
    LaplacianEigenmaps,
    LocallyLinear,
    MaximumEntropyUnfolding,
    MaximumVarianceUnfolding,
    Metric,
    NetworkDissimilarity,
    TextureDissimilarity,
    WordDissimilarity,
)

rng = np.random.default_rng(0)
NAMES = [f"o{i}" for i in range(12)]
FEATURES = pd.DataFrame(rng.standard_normal((12, 3)), index=NAMES, columns=list("xyz"))
IMAGES = pd.Series(list(rng.standard_normal((12, 16, 16))), index=NAMES)
NETWORK = nx.relabel_nodes(nx.cycle_graph(12), dict(enumerate(NAMES)))
TEXT = [" ".join(rng.permutation(NAMES)) for _ in range(40)]

# Each transformer, the objects with labels, and the same without where there are such.
CASES = [
    (Metric("cityblock"), FEATURES, FEATURES.to_numpy()),
    (Metric("gower"), FEATURES, FEATURES.to_numpy()),
    (Geodesic(6), FEATURES, FEATURES.to_numpy()),
    (KernelDissimilarity(), FEATURES, FEATURES.to_numpy()),
    (LaplacianEigenmaps(6), FEATURES, FEATURES.to_numpy()),
    (LocallyLinear(6), FEATURES, FEATURES.to_numpy()),
    (AcyclicLocallyLinear(6), FEATURES, FEATURES.to_numpy()),
    (MaximumEntropyUnfolding(6), FEATURES, FEATURES.to_numpy()),
    (MaximumVarianceUnfolding(6), FEATURES, FEATURES.to_numpy()),
    (Drill(6), FEATURES, FEATURES.to_numpy()),
    (TextureDissimilarity(1, random_state=0), IMAGES, list(IMAGES)),
    (NetworkDissimilarity(), NETWORK, nx.to_scipy_sparse_array(NETWORK)),
    (WordDissimilarity(3), NAMES, None),
]
TABLES = [case for case in CASES if case[1] is FEATURES]
CHECKED = [
    *[Metric(metric) for metric in ("euclidean", "mahalanobis", "nan_euclidean", "dtw", "gower", "wasserstein")],
    Metric("aitchison", metric_params={"pseudocount": 0.5}, dtype="float32"),
    *[Geodesic(), KernelDissimilarity(), LaplacianEigenmaps(), LocallyLinear(), AcyclicLocallyLinear()],
    *[MaximumEntropyUnfolding(), MaximumVarianceUnfolding(max_iter=3), Drill()],
    *[TextureDissimilarity(), NetworkDissimilarity(), WordDissimilarity()],
]


def fitted(transformer, X):
    options = {"text": TEXT} if isinstance(transformer, WordDissimilarity) else {}
    transformer = clone(transformer)
    return transformer, transformer.fit_transform(X, **options)


def test_no_transformer_is_left_out():
    public = {getattr(dissimilarities, name) for name in dissimilarities.__all__}
    transformers = {one for one in public if inspect.isclass(one) and issubclass(one, TransformerMixin)}
    assert {type(case[0]) for case in CASES} == {type(one) for one in CHECKED} == transformers


# Metrics that are not defined for rows of zeros (cosine, Bray-Curtis …) refuse the checks' data, as they should.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), [pair for one in CHECKED for pair in common_checks(one)])
def test_common_checks(estimator, check):
    check(estimator)


# ---- labels


@pytest.mark.parametrize(("transformer", "labelled", "plain"), CASES)
def test_labels_are_on_both_sides_of_the_table(transformer, labelled, plain):
    model, D = fitted(transformer, labelled)
    assert isinstance(D, pd.DataFrame)
    assert list(D.index) == list(D.columns) == list(model.get_feature_names_out()) == NAMES
    np.testing.assert_array_equal(D, model.dissimilarities_)
    new = model.transform(labelled)
    assert list(new.index) == list(new.columns) == NAMES
    if plain is not None:
        model, D = fitted(transformer, plain)
        assert isinstance(D, np.ndarray)
        assert isinstance(model.transform(plain), np.ndarray)
        assert list(model.get_feature_names_out()) == [str(i) for i in range(12)]


@pytest.mark.parametrize(("transformer", "labelled", "plain"), TABLES)
def test_new_rows_have_their_labels_and_those_of_the_fit(transformer, labelled, plain):
    model, _ = fitted(transformer, labelled)
    new = model.transform(labelled.iloc[[3, 1]])
    assert list(new.index) == ["o3", "o1"]
    assert list(new.columns) == NAMES
    model, _ = fitted(transformer, plain)
    new = model.transform(pd.DataFrame(plain[:2], index=["a", "b"]))
    assert list(new.index) == ["a", "b"]
    assert list(new.columns) == list(range(12))


@pytest.mark.parametrize(("transformer", "labelled", "plain"), TABLES)
def test_known_features_are_matched_by_label_behind_a_transformer(transformer, labelled, plain):
    mds = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0)
    known = FEATURES[["x"]]
    stages = make_pipeline(clone(transformer), mds).set_output(transform="pandas")
    found = stages.fit_transform(FEATURES, conditionalmds__known=known.iloc[::-1])
    expected = clone(mds).fit(np.asarray(transformer.fit_transform(FEATURES)), known=known.to_numpy())
    np.testing.assert_array_equal(found, expected.embedding_)
    assert list(found.index) == NAMES


@pytest.mark.parametrize(("transformer", "labelled", "plain"), TABLES)
def test_labels_that_occur_twice_are_left_out(transformer, labelled, plain):
    twice = labelled.set_axis(["same", "same", *NAMES[2:]])
    assert isinstance(fitted(transformer, twice)[1], np.ndarray)
    ConditionalMDS(1, metric=transformer, n_init=1, random_state=0).fit(twice)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_the_output_that_is_asked_for_comes(container):
    found = Metric().set_output(transform=container).fit_transform(FEATURES)
    assert type(found).__module__.startswith(container)
    assert list(found.columns) == NAMES


# ---- values


@pytest.mark.parametrize(("transformer", "labelled", "plain"), CASES)
def test_a_fit_changes_no_input_and_can_be_stored(transformer, labelled, plain):
    before = copy.deepcopy(labelled)
    model, D = fitted(transformer, labelled)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.dissimilarities_, D, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(again.transform(labelled), model.transform(labelled), rtol=1e-9, atol=1e-12)
    if labelled is NETWORK:
        assert nx.utils.graphs_equal(before, labelled)
    else:
        assert all(np.array_equal(one, other) for one, other in zip(before, labelled, strict=True))
        assert labelled is not FEATURES or before.equals(labelled)


@pytest.mark.parametrize(("transformer", "labelled", "plain"), CASES)
def test_tables_are_symmetric_and_fitted_objects_have_their_rows(transformer, labelled, plain):
    model, D = fitted(transformer, labelled)
    np.testing.assert_array_equal(D, D.T)
    assert (np.diagonal(D) == 0).all()
    np.testing.assert_allclose(model.transform(labelled), D, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize(
    ("transformer", "labelled", "plain"), [case for case in CASES if "dtype" in case[0].get_params()]
)
def test_float32_is_rounded_float64(transformer, labelled, plain):
    D, E = (fitted(clone(transformer).set_params(dtype=dtype), labelled) for dtype in ("float64", "float32"))
    assert {D[1].to_numpy().dtype, D[0].transform(labelled).to_numpy().dtype} == {np.dtype("float64")}
    assert {E[1].to_numpy().dtype, E[0].transform(labelled).to_numpy().dtype} == {np.dtype("float32")}
    np.testing.assert_allclose(E[1], D[1], rtol=2e-6, atol=1e-7)


# ---- refusals: the message names the argument

UNFOLDING = [LaplacianEigenmaps, LocallyLinear, MaximumEntropyUnfolding, MaximumVarianceUnfolding, Drill]
REFUSED = [
    *[(method, {"n_neighbors": 0}) for method in (Geodesic, AcyclicLocallyLinear, *UNFOLDING)],
    *[(method, {"n_neighbors": 12}) for method in (Geodesic, AcyclicLocallyLinear, *UNFOLDING)],
    *[(method, {"on_disconnected": "components"}) for method in (Geodesic, NetworkDissimilarity, *UNFOLDING)],
    *[(type(case[0]), {"dtype": "float16"}) for case in CASES if "dtype" in case[0].get_params()],
    *[(method, {"graph": "star"}) for method in UNFOLDING],
    *[(method, {"ridge": ridge}) for method in (LocallyLinear, AcyclicLocallyLinear) for ridge in ("some", -1)],
    (MaximumEntropyUnfolding, {"constraints": "lower"}),
    *[(method, {"max_iter": 0}) for method in (MaximumEntropyUnfolding, MaximumVarianceUnfolding, Drill)],
    *[(method, {"tol": "x"}) for method in (MaximumEntropyUnfolding, MaximumVarianceUnfolding, Drill)],
    (MaximumVarianceUnfolding, {"angles": 1}),
    (MaximumVarianceUnfolding, {"rank": 0}),
    (Drill, {"penalty": -1.0}),
    (Drill, {"n_neighbors": None, "penalty": 0.0}),
    (LaplacianEigenmaps, {"weights": "heat"}),
    (LaplacianEigenmaps, {"gamma": -1.0}),
    (LaplacianEigenmaps, {"normalized": 1}),
    (Geodesic, {"n_neighbors": None}),
    (Geodesic, {"n_neighbors": 3, "radius": 1.0}),
    (Geodesic, {"n_neighbors": None, "radius": "x"}),
    (Geodesic, {"n_neighbors": None, "radius": 0.0}),
    (Geodesic, {"n_neighbors": "5"}),
    (Geodesic, {"mutual": "no"}),
    (Geodesic, {"metric": "euclidian"}),
    (Geodesic, {"n_landmarks": 1}),
    (Geodesic, {"n_landmarks": 13}),
    (Metric, {"n_jobs": 0}),
    (Metric, {"metric_params": [3]}),
    *[(Metric, {"metric": metric}) for metric in ("zzz", 3, None, np.eye(2), "geodesic", "precomputed")],
    (KernelDissimilarity, {"kernel": "precomputed"}),
    (NetworkDissimilarity, {"weight": 3}),
    *[(TextureDissimilarity, {"model": model}) for model in ("forest", LogisticRegression(), LinearRegression)],
    *[(TextureDissimilarity, {name: 0}) for name in ("window", "n_bins", "max_pixels", "n_jobs")],
    *[(TextureDissimilarity, {name: "kernel"}) for name in ("density", "root", "standardize")],
    *[(WordDissimilarity, {name: 0}) for name in ("n_components", "window", "min_count")],
    *[(WordDissimilarity, {name: "glove"}) for name in ("model", "metric")],
    (WordDissimilarity, {"n_components": 12}),
    (WordDissimilarity, {"smoothing": -1}),
    (WordDissimilarity, {"model_params": {"epochs": 3}}),
]


@pytest.mark.parametrize(("method", "params"), REFUSED)
def test_wrong_parameters_are_named(method, params):
    X = next(case[1] for case in CASES if type(case[0]) is method)
    if method is WordDissimilarity:
        params = {"n_components": 3, **params}
    name = next(name for name in reversed(params))
    with pytest.raises(ValueError, match=re.escape(f"{name}=")):
        fitted(method(**params), X)
