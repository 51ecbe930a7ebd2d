"""Locally linear embedding, and its acyclic form: each object is a weighted mean of its neighbours plus noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular, svd
from scipy.sparse.csgraph import connected_components

from .._typing import Array, IntArray
from ..checking import MapWarning, require_number, warn_user
from ..graphs import symmetric_graph
from ._spectral import SpectralDissimilarity, Unfolding, nearest, nearly_zero, raised, reconstruction

# The products of an object's neighbours count as singular below this share of their mean.
SINGULAR = 1e-9
# The ridge where they do, relative to their mean; the customary one.
AUTO_RIDGE = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class LocallyLinear(SpectralDissimilarity):
    """Dissimilarities whose classical map is that of locally linear embedding.

    Each object is reconstructed from its neighbours by weights that sum to 1. With M the matrix whose column i has 1 at
    i and minus the weights at its neighbours, ``M M'`` is taken as the precision of the objects; its pseudo-inverse is
    the covariance. The dissimilarities' unit is not that of the data, and directions that the weights reproduce almost
    exactly are drawn out very far, so that metric scaling of them differs much from classical scaling.

    Time grows with N cubed (one singular value decomposition), memory with N squared.

    Parameters
    ----------
    n_neighbors : int or None, default=6
        Each object is reconstructed from this many nearest ones, and from all as near as the last of them; None takes
        all others.
    graph : {"neighbors", "chain", "ring", "tree"}, default="neighbors"
        As in :class:`LaplacianEigenmaps`; of a chain, each object is a mean of the ones beside it.
    ridge : "auto" or float, default="auto"
        Added to the diagonal of the products of an object's neighbours, as a share of their sum. ``"auto"``: 1e-3 where
        the products are singular, so that many weights reconstruct the object equally well (always if it has more
        neighbours than features), and 0 elsewhere.
    on_disconnected : {"join", "error"}, default="join"
        What to do if several groups of objects have all their neighbours among themselves, so that nothing tells where
        the groups lie: give each but the largest the shortest edge that leaves it, with a warning that counts them, or
        raise an error.
    metric, metric_params, dtype
        As in :class:`LaplacianEigenmaps`.

    Attributes
    ----------
    dissimilarities_ : ndarray of shape (n_objects, n_objects)
        Roots of ``k_ii - 2 k_ij + k_jj``.
    graph_ : scipy sparse array of shape (n_objects, n_objects)
        The neighbourhood graph, symmetric, with lengths of edges.
    weights_ : scipy sparse array of shape (n_objects, n_objects)
        In row i the weights that reconstruct object i.
    precision_ : ndarray of shape (n_objects, n_objects)
        ``M M'``.
    covariance_ : ndarray of shape (n_objects, n_objects)
        Its pseudo-inverse.
    objective_ : float
        Sum of the squared errors of reconstruction, which the weights minimise.
    n_components_joined_ : int
        Number of groups of objects that have all their neighbours among themselves; 1 if all depend on each other.

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

    ridge: Any = "auto"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _require_ridge(self.ridge)

    def _connected(self, graph: sp.csr_array, D: Array) -> sp.csr_array:
        """Return the graph of neighbours; groups with all neighbours among themselves get their shortest edge out."""
        if self.graph == "neighbors":
            lists = nearest_of_each(D, self.n_neighbors)
        else:
            lists = np.split(graph.indices.astype(np.int64), graph.indptr[1:-1])
        self.n_components_joined_ = len(closed_groups(lists))
        if self.n_components_joined_ > 1:
            groups = f"{self.n_components_joined_} groups of objects have all their neighbours among themselves"
            if self.on_disconnected == "error":
                raise ValueError(f"{groups}; raise n_neighbors, or pass on_disconnected='join'.")
            warn_user(
                f"{groups}; each but the largest was given the shortest edge that leaves it; raise n_neighbors to "
                "avoid it.",
                MapWarning,
            )
            join_closed_groups(lists, D)
        self._lists = lists
        return graph_of_lists(lists, D)

    def _solve(self, squared: Array) -> Unfolding:
        self.weights_, errors = reconstructions(squared, self._lists, self.ridge)
        M = np.eye(len(squared)) - self.weights_.T.toarray()
        return Unfolding(_covariance(M), M @ M.T, float(errors.sum()))


