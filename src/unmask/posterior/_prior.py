"""The prior's spread of the unknown, by empirical Bayes from the least-squares fit; drawn, it collapses under noise."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..problem import KnownFeatures
from ._evidence import Evidence

# The least share of the fitted coordinates' mean square that is left when the noise's is taken off.
LEAST_LEFT = 0.25


def empirical_tau(evidence: Evidence, U: Array, Z: Array, known: KnownFeatures) -> float:
    """Return the standard deviation of the coordinates a priori: theirs in the fit, less what noise adds to it.

    The noise of a coordinate is that of a regression of the object's dissimilarities, linear at the fit.
    """
    n, p = U.shape
    if p == 0:
        return 1.0
    U = U - U.mean(axis=0)
    rows, columns = evidence.rows, evidence.columns
    d = np.linalg.norm(Z[rows] - Z[columns], axis=1)
    left = float(np.sum(evidence.precision * (evidence.delta - d) ** 2))
    # Neither place nor turn of the map counts, nor a turn of the coefficients.
    free = n * p - p * (p + 1) // 2 + sum(q * (q + 1) // 2 for q in map(len, known.groups))
    noise = left / max(len(d) - free, 1)
    share = evidence.precision[:, None] * ((U[rows] - U[columns]) / np.maximum(d, 1e-12)[:, None]) ** 2
    h = np.zeros((n, p))
    np.add.at(h, rows, share)
    np.add.at(h, columns, share)
    size = float(np.mean(U**2))
    spread = size - float(np.mean(noise / np.maximum(h, 1e-12)))
    return float(np.sqrt(max(spread, LEAST_LEFT * size, 1e-12)))
