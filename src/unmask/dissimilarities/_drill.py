"""DRILL: a Gaussian random field whose graph is learned by an L1 penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array, IntArray
from ..checking import name_object, require_flag, require_integer, require_number, warn_user
from ..kernels import OneBlasThread
from ..progress import current_watch
from ._spectral import SpectralDissimilarity, Unfolding, covariance_of_distances, edges

# |x| is smoothed to sqrt(x² + width²); the width shrinks by SHRINK from WIDEST (warm: from WARM) to NARROWEST.
WIDEST, WARM, NARROWEST, SHRINK = 1.0, 0.01, 1e-5, 0.2
# An entry smaller than this many widths is set to 0; the optimality conditions then test it.
ZERO = 30.0
SMALLEST_STEP = 1e-10
# With more unknowns than this, Newton steps are found by conjugate gradients instead of a Cholesky decomposition.
MOST_DENSE = 3000
# Conjugate gradients stop at this share of the first residual, or after so many iterations.
RESIDUAL, MOST_GRADIENTS = 0.1, 500
# Rows multiplied at a time, few enough to stay in the cache.
AT_ONCE = 128


@dataclass(eq=False, repr=False, kw_only=True)
class Drill(SpectralDissimilarity):
    """Dissimilarities from a sparse Gaussian random field over the objects.

    The objects' features are taken for independent draws from one Gaussian over objects, whose precision ``P`` is 0
    except between neighbours. P maximises ``logdet P - tr(S P) - penalty * sum_{i != j} |p_ij|``, with ``S = YY'/p`` of
    the centred features Y; the penalty removes edges, so that the graph is learned. The covariance is ``p`` times the
    inverse of P: without a penalty it agrees with ``YY'`` on the diagonal and on every edge.

    Up to 3000 unknowns (objects and edges: some 600 objects with 6 neighbours, or 76 with all pairs), Newton steps are
    exact, and time grows with the unknowns cubed. Beyond that they are found by conjugate gradients: memory grows with
    N squared, time with N times the edges for each of some hundreds to thousands of products (see the page on spectral
    methods for measured times).

    Parameters
    ----------
    n_neighbors : int or None, default=6
        Each object may be joined to this many nearest ones, and to all as near as the last of them; None: to all.
    graph : {"neighbors", "chain", "ring", "tree"}, default="neighbors"
        As in :class:`LaplacianEigenmaps`: the candidates.
    penalty : float, default=0.01
        Weight of the L1 penalty, in units of `S` (mean squares of the centred features). 0 leaves all edges in; the
        optimum then exists only if no group of objects that are all joined is larger than the number of features.
    warm_start : bool, default=False
        Start from the last fit if it had as many objects and the same candidates: a path of penalties then takes fewer
        steps.
    tol : float, default=1e-6
        Largest violation of the optimality conditions, in units in which `S` has a diagonal of ones.
    max_iter : int, default=500
        Largest number of Newton steps.
    metric : str, callable or transformer, default="euclidean"
        As in :class:`Geodesic`; ``"precomputed"`` if `X` holds dissimilarities, which then
        count as those of one feature (p = 1). `S` is found from squared dissimilarities by double centring.
    metric_params, on_disconnected, dtype
        As in :class:`LaplacianEigenmaps`, for the graph of neighbours.

    Attributes
    ----------
    dissimilarities_ : ndarray of shape (n_objects, n_objects)
        In the unit of the data.
    graph_ : scipy sparse array of shape (n_objects, n_objects)
        The learned graph: pairs whose precision is not 0, with their dissimilarities in the data as lengths.
    candidates_ : scipy sparse array of shape (n_objects, n_objects)
        The graph of neighbours, from which it was learned.
    precision_ : ndarray of shape (n_objects, n_objects)
        P / p, exactly 0 where there is no edge.
    covariance_ : ndarray of shape (n_objects, n_objects)
        Its inverse.
    objective_ : float
        Value of the penalised likelihood at P.
    violation_ : float
        Largest violation of the optimality conditions, in the units of `tol`.
    n_iter_ : int
        Newton steps.
    converged_ : bool
        Whether `violation_` is below `tol`.
    n_components_joined_ : int
        Number of parts the neighbours alone leave; 1 if their graph was connected.

    References
    ----------
    N. D. Lawrence, "A unifying probabilistic perspective for spectral dimensionality reduction", Journal of Machine
    Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import Drill
    >>> X = np.random.default_rng(0).standard_normal((12, 30)).cumsum(axis=0)
    >>> [Drill(None, penalty=penalty).fit(X).graph_.nnz // 2 for penalty in (0.05, 0.5, 20.0)]  # edges
    [58, 35, 0]
    """

    penalty: float = 0.01
    warm_start: bool = False
    tol: float = 1e-6
    max_iter: int = 500

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("penalty", self.penalty, 0.0)
        require_flag("warm_start", self.warm_start)
        require_number("tol", self.tol, 0.0)
        require_integer("max_iter", self.max_iter, 1)
        if self.n_neighbors is None and self.penalty == 0:
            raise ValueError(
                "n_neighbors=None with penalty=0: a precision of all pairs is not determined, because centring takes "
                "one dimension away; give n_neighbors, or a penalty above 0."
            )

    def _solve(self, squared: Array) -> Unfolding:
        self.candidates_ = self.graph_
        draws = 1 if self._comparing is None else getattr(self, "n_features_in_", 1)
        S = covariance_of_distances(squared) / draws
        scale = self._scale(S)
        field = _Field.of(S / np.outer(scale, scale), edges(self.candidates_), float(self.penalty), scale)
        start = self._start(field, scale)
        with OneBlasThread():
            x, self.n_iter_ = _maximise(field, start, start is not None, float(self.tol), int(self.max_iter))
            W = field.inverse(x)
        self.violation_ = float(np.abs(field.steepest(x, W)).max())
        self.converged_ = bool(self.violation_ <= self.tol)
        if not self.converged_:
            warn_user(
                f"Drill stopped after n_iter_={self.n_iter_} Newton steps (max_iter={self.max_iter}) with a violation "
                f"of {self.violation_:.2g} of the optimality conditions (tol={self.tol:g}); raise max_iter or penalty: "
                "with a small one and many neighbours there may be no optimum.",
                ConvergenceWarning,
            )
        P = field.matrix(x) / np.outer(scale, scale)
        self._unscaled = P
        self.graph_ = _learned(P, squared)
        K = W * np.outer(scale, scale)
        objective = -field.value(x, 0.0) - 2.0 * float(np.log(scale).sum())
        return Unfolding(K * draws, P / draws, objective)

    def _scale(self, S: Array) -> Array:
        """Return the roots of S's diagonal: scaled by them the problem is well conditioned (S becomes correlations)."""
        own = np.diagonal(S)
        if own.min() <= 1e-12 * own.max():
            raise ValueError(
                f"{name_object(self._labels, int(np.argmin(own)))} is at the mean of all objects, where Drill leaves "
                "it no variance and thus no finite precision; leave it out."
            )
        return np.asarray(np.sqrt(own))

    def _start(self, field: _Field, scale: Array) -> Array | None:
        """Return the entries of the last fit if `warm_start` is set and they fit this problem."""
        last = getattr(self, "_unscaled", None) if self.warm_start else None
        if last is None or last.shape != field.C.shape:
            return None
        entries = (last * np.outer(scale, scale))[field.i, field.j]
        return np.asarray(entries) if np.isfinite(field.value(entries, 0.0)) else None


def _learned(P: Array, squared: Array) -> sp.csr_array:
    i, j = np.nonzero(P)
    apart = i != j
    i, j = i[apart], j[apart]
    return sp.csr_array((np.sqrt(squared[i, j]), (i, j)), shape=P.shape)


@dataclass(frozen=True)
class _Field:
    """The penalised likelihood (negative) as a function of the free entries: the diagonal first, then the edges.

    An edge stands for two entries of the matrix (``times`` = 2); its penalty counts both.
    """

    C: Array
    i: IntArray
    j: IntArray
    times: Array
    penalty: Array

    @classmethod
    def of(cls, C: Array, near: Any, penalty: float, scale: Array) -> _Field:
        n, (i, j) = len(C), near
        own = np.arange(n)
        return cls(
            C,
            np.concatenate([own, i]),
            np.concatenate([own, j]),
            np.concatenate([np.ones(n), np.full(len(i), 2.0)]),
            np.concatenate([np.zeros(n), 2.0 * penalty / (scale[i] * scale[j])]),
        )

    def matrix(self, x: Array) -> Array:
        P = np.zeros_like(self.C)
        P[self.i, self.j] = P[self.j, self.i] = x
        return P

    def inverse(self, x: Array) -> Array:
        root = cho_factor(self.matrix(x), lower=True, overwrite_a=True, check_finite=False)[0]
        lower = np.tril(dpotri(root, lower=1)[0])  # half the work of solving for the whole inverse
        return np.asarray(lower + np.tril(lower, -1).T)

    def value(self, x: Array, width: float) -> float:
        """Return what is minimised, infinite where the matrix is not positive definite."""
        try:
            root = np.linalg.cholesky(self.matrix(x))
        except np.linalg.LinAlgError:
            return np.inf
        likelihood = 2.0 * np.log(np.diagonal(root)).sum() - (self.times * self.C[self.i, self.j]) @ x
        return float(self.penalty @ np.sqrt(x * x + width * width) - likelihood)

    def gradient(self, W: Array) -> Array:
        """Return the gradient without the penalty, given the inverse."""
        return np.asarray(self.times * (self.C - W)[self.i, self.j])

    def curvature(self, W: Array, free: IntArray) -> Array:
        """Return the second derivatives without the penalty: ``tr(W E_a W E_b)`` for entries a and b."""
        i, j, times = self.i[free], self.j[free], self.times[free]
        of_i, of_j = W[i], W[j]  # rows first: what is picked from then stays in the cache
        H, crossed = np.take(of_i, i, axis=1), np.take(of_i, j, axis=1)
        H *= np.take(of_j, j, axis=1)
        H += crossed * crossed.T
        H *= times[:, None]
        H *= 0.5 * times
        return np.asarray(H)

    def steepest(self, x: Array, W: Array) -> Array:
        """Return the subgradient of least size, given the inverse: 0 at the optimum and nowhere else."""
        g = self.gradient(W)
        at_zero = np.sign(g) * np.maximum(np.abs(g) - self.penalty, 0.0)
        return np.where(x != 0, g + self.penalty * np.sign(x), at_zero)


def _maximise(field: _Field, start: Array | None, warm: bool, tol: float, max_iter: int) -> tuple[Array, int]:
    """Return the optimal entries and the number of Newton steps.

    With few unknowns the penalty is smoothed first, and exact steps finish in a few dozens. With many, short steps by
    conjugate gradients on the entries in use need more of them and less time; exact ones would stop short there, since
    entries that change sign are cut off at 0.
    """
    x = (field.i == field.j).astype(np.float64) if start is None else start
    steps = 0
    current_watch().begin("unfolding", 1)
    if field.penalty.any() and len(x) <= MOST_DENSE:
        x, width, steps = _smoothed(field, x, WARM if warm else WIDEST, max_iter)
        x = np.where((field.penalty > 0) & (np.abs(x) < ZERO * width), 0.0, x)
    return _polished(field, x, tol, steps, max_iter)


def _smoothed(field: _Field, x: Array, width: float, max_iter: int) -> tuple[Array, float, int]:
    """Minimise with |x| smoothed ever less, by Newton steps that carry the penalty's slope ``q`` as an unknown.

    Plain Newton steps on sqrt(x² + width²) need hundreds of iterations when the width is small, and coordinate descent
    thousands of sweeps, as near objects are almost collinear. Linearising ``q sqrt(x² + width²) = x`` instead needs
    three or four steps for each width.
    """
    q = x / np.sqrt(x * x + width * width)
    every = np.arange(len(x))
    steps = 0
    while steps < max_iter:
        steps += 1
        W, r = field.inverse(x), np.sqrt(x * x + width * width)
        gradient = field.gradient(W) + field.penalty * x / r
        bend = np.maximum(1.0 - q * x / r, 1e-8)
        move = -_solved(_Curvature(field, x, W, every, field.penalty / r * bend), gradient)
        promised = float(gradient @ move)
        q = np.clip((x + bend * move) / r, -1.0, 1.0)
        x = x + _length(field, x, move, width, promised) * move
        if _told(field, x, steps, max_iter):
            break
        if -promised < max(0.1 * width, 1e-9):
            if width < NARROWEST:
                break
            width *= SHRINK
    return x, width, steps


def _polished(field: _Field, x: Array, tol: float, steps: int, max_iter: int) -> tuple[Array, int]:
    """Minimise exactly, entries keeping their signs; entries at 0 come in once those in use are settled."""
    while steps < max_iter and not current_watch().stopped.is_set():
        W = field.inverse(x)
        slope = field.steepest(x, W)
        if np.abs(slope).max() <= tol:
            break
        used = (x != 0) | (field.penalty == 0)
        settled = np.abs(slope[used]).max() <= tol
        free = np.flatnonzero(used | (np.abs(slope) > tol) if settled else used)
        sign = np.where(x != 0, np.sign(x), -np.sign(slope))
        move = np.zeros(len(x))
        move[free] = -_solved(_Curvature(field, x, W, free, np.zeros(len(free))), slope[free])
        better = _within_signs(field, x, move, sign)
        if better is None:
            break
        x, steps = better, steps + 1
        _told(field, x, steps, max_iter)
    return x, steps


def _told(field: _Field, x: Array, steps: int, max_iter: int) -> bool:
    """Tell those who watch of a step, and return whether to stop."""
    watch = current_watch()
    return bool(watch.listeners) and watch.step("unfolding", steps, field.value(x, 0.0), max_iter)


def _within_signs(field: _Field, x: Array, move: Array, sign: Array) -> Array | None:
    """Return a better point along a step, with entries that would change sign set to 0; None if there is none."""

    def place(length: float) -> Array:
        there = x + length * move
        return np.where((field.penalty > 0) & (there * sign < 0), 0.0, there)

    def slope(at: Array) -> float:
        return float(np.abs(field.steepest(at, field.inverse(at))).max())

    before, length = field.value(x, 0.0), 1.0
    while length > SMALLEST_STEP:
        if field.value(place(length), 0.0) < before:
            return place(length)
        length /= 2.0
    # Next to the optimum values differ by less than their rounding (the square of the step), slopes do not.
    alike = field.value(place(1.0), 0.0) <= before + 1e-12 * abs(before)
    return place(1.0) if alike and slope(place(1.0)) < slope(x) else None


def _length(field: _Field, x: Array, move: Array, width: float, promised: float) -> float:
    """Return the step length: 1, halved until the value falls by a share of what the gradient promises."""
    before, length = field.value(x, width), 1.0
    rounding = 1e-12 * abs(before)
    while (
        length > SMALLEST_STEP and field.value(x + length * move, width) > before + 1e-4 * length * promised + rounding
    ):
        length /= 2.0
    return length


@dataclass(frozen=True)
class _Curvature:
    """Second derivatives at x by the free entries, with a diagonal of their own (that of the smoothed penalty)."""

    field: _Field
    x: Array
    W: Array
    free: IntArray
    own: Array

    def dense(self) -> Array:
        H = self.field.curvature(self.W, self.free)
        H[np.diag_indices_from(H)] += self.own
        return H

    def spread(self, values: Array) -> sp.csr_array:
        """Return the symmetric matrix with these values at the free entries."""
        i, j = self.field.i[self.free], self.field.j[self.free]
        apart = i != j
        places = np.concatenate([i, j[apart]]), np.concatenate([j, i[apart]])
        return sp.csr_array((np.concatenate([values, values[apart]]), places), shape=self.W.shape)

    def times(self, v: Array) -> Array:
        """Return the derivatives times v: the free entries of ``W V W``, of which no others are computed."""
        i, j = self.field.i[self.free], self.field.j[self.free]
        left = np.ascontiguousarray((self.spread(v) @ self.W).T)
        product = np.empty(len(v))
        for first in range(0, len(v), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            product[part] = np.einsum("ek,ek->e", left[i[part]], self.W[j[part]])
        return np.asarray(self.field.times[self.free] * product + self.own * v)

    def preconditioner(self) -> Callable[[Array], Array]:
        """Return a cheap near-inverse: the free entries of ``P G P``, which would be exact if all entries were free.

        Entries that the penalty holds (a large diagonal of their own) are damped, so that they get one over it.
        """
        i, j = self.field.i[self.free], self.field.j[self.free]
        times = self.field.times[self.free]
        P = sp.csr_array(self.field.matrix(self.x))
        diagonal = P.diagonal()
        alone = (diagonal[i] * diagonal[j] + np.where(i != j, self.x[self.free] ** 2, 0.0)) / times
        damping = 1.0 / np.sqrt(1.0 + self.own * alone)

        def apply(residual: Array) -> Array:
            G = self.spread(damping * residual / times)
            return np.asarray(damping * (P @ (G @ P))[i, j])

        return apply


def _solved(H: _Curvature, g: Array) -> Array:
    """Return ``H⁻¹ g``: exactly for few unknowns, otherwise as accurately as Newton's method needs it."""
    return _by_cholesky(H.dense(), g) if len(g) <= MOST_DENSE else _by_gradients(H, g)


def _by_cholesky(H: Array, g: Array) -> Array:
    """Solve a system that is positive definite, up to rounding where objects nearly coincide."""
    H[np.diag_indices_from(H)] *= 1.0 + 1e-12
    return np.asarray(cho_solve(cho_factor(H, lower=True, overwrite_a=True, check_finite=False), g))


def _by_gradients(H: _Curvature, g: Array) -> Array:
    """Solve by preconditioned conjugate gradients; the step goes downhill even if they stop early."""
    near_inverse = H.preconditioner()
    x, residual = np.zeros(len(g)), g.copy()
    direction = ahead = near_inverse(residual)
    size = first = float(residual @ ahead)
    for _ in range(MOST_GRADIENTS):
        bent = H.times(direction)
        share = size / float(direction @ bent)
        x += share * direction
        residual -= share * bent
        ahead = near_inverse(residual)
        before, size = size, float(residual @ ahead)
        if size <= RESIDUAL**2 * first:
            break
        direction = ahead + size / before * direction
    return x
