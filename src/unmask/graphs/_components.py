"""The connected parts of a graph, and joining them by the shortest edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._typing import Array, IntArray
from ._neighbours import undirected


def components(graph: sp.csr_array) -> tuple[int, IntArray]:
    """Return the number of connected components and each object's component."""
    count, component = connected_components(graph, directed=False)
    return int(count), np.asarray(component)


def describe_parts(graph: sp.csr_array) -> str:
    """Say into how many parts a graph falls, and how large they are; nothing if it is connected."""
    count, component = components(graph)
    sizes = ", ".join(map(str, sorted(np.bincount(component), reverse=True)[:5]))
    return f"falls into {count} parts (of {sizes}{' …' if count > 5 else ''} nodes)" if count > 1 else ""


def join_components(graph: sp.csr_array, distances: Callable[[IntArray], Array]) -> sp.csr_array:
    """Connect all components by the shortest edges between them: a minimum spanning tree over components.

    ``distances(i)`` returns the distances from the objects i to all objects; NaN where there is none. In each round
    (Boruvka's) every component but the largest gets the shortest edge that leaves it, so that at least half of them
    disappear; a round takes time N squared and the memory of one component's rows.
    """
    count, component = components(graph)
    while count > 1:
        largest = int(np.argmax(np.bincount(component)))
        others = [np.flatnonzero(component == own) for own in range(count) if own != largest]
        joined = undirected(with_ways_out(graph, others, distances))
        if joined.nnz == graph.nnz:
            raise ValueError(
                f"the neighbourhood graph falls into {count} parts between which all dissimilarities are missing; "
                "fit each part on its own."
            )
        graph = joined
        count, component = components(graph)
    return graph


def with_ways_out(
    graph: sp.csr_array, groups: Sequence[IntArray], distances: Callable[[IntArray], Array]
) -> sp.csr_array:
    """Return a directed graph with the shortest edge from each group of objects to any other, if there is one."""
    ways = []
    for members in groups:
        lengths = np.array(distances(members), dtype=np.float64)
        lengths[:, members] = np.nan
        if not np.isnan(lengths).all():
            i, j = np.unravel_index(int(np.nanargmin(lengths)), lengths.shape)
            ways.append((members[i], j, lengths[i, j]))
    added, old = np.array(ways, dtype=np.float64).reshape(-1, 3), graph.tocoo()
    ends = [np.append(old.coords[side], added[:, side].astype(np.int64)) for side in (0, 1)]
    return sp.csr_array((np.append(old.data, added[:, 2]), tuple(ends)), shape=graph.shape)
