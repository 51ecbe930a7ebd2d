"""Penalties: their values, their gradients, and which a problem has."""

import numpy as np
import pandas as pd
import pytest

from tests.solvers.problems import objective_for
from unmask.problem import KnownSpace
from unmask.problem._penalties import LeakPenalty
from unmask.problem.linalg import orthonormal_basis


def test_the_leak_penalty_is_the_explained_sum_of_squares_and_has_its_gradient(rng):
    V, Z = rng.standard_normal((9, 4)), rng.standard_normal((9, 5))
    V -= V.mean(axis=0)
    U, P = Z[:, :2], V @ np.linalg.solve(V.T @ V, V.T)
    penalty, G = LeakPenalty(2, KnownSpace(orthonormal_basis(V)), 0.3 * 5.0), np.zeros_like(Z)
    assert penalty.add_to(G, Z) == pytest.approx(0.3 * 5.0 * np.sum((P @ U) ** 2), rel=1e-10)
    np.testing.assert_allclose(G[:, :2], 0.3 * 5.0 * P @ U, atol=1e-10)
    np.testing.assert_array_equal(G[:, 2:], 0)


@pytest.mark.parametrize(
    ("options", "stiffness"),
    [
        ({}, None),
        ({"penalties": {"leak_penalty": 0.0}}, None),
        ({"penalties": {"leak_penalty": 0.5}}, 0.5),
        ({"orthogonal": True}, np.inf),
        ({"penalties": {"leak_penalty": 0.5}, "orthogonal": True}, np.inf),  # which leaves nothing to penalise
        ({"penalties": {"leak_penalty": 0.5}, "p": 0}, None),
    ],
)
def test_a_problem_has_the_penalties_that_can_act(rng, options, stiffness):
    D, V = rng.uniform(1, 2, (8, 8)), pd.DataFrame({"v": rng.standard_normal(8)})
    D = (D + D.T) * (1 - np.eye(8))
    objective, _ = objective_for(D, V, **options)
    degree = objective.engine.graph.degrees.mean()
    assert [penalty.stiffness for penalty in objective.penalties] == ([] if stiffness is None else [stiffness * degree])
    assert objective.halvings == 0
