"""How stable a map is: bootstrap and jackknife."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.stats import chi2, f, norm, t
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import name_object, quote, require_integer, require_number
from ..dissimilarities import Metric
from ..estimators import known_of, refit, stages_of
from ..kernels import MOST_SQUARED, each, rectangle
from ..problem import KnownFeatures, check_known
from ..solvers import LANDMARKS
from ._fits import Advance, FitSetup, in_order, make_setup, no_progress, quiet, read_data, warm_start
from ._inputs import axis_names, count_objects, read_in_parts
from ._residuals import make_residuals

if TYPE_CHECKING:
    import pandas as pd


SEEDS = 5  # fits of the stochastic solver besides the first, which say how far it ends from itself
NO_PLACES: Array = np.empty((0, 0))  # of a fit whose map is not looked at
RESAMPLED = 2000  # objects in each fit, where there are too many to fit all of them again


@dataclass(frozen=True)
class Stability:
    """How much a map and its coefficients vary.

    Attributes
    ----------
    objects : DataFrame
        For each object its point, and the half-axes (``major``, ``minor``) of its confidence ellipse; in one dimension
        the half-width of an interval.
    covariances : ndarray of shape (n_objects, n_components, n_components)
        Covariance of each object's point, a little enlarged so that the normal ellipse (as
        :func:`unmask.plotting.plot_map` draws it) has the nominal coverage although the variance is an estimate.
    coef : DataFrame
        ``estimate``, ``se``, ``low``, ``high`` of the coefficients, indexed by the two features.
    importance : DataFrame
        ``standardized``, ``se``, ``low``, ``high`` of the importance of each feature, for
        :func:`unmask.plotting.plot_importance`.
    level : float
        Nominal coverage.
    n_resamples : int
        Number of fits.
    sample : int
        Number of objects in each of these fits where all were too many; else 0.
    """

    objects: pd.DataFrame
    covariances: Array
    coef: pd.DataFrame
    importance: pd.DataFrame
    level: float
    n_resamples: int
    sample: int = 0


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

    New dissimilarities are the fitted distances plus the residuals of the fit, each in its place with a random sign
    (a wild bootstrap, which needs no assumption on how the noise depends on the distance), a little enlarged for the
    parameters that were fitted. Each set is fitted from the map itself and aligned with it by a rotation.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit. The lengths of the paths of ConditionalIsomap are taken as they are.
    X, known, weights
        As in the estimator's ``fit``.
    n_resamples : int, default=200
        Number of sets of dissimilarities.
    level : float, default=0.95
        Nominal coverage of ellipses and intervals.
    random_state : int, RandomState or None, default=0
        Seed.
    progress : callable, optional
        Called with how many resamples are done, and how many there are.

    Returns
    -------
    Stability
        The tables ``objects``, ``coef`` and ``importance``, and the array ``covariances``.

    Notes
    -----
    The ellipses show where the fit would put an object with other noise. They do not include other local minima or a
    wrong number of dimensions. In simulations with noise that does not grow with the distance, those of a nominal 95%
    held the truth in 92% of the cases (200 resamples); those of :meth:`unmask.ConditionalMDS.posterior` rest on a model
    of the noise. How much a map, an adjusted one above all, depends on which objects are in the data is shown by
    :func:`jackknife`.

    Above 20,000 objects, or 3,000 with ``solver="stochastic"``, objects are resampled instead. Each fit is of 2,000 of
    them, drawn without replacement; the spread of the coefficients, times the root of 2,000 / (N - 2,000), is that of a
    jackknife that leaves out all but 2,000 (Shao and Wu, Annals of Statistics 17, 1989). All objects are fitted with 5
    further seeds of the stochastic solver, whose spread is added. There are no ellipses then: ``covariances`` is empty.
    ConditionalIsomap and other transformers, which need all objects at once, are refused beyond 20,000.
    """
    require_integer("n_resamples", n_resamples, 2)
    _require_level(level)
    progress, rng = progress or no_progress, check_random_state(random_state)
    if _are_many(estimator, X):
        return _bootstrap_of_samples(estimator, X, known, weights, n_resamples, level, rng, progress)
    if getattr(estimator, "solver", "") == "stochastic":  # whose own noise is none of the data
        estimator = clone(estimator).set_params(solver="lbfgs")
    setup = make_setup("bootstrap", estimator, X, known, weights)
    with quiet():
        fitted = setup.fit()
        side, at_once = setup.decided(fitted).side_by_side()
        residuals, draws = make_residuals(setup, fitted), []
        resampled = partial(_draw_of_resampled, side, warm_start(fitted), fitted.embedding_)
        with closing(each(resampled, (residuals.wild(rng) for _ in range(n_resamples)), at_once)) as refits:
            for done in range(n_resamples):
                progress(done, n_resamples)
                draws.append(next(refits))
    return _stability(setup, fitted, draws, 1.0 / (n_resamples - 1), level)


