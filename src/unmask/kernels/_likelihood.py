"""The pass of a likelihood, compiled: dissimilarities as distances with noise that may grow with the distance."""

from __future__ import annotations

import numpy as np

from ._loops import _jit
from ._plain import NEAREST_NOISE

_LEAST = NEAREST_NOISE**2
_HALF_LOG_2_PI = 0.5 * np.log(2.0 * np.pi)


@_jit
def likelihood_pass(Z, rows, columns, delta, precision, log_s, gamma, G):  # type: ignore[no-untyped-def]
    """Return the log likelihood and its derivatives in ``log_s`` and ``gamma``; that in Z is left in ``G``."""
    k = Z.shape[1]
    G[:] = 0.0
    total, in_log_s, in_gamma = 0.0, 0.0, 0.0
    for pair in range(rows.shape[0]):
        i, j = rows[pair], columns[pair]
        squares = 0.0
        for c in range(k):
            difference = Z[i, c] - Z[j, c]
            squares += difference * difference
        size = squares + _LEAST
        log_size = np.log(size)
        # One exponential for the variance s^2 size^gamma, whose logarithm is needed anyway.
        log_variance = 2.0 * log_s + gamma * log_size
        inverse = precision[pair] * np.exp(-log_variance)
        d = np.sqrt(squares)
        residual = d - delta[pair]
        excess = residual * residual * inverse - 1.0
        total += 0.5 * (np.log(precision[pair]) - log_variance - excess - 1.0) - _HALF_LOG_2_PI
        in_log_s += excess
        in_gamma += 0.5 * excess * log_size
        pull = excess * gamma / size - residual * inverse / max(d, 1e-12)
        for c in range(k):
            force = pull * (Z[i, c] - Z[j, c])
            G[i, c] += force
            G[j, c] -= force
    return total, in_log_s, in_gamma