@dataclass(eq=False, repr=False, kw_only=True)
class AcyclicLocallyLinear(SpectralDissimilarity):
    """Locally linear embedding along an ordering: each object depends on its neighbours among later ones only.

    Without cycles, weights and noise together are one Gaussian field, and fitting each object on its own maximises the
    field's likelihood. Object i is a weighted mean (weights sum to 1) of its nearest objects among those later in the
    order, and noise with the variance of what is left; the last object is free. The dissimilarities are in the
    unit of the data, and depend much on the order: try several and compare :func:`unmask.inspection.gplvm_score`.

    Time grows with N cubed (one triangular inverse), memory with N squared.

    Parameters
    ----------
    n_neighbors : int or None, default=6
        Each object is reconstructed from this many nearest later ones, and from all as near as the last of them; None
        takes all later ones.
    order : array-like of shape (n_objects,), optional
        Positions of the objects, first to last; by default the order in which they are given (of time, say).
    ridge, metric, metric_params, dtype
        As in :class:`LocallyLinear`.

    Attributes
    ----------
    dissimilarities_ : ndarray of shape (n_objects, n_objects)
        Roots of ``k_ii - 2 k_ij + k_jj``, in the unit of the data.
    graph_ : scipy sparse array of shape (n_objects, n_objects)
        The graph of objects and their later neighbours, symmetric, with lengths of edges; always connected.
    weights_ : scipy sparse array of shape (n_objects, n_objects)
        In row i the weights that reconstruct object i; none for the last in the order.
    precisions_ : ndarray of shape (n_objects,)
        Inverse of each object's squared error of reconstruction; 0 for the last. An object reproduced
        exactly (error below 1e-8 of the median) has no finite precision; its error counts as 1e-3 of the median, with a
        warning.
    precision_ : ndarray of shape (n_objects, n_objects)
        ``M diag(precisions_) M'``, M with 1 on the diagonal and minus the weights of object i in column i. It is that
        of the sum of all columns of the data; for one of p columns, multiply by p.
    covariance_ : ndarray of shape (n_objects, n_objects)
        Its pseudo-inverse (divide by p for one column).
    objective_ : float
        Sum over objects, without the last, of the logarithm of the precision less precision times squared error: what
        the precisions maximise. With ``log N`` added it is that of :class:`MaximumEntropyUnfolding`.
    n_components_joined_ : int
        Always 1.

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
    ridge: Any = "auto"
    # No parameters here: the order makes the graph, which is always connected.
    graph: str = field(default="neighbors", init=False)
    on_disconnected: str = field(default="join", init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _require_ridge(self.ridge)

    def _connected(self, graph: sp.csr_array, D: Array) -> sp.csr_array:
        """Return the graph of objects and their later neighbours; all but the last have one, so it has one part."""
        self._order = _checked_order(self.order, len(D))
        self._lists = later_neighbours(D, self._order, self.n_neighbors)
        self.n_components_joined_ = 1
        return graph_of_lists(self._lists, D)

    def _solve(self, squared: Array) -> Unfolding:
        n, order = len(squared), self._order
        self.weights_, errors = reconstructions(squared, self._lists, self.ridge)
        free = order[:-1]
        # With a duplicate among its neighbours an object is reproduced exactly, but for the ridge.
        errors[free[nearly_zero(np.array([squared[i, self._lists[i]].min() for i in free]))]] = 0.0
        capped = raised(
            errors[free], "objects are reproduced by their neighbours (nearly) exactly; their squared errors"
        )
        self.precisions_ = np.zeros(n)
        self.precisions_[free] = 1.0 / capped
        M = (np.eye(n) - self.weights_.T.toarray()) * np.sqrt(self.precisions_)
        objective = float(np.sum(np.log(self.precisions_[free]) - self.precisions_[free] * errors[free]))
        return Unfolding(_anchored_covariance(M, order), M @ M.T, objective)


def _require_ridge(ridge: Any) -> None:
    if isinstance(ridge, str) and ridge == "auto":
        return
    if isinstance(ridge, str):
        raise ValueError(f"ridge={ridge!r} must be 'auto' or a number of at least 0.")
    require_number("ridge", ridge, 0.0)


def _checked_order(order: Any, n: int) -> IntArray:
    """Return positions, first to last."""
    if order is None:
        return np.arange(n)
    positions = np.asarray(order)
    if positions.shape != (n,) or not np.array_equal(np.sort(positions), np.arange(n)):
        raise ValueError(
            f"order has shape {positions.shape} but must list the positions 0 … {n - 1} of the {n} objects, each once; "
            "np.argsort(time) gives them in the order of time."
        )
    return positions.astype(np.int64)


# ---- neighbours of each object


def nearest_of_each(D: Array, n_neighbors: int | None) -> list[IntArray]:
    """Return each object's nearest others, all as near as the k-th among them."""
    others = D.copy()
    np.fill_diagonal(others, np.inf)
    k = len(D) - 1 if n_neighbors is None else int(n_neighbors)
    return [nearest(row, k) for row in others]


