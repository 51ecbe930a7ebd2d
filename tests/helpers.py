"""Small data that many tests make."""

import warnings

import numpy as np
from sklearn.utils.estimator_checks import estimator_checks_generator


def noisy_distances(rng, n, dimensions=4, noise=0.1):
    """Return a symmetric matrix of distances with proportional noise."""
    X = rng.uniform(size=(n, dimensions))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    upper = np.triu(rng.standard_normal((n, n)), 1)
    return np.abs(D * (1 + noise * (upper + upper.T)))


def with_missing(rng, D, share):
    """Return a copy of D in which a share of the pairs is NaN."""
    holes = np.triu(rng.uniform(size=D.shape) < share, 1)
    D = D.copy()
    D[holes | holes.T] = np.nan
    return D


def symmetric_weights(rng, n):
    W = rng.uniform(0.1, 2.0, (n, n))
    return W + W.T


def common_checks(estimator):
    """Return those of scikit-learn's checks that apply to estimators whose input is no table of features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says that such estimators cannot be tested further
        checks = list(estimator_checks_generator(estimator))
    assert checks
    return checks
