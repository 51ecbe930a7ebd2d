"""Graphs of neighbours and of a given structure, joining components, shortest paths."""

from ._balanced import Nearest, Search, SearchEdges, SearchRows, SearchTable, balanced_neighbours
from ._components import components, describe_parts, join_components, with_ways_out
from ._neighbours import (
    STRUCTURES,
    are_near,
    near_pairs,
    nearest_neighbours,
    reach_of,
    search_algorithm,
    structured_graph,
    symmetric_graph,
    takes_usearch,
    undirected,
)
from ._networks import Network, adjacency_graph, as_network, network_graph
from ._paths import shortest_paths
from ._residuals import MatchedResiduals, match_residuals

__all__ = [
    "STRUCTURES",
    "MatchedResiduals",
    "Nearest",
    "Network",
    "Search",
    "SearchEdges",
    "SearchRows",
    "SearchTable",
    "adjacency_graph",
    "are_near",
    "as_network",
    "balanced_neighbours",
    "components",
    "describe_parts",
    "join_components",
    "match_residuals",
    "near_pairs",
    "nearest_neighbours",
    "network_graph",
    "reach_of",
    "search_algorithm",
    "shortest_paths",
    "structured_graph",
    "symmetric_graph",
    "takes_usearch",
    "undirected",
    "with_ways_out",
]
