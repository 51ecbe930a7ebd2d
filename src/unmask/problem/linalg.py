"""Small linear algebra that several rooms need."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.optimize import nnls

from .._typing import Array

# Axes or directions below this share of the largest are rounding.
ROUNDING = 1e-10


def symmetric_root(M: Array) -> Array:
    """Return the symmetric positive square root of a positive semi-definite matrix (rounding below 0 counts as 0)."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def whitening(M: Array) -> tuple[Array, Array]:
    """Return the roots of the eigenvalues of a positive semi-definite matrix and its eigenvectors.

    Eigenvalues lost to rounding are raised, so that a root can be divided by.
    """
    values, vectors = np.linalg.eigh(M)
    return np.sqrt(np.maximum(values, values[-1] * 1e-14)), vectors


class NonNegative:
    """Least squares with coefficients of at least 0, from the normal equations.

    These are decomposed once; directions that are rounding beside the largest are left out.
    """

    def __init__(self, normal: Array) -> None:
        values, vectors = np.linalg.eigh(normal)
        sound = values > values[-1] * 1e-12
        self._factor = (vectors[:, sound] * np.sqrt(values[sound])).T
        self._half_inverse = (vectors[:, sound] / np.sqrt(values[sound])).T

    def solve(self, target: Array) -> Array:
        """Return the coefficients for the right-hand side of the normal equations."""
        return np.asarray(nnls(self._factor, self._half_inverse @ target)[0])


def orthonormal_basis(X: Array) -> Array:
    """Return an orthonormal basis of the centred columns of ``X``; dependent columns add nothing."""
    centred = X - X.mean(axis=0)
    size = np.abs(centred).max(axis=0, initial=0.0)
    centred = centred[:, size > 0] / size[size > 0]
    if centred.shape[1] == 0:
        return np.empty((len(X), 0))
    left, singular, _ = scipy.linalg.svd(centred, full_matrices=False)
    return np.asarray(left[:, singular > singular[0] * ROUNDING])


def canonical_correlations(X: Array, Y: Array) -> Array:
    """Return the canonical correlations of two tables with one row per object, largest first.

    They are the cosines of the angles between the two column spaces, found from orthonormal bases: forming the
    covariance matrices first would square their condition numbers.
    """
    product = orthonormal_basis(X).T @ orthonormal_basis(Y)
    return np.asarray(np.clip(np.linalg.svd(product, compute_uv=False), 0.0, 1.0))


def axes_that_show(U: Array, beside: float = 0.0) -> Array:
    """Return the axes of a map that are more than rounding beside the largest axis, or beside a given distance.

    All axes of a map have one unit. (Known columns each have their own.)
    """
    size = np.abs(U - U.mean(axis=0)).max(axis=0, initial=0.0)
    return np.asarray(U[:, size > ROUNDING * max(beside, size.max(initial=0.0))])
