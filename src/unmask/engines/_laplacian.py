"""The pseudo-inverse of a graph Laplacian, factorised once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from .._typing import Array


def _grounded(inner: Callable[[Array], Array], last: int) -> Callable[[Array], Array]:
    """Turn a solver for H without its last row and column into the pseudo-inverse of H.

    For a right side whose columns sum to zero (a gradient's do), the system with one coordinate held at 0 is solved
    and the mean taken out. Compared with H + c11' this needs no constant c of the right size, and an M-matrix loses no
    digits in its factorisation even where weights are tiny (Sammon's).
    """

    def solve(X: Array) -> Array:
        out = np.zeros_like(X)
        centred = X - X.mean(axis=0)
        out[:last] = inner(centred[:last])
        return np.asarray(out - out.mean(axis=0))

    return solve


def dense_solver(weights: Array) -> Callable[[Array], Array]:
    """Return H+ for a dense symmetric matrix of weights."""
    H = np.diag(weights.sum(axis=1)) - weights
    factor = scipy.linalg.cho_factor(H[:-1, :-1], overwrite_a=True, check_finite=False)
    return _grounded(lambda X: np.asarray(scipy.linalg.cho_solve(factor, X, check_finite=False)), len(H) - 1)


def sparse_solver(weights: sp.csr_array) -> Callable[[Array], Array]:
    """Return H+ for a sparse symmetric matrix of weights."""
    H = sp.csc_array(sp.diags_array(np.asarray(weights.sum(axis=1))) - weights)
    factor = scipy.sparse.linalg.splu(H[:-1, :-1])
    return _grounded(lambda X: np.asarray(factor.solve(np.ascontiguousarray(X))), H.shape[0] - 1)
