"""Locally linear embedding, and its acyclic form: each object is a weighted mean of its neighbours plus noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._typing import Array, IntArray
from ..checking import MapWarning, warn_user
from ..graphs import near_pairs, undirected, with_ways_out
from ..kernels import Source
from ._laplacian import SparsePrecision, SparseSpectral
from ._spectral import nearly_zero, raised, reconstruction


@dataclass(eq=False, repr=False, kw_only=True)
class LocallyLinear(SparseSpectral):
    """Dissimilarities whose classical map is that of locally linear embedding.

    Each object is reconstructed from its neighbours by weights that sum to 1. With M the matrix whose column i has 1 at
    i and minus the weights at its neighbours, ``M M'`` is taken as the precision of the objects; its pseudo-inverse is
    the covariance. The dissimilarities' unit is not that of the data, and directions that the weights reproduce almost
    exactly are drawn out very far, so that metric scaling of them differs much from classical scaling.

    Parameters
    ----------
    n_neighbors : int or None, default=6
        Each object is reconstructed from this many nearest ones, and from all as near as the last of them; None takes
        all others.
    graph : {"neighbors", "chain", "ring", "tree"}, default="neighbors"
        As in :class:`LaplacianEigenmaps`; of a chain, each object is a mean of the ones beside it.
    ridge : float, optional
        Added to the diagonal of the products of an object's neighbours, as a share of their sum. By default 1e-3 where
        the products are singular, so that many weights reconstruct the object equally well (always if it has more
        neighbours than features), and 0 elsewhere.
    on_disconnected : {"join", "error"}, default="join"
        What to do if several groups of objects have all their neighbours among themselves: give each but the largest
        the shortest edge that leaves it, with a warning that counts them, or raise an error.
    metric, metric_params
        As in :class:`LaplacianEigenmaps`.

    Attributes
    ----------
    weights_ : scipy sparse array of shape (n_objects, n_objects)
        In row i the weights that reconstruct object i.
    graph_, precision_, covariance_, dissimilarities_
        As in :class:`LaplacianEigenmaps`.

    References
    ----------
    S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import LocallyLinear
    >>> angle = np.linspace(0, 5, 30)
    >>> curve = np.column_stack([np.cos(angle), np.sin(angle), angle])
    >>> lle = LocallyLinear(n_neighbors=2).fit(curve)
    >>> lle.weights_[[1], [0, 2]].round(2)  # halfway between its neighbours
    array([0.5, 0.5])
    """

    ridge: float | None = None

    _RULES = SparseSpectral._RULES | {"ridge": (None, 0.0)}

    def _find(self, neighbours: sp.csr_array, source: Source) -> SparsePrecision:
        groups = _closed_groups(neighbours)
        self.n_components_joined_ = len(groups)
        if len(groups) > 1:
            several = f"{len(groups)} groups of objects have all their neighbours among themselves"
            if self.on_disconnected == "error":
                raise ValueError(f"{several}; raise n_neighbors, or pass on_disconnected='join'.")
            warn_user(
                f"{several}; each but the largest was given the shortest edge that leaves it; raise n_neighbors to "
                "avoid it.",
                MapWarning,
            )
        while len(groups) > 1:
            neighbours = with_ways_out(neighbours, sorted(groups, key=len)[:-1], source.rows)
            groups = _closed_groups(neighbours)
        self.graph_ = undirected(neighbours)
        self.weights_, *_ = _reconstruct(source, neighbours, self.ridge)
        M = sp.csc_array(sp.eye_array(source.n) - self.weights_.T)
        # Only objects of the last closed group, on which all others depend, can be held at 0.
        used = np.bincount(self.weights_.indices, minlength=source.n)
        return SparsePrecision(M, is_laplacian=False, ground=int(groups[0][np.argmax(used[groups[0]])]))


@dataclass(eq=False, repr=False, kw_only=True)
class AcyclicLocallyLinear(SparseSpectral):
    """Locally linear embedding along an ordering: each object depends on its neighbours among later ones only.

    Without cycles, weights and noise together are one Gaussian field, and fitting each object on its own maximises the
    field's likelihood. Object i is a weighted mean (weights sum to 1) of its nearest objects among those later in the
    order, and noise with the variance of what is left; the last object is free. The dissimilarities are in the
    unit of the data, and depend much on the order: try several and compare :func:`unmask.inspection.gplvm_score`.

    Parameters
    ----------
    n_neighbors : int or None, default=6
        Each object is reconstructed from this many nearest later ones, and from all as near as the last of them; None
        takes all later ones.
    order : array-like of shape (n_objects,), optional
        Positions of the objects, first to last; by default the order in which they are given (of time, say).
    ridge, metric, metric_params
        As in :class:`LocallyLinear`.

    Attributes
    ----------
    graph_, weights_ : scipy sparse array of shape (n_objects, n_objects)
        As in :class:`LocallyLinear`; the last object of the order has no weights.
    precisions_ : ndarray of shape (n_objects,)
        Inverse of each object's squared error of reconstruction; 0 for the last. An error below 1e-8 of the median
        counts as 1e-3 of it, with a warning.
    precision_, covariance_, dissimilarities_ : ndarray of shape (n_objects, n_objects)
        ``M diag(precisions_) M'`` for the sum of all p columns of the data (multiply by p for one), M with 1 on the
        diagonal and minus the weights of object i in column i; its pseudo-inverse, and the distances of that.

    References
    ----------
    N. D. Lawrence, "A unifying probabilistic perspective for spectral dimensionality reduction", JMLR, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import AcyclicLocallyLinear
    >>> steps = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> D = AcyclicLocallyLinear(n_neighbors=1).fit_transform(steps)
    >>> (D[0] ** 2).round(2)  # a random walk: variances of the steps add up
    array([0., 1., 5., 6.])
    """

    order: Any = None
    ridge: float | None = None
    # No parameters here: the order makes the graph, which is always connected.
    graph: str = field(default="neighbors", init=False)
    on_disconnected: str = field(default="join", init=False)

    _RULES = SparseSpectral._RULES | {"ridge": (None, 0.0)}

    def _neighbours(self, source: Source) -> sp.csr_array:
        n = source.n
        self._order = np.arange(n) if self.order is None else np.asarray(self.order)
        if self._order.shape != (n,) or not np.array_equal(np.sort(self._order), np.arange(n)):
            raise ValueError(
                f"order has shape {self._order.shape} but must list the positions 0 … {n - 1} of the {n} objects, each "
                "once; np.argsort(time) gives them in the order of time."
            )
        return near_pairs(source.rows, n, self.n_neighbors, place=np.argsort(self._order))

    def _find(self, neighbours: sp.csr_array, source: Source) -> SparsePrecision:
        self.graph_ = undirected(neighbours)
        self.weights_, errors, nearest = _reconstruct(source, neighbours, self.ridge)
        free, last = self._order[:-1], int(self._order[-1])
        # An object with a duplicate among its neighbours is reproduced exactly, but for the ridge.
        errors[free[nearly_zero(nearest[free])]] = 0.0
        what = "objects are reproduced by their neighbours (nearly) exactly; their squared errors"
        precisions = self.precisions_ = np.zeros(source.n)
        precisions[free] = 1.0 / raised(errors[free], what)
        M = sp.csc_array((sp.eye_array(source.n) - self.weights_.T) @ sp.diags_array(np.sqrt(precisions)))
        return SparsePrecision(M, is_laplacian=False, ground=last)


def _closed_groups(neighbours: sp.csr_array) -> list[IntArray]:
    """Return the groups of objects that have all their neighbours among themselves."""
    # An edge of length 0 would count as none.
    joined = sp.csr_array((np.ones(neighbours.nnz), neighbours.indices, neighbours.indptr), shape=neighbours.shape)
    count, group = connected_components(joined, directed=True, connection="strong")
    i, j = joined.tocoo().coords
    leaves = np.unique(group[i[group[i] != group[j]]])
    return [np.flatnonzero(group == own) for own in np.setdiff1d(np.arange(count), leaves)]


def _reconstruct(source: Any, neighbours: sp.csr_array, ridge: float | None) -> tuple[sp.csr_array, Array, Array]:
    """Return the weights that reconstruct each object, its squared error, and its squared length to the nearest."""
    n = source.n
    errors, nearest, weights = np.zeros(n), np.full(n, np.inf), np.zeros(neighbours.nnz)
    for i in range(n):
        own = slice(neighbours.indptr[i], neighbours.indptr[i + 1])
        near = neighbours.indices[own].astype(np.int64)
        if len(near):
            squared = np.asarray(source.tile(np.append(near, i), near), dtype=np.float64) ** 2
            nearest[i] = squared[-1].min()
            weights[own], errors[i] = reconstruction(squared[-1], squared[:-1], ridge)
    return sp.csr_array((weights, neighbours.indices, neighbours.indptr), shape=(n, n)), errors, nearest
