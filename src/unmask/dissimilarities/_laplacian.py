"""Laplacian eigenmaps, and what they share with locally linear embedding: a sparse precision.

The map comes from a sparse factor of the precision; the N x N tables are made only if they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh, splu
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, IntArray
from ..checking import object_names
from ..graphs import undirected
from ..kernels import Source
from ._spectral import SpectralDissimilarity, distances_of

# The object held at 0 should carry at least this share of the largest entry of the null vector.
WEAK = 1e-3


@dataclass(eq=False)
class SparsePrecision:
    """A precision whose only null vector is the constant one: a Laplacian, or ``M M'`` with columns that sum to 0."""

    factor: sp.csc_array  # the Laplacian, or M
    is_laplacian: bool
    ground: int  # the object that is held at 0 while a system is solved

    def matrix(self) -> Array:
        """Return the precision as an array."""
        L = self.factor if self.is_laplacian else self.factor @ self.factor.T
        return np.asarray(L.toarray())

    @cached_property
    def covariance(self) -> Array:
        """The pseudo-inverse of the precision."""
        K = self._solver()(np.eye(self.factor.shape[0]))
        return np.asarray((K + K.T) / 2)

    @cached_property
    def distances(self) -> Array:
        """The distances of the covariance."""
        return distances_of(self.covariance)

    def leading(self, masses: Array, n_components: int) -> tuple[Array, Array]:
        """Return the largest eigenvalues of the covariance of weighted objects, and the eigenvectors.

        Lanczos' method on the inverse (shift-invert): every step solves two sparse systems, and no N x N array is made.
        """
        n = len(masses)
        shares = masses / masses.sum()
        root, solve = np.sqrt(n * shares), self._solver()

        def product(v: Array) -> Array:
            x = root * v.ravel()
            y = solve(x - shares * x.sum())
            return np.asarray(root * (y - shares @ y))

        start = np.random.default_rng(0).standard_normal(n)
        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        values, vectors = eigsh(operator, n_components, which="LA", v0=start)
        order = np.argsort(values)[::-1]
        return values[order], vectors[:, order]

    def _solver(self) -> Callable[[Array], Array]:
        """Return the function that multiplies by the covariance.

        For x with sum 0 it solves ``L y = x``, or for a factor M first ``M z = x`` with z orthogonal to the null vector
        of M, then ``M' y = z``: the condition of ``M M'`` would be that of M squared.
        """
        inverse, keep = self._factorise(self.ground)
        if not self.is_laplacian:
            null = self._null_vector(inverse, keep)
            if abs(null[self.ground]) < WEAK * np.abs(null).max():
                self.ground = int(np.argmax(np.abs(null)))
                inverse, keep = self._factorise(self.ground)
                null = self._null_vector(inverse, keep)

        def solve(x: Array) -> Array:
            y = np.zeros_like(x)
            y[keep] = inverse((x - x.mean(axis=0))[keep])
            if not self.is_laplacian:
                y -= np.multiply.outer(null, null @ y)
                y[keep], y[self.ground] = inverse(y[keep], "T"), 0.0
            return np.asarray(y - y.mean(axis=0))

        return solve

    def _null_vector(self, inverse: Any, keep: IntArray) -> Array:
        """Return the vector of length 1 that the factor M takes to 0."""
        null = np.zeros(self.factor.shape[0])
        null[self.ground] = 1.0
        null[keep] = inverse(-self.factor[:, [self.ground]].toarray()[keep, 0])
        return np.asarray(null / np.linalg.norm(null))

    def _factorise(self, ground: int) -> tuple[Any, IntArray]:
        """Return the solver of the system without one object, and the other objects."""
        keep = np.delete(np.arange(self.factor.shape[0]), ground)
        reduced = sp.csc_array(self.factor.tocsr()[keep].tocsc()[:, keep])
        symmetric = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        try:
            factor = splu(reduced, **(symmetric if self.is_laplacian else {}))
            pivots = np.abs(factor.U.diagonal())
        except RuntimeError:  # exactly singular
            pivots = np.zeros(1)
        if self.is_laplacian and not pivots.all():
            raise ValueError("some edges have the weight 0, so that the graph falls apart; lower gamma.")
        if not self.is_laplacian and pivots.min() <= len(keep) * np.finfo(np.float64).eps * pivots.max():
            raise ValueError(
                "the weights reproduce some directions exactly, so that their dissimilarities are infinite; raise "
                "ridge (0.001 is customary), or change n_neighbors."
            )
        return factor.solve, keep


