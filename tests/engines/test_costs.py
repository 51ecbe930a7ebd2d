"""The engine of a general cost: in the loop's units outside, in the user's inside."""

import numpy as np
import pytest

from tests.helpers import noisy_distances, symmetric_weights
from unmask.checking import check_dissimilarities
from unmask.engines import CostEngine, TableEngine
from unmask.kernels import Cost, Form, Workers, plain_costs
from unmask.problem import build_pairs

N = 25


@pytest.fixture(params=["equal", "weighted"])
def engines(rng, request):
    """Return the engine of the stress, and one of the same cost put together from functions of a pair."""
    D, workers = 7.0 * noisy_distances(rng, N), Workers(1)
    W = symmetric_weights(rng, N) if request.param == "weighted" else None
    checked = check_dissimilarities(D, workers=workers)
    pairs = build_pairs(checked, None, W, workers)
    base = TableEngine(pairs, workers)
    cost = Cost(D, Form.SQUARED, plain_costs.root, plain_costs.squared, W)
    return base, CostEngine(base, cost, workers, unit=0.3, total=2.0)


def test_squared_loss_of_distances_is_the_stress_in_other_units(engines, rng):
    base, general = engines
    Z = rng.standard_normal((N, 3))
    (stress, G), (value, mine) = base.stress(Z), general.stress(Z)
    # Scaled dissimilarities make the stress scale**2 times as large; weights are scaled too.
    factor = 0.3 / (base.pairs.factor * base.scale**2)
    assert value == pytest.approx(factor * stress, rel=1e-12)
    np.testing.assert_allclose(mine, factor * G, rtol=0, atol=1e-12 * np.abs(mine).max())
    assert general.point_stress(Z).sum() / 2 == pytest.approx(value / 0.3, rel=1e-12)


def test_gradient_is_half_the_derivative_in_the_loops_units(engines, rng):
    _, general = engines
    Z, direction, step = rng.standard_normal((N, 3)), rng.standard_normal((N, 3)), 1e-6
    ends = [general.stress(Z + side * step * direction)[0] for side in (-1, 1)]
    slope = 2 * np.sum(general.stress(Z)[1] * direction)
    assert slope == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-6)


def test_everything_else_is_as_for_the_stress(engines):
    base, general = engines
    assert not general.majorises
    assert general.total == 2.0
    assert (general.n, general.scale, general.one_thread) == (base.n, base.scale, base.one_thread)
    assert general.graph is base.graph
