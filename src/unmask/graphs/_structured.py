"""Graphs of a given structure: objects in a row, in a ring, or joined by a tree."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from .._typing import Array, IntArray
from ._neighbours import symmetric_graph


def chain(D: Array) -> tuple[IntArray, IntArray]:
    """Join each object to the next one, in the order of the rows."""
    order = np.arange(len(D))
    return order[:-1], order[1:]


def ring(D: Array) -> tuple[IntArray, IntArray]:
    """Join the last object to the first as well."""
    order = np.arange(len(D))
    return order, np.roll(order, -1)


def tree(D: Array) -> tuple[IntArray, IntArray]:
    """Join all objects by the tree of the smallest total length."""
    # An edge of length 0 would count as none; its own rank, all of them above 0, leaves the tree the same.
    ranks = np.unique(D, return_inverse=True)[1].reshape(D.shape) + 1
    i, j = minimum_spanning_tree(np.triu(ranks, 1)).tocoo().coords
    return i.astype(np.int64), j.astype(np.int64)


STRUCTURES = {"chain": chain, "ring": ring, "tree": tree}


def structured_graph(D: Array, structure: str) -> sp.csr_array:
    """Return the symmetric graph of a structure, with dissimilarities as lengths."""
    i, j = STRUCTURES[structure](D)
    return symmetric_graph(i, j, D[i, j].astype(np.float64), len(D))
