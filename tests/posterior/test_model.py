"""The log density: against scipy's distributions, its gradient against differences, and every type of known feature."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, truncnorm

from tests.kernels import twins
from unmask import Cyclic, Numeric, Spline
from unmask.checking import check_dissimilarities
from unmask.kernels import Workers
from unmask.posterior import Evidence, empirical_tau
from unmask.problem import KnownFeatures, build_pairs

from .simulated import TAU, make_model, simulate

N = 12


def mixed(rng):
    """Return a table with every type of feature, and cells missing in each."""
    table = pd.DataFrame(
        {
            "size": rng.standard_normal(N),
            "price": rng.uniform(1, 5, N),
            "share": rng.uniform(0.1, 0.9, N),
            "kind": np.resize(["a", "b", "c"], N),
            "grade": pd.Categorical(np.resize(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True),
            "hour": rng.uniform(0, 24, N),
            "curve": rng.standard_normal(N),
        }
    )
    for row, name in enumerate(["size", "price", "share", "kind", "grade", "hour"]):
        table.loc[row, name] = None
    types = {
        "price": Numeric(lower=0.5),
        "share": Numeric(lower=0.0, upper=1.0),
        "hour": Cyclic(24),
        "curve": Spline(df=3),
    }
    return table, types


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_gradient_is_that_of_differences_for_every_type_of_feature(rng):
    table, types = mixed(rng)
    types |= {"size": Numeric(error=0.3), "price": Numeric(lower=0.5, error=0.2)}
    model = make_model(N, 2, table, types=types)
    _, _, model = simulate(model, rng)
    x = rng.standard_normal(model.size)
    _, gradient = model(x)
    by_differences = [(model(x + 1e-6 * e)[0] - model(x - 1e-6 * e)[0]) / 2e-6 for e in np.eye(model.size)]
    np.testing.assert_allclose(gradient, by_differences, rtol=1e-4, atol=1e-4 * np.abs(gradient).max())
    value, twin = model(x, twins)
    assert model(x)[0] == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(gradient, twin, rtol=1e-8, atol=1e-8 * np.abs(gradient).max())


def test_density_is_that_of_the_model_as_it_is_written(rng):
    model = make_model(N, 2, rng.standard_normal((N, 2)))
    _, delta, model = simulate(model, rng)

    def by_scipy(x):
        own = model.parameters(x)
        d = np.linalg.norm(own.Z[model.evidence.rows] - own.Z[model.evidence.columns], axis=1)
        sd = np.exp(own.log_s) * np.sqrt(d**2 + 0.01**2) ** own.gamma
        priors = norm.logpdf(own.U, 0, TAU).sum() + norm.logpdf(own.C, 0, 0.5).sum()
        noise = norm.logpdf(own.log_s, -1.6, 1) + norm.logpdf(own.gamma, 0.5, 0.5)
        return norm.logpdf(delta, d, sd).sum() + priors + noise

    one, other = rng.standard_normal((2, model.size))
    assert model(one)[0] - model(other)[0] == pytest.approx(by_scipy(one) - by_scipy(other), rel=1e-10)


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
@pytest.mark.parametrize("bounds", [{}, {"lower": -1.0}, {"upper": 1.0}, {"lower": -1.0, "upper": 2.0}])
def test_prior_of_a_missing_number_is_normal_within_its_bounds(rng, bounds):
    column = rng.uniform(-0.9, 0.9, N)
    column[3] = np.nan
    model = make_model(N, 1, column[:, None], types={0: Numeric(**bounds)})
    cells, _ = model.cells[0]
    grid = np.linspace(-12, 12, 10_001)
    prior = np.exp([-0.5 * x**2 + cells.correction(np.array([x]))[0] for x in grid])
    values = np.array([cells.values(np.array([x]))[0, 0] for x in grid])
    low, high = np.clip([cells.low, cells.high], -40, 40)
    prior /= prior.sum()
    for quantile in (0.1, 0.5, 0.9):
        expected = truncnorm.ppf(quantile, low, high)
        assert prior[values <= expected].sum() == pytest.approx(quantile, abs=2e-3)


def test_coefficients_of_ordered_levels_do_not_fall(rng):
    grade = pd.DataFrame({"grade": pd.Categorical(np.resize([1, 2, 3], N), ordered=True)})
    model = make_model(N, 1, grade)
    assert (model.parameters(rng.standard_normal(model.size)).C >= 0).all()


def test_start_has_the_map_and_the_coefficients_that_were_given(rng):
    model = make_model(N, 2, rng.standard_normal((N, 2)))
    U, B = rng.standard_normal((N, 2)), rng.standard_normal((2, 2))
    own = model.parameters(model.start(U, B @ B.T))
    np.testing.assert_allclose(own.U, U)
    np.testing.assert_allclose(own.C @ own.C.T, B @ B.T)


def test_spread_of_the_prior_is_that_of_the_map_less_its_noise(rng):
    n, spread, noise = 60, 0.4, 0.1
    U = spread * rng.standard_normal((n, 2))
    rows, columns = np.triu_indices(n, 1)
    d = np.linalg.norm(U[rows] - U[columns], axis=1)
    exact = Evidence(n, rows, columns, d, np.ones(len(d)))
    assert empirical_tau(exact, U, U, KnownFeatures.nothing(n)) == pytest.approx((U - U.mean(0)).std(), rel=1e-9)
    noisy = Evidence(n, rows, columns, d + noise * rng.standard_normal(len(d)), np.ones(len(d)))
    # A coordinate has the noise of a regression on half of the n - 1 pairs: d's derivative is a cosine.
    expected = np.sqrt((U - U.mean(0)).var() - noise**2 / (n / 2))
    assert empirical_tau(noisy, U, U, KnownFeatures.nothing(n)) == pytest.approx(expected, rel=0.01)


def test_pairs_without_weight_or_dissimilarity_are_no_evidence(rng):
    D = squareform_of(rng.uniform(1, 2, 15))
    W = squareform_of(rng.uniform(1, 3, 15))
    D[0, 1] = D[1, 0] = np.nan
    W[2, 3] = W[3, 2] = 0.0
    with Workers(1) as workers:
        with pytest.warns(match="missing"):
            checked = check_dissimilarities(D, workers=workers)
        pairs = build_pairs(checked, None, W, workers)
    evidence = Evidence.of(pairs)
    seen = set(zip(evidence.rows.tolist(), evidence.columns.tolist(), strict=True))
    assert len(seen) == 13
    assert not seen & {(0, 1), (2, 3)}
    np.testing.assert_array_equal(evidence.delta, D[evidence.rows, evidence.columns])
    weights = W[evidence.rows, evidence.columns]
    np.testing.assert_allclose(evidence.precision, weights / weights.mean())


def squareform_of(values):
    from scipy.spatial.distance import squareform

    return squareform(values)
