"""Places of a map: objects that lie on top of each other because they differ only in what is known count as one.

Brother and sister, given gender, are in one place. They are no independent witnesses: whatever they share is counted
once. Objects on top of each other that are the same in what is known are something else, namely a group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from .._typing import Array, IntArray

# Objects are in the same place if they are nearer than this share of the spacing that so many would have on a grid.
COINCIDENCE = 0.1


def find_places(U: Array, known: pd.DataFrame) -> IntArray:
    """Return for each object the number of its place; objects in one place differ in what is known."""
    kinds = _kinds(known)
    if kinds.max(initial=0) == 0:
        return np.arange(len(U))
    n, p = U.shape
    spacing = float(np.ptp(U, axis=0).max()) / n ** (1 / p)
    near = cKDTree(U).query_ball_point(U, COINCIDENCE * spacing, return_sorted=True)
    places = np.full(n, -1)
    taken: list[set[Any]] = []
    for i, others in enumerate(near):
        free = (places[j] for j in others if j < i and kinds[i] not in taken[places[j]])
        places[i] = next(free, len(taken))
        if places[i] == len(taken):
            taken.append(set())
        taken[places[i]].add(kinds[i])
    return places


def _kinds(known: pd.DataFrame) -> IntArray:
    """Return a number for each combination of the known features that have few values; 0 for all if there are none.

    A feature with a value of its own for almost every object is left out: no two objects differ in it alone.
    """
    few = [name for name in known.columns if known[name].nunique() <= len(known) // 2]
    if not few:
        return np.zeros(len(known), dtype=np.int64)
    return np.asarray(known[few].groupby(few, dropna=False, sort=False, observed=True).ngroup())


def mean_places(U: Array, places: IntArray) -> Array:
    """Return the mean of the objects in each place."""
    counts = np.bincount(places)
    return np.column_stack([np.bincount(places, axis) / counts for axis in U.T])


def permutations_of(places: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Return random orders of the objects, one a row; objects at one place of the map are moved together.

    Only places with the same number of objects are exchanged, and the objects at each are shuffled.
    """
    sizes = np.bincount(places)
    members = np.split(np.argsort(places, kind="stable"), np.cumsum(sizes)[:-1])
    orders = np.empty((count, len(places)), dtype=np.int64)
    for size in np.unique(sizes):
        block = np.array([members[place] for place in np.flatnonzero(sizes == size)])
        for order in orders:
            order[block] = rng.permuted(rng.permutation(block), axis=1)
    return orders
