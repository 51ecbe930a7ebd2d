"""Neighbourhood graphs, joining components, shortest paths."""

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

__all__ = [
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
    "symmetric_graph",
]
