"""Canonical correlations against scikit-learn, and their errors."""

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA

from unmask.inspection import average_canonical_correlation, canonical_correlations


def test_they_equal_those_of_scikit_learn(rng):
    X = rng.standard_normal((80, 3))
    Y = X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((80, 2))
    a, b = CCA(n_components=2, max_iter=10_000, tol=1e-12).fit(X, Y).transform(X, Y)
    expected = [np.corrcoef(a[:, c], b[:, c])[0, 1] for c in range(2)]
    np.testing.assert_allclose(canonical_correlations(X, Y), expected, rtol=1e-6)
    assert average_canonical_correlation(X, Y) == pytest.approx(np.mean(expected), rel=1e-6)


def test_one_dimensional_input_is_a_column_and_a_constant_has_no_correlation():
    x = np.arange(5.0)
    assert average_canonical_correlation(x, -x) == pytest.approx(1)
    assert average_canonical_correlation(x, np.ones(5)) == 0


def test_errors_name_the_argument(rng):
    with pytest.raises(ValueError, match="X has 4 rows and Y has 5"):
        canonical_correlations(np.ones((4, 1)), np.ones((5, 1)))
    with pytest.raises(ValueError, match="Y must be a table of finite numbers"):
        canonical_correlations(np.ones((4, 1)), np.full((4, 1), np.nan))
