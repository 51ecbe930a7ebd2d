"""Strata: groups of objects that are alike in the known features."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from .._typing import Array, IntArray
from ..problem import KnownFeatures
from ..problem.leak import Trait, traits_of

FEWEST, MOST = 5, 50  # objects of a stratum, and strata
BINS = 5  # of a number
TOGETHER = 65_536  # rows compared with the centres at once


def strata_of(known: KnownFeatures, seed: int) -> tuple[IntArray, Array]:
    """Return the stratum of every object, and the mean coded known features of each stratum.

    Strata are joint levels; numbers are cut into quantiles, features of several columns into clusters. Objects of rare
    strata join the nearest one.
    """
    V = known.values
    parts = [_parts(trait, seed) for trait in traits_of(known)]
    joint = np.zeros(len(V), dtype=np.intp)
    if parts:
        joint = np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1].ravel()
    sizes = np.bincount(joint)
    large = np.argsort(-sizes, kind="stable")[:MOST]
    large = np.sort(large[sizes[large] >= FEWEST])
    if not len(large):
        return np.zeros(len(V), dtype=np.intp), V.mean(axis=0, keepdims=True)
    strata = np.full(len(sizes), -1)
    strata[large] = np.arange(len(large))
    strata = strata[joint]
    centres = np.array([V[strata == stratum].mean(axis=0) for stratum in range(len(large))])
    strata[strata < 0] = nearest_stratum(V[strata < 0], centres)
    return strata, centres


def nearest_stratum(V: Array, centres: Array) -> IntArray:
    """Return the stratum whose mean known features are nearest."""
    if len(centres) == 1:
        return np.zeros(len(V), dtype=np.intp)
    blocks = [cdist(V[first : first + TOGETHER], centres).argmin(axis=1) for first in range(0, len(V), TOGETHER)]
    return np.concatenate([np.zeros(0, dtype=np.intp), *blocks])


def _parts(trait: Trait, seed: int) -> IntArray:
    if trait.levels is not None:
        return trait.levels
    if trait.columns.shape[1] == 1:
        values = trait.columns[:, 0]
        cuts = np.unique(np.quantile(values, np.arange(1, BINS) / BINS))
        return np.searchsorted(cuts, values, side="right")
    different = len(np.unique(trait.columns, axis=0))
    with threadpool_limits(limits=1):  # the sums of k-means would depend on the number of threads
        return np.asarray(KMeans(min(BINS, different), n_init=1, random_state=seed).fit_predict(trait.columns))
