"""scikit-learn's conventions, to the letter."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    ConditionalTSNE,
    ConditionalUMAP,
    GeneralMDS,
)
from unmask.datasets import make_car_brands

ESTIMATORS = [
    ConditionalMDS(n_init=2),
    ConditionalMDS(metric="precomputed", n_init=3),
    ConditionalMDS(n_components=1, weights="sammon", solver="smacof", n_init=2, max_iter=5000),
    ConditionalIsomap(n_init=2),
    ConditionalIsomap(metric="precomputed", n_init=2),
    ConditionalClassicalMDS(),
    ConditionalClassicalMDS(metric="precomputed", coef="full"),
    GeneralMDS(n_init=2),
    GeneralMDS(metric="precomputed", n_init=2),
    ConditionalTSNE(perplexity=2, max_iter=50),
    ConditionalUMAP(n_neighbors=5, max_iter=50),
    ConditionalUMAP(metric="precomputed", n_neighbors=5, max_iter=50),
]


def _expected_failures(estimator):
    if estimator.metric == "precomputed" and isinstance(estimator, ConditionalMDS | GeneralMDS):
        return {"check_estimators_pickle": "makes one half of a symmetric matrix NaN, which is refused as asymmetric"}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failures)
def test_common_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks fit constant or duplicated data on purpose.
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture
def cars():
    cars = make_car_brands(20, random_state=0)
    cars.X = pd.DataFrame(cars.features.to_numpy() * 3 + 1, index=cars.features.index, columns=list("abcdefg"))
    return cars


@pytest.mark.parametrize(
    "make", [lambda: ConditionalMDS(3, n_init=4, random_state=0), lambda: ConditionalClassicalMDS(3)]
)
def test_known_is_routed_through_a_pipeline_without_being_asked_for(cars, make):
    known = cars.known.iloc[:, :2].sample(frac=1, random_state=1)
    scaler = StandardScaler().set_output(transform="pandas")
    direct = make().fit_transform(scaler.fit_transform(cars.X), known=known)
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(scaler, make())
        np.testing.assert_array_equal(pipe.fit_transform(cars.X, known=known), direct)
        placed = pipe.transform(cars.X, known=known)
    np.testing.assert_allclose(placed, direct, atol=1e-6 * np.abs(direct).max())
    assert not np.allclose(make().fit_transform(scaler.fit_transform(cars.X)), direct)


def test_array_weights_are_routed_too(cars):
    W = np.random.default_rng(0).uniform(0.5, 2, (20, 20))
    W = W + W.T
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), ConditionalMDS(n_init=2, random_state=0))
        routed = pipe.fit(cars.X, weights=W)[-1].embedding_
    direct = ConditionalMDS(n_init=2, random_state=0).fit(StandardScaler().fit_transform(cars.X), weights=W).embedding_
    np.testing.assert_array_equal(routed, direct)


@pytest.mark.parametrize(
    "estimator", [ConditionalMDS(metric="precomputed", n_init=2), ConditionalClassicalMDS(metric="precomputed")]
)
def test_set_output_names_columns_and_keeps_labels(cars, estimator):
    frame = clone(estimator).set_output(transform="pandas").fit_transform(cars.dissimilarities)
    name = type(estimator).__name__.lower()
    assert list(frame.columns) == [f"{name}0", f"{name}1"]
    assert list(frame.index) == list(cars.dissimilarities.index)


def test_polars_output_and_input(cars):
    pl = pytest.importorskip("polars")
    known = pl.DataFrame({"quality": cars.known["quality"].to_numpy()})
    mds = ConditionalMDS(metric="precomputed", n_init=2, random_state=0).set_output(transform="polars")
    frame = mds.fit_transform(cars.dissimilarities.to_numpy(), known=known)
    assert isinstance(frame, pl.DataFrame)
    assert list(mds.coef_.columns) == ["quality"]


def test_precomputed_is_pairwise_and_may_have_nan():
    tags = ConditionalMDS(metric="precomputed").__sklearn_tags__()
    assert tags.input_tags.pairwise
    assert tags.input_tags.allow_nan
    tags = ConditionalMDS().__sklearn_tags__()
    assert not tags.input_tags.pairwise
    assert not tags.input_tags.allow_nan
