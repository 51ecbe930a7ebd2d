"""Groups of objects on a map: found by Ward's method, judged by their silhouettes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from .._typing import Array, IntArray

# A group of fewer places is an outlier or a coincidence, and says nothing about a grouping.
LEAST_MEMBERS = 3
MOST_GROUPS = 8
# Ward's method compares all pairs: of more objects so many are grouped, and each other one goes with the nearest.
MOST_LINKED = 10_000


@dataclass(frozen=True)
class Grouping:
    """The number of groups that are set apart best, and how well: the mean silhouette, from -1 to 1."""

    n_groups: int
    silhouette: float


def group_numbers(U: Array, n_groups: int) -> IntArray:
    """Return which of so many groups each object is in; group 0 is that of the first object, and so on."""
    some = np.random.default_rng(0).permutation(len(U))[:MOST_LINKED] if len(U) > MOST_LINKED else np.arange(len(U))
    groups = fcluster(linkage(U[some], "ward"), n_groups, criterion="maxclust")
    if len(U) > len(some):
        groups = groups[cKDTree(U[some]).query(U)[1]]
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])


def best_grouping(U: Array) -> Grouping:
    """Return the number of groups with the largest mean silhouette."""
    tree, distances = linkage(U, "ward"), cdist(U, U)
    most = min(MOST_GROUPS, len(U) // LEAST_MEMBERS)
    scores = [
        Grouping(n_groups, silhouette(distances, fcluster(tree, n_groups, criterion="maxclust")))
        for n_groups in range(2, most + 1)
    ]
    return max(scores, key=lambda grouping: grouping.silhouette)


def silhouette(distances: Array, groups: IntArray) -> float:
    """Return the mean silhouette, with 0 for objects of groups that have too few members, or if one group is left.

    An object's silhouette is (b - a) / max(a, b), with a its mean distance to the others of its group and b that to
    the nearest other group.
    """
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    large = counts >= LEAST_MEMBERS
    if large.sum() < 2:
        return 0.0
    members = inverse[:, None] == np.flatnonzero(large)
    members = members[members.any(axis=1)]
    kept = distances[np.ix_(large[inverse], large[inverse])]
    sums = kept @ members
    own = np.sum(sums * members, axis=1) / (members.sum(axis=0) - 1)[np.argmax(members, axis=1)]
    other = np.where(members, np.inf, sums / members.sum(axis=0)).min(axis=1)
    larger = np.maximum(own, other)
    return float(np.divide(other - own, larger, out=np.zeros_like(own), where=larger > 0).sum() / len(groups))
