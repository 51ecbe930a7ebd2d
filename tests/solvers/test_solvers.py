"""Solvers: reference trajectories, monotone descent, and how many passes they need."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances, symmetric_weights
from unmask.checking import check_dissimilarities
from unmask.datasets import make_car_brands
from unmask.engines import make_engine
from unmask.kernels import Workers
from unmask.problem import Problem, build_pairs, check_known
from unmask.solvers import (
    RULES,
    Reason,
    automatic_number,
    axis_signs,
    canonical_map,
    closed_form,
    given_start,
    make_objective,
    make_starts,
    minimise,
)


def objective_for(D, known=None, p=2, coef="full", scheme=None, weights=None, **options):
    workers = Workers(2)
    checked = check_dissimilarities(D, symmetrize=None, workers=workers)
    coded = check_known(known, checked.n, checked.labels, coef)
    problem = Problem(build_pairs(checked, scheme, weights, workers)[0], coded, p, **options)
    return make_objective(problem, make_engine(problem.pairs, workers)), coded


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


@pytest.mark.parametrize("solver", ["smacof", "lbfgs"])
@pytest.mark.parametrize("coef", ["full", "diagonal", [[0, 2], [1]]])
@pytest.mark.parametrize("weighting", ["unit", "sammon", "array", "sparse"])
@pytest.mark.parametrize("options", [{}, {"leak_penalty": 0.5}, {"orthogonal": True}])
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
@pytest.mark.parametrize("strength", [1.0, 1e3, 1e6])
def test_both_solvers_agree_however_strong_the_penalty(rng, weighting, strength):
    n = 60
    D, V = noisy_distances(rng, n), rng.standard_normal((n, 2))
    W = symmetric_weights(rng, n) if weighting == "array" else None
    objective, coded = objective_for(D, V, weights=W, leak_penalty=strength)
    (start,) = make_starts(objective, coded, "auto", 1, rng)
    values = [
        minimise(objective, start.theta, make(objective)(), tol=1e-12, max_iter=20_000).value for make in RULES.values()
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


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
            callback=lambda _, s: s < best + 1e-6,
        )
        assert found.reason is Reason.CALLBACK
        return found.passes

    assert passes("lbfgs", closed) <= 12
    assert passes("lbfgs", random[0]) <= 50
    assert passes("smacof", closed) > 2 * passes("lbfgs", closed)


def test_reasons_for_stopping(rng):
    objective, coded = objective_for(noisy_distances(rng, 20))
    (start,) = make_starts(objective, coded, "random", 1, rng)
    make_rule = RULES["lbfgs"](objective)
    short = minimise(objective, start.theta, make_rule(), tol=0, max_iter=2)
    assert short.reason is Reason.MAX_ITER
    assert not short.converged
    assert short.n_iter == 2
    stopped = minimise(objective, start.theta, make_rule(), tol=0, max_iter=99, callback=lambda i, _: i == 3)
    assert stopped.reason is Reason.CALLBACK
    assert stopped.n_iter == 3
    exact = minimise(objective, start.theta, make_rule(), tol=0, max_iter=100_000)
    assert exact.reason is Reason.ROUNDING
    assert exact.converged


def test_closed_form_matches_the_independent_one(kinship, reference):
    expected = reference("g_eigen_GD_matrix_p2")
    objective, coded = objective_for(kinship.dissimilarities, kinship.known[["gender", "degree"]], coef="diagonal")
    engine = objective.engine
    U, gram, values = closed_form(engine, coded, 2)
    np.testing.assert_allclose(values / engine.scale**2, expected["eig"], rtol=1e-10)
    np.testing.assert_allclose(np.sqrt(np.diag(gram)) / coded.scale / engine.scale, np.diag(expected["B"]), rtol=1e-10)
    np.testing.assert_allclose(canonical_map(U) / engine.scale, canonical_map(np.array(expected["U"])), atol=1e-9)


@pytest.mark.parametrize("coef", ["full", "diagonal", [["known0", "known2"], ["known1"]]])
@pytest.mark.parametrize("holes", [False, True])
def test_regression_of_the_closed_form_equals_least_squares_on_all_pairs(rng, coef, holes):
    from unmask.solvers._closed_form import _regressors, regress_squares

    n = 30
    V = rng.standard_normal((n, 3))
    D = np.sqrt(noisy_distances(rng, n) ** 2 + 0.3 * ((V[:, None] - V[None]) ** 2).sum(axis=2))
    if holes:
        D[3, 7] = D[7, 3] = D[2, 9] = D[9, 2] = np.nan
        with pytest.warns(UserWarning, match="2 of 435 pairs"):
            objective, coded = objective_for(D, V, coef=coef)
    else:
        objective, coded = objective_for(D, V, coef=coef)
    gram, intercept = regress_squares(objective.engine, _regressors(coded, start=False), coded.values)
    i, j = np.nonzero(np.triu(~np.isnan(D), 1))
    difference = coded.values[i] - coded.values[j]
    terms = [(a, b) for g in coded.groups for a in g for b in g if a <= b]
    X = np.column_stack([np.ones(len(i)), *(difference[:, a] * difference[:, b] for a, b in terms)])
    solution = np.linalg.lstsq(X, (D[i, j] * objective.engine.scale) ** 2, rcond=None)[0]
    assert intercept == pytest.approx(solution[0], rel=1e-9)
    for (a, b), value in zip(terms, solution[1:], strict=True):
        assert gram[a, b] * (1 if a == b else 2) == pytest.approx(value, rel=1e-7, abs=1e-10)


def test_iterative_and_full_decompositions_agree():
    cars = make_car_brands(400, random_state=0)
    objective, coded = objective_for(cars.dissimilarities, cars.known.iloc[:, :4], p=3)
    engine = objective.engine
    U, gram, values = closed_form(engine, coded, 3)
    D2 = (cars.dissimilarities.to_numpy() * engine.scale) ** 2
    J = np.eye(400) - 1 / 400
    full = np.linalg.eigvalsh(-0.5 * J @ D2 @ J - coded.values @ gram @ coded.values.T)[::-1][:3]
    np.testing.assert_allclose(values, full, rtol=1e-9)
    np.testing.assert_allclose(np.sum(U**2, axis=0), full, rtol=1e-9)
    loose = closed_form(engine, coded, 3, tol=1e-2)
    np.testing.assert_allclose(loose.eigenvalues, full, rtol=1e-5)


def test_negative_squared_coefficients_become_zero_and_starts_leave_zero(rng):
    """A feature that makes objects more alike has no real coefficient; a start must not be stuck there."""
    n = 30
    V = rng.standard_normal((n, 2))
    D = noisy_distances(rng, n) + 1
    D = D - 0.3 * np.abs(V[:, :1] - V[:, 0])
    D = np.abs(np.triu(D, 1))
    D = D + D.T
    objective, coded = objective_for(D, V, coef="diagonal")
    gram = closed_form(objective.engine, coded, 2).gram
    assert gram[0, 0] == 0
    (start,) = make_starts(objective, coded, "closed-form", 1, rng)
    assert objective.structure.gram(start.theta)[0, 0] > 0


def test_number_of_automatic_starts_falls_with_the_number_of_objects():
    numbers = [automatic_number(n) for n in (3, 14, 30, 100, 299, 300, 100_000)]
    assert numbers == sorted(numbers, reverse=True)
    assert automatic_number(14) >= 100
    assert automatic_number(100_000) == 1


def test_canonical_map_is_the_same_for_rotated_shifted_mirrored_and_relabelled_maps(rng):
    U = rng.gamma(2, size=(20, 3)) * [3, 2, 1]
    canonical = canonical_map(U)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order = rng.permutation(20)
    np.testing.assert_allclose(canonical_map(U @ rotation + 5), canonical, atol=1e-12)
    np.testing.assert_allclose(canonical_map(-U), canonical, atol=1e-12)
    np.testing.assert_allclose(canonical_map(U[order]), canonical[order], atol=1e-12)
    np.testing.assert_allclose(canonical.mean(axis=0), 0, atol=1e-12)
    covariance = np.cov(canonical.T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    assert np.all(np.diff(np.diag(covariance)) < 0)


def test_axis_without_skew_takes_the_sign_of_its_largest_coordinate():
    U = np.array([[-2.0, -2.0], [2.0 - 1e-9, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(axis_signs(U), [-1, -1])
    np.testing.assert_array_equal(axis_signs(-U), [1, 1])
