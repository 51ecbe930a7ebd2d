"""Blocks of coefficients: the adjoint is the derivative of the lift, and projections are projections."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import lsq_linear, nnls

from tests.helpers import symmetric_weights
from unmask import Cyclic, Numeric, Spline
from unmask.problem import Structure, check_known
from unmask.problem._blocks import (
    CommonBlock,
    DenseBlock,
    DiagonalBlock,
    FunctionBlock,
    MonotoneBlock,
    MovingBlock,
    coef_blocks,
)

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
    "dense": (["x", "y"], "full", DenseBlock),
    "nominal": (["site"], "grouped", DenseBlock),
    "mixed": (["x", "site", "sex"], "full", DenseBlock),
    "diagonal": (["x", "y", "sex"], "diagonal", DiagonalBlock),
    "common": (["site"], "diagonal", CommonBlock),
    "cyclic": (["hour"], "full", CommonBlock),
    "ordinal": (["grade"], "full", MonotoneBlock),
    "spline": (["dose"], "full", FunctionBlock),
}
MOVING = [case for case in CASES if case != "spline"]


def block_for(rng, case, *, missing=False, price=0.0):
    columns, coef, kind = CASES[case]
    W = symmetric_weights(rng, N)
    np.fill_diagonal(W, 0)
    H = np.diag(W.sum(axis=1)) - W
    frame = table(rng, missing)[columns]
    types = {name: declared for name, declared in TYPES.items() if name in columns}
    types |= {name: Numeric(error=0.5) for name in columns if name in ("x", "y") and price}
    known = check_known(frame, N, None, coef, types=types)
    (block,) = coef_blocks(known, H @ known.values, np.diag(H), price)
    assert isinstance(block.inner if isinstance(block, MovingBlock) else block, kind)
    return block, known, H


def some_part(rng, block):
    part = rng.standard_normal(block.size)
    return block.project(part) if hasattr(block, "project") else part


def derivative(function, part, step=1e-6):
    out = np.empty_like(part)
    for i in range(len(part)):
        ahead, behind = part.copy(), part.copy()
        ahead[i] += step
        behind[i] -= step
        out[i] = (function(ahead) - function(behind)) / (2 * step)
    return out


@pytest.mark.parametrize("case", CASES)
def test_the_adjoint_is_the_derivative_of_the_lift(rng, case):
    block, _, _ = block_for(rng, case)
    part, G = some_part(rng, block), rng.standard_normal((N, block.width))
    expected = derivative(lambda theta: np.sum(block.lift(theta) * G), part)
    np.testing.assert_allclose(block.adjoint(part, G), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("price", [0.0, 0.7])
@pytest.mark.parametrize("case", MOVING)
def test_the_adjoint_is_the_derivative_where_cells_move_as_well(rng, case, price):
    block, _, _ = block_for(rng, case, missing=True, price=price)
    assert isinstance(block, MovingBlock)
    part, G = some_part(rng, block), rng.standard_normal((N, block.width))
    # The gradient is half the derivative of the objective, of which the price is a part.
    expected = derivative(lambda theta: np.sum(block.lift(theta) * G) + block.price(theta) / 2, part)
    np.testing.assert_allclose(block.adjoint(part, G), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_the_pull_is_the_transpose_of_the_coefficients(rng, case):
    """Where only some entries are free, the gradient of the others goes nowhere."""
    block, _, _ = block_for(rng, case)
    part = some_part(rng, block)
    gradient = rng.standard_normal(block.coef(part).shape)
    expected = derivative(lambda theta: np.sum(block.coef(theta) * gradient), part)
    np.testing.assert_allclose(block.pull(gradient), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_distances_are_those_of_the_gram_matrix_in_standard_units(rng, case):
    block, known, _ = block_for(rng, case)
    part = some_part(rng, block)
    Z = block.lift(part)
    V = known.values[:, block.columns]
    gram = block.gram(part)
    for i, j in [(0, 1), (3, 9), (5, 13)]:
        dv = V[i] - V[j]
        assert np.sum((Z[i] - Z[j]) ** 2) == pytest.approx(dv @ gram @ dv, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_packing_what_was_found_finds_it_again(rng, case):
    from unmask.problem.linalg import symmetric_root

    block, _, _ = block_for(rng, case)
    gram = block.gram(some_part(rng, block))
    np.testing.assert_allclose(block.gram(block.pack(symmetric_root(gram))), gram, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_theta_is_measured_so_that_the_majoriser_is_at_most_twice_the_identity(rng, case):
    """tr(Z'HZ) against the squared length of theta: equal but for levels in order, whose metric is diagonal."""
    block, _, H = block_for(rng, case)
    part = rng.standard_normal(block.size)
    Z = block.lift(part)
    if case == "ordinal":
        assert np.trace(Z.T @ H @ Z) <= 2 * part @ part
    else:
        assert np.trace(Z.T @ H @ Z) == pytest.approx(part @ part, rel=1e-9)


def test_ordered_levels_without_degrees_count_their_objects(rng):
    known = check_known(table(rng)[["grade"]], N, None, "auto")
    (block,) = coef_blocks(known, N * known.values)
    np.testing.assert_array_equal(block.mass, [4, 4, 3, 3])


# ---- projections


def test_ordered_positions_are_projected_onto_the_nearest_that_do_not_fall(rng):
    block, _, _ = block_for(rng, "ordinal")
    for _ in range(5):
        part = rng.standard_normal(block.size)
        found = block.project(part)
        assert np.all(np.diff(block.coef(found)[:, 0]) >= -1e-12)
        # The same as bounded least squares: a free first position and steps of at least 0.
        design = np.sqrt(block.mass)[:, None] * np.tri(block.size)
        steps = lsq_linear(design, part, (np.array([-np.inf] + [0.0] * (block.size - 1)), np.inf), tol=1e-14).x
        np.testing.assert_allclose(found, design @ steps, rtol=0, atol=1e-8)
        np.testing.assert_allclose(block.project(found), found, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", ["nominal", "cyclic", "diagonal", "ordinal"])
def test_moving_cells_are_projected_onto_the_nearest_mixtures(rng, case):
    block, _, _ = block_for(rng, case, missing=True)
    part = 3 * rng.standard_normal(block.size)
    found = block.project(part)
    np.testing.assert_allclose(block.project(found), found, rtol=0, atol=1e-9)
    (_, before), (_, after) = block.parts(part), block.parts(found)
    for cells, r, shares in zip(block.cells, before, after, strict=True):
        if not cells.mixture:
            np.testing.assert_array_equal(shares, r)
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
    (block,) = coef_blocks(known, N * known.values, np.full(N, float(N)), 0.0 if log else 1.0)
    far = np.concatenate([block.parts(np.zeros(block.size))[0], np.full(block.size - 1, 1e4)])
    for sign, bound in ((1, 60.0), (-1, 0.01)):
        found = block.project(sign * far)
        for cells, r in zip(block.cells, block.parts(found)[1], strict=True):
            values = r[:, 0] + (known.values[cells.rows, 0] if cells.price else 0.0)
            coded = known.restore(values, 0)
            np.testing.assert_allclose(np.exp(coded) if log else coded, bound, rtol=1e-12, atol=1e-12)
    assert np.all(block.project(np.zeros(block.size)) == 0)


def test_only_what_is_constrained_is_projected(rng):
    block, _, _ = block_for(rng, "dense")
    structure = Structure(N, 2, np.ones((1, 1)), (block,))
    theta = rng.standard_normal(structure.size)
    assert structure.project(theta) is theta
    assert not structure.constrained
    assert not structure.nonlinear


# ---- cells


def test_a_moved_row_is_what_the_completed_table_would_give(rng):
    """Put the estimated value in by hand: the lift of the completed rows is the same."""
    block, known, _ = block_for(rng, "mixed", missing=True)
    part = some_part(rng, block)
    completed = known.values.copy()
    for cells, r in zip(block.cells, block.parts(part)[1], strict=True):
        completed[np.ix_(cells.rows, cells.columns)] = r @ cells.standard
    expected = completed[:, block.columns] @ block.coef(part)
    np.testing.assert_allclose(block.lift(part), expected, rtol=1e-9, atol=1e-10)
    assert {tuple(cells.rows) for cells in block.cells} == {(0, 6), (2, 8), (3, 9)}
    # The corners of a mixture are the levels as the objects that have them are coded.
    site = next(cells for cells in block.cells if len(cells.columns) == 2)
    np.testing.assert_allclose(site.standard, known.values[[12, 1, 5]][:, site.columns], rtol=0, atol=1e-12)


def test_cells_start_even_or_scattered(rng):
    block, _, _ = block_for(rng, "mixed", missing=True, price=1.0)
    B = np.eye(4)
    even = block.parts(block.pack(B))[1]
    scattered = block.parts(block.pack(B, rng))[1]
    for cells, calm, wild in zip(block.cells, even, scattered, strict=True):
        np.testing.assert_allclose(calm, 1 / 3 if calm.shape[1] == 3 else 0.5 * cells.mixture, rtol=0, atol=1e-12)
        # A measured cell starts where it was measured.
        assert np.array_equal(calm, wild) == (cells.price > 0)
        if cells.mixture:
            np.testing.assert_allclose(wild.sum(axis=1), 1, rtol=0, atol=1e-12)


def test_the_price_of_a_move_is_in_standard_errors(rng):
    block, known, _ = block_for(rng, "diagonal", price=2.0)
    part = np.zeros(block.size)
    first = next(cells for cells in block.cells if cells.columns == [0])
    np.testing.assert_array_equal(first.rows, np.arange(N))
    assert block.price(part) == 0.0
    # One cell of x moved by one error of 0.5 in its own units.
    part[block.inner.size] = 0.5 / known.scale[0] * block.unit
    assert block.price(part) == pytest.approx(2.0, rel=1e-12)


def test_missing_cells_are_carried_to_a_structure_in_which_measured_ones_move_too(rng):
    seed = rng.bit_generator.state
    before, _, _ = block_for(rng, "mixed", missing=True)
    rng.bit_generator.state = seed
    after, _, _ = block_for(rng, "mixed", missing=True, price=1.0)
    old, new = (Structure(N, 2, np.ones((1, 1)), (block,)) for block in (before, after))
    theta = old.project(rng.standard_normal(old.size))
    carried = old.carry(theta, new)
    np.testing.assert_allclose(new.unknown(carried), old.unknown(theta), rtol=0, atol=1e-12)
    Z, other = old.lift(theta), new.lift(carried)
    # B is carried in its symmetric form: distances are the same, coordinates are turned.
    np.testing.assert_allclose(Z @ Z.T, other @ other.T, rtol=1e-7, atol=1e-8)
    assert new.price(carried) == 0.0
    assert len(new.moved(carried)) == len(old.moved(theta)) + 1