class SparseSpectral(SpectralDissimilarity):
    """Base of the spectral methods with a sparse precision; a subclass writes ``_find``.

    ``_find(neighbours, source)`` gets the directed graph of neighbours with lengths, and the dissimilarities as a
    source. It sets ``graph_``, and returns a :class:`SparsePrecision`.
    """

    _TAKES_PARTS = True

    def _unfold(self, source: Source) -> None:
        self._precision = self._find(self._neighbours(source), source)

    def _find(self, neighbours: sp.csr_array, source: Source) -> SparsePrecision:
        raise NotImplementedError

    @property
    def dissimilarities_(self) -> Array:  # type: ignore[override]
        """Roots of ``k_ii - 2 k_ij + k_jj``, (n_objects, n_objects)."""
        return self._precision.distances

    @property
    def covariance_(self) -> Array:  # type: ignore[override]
        """Pseudo-inverse of the precision, (n_objects, n_objects)."""
        return self._precision.covariance

    @property
    def precision_(self) -> Array:  # type: ignore[override]
        """The precision, (n_objects, n_objects)."""
        return self._precision.matrix()

    @property
    def object_names_(self) -> Any:
        """Labels of the fitted objects as an array; their numbers where they have none."""
        check_is_fitted(self)
        return object_names(self._labels, self.graph_.shape[0])

    def leading_axes(self, n_components: int) -> tuple[Array, Array]:
        """Return the largest eigenvalues of the centred, weighted covariance, and its eigenvectors."""
        masses = getattr(self, "masses_", np.ones(self.graph_.shape[0]))
        return self._precision.leading(masses, n_components)


@dataclass(eq=False, repr=False, kw_only=True)
class LaplacianEigenmaps(SparseSpectral):
    """Dissimilarities whose classical map is that of Laplacian eigenmaps.

    Near objects are joined by edges of equal weight, or of weights that fall with their distance. The covariance is the
    pseudo-inverse of the graph's Laplacian; the squared dissimilarity of two objects is then their *resistance*, if
    edges are wires, and in proportion to the time a random walk takes from one to the other and back. Lengths of
    edges count only through their weights: the unit of the dissimilarities is not that of the data.

    :class:`unmask.SpectralMap` draws the map from a sparse factor; the N x N tables are made when they are read.

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
    metric, metric_params
        How near objects are, as in :class:`Geodesic`; ``"precomputed"`` if `X` holds dissimilarities.
    on_disconnected : {"join", "error"}, default="join"
        What to do with a graph that falls into parts: join them by the shortest edges between them, with a warning
        that counts them, or raise an error.

    Attributes
    ----------
    dissimilarities_, precision_, covariance_ : ndarray of shape (n_objects, n_objects)
        Roots of the resistances, the Laplacian (not normalised), and its pseudo-inverse.
    graph_ : scipy sparse array of shape (n_objects, n_objects)
        The neighbourhood graph, symmetric, with lengths of edges.
    masses_ : ndarray of shape (n_objects,)
        Degrees of the objects (sums of weights), or ones if not `normalized`.

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

    _RULES = SpectralDissimilarity._RULES | {
        "weights": ("constant", "rbf"),
        "gamma": (None, 0.0),
        "normalized": bool,
    }

    def _find(self, neighbours: sp.csr_array, source: Source) -> SparsePrecision:
        self.graph_ = self._joined(undirected(neighbours), source.rows)
        lengths = self.graph_.data**2
        weights = np.ones(len(lengths))
        if self.weights == "rbf":
            gamma = 1.0 / float(np.median(lengths[lengths > 0])) if self.gamma is None else self.gamma
            weights = np.exp(-gamma * lengths)
        adjacency = sp.csr_array((weights, self.graph_.indices, self.graph_.indptr), shape=self.graph_.shape)
        degrees = np.asarray(adjacency.sum(axis=1)).ravel()
        self.masses_ = degrees if self.normalized else np.ones(source.n)
        L = sp.csc_array(sp.diags_array(degrees) - adjacency)
        return SparsePrecision(L, is_laplacian=True, ground=int(np.argmax(degrees)))
