"""How much a map and its coefficients vary: by a bootstrap of the residuals, and by leaving out objects."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.stats import chi2, norm
from scipy.stats import f as f_distribution
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._typing import Array
from ..checking import name_object, quote, require_fraction, require_integer
from ..estimators import known_of
from ..problem import check_known
from ._fits import Advance, FitSetup, counted, counting, make_residuals, make_setup, warm_start
from ._inputs import axis_names, labels_or_numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Stability:
    """How much a map and its coefficients vary.

    Attributes
    ----------
    objects : DataFrame
        For each object its point, and the half-axes (``major``, ``minor``) of its confidence ellipse; in one dimension
        the half-width of an interval.
    covariances : ndarray of shape (n_objects, n_components, n_components)
        Covariance of each object's point, enlarged so that the normal ellipse of :func:`unmask.plotting.plot_map` has
        the nominal coverage although the variance is an estimate.
    coef : DataFrame
        ``estimate``, ``se``, ``low``, ``high`` of the coefficients, indexed by the two features.
    importance : DataFrame
        ``standardized``, ``se``, ``low``, ``high`` of the importance of each feature, for
        :func:`unmask.plotting.plot_importance`.
    level : float
        Nominal coverage.
    n_resamples : int
        Number of fits.
    """

    objects: pd.DataFrame
    covariances: Array
    coef: pd.DataFrame
    importance: pd.DataFrame
    level: float
    n_resamples: int


def bootstrap(
    estimator: Any,
    X: Any,
    known: Any = None,
    *,
    weights: Any = None,
    n_resamples: int = 200,
    level: float = 0.95,
    random_state: Any = 0,
    progress: Advance | None = None,
) -> Stability:
    """Return confidence ellipses of the objects and intervals of the coefficients by a bootstrap of the residuals.

    New dissimilarities are the fitted distances plus the residuals of the fit, each with a random sign (a wild
    bootstrap, which allows for noise of any variance), a little enlarged for the parameters that were fitted. Each set
    is fitted from the map and turned onto it.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit; the paths of ConditionalIsomap are not resampled.
    X, known, weights
        As in the estimator's ``fit``. More than 20,000 objects are refused.
    n_resamples : int, default=200
        Number of sets of dissimilarities.
    level : float, default=0.95
        Nominal coverage of ellipses and intervals.
    random_state : int, RandomState or None, default=0
        Seed.
    progress : callable, optional
        Called with the numbers of resamples done and to do; by default a bar appears after 3 s.

    Returns
    -------
    Stability

    Notes
    -----
    The ellipses show where the fit would put an object with other noise; other local minima and a wrong number of
    dimensions are not included. In simulations with noise that does not grow with the distance, nominal 95% ellipses
    held the truth in 92% of the cases. Every fit is exact, also with ``solver="stochastic"``.
    """
    require_integer("n_resamples", n_resamples, 2)
    require_fraction("level", level)
    rng = check_random_state(random_state)
    if getattr(estimator, "solver", "") == "stochastic":  # whose own noise is not that of the data
        estimator = clone(estimator).set_params(solver="lbfgs")
    setup = make_setup("bootstrap", estimator, X, known, weights)
    with counting("bootstrap", progress) as advance, warnings.catch_warnings(action="ignore"):
        fitted = setup.fit()
        residuals = make_residuals(setup, fitted)
        changed = (residuals.wild(rng) for _ in range(n_resamples))
        resampled = partial(_resampled, start=warm_start(fitted), target=fitted.embedding_)
        draws = counted(setup.decided(fitted).each(resampled, changed), n_resamples, advance)
    return _stability(setup, fitted, draws, 1.0 / (n_resamples - 1), level)


def jackknife(estimator: Any, X: Any, known: Any = None, *, weights: Any = None, level: float = 0.95) -> Stability:
    """Return confidence ellipses and intervals by leaving out one object at a time.

    Each map of the others is fitted from the full map and turned onto it. This shows how much the map and the
    coefficients depend on which objects are in the data.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit; the paths of ConditionalIsomap are computed once.
    X, known, weights
        As in the estimator's ``fit``.
    level : float, default=0.95
        Nominal coverage of ellipses and intervals.

    Returns
    -------
    Stability
    """
    require_fraction("level", level)
    setup = make_setup("jackknife", estimator, X, known, weights)
    with counting("jackknife", None) as advance, warnings.catch_warnings(action="ignore"):
        fitted = setup.fit()
        left_out = partial(_left_out, start=warm_start(fitted), fitted=fitted)
        draws = counted(setup.decided(fitted).each(left_out, range(setup.n)), setup.n, advance)
    return _stability(setup, fitted, draws, (setup.n - 1) / setup.n, level)


Draw = tuple[Array, Array, Array]  # the aligned map, coefficients and importances of a fit


def _draw(fit: Any, U: Array) -> Draw:
    return U, fit.coef_.to_numpy(), fit.importance_["standardized"].to_numpy()


def _resampled(setup: FitSetup, D: Array, start: tuple[Array, Any], target: Array) -> Draw:
    """Return the draw of a fit to other dissimilarities."""
    fit = setup.fit(D, start=start)
    return _draw(fit, _aligned(fit.embedding_, target))


def _left_out(setup: FitSetup, out: int, start: tuple[Array, Any], fitted: Any) -> Draw:
    """Return the draw of a fit without one object, whose place is NaN.

    Raise if a known feature loses columns, such as that of a level which only this object has.
    """
    kept = np.delete(np.arange(setup.n), out)
    part = setup.some(kept)
    known = check_known(part.known, part.n, None, part.estimator.coef, types=part.estimator.known_types)
    before, after = ({f.name: len(of.columns_of(f)) for f in of.features} for of in (known_of(fitted), known))
    lost = [name for name in before if before[name] != after[name]]
    if lost:
        raise ValueError(
            f"known: {quote(lost)} has a level, or varies, by {name_object(setup.labels, out)} alone, without which "
            "there is no coefficient to compare; join the level with another, leave the feature or the object out, or "
            "use bootstrap."
        )
    fit = part.fit(start=(start[0][kept], start[1]))
    U = np.full(fitted.embedding_.shape, np.nan)
    U[kept] = _aligned(fit.embedding_, fitted.embedding_[kept])
    return _draw(fit, U)


def _aligned(U: Array, target: Array) -> Array:
    """Return a map turned and moved onto another as well as possible, without changing its size."""
    if U.shape[1] == 0:
        return np.asarray(U)
    centre, goal = U.mean(axis=0), target.mean(axis=0)
    turn, _ = orthogonal_procrustes(U - centre, target - goal)
    return np.asarray((U - centre) @ turn + goal)


def _stability(setup: FitSetup, fitted: Any, draws: Sequence[Draw], factor: float, level: float) -> Stability:
    """Return how much the draws vary; ``factor`` turns sums of squared deviations into variances."""
    import pandas as pd

    U, *others = (np.array(side) for side in zip(*draws, strict=True))
    deviations = np.nan_to_num(U - np.nanmean(U, axis=0))  # NaN where an object was left out
    covariances = np.asarray(factor * np.einsum("rni,rnj->nij", deviations, deviations))
    p = U.shape[2]
    free = setup.n - 1 - p
    if p and free > p:  # Hotelling's quantile over the normal one: a covariance rests on n - 1 pairs, less p
        covariances *= p * free / (free - p + 1) * f_distribution.ppf(level, p, free - p + 1) / chi2.ppf(level, p)
    objects = pd.DataFrame(fitted.embedding_, index=labels_or_numbers(setup.labels, setup.n), columns=axis_names(p))
    if p:
        reach = np.sqrt(chi2.ppf(level, p) * np.maximum(np.linalg.eigvalsh(covariances), 0.0))
        objects["major"], objects["minor"] = reach[:, -1], reach[:, 0]

    def intervals(estimate: pd.Series, each: Array) -> pd.DataFrame:
        error = np.sqrt(factor * np.sum((each - each.mean(axis=0)) ** 2, axis=0))
        reach = norm.ppf((1 + level) / 2) * error
        return estimate.to_frame().assign(se=error, low=estimate - reach, high=estimate + reach)

    coef, lower = fitted.coef_, np.tril_indices(len(fitted.coef_))
    pairs = list(zip(coef.index[lower[0]], coef.columns[lower[1]], strict=True))
    index = pd.MultiIndex.from_tuples(pairs, names=["feature", "with"]) if pairs else pd.Index([], name="feature")
    coefficients = pd.Series(coef.to_numpy()[lower], index, name="estimate")
    return Stability(
        objects,
        covariances,
        intervals(coefficients, others[0][:, *lower]),
        intervals(fitted.importance_["standardized"].rename_axis("feature"), others[1]),
        float(level),
        len(draws),
    )
