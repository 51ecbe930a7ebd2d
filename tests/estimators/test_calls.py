"""Calls that cannot mean what they say."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    ConditionalTSNE,
    ConditionalUMAP,
    GeneralMDS,
    MapWarning,
)
from unmask.datasets import load_kinship

KIN = load_kinship()
ESTIMATORS = [
    ConditionalMDS(n_init=1),
    ConditionalIsomap(n_init=1),
    ConditionalClassicalMDS(),
    GeneralMDS(n_init=1),
    ConditionalTSNE(perplexity=3),
    ConditionalUMAP(n_neighbors=5),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_a_table_in_the_place_of_a_target_is_refused(estimator, method):
    estimator = type(estimator)(**{**estimator.get_params(), "metric": "precomputed"})
    with pytest.raises(ValueError, match=r"of type DataFrame.*fit\(X, known=…\)"):
        getattr(estimator, method)(KIN.dissimilarities, KIN.known[["gender"]])
    assert not hasattr(estimator, "leak_")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_target_as_pipelines_pass_it_on_is_ignored_with_a_warning(estimator):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(MapWarning, match="known="):
        estimator.fit(X, np.arange(20))
    with pytest.warns(MapWarning):
        make_pipeline(ConditionalMDS(n_init=1, random_state=0), KNeighborsClassifier()).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("table", [KIN.dissimilarities, KIN.dissimilarities.to_numpy()], ids=["labels", "array"])
def test_dissimilarities_taken_for_features_are_said(estimator, table):
    with pytest.warns(MapWarning, match="metric='precomputed'"):
        estimator.fit(table)


@pytest.mark.parametrize(
    "change",
    [
        lambda D: D.iloc[:, :-1],
        lambda D: D.rename(columns={"Aunt": "aunt"}),
        lambda D: D + np.eye(len(D)),
        lambda D: D - 50,
        lambda D: D + np.triu(np.ones(D.shape), 1),
    ],
)
def test_other_square_tables_are_features(change):
    table = change(KIN.dissimilarities)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MapWarning)
        assert ConditionalClassicalMDS().fit(pd.DataFrame(table).astype(float)).embedding_.shape == (14, 2)
