"""One way to write down a map: two runs that found the same one print the same numbers."""

from __future__ import annotations

import numpy as np

from .._typing import Array


def canonical_map(U: Array) -> Array:
    """Return U centred, in principal axes, largest variance first, each axis with a fixed sign."""
    centred = U - U.mean(axis=0)
    if centred.shape[1] == 0:
        return np.asarray(centred)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    rotated = centred @ axes.T
    return np.asarray(rotated * axis_signs(rotated))


def axis_signs(U: Array) -> Array:
    """Return the sign that gives each axis its longer tail on the positive side.

    The third moment does not depend on the objects' order, and unlike the largest coordinate it does not jump when two
    objects at opposite ends are equally far out. For an axis without skew the largest coordinate decides after all.
    """
    skew = np.sum(U**3, axis=0)
    symmetric = np.abs(skew) <= 1e-6 * np.sum(np.abs(U) ** 3, axis=0)
    largest = U[np.argmax(np.abs(U), axis=0), np.arange(U.shape[1])]
    decisive = np.where(symmetric, largest, skew)
    return np.where(decisive < 0, -1.0, 1.0)
