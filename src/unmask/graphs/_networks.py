"""Reading networks: graphs of networkx and of igraph, and sparse matrices of edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._typing import Array
from ._neighbours import symmetric_graph


@dataclass(frozen=True)
class Network(ABC):
    """A network of some package, told by what it offers: its nodes, its edges, and attributes of both."""

    graph: Any
    TELLING: ClassVar[tuple[str, ...]] = ()
    UNDIRECTED: ClassVar[str] = "to_undirected()"

    @property
    @abstractmethod
    def nodes(self) -> list[Any]:
        """Return what the nodes are called, in their order."""

    @abstractmethod
    def edges(self, weight: str | None) -> list[tuple[int, int, Any]]:
        """Return the positions of each edge's ends, and its attribute ``weight``, None where it has none."""

    @abstractmethod
    def attributes(self) -> list[dict[str, Any]]:
        """Return the attributes of each node."""

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return bool(self.graph.is_directed())


class NetworkxGraph(Network):
    """A graph of networkx."""

    TELLING = ("nodes", "edges", "adj", "is_directed")

    @property
    def nodes(self) -> list[Any]:
        """Return the nodes."""
        return list(self.graph.nodes)

    def edges(self, weight: str | None) -> list[tuple[int, int, Any]]:
        """Return the edges."""
        place = {node: position for position, node in enumerate(self.graph.nodes)}
        if weight is None:
            return [(place[a], place[b], None) for a, b in self.graph.edges()]
        return [(place[a], place[b], length) for a, b, length in self.graph.edges(data=weight, default=None)]

    def attributes(self) -> list[dict[str, Any]]:
        """Return the attributes of each node."""
        return [dict(data) for _, data in self.graph.nodes(data=True)]


class IgraphGraph(Network):
    """A graph of igraph, whose nodes are called by their attribute ``name`` if each has one of its own."""

    TELLING = ("vs", "es", "get_edgelist", "is_directed")
    UNDIRECTED = "as_undirected()"  # its to_undirected returns nothing

    @property
    def nodes(self) -> list[Any]:
        """Return the names of the nodes, or their numbers."""
        names = self.graph.vs["name"] if "name" in self.graph.vs.attributes() else []
        distinct = None not in names and len(set(names)) == self.graph.vcount()
        return list(names) if distinct else list(range(self.graph.vcount()))

    def edges(self, weight: str | None) -> list[tuple[int, int, Any]]:
        """Return the edges."""
        there = weight is not None and weight in self.graph.es.attributes()
        lengths = self.graph.es[weight] if there else [None] * self.graph.ecount()
        return [(a, b, length) for (a, b), length in zip(self.graph.get_edgelist(), lengths, strict=True)]

    def attributes(self) -> list[dict[str, Any]]:
        """Return the attributes of each node that it has a value of."""
        return [
            {name: value for name, value in node.attributes().items() if value is not None} for node in self.graph.vs
        ]


def as_network(data: Any) -> Network | None:
    """Return a network of a package that is known here; None if the data are none."""
    for kind in (NetworkxGraph, IgraphGraph):
        if all(hasattr(data, name) for name in kind.TELLING):
            return kind(data)
    return None


def network_graph(network: Network, weight: str | None) -> tuple[sp.csr_array, list[Any]]:
    """Return the symmetric graph of a network and its nodes; an edge without ``weight`` has length 1.

    Of parallel edges the shortest counts; loops are left out.
    """
    if network.directed:
        raise ValueError(
            f"the network is directed, but dissimilarities have no direction; pass network.{network.UNDIRECTED}, "
            "or the lengths of paths of your choice as a table."
        )
    nodes = network.nodes
    edges = [(a, b, 1.0 if length is None else length) for a, b, length in network.edges(weight)]
    if not edges:
        raise ValueError(f"the network of {len(nodes)} nodes has no edges; there are no paths between its nodes.")
    i, j, values = zip(*edges, strict=True)
    lengths = np.array([float(length) if isinstance(length, Real) else np.nan for length in values])
    _require_lengths(lengths, values, lambda e: f"({nodes[i[e]]!r}, {nodes[j[e]]!r})")
    return _shortest_of_parallel(np.array(i), np.array(j), lengths, len(nodes)), nodes


def adjacency_graph(adjacency: Any) -> sp.csr_array:
    """Return the symmetric graph of a sparse matrix of lengths of edges; an absent entry is no edge."""
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(
            f"the adjacency matrix has shape {adjacency.shape} but must be square, one row and one column per node."
        )
    coo = sp.coo_array(sp.csr_array(adjacency).astype(np.float64))
    i, j = coo.coords
    _require_lengths(coo.data, coo.data.tolist(), lambda e: f"({i[e]}, {j[e]})")
    if coo.nnz == 0:
        raise ValueError(
            f"the network of {adjacency.shape[0]} nodes has no edges; there are no paths between its nodes."
        )
    if (i < j).any() and (i > j).any():
        _require_same_both_ways(sp.csr_array(coo))
    return _shortest_of_parallel(i, j, coo.data, adjacency.shape[0])


def _require_lengths(lengths: Array, given: Sequence[Any], name: Callable[[int], str]) -> None:
    """Raise if an edge has no valid length (NaN here), showing it as it was given."""
    wrong = ~(np.isfinite(lengths) & (lengths >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"the edge {name(at)} has length {given[at]!r}; lengths must be finite numbers of at least 0. "
            "Pass weight=None to count edges instead."
        )


def _require_same_both_ways(graph: sp.csr_array) -> None:
    gap = abs(graph - graph.T).tocoo()
    if gap.nnz and gap.data.max() > 1e-10 * graph.data.max():
        at = int(np.argmax(gap.data))
        i, j = (int(ends[at]) for ends in gap.coords)
        raise ValueError(
            f"the adjacency matrix is not symmetric: {graph[i, j]:g} and {graph[j, i]:g} for the nodes {i} and {j}; "
            "dissimilarities have no direction: store each edge both ways, or in one triangle only."
        )


def _shortest_of_parallel(i: Any, j: Any, lengths: Any, n: int) -> sp.csr_array:
    order = np.argsort(lengths, kind="stable")  # the first of equal pairs is kept
    return symmetric_graph(i[order], j[order], lengths[order], n, mutual=False)
