"""How stable a map is: bootstrap and jackknife."""

from __future__ import annotations

import warnings
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
from ..checking import align_rows, is_pandas, name_object, quote, require_integer, require_number
from ..dissimilarities import Metric
from ..estimators import refit, stages_of
from ..kernels import MOST_SQUARED, each
from ..problem import check_known
from ..solvers import LANDMARKS
from ._fits import Advance, FitSetup, make_setup, nobody, read_data, warm_start
from ._inputs import SomeDissimilarities, axis_names, count_objects, read_in_parts
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
        Covariance of each object's point, a little enlarged so that the usual normal ellipse (that is what
        :func:`unmask.plotting.plot_map` draws) has the nominal coverage although the variance is itself estimated from
        no more than the object's own pairs.
    coef : DataFrame
        ``estimate``, ``se``, ``low``, ``high`` of the coefficients, indexed by the two features.
    importance : DataFrame
        ``standardized``, ``se``, ``low``, ``high`` of the importance of each feature: what
        :func:`unmask.plotting.plot_importance` draws with intervals.
    level : float
        Nominal coverage.
    n_resamples : int
        Number of fits.
    sample : int
        Objects in each of these fits, where all were too many; else 0.
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
        How to fit. Of ConditionalIsomap the lengths of its paths are taken as they are.
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
    The ellipses are about where the fit would put an object with other noise. They know nothing of other local minima,
    and of the wrong number of dimensions. In simulations with noise that does not grow with the distance, those of a
    nominal 95% held the truth in 92% of the cases (200 resamples); :meth:`unmask.ConditionalMDS.posterior` has others,
    which rest on a model of the noise. The objects are taken as given: what an adjusted map owes to which objects
    happen to be in the data, and with it most of the uncertainty of what acts along the map, is shown by
    :func:`jackknife`.

    Of more than 20,000 objects, or with ``solver="stochastic"`` of more than 3,000, no dissimilarities are made anew.
    The objects are resampled instead: each fit is of 2,000 of them, drawn without replacement (``sample``), and the
    spread of the coefficients among these fits, times the root of 2,000 / (N - 2,000), says how much they depend on
    which objects are in the data (a jackknife that leaves out all but 2,000; Shao and Wu, Annals of Statistics 17,
    1989). ConditionalIsomap and other transformers, which look at all objects at once, are fitted exactly up to 20,000
    objects and refused beyond. The stochastic solver comes to slightly other coefficients with every seed: all objects
    are fitted with 5 further seeds, and the standard errors count both. The objects then have no ellipses:
    ``covariances`` is empty.
    """
    require_integer("n_resamples", n_resamples, 2)
    _require_level(level)
    if are_many(estimator, X):
        rng = check_random_state(random_state)
        return many_objects(estimator, X, known, weights, n_resamples, level, rng, progress or nobody)
    if getattr(estimator, "solver", "") == "stochastic":  # whose own noise is none of the data
        estimator = clone(estimator).set_params(solver="lbfgs")
    setup = make_setup("bootstrap", estimator, X, known, weights)
    rng = check_random_state(random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        setup, fitted = _first_fit(setup)
        residuals = make_residuals(setup, fitted)
        start = warm_start(fitted)
        setup, at_once = setup.side_by_side()
        drawn, draws = (residuals.wild(rng) for _ in range(n_resamples)), []
        with closing(each(partial(_resampled, setup, start, fitted.embedding_), drawn, at_once)) as refits:
            for done in range(n_resamples):
                (progress or nobody)(done, n_resamples)
                draws.append(next(refits))
    return _stability(setup, fitted, draws, 1.0 / (n_resamples - 1), level)


def jackknife(estimator: Any, X: Any, known: Any = None, *, weights: Any = None, level: float = 0.95) -> Stability:
    """Return confidence ellipses and intervals by leaving out one object at a time.

    Each map of the others is fitted from the full map and aligned with it. What is measured is how much the map and the
    coefficients depend on which objects are in the data.

    Parameters
    ----------
    estimator : ConditionalMDS, ConditionalIsomap or ConditionalClassicalMDS
        How to fit. Of ConditionalIsomap the lengths of its paths are taken as they are.
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        setup, fitted = _first_fit(setup)
        start = warm_start(fitted)
        setup, at_once = setup.side_by_side()
        draws = list(each(partial(_without, setup, fitted, start), range(setup.n), at_once))
    return _stability(setup, fitted, draws, (setup.n - 1) / setup.n, level)


