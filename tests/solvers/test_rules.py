"""Step rules: reference trajectories, monotone descent, and how many passes they need."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances, symmetric_weights
from unmask.datasets import make_car_brands
from unmask.solvers import RULES, Reason, given_start, make_starts, minimise

from .problems import objective_for

REFERENCES = [
    ("a_gender_g1e-9", ["gender"], "full", None),
    ("b_GD_matrix_g1e-9", ["gender", "degree"], "full", None),
    ("c_GD_vector_g1e-9", ["gender", "degree"], "diagonal", None),
    ("d_GD_matrix_sammon_g1e-9", ["gender", "degree"], "full", "sammon"),
]


@pytest.mark.parametrize(("name", "columns", "coef", "scheme"), REFERENCES)
def test_smacof_follows_the_independent_trajectory(kinship, reference, name, columns, coef, scheme):
    expected = reference(name)
    objective, coded = objective_for(kinship.dissimilarities, kinship.known[columns], coef=coef, scheme=scheme)
    start = given_start(objective, coded, reference("U_start.csv"), np.eye(len(columns)))
    solution = minimise(objective, start.theta, RULES["smacof"](objective)(), tol=1e-9, max_iter=1000)
    # Raw stress: normalised times the sum of w delta^2 in the data's own units (1 for Sammon's weights).
    D = np.triu(kinship.dissimilarities.to_numpy(), 1)
    total = 1.0 if scheme else np.sum(D**2.0)
    np.testing.assert_allclose(np.array(solution.path) * total, expected["sigma"], rtol=1e-9)
    assert solution.value == pytest.approx(expected["stress"], rel=1e-9)
    assert solution.reason is Reason.SMALL_DECREASE


def test_smacof_with_the_reference_weights_as_an_array(kinship, reference):
    expected = reference("d_GD_matrix_sammon_g1e-9")
    W = reference("W_sammon.csv")
    objective, coded = objective_for(kinship.dissimilarities, kinship.known[["gender", "degree"]], weights=W)
    start = given_start(objective, coded, reference("U_start.csv"), np.eye(2))
    solution = minimise(objective, start.theta, RULES["smacof"](objective)(), tol=1e-9, max_iter=1000)
    np.testing.assert_allclose(solution.path, expected["sigma"], rtol=1e-9)


def test_one_step_equals_the_published_update(rng):
    """U <- H+ C U and B <- (V'HV)^-1 V'C V B, written out with dense matrices."""
    n, p, q = 12, 2, 3
    D, W, V = noisy_distances(rng, n), symmetric_weights(rng, n), rng.standard_normal((n, q))
    U, B = rng.standard_normal((n, p)), rng.standard_normal((q, q))
    np.fill_diagonal(W, 0)
    Z = np.column_stack([U, V @ B])
    d = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    C = -W * D / np.where(d > 0, d, 1)
    np.fill_diagonal(C, 0)
    C -= np.diag(C.sum(axis=1))
    H = np.diag(W.sum(axis=1)) - W
    next_U = np.linalg.pinv(H) @ C @ U
    next_B = np.linalg.solve(V.T @ H @ V, V.T @ C @ V @ B)

    objective, coded = objective_for(D, V, weights=W)
    start = given_start(objective, coded, U, B)
    solution = minimise(objective, start.theta, RULES["smacof"](objective)(), tol=0, max_iter=1)
    structure, scale = objective.structure, objective.engine.scale
    found_U = structure.unknown(solution.theta) / scale
    np.testing.assert_allclose(found_U - found_U.mean(axis=0), next_U - next_U.mean(axis=0), atol=1e-10)
    raw = coded.scale[:, None] * coded.scale
    np.testing.assert_allclose(structure.gram(solution.theta) / raw / scale**2, next_B @ next_B.T, rtol=1e-9)


OPTIONS = [
    {},
    {"orthogonal": True},
]


@pytest.mark.parametrize("solver", ["smacof", "lbfgs"])
@pytest.mark.parametrize("coef", ["full", "diagonal", [[0, 2], [1]]])
@pytest.mark.parametrize("weighting", ["unit", "sammon", "array", "sparse"])
@pytest.mark.parametrize("options", OPTIONS)
def test_stress_never_rises(rng, solver, coef, weighting, options):
    n = 25
    D, V = noisy_distances(rng, n), rng.standard_normal((n, 3))
    W = symmetric_weights(rng, n) ** 3 if weighting in ("array", "sparse") else None
    W = sp.csr_array(np.where(W > 1, W, 0)) if weighting == "sparse" else W
    scheme = "sammon" if weighting == "sammon" else None
    objective, coded = objective_for(D, V, coef=coef, scheme=scheme, weights=W, **options)
    make_rule = RULES[solver](objective)
    for start in make_starts(objective, coded, "auto", 4, rng):
        solution = minimise(objective, start.theta, make_rule(), tol=1e-12, max_iter=60)
        assert np.all(np.diff(solution.path) <= 0)
        assert solution.value < solution.path[0]


@pytest.mark.parametrize("weighting", ["unit", "array"])
def test_both_solvers_reach_the_same_minimum_from_the_closed_form(rng, weighting):
    n = 60
    D, V = noisy_distances(rng, n), rng.standard_normal((n, 2))
    W = symmetric_weights(rng, n) if weighting == "array" else None
    objective, coded = objective_for(D, V, p=3, weights=W)
    (start,) = make_starts(objective, coded, "auto", 1, rng)
    values = {
        name: minimise(objective, start.theta, make(objective)(), tol=1e-14, max_iter=20000)
        for name, make in RULES.items()
    }
    assert values["lbfgs"].value == pytest.approx(values["smacof"].value, rel=1e-7)
    assert values["lbfgs"].passes < values["smacof"].passes / 2


def test_passes_needed_on_car_brands():
    """An independent prototype took 189 and 39 passes with SMACOF, 32 and 8 with L-BFGS (random, closed-form start)."""
    cars = make_car_brands(2000, random_state=0)
    objective, coded = objective_for(cars.dissimilarities, cars.known.iloc[:, :4], p=3)
    closed, *random = make_starts(objective, coded, "auto", 2, np.random.default_rng(0))
    best = minimise(objective, closed.theta, RULES["lbfgs"](objective)(), tol=1e-12, max_iter=500).value

    def passes(solver, start):
        found = minimise(
            objective,
            start.theta,
            RULES[solver](objective)(),
            tol=0,
            max_iter=400,
            callback=lambda _, s, __: s < best + 1e-6,
        )
        assert found.reason is Reason.INTERRUPTED
        return found.passes

    assert passes("lbfgs", closed) <= 12
    assert passes("lbfgs", random[0]) <= 50
    assert passes("smacof", closed) > 2 * passes("lbfgs", closed)
