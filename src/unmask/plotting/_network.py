"""Drawings of networks, with nodes placed by shortest paths, given what is known about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..checking import align_rows, is_pandas, node_column, node_table, quote
from ..dissimilarities import NetworkDissimilarity
from ..estimators import ConditionalMDS
from ..graphs import Network, adjacency_graph, as_network, describe_parts, network_graph
from ._fonts import as_written
from ._labels import white_outline
from ._map import plot_map

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

EDGE_COLOR = "0.72"
# From this many edges on a vector file would be slow to open.
RASTERIZE_ABOVE = 2000


@as_written
def plot_network(
    network: Any,
    embedding: Any = None,
    *,
    known: Any = None,
    known_types: dict[Any, Any] | None = None,
    color: Any = None,
    labels: Any = None,
    weight: str | None = "weight",
    orthogonal: bool = True,
    ax: Axes | None = None,
    title: str | None = None,
    random_state: Any = 0,
    merge: float = 0.03,
    max_labels: int = 150,
) -> Axes:
    """Draw a network: its nodes by their shortest paths, given what is known about them, and its edges.

    Without an `embedding` the nodes are placed by :class:`unmask.ConditionalMDS` so that distances come close to the
    lengths of shortest paths, each pair weighted by the inverse square of its length: the least sum of squared
    relative errors, as in the layout of Kamada and Kawai. With `known`, the attributes take their share of each
    length, and the drawing shows what else ties nodes together.

    Parameters
    ----------
    network : graph of networkx or igraph, or scipy sparse matrix of shape (n_nodes, n_nodes)
        The network, without direction. The entries of a sparse matrix are lengths of edges.
    embedding : array-like of shape (n_nodes, 2), DataFrame or dict, optional
        Where to draw the nodes, in place of the fit: a fitted map, or a layout of networkx. Rows are in the order of
        the nodes; a DataFrame and a dict are matched by node.
    known : str, list of str, array-like or DataFrame of shape (n_nodes, n_known), optional
        What is known about the nodes: names of node attributes of a graph, or a table, matched by node if it
        is a DataFrame. Only without `embedding`.
    known_types : dict, optional
        Types of what is known, as in :class:`unmask.ConditionalMDS`.
    color : str, Series or array-like of length n_nodes, optional
        What to colour nodes by: the name of a node attribute, or as in :func:`plot_map`.
    labels : str or sequence of length n_nodes, optional
        Labels of the nodes, or the node attribute that holds them. By default the nodes of a graph.
    weight : str or None, default="weight"
        Attribute of a graph's edges that holds their length; an edge without it has length 1. None counts
        edges. (A strength is not a length: the stronger the tie, the shorter it should be.)
    orthogonal : bool, default=True
        Keep the drawing uncorrelated with what is known. A drawing always has two dimensions; where fewer are unknown,
        or where nodes of a group differ in how far they belong to it, it would show what is known again. False leaves
        it free to, as :class:`unmask.ConditionalMDS` does by default: what is unknown may truly correlate with it.
    random_state : int, RandomState or None, default=0
        Seed of the fit's random starts; the default draws the same picture each time.
    ax, title, merge, max_labels
        As in :func:`plot_map`.

    Returns
    -------
    Axes
        The Axes drawn on. Edges lie below the points; more than 2000 are rasterised in vector files.

    Raises
    ------
    ValueError
        If the network falls into parts between which there is no path (with an `embedding` it may), if a node lacks
        an attribute, or if something has not one entry per node.

    See Also
    --------
    unmask.dissimilarities.NetworkDissimilarity : The shortest paths, to fit a map with options of your own.

    Examples
    --------
    >>> import networkx as nx
    >>> from matplotlib.figure import Figure
    >>> from unmask.plotting import plot_network
    >>> ax = plot_network(nx.cycle_graph(6), ax=Figure().add_subplot())
    >>> len(ax.texts), len(ax.collections[-1].get_segments())
    (6, 6)
    """
    nodes = _Nodes.of(network)
    # Attributes are looked up before the fit: a wrong name should not cost one.
    columns = {
        "labels": nodes.column("labels", labels, complete=True),
        "color": nodes.column("color", color, complete=False),
    }
    if embedding is None:
        mds = ConditionalMDS(
            2, metric="precomputed", known_types=known_types, orthogonal=orthogonal, random_state=random_state
        )
        placed = _fit(mds, nodes, nodes.attributes("known", known), weight)
    elif known is None:
        placed = nodes.coordinates(embedding)
    else:
        raise ValueError("known is for the fit, but embedding says where the nodes are; leave one of them out.")
    earlier = [] if ax is None else list(ax.texts)
    named = nodes.labelled(placed, [""] * placed.shape[1])
    ax = plot_map(named, **columns, ax=ax, title=title, merge=merge, max_labels=max_labels)
    _draw_edges(ax, placed[:, :2], nodes.edges)
    for text in (text for text in ax.texts if text not in earlier):
        text.set_path_effects(white_outline())  # among edges labels could not be read
    return ax


@dataclass(frozen=True)
class _Nodes:
    """The nodes of a network, its edges as pairs of their positions, and tables about them."""

    given: Any
    network: Network | None  # None: a sparse matrix, whose nodes have no names
    graph: Any
    index: pd.Index | None

    @classmethod
    def of(cls, network: Any) -> _Nodes:
        """Read a network; lengths of edges do not matter to where lines are drawn."""
        if sp.issparse(network):
            return cls(network, None, adjacency_graph(network), None)
        read = as_network(network)
        if read is None:
            raise TypeError(
                f"network is {type(network).__name__}; pass a graph of networkx or igraph or a scipy sparse matrix of "
                "edges (scipy.sparse.csr_array(X) makes one of an array in which 0 means no edge)."
            )
        import pandas as pd

        graph, nodes = network_graph(read, None)
        return cls(network, read, graph, pd.Index(nodes, tupleize_cols=False))

    def __len__(self) -> int:
        return int(self.graph.shape[0])

    @property
    def edges(self) -> IntArray:
        """Return pairs of positions, each edge once."""
        return np.column_stack(sp.triu(self.graph, 1).tocoo().coords)

    def labelled(self, values: Array, columns: Any) -> Any:
        """Return a table with the nodes as labels, if they have names (not as text: 1 and "1" may be two nodes)."""
        if self.index is None:
            return values
        import pandas as pd

        return pd.DataFrame(values, index=self.index, columns=columns, copy=False)

    def coordinates(self, embedding: Any) -> Array:
        """Return given coordinates in the order of the nodes."""
        if isinstance(embedding, Mapping):
            self._require_all("embedding", embedding)
            embedding = [embedding[node] for node in self._names()]
        elif is_pandas(embedding):
            embedding = align_rows(embedding, self.index, "embedding")
        values = np.asarray(embedding, dtype=np.float64)
        if values.ndim != 2 or values.shape[0] != len(self) or values.shape[1] < 2:
            raise ValueError(
                f"embedding has shape {values.shape} but the network has {len(self)} nodes; pass one row per node and "
                "two columns."
            )
        return values

    def attributes(self, name: str, given: Any) -> Any:
        """Return what is known as a table: attributes by their names, everything else as it is."""
        names = [given] if isinstance(given, str) else given
        if not (isinstance(names, Sequence) and len(names) and all(isinstance(one, str) for one in names)):
            return given
        return node_table(self._with_attributes(name, names[0]), names)

    def column(self, name: str, given: Any, *, complete: bool) -> Any:
        """Return one entry per node: an attribute by its name, which some may lack if not complete, or as given."""
        if not isinstance(given, str):
            return given
        return node_column(self._with_attributes(name, given), given, name, complete=complete)

    def _with_attributes(self, name: str, attribute: str) -> Network:
        if self.network is None:
            raise ValueError(
                f"{name}={attribute!r} names a node attribute, but a sparse matrix has none; pass the values."
            )
        return self.network

    def _names(self) -> list[Any]:
        return list(range(len(self))) if self.index is None else list(self.index)

    def _require_all(self, what: str, values: Mapping[Any, Any]) -> None:
        absent = [node for node in self._names() if node not in values]
        if absent:
            raise ValueError(f"{what} is missing for {len(absent)} of {len(self)} nodes: {quote(absent)}; add it.")


def _fit(mds: ConditionalMDS, nodes: _Nodes, known: Any, weight: str | None) -> Array:
    """Return a map of the nodes with the least sum of squared relative errors."""
    parts = describe_parts(nodes.graph)
    if parts:
        raise ValueError(
            f"the network {parts}, between which there is no path; draw one of them at a time, or pass an embedding."
        )
    paths = NetworkDissimilarity(weight).fit(nodes.given).dissimilarities_
    return np.asarray(mds.fit(nodes.labelled(paths, nodes.index), known=known, weights=_relative(paths)).embedding_)


def _relative(paths: Array) -> Array:
    """Return weights that make errors relative to the lengths; a length of 0 counts as the smallest other one."""
    shortest = np.min(paths, where=paths > 0, initial=np.inf)
    if shortest == np.inf:
        return np.ones_like(paths)  # all are 0, which the fit refuses
    return np.asarray((shortest / np.maximum(paths, shortest)) ** 2)


def _draw_edges(ax: Axes, points: Array, edges: IntArray) -> None:
    """Draw the edges below the points, thinner the more there are; the points have set the limits already."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(
        list(points[edges]),
        colors=EDGE_COLOR,
        linewidths=float(np.clip(12 / np.sqrt(len(edges)), 0.25, 0.9)),
        zorder=1,
        rasterized=len(edges) > RASTERIZE_ABOVE,
    )
    ax.add_collection(lines, autolim=False)
