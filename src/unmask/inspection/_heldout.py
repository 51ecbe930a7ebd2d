"""Pairs that are held out of a fit, to see how well it predicts them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._typing import IntArray


def held_out_pairs(rows: IntArray, columns: IntArray, n: int, share: float, n_splits: int, rng: Any) -> list[IntArray]:
    """Return sets of pairs to hold out, by their places in the list: disjoint while there are enough.

    Objects that all pairs connect stay connected without those held out.
    """
    size = max(1, round(share * len(rows)))
    queue: IntArray = np.empty(0, dtype=np.int64)
    splits: list[IntArray] = []
    parts, attempts = _parts(rows, columns, n), 0
    while len(splits) < n_splits:
        if len(queue) < size:
            queue = rng.permutation(len(rows))
        held, queue = queue[:size], queue[size:]
        attempts += 1
        if _parts(np.delete(rows, held), np.delete(columns, held), n) == parts:
            splits.append(held)
        elif attempts > 20 * n_splits:
            raise ValueError(
                f"share={share:g}: without this share of the pairs the objects fall into groups; hold out fewer."
            )
    return splits


def _parts(rows: IntArray, columns: IntArray, n: int) -> int:
    """Return how many groups of objects the pairs connect."""
    graph = sp.coo_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(n, n))
    return int(connected_components(graph, directed=False)[0])
