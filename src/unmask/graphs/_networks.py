"""Reading networks: graphs of networkx and of igraph, and sparse matrices of edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array
from ._neighbours import symmetric_graph


@dataclass(frozen=True)
class Network:
    """A graph of networkx or igraph: its nodes, its edges, and attributes of both."""

    graph: Any
    is_igraph: bool

    @property
    def nodes(self) -> list[Any]:
        """The nodes in their order; igraph's are named by their attribute ``name`` if all names differ."""
        if not self.is_igraph:
            return list(self.graph.nodes)
        names = self.graph.vs["name"] if "name" in self.graph.vs.attributes() else []
        distinct = None not in names and len(set(names)) == self.graph.vcount()
        return list(names) if distinct else list(range(self.graph.vcount()))

    def edges(self, weight: str | None) -> list[tuple[int, int, Any]]:
        """Return the positions of each edge's ends, and its attribute ``weight``, None where it has none."""
        if self.is_igraph:
            there = weight is not None and weight in self.graph.es.attributes()
            lengths = self.graph.es[weight] if there else [None] * self.graph.ecount()
            return [(a, b, length) for (a, b), length in zip(self.graph.get_edgelist(), lengths, strict=True)]
        place = {node: position for position, node in enumerate(self.graph.nodes)}
        return [(place[a], place[b], data.get(weight)) for a, b, data in self.graph.edges(data=True)]

    def attributes(self) -> list[dict[str, Any]]:
        """Return the attributes of each node; igraph's None is left out."""
        if self.is_igraph:
            given = [node.attributes() for node in self.graph.vs]
            return [{name: value for name, value in data.items() if value is not None} for data in given]
        return [dict(data) for _, data in self.graph.nodes(data=True)]


def as_network(data: Any) -> Network | None:
    """Return a graph of networkx or igraph as a network; None for other data."""
    for is_igraph, names in enumerate((("nodes", "edges", "adj"), ("vs", "es", "get_edgelist"))):
        if all(hasattr(data, name) for name in (*names, "is_directed")):
            return Network(data, bool(is_igraph))
    return None


def network_graph(network: Network, weight: str | None) -> tuple[sp.csr_array, list[Any]]:
    """Return the symmetric graph of a network and its nodes; an edge without ``weight`` has length 1.

    Of parallel edges the shortest counts; loops are left out.
    """
    if network.graph.is_directed():
        # igraph's to_undirected returns nothing.
        way_out = "as_undirected()" if network.is_igraph else "to_undirected()"
        raise ValueError(
            f"the network is directed, but dissimilarities have no direction; pass network.{way_out}, or the lengths "
            "of paths of your choice as a table."
        )
    nodes, edges = network.nodes, network.edges(weight)
    i, j = (np.array([edge[side] for edge in edges], dtype=np.int64) for side in (0, 1))
    values = [1.0 if length is None else length for *_, length in edges]
    lengths = np.array([float(length) if isinstance(length, Real) else np.nan for length in values])
    return _shortest_of_parallel(i, j, lengths, nodes, values), nodes


def adjacency_graph(adjacency: Any) -> sp.csr_array:
    """Return the symmetric graph of a sparse matrix of lengths of edges; an absent entry is no edge."""
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(
            f"the adjacency matrix has shape {adjacency.shape} but must be square, one row and one column per node."
        )
    graph = sp.csr_array(adjacency).astype(np.float64)
    i, j = graph.tocoo().coords
    shortest = _shortest_of_parallel(i, j, graph.data, range(graph.shape[0]), graph.data.tolist())
    gap = abs(graph - graph.T).tocoo()
    if (i < j).any() and (i > j).any() and gap.data.max(initial=0.0) > 1e-10 * graph.data.max():
        a, b = (int(ends[np.argmax(gap.data)]) for ends in gap.coords)
        raise ValueError(
            f"the adjacency matrix is not symmetric: {graph[a, b]:g} and {graph[b, a]:g} for the nodes {a} and {b}; "
            "dissimilarities have no direction: store each edge both ways, or in one triangle only."
        )
    return shortest


def _shortest_of_parallel(i: Any, j: Any, lengths: Array, nodes: Sequence[Any], given: Sequence[Any]) -> sp.csr_array:
    """Return the symmetric graph; raise if an edge has no valid length (NaN here), showing it as it was given."""
    if not len(lengths):
        raise ValueError(f"the network of {len(nodes)} nodes has no edges; there are no paths between its nodes.")
    wrong = ~(np.isfinite(lengths) & (lengths >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"the edge ({nodes[i[at]]!r}, {nodes[j[at]]!r}) has length {given[at]!r}; lengths must be finite numbers "
            "of at least 0. Pass weight=None to count edges instead."
        )
    order = np.argsort(lengths, kind="stable")  # the first of equal pairs is kept
    return symmetric_graph(i[order], j[order], lengths[order], len(nodes))
