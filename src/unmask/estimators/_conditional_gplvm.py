"""The Gaussian-process latent variable model, given what is known."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from .._documentation import DocumentedMixin
from .._typing import Array
from ..checking import (
    UnfinishedWarning,
    known_by_name,
    labelled_frame,
    labels_of,
    object_names,
    refuse_target,
    require_choice,
    require_features,
    require_integer,
    require_number,
    warn_user,
    with_labels,
)
from ..dissimilarities import Geodesic
from ..kernels import OneBlasThread
from ..problem import KnownFeatures, check_known
from ..problem.leak import linear_leak
from ..solvers import Lbfgs, Point, Reason, Solution, canonical_map, minimise, principal_turn
from ._spectral_map import SpectralMap

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
    """A covariance of two places, as a function of the squared distance or of the product of their coordinates."""

    value: Any
    slope: Any  # its derivative
    of_products: bool = False


def _bell(r: Array) -> Array:
    return np.asarray(np.exp(-0.5 * r))


def _bell_slope(r: Array) -> Array:
    return -0.5 * _bell(r)


def _matern(r: Array) -> Array:
    length = np.sqrt(3.0 * r)
    return np.asarray((1.0 + length) * np.exp(-length))


def _matern_slope(r: Array) -> Array:
    return np.asarray(-1.5 * np.exp(-np.sqrt(3.0 * r)))


COVARIANCES = {
    "rbf": Covariance(_bell, _bell_slope),
    "matern": Covariance(_matern, _matern_slope),
    "linear": Covariance(np.asarray, np.ones_like, of_products=True),
}


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalGPLVM(DocumentedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A Gaussian process from the map and the known features to the data; the map is what the latter leave.

    Every column of the data is a draw from one Gaussian over the objects, with the covariance
    ``a k(u, u') + k_known(v, v') + b``, and noise on its diagonal. Coordinates ``u``, variances and the parameters of
    the known features' kernel maximise the likelihood together. The two kernels are added, so what a smooth function of
    the known features explains needs no room on the map. Without known features this is the GP-LVM, and with the linear
    kernel as well probabilistic principal components.

    Time grows with N cubed an iteration; at most 2,000 objects are taken. The likelihood has local maxima. The search
    begins with what a Gaussian process from the known features alone leaves of the data, at its principal components
    and at its Isomap; the likelier of the two after 30 iterations goes on.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    kernel : {"rbf", "matern", "linear"}, default="rbf"
        Covariance of the map: Gaussian, Matérn with one derivative, or linear. Its width is 1: the map grows or shrinks
        instead.
    known_kernel : scikit-learn kernel, optional
        Covariance of the known features (coded columns, standardised), whose free parameters are learned. By default a
        variance times a Gaussian with a width for each column, of more than ten with one for all.
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
        How far the map repeats what is known, and what chance makes of as many objects.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether the search ended by itself.
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

    __metadata_request__fit = {"known": True}
    __metadata_request__transform = {"known": True}

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

        p = self._check_parameters()
        refuse_target(y)
        require_features(X)
        X, known = known_by_name(labelled_frame(X), known, features=True)
        self._labels = labels_of(X)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=3)
        if len(X) > MOST_OBJECTS:
            raise ValueError(
                f"X holds {len(X)} objects, and ConditionalGPLVM, whose iterations cost their number cubed, takes at "
                f"most {MOST_OBJECTS}; map a sample and transform the others, or use ConditionalMDS."
            )
        self._known = _complete(check_known(known, len(X), self._labels, "diagonal", types=self.known_types))
        self._known.require_no_error(type(self).__name__)
        self._centre = X.mean(axis=0)
        with np.errstate(over="ignore"):
            self._unit = float(np.sqrt(np.mean((X - self._centre) ** 2)))
        if not SMALLEST < self._unit < 1.0 / SMALLEST:
            raise ValueError(
                f"the columns of X differ from their means by {self._unit:g} on average; a process needs data that "
                "vary, in a unit in which they do so by ordinary numbers."
            )
        likelihood = Likelihood(
            (X - self._centre) / self._unit, p, COVARIANCES[self.kernel], self._known.values, self._known_kernel()
        )
        with OneBlasThread():
            solution = self._search(likelihood, self._starts(likelihood, p))
        self._model = likelihood.fitted(solution.theta)
        self.embedding_ = self._model.U
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self.log_likelihood_ = -solution.value * likelihood.total - X.size * np.log(self._unit)
        self.known_kernel_ = self._model.known_kernel
        self.variances_ = pd.Series(self._model.shares, name="variance") * self._unit**2
        leak = linear_leak(self.embedding_, self._known.values)
        self.leak_, self.leak_reference_ = leak.leak, leak.reference
        if solution.reason is Reason.INTERRUPTED:
            warn_user(
                f"the fit was interrupted after {self.n_iter_} iterations; its map is the likeliest by then, and "
                "unfinished: fit again to have all of it.",
                UnfinishedWarning,
            )
        elif not self.converged_:
            warn_user(
                f"the search stopped after {self.n_iter_} iterations because {solution.reason}; give it more than "
                f"max_iter={self.max_iter}, or be content with a larger tol than {self.tol:g}.",
                ConvergenceWarning,
            )
        return self

    def fit_transform(self, X: Any, y: Any = None, *, known: Any = None) -> Array:  # type: ignore[override]
        """Find the map and return it; see :meth:`fit`."""
        labelled: Array = with_labels(self.fit(X, y, known=known), self.embedding_, self._labels)
        return labelled

    def transform(self, X: Any, *, known: Any = None) -> Array:
        """Place new objects where the process makes their data most likely; the map does not change.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Their data.
        known : array-like of shape (n_new, n_known), optional
            What is known about them; needed when the map was fitted with known features.

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
        V = self._known.of_new(known, len(X), labels)
        Y = (X - self._centre) / self._unit
        placed: Array = np.array([self._model.place(row, v) for row, v in zip(Y, V, strict=True)])
        labelled: Array = with_labels(self, placed.reshape(len(X), -1), labels)
        return labelled

    @property
    def object_names_(self) -> Any:
        """Labels of the objects in the order of the map's rows, as an array; their numbers if they had none."""
        check_is_fitted(self)
        return object_names(self._labels, len(self.embedding_))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def _check_parameters(self) -> int:
        from sklearn.gaussian_process.kernels import Kernel

        require_choice("kernel", self.kernel, tuple(COVARIANCES))
        require_integer("max_iter", self.max_iter, 1)
        require_number("tol", self.tol, 0.0)
        if self.known_kernel is not None and not isinstance(self.known_kernel, Kernel):
            raise ValueError(
                f"known_kernel={self.known_kernel!r} is not a kernel of sklearn.gaussian_process.kernels; use one, "
                "such as ConstantKernel() * RBF()."
            )
        return require_integer("n_components", self.n_components, 1)

    def _known_kernel(self) -> Any:
        """Return the kernel of the known features, unfitted; None where nothing is known."""
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel

        q = self._known.n_kept
        if not q:
            return None
        if self.known_kernel is None:
            return ConstantKernel() * RBF(np.ones(q) if q <= MOST_WIDTHS else 1.0)
        try:
            self.known_kernel(self._known.values[:2])
        except ValueError as refused:
            raise ValueError(
                f"known_kernel={self.known_kernel!r} does not take the {q} coded columns of known ({refused}); give it "
                f"one parameter for all, or {q}."
            ) from None
        return self.known_kernel

    def _search(self, likelihood: Likelihood, starts: list[Array]) -> Solution:
        """Follow every start for a while, and the likeliest to its end; all its iterations count."""
        limit = int(self.max_iter)
        begun: list[Solution] = []
        for start in starts:
            begun.append(self._follow(likelihood, start, min(EARLY, limit) if len(starts) > 1 else limit))
            if begun[-1].reason is Reason.INTERRUPTED:
                return begun[-1]
        best = min(begun, key=lambda one: one.value)
        if best.reason is not Reason.MAX_ITER or best.n_iter == limit:
            return best
        last = self._follow(likelihood, best.theta, limit - best.n_iter)
        return replace(last, path=(*best.path, *last.path[1:]))

    def _follow(self, likelihood: Likelihood, theta: Array, most: int) -> Solution:
        try:
            return minimise(likelihood, theta, Lbfgs(len(theta), 1.0, halvings=30), tol=float(self.tol), max_iter=most)
        except FloatingPointError:
            raise ValueError(
                "the covariance of the data cannot be factorised where the search begins; pass a smaller init, or "
                "another known_kernel."
            ) from None

    def _starts(self, likelihood: Likelihood, p: int) -> list[Array]:
        """Return where the search begins: at the map that was given, or at two maps of what is not known."""
        n = len(likelihood.Y)
        if p >= n:
            raise ValueError(f"n_components={p} but there are n_samples={n} objects; use at most {n - 1}.")
        if not isinstance(self.init, str):
            U = np.asarray(self.init, dtype=np.float64)
            if U.shape != (n, p) or not np.isfinite(U).all():
                raise ValueError(f"init has shape {U.shape}; it must be {(n, p)}, of finite numbers, or 'auto'.")
            return [likelihood.pack(U)]
        require_choice("init", self.init, ("auto",))
        rest, known_kernel = likelihood.without_known()
        unrolled = SpectralMap(Geodesic(min(NEIGHBOURS, n - 1), on_disconnected="join"), p)
        # As many components as the data have; further axes begin at nothing, and a little noise lets them grow.
        straight = 1e-3 * np.random.default_rng(0).standard_normal((n, p))
        components = PCA(min(p, *rest.shape), svd_solver="full").fit_transform(rest)
        straight[:, : components.shape[1]] += components
        maps = [straight] if self.kernel == "linear" else [straight, unrolled.fit_transform(rest)]
        return [likelihood.pack(U / max(float(U.std(axis=0).max()), 1e-300), known_kernel) for U in maps]


