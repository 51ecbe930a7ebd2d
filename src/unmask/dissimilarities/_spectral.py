"""The base class of the spectral methods: graph, covariance, dissimilarities, and the rule for new objects.

Each method turns the squared dissimilarities of near objects into a covariance ``K`` between objects; the result is
``d_ij = sqrt(k_ii - 2 k_ij + k_jj)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor
from scipy.linalg.lapack import dpotri
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, IntArray
from ..checking import MapWarning, warn_user
from ..graphs import STRUCTURES, are_near, near_pairs, structured_graph, undirected
from ..kernels import ArraySource
from ..progress import current_watch
from ._transformers import ComparingTransformer

# Objects count as duplicates if their squared distance is below the first share of the median of neighbours, and are
# then taken to be at the second: an edge of length 0 has no finite precision. Unequal objects lie far above the first
# (a pair in a hundred million, in the plane); below 1e-10 a Cholesky decomposition fails.
DUPLICATE, FLOOR = 1e-8, 1e-3
# Ridge of the weights that place a new object among its neighbours, relative to their mean squared distance from it.
RIDGE = 1e-3
# The products of an object's neighbours count as singular below this share of their mean. The ridge is then the
# customary one of locally linear embedding.
SINGULAR, AUTO_RIDGE = 1e-9, 1e-3


class Unfolding(NamedTuple):
    """The result of a method; dissimilarities follow from the covariance."""

    covariance: Array
    precision: Array
    objective: float


@dataclass(eq=False, repr=False, kw_only=True)
class SpectralDissimilarity(ComparingTransformer):
    """Base of the spectral methods; a subclass writes ``_solve``, or derives from :class:`SparseSpectral`.

    ``_solve(squared)`` returns the :class:`Unfolding` for the N x N squared dissimilarities and ``graph_``.

    ``transform`` places a new object at a weighted mean of its nearest fitted objects, with the weights that
    reconstruct it best in the data (those of locally linear embedding, negative ones allowed); a fitted object has the
    dissimilarities found in the fit. A new object far from all fitted ones is therefore placed among them.
    """

    n_neighbors: int | None = field(default=6, kw_only=False)
    graph: str = "neighbors"
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    on_disconnected: str = "join"

    _RULES = {
        "n_neighbors": (None, 1),
        "graph": ("neighbors", *STRUCTURES),
        "on_disconnected": ("join", "error"),
    }

    def _fit(self, X: Any) -> None:
        current_watch().begin("graph")
        D = self._compare(X)
        if isinstance(D, np.ndarray):
            D = np.array(D, dtype=np.float64)
            np.fill_diagonal(D, 0.0)
            D = ArraySource(D)
        if self.graph == "neighbors":
            self._require_neighbours(D.n)
        if not D.rows(np.arange(1)).any() and not (isinstance(D, ArraySource) and D.array.any()):
            raise ValueError(f"all {D.n} objects are equal (every dissimilarity is 0); there is nothing to unfold.")
        self._source = D
        self._unfold(D)

    def _unfold(self, source: Any) -> None:
        """Build the graph and set the results."""
        self.graph_: sp.csr_array = self._joined(undirected(self._neighbours(source)), source.rows)
        self.covariance_, self.precision_, self.objective_ = self._solve(source.array**2)
        self.dissimilarities_ = distances_of(self.covariance_)

    def _neighbours(self, source: Any) -> sp.csr_array:
        """Return the directed graph of neighbours, or the graph of a known structure, with lengths."""
        if self.graph == "neighbors":
            return near_pairs(source.rows, source.n, self.n_neighbors)
        everything = slice(0, source.n)
        return structured_graph(np.asarray(source.tile(everything, everything)), self.graph)

    def _solve(self, squared: Array) -> Unfolding:
        raise NotImplementedError

    # ---- new objects

    def _new(self, X: Any) -> tuple[Array, Any]:
        weights, labels = self.new_weights(X)
        K = self.covariance_
        products = weights @ K
        own = np.asarray((weights.toarray() * products).sum(axis=1))
        D = np.sqrt(np.maximum(own[:, None] - 2 * products + np.diagonal(K), 0.0))
        same = np.flatnonzero(np.diff(weights.indptr) == 1)
        D[same] = self.dissimilarities_[weights.indices[weights.indptr[same]]]
        return D, labels

    def new_weights(self, X: Any) -> tuple[sp.csr_array, Any]:
        """Return the weights of the fitted objects in each new one, (n_new, n_objects), and the new labels."""
        check_is_fitted(self)
        lengths, labels = self._compare_new(X)
        n = lengths.shape[1]
        weights = sp.lil_array(lengths.shape)
        for row, length in enumerate(lengths):
            which = np.flatnonzero(length == 0)[:1]
            if len(which):  # a fitted object
                weights[row, which[0]] = 1.0
                continue
            which = np.flatnonzero(are_near(length[None], min(self.n_neighbors or n, n), None)[0])
            among = np.asarray(self._source.tile(which, which), dtype=np.float64) ** 2
            weights[row, which] = reconstruction(length[which] ** 2, among, RIDGE / len(which))[0]
        return weights.tocsr(), labels


# ---- edges and weights


def edges(graph: sp.csr_array) -> tuple[IntArray, IntArray]:
    """Return the undirected edges ``i < j`` of a symmetric graph, edges of length 0 included."""
    i, j = graph.tocoo().coords
    return i[i < j], j[i < j]


def nearly_zero(squares: Array) -> NDArray[np.bool_]:
    """Return which squared distances are those of duplicates, exact or up to rounding."""
    above = squares[squares > 0]
    return np.asarray(squares < DUPLICATE * np.median(above) if len(above) else squares == 0)


def raised(values: Array, what: str = "edges join objects that are equal or nearly so; their squared lengths") -> Array:
    """Return squared values with those that are (nearly) 0 raised to a small share of the median, with a warning."""
    if not values.any():
        raise ValueError(f"all {len(values)} {what} are 0; there is nothing to unfold, so change n_neighbors.")
    duplicate = nearly_zero(values)
    if duplicate.any():
        warn_user(
            f"{duplicate.sum()} of {len(values)} {what} were raised to {FLOOR:g} of the median. Merge duplicates to "
            "avoid it.",
            MapWarning,
        )
    return np.where(duplicate, FLOOR * float(np.median(values[values > 0])), values)


def reconstruction(to_object: Array, among: Array, ridge: float | None) -> tuple[Array, float]:
    """Return the weights (sum 1) that best reconstruct an object from its neighbours, and the squared error left.

    From squared distances alone: ``c_jk = (d_0j + d_0k - d_jk) / 2`` are the products of the neighbours seen from the
    object, and ``C w = 1``, normalised, minimises ``w' C w``. The ridge is a share of C's trace; None is 0 unless C
    is singular.
    """
    C = (to_object[:, None] + to_object[None, :] - among) / 2
    trace = float(np.trace(C))
    if not to_object.any():  # all neighbours equal the object: any weights do
        return np.full(len(C), 1.0 / len(C)), 0.0
    if ridge is None:
        ridge = AUTO_RIDGE if np.linalg.eigvalsh(C)[0] <= SINGULAR * trace / len(C) else 0.0
    try:
        weights = np.linalg.solve(C + ridge * trace * np.eye(len(C)), np.ones(len(C)))
    except np.linalg.LinAlgError:
        raise ValueError(
            f"ridge={ridge:g} leaves the weights of an object with {len(C)} neighbours undetermined; raise it "
            "(0.001 is customary), or pass ridge=None."
        ) from None
    weights /= weights.sum()
    return weights, max(float(weights @ C @ weights), 0.0)


# ---- covariances and distances


def distances_of(K: Array) -> Array:
    """Return roots of ``k_ii - 2 k_ij + k_jj``: symmetric, 0 on the diagonal."""
    own = np.diagonal(K)
    squared = own[:, None] + own[None, :] - (K + K.T)
    np.fill_diagonal(squared, 0.0)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def covariance_of_distances(squared: Array) -> Array:
    """Return the centred covariance with these squared distances (double centring)."""
    means = squared.mean(axis=0)
    return np.asarray(-0.5 * (squared - means[:, None] - means[None, :] + means.mean()))


def lower_inverse(A: Array) -> tuple[Array, float]:
    """Return the lower triangle of the inverse of a positive definite matrix, and the logarithm of its determinant.

    Half the work of solving for the whole inverse. What is above the diagonal is undefined, and A is overwritten.
    """
    factor = cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)[0]
    log_determinant = 2.0 * float(np.sum(np.log(np.diagonal(factor))))
    return np.asarray(dpotri(factor, lower=1, overwrite_c=1)[0]), log_determinant


def mirrored(lower: Array) -> Array:
    """Return the symmetric matrix with this lower triangle."""
    lower = np.tril(lower)
    return np.asarray(lower + np.tril(lower, -1).T)