def are_many(estimator: Any, X: Any) -> bool:
    """Tell whether there are so many objects that only samples of them can be fitted again and again."""
    transformer, _ = stages_of(estimator)
    n = count_objects(X, ready=transformer is None)
    read_in_samples = transformer is None or isinstance(transformer, Metric)  # others look at all objects at once
    return n > MOST_SQUARED or (n > LANDMARKS and read_in_samples and getattr(estimator, "solver", "") == "stochastic")


def many_objects(
    estimator: Any, X: Any, known: Any, weights: Any, n_resamples: int, level: float, rng: Any, progress: Advance
) -> Stability:
    """Return intervals of the coefficients from fits of samples of the objects."""
    if weights is not None:
        raise ValueError("an array of weights with so many objects; leave it out, or pass a sample of the objects.")
    X, known = read_data(estimator, X, known)
    transformer, fresh = stages_of(estimator)
    data, size = read_in_parts(X, "precomputed" if transformer is None else transformer), RESAMPLED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(estimator).fit(X, known=known)
        start = warm_start(fitted)
        whole = FitSetup(fresh, np.empty((data.n, 0)), data.labels, known).decided(fitted)
        draws = []
        for done in range(n_resamples):
            progress(done, n_resamples)
            draws.append(_sampled_draw(whole, data, start, np.sort(rng.permutation(data.n)[:size])))
        seeds = rng.randint(2**31 - 1, size=SEEDS) if getattr(fitted, "solver_", "").startswith("stochastic") else ()
        repeats = [_draw(_again(whole, estimator, X, seed), NO_PLACES) for seed in seeds]
    factor = size / (data.n - size) / (n_resamples - 1)
    further = _spread_of_seeds([_draw(fitted, NO_PLACES), *repeats], level) if repeats else (0.0, 0.0)
    return replace(_stability(whole, fitted, draws, factor, level, further), sample=size)


def _again(whole: FitSetup, estimator: Any, X: Any, seed: int) -> Any:
    """Return a fit of all objects with another seed, and with what the first one decided."""
    fresh = clone(estimator).set_params(random_state=int(seed), adjust=whole.estimator.adjust)
    return refit(fresh, X, n_free=whole.n_free, known=whole.known)


def _spread_of_seeds(draws: list[Draw], level: float) -> tuple[Array, Array]:
    """Return the variances of coefficients and importances between seeds, enlarged as Student's quantile is."""
    few = float(t.ppf((1 + level) / 2, len(draws) - 1) / norm.ppf((1 + level) / 2)) ** 2
    _, coef, importance = (few * np.var(side, axis=0, ddof=1) for side in zip(*draws, strict=True))
    return coef, importance


def _sampled_draw(whole: FitSetup, data: SomeDissimilarities, start: tuple[Array, Any], at: IntArray) -> Draw:
    """Return coefficients and importances of a fit of some objects, without their places."""
    D, labels = np.asarray(data.among(at), dtype=np.float64), None if data.labels is None else data.labels[at]
    part = replace(whole, D=D, labels=labels, known=_rows(whole, at))
    lost = _lost_columns(whole, part)
    if lost:
        raise ValueError(
            f"known: {quote(lost)} has a level so rare that {len(at):,} objects picked at random have none; join rare "
            "levels, or leave the feature out."
        )
    return _draw(part.fit(start=(start[0][at], start[1])), NO_PLACES)


def _require_level(level: Any) -> None:
    if not 0 < require_number("level", level, 0.0) < 1:
        raise ValueError(f"level={level!r} must be above 0 and below 1, for example 0.95.")


def _first_fit(setup: FitSetup) -> tuple[FitSetup, Any]:
    """Return the setup with what a fit of all data decided, and the fit."""
    fitted = setup.fit()
    return setup.decided(fitted), fitted


