"""The Gaussian-process latent variable model, given known features."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Array
from ..checking import (
    known_by_name,
    labelled_frame,
    labels_of,
    refuse_target,
    require_choice,
    require_features,
    require_integer,
    require_number,
    with_labels,
)
from ..dissimilarities import Geodesic
from ..kernels import OneBlasThread
from ..problem import KnownFeatures, check_known
from ..problem.leak import linear_leak
from ..solvers import Lbfgs, Point, Reason, Solution, canonical_map, minimise, principal_turn
from ._base import MapEstimator
from ._fit import warn_unfinished
from ._spectral_map import SpectralMap

if TYPE_CHECKING:
    import pandas as pd

MOST_OBJECTS = 2000
# Logarithms of variances lie within these: far beyond what data in units near 1 need, and a Cholesky factor bears it.
LEAST_LOG, MOST_LOG = -18.0, 18.0
# Variances of map, bias and noise at the start, for data whose mean square is 1.
START = np.log([0.5, 0.01, 0.2])
# Known columns that have a width each by default: their derivatives take as many tables of N x N numbers.
MOST_WIDTHS = 10
SMALLEST = 1e-100  # spread of data; squares of smaller and larger ones are no numbers
# Iterations after which the likelier of two starts goes on alone, and the neighbours of the one that is an Isomap.
EARLY, NEIGHBOURS = 30, 8
# New objects are placed from the places of so many fitted ones that are most like them.
STARTS_OF_NEW = 3


class Covariance(NamedTuple):
    """A covariance of two places, as a function of their squared distance or, if linear, of their inner product.

    Kernels of scikit-learn have no derivative by the places; the known features, which do not move, have such a kernel.
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    linear: bool = False

    def between(self, U: Array, others: Array) -> Array:
        """Return what the covariance is a function of."""
        return np.asarray(U @ others.T) if self.linear else cdist(U, others, "sqeuclidean")

    def pull(self, G: Array, between: Array, U: Array, others: Array) -> Array:
        """Return the derivative by U of the sum of G times the covariances with others, which stay."""
        P = G * self.slope(between)
        return np.asarray(P @ others if self.linear else 2.0 * (P.sum(axis=1)[:, None] * U - P @ others))


COVARIANCES = {
    "rbf": Covariance(lambda r: np.exp(-0.5 * r), lambda r: -0.5 * np.exp(-0.5 * r)),
    "matern": Covariance(
        lambda r: (1.0 + np.sqrt(3.0 * r)) * np.exp(-np.sqrt(3.0 * r)), lambda r: -1.5 * np.exp(-np.sqrt(3.0 * r))
    ),
    # Ornstein and Uhlenbeck's has no derivative at 0, where it does not matter: no place moves away from itself.
    "exponential": Covariance(
        lambda r: np.exp(-np.sqrt(r)),
        lambda r: np.where(r > 0, -0.5 * np.exp(-np.sqrt(r)) / np.sqrt(np.where(r > 0, r, 1.0)), 0.0),
    ),
    "linear": Covariance(np.asarray, np.ones_like, linear=True),
}


