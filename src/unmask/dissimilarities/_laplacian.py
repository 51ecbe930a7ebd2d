"""Laplacian eigenmaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._typing import Array
from ..checking import require_choice, require_flag, require_number
from ..graphs import undirected
from ..kernels import Source
from ._sparse import SparsePrecision, SparseSpectral


@dataclass(eq=False, repr=False, kw_only=True)
class LaplacianEigenmaps(SparseSpectral):
    """Dissimilarities whose classical map is that of Laplacian eigenmaps.

    Near objects are joined by edges of equal weight, or of weights that fall with their distance. The covariance is the
    pseudo-inverse of the graph's Laplacian; the squared dissimilarity of two objects is then their *resistance*, if
    edges are wires, and in proportion to the time a random walk takes from one to the other and back. Lengths of
    edges count only through their weights: the unit of the dissimilarities is not that of the data.

    :class:`unmask.SpectralMap` draws the map from a sparse factor of the Laplacian. The tables `dissimilarities_`,
    `covariance_` and `precision_` are made when they are read: memory N squared, time N sparse systems.

    Parameters
    ----------
    n_neighbors : int or None, default=6
        Each object is joined to this many nearest ones, and to all as near as the last of them; None joins all pairs.
    graph : {"neighbors", "chain", "ring", "tree"}, default="neighbors"
        Which objects are joined: nearest ones, or a structure that is known: each object and the next in the order of
        the rows (``"chain"``), the last and the first too (``"ring"``), or the tree of the smallest total length. Of
        these, `n_neighbors` counts for new objects only.
    weights : {"constant", "rbf"}, default="constant"
        Weights of the edges: 1, or ``exp(-gamma * d**2)``.
    gamma : float, optional
        For ``weights="rbf"``; by default 1 / the median squared length of the edges.
    normalized : bool, default=True
        Weight objects by their degrees in the map, as the normalised Laplacian does. The dissimilarities are the same;
        :class:`unmask.SpectralMap` reads `masses_`.
    metric : str, callable or transformer, default="euclidean"
        As in :class:`Geodesic`; ``"precomputed"`` if `X` holds dissimilarities.
    metric_params : dict, optional
        Further arguments of the metric.
    on_disconnected : {"join", "error"}, default="join"
        What to do with a graph that falls into parts: join them by the shortest edges between them, with a warning
        that counts them, or raise an error.
    dtype : {"float64", "float32"}, default="float64"
        Type of the result; float32 takes half the memory.

    Attributes
    ----------
    dissimilarities_ : ndarray of shape (n_objects, n_objects)
        Roots of the resistances.
    graph_ : scipy sparse array of shape (n_objects, n_objects)
        The neighbourhood graph, symmetric, with lengths of edges.
    precision_ : ndarray of shape (n_objects, n_objects)
        The Laplacian (not normalised).
    covariance_ : ndarray of shape (n_objects, n_objects)
        Its pseudo-inverse.
    masses_ : ndarray of shape (n_objects,)
        Degrees of the objects (sums of weights), or ones if not `normalized`.
    objective_ : float
        Sum over edges of weight times squared length: what the data would cost as a map of themselves.
    n_components_joined_ : int
        Number of parts the neighbours alone leave; 1 if the graph was connected.

    References
    ----------
    M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation", Neural
    Computation, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import LaplacianEigenmaps
    >>> line = np.arange(5.0)[:, None]
    >>> (LaplacianEigenmaps(n_neighbors=1).fit_transform(line)[0] ** 2).round(2)  # unit resistances in a row
    array([0., 1., 2., 3., 4.])
    """

    weights: str = "constant"
    gamma: float | None = None
    normalized: bool = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice("weights", self.weights, ("constant", "rbf"))
        require_flag("normalized", self.normalized)
        if self.gamma is not None:
            require_number("gamma", self.gamma, 0.0)

    def _find(self, neighbours: sp.csr_array, source: Source) -> SparsePrecision:
        self.graph_ = self._joined(undirected(neighbours), source.rows)
        lengths = self.graph_.data**2
        weights = self._weights(lengths)
        adjacency = sp.csr_array((weights, self.graph_.indices, self.graph_.indptr), shape=self.graph_.shape)
        degrees = np.asarray(adjacency.sum(axis=1)).ravel()
        self.masses_ = (degrees if self.normalized else np.ones(source.n)).astype(self.dtype)
        self.objective_ = float(weights @ lengths) / 2  # each edge is stored twice
        L = sp.csc_array(sp.diags_array(degrees) - adjacency)
        return SparsePrecision(L, is_laplacian=True, ground=int(np.argmax(degrees)))

    def _weights(self, lengths: Array) -> Array:
        """Return the weights of edges of these squared lengths."""
        if self.weights == "constant":
            return np.ones(len(lengths))
        median = float(np.median(lengths[lengths > 0]))
        return np.asarray(np.exp(-(1.0 / median if self.gamma is None else self.gamma) * lengths))
