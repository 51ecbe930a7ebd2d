"""Known features measured with error, and those of no relevance."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalClassicalMDS, ConditionalGPLVM, ConditionalTSNE, ConditionalUMAP, GeneralMDS, Numeric
from unmask.datasets import make_car_brands

from .fits import TIGHT, N, fit, plain_stress


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_no_error_is_the_same_to_the_last_bit(D, solver):
    V = pd.DataFrame(np.random.default_rng(14).uniform(size=(N, 2)), columns=["speed", "size"])
    plain, zero = (
        fit(D, V, solver=solver),
        fit(D, V, solver=solver, known_types={"speed": Numeric(error=0.0), "size": Numeric(error=0)}),
    )
    np.testing.assert_array_equal(plain.embedding_, zero.embedding_)
    np.testing.assert_array_equal(plain.coef_, zero.coef_)
    assert plain.stress_ == zero.stress_
    assert zero.known_corrected_.shape == (N, 0)


@pytest.mark.parametrize("coef", ["full", "diagonal"])
@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_values_move_within_their_error_at_the_price_of_a_residual(D, solver, coef):
    """At the solution, stress plus price is stationary in every moved value; both by the formula in plain NumPy."""
    V = pd.DataFrame(np.random.default_rng(15).uniform(size=(N, 2)) * [10, 1], columns=["speed", "size"])
    exact = fit(D, V, coef=coef, solver=solver, n_init=1, **TIGHT)
    moved = fit(
        D, V, coef=coef, solver=solver, n_init=1, known_types={"speed": Numeric(error=0.5)}, tol=1e-13, max_iter=50_000
    )
    assert list(moved.known_corrected_.columns) == ["speed"]
    total = np.sum(D[np.triu_indices(N, 1)] ** 2)
    price = exact.stress_ * total / (N * (N - 1) / 2)

    def cost(speed):
        table = np.column_stack([speed, V["size"]])
        moves = np.sum(((speed - V["speed"]) / 0.5) ** 2)
        return plain_stress(D, moved.embedding_, table @ moved.coef_.to_numpy()) * total + price * moves

    speed = moved.known_corrected_["speed"].to_numpy()
    stress = plain_stress(D, moved.embedding_, np.column_stack([speed, V["size"]]) @ moved.coef_.to_numpy())
    assert stress == pytest.approx(moved.stress_, rel=1e-9)
    assert moved.stress_path_[-1] == pytest.approx(cost(speed) / total, rel=1e-5)
    assert np.all(np.diff(moved.stress_path_) <= 0)
    for i in range(N):
        for step in (0.02, -0.02):
            tried = speed.copy()
            tried[i] += step
            assert cost(tried) > cost(speed)
    assert moved.stress_ < exact.stress_
    assert 0.05 < np.sqrt(np.mean((speed - V["speed"]) ** 2)) / 0.5 < 1.5


def test_values_move_towards_the_truth_and_more_so_the_larger_their_error():
    gains = []
    for seed in range(5):
        cars = make_car_brands(30, noise=0.05, known_noise=0.0, random_state=seed)
        rng = np.random.default_rng(seed)
        observed = cars.known.iloc[:, :6].copy()
        observed["quality"] += rng.normal(scale=0.2, size=30)
        mds = fit(cars.dissimilarities, observed, n_components=1, known_types={"quality": Numeric(error=0.2)}, n_init=1)
        truth = cars.known["quality"]
        gains.append(
            np.mean((mds.known_corrected_["quality"] - truth) ** 2) / np.mean((observed["quality"] - truth) ** 2)
        )
        smaller = fit(
            cars.dissimilarities, observed, n_components=1, known_types={"quality": Numeric(error=0.02)}, n_init=1
        )
        moves = [np.std(m.known_corrected_["quality"] - observed["quality"]) for m in (smaller, mds)]
        assert moves[0] < moves[1]
    assert np.median(gains) < 0.7


@pytest.mark.parametrize(
    "estimator",
    [ConditionalClassicalMDS(), ConditionalGPLVM(), ConditionalTSNE(perplexity=5), ConditionalUMAP(), GeneralMDS()],
)
def test_estimators_that_take_values_as_exact_refuse_an_error(estimator):
    X = np.random.default_rng(16).normal(size=(N, 3))
    known = pd.DataFrame({"speed": X[:, 0]})
    with pytest.raises(ValueError, match=r"'speed' with a measurement error, which .*use ConditionalMDS"):
        estimator.set_params(known_types={"speed": Numeric(error=0.1)}).fit(X, known=known)


@pytest.mark.slow
def test_irrelevant_features_do_no_harm():
    """Four relevant features among 5 to 90 irrelevant ones: 100 car brands, three unknown features, five seeds."""
    ratios, errors = [], []
    for number in (5, 20, 50, 90):
        for seed in range(5):
            cars, rng = make_car_brands(100, random_state=seed), np.random.default_rng(seed)
            noise = pd.DataFrame(rng.uniform(size=(100, number)), cars.known.index).add_prefix("noise")
            known = pd.concat([cars.known.iloc[:, :4], noise], axis=1)
            mds = fit(cars.dissimilarities, known, n_components=3, coef="diagonal")
            b = np.diag(mds.coef_)
            size = np.abs(b) * known.std().to_numpy()
            errors.append(np.mean((b[:4] - cars.coef.to_numpy()[:4]) ** 2))
            ratios.append(size[:4].mean() / size[4:].mean())
    by_number = np.reshape(ratios, (4, 5))
    assert max(errors) <= 1e-3
    assert by_number.min() >= 5
    assert np.all(np.diff(by_number.mean(axis=1)) > 0)
