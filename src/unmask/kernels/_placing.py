"""New objects placed on a finished map, compiled: each on its own, by guarded Newton steps.

For one object with coordinates u the stress is  sum_j w_j (delta_j - d_j)^2,  d_j^2 = |u - u_j|^2 + c_j,  where c_j is
the squared difference in the known features. Where the Hessian is not positive definite or a Newton step does not
lower the stress, the majorisation step (a weighted mean), which never raises it, is taken instead.

Every start is followed on at most ``COARSE`` of the fitted objects, evenly spread, and only the best on all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ._loops import _jit
from ._plain import fingerprint_vector
from ._workers import Workers

COARSE = 256
ITERATIONS = 200
NEAREST = 4  # tried: the points of so many most similar fitted objects, the triangulated point and the weighted mean
ROWS_PER_TASK = 16
# Closer than this share of a typical dissimilarity is the same object: distances computed from features are that exact.
TWIN = 1e-6
TOLERANCE = 1e-12
COARSE_TOLERANCE = 1e-6  # enough to tell one valley from another


@_jit
def _stress_at(u, delta, weight, Ut, c, squared):  # type: ignore[no-untyped-def]
    """Return the stress at u and leave the squared distances."""
    n = delta.shape[0]
    for j in range(n):
        squared[j] = c[j]
    for a in range(Ut.shape[0]):
        x, others = u[a], Ut[a]
        for j in range(n):
            squared[j] += (x - others[j]) * (x - others[j])
    stress = 0.0
    for j in range(n):
        residual = delta[j] - np.sqrt(squared[j])
        stress += weight[j] * residual * residual
    return stress


@_jit
def _derivatives(u, delta, weight, Ut, squared, pull, bend, gradient, hessian):  # type: ignore[no-untyped-def]
    """Leave half the gradient and half the Hessian: sum_j pull_j I + w_j delta_j / d_j^3 (u - u_j)(u - u_j)'."""
    n, p = delta.shape[0], Ut.shape[0]
    stiffness = 0.0
    for j in range(n):
        inverse = 1.0 / np.sqrt(squared[j]) if squared[j] > 0.0 else 0.0
        ratio = weight[j] * delta[j] * inverse
        pull[j] = weight[j] - ratio
        bend[j] = ratio * inverse * inverse
        stiffness += pull[j]
    for a in range(p):
        x, others = u[a], Ut[a]
        total = 0.0
        for j in range(n):
            total += pull[j] * (x - others[j])
        gradient[a] = total
        for b in range(a + 1):
            y, beyond = u[b], Ut[b]
            total = 0.0
            for j in range(n):
                total += bend[j] * (x - others[j]) * (y - beyond[j])
            hessian[a, b] = total
        hessian[a, a] += stiffness


@_jit
def _newton(hessian, gradient, least, step):  # type: ignore[no-untyped-def]
    """Leave minus the inverse Hessian (its lower half is given, and overwritten) times the gradient, if it is sound."""
    p = gradient.shape[0]
    for a in range(p):
        for b in range(a + 1):
            value = hessian[a, b]
            for k in range(b):
                value -= hessian[a, k] * hessian[b, k]
            if a > b:
                hessian[a, b] = value / hessian[b, b]
            elif value > least:
                hessian[a, a] = np.sqrt(value)
            else:
                return False
    for a in range(p):
        value = -gradient[a]
        for k in range(a):
            value -= hessian[a, k] * step[k]
        step[a] = value / hessian[a, a]
    for a in range(p - 1, -1, -1):
        value = step[a]
        for k in range(a + 1, p):
            value -= hessian[k, a] * step[k]
        step[a] = value / hessian[a, a]
    return True


@_jit
def _mass_and_size(delta, weight):  # type: ignore[no-untyped-def]
    """Return the sum of the weights, and of the squared dissimilarities by them."""
    mass, size = 0.0, 0.0
    for j in range(delta.shape[0]):
        mass += weight[j]
        size += weight[j] * delta[j] * delta[j]
    return mass, size


