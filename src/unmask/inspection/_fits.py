"""One estimator fitted again and again: to changed data, and from maps that were found before."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from .._typing import Array, IntArray
from ..checking import (
    AdjustmentWarning,
    LeakWarning,
    UnfinishedWarning,
    align_columns,
    align_rows,
    is_pandas,
    known_by_name,
    labelled_frame,
)
from ..dissimilarities import compare
from ..estimators import ConditionalMDS, aims_of, refit, stages_of
from ..kernels import each, elsewhere, resolve_threads
from ..progress import Stopped, series
from ..solvers import PARALLEL_FROM, automatic_n_starts
from ._inputs import read_dissimilarities, require_few

if TYPE_CHECKING:
    import pandas as pd


Advance = Callable[[int, int], Any]  # called with how many fits are done, and how many there will be
Enough = Callable[[Array], bool]  # whether the stresses that starts led to make another start needless

# Starts whose stresses differ by no more than this share of them, or by what searches stop short of a minimum, count as
# having ended in the same minimum.
SAME_MINIMUM = 1e-6
STOPPED_SHORT = 1e-7
# Starts of a refit, besides maps that are almost right. The p-values are those of long searches (see the slow test);
# a permutation of the kinship example takes 0.017 CPU s instead of 0.15.
FEW_STARTS = 3
# Fits of more objects than this run one after another.
MOST_SIDE_BY_SIDE = 2000


@contextmanager
def counting(name: str, progress: Advance | None) -> Iterator[Advance]:
    """Yield ``progress``; without it, a function that moves a bar, which appears after some seconds."""
    if progress is not None:
        yield progress
        return
    with series() as tell:
        yield lambda done, total: tell(name, done, total)


def counted(results: Iterator[Any], total: int, advance: Advance) -> list[Any]:
    """Return the results in a list; report before each how many are there."""
    kept: list[Any] = []
    for done in range(total):
        advance(done, total)
        kept.append(next(results))
    return kept


@contextmanager
def part_of_series() -> Iterator[None]:
    """Let Ctrl-C end the whole series, not only the present fit, and do not warn of what the map repeats."""
    with warnings.catch_warnings(action="error", category=UnfinishedWarning):
        warnings.simplefilter("ignore", LeakWarning)
        warnings.simplefilter("ignore", AdjustmentWarning)
        try:
            yield
        except UnfinishedWarning:
            raise Stopped("stopped by its callback or by Ctrl-C; there is no result.") from None


def agreed(stresses: Array, same: float = SAME_MINIMUM) -> bool:
    """Return whether all starts ended in one minimum."""
    return float(np.ptp(stresses)) <= max(same * float(np.min(stresses)), STOPPED_SHORT)


def all_seen(stresses: Array, same: float = SAME_MINIMUM) -> bool:
    """Return whether further starts are unlikely to find another minimum.

    After n starts that led to w minima, w (n - 1) / (n - w - 2) minima are expected; the search ends when this is less
    than w + 1/2: after eight starts that all agree, or 17 that led to two minima. C. G. E. Boender, A. H. G. Rinnooy
    Kan, "Bayesian stopping rules for multistart global optimization methods", Mathematical Programming 37, 1987.
    """
    levels = np.sort(stresses)
    n, w = len(levels), 1 + int(np.sum(np.diff(levels) > max(same * levels[0], STOPPED_SHORT)))
    return n > w + 2 and w * (n - 1) / (n - w - 2) < w + 0.5


@dataclass(frozen=True)
class FitSetup:
    """An estimator, and the dissimilarities and known features it is fitted to, in the same order of objects."""

    estimator: Any
    D: Array
    labels: pd.Index | None
    known: Any
    weights: Any = None
    n_free: int | None = None  # dimensions of the free map of an adjusted fit, if they are decided

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.D)

    @property
    def anything_known(self) -> bool:
        """Whether there is a known feature."""
        return self.known is not None and 0 not in getattr(self.known, "shape", (1, 1))[1:]

    def unadjusted(self) -> FitSetup:
        """Return the same without adjusting the map, which does not change the stress."""
        return replace(self, estimator=clone(self.estimator).set_params(adjust=False), n_free=None)

    def decided(self, fitted: Any) -> FitSetup:
        """Return the same with the decisions of a fit: whether to adjust the map, and the dimensions before that."""
        estimator = clone(self.estimator).set_params(adjust=fitted.adjusted_)
        return replace(self, estimator=estimator, n_free=fitted.n_free_ if fitted.adjusted_ else None)

    def some(self, at: IntArray) -> FitSetup:
        """Return the same for some of the objects, without labels."""
        known, square = self.known, np.ix_(at, at)
        if known is not None:
            known = known.iloc[at].reset_index(drop=True) if is_pandas(known) else np.asarray(known)[at]
        weights = None if self.weights is None else np.asarray(self.weights)[square]
        return replace(self, D=self.D[square], labels=None, known=known, weights=weights)

    def fit(
        self,
        D: Array | None = None,
        *,
        known: Any = None,
        start: Any = None,
        starts: Sequence[Any] = (),
        few: int | None = None,
        enough: Enough | None = None,
        **parameters: Any,
    ) -> Any:
        """Return a fit, to other dissimilarities or known features if they are given.

        It searches from ``start`` alone; or from ``starts`` and the estimator's own, at most ``few`` random ones, until
        they are ``enough``. A closed form has no starts.
        """
        fresh = clone(self.estimator).set_params(**parameters)
        more = {} if self.weights is None else {"weights": self.weights}
        if start is not None and "init" in fresh.get_params():
            fresh.set_params(init=start, n_init="auto")
        elif isinstance(fresh, ConditionalMDS):
            more |= {"starts": starts, "enough": enough}
            if few is not None and isinstance(fresh.init, str) and fresh.init != "closed-form":
                n_starts = automatic_n_starts(self.n) if fresh.n_init == "auto" else fresh.n_init
                fresh.set_params(n_init=min(few, n_starts))
        known = self.known if known is None else known
        with part_of_series():
            return refit(fresh, self.D if D is None else D, n_free=self.n_free, known=known, **more)

    def search(
        self, starts: Sequence[Any] = (), enough: Enough | None = None, same: float = SAME_MINIMUM, **others: Any
    ) -> Any:
        """Return a fit from several starts and all of the estimator's own, until they are enough.

        If the estimator's number of starts is "auto", they are also enough when all minima have been seen.
        """
        automatic = getattr(self.estimator, "n_init", None) == "auto"

        def done(stresses: Array) -> bool:
            return (enough is not None and enough(stresses)) or (automatic and all_seen(stresses, same))

        return self.fit(starts=starts, enough=done, **others)

    def each(self, function: Callable[[FitSetup, Any], Any], changes: Iterable[Any]) -> Generator[Any, None, None]:
        """Yield ``function(setup, change)`` for each change in order, in threads if that is faster.

        Threads do not help few objects, whose fits are mostly interpreted code, nor many, whose passes use all threads.
        """
        setup, threads = self, resolve_threads(self.estimator.n_jobs)
        if elsewhere() > 1 or threads == 1 or not PARALLEL_FROM <= self.n <= MOST_SIDE_BY_SIDE:
            threads = 1
        else:
            setup = replace(self, estimator=clone(self.estimator).set_params(n_jobs=1))
        return each(partial(function, setup), changes, threads)


def make_setup(purpose: str, estimator: Any, X: Any, known: Any, weights: Any = None) -> FitSetup:
    """Return the setup for the fits of a function, to given dissimilarities or those computed from features.

    For ConditionalIsomap they are the lengths of paths. ``known`` may be names of columns.
    """
    if weights is not None and not isinstance(estimator, ConditionalMDS):
        raise ValueError(f"weights were given but {type(estimator).__name__} takes none; leave them out.")
    X, known = known_by_name(labelled_frame(X), known, features=not get_tags(estimator).input_tags.pairwise)
    transformer, fresh = stages_of(estimator)
    require_few(purpose, X, ready=transformer is None)
    landmarks = getattr(transformer, "n_landmarks", None)
    if landmarks is not None:
        raise ValueError(f"n_landmarks={landmarks}: {purpose} needs the paths between all objects; leave it out.")
    if transformer is None:
        checked = read_dissimilarities(X, warn=True)
        D, labels = checked.array_for(purpose), checked.labels
    else:
        D, labels = compare(transformer, X)
    weights = align_columns(align_rows(weights, labels, "weights"), labels, "weights")
    known = align_rows(known, labels, "known")
    known = known.reset_index(drop=True) if is_pandas(known) else known  # so that refits do not align it again
    return FitSetup(fresh, np.asarray(D, dtype=np.float64), labels, known, weights)


def warm_start(fitted: Any, extra: int = 0) -> tuple[Array, Any]:
    """Return a fit as a start for another, with ``extra`` further dimensions that are almost zero."""
    U, coef = np.asarray(fitted.free_embedding_, dtype=np.float64), fitted.coef_
    distances = fitted.predict_dissimilarities().to_numpy()
    # From exactly zero no descent ever leaves.
    size = 1e-3 * float(np.sqrt(np.nanmean(distances**2)))
    more = np.random.default_rng(0).normal(scale=size, size=(len(U), extra))
    flat = (np.ptp(U, axis=0) == 0) * np.random.default_rng(1).normal(scale=size, size=U.shape)
    B = coef.to_numpy().copy()
    empty = np.flatnonzero(~np.any(B != 0, axis=1))
    B[empty, empty] = size
    return np.column_stack([U + flat, more]), None if coef.empty else coef * 0 + B


# ---- new dissimilarities from the residuals of a fit


class TooFewPairsError(ValueError):
    """A fit has at least as many parameters as there are pairs, and so leaves no residuals."""


@dataclass(frozen=True)
class Residuals:
    """Fitted distances and residuals of the pairs that have a dissimilarity.

    The residuals are enlarged, because a fit with k parameters leaves a share 1 - k/m of the noise of m pairs.
    """

    distances: Array  # N x N, NaN where missing
    rows: IntArray
    columns: IntArray
    values: Array

    def _table(self, values: Array) -> Array:
        D = self.distances.copy()
        D[self.rows, self.columns] = np.maximum(D[self.rows, self.columns] + values, 0.0)
        D[self.columns, self.rows] = D[self.rows, self.columns]
        return D

    def permuted(self, rng: Any) -> Array:
        """Return dissimilarities with the residuals, relative to the distances, in random order.

        If one distance for all pairs would describe the dissimilarities better, the dissimilarities are permuted. In
        pure noise, the residual of a near pair is many times its distance, and tests against such residuals found
        dimensions in nearly every set.
        """
        d = self.distances[self.rows, self.columns]
        given = d + self.values
        if np.sum(self.values**2) >= np.sum((given - given.mean()) ** 2):
            return self._table(rng.permutation(given) - d)
        relative = np.divide(self.values, d, out=np.zeros_like(d), where=d > 0)
        return self._table(d * rng.permutation(relative))

    def wild(self, rng: Any) -> Array:
        """Return dissimilarities with a random sign for each residual, whatever its variance (a wild bootstrap)."""
        return self._table(self.values * rng.choice([-1.0, 1.0], size=len(self.values)))


def make_residuals(setup: FitSetup, fitted: Any) -> Residuals:
    """Return the residuals of a fit; of None, those of all objects in one place."""
    distances, aims, parameters = np.zeros_like(setup.D), setup.D, 0
    if fitted is not None:
        distances, aims = fitted.predict_dissimilarities().to_numpy().copy(), aims_of(fitted, setup.D)
        p = fitted.n_free_
        parameters = setup.n * p - p * (p + 1) // 2 + int(np.count_nonzero(np.tril(fitted.coef_.to_numpy())))
    distances[np.isnan(setup.D)] = np.nan
    np.fill_diagonal(distances, 0.0)
    i, j = np.triu_indices(setup.n, 1)
    present = np.isfinite(setup.D[i, j]) & np.isfinite(distances[i, j])
    i, j = i[present], j[present]
    left = 1 - parameters / max(len(i), 1)
    if left <= 0:
        raise TooFewPairsError(
            f"{len(i)} pairs are no more than the {parameters} parameters of the fit, which leaves no residuals to "
            "judge by; lower n_components."
        )
    return Residuals(distances, i, j, (aims[i, j] - distances[i, j]) / np.sqrt(left))
