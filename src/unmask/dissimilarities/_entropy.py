"""Maximum entropy unfolding: the Gaussian field of largest entropy that bounds the distances of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array, IntArray
from ..checking import warn_user
from ..kernels import OneBlasThread
from ..progress import current_watch
from ._spectral import (
    SpectralDissimilarity,
    Unfolding,
    edges,
    lower_inverse,
    mirrored,
    raised,
)

# Share added to the diagonal of the second derivatives, which become singular where the multipliers have no finite
# optimum. Without it 150 points of a bent sheet in three columns end with squared distances that are wrong by 6%.
DAMPING = 1e-12
# Newton's step is halved at most so often; costs that differ by less than this share are equal.
MOST_HALVINGS, ROUNDING = 60, 1e-9


@dataclass(eq=False, repr=False, kw_only=True)
class MaximumEntropyUnfolding(SpectralDissimilarity):
    """Unfold by the distribution of largest entropy that bounds the expected squared distances of neighbours.

    That distribution is a Gaussian field whose precision is the Laplacian L of the neighbourhood graph, with one
    weight per edge. The weights maximise ``log det(L + 11'/N) - sum_e weight_e d_e``, a concave function, where d_e are
    the squared lengths of the edges. By default weights are at least 0, and distances of neighbours are upper bounds:
    the squared dissimilarity of two neighbours equals that of the data where the edge has a weight, and is often much
    smaller where the weight is 0. With ``constraints="equal"`` weights may be negative, and every distance of
    neighbours is kept. Duplicates have no finite weight: a squared length below 1e-8 of the median is replaced by 1e-3
    of it, with a warning.

    Time grows with N cubed (some tens of Cholesky decompositions), memory with N squared; with ``constraints="equal"``
    with the number of edges cubed, and squared.

    Parameters
    ----------
    constraints : {"upper", "equal"}, default="upper"
        Whether distances of neighbours are upper bounds or are kept. With fewer than N - 1 columns, kept distances may
        leave no field of full rank. The weights then have no finite optimum and grow until `tol` is met; all other
        distances depend on `tol`. Fewer neighbours avoid this.
    gamma : float, default=0.0
        Precision of the base density, in units of 1 / squared dissimilarity. With 0 the base is flat; above 0 objects
        are drawn towards the origin, and the precision is ``L + gamma I``.
    max_iter : int, default=500
        Largest number of iterations: L-BFGS for ``"upper"``, Newton's method for ``"equal"``.
    tol : float, default=1e-3
        Largest relative error of the squared dissimilarities of neighbours; a tenth of it for ``"equal"``.
    n_neighbors, graph, metric, metric_params, on_disconnected
        As in :class:`LaplacianEigenmaps`.

    Attributes
    ----------
    dissimilarities_, precision_, covariance_ : ndarray of shape (n_objects, n_objects)
        In the unit of the data. The precision is the weighted Laplacian, for the sum of all p columns of the data
        (multiply by p for a single column), the covariance its pseudo-inverse.
    multipliers_ : ndarray of shape (n_edges,)
        Weights of the edges, in the order of the upper triangle of `graph_` by rows.
    objective_ : float
        ``log det(L + 11'/N) - sum_e weight_e d_e`` at the optimum.
    n_iter_, converged_ : int, bool
        Number of iterations, and whether the optimality conditions were met.
    graph_
        As in :class:`LaplacianEigenmaps`.

    References
    ----------
    N. D. Lawrence, "A unifying probabilistic perspective for spectral dimensionality reduction", JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import MaximumEntropyUnfolding
    >>> line = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> D = MaximumEntropyUnfolding(n_neighbors=2).fit_transform(line)
    >>> D[[0, 1, 0], [1, 2, 2]].round(2)  # 1, 2 and 3 apart on the line, or less
    array([1.  , 2.  , 2.24])
    >>> D = MaximumEntropyUnfolding(n_neighbors=2, constraints="equal").fit_transform(line)
    >>> D[[0, 1, 0], [1, 2, 2]].round(2)
    array([1., 2., 3.])
    """

    constraints: str = "upper"
    gamma: float = 0.0
    max_iter: int = 500
    tol: float = 1e-3

    _RULES = SpectralDissimilarity._RULES | {"constraints": ("upper", "equal"), "gamma": 0.0, "max_iter": 1, "tol": 0.0}

    def _solve(self, squared: Array) -> Unfolding:
        i, j = edges(self.graph_)
        dual = _Dual(i, j, raised(squared[i, j]), len(squared), float(self.gamma))
        current_watch().begin("unfolding", 1)
        with OneBlasThread():
            x, self.n_iter_, self.converged_ = (self._bounded if self.constraints == "upper" else self._equal)(dual)
            K, L, objective = dual.solution(x)
        self.multipliers_ = x * dual.start
        if not self.converged_:
            warn_user(
                f"MaximumEntropyUnfolding stopped after {self.n_iter_} iterations before tol={self.tol:g} was reached; "
                "raise max_iter or tol, or take fewer neighbours.",
                ConvergenceWarning,
            )
        return Unfolding(K, L, objective)

    def _bounded(self, dual: _Dual) -> tuple[Array, int, bool]:
        """Return the optimal multipliers of at least 0, the iterations and whether they converged."""
        done = 0

        def report(intermediate_result: OptimizeResult) -> None:
            nonlocal done
            done += 1
            if current_watch().step("unfolding", done, intermediate_result.fun, int(self.max_iter)):
                raise StopIteration

        options = {"maxiter": self.max_iter, "maxfun": 20 * self.max_iter, "ftol": 0.0, "gtol": self.tol * dual.unit}
        start, bounds = np.ones(len(dual.lengths)), [(0.0, None)] * len(dual.lengths)
        found = minimize(dual.cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=report)
        return np.asarray(found.x), int(found.nit), bool(found.success)

    def _equal(self, dual: _Dual) -> tuple[Array, int, bool]:
        """Return the optimal multipliers of any sign, by Newton's method."""
        x: Array = np.ones(len(dual.lengths))
        cost, slope = dual.cost(x)
        for done in range(self.max_iter + 1):
            converged = bool(np.max(np.abs(slope)) <= 0.1 * self.tol * dual.unit)
            stopped = done > 0 and current_watch().step("unfolding", done, cost, int(self.max_iter))
            if converged or stopped or done == self.max_iter:
                break
            try:
                x, cost, slope = dual.newton(x, cost, slope)
            except np.linalg.LinAlgError:
                break
        return x, done, converged


@dataclass(frozen=True)
class _Dual:
    """The concave dual problem; its unknowns x are multiples of `start`, the optimum if all edges count equally."""

    i: IntArray
    j: IntArray
    lengths: Array  # squared
    n: int
    gamma: float

    @property
    def unit(self) -> float:
        """Derivative by x of an edge whose squared dissimilarity is wrong by its own size."""
        return (self.n - 1) / len(self.lengths)

    @property
    def start(self) -> Array:
        """Return multipliers with ``sum_e weight_e d_e = N - 1``, as at the optimum; also the unit of each."""
        return np.asarray(self.unit / self.lengths)

    def precision(self, x: Array) -> Array:
        """Return the weighted Laplacian plus gamma on the diagonal."""
        L = np.zeros((self.n, self.n))
        L[self.i, self.j] = L[self.j, self.i] = -x * self.start
        L[np.diag_indices(self.n)] = self.gamma - L.sum(axis=1)
        return L

    def inverse(self, x: Array) -> tuple[Array, float, float]:
        """Return the lower triangle of the covariance but for a constant, that constant, and log det of the precision.

        The constant vector has the eigenvalue gamma, often 0. It is raised to the size of the others, so that nothing
        is lost to rounding; this changes every entry of the inverse by the same amount.
        """
        L = self.precision(x)
        size = float(np.trace(L)) / self.n
        K, log_determinant = lower_inverse(L + size / self.n)
        inverse, own = (1.0 / self.gamma, np.log(self.gamma)) if self.gamma else (0.0, 0.0)
        constant = (inverse - 1.0 / (self.gamma + size)) / self.n
        return K, constant, float(log_determinant - np.log(self.gamma + size) + own)

    def solution(self, x: Array) -> tuple[Array, Array, float]:
        """Return covariance, precision and objective."""
        lower, constant, log_determinant = self.inverse(x)
        return mirrored(lower) + constant, self.precision(x), log_determinant - float((x * self.start) @ self.lengths)

    def cost(self, x: Array) -> tuple[float, Array]:
        """Return minus the dual and its derivatives ``(d_e - r_e) start_e``, r_e the squared dissimilarities."""
        try:
            K, _, log_determinant = self.inverse(x)
        except np.linalg.LinAlgError:  # too many weights are 0 and the graph falls apart; L-BFGS shortens the step
            return 1e300, np.zeros(len(x))
        own = np.diagonal(K)
        squared = own[self.i] + own[self.j] - 2.0 * K[self.j, self.i]
        return float((x * self.start) @ self.lengths) - log_determinant, (self.lengths - squared) * self.start

    def newton(self, x: Array, cost: float, slope: Array) -> tuple[Array, float, Array]:
        """Return x after one step of Newton's method, with its cost and derivatives.

        The second derivatives are the squares of ``R_ef = b_e' K b_f`` (times start_e start_f), b_e being 1 and -1 at
        the ends of edge e.
        """
        K = mirrored(self.inverse(x)[0])
        across = K[self.i] - K[self.j]
        H = (across[:, self.i] - across[:, self.j]) ** 2 * np.outer(self.start, self.start)
        H[np.diag_indices_from(H)] *= 1.0 + DAMPING
        step = cho_solve(cho_factor(H, overwrite_a=True, check_finite=False), slope, check_finite=False)
        for size in 0.5 ** np.arange(MOST_HALVINGS):
            value, steepness = self.cost(x - size * step)
            if value <= cost + ROUNDING * abs(cost):
                return x - size * step, value, steepness
        raise np.linalg.LinAlgError("no step of Newton's method lowers the cost")