def jackknife(estimator: Any, X: Any, known: Any = None, *, weights: Any = None, level: float = 0.95) -> Stability:
    """Return confidence ellipses and intervals by leaving out one object at a time.

    Each map of the others is fitted from the full map and aligned with it. This shows how much the map and the
    coefficients depend on which objects are in the data.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit. The lengths of the paths of ConditionalIsomap are taken as they are.
    X, known, weights
        As in the estimator's ``fit``.
    level : float, default=0.95
        Nominal coverage of ellipses and intervals.

    Returns
    -------
    Stability
        The tables ``objects``, ``coef`` and ``importance``, and the array ``covariances``.
    """
    _require_level(level)
    setup = make_setup("jackknife", estimator, X, known, weights, ", or use bootstrap, which resamples so many objects")
    with quiet():
        fitted = setup.fit()
        side, at_once = setup.decided(fitted).side_by_side()
        draws = list(each(partial(_draw_without, side, fitted, warm_start(fitted)), range(setup.n), at_once))
    return _stability(setup, fitted, draws, (setup.n - 1) / setup.n, level)


def _are_many(estimator: Any, X: Any) -> bool:
    """Return whether there are so many objects that only samples of them can be fitted again and again."""
    transformer, _ = stages_of(estimator)
    n = count_objects(X, ready=transformer is None)
    read_in_samples = transformer is None or isinstance(transformer, Metric)  # others look at all objects at once
    return n > MOST_SQUARED or (n > LANDMARKS and read_in_samples and getattr(estimator, "solver", "") == "stochastic")


def _bootstrap_of_samples(
    estimator: Any, X: Any, known: Any, weights: Any, n_resamples: int, level: float, rng: Any, progress: Advance
) -> Stability:
    """Return intervals of the coefficients from fits of samples of the objects."""
    if weights is not None:
        raise ValueError("an array of weights with so many objects; leave it out, or pass a sample of the objects.")
    X, known = read_data(estimator, X, known)
    transformer, fresh = stages_of(estimator)
    data, draws = read_in_parts(X, "precomputed" if transformer is None else transformer), []
    rare = f"a level so rare that {RESAMPLED:,} objects picked at random have none; join rare levels, or leave the"
    with quiet():
        fitted = clone(estimator).fit(X, known=known)
        start, no_table = warm_start(fitted), np.empty((data.n, 0))
        whole = FitSetup(fresh, no_table, data.labels, in_order(known, data.labels)).decided(fitted)
        for done in range(n_resamples):
            progress(done, n_resamples)
            at = np.sort(rng.permutation(data.n)[:RESAMPLED])
            part = whole.some(at, np.asarray(rectangle(data.source, at, at), dtype=np.float64))
            draws.append(_draw(_fit_of_some(part, fitted, start, at, f"{rare} feature out."), NO_PLACES))
        seeds = rng.randint(2**31 - 1, size=SEEDS) if getattr(fitted, "solver_", "").startswith("stochastic") else ()
        same = clone(estimator).set_params(adjust=whole.estimator.adjust)
        repeats = [
            _draw(refit(same.set_params(random_state=int(seed)), X, n_free=whole.n_free, known=known), NO_PLACES)
            for seed in seeds
        ]
    further: Any = (0.0, 0.0)
    if repeats:  # the variances between seeds, enlarged as Student's quantile is
        few = float(t.ppf((1 + level) / 2, len(repeats)) / norm.ppf((1 + level) / 2)) ** 2
        _, *sides = zip(_draw(fitted, NO_PLACES), *repeats, strict=True)
        further = [few * np.var(side, axis=0, ddof=1) for side in sides]
    factor = RESAMPLED / (data.n - RESAMPLED) / (n_resamples - 1)
    return replace(_stability(whole, fitted, draws, factor, level, further), sample=RESAMPLED)


def _require_level(level: Any) -> None:
    if not 0 < require_number("level", level, 0.0) < 1:
        raise ValueError(f"level={level!r} must be above 0 and below 1, for example 0.95.")


Draw = tuple[Array, Array, Array]


def _draw(fit: Any, U: Array) -> Draw:
    """Return what is kept of a fit: its aligned map, coefficients and importances."""
    return U, fit.coef_.to_numpy(), fit.importance_["standardized"].to_numpy()


def _draw_of_resampled(setup: FitSetup, start: tuple[Array, Any], target: Array, D: Array) -> Draw:
    """Return what is kept of a fit to other dissimilarities."""
    fit = setup.fit(D, start=start)
    return _draw(fit, _aligned(fit.embedding_, target))


