"""The compiled passes equal their NumPy twins; the twins equal the definitions."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from tests.helpers import noisy_distances, symmetric_weights, with_missing
from unmask.kernels import (
    ArraySource,
    Pairs,
    Weighting,
    Workers,
    fused,
    plain,
    power_of_two_near,
)

from . import twins
from .modes import INTERPRETED, compiled_only

# One tile, exactly one tile, one more, several chunks; rows go by four, and the last of a tile one by one.
SIZES = [5, 321] if INTERPRETED else [5, 320, 321, 1027]


def make_pairs(rng, n, weighting, dtype=np.float64):
    D = noisy_distances(rng, n).astype(dtype)
    D[1, 0] = D[0, 1] = 0.0
    if weighting != Weighting.UNIT:
        D = with_missing(rng, D, 0.2)
    W = symmetric_weights(rng, n).astype(dtype) if weighting == Weighting.ARRAY else np.empty((0, 0))
    factor = 1.0 if weighting < Weighting.SAMMON else 0.7
    return Pairs(ArraySource(D), 0.5, weighting, W, floor=1e-3, factor=factor)


def coordinates(rng, n, k=3):
    Z = rng.standard_normal((n, k))
    Z[1] = Z[0]  # two objects at the same place: their distance is 0
    return Z


@pytest.mark.parametrize("weighting", list(Weighting))
@pytest.mark.parametrize("n", SIZES)
def test_passes_equal_their_twins(rng, n, weighting):
    pairs, Z = make_pairs(rng, n, weighting), coordinates(rng, n)
    with Workers(2) as workers:
        stress, G = fused.stress_pass(pairs, Z, workers)
        expected, expected_G = twins.stress_pass(pairs, Z)
        assert stress == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-11 * np.abs(expected_G).max())
        for name, arguments in {
            "squared_product": (Z[:, :2], Z[:, 1:], 0.3),
        }.items():
            got = getattr(fused, name)(pairs, *arguments, workers)
            want = getattr(twins, name)(pairs, *arguments)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * np.abs(want).max(), err_msg=name)
        for name, arguments in {"laplacian_pass": (Z,), "last_pass": (Z, rng.standard_normal(n))}.items():
            both = getattr(fused, name)(pairs, *arguments, workers), getattr(twins, name)(pairs, *arguments)
            for got, want in zip(*both, strict=True):
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * np.abs(want).max(), err_msg=name)


@pytest.mark.parametrize("n", SIZES[:1] if INTERPRETED else [5, 500])
@pytest.mark.parametrize("columns", [1, 2, 4, 5])
def test_any_number_of_columns(rng, n, columns):
    pairs, Z = make_pairs(rng, n, Weighting.UNIT), coordinates(rng, n, columns)
    stress, G = fused.stress_pass(pairs, Z, Workers(1))
    expected, expected_G = twins.stress_pass(pairs, Z)
    assert stress == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-11 * np.abs(expected_G).max())


@compiled_only
@pytest.mark.parametrize("weighting", list(Weighting))
def test_single_precision_pass_is_accurate_to_single_precision(rng, weighting):
    pairs, Z = make_pairs(rng, 700, weighting, np.float32), coordinates(rng, 700)
    stress, G = fused.stress_pass(pairs, Z.astype(np.float32), Workers(2))
    expected, expected_G = twins.stress_pass(pairs, Z)
    assert stress == pytest.approx(expected, rel=2e-6)
    assert G.dtype == np.float64
    np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-5 * np.abs(expected_G).max())


def test_single_precision_data_in_double_arithmetic_loses_nothing(rng):
    pairs, Z = make_pairs(rng, 300, Weighting.MASKED, np.float32), coordinates(rng, 300)
    stress, G = fused.stress_pass(pairs, Z, Workers(1))
    expected, expected_G = twins.stress_pass(pairs, Z)
    assert stress == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(G, expected_G, rtol=0, atol=1e-11 * np.abs(expected_G).max())


@compiled_only
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_does_not_change_a_bit(rng, dtype):
    pairs, Z = make_pairs(rng, 1100, Weighting.UNIT, dtype), coordinates(rng, 1100).astype(dtype)
    results = [fused.stress_pass(pairs, Z, Workers(threads)) for threads in (1, 2, 3)]
    for stress, G in results[1:]:
        assert stress == results[0][0]
        np.testing.assert_array_equal(G, results[0][1])


@pytest.mark.parametrize("weighting", list(Weighting))
def test_half_gradient_is_half_the_derivative(rng, weighting):
    pairs, Z = make_pairs(rng, 8, weighting), rng.standard_normal((8, 2))
    numeric = approx_fprime(Z.ravel(), lambda z: twins.stress_pass(pairs, z.reshape(8, 2))[0], 1e-7)
    np.testing.assert_allclose(2 * twins.stress_pass(pairs, Z)[1].ravel(), numeric, atol=1e-5)


def test_stress_by_its_definition(rng):
    D, Z = noisy_distances(rng, 6), rng.standard_normal((6, 2))
    W = symmetric_weights(rng, 6)
    stress = sum(W[i, j] * (D[i, j] - np.linalg.norm(Z[i] - Z[j])) ** 2 for i in range(6) for j in range(i + 1, 6))
    assert twins.stress_pass(Pairs(ArraySource(D), 1.0, Weighting.ARRAY, W), Z)[0] == pytest.approx(stress, rel=1e-13)


def test_sammon_weights_by_their_definition(rng):
    D = noisy_distances(rng, 6)
    total = np.triu(D).sum()
    pairs = Pairs(ArraySource(D), 1.0, Weighting.SAMMON, floor=1e-9, factor=1 / total)
    i, j = np.triu_indices(6, 1)
    np.testing.assert_allclose(plain.pair_weights(pairs)[i, j], 1 / (D[i, j] * total))


@pytest.mark.parametrize("defect", ["none", "missing", "one-sided", "infinite", "negative", "asymmetric"])
@pytest.mark.parametrize("n", [6, 300])
def test_survey_equals_its_twin_and_sees_every_defect(rng, n, defect):
    D = noisy_distances(rng, n)
    i, j = (2, 4) if n == 6 else (3, 280)
    value = {"missing": np.nan, "one-sided": np.nan, "infinite": np.inf, "negative": -0.1}.get(defect, D[i, j])
    D[i, j] = value
    if defect in ("missing", "negative"):
        D[j, i] = value
    if defect == "asymmetric":
        D[j, i] += 0.25
    survey = ArraySource(D).survey(Workers(2))
    twin = twins.survey(ArraySource(D))
    assert survey[:-1] == twin[:-1]
    assert survey.sums == pytest.approx(twin.sums, rel=1e-13)
    assert survey.sums.least == np.min(D[np.triu_indices(n, 1)], where=D[np.triu_indices(n, 1)] > 0, initial=np.inf)
    assert survey.missing == (defect == "missing")
    assert survey.one_sided == (defect == "one-sided")
    assert survey.infinite == (defect == "infinite")
    assert survey.smallest == (-0.1 if defect == "negative" else 0.0)
    assert survey.asymmetry == (pytest.approx(0.25) if defect == "asymmetric" else 0.0)


@pytest.mark.parametrize("value", [1e-150, 0.3, 1.0, 77.0, 1e150])
def test_scale_is_a_power_of_two_near_the_reciprocal(value):
    scale = power_of_two_near(value)
    assert 0.5 <= value * scale <= 2
    assert np.frexp(scale)[0] == 0.5
