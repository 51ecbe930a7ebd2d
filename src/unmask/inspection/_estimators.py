"""Which measurement level, which estimator? By predicting dissimilarities that the fit did not see."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._typing import Array, IntArray
from ..checking import quote, require_choice, require_integer, require_number
from ..estimators import ConditionalMDS, refuse_many, refuse_posterior
from ..problem import held_out_pairs
from ._fits import FEW_STARTS, Advance, FitSetup, agreed, make_setup, nobody, warm_start

if TYPE_CHECKING:
    import pandas as pd

# From the least freedom to the most: of two that predict as well, the first is chosen.
BY_FREEDOM = ("ratio", "interval", "spline", "ordinal")
# Up to so many objects posteriors are drawn without being asked for, each a matter of seconds.
DRAWN_UNASKED = 60


class Way:
    """A way to estimate a map; a further one is a subclass, and a line in the table below."""

    name: str
    levels: tuple[str, ...] = BY_FREEDOM

    def why_not(self, estimator: Any, n: int) -> str:  # noqa: ARG002
        """Say why it cannot be had for an estimator of so many objects; nothing if it can."""
        return ""

    def why_not_unasked(self, n: int) -> str:  # noqa: ARG002
        """Say why it is not taken unless it is asked for."""
        return ""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        """Return the parameters with which an estimator goes this way."""
        raise NotImplementedError

    def distances(self, setup: FitSetup, level: str, start: Any, D: Array) -> Array:
        """Return what a fit to some of the pairs, the others NaN, says of the distances of all."""
        parameters = {"level": level, **self.parameters(setup.estimator)}
        fitted = setup.fit_from([start], FEW_STARTS, agreed, D, **parameters)
        return np.asarray(fitted.predict_dissimilarities(), dtype=np.float64)


def _without_draws(estimator: Any) -> dict[str, str]:
    """Return what says that a fit is to end with a minimum, to an estimator that could report a posterior."""
    return {"estimate": "least_squares"} if "estimate" in estimator.get_params(deep=False) else {}


class LeastSquares(Way):
    """The minimum of the stress."""

    name = "least squares"

    def parameters(self, estimator: Any) -> dict[str, Any]:
        return {**_without_draws(estimator), "ridge": 0.0}


class RidgeRegression(Way):
    """The minimum of the stress and a ridge: of the strength asked for, or chosen anew by pairs within each fit."""

    name = "ridge"

    def parameters(self, estimator: Any) -> dict[str, Any]:
        return {**_without_draws(estimator), "ridge": estimator.ridge or "heldout"}


class PosteriorMean(Way):
    """The mean over all maps that may have made the data; its distances are posterior means too."""

    name = "posterior"
    levels = ("ratio", "interval")  # an order of pairs has no likelihood

    def why_not(self, estimator: Any, n: int) -> str:
        if not find_spec("nutpie"):
            return "it needs the package 'nutpie': pip install 'unmask[posterior]'"
        try:
            refuse_many(n)
            refuse_posterior(clone(estimator).set_params(level="ratio", ridge=0.0))
        except ValueError as refused:
            return str(refused)
        return ""

    def why_not_unasked(self, n: int) -> str:
        return "" if n <= DRAWN_UNASKED else f"it takes long for {n} objects; name it in estimators= to have it"

    def parameters(self, estimator: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"ridge": 0.0, "estimate": "posterior"}

    def distances(self, setup: FitSetup, level: str, start: Any, D: Array) -> Array:
        parameters = {"level": level, **WAYS["least squares"].parameters(setup.estimator)}
        fitted = setup.fit_from([start], FEW_STARTS, agreed, D, **parameters)
        return np.asarray(squareform(fitted.posterior().predict_dissimilarities()["distance"].to_numpy()))


WAYS: dict[str, Way] = {way.name: way for way in (LeastSquares(), RidgeRegression(), PosteriorMean())}


def choose_estimator(
    estimator: Any,
    X: Any,
    known: Any = None,
    *,
    weights: Any = None,
    levels: Sequence[str] | None = None,
    estimators: Iterable[str] | None = None,
    share: float = 0.2,
    n_splits: int = 5,
    random_state: Any = 0,
    progress: Advance | None = None,
) -> pd.DataFrame:
    """Compare measurement levels and estimators by how well they predict dissimilarities that they did not see.

    A random share of the pairs is treated as missing, the same for all, several times over. Distances of different
    levels have different units, and those of a ridge are smaller; so the pairs that were fitted say which dissimilarity
    a distance stands for, by the increasing function that suits them best (isotonic regression), whatever the level.
    What is compared is then the error of the held-out dissimilarities themselves, in one unit, and a map is not
    rewarded for its scale nor for the shape of its transformation. (The inverse of each level's own transformation
    would be the other way; where that is flat, its inverse is wild, and the error of a spline is that of its ends.)

    The choice is the one with the least freedom whose error is above the lowest by no more than the standard error of
    the difference: levels in the order ratio, interval, spline, ordinal, and within a level least squares first.

    Parameters
    ----------
    estimator : ConditionalMDS or ConditionalIsomap
        How to fit; its `level` and `ridge` are varied. If it has a ridge of some strength, that one is compared, and
        otherwise ``"heldout"``.
    X, known, weights
        As in the estimator's ``fit``.
    levels : sequence of str, optional
        Which levels; by default all, or with a scheme of weights ratio alone.
    estimators : iterable of str, optional
        Which ways to estimate: ``"least squares"``, ``"ridge"``, ``"posterior"`` (ratio and interval levels only; needs
        ``unmask[posterior]``, and takes by far the longest). By default all that can be had, the posterior of at most
        60 objects; ``attrs["left_out"]`` says what was not, and why.
    share : float, default=0.2
        Share of the pairs that is held out at a time. No object loses all of its pairs.
    n_splits : int, default=5
        Number of times; up to ``1 / share`` the held-out sets are disjoint.
    random_state : int, RandomState or None, default=0
        Seed of the splits.
    progress : callable, optional
        Called with how many fits are done, and how many there will be.

    Returns
    -------
    DataFrame indexed by ``level`` and ``estimator``
        ``heldout``: mean squared error of held-out dissimilarities, as a share of their mean square, and its standard
        error ``heldout_se``; ``above``: by how much it is above the lowest, split by split, and its standard error
        ``above_se``. ``attrs`` has what was ``chosen`` (level and estimator), the ``parameters`` that say so to
        ``estimator.set_params``, and a ``recommendation`` in words. Drawn by
        :func:`unmask.plotting.plot_estimators`.

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import choose_estimator
    >>> kin = load_kinship()
    >>> mds = ConditionalMDS(metric="precomputed", n_init=4, random_state=0)
    >>> ways = ["least squares", "ridge"]
    >>> table = choose_estimator(
    ...     mds, kin.dissimilarities, kin.known[["gender"]], levels=["ratio"], estimators=ways, n_splits=2
    ... )
    >>> table.index.tolist()
    [('ratio', 'least squares'), ('ratio', 'ridge')]
    """
    if not isinstance(estimator, ConditionalMDS):
        raise ValueError(
            f"estimator is of type {type(estimator).__name__}, which has no measurement levels; pass a ConditionalMDS "
            "or a ConditionalIsomap."
        )
    fraction = require_number("share", share, 0.0)
    if not 0 < fraction < 1:
        raise ValueError(f"share={share!r} must be above 0 and below 1: the share of the pairs that is held out.")
    splits = require_integer("n_splits", n_splits, 2)
    at_levels = _levels(estimator, levels)
    setup = make_setup("choose_estimator", estimator, X, known, weights).unadjusted()
    ways, left_out = _ways(estimators, setup)
    grid = [(level, way) for level in at_levels for way in ways if level in way.levels]
    i, j, weight = _pairs(setup)
    held = held_out_pairs(i, j, setup.n, fraction, splits, check_random_state(random_state), f"share={share}")
    errors, done, total = np.empty((splits, len(grid))), 0, len(grid) * splits
    plain = WAYS["least squares"].parameters(estimator)
    starts = {level: warm_start(setup.search(level=level, **plain)) for level in dict(grid)}
    for split, out in enumerate(held):
        rest = setup.D.copy()
        rest[i[out], j[out]] = rest[j[out], i[out]] = np.nan
        for at, (level, way) in enumerate(grid):
            (progress or nobody)(done, total)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that pairs are missing is what this is about
                warnings.simplefilter("default", ConvergenceWarning)
                distances = way.distances(setup, level, starts[level], rest)[i, j]
            errors[split, at] = _error(distances, setup.D[i, j], weight, out)
            done += 1
    (progress or nobody)(total, total)
    table = _table(estimator, grid, errors)
    table.attrs["left_out"] = left_out
    return table


def _levels(estimator: Any, levels: Sequence[str] | None) -> list[str]:
    if levels is None:
        return list(BY_FREEDOM if estimator.weights is None else ("ratio",))
    for level in levels:
        require_choice("levels", level, BY_FREEDOM)
    return [level for level in BY_FREEDOM if level in levels]


def _ways(names: Iterable[str] | None, setup: FitSetup) -> tuple[list[Way], dict[str, str]]:
    """Return the ways asked for, by default those that can be had, and why others are left out."""
    if names is None:
        why = {way: way.why_not(setup.estimator, setup.n) or way.why_not_unasked(setup.n) for way in WAYS.values()}
        return [way for way in why if not why[way]], {way.name: reason for way, reason in why.items() if reason}
    wanted = [names] if isinstance(names, str) else list(names)
    strangers = [name for name in wanted if name not in WAYS]
    if strangers or not wanted:
        raise ValueError(f"estimators={quote(strangers) or 'none'} must name some of {quote(WAYS)}.")
    for name in wanted:
        reason = WAYS[name].why_not(setup.estimator, setup.n)
        if reason:
            raise (ImportError if "pip install" in reason else ValueError)(f"estimators: {name}: {reason}")
    return [way for name, way in WAYS.items() if name in wanted], {}


def _pairs(setup: FitSetup) -> tuple[IntArray, IntArray, Array]:
    """Return the pairs that count, and their weights."""
    i, j = np.triu_indices(setup.n, 1)
    given = setup.weights
    weight = np.ones(len(i)) if given is None else np.asarray(given.toarray() if sp.issparse(given) else given)[i, j]
    counts = ~np.isnan(setup.D[i, j]) & (weight > 0)
    return i[counts], j[counts], weight[counts]


def _error(distances: Array, delta: Array, weight: Array, out: IntArray) -> float:
    """Return the squared error of the held-out dissimilarities, as a share of their sum of squares."""
    kept = np.setdiff1d(np.arange(len(delta)), out)
    predicted = _dissimilarity_of(distances[kept], delta[kept], weight[kept], distances[out])
    return float(np.sum(weight[out] * (predicted - delta[out]) ** 2) / np.sum(weight[out] * delta[out] ** 2))


def _dissimilarity_of(distances: Array, delta: Array, weight: Array, new: Array) -> Array:
    """Return which dissimilarities some distances stand for, by the best increasing function of the fitted pairs."""
    at, which = np.unique(distances, return_inverse=True)
    mass = np.bincount(which, weight)
    means = np.bincount(which, weight * delta) / mass
    return np.asarray(np.interp(new, at, isotonic_regression(means, weights=mass).x))


def _table(estimator: Any, grid: list[tuple[str, Way]], errors: Array) -> pd.DataFrame:
    import pandas as pd

    index = pd.MultiIndex.from_tuples([(level, way.name) for level, way in grid], names=["level", "estimator"])
    lowest = int(errors.mean(axis=0).argmin())
    above = errors - errors[:, [lowest]]
    table = pd.DataFrame(
        {
            "heldout": errors.mean(axis=0),
            "heldout_se": _standard_error(errors),
            "above": above.mean(axis=0),
            "above_se": _standard_error(above),
        },
        index=index,
    )
    at = int(np.argmax(table["above"] <= table["above_se"]))
    level, way = grid[at]
    table.attrs["chosen"] = (level, way.name)
    table.attrs["parameters"] = {"level": level, **way.parameters(estimator)}
    table.attrs["recommendation"] = _in_words(table, errors, at)
    return table


def _standard_error(values: Array) -> Array:
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))


def _in_words(table: pd.DataFrame, errors: Array, at: int) -> str:
    """Say what to take, and what it gains over the first row, which has the least freedom."""
    name, first = ("{1} at the {0} level".format(*table.index[row]) for row in (at, 0))
    own = f"held-out dissimilarities are predicted with an error of {table['heldout'].iloc[at]:.3g} of their squares"
    if at == 0:
        return f"Take {name}: {own}, and nothing else predicts them better by more than a standard error."
    gain = errors[:, 0] - errors[:, at]
    less = f"{gain.mean():.2g} ± {float(_standard_error(gain)):.1g} less than with {first}"
    sure = gain.mean() > 2 * _standard_error(gain)
    return f"Take {name}: {own}, {less}{'' if sure else ', which may be chance'}."