def later_neighbours(D: Array, order: IntArray, n_neighbors: int | None) -> list[IntArray]:
    """Return each object's nearest ones among those later in the order; none for the last."""
    lists: list[IntArray] = [np.empty(0, dtype=np.int64)] * len(D)
    for place, i in enumerate(order[:-1]):
        later = order[place + 1 :]
        k = min(n_neighbors or len(later), len(later))
        lists[i] = later[nearest(D[i, later], k)]
    return lists


def closed_groups(lists: list[IntArray]) -> list[IntArray]:
    """Return the groups of objects that have all their neighbours among themselves."""
    directed = _directed(lists, np.ones(sum(map(len, lists))))
    count, group = connected_components(directed, directed=True, connection="strong")
    i, j = directed.tocoo().coords
    leaves = np.zeros(count, dtype=bool)
    leaves[group[i[group[i] != group[j]]]] = True
    return [np.flatnonzero(group == own) for own in np.flatnonzero(~leaves)]


def join_closed_groups(lists: list[IntArray], D: Array) -> None:
    """Give each closed group but the largest the shortest edge that leaves it, until one is left; changes the lists."""
    groups = closed_groups(lists)
    while len(groups) > 1:
        for members in sorted(groups, key=len)[:-1]:
            lengths = D[members]  # a copy
            lengths[:, members] = np.inf
            i, j = np.unravel_index(int(np.argmin(lengths)), lengths.shape)
            lists[members[i]] = np.append(lists[members[i]], j)
        groups = closed_groups(lists)


def graph_of_lists(lists: list[IntArray], D: Array) -> sp.csr_array:
    """Return the symmetric graph of objects and their neighbours, with lengths."""
    i, j = np.repeat(np.arange(len(lists)), [len(near) for near in lists]), np.concatenate(lists)
    return symmetric_graph(i, j, D[i, j], len(lists), mutual=False)


def _directed(lists: list[IntArray], values: Array) -> sp.csr_array:
    ends = np.cumsum([0, *map(len, lists)])
    return sp.csr_array((values, np.concatenate(lists), ends), shape=(len(lists), len(lists)))


# ---- weights and covariances


def reconstructions(squared: Array, lists: list[IntArray], ridge: Any) -> tuple[sp.csr_array, Array]:
    """Return the weights that reconstruct each object from its neighbours, and the squared errors."""
    errors = np.zeros(len(squared))
    weights: list[Array] = [np.empty(0)] * len(squared)
    for i, near in enumerate(lists):
        if len(near):
            to_object, among = squared[i, near], squared[np.ix_(near, near)]
            weights[i], errors[i] = reconstruction(to_object, among, _ridge(ridge, to_object, among))
    return _directed(lists, np.concatenate(weights)), errors


def _ridge(ridge: Any, to_object: Array, among: Array) -> float:
    """Return the ridge relative to the mean of the products' diagonal, which is what :func:`reconstruction` takes."""
    n = len(to_object)
    if not isinstance(ridge, str):
        return float(ridge) * n
    products = (to_object[:, None] + to_object[None, :] - among) / 2
    singular = np.linalg.eigvalsh(products)[0] <= SINGULAR * np.trace(products) / n
    return AUTO_RIDGE * n if singular else 0.0


def _covariance(M: Array) -> Array:
    """Return the pseudo-inverse of ``M M'``, whose only null vector is the constant one.

    From the singular values of M: those of ``M M'`` are their squares, and the small ones, which matter most, would
    be lost to rounding.
    """
    U, values, _ = svd(M, check_finite=False)
    if values[-2] <= len(M) * np.finfo(np.float64).eps * values[0]:
        raise ValueError(
            "the weights reproduce some directions exactly, so that their dissimilarities are infinite; raise ridge "
            "(0.001 is customary), or change n_neighbors."
        )
    scaled = U[:, :-1] / values[:-1]
    return np.asarray(scaled @ scaled.T)


def _anchored_covariance(M: Array, order: IntArray) -> Array:
    """Return the centred covariance for a triangular M (in the order) whose last column is 0.

    With the last object held at 0 the others are the solution of a triangular system; centring undoes the holding.
    """
    free = order[:-1]
    spread = solve_triangular(M[np.ix_(free, free)].T, np.eye(len(free)), lower=False, check_finite=False)
    values = np.zeros((len(order), len(free)))
    values[free] = spread
    values -= values.mean(axis=0)
    return np.asarray(values @ values.T)
