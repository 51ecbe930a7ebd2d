"""Dissimilarities between the nodes of a network: the lengths of shortest paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..checking import MissingDissimilarityWarning, quote, warn_user
from ..graphs import adjacency_graph, as_network, describe_parts, network_graph, shortest_paths
from ._base import DissimilarityTransformer


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkDissimilarity(DissimilarityTransformer):
    """Lengths of the shortest paths between the nodes of a network.

    A map of these lengths draws the network; given known attributes of the nodes, it shows the other reasons for their
    ties (see :func:`unmask.plotting.plot_network`). Time grows with N (edges + N log N), memory with N squared.

    `X` is an undirected graph of networkx or igraph, or a sparse matrix of lengths of edges, each stored both ways or
    in one triangle only. A network with new nodes must hold the fitted ones as well (in a sparse matrix: as its first
    rows); its dissimilarities are those of all its nodes to the fitted ones.

    Parameters
    ----------
    weight : str or None, default="weight"
        Attribute of a graph's edges that holds their length; an edge without it has length 1. None counts edges, also
        those of a sparse matrix. A strength is not a length: the stronger the tie, the shorter it should be.
    on_disconnected : {"error", "missing"}, default="error"
        What to do with a network that falls into parts: raise an error, or leave the dissimilarities between parts
        missing (NaN), with a warning.

    Attributes
    ----------
    graph_ : scipy sparse array of shape (n_nodes, n_nodes)
        The network, symmetric, with lengths of edges.
    dissimilarities_ : ndarray of shape (n_nodes, n_nodes)
        Lengths of the shortest paths.
    nodes_ : list
        The nodes, in the order of the rows.

    Examples
    --------
    >>> import networkx as nx
    >>> from unmask.dissimilarities import NetworkDissimilarity
    >>> NetworkDissimilarity().fit_transform(nx.path_graph(4))
         0    1    2    3
    0  0.0  1.0  2.0  3.0
    1  1.0  0.0  1.0  2.0
    2  2.0  1.0  0.0  1.0
    3  3.0  2.0  1.0  0.0
    """

    weight: str | None = field(default="weight", kw_only=False)
    on_disconnected: str = "error"

    _RULES = {"on_disconnected": ("error", "missing")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = tags.input_tags.pairwise = True
        return tags

    def _fit(self, X: Any) -> None:
        if self.weight is not None and not isinstance(self.weight, str):
            raise ValueError(f"weight={self.weight!r} must be the name of an attribute of the edges, or None.")
        self.graph_, self.nodes_, self._labels = self._read(X)
        self.n_features_in_ = len(self.nodes_)
        parts = describe_parts(self.graph_)
        if parts and self.on_disconnected == "error":
            raise ValueError(
                f"the network {parts}, between which there is no path; pass one of them, or on_disconnected='missing'."
            )
        if parts:
            warn_user(f"the network {parts}; dissimilarities between them are NaN.", MissingDissimilarityWarning)
        self.dissimilarities_ = _paths(self.graph_)

    def _new(self, X: Any) -> tuple[Array, Any]:
        graph, nodes, labels = self._read(X)
        place = {node: position for position, node in enumerate(nodes)}
        absent = [node for node in self.nodes_ if node not in place]
        if absent:
            raise ValueError(f"the network lacks {len(absent)} of the fitted nodes: {quote(absent)}.")
        return _paths(graph, np.array([place[node] for node in self.nodes_])).T, labels

    def _read(self, X: Any) -> tuple[Any, list[Any], Any]:
        """Return the graph, its nodes, and labels where the nodes have names."""
        network = as_network(X)
        if network is not None:
            import pandas as pd

            graph, nodes = network_graph(network, self.weight)
            return graph, nodes, pd.Index(nodes, tupleize_cols=False)
        if sp.issparse(X):
            graph = adjacency_graph(X)
            if self.weight is None:
                graph.data[:] = 1.0
            return graph, list(range(graph.shape[0])), None
        raise TypeError(
            f"X is {type(X).__name__}; pass a graph of networkx or igraph or a scipy sparse matrix of edges "
            "(for an array in which 0 means no edge, pass scipy.sparse.csr_array(X))."
        )


def _paths(graph: Any, sources: IntArray | None = None) -> Array:
    """Return the lengths of the shortest paths, from all nodes or some; NaN where there is none."""
    D = shortest_paths(graph, sources=sources)
    return np.where(np.isinf(D), np.nan, D)