def _complete(known: KnownFeatures) -> KnownFeatures:
    for feature in known.features:
        if len(feature.missing):
            raise ValueError(
                f"known has {len(feature.missing)} missing cells in column {feature.name!r}, which a Gaussian process "
                "cannot do without; fill them, or use ConditionalMDS, which estimates them."
            )
    return known


class Covariances(NamedTuple):
    """The parts of the covariance at a place in parameter space, and its factor."""

    U: Array
    variances: Array  # of map, bias and noise
    between: Array  # squared distances on the map, or products
    of_map: Array  # without its variance
    of_known: Any  # and its derivatives by the kernel's own parameters
    slopes: Any
    factor: Array


class Likelihood:
    """The negative log-likelihood of data as a function of a map, three variances and a kernel's own parameters."""

    def __init__(self, Y: Array, p: int, covariance: Covariance, V: Array, known_kernel: Any) -> None:
        self.Y, self.p, self.covariance, self.V, self.known_kernel = Y, p, covariance, V, known_kernel
        self.total = float(Y.size)
        own = np.zeros((0, 2)) if known_kernel is None else np.asarray(known_kernel.bounds).reshape(-1, 2)
        self._bounds = np.vstack([np.tile([LEAST_LOG, MOST_LOG], (3, 1)), own])

    def pack(self, U: Array, known_kernel: Any = None) -> Array:
        """Return parameters for a map, with variances to begin with, and those of the known features' kernel."""
        kernel = self.known_kernel if known_kernel is None else known_kernel
        return np.concatenate([U.ravel(), START, np.zeros(0) if kernel is None else kernel.theta])

    def without_known(self) -> tuple[Array, Any]:
        """Return what a process from the known features alone leaves of the data, and its kernel."""
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import WhiteKernel

        if self.known_kernel is None:
            return self.Y, None
        with warnings.catch_warnings():  # it is only a start: parameters at their bounds do no harm
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                process = GaussianProcessRegressor(self.known_kernel + WhiteKernel()).fit(self.V, self.Y)
            except np.linalg.LinAlgError:
                raise ValueError(
                    f"known_kernel={self.known_kernel!r} has no positive covariances for what is known; use another."
                ) from None
        return self.Y - process.predict(self.V).reshape(self.Y.shape), process.kernel_.k1

    def parts(self, theta: Array) -> Covariances:
        """Return the covariance; raises LinAlgError where it cannot be factorised."""
        n, p = len(self.Y), self.p
        U = theta[: n * p].reshape(n, p)
        logs = np.clip(theta[n * p :], *self._bounds.T)
        variances = np.exp(logs[:3])
        between = U @ U.T if self.covariance.of_products else cdist(U, U, "sqeuclidean")
        of_map = self.covariance.value(between)
        K = variances[0] * of_map + variances[1]
        of_known = slopes = None
        if self.known_kernel is not None:
            of_known, slopes = self.known_kernel.clone_with_theta(logs[3:])(self.V, eval_gradient=True)
            K += of_known
        K[np.diag_indices(n)] += variances[2]
        factor = cho_factor(K, lower=True, check_finite=False)[0]
        return Covariances(U, variances, between, of_map, of_known, slopes, factor)

    def __call__(self, theta: Array) -> Point:
        """Return value and half the derivative; with G = d(-log-likelihood)/dK the rest are sums of G times dK."""
        n, p = len(self.Y), self.p
        try:
            at = self.parts(theta)
        except np.linalg.LinAlgError:  # a step beyond rounding, from which the search turns back
            return Point(theta, np.inf, np.zeros_like(theta))
        outputs = self.Y.shape[1]
        alpha = cho_solve((at.factor, True), self.Y, check_finite=False)
        inverse = dpotri(at.factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        log_determinant = 2.0 * np.sum(np.log(np.diagonal(at.factor)))
        value = 0.5 * (np.sum(alpha * self.Y) + outputs * (log_determinant + n * np.log(2 * np.pi)))
        G = 0.5 * (outputs * inverse - alpha @ alpha.T)
        pulls = at.variances[0] * G * self.covariance.slope(at.between)
        in_map = 2.0 * pulls @ at.U
        if not self.covariance.of_products:
            in_map = 4.0 * pulls.sum(axis=1)[:, None] * at.U - 2.0 * in_map
        in_logs = at.variances * [np.sum(G * at.of_map), np.sum(G), np.trace(G)]
        if at.slopes is not None:
            in_logs = np.concatenate([in_logs, np.einsum("ij,ijk->k", G, at.slopes)])
        # Beyond a bound nothing changes.
        logs = theta[n * p :]
        in_logs = np.where((logs < self._bounds[:, 0]) | (logs > self._bounds[:, 1]), 0.0, in_logs)
        return Point(theta, float(value), 0.5 * np.concatenate([in_map.ravel(), in_logs]))

    def fitted(self, theta: Array) -> Fitted:
        """Return the process at these parameters, with the map in principal axes."""
        at, kernel = self.parts(theta), self.known_kernel
        if kernel is not None:
            own = theta[len(self.Y) * self.p + 3 :]
            kernel = kernel.clone_with_theta(np.clip(own, *self._bounds[3:].T))
        U = at.U @ principal_turn(at.U) if self.covariance.of_products else canonical_map(at.U)
        alpha = cho_solve((at.factor, True), self.Y, check_finite=False)
        of_map, bias, noise = (float(variance) for variance in at.variances)
        shares = {
            "map": of_map * float(np.mean(np.diagonal(at.of_map))),
            "known": 0.0 if at.of_known is None else float(np.mean(np.diagonal(at.of_known))),
            "bias": bias,
            "noise": noise,
        }
        return Fitted(self.Y, self.V, U, at.variances, shares, self.covariance, kernel, at.factor, alpha)


@dataclass(frozen=True)
class Fitted:
    """A fitted process: what it accounts for, and where it places new objects."""

    Y: Array
    V: Array
    U: Array
    variances: Array  # of map, bias and noise
    shares: dict[str, float]  # mean variance of an object's data that each part accounts for
    covariance: Covariance
    known_kernel: Any
    factor: Array
    alpha: Array

    def place(self, y: Array, v: Array) -> Array:
        """Return the place at which a new object's data are most likely."""
        far = np.sum((self.Y - y) ** 2, axis=1)
        same = np.flatnonzero((far == 0.0) & (v == self.V).all(axis=1))
        if len(same):  # where it is, itself is among its neighbours, which moves the likeliest place a little
            return np.asarray(self.U[same[0]])
        nearest = np.argsort(far, kind="stable")[:STARTS_OF_NEW]
        to_known = np.zeros(len(self.Y)) if self.known_kernel is None else self.known_kernel(v[None], self.V)[0]
        own_known = 0.0 if self.known_kernel is None else float(self.known_kernel.diag(v[None])[0])
        found = [
            minimize(self._cost, self.U[i], args=(y, to_known, own_known), jac=True, method="L-BFGS-B") for i in nearest
        ]
        return np.asarray(min(found, key=lambda one: one.fun).x)

    def _cost(self, u: Array, y: Array, to_known: Array, own_known: float) -> tuple[float, Array]:
        """Return the negative log-likelihood of data at a place, and its derivative."""
        of_map, bias, noise = self.variances
        products = self.covariance.of_products
        differences = u - self.U
        between = self.U @ u if products else np.sum(differences**2, axis=1)
        k = of_map * self.covariance.value(between) + to_known + bias
        own = np.array(u @ u if products else 0.0)
        solved = cho_solve((self.factor, True), k, check_finite=False)
        mean = k @ self.alpha
        # What is left of the process's own variance is not negative, but for rounding.
        variance = max(float(of_map * self.covariance.value(own) + own_known + bias + noise - k @ solved), noise)
        squares = float(np.sum((y - mean) ** 2))
        value = 0.5 * (len(y) * np.log(variance) + squares / variance)
        by_variance = 0.5 * (len(y) / variance - squares / variance**2)
        by_k = -(self.alpha @ (y - mean)) / variance - 2.0 * by_variance * solved
        pulls = by_k * of_map * self.covariance.slope(between)
        gradient = pulls @ self.U + 2.0 * by_variance * of_map * u if products else 2.0 * pulls @ differences
        return value, np.asarray(gradient)
