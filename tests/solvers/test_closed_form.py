"""The closed form: an independent one's numbers, least squares on all pairs, full and iterative decompositions."""

import tracemalloc

import numpy as np
import pytest

from tests.helpers import noisy_distances
from unmask.datasets import make_car_brands
from unmask.solvers import _closed_form, canonical_map, closed_form
from unmask.solvers._closed_form import regress_squares

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
    n = 30
    V = rng.standard_normal((n, 3))
    D = np.sqrt(noisy_distances(rng, n) ** 2 + 0.3 * ((V[:, None] - V[None]) ** 2).sum(axis=2))
    if holes:
        D[3, 7] = D[7, 3] = D[2, 9] = D[9, 2] = np.nan
        with pytest.warns(UserWarning, match="2 of 435 pairs"):
            objective, coded = objective_for(D, V, coef=coef)
    else:
        objective, coded = objective_for(D, V, coef=coef)
    gram, intercept = regress_squares(objective.engine, coded)
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


def test_with_nothing_known_it_is_classical_scaling(rng):
    """By the definition: eigenvectors of the double-centred squares, times the roots of their eigenvalues."""
    D = noisy_distances(rng, 25)
    objective, coded = objective_for(D, p=3)
    U, gram, values = closed_form(objective.engine, coded, 3)
    J = np.eye(25) - 1 / 25
    own, vectors = np.linalg.eigh(-0.5 * J @ (D * objective.engine.scale) ** 2 @ J)
    np.testing.assert_allclose(values, own[::-1][:3], rtol=1e-10)
    np.testing.assert_allclose(canonical_map(U), canonical_map(vectors[:, ::-1][:, :3] * np.sqrt(values)), atol=1e-9)
    assert gram.shape == (0, 0)


def test_axes_of_negative_eigenvalues_are_zero(rng):
    """A table of one dissimilarity between all but one pair has no Euclidean map in all dimensions."""
    D = np.ones((5, 5)) - np.eye(5)
    D[0, 1] = D[1, 0] = 4.0
    objective, coded = objective_for(D, p=4)
    U, _, values = closed_form(objective.engine, coded, 4)
    assert values[-1] < 0
    np.testing.assert_array_equal(U[:, values < 0], 0)
    np.testing.assert_allclose(np.sum(U**2, axis=0), np.maximum(values, 0), rtol=1e-9)
    assert closed_form(objective.engine, coded, 0).U.shape == (5, 0)


def test_the_map_does_not_depend_on_how_what_is_known_is_coded(rng):
    D, V = noisy_distances(rng, 30), rng.standard_normal((30, 3))
    (one, coded), (other, recoded) = (objective_for(D, known) for known in (V, V @ rng.standard_normal((3, 3))))
    first, second = closed_form(one.engine, coded, 2), closed_form(other.engine, recoded, 2)
    np.testing.assert_allclose(second.eigenvalues, first.eigenvalues, rtol=1e-8)
    known = [k.values @ f.gram @ k.values.T for k, f in ((coded, first), (recoded, second))]
    np.testing.assert_allclose(known[1], known[0], atol=1e-9)


def test_too_many_products_are_refused_and_a_start_does_with_the_squares(rng, monkeypatch):
    monkeypatch.setattr(_closed_form, "MAX_REGRESSORS", 5)
    monkeypatch.setattr(_closed_form, "START_REGRESSORS", 5)
    objective, coded = objective_for(noisy_distances(rng, 30), rng.standard_normal((30, 3)))
    with pytest.raises(ValueError, match=r"3 columns of known features have 6 products .* use coef='diagonal'"):
        closed_form(objective.engine, coded, 2)
    gram = closed_form(objective.engine, coded, 2, tol=1e-2).gram
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)


@pytest.mark.parametrize("q", [0, 2])
def test_a_start_of_many_objects_is_nearly_the_exact_closed_form_from_one_product(rng, q, monkeypatch):
    n, p = _closed_form.LANDMARKS_FROM + 100, 3
    F = rng.standard_normal((n, p + q)) * [3.0, 2.0, 1.5, *[1.0] * q]
    D = np.linalg.norm(F[:, None] - F[None], axis=2)
    noise = np.triu(rng.uniform(0.9, 1.1, size=D.shape), 1)
    objective, coded = objective_for(D * (noise + noise.T), F[:, p:] if q else None, p=p)
    exact = closed_form(objective.engine, coded, p)
    products, product = [], objective.engine.graph.squared_product
    monkeypatch.setattr(objective.engine.graph, "squared_product", lambda *a: products.append(1) or product(*a))
    start = closed_form(objective.engine, coded, p, tol=1e-2)  # what is asked for is what is checked below
    assert len(products) == (1 if q == 0 else 2)  # one more for the regression on what is known
    np.testing.assert_allclose(start.gram, exact.gram, rtol=1e-12)
    np.testing.assert_allclose(start.eigenvalues, exact.eigenvalues, rtol=1e-2)
    gap = canonical_map(start.U) - canonical_map(exact.U)
    assert np.sqrt((gap**2).sum() / (exact.U**2).sum()) < 1e-2


def test_a_start_of_many_objects_is_always_the_same(rng):
    objective, coded = objective_for(noisy_distances(rng, _closed_form.LANDMARKS_FROM + 1))
    starts = [closed_form(objective.engine, coded, 2, tol=1e-2).U for _ in range(2)]
    np.testing.assert_array_equal(*starts)


def test_a_start_holds_few_rows_of_the_table_at_a_time(rng):
    n = 3000
    half = np.triu(rng.uniform(1.0, 2.0, size=(n, n)).astype(np.float32), 1)
    graph = objective_for(half + half.T)[0].engine.graph
    tracemalloc.start()
    try:
        for _ in graph.squared_rows(np.arange(100), slice(0, n)):
            pass
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 0.05 * half.nbytes
