"""Shortest paths through a graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from .._typing import Array, IntArray
from ..kernels import each, elsewhere, empty_square

BLOCK = 512


def shortest_paths(graph: sp.csr_array, dtype: Any = np.float64, sources: IntArray | None = None) -> Array:
    """Return the lengths of the shortest paths between all objects of a symmetric graph (Dijkstra).

    Time: N (edges + N log N). The paths from a block of objects are found at a time, so that a float32 result needs no
    float64 copy of it. A path and its reverse are the same to the last bit. With ``sources`` only the paths from these
    are found, one row for each. Where there is no path the length is infinite.
    """
    n = graph.shape[0]
    wanted = np.arange(n) if sources is None else sources
    D: Array = empty_square(n, dtype) if sources is None else np.empty((len(wanted), n), dtype=dtype)
    height = max(1, min(BLOCK, -(-len(wanted) // elsewhere()) if elsewhere() > 1 else BLOCK))
    blocks = (wanted[first : first + height] for first in range(0, len(wanted), height))
    for at, lengths in enumerate(each(partial(_paths_from, graph), blocks)):
        first = at * height
        D[first : first + height] = lengths
        if sources is None:
            _mirror(D, first, min(first + height, len(wanted)))
    return D


def _paths_from(graph: sp.csr_array, sources: IntArray) -> Array:
    # The graph is symmetric already: searching it as directed saves making it so again.
    return np.asarray(dijkstra(graph, directed=True, indices=sources))


def _mirror(D: Array, first: int, last: int) -> None:
    """Put the upper triangle in place of the lower one, up to ``last``: sums in another order differ by rounding."""
    D[first:last, :first] = D[:first, first:last].T
    square = D[first:last, first:last]
    lower = np.tril_indices(last - first, -1)
    square[lower] = square.T[lower]