def _draw_without(setup: FitSetup, fitted: Any, start: tuple[Array, Any], left_out: int) -> Draw:
    """Return what is kept of a fit without one object, whose place is NaN."""
    kept = np.delete(np.arange(setup.n), left_out)
    why = (
        f"a level, or varies, by {name_object(setup.labels, left_out)} alone, without which there is no coefficient to "
        "compare; join the level with another, leave the feature or the object out, or use bootstrap."
    )
    fit = _fit_of_some(setup.some(kept), fitted, start, kept, why)
    U = np.full(fitted.embedding_.shape, np.nan)
    U[kept] = _aligned(fit.embedding_, fitted.embedding_[kept])
    return _draw(fit, U)


def _fit_of_some(part: FitSetup, fitted: Any, start: tuple[Array, Any], at: IntArray, why: str) -> Any:
    """Return a fit of some of the objects; raise if a known feature loses columns, such as that of a rare level."""
    known = check_known(part.known, part.n, None, part.estimator.coef, types=part.estimator.known_types)
    before, after = (_columns(of) for of in (known_of(fitted), known))
    lost = [name for name in before if before[name] != after[name]]
    if lost:
        raise ValueError(f"known: {quote(lost)} has {why}")
    return part.fit(start=(start[0][at], start[1]))


def _columns(known: KnownFeatures) -> dict[str, int]:
    """Return how many columns of each feature are not redundant."""
    owners = [feature.name for feature in known.features for _ in feature.coding.suffixes]
    kept = [owners[column] for column in known.kept]
    return {feature.name: kept.count(feature.name) for feature in known.features}


def _aligned(U: Array, target: Array) -> Array:
    """Return a map turned and moved onto another as well as possible, without changing its size."""
    if U.shape[1] == 0:
        return np.asarray(U)
    centre, goal = U.mean(axis=0), target.mean(axis=0)
    turn, _ = orthogonal_procrustes(U - centre, target - goal)
    return np.asarray((U - centre) @ turn + goal)


def _stability(
    setup: FitSetup, fitted: Any, draws: list[Draw], factor: float, level: float, further: Any = (0.0, 0.0)
) -> Stability:
    """Return how much the draws vary; `factor` turns sums of squared deviations into variances.

    Variances of coefficients and importances from elsewhere, if there are any, are added.
    """
    import pandas as pd

    U, *others = (np.array(side) for side in zip(*draws, strict=True))
    deviations = np.nan_to_num(U - np.nanmean(U, axis=0))  # NaN where an object was left out
    covariances = np.asarray(factor * np.einsum("rni,rnj->nij", deviations, deviations))
    covariances *= _small_sample(setup.n, U.shape[2], level)
    coef_se, importance_se = (
        np.sqrt(factor * np.sum((x - x.mean(axis=0)) ** 2, axis=0) + more)
        for x, more in zip(others, further, strict=True)
    )
    coef, importance = fitted.coef_, fitted.importance_["standardized"]
    lower = np.tril_indices(len(coef))
    pairs = list(zip(coef.index[lower[0]], coef.columns[lower[1]], strict=True))
    index = pd.MultiIndex.from_tuples(pairs, names=["feature", "with"]) if pairs else pd.Index([], name="feature")
    features = importance.index.rename("feature")
    names, p = pd.RangeIndex(setup.n) if setup.labels is None else setup.labels, fitted.embedding_.shape[1]
    objects = pd.DataFrame(fitted.embedding_, index=names, columns=axis_names(p))
    if p and len(covariances):
        reach = np.sqrt(chi2.ppf(level, p) * np.maximum(np.linalg.eigvalsh(covariances), 0.0))
        objects["major"], objects["minor"] = reach[:, -1], reach[:, 0]
    return Stability(
        objects,
        covariances,
        _interval_table("estimate", coef.to_numpy()[lower], coef_se[lower], level, index),
        _interval_table("standardized", importance.to_numpy(), importance_se, level, features),
        float(level),
        len(draws),
    )


def _small_sample(n: int, p: int, level: float) -> float:
    """Return Hotelling's quantile over the normal one: an object's covariance rests on its n - 1 pairs, less p."""
    free = n - 1 - p
    if p == 0 or free <= p:
        return 1.0
    return float(p * free / (free - p + 1) * f.ppf(level, p, free - p + 1) / chi2.ppf(level, p))


def _interval_table(name: str, estimate: Array, error: Array, level: float, index: Any) -> pd.DataFrame:
    import pandas as pd

    reach = norm.ppf((1 + level) / 2) * error
    values = {name: estimate, "se": error, "low": estimate - reach, "high": estimate + reach}
    return pd.DataFrame(values, index=index)
