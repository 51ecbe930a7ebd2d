"""A new metric takes one file: a transformer with `fit` and `transform`, given as `metric=`."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unmask import ConditionalClassicalMDS, ConditionalMDS, GeneralMDS

FAST = {"n_init": 2, "random_state": 0}


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 4))


class Quantiles(TransformerMixin, BaseEstimator):
    """Compare objects by a power of the differences of each column's ranks among the fitted objects."""

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y=None):
        self.sorted_ = np.sort(X, axis=0)
        self.shares_ = self._shares(X)
        return self

    def _shares(self, X):
        columns = zip(self.sorted_.T, np.asarray(X).T, strict=True)
        return np.column_stack([np.searchsorted(known, new) for known, new in columns]) / len(self.sorted_)

    def transform(self, X):
        return cdist(self._shares(X), self.shares_, "cityblock") ** self.power


@pytest.mark.parametrize("make", [ConditionalMDS, ConditionalClassicalMDS, GeneralMDS])
def test_a_transformer_of_your_own_is_a_metric(X, make):
    options = {} if make is ConditionalClassicalMDS else FAST
    mds = make(2, metric=Quantiles(power=0.5), **options).fit(X, known=X[:, 0])
    D = Quantiles(power=0.5).fit_transform(X)
    expected = make(2, metric="precomputed", **options).fit(D, known=X[:, 0])
    np.testing.assert_array_equal(mds.embedding_, expected.embedding_)
    assert mds.metric_.shares_.shape == X.shape
    assert not hasattr(mds.metric, "shares_")  # it is cloned
    if make is not GeneralMDS:
        again = pickle.loads(pickle.dumps(mds)).transform(X[:3], known=X[:3, 0])
        np.testing.assert_array_equal(again, expected.transform(D[:3], known=X[:3, 0]))


def test_its_parameters_are_those_of_the_estimator(X):
    mds = ConditionalMDS(1, metric=Quantiles(), n_init=1, random_state=0)
    assert mds.get_params()["metric__power"] == 1.0
    twin = clone(mds).set_params(metric__power=0.5)
    assert (mds.metric.power, twin.metric.power) == (1.0, 0.5)
    search = GridSearchCV(mds, {"metric__power": [0.5, 1.0]}, cv=2).fit(X)
    assert search.best_params_["metric__power"] in (0.5, 1.0)


def test_it_works_in_a_pipeline(X):
    pipe = make_pipeline(StandardScaler(), ConditionalMDS(2, metric=Quantiles(), **FAST))
    expected = ConditionalMDS(2, metric=Quantiles(), **FAST).fit(StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(pipe.fit_transform(X), expected.embedding_)
    np.testing.assert_array_equal(pipe.transform(X[:2]), expected.transform(StandardScaler().fit(X).transform(X[:2])))
