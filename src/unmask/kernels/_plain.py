"""The passes that a fit makes once, in NumPy: for few objects, where compiling would take longer."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array
from ._pairs import Pairs, Rule, Weighting
from ._workers import Workers

# Distances below this share of the mean dissimilarity have the noise of this one: with none at all, a pair whose
# dissimilarity is 0 would make any map on which the two coincide infinitely likely.
NEAREST_NOISE = 0.01


def weigh(part: Array, W: Any, rule: Rule) -> tuple[Array, Array]:
    """Return scaled dissimilarities and weights in double precision, both 0 where a pair does not count."""
    weighting, scale, floor, factor = rule
    delta = np.multiply(part, scale, dtype=np.float64)
    counts = ~np.isnan(delta)
    if weighting == Weighting.ARRAY:
        counts &= W > 0
    if not counts.all():
        delta[~counts] = 0.0
    if weighting == Weighting.SAMMON:
        weight = np.maximum(delta, floor)
        return delta, np.multiply(np.divide(factor, weight, out=weight), counts, out=weight)
    return delta, counts * (W.astype(np.float64) * factor if weighting == Weighting.ARRAY else 1.0)


def squares(part: Array, W: Any, rule: Rule, fill: tuple[Array, Array], offset: float) -> Array:
    """Return squared dissimilarities; one that does not count is ``offset + |fill_i - fill_j|^2``."""
    weighting, scale, *_ = rule
    out = np.multiply(part, scale, dtype=np.float64)
    with np.errstate(over="ignore"):  # a pair without weight may hold anything
        out *= out
    if weighting != Weighting.UNIT:  # which counts every pair
        i, j = np.nonzero(np.isnan(out) | (W == 0) if weighting == Weighting.ARRAY else np.isnan(out))
        out[i, j] = offset + np.sum((fill[0][i] - fill[1][j]) ** 2, axis=1)
    return out


def _weighed(pairs: Pairs) -> tuple[Array, Array]:
    """Return the scaled dissimilarities and the weights of the whole table, both 0 on the diagonal."""
    D, W, *_ = pairs.whole
    delta, weight = weigh(D, W, pairs.rule)
    np.fill_diagonal(delta, 0.0)
    np.fill_diagonal(weight, 0.0)
    return delta, weight


def laplacian_pass(pairs: Pairs, X: Array, workers: Workers) -> tuple[Array, Array]:
    """Return the diagonal of ``H`` (sum of each object's weights) and ``H X``."""
    _, weight = _weighed(pairs)
    degrees = weight.sum(axis=1)
    return degrees, degrees[:, None] * X - weight @ X


def squared_product(pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers) -> Array:
    """Return ``D2 X`` for squared dissimilarities ``D2``, ``offset + |fill_i - fill_j|^2`` where pairs do not count."""
    D, W, *_ = pairs.whole
    D2 = squares(D, W, pairs.rule, (fill, fill), offset)
    np.fill_diagonal(D2, 0.0)
    return np.asarray(D2 @ X)


def last_pass(pairs: Pairs, Z: Array, x: Array, workers: Workers) -> tuple[Array, Array]:
    """Return each object's weighted squared error, and ``D2 x`` for the squares of dissimilarities that count."""
    delta, weight = _weighed(pairs)
    return np.sum(weight * (delta - cdist(Z, Z)) ** 2, axis=1), delta**2 @ x


def pair_weights(pairs: Pairs) -> Array:
    """Return the N x N weights: symmetric, 0 on the diagonal and where the dissimilarity is missing."""
    upper = np.triu(_weighed(pairs)[1], 1)
    return np.asarray(upper + upper.T)


def fingerprint_vector(n: int) -> Array:
    """Return the fixed vector that squared dissimilarities to n objects are multiplied by to identify an object."""
    return np.random.default_rng(0).standard_normal(n)