Draw = tuple[Array, Array, Array]


def _draw(fit: Any, U: Array) -> Draw:
    """Return what is kept of a fit: its aligned map, coefficients and importances."""
    return U, fit.coef_.to_numpy(), fit.importance_["standardized"].to_numpy()


def _resampled(setup: FitSetup, start: tuple[Array, Any], target: Array, D: Array) -> Draw:
    """Return what is kept of a fit to other dissimilarities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = setup.fit(D, start=start)
    return _draw(fit, _aligned(fit.embedding_, target))


def _aligned(U: Array, target: Array) -> Array:
    """Return a map turned and moved onto another as well as possible, without changing its size."""
    if U.shape[1] == 0:
        return np.asarray(U)
    centre, goal = U.mean(axis=0), target.mean(axis=0)
    turn, _ = orthogonal_procrustes(U - centre, target - goal)
    return np.asarray((U - centre) @ turn + goal)


def _without(setup: FitSetup, fitted: Any, start: tuple[Array, Any], left_out: int) -> Draw:
    """Return the map, coefficients and importances without one object, whose place is NaN."""
    kept = np.delete(np.arange(setup.n), left_out)
    part = replace(
        setup,
        D=setup.D[np.ix_(kept, kept)],
        labels=None if setup.labels is None else setup.labels[kept],
        known=_rows(setup, kept),
        weights=None if setup.weights is None else np.asarray(setup.weights)[np.ix_(kept, kept)],
    )
    _require_same_columns(setup, part, left_out)
    fit = part.fit(start=(start[0][kept], start[1]))
    U = np.full(fitted.embedding_.shape, np.nan)
    U[kept] = _aligned(fit.embedding_, fitted.embedding_[kept])
    return _draw(fit, U)


def _require_same_columns(setup: FitSetup, part: FitSetup, left_out: int) -> None:
    """Raise if a known feature loses columns without an object, such as the only one of its level."""
    lost = _lost_columns(setup, part)
    if lost:
        raise ValueError(
            f"known: {quote(lost)} has a level, or varies, by {name_object(setup.labels, left_out)} alone, without "
            "which there is no coefficient to compare; join the level with another, leave the feature or the object "
            "out, or use bootstrap."
        )


def _lost_columns(setup: FitSetup, part: FitSetup) -> list[str]:
    """Return the known features that have fewer columns in a part of the objects."""
    before, after = _columns(setup), _columns(part)
    return [name for name in before if before[name] != after[name]]


def _columns(setup: FitSetup) -> dict[str, int]:
    """Return how many columns of each feature are not redundant."""
    known = check_known(setup.known, setup.n, setup.labels, setup.estimator.coef, types=setup.estimator.known_types)
    owners = [feature.name for feature in known.features for _ in feature.coding.suffixes]
    kept = [owners[column] for column in known.kept]
    return {feature.name: kept.count(feature.name) for feature in known.features}


def _rows(setup: FitSetup, kept: IntArray) -> Any:
    if setup.known is None:
        return None
    known = align_rows(setup.known, setup.labels, "known")
    return known.iloc[kept] if is_pandas(known) else np.asarray(known)[kept]


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
    return Stability(
        _object_table(setup, fitted, covariances, level),
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


def _object_table(setup: FitSetup, fitted: Any, covariances: Array, level: float) -> pd.DataFrame:
    import pandas as pd

    p = fitted.embedding_.shape[1]
    table = pd.DataFrame(fitted.embedding_, index=setup.names(), columns=axis_names(p))
    if p and len(covariances):
        reach = np.sqrt(chi2.ppf(level, p) * np.maximum(np.linalg.eigvalsh(covariances), 0.0))
        table["major"], table["minor"] = reach[:, -1], reach[:, 0]
    return table


def _interval_table(name: str, estimate: Array, error: Array, level: float, index: Any) -> pd.DataFrame:
    import pandas as pd

    reach = norm.ppf((1 + level) / 2) * error
    values = {name: estimate, "se": error, "low": estimate - reach, "high": estimate + reach}
    return pd.DataFrame(values, index=index)
