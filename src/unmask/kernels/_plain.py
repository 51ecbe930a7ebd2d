"""The passes that a fit makes once, in NumPy: a few rows at a time, so that no temporary is as large as the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array
from ._pairs import Pairs, Rule, Weighting
from ._sources import strip_height
from ._workers import Workers

# Distances below this share of the mean dissimilarity have the noise of this one: with none at all, a pair whose
# dissimilarity is 0 would make any map on which the two coincide infinitely likely.
NEAREST_NOISE = 0.01
CELLS = 2**17  # of the table that are worked on together: 1 MB, which stays in the cache


def weigh(part: Array, W: Array, rule: Rule) -> tuple[Array, Array]:
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


def squares(part: Array, W: Array, rule: Rule, fill: tuple[Array, Array], offset: float) -> Array:
    """Return squared dissimilarities; one that does not count is ``offset + |fill_i - fill_j|^2``."""
    weighting, scale, *_ = rule
    out = np.multiply(part, scale, dtype=np.float64)
    with np.errstate(over="ignore"):  # a pair without weight may hold anything
        out *= out
    if weighting != Weighting.UNIT:  # which counts every pair
        i, j = np.nonzero(np.isnan(out) | (W == 0) if weighting == Weighting.ARRAY else np.isnan(out))
        out[i, j] = offset + np.sum((fill[0][i] - fill[1][j]) ** 2, axis=1)
    return out


def _over_strips(pairs: Pairs, workers: Workers, task: Callable[[slice, Array, Array], None]) -> None:
    """Call ``task(rows, dissimilarities, weights)`` for a few whole rows of the table at a time, on all threads."""
    n, read = pairs.n, strip_height(pairs.n)
    height = max(1, CELLS // n)

    def run(at: int) -> None:
        top, bottom = at * read, min((at + 1) * read, n)
        D, W = pairs.part(slice(top, bottom), slice(0, n))[:2]
        for first in range(top, bottom, height):
            rows = slice(first, min(first + height, bottom))
            own = slice(first - top, rows.stop - top)
            task(rows, D[own], W[own])

    workers.run(run, -(-n // read))


def laplacian_pass(pairs: Pairs, X: Array, workers: Workers) -> tuple[Array, Array]:
    """Return the diagonal of ``H`` (sum of each object's weights) and ``H X``."""
    degrees, HX = np.empty(pairs.n), np.empty(X.shape)

    def task(rows: slice, D: Array, W: Array) -> None:
        weight = weigh(D, W, pairs.rule)[1]
        np.fill_diagonal(weight[:, rows], 0.0)
        degrees[rows] = weight.sum(axis=1)
        HX[rows] = degrees[rows, None] * X[rows] - weight @ X

    _over_strips(pairs, workers, task)
    return degrees, HX


def squared_product(pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers) -> Array:
    """Return ``D2 X`` for squared dissimilarities ``D2``, ``offset + |fill_i - fill_j|^2`` where pairs do not count."""
    out = np.empty(X.shape)

    def task(rows: slice, D: Array, W: Array) -> None:
        D2 = squares(D, W, pairs.rule, (fill[rows], fill), offset)
        np.fill_diagonal(D2[:, rows], 0.0)
        out[rows] = D2 @ X

    _over_strips(pairs, workers, task)
    return out


def pair_sums(pairs: Pairs, workers: Workers) -> Array:
    """Return ``[sum of w, sum of w delta, sum of w delta^2]`` over the pairs i < j."""
    sums = np.empty((pairs.n, 3))

    def task(rows: slice, D: Array, W: Array) -> None:
        delta, weight = weigh(D, W, pairs.rule)
        np.fill_diagonal(weight[:, rows], 0.0)
        sums[rows, 0], weighted = weight.sum(axis=1), np.multiply(weight, delta, out=weight)
        sums[rows, 1], sums[rows, 2] = weighted.sum(axis=1), np.einsum("ij,ij->i", weighted, delta)

    _over_strips(pairs, workers, task)
    return np.asarray(sums.sum(axis=0) / 2)


def last_pass(pairs: Pairs, Z: Array, x: Array, workers: Workers) -> tuple[Array, Array]:
    """Return each object's weighted squared error, and ``D2 x`` for the squares of dissimilarities that count."""
    errors, products = np.empty(pairs.n), np.empty(pairs.n)

    def task(rows: slice, D: Array, W: Array) -> None:
        delta, weight = weigh(D, W, pairs.rule)
        np.fill_diagonal(weight[:, rows], 0.0)
        np.fill_diagonal(delta[:, rows], 0.0)
        errors[rows] = np.sum(weight * (delta - cdist(Z[rows], Z)) ** 2, axis=1)
        products[rows] = delta**2 @ x

    _over_strips(pairs, workers, task)
    return errors, products


def pair_weights(pairs: Pairs) -> Array:
    """Return the N x N weights: symmetric, 0 on the diagonal and where the dissimilarity is missing."""
    D, W = pairs.whole[:2]
    upper = np.triu(weigh(D, W, pairs.rule)[1], 1)
    return np.asarray(upper + upper.T)
