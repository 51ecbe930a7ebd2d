"""DRILL: a Gaussian random field whose graph is learned by an L1 penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array, IntArray
from ..checking import name_object, warn_user
from ..kernels import OneBlasThread
from ..progress import current_watch
from ._spectral import SpectralDissimilarity, Unfolding, covariance_of_distances, edges, lower_inverse, mirrored

# Conjugate gradients stop at this share of the first residual, or after this many iterations.
RESIDUAL, MOST_GRADIENTS, SMALLEST_STEP = 0.1, 500, 1e-10
# Rows multiplied at a time, few enough to stay in the cache.
AT_ONCE = 128


@dataclass(eq=False, repr=False, kw_only=True)
class Drill(SpectralDissimilarity):
    """Dissimilarities from a sparse Gaussian random field over the objects.

    Each feature is treated as an independent draw from one Gaussian distribution over the objects, whose precision
    ``P`` is 0 except between neighbours. P maximises ``logdet P - tr(S P) - penalty * sum_{i != j} |p_ij|``, where
    ``S = YY'/p`` is computed from the p centred features Y. The penalty removes edges, so that the graph is learned.
    The covariance is p times the inverse of P. Without a penalty it equals ``YY'`` on the diagonal and on every edge.
    Memory grows with N squared, time with N times the number of edges for each of some thousand products.

    Parameters
    ----------
    n_neighbors, graph
        The candidate edges, as the edges of :class:`LaplacianEigenmaps`.
    penalty : float, default=0.01
        Weight of the L1 penalty, in units of `S` (mean squares of the centred features). With 0 all candidate edges
        stay. The optimum then exists only if no fully joined group has more objects than there are features.
    tol : float, default=1e-6
        Largest violation of the optimality conditions, with `S` scaled to a diagonal of ones.
    max_iter : int, default=1000
        Largest number of Newton steps.
    metric : str, callable or transformer, default="euclidean"
        As in :class:`Geodesic`. With ``"precomputed"``, `X` holds dissimilarities, which count as those of one feature
        (p = 1). `S` is computed from squared dissimilarities by double centring.
    metric_params, on_disconnected
        As in :class:`LaplacianEigenmaps`.

    Attributes
    ----------
    dissimilarities_, precision_, covariance_ : ndarray of shape (n_objects, n_objects)
        In the unit of the data. The precision is P / p, exactly 0 where there is no edge.
    graph_, candidates_ : scipy sparse array of shape (n_objects, n_objects)
        The learned graph (pairs with a precision other than 0, with their dissimilarities in the data as lengths), and
        the candidate edges.
    objective_ : float
        The penalised likelihood at P.
    violation_, n_iter_, converged_ : float, int, bool
        Largest violation of the optimality conditions, in the units of `tol`; number of Newton steps; whether the
        violation is at most `tol`.

    References
    ----------
    N. D. Lawrence, "A unifying probabilistic perspective for spectral dimensionality reduction", JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import Drill
    >>> X = np.random.default_rng(0).standard_normal((12, 30)).cumsum(axis=0)
    >>> [Drill(None, penalty=penalty).fit(X).graph_.nnz // 2 for penalty in (0.05, 0.5, 20.0)]  # edges
    [58, 35, 0]
    """

    penalty: float = 0.01
    tol: float = 1e-6
    max_iter: int = 1000

    _RULES = SpectralDissimilarity._RULES | {"penalty": 0.0, "tol": 0.0, "max_iter": 1}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_neighbors is None and self.penalty == 0:
            raise ValueError(
                "n_neighbors=None with penalty=0: a precision of all pairs is not determined, because centring takes "
                "one dimension away; give n_neighbors, or a penalty above 0."
            )

    def _solve(self, squared: Array) -> Unfolding:
        self.candidates_ = self.graph_
        p = 1 if self._comparing is None else getattr(self, "n_features_in_", 1)
        S = covariance_of_distances(squared) / p
        own = np.diagonal(S)
        if own.min() <= 1e-12 * own.max():
            raise ValueError(
                f"{name_object(self._labels, int(np.argmin(own)))} has no variance and no finite precision: it is at "
                "the mean of all objects, or its dissimilarities are not distances; leave it out."
            )
        scale = np.sqrt(own)  # scaled to correlations the problem is well conditioned
        scales = np.outer(scale, scale)
        i, j = edges(self.candidates_)
        field = _Field(S / scales, i, j, self.penalty / scales[i, j])
        with OneBlasThread():
            x, self.n_iter_ = _minimise(field, self.tol, self.max_iter)
            slope, W = field.slope(x)
        self.violation_ = float(np.abs(slope).max())
        self.converged_ = self.violation_ <= self.tol
        if not self.converged_:
            warn_user(
                f"Drill stopped after n_iter_={self.n_iter_} Newton steps (max_iter={self.max_iter}) with a violation "
                f"of {self.violation_:.2g} of the optimality conditions (tol={self.tol:g}); raise max_iter or penalty: "
                "with a small penalty and many neighbours there may be no optimum.",
                ConvergenceWarning,
            )
        P = field.matrix(x) / scales
        i, j = np.nonzero(P - np.diag(np.diagonal(P)))
        self.graph_ = sp.csr_array((np.sqrt(squared[i, j]), (i, j)), shape=P.shape)
        return Unfolding(W * scales * p, P / p, -field.value(x) - 2.0 * float(np.log(scale).sum()))


class _Field:
    """The negative penalised likelihood as a function of the free entries of P: the diagonal, then the edges.

    An edge stands for two entries of the matrix: its slope and its penalty count twice.
    """

    def __init__(self, C: Array, i: IntArray, j: IntArray, penalty: Array) -> None:
        own = np.arange(len(C))
        self.C = C
        self.i, self.j = np.concatenate([own, i]), np.concatenate([own, j])
        self.times = np.where(self.i == self.j, 1.0, 2.0)
        self.penalty = np.concatenate([np.zeros(len(C)), 2.0 * penalty])

    def matrix(self, x: Array) -> Array:
        P = np.zeros_like(self.C)
        P[self.i, self.j] = P[self.j, self.i] = x
        return P

    def value(self, x: Array) -> float:
        """Return the value to be minimised; infinite where the matrix is not positive definite."""
        try:
            root = np.linalg.cholesky(self.matrix(x))
        except np.linalg.LinAlgError:
            return np.inf
        likelihood = 2.0 * np.log(np.diagonal(root)).sum() - (self.times * self.C[self.i, self.j]) @ x
        return float(self.penalty @ np.abs(x) - likelihood)

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the smallest subgradient, which is 0 only at the optimum, and the inverse of the matrix."""
        W = mirrored(lower_inverse(self.matrix(x))[0])
        g = self.times * (self.C - W)[self.i, self.j]
        at_zero = np.sign(g) * np.maximum(np.abs(g) - self.penalty, 0.0)
        return np.where(x != 0, g + self.penalty * np.sign(x), at_zero), W

    def newton_step(self, x: Array, W: Array, slope: Array, free: IntArray) -> Array:
        """Return the Newton step of the free entries, by conjugate gradients.

        The second derivatives times v are the free entries of ``W V W``, V being v spread over a matrix. ``P G P`` is
        the preconditioner; it would be the inverse if all pairs were free. A step that stops early still goes downhill.
        """
        times, n = self.times[free], len(free)
        curvature, inverse = self._products(W, free), self._products(self.matrix(x), free)
        H = LinearOperator((n, n), matvec=lambda v: times * curvature(v), dtype=np.float64)
        M = LinearOperator((n, n), matvec=lambda g: inverse(g / times), dtype=np.float64)
        step = np.zeros(len(x))
        step[free] = -cg(H, slope[free], rtol=RESIDUAL, maxiter=MOST_GRADIENTS, M=M)[0]
        return step

    def _products(self, A: Array, free: IntArray) -> Callable[[Array], Array]:
        """Return a function of values v that computes the free entries of ``A V A`` and no others."""
        i, j = self.i[free], self.j[free]
        apart = i != j
        places = np.concatenate([i, j[apart]]), np.concatenate([j, i[apart]])

        def multiply(values: Array) -> Array:
            V = sp.csr_array((np.concatenate([values, values[apart]]), places), shape=A.shape)
            left = np.ascontiguousarray((V @ A).T)
            found = np.empty(len(values))
            for first in range(0, len(found), AT_ONCE):
                part = slice(first, first + AT_ONCE)
                found[part] = np.einsum("ek,ek->e", left[i[part]], A[j[part]])
            return found

        return multiply


def _minimise(field: _Field, tol: float, max_iter: int) -> tuple[Array, int]:
    """Return the optimal entries and the number of Newton steps.

    Within a step entries keep their signs or become 0. Entries at 0 join once their slope exceeds that of all others:
    admitting them earlier takes several times as many steps. Exact Newton steps stop short of the optimum, because too
    many entries are cut off at 0 at a time.
    """
    x = (field.i == field.j).astype(np.float64)
    watch = current_watch()
    watch.begin("unfolding", 1)
    for step in range(max_iter):
        slope, W = field.slope(x)
        size, used = np.abs(slope), (x != 0) | (field.penalty == 0)
        if size.max() <= tol:
            return x, step
        free = np.flatnonzero(used | (size > size[used].max() + tol))
        better = _shortened(field, x, field.newton_step(x, W, slope, free), slope)
        if better is None:
            return x, step
        x = better
        if watch.listeners and watch.step("unfolding", step + 1, field.value(x), max_iter):
            return x, step + 1
    return x, max_iter


def _shortened(field: _Field, x: Array, move: Array, slope: Array) -> Array | None:
    """Return a better point along a step, halved until the value falls; None if there is none."""
    sign = np.where(x != 0, np.sign(x), -np.sign(slope))

    def place(length: float) -> Array:
        there = x + length * move
        return np.where((field.penalty > 0) & (there * sign < 0), 0.0, there)

    before, length = field.value(x), 1.0
    while length > SMALLEST_STEP:
        if field.value(place(length)) < before:
            return place(length)
        length /= 2.0
    # Near the optimum values differ by less than their rounding, slopes do not.
    alike = field.value(place(1.0)) <= before + 1e-12 * abs(before)
    return place(1.0) if alike and np.abs(field.slope(place(1.0))[0]).max() < np.abs(slope).max() else None
