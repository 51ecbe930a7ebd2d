"""What limited-memory BFGS does with its past steps, compiled."""

from __future__ import annotations

import numpy as np

from ._loops import _inner, _jit


@_inner
def _dot(a, b):  # type: ignore[no-untyped-def]
    """Return the inner product without BLAS, whose threads spin for longer than this takes on a busy machine."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@_inner
def _add(direction, share, vector):  # type: ignore[no-untyped-def]
    """Add a multiple of a vector; the same as an expression of arrays takes twice as long to compile."""
    for i in range(direction.shape[0]):
        direction[i] += share * vector[i]


@_jit
def lbfgs_direction(steps, changes, inverse_curvatures, count, gradient):  # type: ignore[no-untyped-def]
    """Return minus the limited-memory inverse Hessian times the gradient (two-loop recursion over a ring of pairs)."""
    memory = steps.shape[0]
    used = min(count, memory)
    direction, shares = np.zeros(gradient.shape[0]), np.empty(used)
    _add(direction, -1.0, gradient)
    for back in range(used):
        at = (count - 1 - back) % memory
        shares[back] = inverse_curvatures[at] * _dot(steps[at], direction)
        _add(direction, -shares[back], changes[at])
    newest = (count - 1) % memory
    shrink = 1.0 / (inverse_curvatures[newest] * _dot(changes[newest], changes[newest]))
    for i in range(direction.shape[0]):
        direction[i] *= shrink
    for back in range(used - 1, -1, -1):
        at = (count - 1 - back) % memory
        _add(direction, shares[back] - inverse_curvatures[at] * _dot(changes[at], direction), steps[at])
    return direction


@_jit
def lbfgs_remember(steps, changes, inverse_curvatures, at, step, change):  # type: ignore[no-untyped-def]
    """Put a step and the change of the gradient along it into place ``at`` if it curves upwards; tell whether."""
    curvature = _dot(step, change)
    if not curvature > 1e-10 * np.sqrt(_dot(step, step) * _dot(change, change)):
        return False
    for i in range(step.shape[0]):  # assigning to a slice compiles an error message about shapes: 2.2 s
        steps[at, i] = step[i]
        changes[at, i] = change[i]
    inverse_curvatures[at] = 1.0 / curvature
    return True
