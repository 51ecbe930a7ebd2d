"""The canonical form of a map: two runs that find the same map print the same numbers."""

from __future__ import annotations

import numpy as np

from .._typing import Array

# Relative differences below this may be rounding, and do not decide a sign.
SYMMETRIC = 1e-6


def canonical_map(U: Array) -> Array:
    """Return U centred, in principal axes, largest variance first, each axis with a fixed sign."""
    centred = U - U.mean(axis=0)
    return np.asarray(centred @ principal_turn(centred))


def principal_axes(U: Array) -> Array:
    """Return U in principal axes about the origin, without a shift: its inner products stay the same."""
    return np.asarray(U @ principal_turn(U))


def ordered_axes(U: Array) -> Array:
    """Return U centred, its axes sorted by variance with fixed signs: city-block distances stay the same."""
    centred = U - U.mean(axis=0)
    return np.asarray(centred @ ordering_turn(centred))


def principal_turn(U: Array) -> Array:
    """Return the rotation to the principal axes about the origin, the longest first, each with a fixed sign."""
    n, p = U.shape
    if p == 0:
        return np.empty((0, 0))
    _, _, axes = np.linalg.svd(U, full_matrices=n < p)  # all p axes, even of fewer objects
    return np.asarray(axes.T * axis_signs(U @ axes.T))


def ordering_turn(U: Array) -> Array:
    """Return the matrix that sorts the axes by variance and fixes their signs."""
    order = np.argsort(-np.var(U, axis=0), kind="stable")
    return np.asarray(np.eye(U.shape[1])[:, order] * axis_signs(U[:, order]))


def axis_signs(U: Array) -> Array:
    """Return the sign that gives each axis its longer tail on the positive side.

    The third moment does not depend on the objects' order, and unlike the largest coordinate it does not jump when two
    objects at opposite ends are equally far out. For an axis without skew the first of the farthest objects decides, so
    that rounding, which differs between processors, does not.
    """
    cubes = U * U * U  # U**3 takes ten times as long
    skew, sizes = cubes.sum(axis=0), np.abs(U)
    symmetric = np.abs(skew) <= SYMMETRIC * np.abs(cubes).sum(axis=0)
    farthest = np.argmax(sizes >= (1 - SYMMETRIC) * sizes.max(axis=0), axis=0)
    decisive = np.where(symmetric, U[farthest, np.arange(U.shape[1])], skew)
    return np.where(decisive < 0, -1.0, 1.0)
