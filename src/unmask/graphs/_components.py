"""The connected parts of a graph, and joining them by the shortest edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._typing import Array, IntArray
from ._neighbours import symmetric_graph


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
        others = [own for own in range(count) if own != largest]
        edges = [edge for own in others for edge in _shortest_edge_out(component, own, distances)]
        if not edges:
            raise ValueError(
                f"the neighbourhood graph falls into {count} parts between which all dissimilarities are missing; "
                "fit each part on its own."
            )
        graph = _with_edges(graph, edges)
        count, component = components(graph)
    return graph


def _shortest_edge_out(
    component: IntArray, own: int, distances: Callable[[IntArray], Array]
) -> list[tuple[float, int, int]]:
    """Return the shortest edge from a component to any other, or nothing where there is none."""
    members = np.flatnonzero(component == own)
    lengths = np.array(distances(members), dtype=np.float64)
    lengths[np.isnan(lengths)] = np.inf
    lengths[:, members] = np.inf
    i, j = np.unravel_index(int(np.argmin(lengths)), lengths.shape)
    return [(float(lengths[i, j]), int(members[i]), int(j))] if np.isfinite(lengths[i, j]) else []


def _with_edges(graph: sp.csr_array, edges: list[tuple[float, int, int]]) -> sp.csr_array:
    old = graph.tocoo()
    lengths, rows, columns = (np.array(side) for side in zip(*edges, strict=True))
    return symmetric_graph(
        np.concatenate([old.coords[0], rows]),
        np.concatenate([old.coords[1], columns]),
        np.concatenate([old.data, lengths]),
        graph.shape[0],
    )
