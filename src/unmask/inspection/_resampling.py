"""How stable a map is: bootstrap and jackknife, aligned with the fit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.stats import chi2, f, norm
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import align_rows, is_pandas, name_object, quote, require_integer, require_number
from ..problem import check_known
from ._fits import Study, make_study, warm_start
from ._residuals import make_residuals

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

    Returns
    -------
    Stability
        The tables ``objects``, ``coef`` and ``importance``, and the array ``covariances``.

    Notes
    -----
    The ellipses are about where the fit would put an object with other noise. They know nothing of other local minima,
    and of the wrong number of dimensions. The objects are taken as given: what an adjusted map owes to which objects
    happen to be in the study, and with it most of the uncertainty of what acts along the map, is shown by
    :func:`jackknife`.
    """
    number = require_integer("n_resamples", n_resamples, 2)
    study = make_study(estimator, X, known, weights)
    rng = check_random_state(random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = _one_map(study.fit())
        study = study.decided(fitted)
        residuals = make_residuals(study, fitted)
        start = warm_start(fitted)
        fits = (study.fit(residuals.wild(rng), start=start) for _ in range(number))
        draws = list(_draws(fits, fitted))
    U, coef, importance = (np.array(side) for side in zip(*draws, strict=True))
    return _stability(study, fitted, _Spread(U, coef, importance, 1.0 / (number - 1)), _level(level), number)


def jackknife(estimator: Any, X: Any, known: Any = None, *, weights: Any = None, level: float = 0.95) -> Stability:
    """Return confidence ellipses and intervals by leaving out one object at a time.

    Each map of the others is fitted from the full map and aligned with it. What is measured is how much the map and the
    coefficients depend on which objects are in the study.

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
    study = make_study(estimator, X, known, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = _one_map(study.fit())
        study = study.decided(fitted)
        U0, B0 = warm_start(fitted)
        draws = [_without(study, fitted, U0, B0, left_out) for left_out in range(study.n)]
    U, coef, importance = (np.array(side) for side in zip(*draws, strict=True))
    spread = _Spread(U, coef, importance, (study.n - 1) / study.n)
    return _stability(study, fitted, spread, _level(level), study.n)


def _one_map(fitted: Any) -> Any:
    """Return a fit unless it mapped groups apart, which turn and move each for itself."""
    if hasattr(fitted, "component_"):
        raise ValueError(
            f"X falls into {fitted.component_.nunique()} groups that were mapped apart, each with axes of its own; "
            "pass one group at a time."
        )
    return fitted


def _level(level: float) -> float:
    if not 0 < require_number("level", level, 0.0) < 1:
        raise ValueError(f"level={level!r} must be above 0 and below 1, for example 0.95.")
    return float(level)


@dataclass(frozen=True)
class _Spread:
    """Aligned maps, coefficients and importances of all fits; NaN where an object was left out."""

    U: Array
    coef: Array
    importance: Array
    factor: float  # of the sum of squared deviations

    def covariances(self) -> Array:
        centred = np.nan_to_num(self.U - np.nanmean(self.U, axis=0))
        return np.asarray(self.factor * np.einsum("rni,rnj->nij", centred, centred))

    def errors(self, values: Array) -> Array:
        return np.asarray(np.sqrt(self.factor * np.sum((values - values.mean(axis=0)) ** 2, axis=0)))


def _draws(fits: Iterator[Any], fitted: Any) -> Iterator[tuple[Array, Array, Array]]:
    for fit in fits:
        yield (
            _aligned(fit.embedding_, fitted.embedding_),
            fit.coef_.to_numpy(),
            fit.importance_["standardized"].to_numpy(),
        )


def _aligned(U: Array, target: Array) -> Array:
    """Return a map turned and moved onto another as well as possible, at its own size."""
    if U.shape[1] == 0:
        return np.asarray(U)
    centre, goal = U.mean(axis=0), target.mean(axis=0)
    turn, _ = orthogonal_procrustes(U - centre, target - goal)
    return np.asarray((U - centre) @ turn + goal)


def _without(study: Study, fitted: Any, U0: Array, B0: Any, left_out: int) -> tuple[Array, Array, Array]:
    """Return the map, coefficients and importances without one object, whose place is NaN."""
    kept = np.delete(np.arange(study.n), left_out)
    part = Study(
        study.estimator,
        study.D[np.ix_(kept, kept)],
        None if study.labels is None else study.labels[kept],
        _rows(study, kept),
        None if study.weights is None else np.asarray(study.weights)[np.ix_(kept, kept)],
    )
    _require_same_columns(study, part, left_out)
    fit = part.fit(start=(U0[kept], B0))
    U = np.full(fitted.embedding_.shape, np.nan)
    U[kept] = _aligned(fit.embedding_, fitted.embedding_[kept])
    return U, fit.coef_.to_numpy(), fit.importance_["standardized"].to_numpy()


def _require_same_columns(study: Study, part: Study, left_out: int) -> None:
    """Raise if an object is the only one of its level, or all that makes a feature vary."""
    before, after = _columns(study), _columns(part)
    lost = [name for name in before if before[name] != after[name]]
    if lost:
        raise ValueError(
            f"known: {quote(lost)} has a level, or varies, by {name_object(study.labels, left_out)} alone, without "
            "which there is no coefficient to compare; join the level with another, leave the feature or the object "
            "out, or use bootstrap."
        )


def _columns(study: Study) -> dict[str, int]:
    """Return how many columns of each feature say something of their own."""
    known = check_known(study.known, study.n, study.labels, study.estimator.coef, types=study.estimator.known_types)
    owners = [feature.name for feature in known.features for _ in feature.coding.suffixes]
    kept = [owners[column] for column in known.kept]
    return {feature.name: kept.count(feature.name) for feature in known.features}


def _rows(study: Study, kept: IntArray) -> Any:
    if study.known is None:
        return None
    known = align_rows(study.known, study.labels, "known")
    return known.iloc[kept] if is_pandas(known) else np.asarray(known)[kept]


def _stability(study: Study, fitted: Any, spread: _Spread, level: float, number: int) -> Stability:
    import pandas as pd

    covariances = spread.covariances() * _small_sample(study.n, fitted.embedding_.shape[1], level)
    return Stability(
        _object_table(study, fitted, covariances, level),
        covariances,
        _interval_table(
            "estimate",
            fitted.coef_.to_numpy()[np.tril_indices(len(fitted.coef_))],
            spread.errors(spread.coef)[np.tril_indices(len(fitted.coef_))],
            level,
            pd.MultiIndex.from_tuples(
                [
                    (fitted.coef_.index[i], fitted.coef_.columns[j])
                    for i, j in zip(*np.tril_indices(len(fitted.coef_)), strict=True)
                ],
                names=["feature", "with"],
            )
            if len(fitted.coef_)
            else pd.Index([], name="feature"),
        ),
        _interval_table(
            "standardized",
            fitted.importance_["standardized"].to_numpy(),
            spread.errors(spread.importance),
            level,
            fitted.importance_.index.rename("feature"),
        ),
        level,
        number,
    )


def _small_sample(n: int, p: int, level: float) -> float:
    """Return Hotelling's quantile over the normal one: an object's covariance rests on its n - 1 pairs, less p."""
    free = n - 1 - p
    if p == 0 or free <= p:
        return 1.0
    return float(p * free / (free - p + 1) * f.ppf(level, p, free - p + 1) / chi2.ppf(level, p))


def _object_table(study: Study, fitted: Any, covariances: Array, level: float) -> pd.DataFrame:
    import pandas as pd

    p = covariances.shape[1]
    table = pd.DataFrame(fitted.embedding_, index=study.names(), columns=[f"axis{a + 1}" for a in range(p)])
    if p:
        reach = np.sqrt(chi2.ppf(level, p) * np.maximum(np.linalg.eigvalsh(covariances), 0.0))
        table["major"], table["minor"] = reach[:, -1], reach[:, 0]
    return table


def _interval_table(name: str, estimate: Array, error: Array, level: float, index: Any) -> pd.DataFrame:
    import pandas as pd

    reach = norm.ppf((1 + level) / 2) * error
    values = {name: estimate, "se": error, "low": estimate - reach, "high": estimate + reach}
    return pd.DataFrame(values, index=index)
