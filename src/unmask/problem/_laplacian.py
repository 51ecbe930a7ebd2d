"""The pseudo-inverse of a graph Laplacian, factorised once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from scipy.sparse.csgraph import connected_components

from .._typing import Array, IntArray


def _grounded(inner: Callable[[Array], Array], component: IntArray, free: IntArray) -> Callable[[Array], Array]:
    """Turn a solver for H without one row and column per component into the pseudo-inverse of H.

    For a right side whose columns sum to zero in each component (a gradient's do), the system with one coordinate of
    each held at 0 is solved and the means taken out. Compared with H + c11' this needs no constant c of the right size,
    and an M-matrix loses no digits in its factorisation even where weights are tiny (Sammon's).
    """
    count = np.bincount(component)[:, None]
    members = sp.csr_array((np.ones(len(component)), (component, np.arange(len(component)))))

    def centred(X: Array) -> Array:
        return np.asarray(X - ((members @ X) / count)[component])

    def solve(X: Array) -> Array:
        out = np.zeros_like(X)
        out[free] = inner(centred(X)[free])
        return centred(out)

    return solve


def _free(component: IntArray) -> IntArray:
    """Return all objects but the last one of each component."""
    last = np.zeros(component.max() + 1, dtype=np.int64)
    last[component] = np.arange(len(component))
    return np.setdiff1d(np.arange(len(component)), last)


def dense_solver(weights: Array) -> Callable[[Array], Array]:
    """Return the pseudo-inverse of H for a dense symmetric matrix of weights."""
    component = connected_components(sp.csr_array(weights > 0), directed=False)[1]
    free = _free(component)
    H = np.diag(weights.sum(axis=1)) - weights
    factor = scipy.linalg.cho_factor(H[np.ix_(free, free)], overwrite_a=True, check_finite=False)
    return _grounded(lambda X: np.asarray(scipy.linalg.cho_solve(factor, X, check_finite=False)), component, free)


def sparse_solver(weights: sp.csr_array) -> Callable[[Array], Array]:
    """Return the same for a sparse symmetric matrix of weights."""
    component = connected_components(weights, directed=False)[1]
    free = _free(component)
    H = sp.csr_array(sp.diags_array(np.asarray(weights.sum(axis=1))) - weights)
    factor = scipy.sparse.linalg.splu(sp.csc_array(H[free][:, free]))
    return _grounded(lambda X: np.asarray(factor.solve(np.ascontiguousarray(X))), component, free)