class Process:
    """A Gaussian process: the negative log-likelihood of data as a function of a map and the logarithms of variances.

    The parameters are the map, three variances, and those of the known features' kernel (None without any). Data are
    centred and divided by their root mean square.
    """

    def __init__(self, X: Array, p: int, kernel: str, V: Array, known_kernel: Any) -> None:
        self.p, self.kernel, self.V, self.known_kernel = p, kernel, V, known_kernel
        self.centre, self.total = X.mean(axis=0), float(X.size)
        with np.errstate(over="ignore"):
            self.unit = float(np.sqrt(np.mean((X - self.centre) ** 2)))
        if not SMALLEST < self.unit < 1.0 / SMALLEST:
            raise ValueError(
                f"the columns of X differ from their means by {self.unit:g} on average; a process needs data that "
                "vary, in a unit in which they do so by ordinary numbers."
            )
        self.Y = (X - self.centre) / self.unit
        own = np.zeros((0, 2)) if known_kernel is None else np.asarray(known_kernel.bounds).reshape(-1, 2)
        self.bounds = np.vstack([np.tile([LEAST_LOG, MOST_LOG], (3, 1)), own])

    @property
    def covariance(self) -> Covariance:
        """The covariance of the map, which has no pickle of its own."""
        return COVARIANCES[self.kernel]

    def pack(self, U: Array, known_kernel: Any = None) -> Array:
        """Return parameters for a map, with variances to begin with, and those of the known features' kernel."""
        kernel = self.known_kernel if known_kernel is None else known_kernel
        return np.concatenate([U.ravel(), START, np.zeros(0) if kernel is None else kernel.theta])

    def unpack(self, theta: Array) -> tuple[Array, Array, Any]:
        """Return the map, its variances, and the known features' kernel, each within its bounds."""
        size = len(self.Y) * self.p
        logs = np.clip(theta[size:], *self.bounds.T)
        kernel = self.known_kernel if self.known_kernel is None else self.known_kernel.clone_with_theta(logs[3:])
        return theta[:size].reshape(-1, self.p), np.exp(logs[:3]), kernel

    def starts(self, init: Any) -> list[Array]:
        """Return where a search begins: at the map that was given, or at two maps of what the known features leave."""
        n, p = len(self.Y), self.p
        if not isinstance(init, str):
            U = np.asarray(init, dtype=np.float64)
            if U.shape != (n, p) or not np.isfinite(U).all():
                raise ValueError(f"init has shape {U.shape}; it must be {(n, p)}, of finite numbers, or 'auto'.")
            return [self.pack(U)]
        rest, known_kernel = self.Y, None
        if self.known_kernel is not None:
            from sklearn.gaussian_process import GaussianProcessRegressor
            from sklearn.gaussian_process.kernels import WhiteKernel

            with warnings.catch_warnings():  # it is only a start: parameters at their bounds do no harm
                warnings.simplefilter("ignore", ConvergenceWarning)
                known = GaussianProcessRegressor(self.known_kernel + WhiteKernel()).fit(self.V, self.Y)
            rest, known_kernel = self.Y - known.predict(self.V).reshape(self.Y.shape), known.kernel_.k1
        # As many components as the data have; further axes begin at nothing, and a little noise lets them grow.
        straight = 1e-3 * np.random.default_rng(0).standard_normal((n, p))
        components = PCA(min(p, *rest.shape), svd_solver="full").fit_transform(rest)
        straight[:, : components.shape[1]] += components
        maps: list[Any] = [straight]
        if not self.covariance.linear:
            maps.append(SpectralMap(Geodesic(min(NEIGHBOURS, n - 1), on_disconnected="join"), p).fit_transform(rest))
        return [self.pack(U / max(float(U.std(axis=0).max()), 1e-300), known_kernel) for U in maps]

    def __call__(self, theta: Array) -> Point:
        """Return value and half the derivative; with G = d(-log-likelihood)/dK the rest are sums of G times dK."""
        n, outputs = self.Y.shape
        (U, variances, kernel), covariance = self.unpack(theta), self.covariance
        between = covariance.between(U, U)
        of_map = covariance.value(between)
        K, slopes = variances[0] * of_map + variances[1], np.zeros((n, n, 0))
        if kernel is not None:
            of_known, slopes = kernel(self.V, eval_gradient=True)
            K += of_known
        K[np.diag_indices(n)] += variances[2]
        try:
            factor = cho_factor(K, lower=True, check_finite=False)[0]
        except np.linalg.LinAlgError:  # a step beyond rounding, from which the search turns back
            return Point(theta, np.inf, np.zeros_like(theta))
        alpha = cho_solve((factor, True), self.Y, check_finite=False)
        inverse = dpotri(factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        log_determinant = 2.0 * np.sum(np.log(np.diagonal(factor)))
        value = 0.5 * (np.sum(alpha * self.Y) + outputs * (log_determinant + n * np.log(2 * np.pi)))
        G = 0.5 * (outputs * inverse - alpha @ alpha.T)
        in_map = 2.0 * covariance.pull(variances[0] * G, between, U, U)
        in_logs = variances * [np.sum(G * of_map), np.sum(G), np.trace(G)]
        in_logs = np.concatenate([in_logs, np.einsum("ij,ijk->k", G, slopes)])
        logs = theta[U.size :]  # beyond a bound nothing changes
        in_logs = np.where((logs < self.bounds[:, 0]) | (logs > self.bounds[:, 1]), 0.0, in_logs)
        return Point(theta, float(value), 0.5 * np.concatenate([in_map.ravel(), in_logs]))


class FittedProcess:
    """A process at fixed parameters: the map in principal axes, variances, and where it places new objects."""

    def __init__(self, process: Process, theta: Array, labels: pd.Index | None, known: KnownFeatures) -> None:
        self.process, self.labels, self.known = process, labels, known
        U, self.variances, self.known_kernel = process.unpack(theta)  # variances of map, bias and noise
        between = process.covariance.between(U, U)
        K = self.variances[0] * process.covariance.value(between) + self.variances[1]
        K[np.diag_indices(len(U))] += self.variances[2]
        if self.known_kernel is not None:
            K += self.known_kernel(process.V)
        self.factor = cho_factor(K, lower=True, check_finite=False)[0]
        self.alpha = cho_solve((self.factor, True), process.Y, check_finite=False)
        self.U = U @ principal_turn(U) if process.covariance.linear else canonical_map(U)

    def shares(self) -> dict[str, float]:
        """Return the mean variance of an object's data that each part accounts for, in the data's units."""
        unit = self.process.unit**2
        of_map, bias, noise = self.variances * unit
        own = np.sum(self.U**2, axis=1) if self.process.covariance.linear else np.zeros(1)
        of_known = 0.0 if self.known_kernel is None else unit * np.mean(self.known_kernel.diag(self.process.V))
        of_map *= np.mean(self.process.covariance.value(own))
        return {"map": float(of_map), "known": float(of_known), "bias": float(bias), "noise": float(noise)}

    def place(self, y: Array, v: Array) -> Array:
        """Return the place at which a new object's data are most likely."""
        far = np.sum((self.process.Y - y) ** 2, axis=1)
        same = np.flatnonzero((far == 0.0) & (v == self.process.V).all(axis=1))
        if len(same):  # among its own neighbours, which would move the likeliest place a little
            return np.asarray(self.U[same[0]])
        to_known, own_known = np.zeros(len(far)), 0.0
        if self.known_kernel is not None:
            to_known, own_known = self.known_kernel(v[None], self.process.V)[0], self.known_kernel.diag(v[None])[0]
        args = y, to_known, own_known
        nearest = np.argsort(far, kind="stable")[:STARTS_OF_NEW]
        found = [minimize(self.cost, self.U[i], args=args, jac=True, method="L-BFGS-B") for i in nearest]
        return np.asarray(min(found, key=lambda one: one.fun).x)

    def cost(self, u: Array, y: Array, to_known: Array, own_known: float) -> tuple[float, Array]:
        """Return the negative log-likelihood of data at a place, and its derivative."""
        (of_map, bias, noise), covariance = self.variances, self.process.covariance
        between, own = covariance.between(u[None], self.U), covariance.between(u[None], u[None])[0]
        k = of_map * covariance.value(between[0]) + to_known + bias
        solved = cho_solve((self.factor, True), k, check_finite=False)
        mean = k @ self.alpha
        # What is left of the process's own variance is not negative, but for rounding.
        variance = max(float(of_map * covariance.value(own)[0] + own_known + bias + noise - k @ solved), noise)
        squares = float(np.sum((y - mean) ** 2))
        value = 0.5 * (len(y) * np.log(variance) + squares / variance)
        by_variance = 0.5 * (len(y) / variance - squares / variance**2)
        by_k = -(self.alpha @ (y - mean)) / variance - 2.0 * by_variance * solved
        slope = covariance.pull(of_map * by_k[None], between, u[None], self.U)[0]
        return value, slope + 2.0 * by_variance * of_map * u if covariance.linear else slope


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalGPLVM(MapEstimator):
    """A Gaussian process from the map and the known features to the data; the map is what the latter leave.

    Every column of the data is a draw from one Gaussian over the objects, with the covariance
    ``a k(u, u') + k_known(v, v') + b``, and noise on its diagonal. Coordinates ``u``, variances and the parameters of
    the known features' kernel maximise the likelihood together. Without known features this is the GP-LVM, and with the
    linear kernel as well probabilistic principal components.

    Time grows with N cubed an iteration; at most 2,000 objects are taken. The likelihood has local maxima. The search
    begins with what a Gaussian process from the known features alone leaves of the data, at its principal components
    and at its Isomap; the likelier of the two after 30 iterations goes on.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    kernel : {"rbf", "matern", "exponential", "linear"}, default="rbf"
        Covariance of the map: Gaussian, Matérn with one derivative, exponential (Ornstein-Uhlenbeck), or linear. Its
        width is 1: the map scales instead.
    known_kernel : scikit-learn kernel, optional
        Covariance of the known features (coded columns, standardised), whose free parameters are learned. By default a
        variance times a Gaussian with a width for each column, or one width for more than ten.
    known_types : dict, optional
        Types of known features, as in :class:`ConditionalMDS`.
    init : {"auto"} or array-like of shape (n_objects, n_components), default="auto"
        Where the search begins.
    max_iter : int, default=1000
        Most iterations.
    tol : float, default=1e-5
        Stop when the log-likelihood rises by less than this per number of the data, three times in a row.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map, in principal axes, in units of the kernel's width.
    log_likelihood_ : float
        Of the data, their columns centred: what :func:`unmask.inspection.gplvm_score` is for a given map.
    variances_ : Series
        Mean variance of the data that ``map``, ``known``, ``bias`` and ``noise`` account for, in the data's units.
    known_kernel_ : scikit-learn kernel or None
        With its learned parameters, for data divided by their root mean square.
    leak_, leak_reference_ : float
        How far the map repeats the known features, and what chance makes of as many objects.
    n_iter_, converged_ : int, bool
        Iterations, and whether the search ended by itself.
    object_names_ : ndarray of shape (n_objects,)
        Labels of the objects; their numbers if they had none.

    References
    ----------
    N. D. Lawrence, "Probabilistic non-linear principal component analysis with Gaussian process latent variable
    models", Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask import ConditionalGPLVM
    >>> rng = np.random.default_rng(0)
    >>> known, unknown = rng.uniform(-2, 2, size=(2, 50))
    >>> Y = 3 * np.sin(known[:, None] + np.arange(4)) + np.cos(unknown[:, None] - np.arange(4))
    >>> gplvm = ConditionalGPLVM(1).fit(Y + 0.05 * rng.normal(size=Y.shape), known=known[:, None])
    >>> bool(gplvm.variances_["known"] > gplvm.variances_["map"] > gplvm.variances_["noise"])
    True
    """

    __metadata_request__fit = __metadata_request__transform = {"known": True}

    n_components: int = field(default=2, kw_only=False)
    kernel: str = "rbf"
    known_kernel: Any = None
    known_types: dict[Any, Any] | None = None
    init: Any = "auto"
    max_iter: int = 1000
    tol: float = 1e-5

    def fit(self, X: Any, y: Any = None, *, known: Any = None) -> Self:
        """Find the map, the variances and the parameters of the known features' kernel.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The data, in one unit or standardised: all columns share one covariance. None may be missing.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), or list of str, optional
            Known features, one row per object; names of columns of a DataFrame `X`, which then leave it.

        Returns
        -------
        self : ConditionalGPLVM
        """
        import pandas as pd
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel

        p = require_integer("n_components", self.n_components, 1)
        require_choice("kernel", self.kernel, tuple(COVARIANCES))
        require_integer("max_iter", self.max_iter, 1)
        require_number("tol", self.tol, 0.0)
        if isinstance(self.init, str):
            require_choice("init", self.init, ("auto",))
        if self.known_kernel is not None and not isinstance(self.known_kernel, Kernel):
            raise ValueError(
                f"known_kernel={self.known_kernel!r} is not a kernel of sklearn.gaussian_process.kernels; use one, "
                "such as ConstantKernel() * RBF()."
            )
        refuse_target(y)
        require_features(X)
        X, known = known_by_name(labelled_frame(X), known, features=True)
        labels = labels_of(X)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=3)
        n = len(X)
        if n > MOST_OBJECTS:
            raise ValueError(
                f"X holds {n} objects, and ConditionalGPLVM, whose iterations cost their number cubed, takes at most "
                f"{MOST_OBJECTS}; map a sample and transform the others, or use ConditionalMDS."
            )
        if p >= n:
            raise ValueError(f"n_components={p} but there are n_samples={n} objects; use at most {n - 1}.")
        coded = check_known(known, n, labels, "diagonal", types=self.known_types)
        coded.require_no_error(type(self).__name__)
        for feature in coded.features:
            if len(feature.missing):
                raise ValueError(
                    f"known has {len(feature.missing)} missing cells in column {feature.name!r}, which a Gaussian "
                    "process cannot do without; fill them, or use ConditionalMDS, which estimates them."
                )
        kernel, q = None, coded.n_kept
        if q:
            kernel = self.known_kernel or ConstantKernel() * RBF(np.ones(q) if q <= MOST_WIDTHS else 1.0)
        process = Process(X, p, self.kernel, coded.values, kernel)
        with OneBlasThread():
            solution = self._search(process)
        self._map = FittedProcess(process, solution.theta, labels, coded)
        self.embedding_, self.known_kernel_ = self._map.U, self._map.known_kernel
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self.log_likelihood_ = -solution.value * process.total - X.size * np.log(process.unit)
        self.variances_ = pd.Series(self._map.shares(), name="variance")
        leak = linear_leak(self.embedding_, coded.values)
        self.leak_, self.leak_reference_ = leak.leak, leak.reference
        warn_unfinished(self, [solution], solution)
        return self

    def transform(self, X: Any, *, known: Any = None) -> Array:
        """Place new objects where the process makes their data most likely; the map does not change.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Their data.
        known : array-like of shape (n_new, n_known), optional
            Known features; needed when the map was fitted with known features.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Each is sought from the places of the three fitted objects whose data are most like its own. A fitted object
            returns to its place.
        """
        check_is_fitted(self)
        X, known = known_by_name(labelled_frame(X), known, features=True)
        labels = labels_of(X)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        process, V = self._map.process, self._map.known.of_new(known, len(X), labels)
        Y = (X - process.centre) / process.unit
        placed = np.array([self._map.place(row, v) for row, v in zip(Y, V, strict=True)])
        labelled: Array = with_labels(self, placed.reshape(len(X), -1), labels)
        return labelled

    def _search(self, process: Process) -> Solution:
        """Follow every start for a while, and the likeliest to its end; all its iterations count."""
        limit, starts = int(self.max_iter), process.starts(self.init)
        ends: list[Solution] = []

        def follow(theta: Array, most: int) -> Solution:
            rule = Lbfgs(len(theta), 1.0, halvings=30)
            return minimise(process, theta, rule, tol=float(self.tol), max_iter=most)

        try:
            for start in starts:
                ends.append(follow(start, min(EARLY, limit) if len(starts) > 1 else limit))
                if ends[-1].reason is Reason.INTERRUPTED:
                    return ends[-1]
            best = min(ends, key=lambda end: end.value)
            if best.reason is not Reason.MAX_ITER or best.n_iter == limit:
                return best
            last = follow(best.theta, limit - best.n_iter)
            return replace(last, path=(*best.path, *last.path[1:]))
        except FloatingPointError:
            raise ValueError(
                "the covariance of the data cannot be factorised where the search begins; pass a smaller init, or "
                "another known_kernel."
            ) from None
