"""The score of a map by a Gaussian process."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.manifold import Isomap

from tests import recordings
from unmask.inspection import _gplvm
from unmask.inspection._gplvm import START, gplvm_score


@pytest.fixture
def curve(rng):
    t = np.linspace(0, 1, 30)
    Y = np.column_stack([np.cos(3 * t), np.sin(3 * t), t**2]) + rng.normal(scale=0.05, size=(30, 3))
    return t[:, None], Y


def process_of(X, Y):
    Y = Y - Y.mean(axis=0)
    return cdist(X, X, "sqeuclidean"), Y @ Y.T, Y.shape[1]


def test_likelihood_is_that_of_scipy_and_its_gradient_that_of_differences(curve):
    X, Y = curve
    process, logs = process_of(X, Y), np.array([0.3, -0.2, -1.5, -2.5])
    width, signal, bias, noise = np.exp(logs)
    K = signal * np.exp(-0.5 * width * process[0]) + bias + noise * np.eye(30)
    expected = sum(multivariate_normal(np.zeros(30), K).logpdf(y) for y in (Y - Y.mean(axis=0)).T)
    assert -_gplvm._cost(logs, *process)[0] == pytest.approx(expected, rel=1e-10)
    error = check_grad(lambda x: _gplvm._cost(x, *process)[0], lambda x: _gplvm._cost(x, *process)[1], logs)
    assert error < 1e-4 * np.linalg.norm(_gplvm._cost(logs, *process)[1])


def optimum_of_scikit_learn(X, Y):
    Xs = (X - X.mean(axis=0)) / X.std(axis=0)
    kernel = ConstantKernel(1.0, (1e-7, 1e7)) * RBF(1.0, (1e-4, 1e4)) + ConstantKernel(np.exp(-2), (1e-7, 1e7))
    kernel = kernel + WhiteKernel(np.exp(-2), (1e-7, 1e7))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a bias of 0 is at the bound of its logarithm
        theirs = GaussianProcessRegressor(kernel, alpha=0.0).fit(Xs, Y - Y.mean(axis=0))
    return theirs.log_marginal_likelihood_value_


def test_score_is_the_optimum_of_scikit_learn(curve):
    assert gplvm_score(*curve) == pytest.approx(optimum_of_scikit_learn(*curve), rel=1e-4)


def test_score_of_isomap_is_the_optimum_of_scikit_learn():
    Y = recordings.load("simulated run")
    U = Isomap(n_neighbors=6).fit_transform(Y)
    assert gplvm_score(U, Y) == pytest.approx(optimum_of_scikit_learn(U, Y), rel=1e-4)


def test_score_does_not_see_shifts_turns_or_with_standardising_scales(curve, rng):
    X, Y = curve
    X = np.column_stack([X, rng.normal(size=30)])
    score = gplvm_score(X, Y)
    assert gplvm_score(X * [5.0, 0.01] + 3, Y + 7) == pytest.approx(score, rel=1e-9)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert gplvm_score(X, Y @ turn) == pytest.approx(score, rel=1e-6)
    assert gplvm_score(X, Y, standardize=False) != pytest.approx(score, rel=1e-3)


def test_the_right_map_scores_above_a_shuffled_one(curve, rng):
    X, Y = curve
    assert gplvm_score(X, Y) > gplvm_score(rng.permutation(X), Y) + 50


def test_labels_are_matched_and_constant_axes_tell_nothing(curve, rng):
    X, Y = curve
    labels = [f"o{i}" for i in range(30)]
    order = rng.permutation(30)
    score = gplvm_score(pd.DataFrame(X, index=labels), pd.DataFrame(Y, index=labels).iloc[order])
    assert score == pytest.approx(gplvm_score(X, Y), rel=1e-9)
    assert gplvm_score(np.column_stack([X, np.ones(30)]), Y) == pytest.approx(score, rel=1e-9)


def test_a_search_that_does_not_end_is_a_warning(curve, monkeypatch):
    X, Y = curve
    monkeypatch.setattr(_gplvm, "MAX_ITER", 1)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        gplvm_score(X, Y)


def test_parameters_beyond_rounding_are_no_optimum():
    process = np.zeros((3, 3)), np.eye(3), 1
    value, slope = _gplvm._cost(np.array([0.0, 18.0, 18.0, -40.0]), *process)
    assert value == 1e300
    assert not slope.any()
    assert np.isfinite(_gplvm._cost(START, *process)[0])


@pytest.mark.parametrize(
    ("data", "expected"),
    [recordings.recording("recorded run", 3812), recordings.recording("recorded robot", 2201)],
)
def test_score_of_isomap_is_that_of_the_reference(data, expected):
    Y = recordings.load(data)
    U = Isomap(n_neighbors=recordings.neighbours(data)).fit_transform(Y)
    assert gplvm_score(U, Y) == pytest.approx(expected, rel=1e-3)
