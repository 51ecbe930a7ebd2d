"""Small linear algebra: roots, bases, canonical correlations, least squares with coefficients of at least 0."""

import numpy as np
import pytest
from scipy.optimize import nnls

from unmask.problem.linalg import (
    NonNegative,
    canonical_correlations,
    symmetric_root,
    whitening,
)


def test_symmetric_root(rng):
    A = rng.standard_normal((4, 2))
    root = symmetric_root(A @ A.T)
    np.testing.assert_allclose(root @ root, A @ A.T, atol=1e-12)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    assert np.linalg.eigvalsh(root).min() > -1e-7


def test_canonical_correlations_of_one_column_each_are_the_correlation(rng):
    x, y = rng.standard_normal((2, 50))
    (r,) = canonical_correlations(x[:, None], (y + x)[:, None] * 1e9 + 1e12)
    assert r == pytest.approx(abs(np.corrcoef(x, x + y)[0, 1]), rel=1e-6)


def test_canonical_correlations_of_equal_spaces_are_one_and_of_nothing_none(rng):
    X = rng.standard_normal((20, 3))
    np.testing.assert_allclose(canonical_correlations(X, X @ rng.standard_normal((3, 3)) + 7), 1)
    assert len(canonical_correlations(X, np.ones((20, 2)))) == 0
    assert len(canonical_correlations(X, np.column_stack([X[:, 0], 2 * X[:, 0]]))) == 1


def test_whitening_makes_a_metric_the_identity_and_never_divides_by_nothing(rng):
    A = rng.standard_normal((20, 3))
    roots, vectors = whitening(A.T @ A)
    T = vectors / roots
    np.testing.assert_allclose(T.T @ A.T @ A @ T, np.eye(3), atol=1e-12)
    roots, _ = whitening(np.outer([1.0, 2.0], [1.0, 2.0]))
    np.testing.assert_allclose(roots, [np.sqrt(5) * 1e-7, np.sqrt(5)], rtol=1e-9)


@pytest.mark.parametrize("copies", [1, 2])
def test_non_negative_least_squares_is_that_of_scipy_and_takes_copies_of_columns(rng, copies):
    X = np.tile(rng.standard_normal((50, 3)), copies)
    y = X[:, :3] @ [2.0, 0.0, 1.0] - 0.5 * X[:, 1] + rng.standard_normal(50)
    found = NonNegative(X.T @ X).solve(X.T @ y)
    assert found.min() >= 0
    np.testing.assert_allclose(X @ found, X @ nnls(X, y)[0], atol=1e-6)
