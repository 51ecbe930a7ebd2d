"""Penalties: their values, their gradients, and which a problem has."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import squareform

from tests.solvers.problems import objective_for
from unmask.problem import KnownSpace
from unmask.problem._penalties import LeakPenalty, Ridge
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


def test_the_ridge_is_the_sum_of_squares_of_the_map_and_has_its_gradient(rng):
    Z = rng.standard_normal((9, 5))
    penalty, G = Ridge(2, 0.3, 0.6), np.zeros_like(Z)
    assert penalty.add_to(G, Z) == pytest.approx(0.6 * np.sum(Z[:, :2] ** 2), rel=1e-12)
    np.testing.assert_allclose(G[:, :2], 0.6 * Z[:, :2])
    np.testing.assert_array_equal(G[:, 2:], 0)


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
@pytest.mark.parametrize("form", ["unit", "missing", "array", "sparse", "sammon"])
def test_the_ridge_pulls_by_the_mean_weight_of_the_pairs_that_count(rng, form):
    D = rng.uniform(1, 2, (8, 8))
    D = (D + D.T) * (1 - np.eye(8))
    i, j = np.triu_indices(8, 1)
    W = np.where(rng.uniform(size=28) < 0.8, rng.uniform(1, 4, 28), 0.0)
    W[:7] = 1.0
    table = squareform(W)
    options, mean = {}, 1.0
    if form == "missing":
        D[0, 1] = D[1, 0] = np.nan
    elif form == "sammon":
        options, mean = {"scheme": "sammon"}, np.mean(1 / D[i, j])
    elif form != "unit":
        options, mean = {"weights": table if form == "array" else sp.csr_array(table)}, W[W > 0].mean()
    objective, _ = objective_for(D, penalties={"ridge": 0.5}, **options)
    (penalty,) = objective.penalties
    # Weights are kept in a unit of their own.
    unit = 1.0
    if form not in ("unit", "missing"):
        unit = objective.engine.graph.degrees[0] / (table[0].sum() if form != "sammon" else np.sum(1 / D[0, 1:]))
    assert penalty.pull == pytest.approx(0.5 * mean * unit, rel=1e-12)
    assert penalty.strength == 0.5
    assert objective.halvings == 0
