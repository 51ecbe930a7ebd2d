"""Passes in plain NumPy for few objects, where compiling takes longer: N x N temporaries, no threads."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ._pairs import Pairs, Sums, Survey, Weighting
from ._sources import Source, square_array
from ._workers import Workers

# Distances below this share of the mean dissimilarity have the noise of this one: with none at all, a pair whose
# dissimilarity is 0 would make any map on which the two coincide infinitely likely.
NEAREST_NOISE = 0.01


def scaled_dissimilarities(pairs: Pairs) -> Array:
    """Return the scaled upper triangle mirrored, missing ones NaN, diagonal 0."""
    upper = np.triu(pairs.values.astype(np.float64), 1) * pairs.scale
    return upper + upper.T


def pair_weights(pairs: Pairs) -> Array:
    """Return the N x N weights: symmetric, 0 on the diagonal and where the dissimilarity is missing."""
    delta = scaled_dissimilarities(pairs)
    if pairs.weighting == Weighting.SAMMON:
        weights = pairs.factor / np.maximum(delta, pairs.floor)
    elif pairs.weighting == Weighting.ARRAY:
        upper = np.triu(pairs.W.astype(np.float64), 1) * pairs.factor
        weights = upper + upper.T
    else:
        weights = np.ones_like(delta)
    weights[np.isnan(delta)] = 0.0
    np.fill_diagonal(weights, 0.0)
    return weights


def last_pass(pairs: Pairs, Z: Array, x: Array, workers: Workers | None = None) -> tuple[Array, Array]:
    """Return each object's weighted squared error, and ``D2 x`` for the squares of dissimilarities that count."""
    W = pair_weights(pairs)
    delta = np.where(W > 0, scaled_dissimilarities(pairs), 0.0)
    d = np.sqrt(((Z[:, None, :].astype(np.float64) - Z[None, :, :]) ** 2).sum(axis=2))
    return np.asarray((W * (delta - d) ** 2).sum(axis=1)), np.asarray(delta**2 @ x)


def laplacian_pass(pairs: Pairs, X: Array, workers: Workers | None = None) -> tuple[Array, Array]:
    """Return the diagonal of ``H`` (sum of each object's weights) and ``H X``."""
    W = pair_weights(pairs)
    degrees = W.sum(axis=1)
    return degrees, degrees[:, None] * X - W @ X


def squared_product(pairs: Pairs, X: Array, fill: Array, offset: float, workers: Workers | None = None) -> Array:
    """Return ``D2 X`` for squared dissimilarities ``D2``, ``offset + |fill_i - fill_j|^2`` where pairs do not count."""
    with np.errstate(over="ignore"):  # a pair without weight may hold anything
        D2 = scaled_dissimilarities(pairs) ** 2
    if pairs.weighting == Weighting.ARRAY:
        D2[pairs.W == 0] = np.nan
    differences = fill[:, None, :] - fill[None, :, :]
    D2 = np.where(np.isnan(D2), offset + (differences**2).sum(axis=2), D2)
    np.fill_diagonal(D2, 0.0)
    return np.asarray(D2 @ X)


def pair_sums(pairs: Pairs, workers: Workers | None = None) -> Array:
    """Return ``[sum of w, sum of w delta, sum of w delta^2]`` over the pairs i < j."""
    W = np.triu(pair_weights(pairs))
    delta = np.where(W > 0, scaled_dissimilarities(pairs), 0.0)
    return np.array([W.sum(), (W * delta).sum(), (W * delta**2).sum()])


def survey(source: Source, workers: Workers | None = None) -> Survey:
    """Look at every entry once: extremes, missing pairs, infinities, the largest asymmetry, and sums."""
    D = square_array(source, "this survey")
    upper = np.triu_indices(len(D), 1)
    return survey_pairs(D[upper], D.T[upper])


def survey_pairs(a: Array, b: Array) -> Survey:
    """Look at the entries of pairs in either direction."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    both = np.concatenate([a, b])
    finite = both[np.isfinite(both)]
    given = np.where(np.isnan(a), 0.0, a)
    with np.errstate(over="ignore"):
        squares = float(given @ given)
    gap = np.abs(np.subtract(a, b, where=np.isfinite(a) & np.isfinite(b), out=np.zeros(len(a))))
    return Survey(
        missing=int((np.isnan(a) & np.isnan(b)).sum()),
        one_sided=int((np.isnan(a) != np.isnan(b)).sum()),
        infinite=int(np.isinf(both).sum()),
        smallest=float(finite.min(initial=0.0)),
        largest=float(finite.max(initial=0.0)),
        asymmetry=float(gap.max(initial=0.0)),
        sums=Sums(float(given.sum()), squares, float(np.min(given, where=given > 0, initial=np.inf))),
    )
