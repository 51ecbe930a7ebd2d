"""Graphs of a given structure: objects in a row, in a ring, or joined by a tree."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from .._typing import Array
from ._neighbours import symmetric_graph

STRUCTURES = ("chain", "ring", "tree")


def structured_graph(D: Array, structure: str) -> sp.csr_array:
    """Return the symmetric graph of a structure, with dissimilarities as lengths.

    A chain joins each object to the next one in the order of the rows, a ring the last to the first as well; a tree
    joins all objects by the smallest total length.
    """
    i = np.arange(len(D))
    j = np.roll(i, -1)
    if structure == "chain":
        i, j = i[:-1], j[:-1]
    elif structure == "tree":
        # An edge of length 0 would count as none; its own rank, all of them above 0, leaves the tree the same.
        ranks = np.unique(D, return_inverse=True)[1].reshape(D.shape) + 1
        i, j = minimum_spanning_tree(np.triu(ranks, 1)).tocoo().coords
    return symmetric_graph(i, j, D[i, j].astype(np.float64), len(D))
