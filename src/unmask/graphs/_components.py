"""Joining the parts of a graph by its cheapest missing edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import DisjointSet
from scipy.sparse.csgraph import connected_components

from .._typing import Array, IntArray
from ._neighbours import symmetric_graph

Edge = tuple[float, int, int]


def components(graph: sp.csr_array) -> tuple[int, IntArray]:
    """Return the number of connected components and each object's component."""
    count, component = connected_components(graph, directed=False)
    return int(count), np.asarray(component)


def join_components(graph: sp.csr_array, distances: Callable[[IntArray], Array]) -> sp.csr_array:
    """Connect all components by the shortest edges between them: a minimum spanning tree over components.

    ``distances(i)`` returns the distances from the objects i to all objects; NaN where there is none. Time and memory:
    one row of distances per object of all components but the largest.
    """
    count, component = components(graph)
    if count == 1:
        return graph
    edges = sorted(_cheapest(component, count, distances))
    joined, added = DisjointSet(range(count)), []
    for length, i, j in edges:
        if joined.merge(int(component[i]), int(component[j])):
            added.append((length, i, j))
    if joined.n_subsets > 1:
        raise ValueError(
            f"the neighbourhood graph falls into {count} parts between some of which all dissimilarities are missing; "
            "fit the parts on their own."
        )
    old = graph.tocoo()
    lengths, rows, columns = (np.array(side) for side in zip(*added, strict=True))
    return symmetric_graph(
        np.concatenate([old.coords[0], rows]),
        np.concatenate([old.coords[1], columns]),
        np.concatenate([old.data, lengths]),
        graph.shape[0],
        mutual=False,
    )


def _cheapest(component: IntArray, count: int, distances: Callable[[IntArray], Array]) -> list[Edge]:
    """Return the shortest edge between every two components (as seen from all but the largest)."""
    largest = int(np.argmax(np.bincount(component)))
    found: list[Edge] = []
    for own in (c for c in range(count) if c != largest):
        members = np.flatnonzero(component == own)
        lengths = distances(members)
        for other in (c for c in range(count) if c != own):
            theirs = np.flatnonzero(component == other)
            between = np.where(np.isnan(lengths[:, theirs]), np.inf, lengths[:, theirs])
            a, b = np.unravel_index(int(np.argmin(between)), between.shape)
            if np.isfinite(between[a, b]):
                found.append((float(between[a, b]), int(members[a]), int(theirs[b])))
    return found
