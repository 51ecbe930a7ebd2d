"""The closed form: an independent one's numbers, least squares on all pairs, full and iterative decompositions."""

import numpy as np
import pytest

from tests.helpers import noisy_distances
from unmask.datasets import make_car_brands
from unmask.solvers import canonical_map, closed_form

from .problems import objective_for


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