@_jit
def _descend(u, delta, weight, Ut, c, tolerance, steps):  # type: ignore[no-untyped-def]
    """Move u to the bottom of its valley, by so many steps at most; return the stress there."""
    n, p = delta.shape[0], u.shape[0]
    squared, ahead, pull, bend = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    gradient, hessian, step, tried = np.empty(p), np.empty((p, p)), np.empty(p), np.empty(p)
    mass, size = _mass_and_size(delta, weight)
    stress = _stress_at(u, delta, weight, Ut, c, squared)
    for _ in range(steps):
        _derivatives(u, delta, weight, Ut, squared, pull, bend, gradient, hessian)
        reached = np.inf
        if _newton(hessian, gradient, 1e-8 * mass, step):
            for a in range(p):
                tried[a] = u[a] + step[a]
            reached = _stress_at(tried, delta, weight, Ut, c, ahead)
        if not reached < stress:
            for a in range(p):
                tried[a] = u[a] - gradient[a] / mass
            reached = _stress_at(tried, delta, weight, Ut, c, ahead)
        if reached > stress:
            break
        fall, stress = stress - reached, reached
        _copy(tried, u)
        squared, ahead = ahead, squared
        if fall <= tolerance * size:
            break
    return stress


@_jit
def _squared_to_all(x, Xt, out):  # type: ignore[no-untyped-def]
    for j in range(out.shape[0]):
        out[j] = 0.0
    for a in range(Xt.shape[0]):
        y, others = x[a], Xt[a]
        for j in range(out.shape[0]):
            out[j] += (y - others[j]) * (y - others[j])


