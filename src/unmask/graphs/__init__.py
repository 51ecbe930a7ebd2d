"""Graphs of neighbours and of a given structure, joining components, shortest paths."""

from ._components import components, describe_parts, join_components
from ._neighbours import (
    edges_reach,
    graph_from_approximate_neighbours,
    graph_from_dissimilarities,
    graph_from_edges,
    graph_from_features,
    symmetric_graph,
)
from ._networks import Network, adjacency_graph, as_network, network_graph
from ._paths import shortest_paths
from ._structured import STRUCTURES, structured_graph

__all__ = [
    "STRUCTURES",
    "Network",
    "adjacency_graph",
    "as_network",
    "components",
    "describe_parts",
    "edges_reach",
    "graph_from_approximate_neighbours",
    "graph_from_dissimilarities",
    "graph_from_edges",
    "graph_from_features",
    "join_components",
    "network_graph",
    "shortest_paths",
    "structured_graph",
    "symmetric_graph",
]
