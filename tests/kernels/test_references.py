"""All objects against some references: the compiled pass, its plain twin, and what they are estimates of."""

import numpy as np
import pytest

from tests.helpers import noisy_distances
from unmask.engines import SampledEngine, make_engine
from unmask.kernels import ArraySource, Pairs, SampledPairs, Weighting, Workers, references

from . import twins
from .modes import compiled_only

N = 600


def pairs_of(D, weighting, kind=Pairs):
    rule = {"floor": 0.01, "factor": 0.003} if weighting == Weighting.SAMMON else {}
    return kind(ArraySource(D), 0.5, weighting, every_pair=True, **rule)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return noisy_distances(rng, N), rng.normal(size=(N, 3)), np.sort(rng.permutation(N)[:40])


@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_compiled_pass_equals_the_plain_one(data, weighting, dtype):
    D, Z, some = data
    pairs = pairs_of(D.astype(dtype), weighting)
    mine = references.reference_pass(pairs, some, Z.astype(dtype), Workers(2))
    for found, wanted in zip(mine, twins.reference_pass(pairs, some, Z), strict=True):
        np.testing.assert_allclose(
            found, wanted, rtol=0, atol=(1e-10 if dtype == np.float64 else 1e-4) * np.abs(wanted).max()
        )


@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON])
def test_all_objects_as_references_are_the_exact_pass(data, weighting):
    D, Z, _ = data
    pairs = pairs_of(D, weighting)
    found = references.reference_pass(pairs, np.arange(N), Z, Workers())
    stress, G = twins.stress_pass(pairs, Z)
    assert found.stresses.sum() / 2 == pytest.approx(stress)
    np.testing.assert_allclose(found.G, G, atol=1e-9 * np.abs(G).max())
    np.testing.assert_allclose(found.shares, twins.last_pass(pairs, Z, np.zeros(len(Z)))[0])
    assert found.sizes.sum() / 2 == pytest.approx(twins.pair_sums(pairs)[2])


@compiled_only
@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON])
def test_the_engine_estimates_the_exact_pass_without_bias(data, weighting):
    D, Z, _ = data
    exact = make_engine(pairs_of(D, weighting), Workers())
    engine = make_engine(pairs_of(D, weighting, SampledPairs), Workers())
    assert isinstance(engine, SampledEngine)
    values, G = [], np.zeros_like(Z)
    for _ in range(30):  # walks through all objects several times
        engine.draw()
        value, gradient = engine.stress(Z)
        values.append(value)
        G += gradient / 30
    stress, wanted = exact.stress(Z)
    assert np.mean(values) == pytest.approx(stress, rel=0.01)
    np.testing.assert_allclose(G, wanted, atol=0.05 * np.abs(wanted).max())
    assert engine.total == pytest.approx(exact.total, rel=0.02)
    found = engine.normalised_stress(Z)
    assert abs(found.value - stress / exact.total) < 4 * found.error
    np.testing.assert_allclose(engine.graph.degrees, exact.graph.degrees, rtol=0.3)
    np.testing.assert_allclose(engine.graph.degrees.mean(), exact.graph.degrees.mean(), rtol=0.02)


@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON])
def test_the_sums_of_rectangles_equal_the_plain_ones(data, weighting):
    D, Z, _ = data
    pairs = pairs_of(D, weighting)
    rows = np.random.default_rng(1).permutation(N).reshape(12, 50)
    columns = np.roll(rows, 1, axis=0)
    mine = references.rectangle_sums(pairs, rows, columns, Z, Workers(2))
    for found, wanted in zip(mine, twins.rectangle_sums(pairs, rows, columns, Z), strict=True):
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON])
def test_a_missing_dissimilarity_is_noticed_by_whoever_meets_it(data, weighting):
    D, Z, some = data
    D = D.copy()
    D[some[0], 500] = np.nan
    found = references.reference_pass(pairs_of(D, weighting), some, Z, Workers())
    assert np.isnan(found.stresses[0])
    assert np.isfinite(found.stresses[1:]).all()


@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON])
def test_the_graph_tells_the_pairs_of_single_objects(data, weighting):
    D, _, _ = data
    exact = make_engine(pairs_of(D, weighting), Workers()).graph
    graph = make_engine(pairs_of(D, weighting, SampledPairs), Workers()).graph
    unit = np.zeros((N, 2))
    unit[[3, 77], [0, 1]] = 1.0
    partners, weights, delta = graph.pairs_of(np.array([3, 77]))
    off = unit[partners] == 0
    np.testing.assert_allclose(-weights.T[off], exact.laplacian(unit)[partners][off])
    np.testing.assert_allclose(delta.T**2, exact.squared_product(unit, np.empty((N, 0)), 0.0)[partners])


@pytest.mark.parametrize("weighting", [Weighting.UNIT, Weighting.SAMMON])
@compiled_only
def test_the_standard_error_is_that_of_the_estimate(data, weighting):
    D, Z, _ = data
    exact = make_engine(pairs_of(D, weighting), Workers())
    stress = exact.stress(Z)[0] / exact.total
    engine = make_engine(pairs_of(D, weighting, SampledPairs), Workers())
    found = [engine.normalised_stress(Z) for _ in range(40)]
    off = np.array([(one.value - stress) / one.error for one in found])
    assert 0.5 < np.sqrt(np.mean(off**2)) < 1.6


def test_two_places_are_compared_on_the_same_references_until_the_next_draw(data):
    D, Z, _ = data
    engine = make_engine(pairs_of(D, Weighting.UNIT, SampledPairs), Workers())
    first = engine.stress(Z)[0]
    assert engine.stress(Z)[0] == first
    engine.draw()
    assert engine.stress(Z)[0] != first
