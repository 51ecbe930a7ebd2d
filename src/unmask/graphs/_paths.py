"""Shortest paths through a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from .._typing import Array

BLOCK = 512


def shortest_paths(graph: sp.csr_array, dtype: Any = np.float64) -> Array:
    """Return the lengths of the shortest paths between all objects of a symmetric graph (Dijkstra).

    Time: N (edges + N log N). The paths from a block of objects are found at a time, so that a float32 result needs no
    float64 copy of it. A path and its reverse are the same to the last bit.
    """
    n = graph.shape[0]
    D = np.empty((n, n), dtype=dtype)
    for first in range(0, n, BLOCK):
        rows = np.arange(first, min(first + BLOCK, n))
        # The graph is symmetric already: searching it as directed saves making it so again.
        D[rows] = dijkstra(graph, directed=True, indices=rows)
        # Sums in another order differ by rounding: the first of the two stands for both.
        D[rows, :first] = D[:first, rows].T
        square = D[rows, first : first + len(rows)]
        D[rows, first : first + len(rows)] = np.triu(square) + np.triu(square, 1).T
    return D
