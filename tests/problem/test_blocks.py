"""Blocks of coefficients, and cells that move: adjoints are derivatives of lifts, projections are projections."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import lsq_linear, nnls

from tests.helpers import noisy_distances, symmetric_weights
from unmask import Cyclic, Numeric, Spline
from unmask.checking import check_dissimilarities
from unmask.kernels import Workers
from unmask.problem import Problem, build_pairs, check_known, make_graph, make_structure
from unmask.problem.linalg import symmetric_root

N = 14
TYPES = {"hour": Cyclic(24), "dose": Spline(3)}


def table(rng, missing=False):
    frame = pd.DataFrame(
        {
            "x": rng.standard_normal(N),
            "y": rng.standard_normal(N) * 5,
            "site": np.array(list("abc"))[np.arange(N) % 3],
            "sex": np.array(["f", "m"])[np.arange(N) % 2],
            "grade": pd.Categorical(np.array(list("pqrs"))[rng.permutation(N) % 4], ordered=True),
            "hour": rng.uniform(0, 24, N),
            "dose": rng.uniform(size=N),
        }
    )
    if missing:
        for row, column in enumerate(["x", "y", "site", "sex", "grade", "hour"]):
            frame.loc[[row, row + 6], column] = np.nan
    return frame


CASES = {
    "dense": (["x", "y"], "full"),
    "nominal": (["site"], "grouped"),
    "mixed": (["x", "site", "sex"], "full"),
    "diagonal": (["x", "y", "sex"], "diagonal"),
    "common": (["site"], "diagonal"),
    "cyclic": (["hour"], "full"),
    "ordinal": (["grade"], "full"),
    "spline": (["dose"], "full"),
}
MOVING = [case for case in CASES if case != "spline"]


def structure_of(rng, known, W=None, p=0, price=0.0):
    """Return the structure of a problem with these known features and weights, and the Laplacian of the weights."""
    workers = Workers(1)
    pairs = build_pairs(check_dissimilarities(noisy_distances(rng, N), workers=workers), None, W, workers)
    graph = make_graph(pairs, workers)
    return make_structure(Problem(pairs, known, p, error_price=price), graph), graph.laplacian(np.eye(N))


def structure_for(rng, case, *, missing=False, price=0.0, p=0):
    columns, coef = CASES[case]
    W = symmetric_weights(rng, N)
    frame = table(rng, missing)[columns]
    types = {name: declared for name, declared in TYPES.items() if name in columns}
    types |= {name: Numeric(error=0.5) for name in columns if name in ("x", "y") and price}
    known = check_known(frame, N, None, coef, types=types)
    structure, H = structure_of(rng, known, W, p, price)
    assert structure.nonlinear == bool(missing or price)
    return structure, known, H


def some_theta(rng, structure):
    return structure.project(rng.standard_normal(structure.size))


def derivative(function, theta, step=1e-3):  # exact but for rounding: no function is of degree 3 in one parameter
    out = np.empty_like(theta)
    for i in range(len(theta)):
        ahead, behind = theta.copy(), theta.copy()
        ahead[i] += step
        behind[i] -= step
        out[i] = (function(ahead) - function(behind)) / (2 * step)
    return out


@pytest.mark.parametrize("case", CASES)
def test_the_adjoint_is_the_derivative_of_the_lift(rng, case):
    structure, _, _ = structure_for(rng, case)
    theta, G = some_theta(rng, structure), rng.standard_normal((N, structure.k))
    expected = derivative(lambda theta: np.sum(structure.lift(theta) * G), theta)
    np.testing.assert_allclose(structure.adjoint(theta, G), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("price", [0.0, 0.7])
@pytest.mark.parametrize("case", MOVING)
def test_the_adjoint_is_the_derivative_where_cells_move_as_well(rng, case, price):
    structure, _, _ = structure_for(rng, case, missing=True, price=price)
    theta, G = some_theta(rng, structure), rng.standard_normal((N, structure.k))
    # The gradient is half the derivative of the objective, of which the price is a part.
    expected = derivative(lambda theta: np.sum(structure.lift(theta) * G) + structure.price(theta) / 2, theta)
    np.testing.assert_allclose(structure.adjoint(theta, G), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_distances_are_those_of_the_gram_matrix_in_standard_units(rng, case):
    structure, known, _ = structure_for(rng, case)
    theta = some_theta(rng, structure)
    Z, V, gram = structure.lift(theta), known.values, structure.gram(theta)
    for i, j in [(0, 1), (3, 9), (5, 13)]:
        dv = V[i] - V[j]
        assert np.sum((Z[i] - Z[j]) ** 2) == pytest.approx(dv @ gram @ dv, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_packing_what_was_found_finds_it_again(rng, case):
    structure, _, _ = structure_for(rng, case)
    gram = structure.gram(some_theta(rng, structure))
    again = structure.gram(structure.pack(np.empty((N, 0)), symmetric_root(gram)))
    np.testing.assert_allclose(again, gram, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_theta_is_measured_so_that_the_majoriser_is_at_most_twice_the_identity(rng, case):
    """tr(Z'HZ) against the squared length of theta: equal but for levels in order, whose metric is diagonal."""
    structure, _, H = structure_for(rng, case)
    theta = rng.standard_normal(structure.size)
    Z = structure.lift(theta)
    if case == "ordinal":
        assert np.trace(Z.T @ H @ Z) <= 2 * theta @ theta
    else:
        assert np.trace(Z.T @ H @ Z) == pytest.approx(theta @ theta, rel=1e-9)


def basis_of(structure):
    """Return what each parameter of a structure with one axis adds to each object."""
    return np.column_stack([structure.lift(unit)[:, 0] for unit in np.eye(structure.size)])


def test_the_mass_of_ordered_levels_counts_their_objects(rng):
    structure, _ = structure_of(rng, check_known(table(rng)[["grade"]], N, None, "auto"))
    np.testing.assert_allclose(basis_of(structure).max(axis=0) ** -2.0, N * np.array([4, 4, 3, 3]), rtol=1e-12)


# ---- projections


def test_ordered_positions_are_projected_onto_the_nearest_that_do_not_fall(rng):
    structure, _, _ = structure_for(rng, "ordinal")
    unit = basis_of(structure).max(axis=0)  # the position of a level per unit of theta
    for _ in range(5):
        theta = rng.standard_normal(structure.size)
        found = structure.project(theta)
        assert np.all(np.diff(found * unit) >= -1e-12)
        # The same as bounded least squares: a free first position and steps of at least 0.
        design = np.tri(structure.size) / unit[:, None]
        steps = lsq_linear(design, theta, (np.array([-np.inf] + [0.0] * (structure.size - 1)), np.inf), tol=1e-14).x
        np.testing.assert_allclose(found, design @ steps, rtol=0, atol=1e-8)
        np.testing.assert_allclose(structure.project(found), found, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", ["nominal", "cyclic", "diagonal", "ordinal"])
def test_moving_cells_are_projected_onto_the_nearest_mixtures(rng, case):
    structure, _, _ = structure_for(rng, case, missing=True)
    theta = 3 * rng.standard_normal(structure.size)
    found = structure.project(theta)
    np.testing.assert_allclose(structure.project(found), found, rtol=0, atol=1e-9)
    for (cells, r), (_, shares) in zip(structure.moved(theta), structure.moved(found), strict=True):
        if not cells.mixture:
            np.testing.assert_allclose(shares, r, rtol=1e-14)
            continue
        assert shares.min() >= 0
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        # The same as non-negative least squares in which a sum other than 1 is dear.
        for row, share in zip(r, shares, strict=True):
            dear = 1e5
            design = np.vstack([np.eye(len(row)), np.full(len(row), dear)])
            np.testing.assert_allclose(share, nnls(design, np.append(row, dear))[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("log", [False, True])
def test_cells_with_bounds_are_projected_into_them(rng, log):
    """In the feature's own units: missing ones to the bound, measured ones by no more than there is room."""
    x = pd.DataFrame({"x": np.exp(rng.standard_normal(N))})
    x.loc[[2, 5], "x"] = np.nan
    types = {"x": Numeric(lower=0.01, upper=60.0, log=log, error=None if log else 0.5)}
    known = check_known(x, N, None, "auto", types=types)
    structure, _ = structure_of(rng, known, price=0.0 if log else 1.0)
    far = np.append(0.0, np.full(structure.size - 1, 1e4))
    for sign, bound in ((1, 60.0), (-1, 0.01)):
        for cells, r in structure.moved(structure.project(sign * far)):
            values = r[:, 0] + (known.values[cells.rows, 0] if cells.price else 0.0)
            coded = known.restore(values, 0)
            np.testing.assert_allclose(np.exp(coded) if log else coded, bound, rtol=1e-12, atol=1e-12)
    assert np.all(structure.project(np.zeros(structure.size)) == 0)


def test_only_what_is_constrained_is_projected(rng):
    structure, _, _ = structure_for(rng, "dense", p=2)
    theta = rng.standard_normal(structure.size)
    assert structure.project(theta) is theta
    assert not structure.constrained


# ---- cells


def test_a_moved_row_is_what_the_completed_table_would_give(rng):
    """Put the estimated value in by hand: distances are those of the completed rows."""
    structure, known, _ = structure_for(rng, "mixed", missing=True)
    theta = some_theta(rng, structure)
    completed, moved = known.values.copy(), structure.moved(theta)
    for cells, r in moved:
        completed[np.ix_(cells.rows, cells.columns)] = r @ cells.standard
    Z, gram = structure.lift(theta), completed @ structure.gram(theta) @ completed.T
    np.testing.assert_allclose(Z @ Z.T, gram, rtol=1e-9, atol=1e-10)
    assert {tuple(cells.rows) for cells, _ in moved} == {(0, 6), (2, 8), (3, 9)}
    # The corners of a mixture are the levels as the objects that have them are coded.
    site = next(cells for cells, _ in moved if len(cells.columns) == 2)
    np.testing.assert_allclose(site.standard, known.values[[12, 1, 5]][:, site.columns], rtol=0, atol=1e-12)


def test_cells_start_even_or_scattered(rng):
    structure, _, _ = structure_for(rng, "mixed", missing=True, price=1.0)
    start = np.empty((N, 0)), np.eye(4)
    even, scattered = structure.moved(structure.pack(*start)), structure.moved(structure.pack(*start, rng))
    for (cells, calm), (_, wild) in zip(even, scattered, strict=True):
        np.testing.assert_allclose(calm, 1 / 3 if calm.shape[1] == 3 else 0.5 * cells.mixture, rtol=0, atol=1e-12)
        # A measured cell starts where it was measured.
        assert np.array_equal(calm, wild) == (cells.price > 0)
        if cells.mixture:
            np.testing.assert_allclose(wild.sum(axis=1), 1, rtol=0, atol=1e-12)


def test_the_price_of_a_move_is_in_standard_errors(rng):
    structure, known, _ = structure_for(rng, "diagonal", price=2.0)
    theta = np.zeros(structure.size)
    first, _ = structure.moved(theta)[0]
    assert first.columns == [0]
    np.testing.assert_array_equal(first.rows, np.arange(N))
    assert structure.price(theta) == 0.0
    # One cell of x moved by one error of 0.5 in its own units; the coefficients come before the cells.
    theta[3] = 0.5 / known.scale[0]
    unit = structure.moved(theta)[0][1][0, 0] / theta[3]
    theta[3] /= unit
    assert structure.price(theta) == pytest.approx(2.0, rel=1e-12)


def test_missing_cells_are_carried_to_a_structure_in_which_measured_ones_move_too(rng):
    seed = rng.bit_generator.state
    old, _, _ = structure_for(rng, "mixed", missing=True, p=2)
    rng.bit_generator.state = seed
    new, _, _ = structure_for(rng, "mixed", missing=True, price=1.0, p=2)
    theta = old.project(rng.standard_normal(old.size))
    carried = old.carry(theta, new)
    np.testing.assert_allclose(new.unknown(carried), old.unknown(theta), rtol=0, atol=1e-12)
    Z, other = old.lift(theta), new.lift(carried)
    # B is carried in its symmetric form: distances are the same, coordinates are turned.
    np.testing.assert_allclose(Z @ Z.T, other @ other.T, rtol=1e-7, atol=1e-8)
    assert new.price(carried) == 0.0
    assert len(new.moved(carried)) == len(old.moved(theta)) + 1
