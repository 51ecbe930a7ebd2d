"""Placing new objects on a finished map, each on its own, all at once.

For one object with coordinates u the stress is  sum_j w_j (delta_j - d_j)^2,  d_j^2 = |u - u_j|^2 + c_j,  where c_j is
the squared difference in what is known. It has p unknowns, so Newton's method is affordable; where the Hessian
is not positive definite or the step does not pay, the majorisation step (a weighted mean) is taken instead.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array

ITERATIONS = 200
# Closer than this share of a typical dissimilarity is the same object: distances computed from features are that exact.
TWIN = 1e-6
BLOCK_CELLS = 4_000_000  # numbers in a temporary: 32 MB


def fingerprint_vector(n: int) -> Array:
    """Return the fixed vector that squared dissimilarities to n objects are multiplied by to tell rows apart."""
    return np.random.default_rng(0).standard_normal(n)


def place(
    delta: Array,
    weight: Array,
    U: Array,
    c: Array,
    c_given: Array,
    fingerprints: Array,
    *,
    n_starts: int = 4,
    tol: float = 1e-12,
) -> Array:
    """Return coordinates (m x p) for m new objects.

    Parameters
    ----------
    delta, weight, c : arrays of shape (m, n)
        Dissimilarities to the n fitted objects, their weights (0 where missing), squared known distances.
    c_given : array of shape (m, n)
        Squared known distances from the fitted objects' values as they were given, where the fit moved them: 0 to an
        object that knows the same.
    U : array of shape (n, p)
    fingerprints : array of shape (n,)
        Of each fitted object the sum of its squared dissimilarities times ``fingerprint_vector(n)``.
    n_starts : int
        The points of this many most similar fitted objects, and the weighted mean of the map, are tried.
    """
    p = U.shape[1]
    if p == 0:
        return np.empty((len(delta), 0))
    rows = max(1, BLOCK_CELLS // (len(U) * (n_starts + 1) * p))
    blocks = [slice(a, a + rows) for a in range(0, len(delta), rows)]
    return np.concatenate(
        [_place_block(delta[b], weight[b], U, c[b], c_given[b], fingerprints, n_starts, tol) for b in blocks]
    )


def _place_block(
    delta: Array, weight: Array, U: Array, c: Array, c_given: Array, fingerprints: Array, n_starts: int, tol: float
) -> Array:
    starts = _starts(delta, weight, U, c, n_starts)
    m, s, p = starts.shape
    places, stress = _descend(
        starts.reshape(m * s, p), np.repeat(delta, s, 0), np.repeat(weight, s, 0), U, np.repeat(c, s, 0), tol
    )
    best = np.argmin(stress.reshape(m, s), axis=1)
    placed = places.reshape(m, s, p)[np.arange(m), best]
    return _keep_twins(placed, delta, weight, U, c, c_given, fingerprints)


def _starts(delta: Array, weight: Array, U: Array, c: Array, n_starts: int) -> Array:
    """Return for each object the points of the fitted objects that are nearest once the known part is taken off."""
    # The part of delta left to u; missing pairs last.
    left = np.where(weight > 0, np.sqrt(np.maximum(delta**2 - c, 0.0)), np.inf)
    nearest = np.argsort(left, axis=1, kind="stable")[:, : min(n_starts, len(U))]
    mean = (weight @ U) / weight.sum(axis=1, keepdims=True)
    return np.concatenate([U[nearest], mean[:, None, :]], axis=1)


def _stress(u: Array, delta: Array, weight: Array, U: Array, c: Array) -> tuple[Array, Array, Array]:
    difference = u[:, None, :] - U[None, :, :]
    d = np.sqrt(np.einsum("ijk,ijk->ij", difference, difference) + c)
    return np.sum(weight * (delta - d) ** 2, axis=1), difference, d


def _descend(u: Array, delta: Array, weight: Array, U: Array, c: Array, tol: float) -> tuple[Array, Array]:
    stress, difference, d = _stress(u, delta, weight, U, c)
    total = np.sum(weight * delta**2, axis=1) + np.finfo(float).tiny
    active = np.arange(len(u))
    for _ in range(ITERATIONS):
        newton, majorised = _steps(difference, d, delta[active], weight[active])
        tried, settled = [], np.zeros(len(active), bool)
        for step in (newton, majorised):
            new = u[active] + step
            tried.append((new, *_stress(new, delta[active], weight[active], U, c[active])))
        better = tried[0][1] < tried[1][1]
        chosen = [np.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in zip(*tried, strict=True)]
        falls = chosen[1] <= stress[active]
        settled = ~falls | (stress[active] - chosen[1] <= tol * total[active])
        u[active[falls]], stress[active[falls]] = chosen[0][falls], chosen[1][falls]
        going = ~settled
        active, difference, d = active[going], chosen[2][going], chosen[3][going]
        if not len(active):
            break
    return u, stress


def _steps(difference: Array, d: Array, delta: Array, weight: Array) -> tuple[Array, Array]:
    """Return the Newton step (the majorisation step where the Hessian is not positive definite) and the latter."""
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
    pull = weight * (1.0 - delta * inverse)
    gradient = np.einsum("ij,ijk->ik", pull, difference)
    majorised = -gradient / weight.sum(axis=1, keepdims=True)
    # Half the Hessian: sum_j pull_j I + w_j delta_j / d_j^3 (u - u_j)(u - u_j)'.
    curvature = weight * delta * inverse**3
    hessian = np.einsum("ij,ijk,ijl->ikl", curvature, difference, difference)
    hessian += pull.sum(axis=1)[:, None, None] * np.eye(difference.shape[2])
    sound = np.linalg.eigvalsh(hessian)[:, 0] > 1e-8 * weight.sum(axis=1)
    hessian[~sound] = np.eye(difference.shape[2])
    newton = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return np.where(sound[:, None], newton, majorised), majorised


def _keep_twins(
    placed: Array, delta: Array, weight: Array, U: Array, c: Array, c_given: Array, fingerprints: Array
) -> Array:
    """Give an object that equals a fitted one (dissimilarity 0, same known features) that one's point.

    It is an optimum already, up to the tolerance of the fit; descending from it would only move it by that tolerance.
    Several fitted objects may be at dissimilarity 0: the one with the same dissimilarities to all others is the object
    itself; if there is none, the one whose place fits best.
    """
    squares = np.where(weight > 0, delta**2, 0.0)
    size = np.sum(weight * delta**2, axis=1) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
    same = (weight > 0) & (delta**2 + c_given <= TWIN**2 * size[:, None])
    prints = squares @ fingerprint_vector(len(U))
    for row in np.flatnonzero(same.any(axis=1)):
        twins = np.flatnonzero(same[row])
        gap = np.abs(fingerprints[twins] - prints[row])
        if gap.min() <= TWIN * np.sqrt(np.sum(squares[row] ** 2)):
            placed[row] = U[twins[np.argmin(gap)]]
        else:
            placed[row] = U[twins[np.argmin(_stress(U[twins], delta[row], weight[row], U, c[row])[0])]]
    return placed
