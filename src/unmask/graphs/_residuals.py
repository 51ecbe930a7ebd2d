"""Features without what the known features explain, by comparing neighbours that differ in them.

Ordinary residuals take away too much where known features and groups of objects go together: part of the difference
between groups is then charged to the known features. Objects of different strata that are each other's nearest
neighbours are likely to be alike but for the known features, so their differences show the effect of these alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from .._typing import Array, IntArray

# Objects that are matched, mutual neighbours of each in another stratum, regions with coefficients of their own, and
# rounds of matching: values with which eight simulated scenarios came out well (benchmarks/neighbours.py).
MOST_MATCHED, MATCHES, REGIONS, ROUNDS = 6000, 10, 20, 3
PER_REGION = 100  # matched objects at least
PAIRS_PER_COLUMN = 20  # fewer pairs than these leave the ordinary residuals as they are
RIDGE, LOCAL_RIDGE = 1e-6, 0.05  # shares of the cross product's trace, and of the pairs of a mean region
SOFTNESS = 0.3  # share of the median squared distance to a region's centre at which another region counts 1/e
TOGETHER = 16_384  # rows whose regional effects are computed at once


class Round(NamedTuple):
    """Coefficients of the known features, everywhere and in addition by region."""

    everywhere: Array  # known columns x columns
    centres: Array | None = None  # of the regions
    width: float = 1.0
    by_region: Array | None = None  # regions x known columns x columns


@dataclass(frozen=True)
class MatchedResiduals:
    """How features follow from known features; made by :func:`match_residuals`."""

    mean: Array
    rounds: tuple[Round, ...]

    def residuals(self, X: Array, V: Array) -> Array:
        """Return features without what known columns explain, of fitted and of new objects alike."""
        V, Z = V - self.mean, X
        for each in self.rounds:
            Z = _one_round(each, X, V, Z)
        return Z


def match_residuals(X: Array, V: Array, strata: IntArray, seed: int) -> MatchedResiduals:
    """Learn what known columns V explain of features X from objects of different strata that are alike otherwise."""
    X, V = X.astype(np.float64), V.astype(np.float64)
    mean = V.mean(axis=0)
    V = V - mean
    rounds = [Round(np.linalg.lstsq(V, X, rcond=None)[0])]
    Z = _one_round(rounds[0], X, V, X)
    at = np.sort(np.random.default_rng(seed).choice(len(X), min(len(X), MOST_MATCHED), replace=False))
    n_regions = min(REGIONS, len(at) // PER_REGION)
    with threadpool_limits(limits=1):  # the sums of k-means would depend on the number of threads
        for _ in range(ROUNDS):
            i, j = _matches(Z[at], strata[at])
            if len(i) < PAIRS_PER_COLUMN * V.shape[1]:
                break
            i, j = at[i], at[j]
            known, change = V[i] - V[j], X[i] - X[j]
            products = known.T @ known
            everywhere = _solve(products, RIDGE * np.trace(products), known.T @ change)
            step = Round(everywhere)
            if n_regions > 1:
                step = Round(everywhere, *_regions(Z, at, i, j, known, change - known @ everywhere, n_regions, seed))
            rounds.append(step)
            Z = _one_round(rounds[-1], X, V, Z)
    return MatchedResiduals(mean, tuple(rounds))


def _one_round(given: Round, X: Array, V: Array, Z: Array) -> Array:
    """Return X without the effects of V; Z, the result of the round before, says in which regions the objects are."""
    out = X - V @ given.everywhere
    if given.centres is not None and given.by_region is not None:
        flat = given.by_region.reshape(-1, X.shape[1])
        for first in range(0, len(X), TOGETHER):
            rows = slice(first, first + TOGETHER)
            shares = _shares(Z[rows], given.centres, given.width)
            out[rows] -= (shares[:, :, None] * V[rows, None, :]).reshape(len(shares), -1) @ flat
    return np.asarray(out)


def _matches(Z: Array, strata: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs of objects of different strata, each among the other's nearest of its stratum."""
    n, pairs = len(Z), []
    for stratum in np.unique(strata):
        own, others = np.flatnonzero(strata == stratum), np.flatnonzero(strata != stratum)
        if len(others):
            k = min(MATCHES, len(own))
            nearest = NearestNeighbors(n_neighbors=k).fit(Z[own]).kneighbors(Z[others], return_distance=False)
            pairs.append((np.repeat(others, k), own[nearest].ravel()))
    if not pairs:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
    directed = sp.csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    mutual = sp.triu(directed.multiply(directed.T)).tocoo()
    return mutual.row, mutual.col


def _regions(
    Z: Array, at: IntArray, i: IntArray, j: IntArray, known: Array, rest: Array, number: int, seed: int
) -> tuple[Array, float, Array]:
    """Return centres of regions, their width, and coefficients by which matched pairs differ there from elsewhere."""
    centres = KMeans(number, n_init=1, random_state=seed).fit(Z[at]).cluster_centers_
    width = SOFTNESS * max(float(np.median(_squared(Z[at], centres).min(axis=1))), 1e-300)
    together = _shares(Z[i], centres, width) * _shares(Z[j], centres, width)
    by_region = []
    for weight in together.T:
        weighted = known * weight[:, None]
        by_region.append(_solve(weighted.T @ known, 1.0 + LOCAL_RIDGE * weight.sum() / number, weighted.T @ rest))
    return centres, width, np.array(by_region)


def _solve(products: Array, ridge: float, right: Array) -> Array:
    return np.asarray(np.linalg.solve(products + ridge * np.eye(len(products)), right))


def _shares(Z: Array, centres: Array, width: float) -> Array:
    """Return how much each row belongs to each region."""
    squared = _squared(Z, centres)
    shares = np.exp(-(squared - squared.min(axis=1, keepdims=True)) / width)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _squared(Z: Array, centres: Array) -> Array:
    products = (Z**2).sum(axis=1)[:, None] - 2.0 * Z @ centres.T + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(products, 0.0))