@_jit
def _copy(source, target):  # type: ignore[no-untyped-def]
    """Copy in a loop: assigning a slice compiles the formatting of an error message, for seconds."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@_jit
def _start(number, own, weights, c, Ut, places, axes, radii, mean, u):  # type: ignore[no-untyped-def]
    """Leave a start: the triangulated point (Gower; exact where the distances are), the weighted mean, near points."""
    n = own.shape[0]
    for a in range(u.shape[0]):
        if number >= 2:
            u[a] = Ut[a, places[number - 2]]
        elif number == 1:
            total, mass = 0.0, 0.0
            for j in range(n):
                total += weights[j] * Ut[a, j]
                mass += weights[j]
            u[a] = total / mass
        else:
            total = 0.0
            for j in range(n):
                if weights[j] > 0.0:
                    total += axes[a, j] * (own[j] * own[j] - c[j] - radii[j])
            u[a] = mean[a] - 0.5 * total


@_jit
def _twin(delta, weight, Ut, c, apart, vector, fingerprints, squared, u):  # type: ignore[no-untyped-def]
    """Return the fitted object that this one is (dissimilarity 0, nothing known apart), or -1.

    Several may be at dissimilarity 0: the one with the same dissimilarities to all others is the object itself; if
    there is none, the one whose place fits best. A twin's place is an optimum already, up to the tolerance of the fit;
    descending from it would only move it by that tolerance.
    """
    n, count, own, power = delta.shape[0], 0, 0.0, 0.0
    mass, size = _mass_and_size(delta, weight)
    nearness = TWIN * TWIN * size / mass
    for j in range(n):
        count += weight[j] > 0.0 and delta[j] * delta[j] + apart[j] <= nearness
    if count == 0:
        return -1
    for j in range(n):
        if weight[j] > 0.0:
            own += delta[j] * delta[j] * vector[j]
            power += delta[j] ** 4
    alike, gap, fitting, lowest = -1, np.inf, -1, np.inf
    for j in range(n):
        if weight[j] > 0.0 and delta[j] * delta[j] + apart[j] <= nearness:
            if abs(fingerprints[j] - own) < gap:
                alike, gap = j, abs(fingerprints[j] - own)
            if count > 1:
                _copy(Ut[:, j], u)
                stress = _stress_at(u, delta, weight, Ut, c, squared)
                if stress < lowest:
                    fitting, lowest = j, stress
    return alike if gap <= TWIN * np.sqrt(power) or count == 1 else fitting


@_jit
def _nearest(delta, weight, c, places, left):  # type: ignore[no-untyped-def]
    """Leave the fitted objects that are nearest once the known part is taken off; return how many there are."""
    count = 0
    for j in range(delta.shape[0]):
        if weight[j] == 0.0:
            continue
        own = max(delta[j] * delta[j] - c[j], 0.0)
        if count == NEAREST and own >= left[NEAREST - 1]:
            continue
        at = min(count, NEAREST - 1)
        while at > 0 and left[at - 1] > own:
            left[at], places[at] = left[at - 1], places[at - 1]
            at -= 1
        left[at], places[at] = own, j
        count = min(count + 1, NEAREST)
    return count


@_jit
def _place_rows(delta, weight, known, some, tables, frame, most_starts, steps, first, last, out):  # type: ignore[no-untyped-def]
    """Place some objects; ``some`` has their dissimilarities and weights to every few of the fitted objects."""
    Ut, Kt, Gt, vector, fingerprints = tables
    axes, radii, mean = frame
    (p, n), m = Ut.shape, some[0].shape[1]
    stride = -(-n // m)
    Ut_some = np.empty((p, m))
    for a in range(p):
        _copy(Ut[a, ::stride], Ut_some[a])
    c, c_some, apart, squared = np.empty(n), np.empty(m), np.empty(n), np.empty(n)
    u, best, places, left = np.empty(p), np.empty(p), np.empty(NEAREST, np.int64), np.empty(NEAREST)
    for i in range(first, last):
        own, weights, own_some, weights_some = delta[i], weight[i], some[0][i], some[1][i]
        _squared_to_all(known[i], Kt, c)
        _squared_to_all(known[i], Gt, apart)
        twin = _twin(own, weights, Ut, c, apart, vector, fingerprints, squared, u)
        if twin >= 0:
            _copy(Ut[:, twin], out[i])
            continue
        _copy(c[::stride], c_some)
        held = 0
        for j in range(m):
            held += weights_some[j] > 0.0
        coarse = stride > 1 and held > COARSE // 4
        lowest = np.inf
        for number in range(min(_nearest(own, weights, c, places, left) + 2, most_starts)):
            _start(number, own, weights, c, Ut, places, axes, radii, mean, u)
            if coarse:
                stress = _descend(u, own_some, weights_some, Ut_some, c_some, COARSE_TOLERANCE, steps)
            else:
                stress = _descend(u, own, weights, Ut, c, TOLERANCE, steps)
            if stress < lowest:
                lowest = stress
                _copy(u, best)
        if coarse:
            _descend(best, own, weights, Ut, c, TOLERANCE, steps)
        _copy(best, out[i])


def place(
    delta: Array,
    weight: Array,
    known: Array,
    U: Array,
    fitted_known: Array,
    given_known: Array,
    fingerprints: Array,
    workers: Workers,
    most_starts: int = NEAREST + 2,
    most_steps: int = ITERATIONS,
) -> Array:
    """Return coordinates (m x p) for m new objects.

    Parameters
    ----------
    delta, weight : arrays of shape (m, n)
        Dissimilarities to the n fitted objects, and their weights: 0 where one is missing.
    known : array of shape (m, q)
        What is known about the new objects, as coordinates in which distances count.
    U : array of shape (n, p)
    fitted_known, given_known : arrays of shape (n, q)
        What is known about the fitted objects, as the fit moved it and as it was given.
    fingerprints : array of shape (n,)
        Of each fitted object the sum of its squared dissimilarities times ``fingerprint_vector(n)``.
    most_starts : int
        Valleys that are tried; 1 is the one below the triangulated point.
    most_steps : int
        Of each way down; 0 leaves an object at the triangulated point.
    """
    out = np.empty((len(delta), U.shape[1]))
    centred, stride = U - U.mean(axis=0), max(1, -(-len(U) // COARSE))
    frame: Any = np.ascontiguousarray(np.linalg.pinv(centred)), np.sum(centred**2, axis=1), U.mean(axis=0)
    tables: Any = tuple(np.ascontiguousarray(array.T, dtype=np.float64) for array in (U, fitted_known, given_known))
    tables = (*tables, fingerprint_vector(len(U)), fingerprints)
    new = [np.ascontiguousarray(array, dtype=np.float64) for array in (delta, weight, known)]
    some = np.ascontiguousarray(new[0][:, ::stride]), np.ascontiguousarray(new[1][:, ::stride])

    def run(task: int) -> None:
        rows = task * ROWS_PER_TASK, min((task + 1) * ROWS_PER_TASK, len(delta))
        _place_rows(*new, some, tables, frame, most_starts, most_steps, *rows, out)

    workers.run(run, -(-len(delta) // ROWS_PER_TASK))
    return out
