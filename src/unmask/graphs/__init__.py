"""Neighbourhood graphs, joining components, shortest paths."""

from ._components import components, describe_parts, join_components
from ._neighbours import (
    graph_from_approximate_neighbours,
    graph_from_dissimilarities,
    graph_from_features,
    symmetric_graph,
)
from ._networks import adjacency_graph, network_graph
from ._paths import shortest_paths

__all__ = [
    "adjacency_graph",
    "components",
    "describe_parts",
    "graph_from_approximate_neighbours",
    "graph_from_dissimilarities",
    "graph_from_features",
    "join_components",
    "network_graph",
    "shortest_paths",
    "symmetric_graph",
]
