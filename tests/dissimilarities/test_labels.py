"""What all transformers to dissimilarities promise about the labels of objects."""

import inspect

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import TransformerMixin, clone
from sklearn.pipeline import make_pipeline

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


def fitted(transformer, X):
    options = {"text": TEXT} if isinstance(transformer, WordDissimilarity) else {}
    transformer = clone(transformer)
    return transformer, transformer.fit_transform(X, **options)


def test_no_transformer_is_left_out():
    public = {getattr(dissimilarities, name) for name in dissimilarities.__all__}
    assert {type(case[0]) for case in CASES} == {
        one for one in public if inspect.isclass(one) and issubclass(one, TransformerMixin)
    }


@pytest.mark.parametrize(("transformer", "labelled", "plain"), CASES)
def test_labels_are_on_both_sides_of_the_table(transformer, labelled, plain):
    model, D = fitted(transformer, labelled)
    assert isinstance(D, pd.DataFrame)
    assert list(D.index) == list(D.columns) == NAMES
    np.testing.assert_array_equal(D, model.dissimilarities_)
    new = model.transform(labelled)
    assert list(new.index) == list(new.columns) == NAMES
    if plain is not None:
        model, D = fitted(transformer, plain)
        assert isinstance(D, np.ndarray)
        assert isinstance(model.transform(plain), np.ndarray)


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


@pytest.mark.parametrize("transformer", [Metric(), Geodesic(6)])
def test_known_features_are_matched_by_label_behind_a_transformer(transformer):
    mds = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0)
    known = FEATURES[["x"]]
    stages = make_pipeline(transformer, mds).fit(FEATURES, conditionalmds__known=known.iloc[::-1])
    expected = clone(mds).fit(np.asarray(transformer.fit_transform(FEATURES)), known=known.to_numpy())
    np.testing.assert_array_equal(stages[-1].embedding_, expected.embedding_)


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
