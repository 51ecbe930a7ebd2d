"""Maximum variance unfolding: move objects apart while neighbours keep their distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array
from ..checking import warn_user
from ..graphs import shortest_paths
from ..kernels import OneBlasThread
from ..progress import current_watch
from ._spectral import SpectralDissimilarity, Unfolding, covariance_of_distances, edges

# L-BFGS steps for each set of multipliers, vectors it remembers, and the growth of the penalty.
INNER, MEMORY, GROWTH = 500, 20, 4.0
# The penalty grows unless the violation fell below the first share of the smallest so far. If it then does not fall
# below the second share, the coordinates get more dimensions; PATIENCE updates without progress end the search.
ENOUGH, STILL, PATIENCE = 0.25, 0.8, 5
# Size of the noise in new coordinates, relative to the length of an edge.
NOISE = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class MaximumVarianceUnfolding(SpectralDissimilarity):
    """Move objects as far apart as possible while neighbours keep their distances.

    The covariance has the largest trace (total variance) among those that keep the dissimilarities of all neighbours
    and, with ``angles``, of all pairs that share a neighbour. The covariance is the product of N x `rank` coordinates,
    which an augmented Lagrangian finds from the map of shortest paths, instead of an N x N semidefinite programme.

    Time grows with the number of kept pairs times the rank (N = 1000: seconds), and N cubed for the start.

    Parameters
    ----------
    angles : bool, default=True
        Also keep the dissimilarities of pairs that share a neighbour, and so the angles between neighbours.
    rank : int, default=10
        Number of dimensions of the coordinates at the start. It doubles when the violation stops falling, up to the
        root of twice the number of kept pairs, which is enough for an optimum.
    tol : float, default=1e-3
        Largest violation: root mean squared error of the kept squared dissimilarities, relative to their root mean
        square. At the default the variance may exceed the optimum by some per cent.
    max_iter : int, default=60
        Largest number of updates of the multipliers.
    n_neighbors, graph, metric, metric_params, on_disconnected
        As in :class:`LaplacianEigenmaps`.

    Attributes
    ----------
    dissimilarities_, covariance_, precision_ : ndarray of shape (n_objects, n_objects)
        In the unit of the data. The covariance holds products of the centred coordinates. The precision is the
        Laplacian of the multipliers; ``precision_ @ covariance_ = covariance_`` at the optimum.
    multipliers_ : scipy sparse array of shape (n_objects, n_objects)
        A multiplier for each kept pair. With ``angles`` they are often not determined, and grow as `tol` falls.
    objective_ : float
        The total variance (trace of `covariance_`).
    rank_, violation_, n_iter_, converged_ : int, float, int, bool
        Number of dimensions and violation at the end, number of updates of the multipliers, and whether the violation
        is at most `tol`.
    graph_
        As in :class:`LaplacianEigenmaps`.

    References
    ----------
    K. Q. Weinberger, F. Sha and L. K. Saul, "Learning a kernel matrix for nonlinear dimensionality reduction", ICML
    2004. S. Burer and R. D. C. Monteiro, "A nonlinear programming algorithm for solving semidefinite programs via
    low-rank factorization", Mathematical Programming 95, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import MaximumVarianceUnfolding
    >>> stairs = np.column_stack([np.arange(1, 11) // 2, np.arange(10) // 2])
    >>> D = MaximumVarianceUnfolding(n_neighbors=1, angles=False).fit_transform(stairs)
    >>> D[0, -1].round(1).item()  # nine steps of length 1 in a row
    9.0
    """

    angles: bool = True
    rank: int = 10
    tol: float = 1e-3
    max_iter: int = 60

    _RULES = SpectralDissimilarity._RULES | {"angles": bool, "rank": 1, "tol": 0.0, "max_iter": 1}

    def _solve(self, squared: Array) -> Unfolding:
        kept = _Kept(self.graph_, squared, self.angles)
        with OneBlasThread():
            start = _start(self.graph_, min(self.rank, kept.most)) / np.sqrt(kept.unit)
            R, multipliers, self.violation_, self.n_iter_ = _unfold(kept, start, self.tol, self.max_iter)
        self.rank_, self.converged_ = R.shape[1], self.violation_ <= self.tol
        if not self.converged_:
            warn_user(
                f"MaximumVarianceUnfolding stopped after n_iter_={self.n_iter_} updates (max_iter={self.max_iter}) "
                f"with a relative violation of {self.violation_:.2g} (tol={self.tol:g}, rank_={self.rank_}); lower "
                "n_neighbors or pass angles=False to keep fewer pairs, or raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.multipliers_ = sp.csr_array((multipliers, (kept.i, kept.j)), shape=squared.shape)
        self.multipliers_ = self.multipliers_ + self.multipliers_.T
        L = -self.multipliers_.toarray()
        L[np.diag_indices_from(L)] -= L.sum(axis=1)
        K = kept.unit * (R @ R.T)
        return Unfolding(K, L, float(np.trace(K)))


class _Kept:
    """The pairs whose squared dissimilarities are kept, in units of their mean."""

    def __init__(self, graph: sp.csr_array, squared: Array, angles: bool) -> None:
        # An edge of length 0 would count as none.
        joined = sp.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
        self.i, self.j = edges(joined + joined @ joined if angles else joined)
        self.unit = float(squared[self.i, self.j].mean())
        self.target = squared[self.i, self.j] / self.unit
        n, pairs = len(squared), len(self.i)
        # Rank r is enough for an optimum if r(r + 1)/2 is at least the number of pairs (Pataki 1998).
        self.most = min(int(np.sqrt(2 * pairs)) + 1, n)
        places = np.tile(np.arange(pairs), 2), np.concatenate([self.i, self.j])
        self.differences = sp.csr_array((np.repeat([1.0, -1.0], pairs), places), shape=(pairs, n))
        self.sums = sp.csr_array(self.differences.T)

    def excess(self, R: Array) -> tuple[Array, Array]:
        """Return the differences of coordinates, and their squared lengths minus the kept ones."""
        apart = self.differences @ R
        return apart, np.einsum("er,er->e", apart, apart) - self.target


def _start(graph: sp.csr_array, rank: int) -> Array:
    """Return the classical map of the shortest paths, plus a little noise: a coordinate of 0 would have no gradient."""
    B = covariance_of_distances(shortest_paths(graph) ** 2)
    values, vectors = eigh(B, subset_by_index=(len(B) - rank, len(B) - 1))
    R = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    noise = np.random.default_rng(0).standard_normal(R.shape)
    return np.asarray(R + NOISE * np.sqrt(np.mean(graph.data**2)) * noise)


def _unfold(kept: _Kept, R: Array, tol: float, max_iter: int) -> tuple[Array, Array, float, int]:
    """Maximise the variance by an augmented Lagrangian; return coordinates, multipliers, violation and updates.

    At the optimum the multipliers times the targets sum to the variance, which gives the first penalty: with a much
    smaller one the coordinates first move far apart, and bringing them back takes most of the time.
    """
    size = float(np.sum((R - R.mean(axis=0)) ** 2)) / len(kept.target)
    multipliers, penalty = np.full(len(kept.target), size), 10.0 * size
    best = before_widening = violation = np.inf
    updates, still, grown = 0, 0, False
    watch = current_watch()
    watch.begin("unfolding", 1)
    while updates < max_iter and still < PATIENCE:
        updates += 1
        R = _inner(kept, R, multipliers, penalty)
        _, excess = kept.excess(R)
        multipliers = multipliers + penalty * excess
        violation = float(np.linalg.norm(excess) / np.linalg.norm(kept.target))
        if watch.step("unfolding", updates, violation, max_iter) or violation <= tol:
            break
        still = 0 if violation < STILL * best or not grown else still + 1
        if still and R.shape[1] < kept.most and violation < STILL * before_widening:
            # Up to twice as many dimensions, and a little noise in the new ones.
            new = len(R), min(R.shape[1], kept.most - R.shape[1])
            R = np.hstack([R, NOISE * np.random.default_rng(0).standard_normal(new)])
            penalty /= GROWTH**2
            before_widening, best, still, grown = violation, np.inf, 0, False
            continue
        grown = violation > ENOUGH * best
        penalty *= GROWTH if grown else 1.0
        best = min(best, violation)
    return R, multipliers, violation, updates


def _inner(kept: _Kept, R: Array, multipliers: Array, penalty: float) -> Array:
    """Return centred coordinates that minimise the augmented Lagrangian."""

    def centred(flat: Array) -> Array:
        coordinates = flat.reshape(R.shape)
        return np.asarray(coordinates - coordinates.mean(axis=0))

    def lagrangian(flat: Array) -> tuple[float, Array]:
        R = centred(flat)
        apart, excess = kept.excess(R)
        tension = multipliers + penalty * excess
        gradient = 2.0 * (kept.sums @ (tension[:, None] * apart) - R)
        value = -np.sum(R * R) + multipliers @ excess + 0.5 * penalty * (excess @ excess)
        return float(value), gradient.ravel()

    options = {"maxiter": INNER, "maxfun": 2 * INNER, "maxcor": MEMORY, "ftol": 1e-15, "gtol": 1e-7}
    return centred(minimize(lagrangian, R.ravel(), jac=True, method="L-BFGS-B", options=options).x)
