"""Fitting an estimator many times: to other dissimilarities, known features or numbers of dimensions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from ..estimators import ConditionalMDS, labels_of_fit, refit, stages_of
from ..kernels import MOST_SQUARED, elsewhere, resolve_threads
from ..solvers import PARALLEL_FROM, automatic_n_starts
from ._inputs import count_objects, read_dissimilarities, require_few

if TYPE_CHECKING:
    import pandas as pd


Advance = Callable[[int, int], None]  # called with how many fits are done, and how many there will be
Enough = Callable[[Array], bool]  # whether the stresses that starts led to make another start needless


def no_progress(done: int, total: int) -> None:
    """Ignore the progress."""


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings, which the user's own fit gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def ending_all() -> Iterator[None]:
    """Let Ctrl-C end a series of fits, and not only the present one with the map it has."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnfinishedWarning)
        try:
            yield
        except UnfinishedWarning:
            raise KeyboardInterrupt from None


# Starts whose stresses differ by no more than this share of them, or by what searches stop short of a minimum, count as
# having ended in the same minimum.
SAME_MINIMUM = 1e-6
STOPPED_SHORT = 1e-7
# Starts of a refit, besides maps that are almost right. The p-values are those of long searches (see the slow test);
# a permutation of the kinship example takes 0.017 CPU s instead of 0.15.
FEW_STARTS = 3
# Fits of more objects than this run one after another.
MOST_SIDE_BY_SIDE = 2000


def agreed(stresses: Array, same: float = SAME_MINIMUM) -> bool:
    """Return whether all starts ended in one minimum."""
    return float(np.ptp(stresses)) <= max(same * float(np.min(stresses)), STOPPED_SHORT)


def all_seen(stresses: Array, same: float = SAME_MINIMUM) -> bool:
    """Return whether further starts are unlikely to find another minimum.

    Boender and Rinnooy Kan's rule: after n starts that led to w minima, w (n - 1) / (n - w - 2) minima are expected,
    and the search ends where this is less than half a minimum more than were found. Eight starts are enough if all
    agree, 17 if they led to two.

    References
    ----------
    C. G. E. Boender, A. H. G. Rinnooy Kan, "Bayesian stopping rules for multistart global optimization methods",
    Mathematical Programming 37, 1987.
    """
    levels = np.sort(stresses)
    n, w = len(levels), 1 + int(np.sum(np.diff(levels) > max(same * levels[0], STOPPED_SHORT)))
    return n > w + 2 and w * (n - 1) / (n - w - 2) < w + 0.5


def _never(_: Array) -> bool:
    return False


@dataclass(frozen=True)
class FitSetup:
    """An estimator, the dissimilarities it is to be fitted to, and the known features in the same order of objects."""

    estimator: Any
    D: Array
    labels: pd.Index | None
    known: Any
    weights: Any = None
    n_free: int | None = None  # dimensions of the free map of an adjusted fit, if they are decided

    @property
    def n(self) -> int:
        return len(self.D)

    @property
    def takes_start(self) -> bool:
        """Whether the estimator searches from a start, as a closed form does not."""
        return "init" in self.estimator.get_params()

    @property
    def anything_known(self) -> bool:
        """Whether there is a known feature."""
        return self.known is not None and 0 not in getattr(self.known, "shape", (1, 1))[1:]

    def unadjusted(self) -> FitSetup:
        """Return the same without adjusting the map, which changes nothing of the stress."""
        return replace(self, estimator=clone(self.estimator).set_params(adjust=False), n_free=None)

    def decided(self, fitted: Any) -> FitSetup:
        """Return the same with what a fit decided: whether to adjust the map, and the dimensions before that."""
        estimator = clone(self.estimator).set_params(adjust=fitted.adjusted_)
        return replace(self, estimator=estimator, n_free=fitted.n_free_ if fitted.adjusted_ else None)

    def some(self, at: IntArray, D: Array | None = None) -> FitSetup:
        """Return the same for some of the objects, with their dissimilarities if there is no table of all."""
        return replace(
            self,
            D=self.D[np.ix_(at, at)] if D is None else D,
            labels=None if self.labels is None else self.labels[at],
            known=_in_rows(self.known, at),
            weights=None if self.weights is None else np.asarray(self.weights)[np.ix_(at, at)],
        )

    def fit(self, D: Array | None = None, *, start: Any = None, **parameters: Any) -> Any:
        """Return a new fit: to other dissimilarities, or from a start, where these are given."""
        if start is not None and self.takes_start:
            parameters |= {"init": start, "n_init": "auto"}
        return self._fit(clone(self.estimator).set_params(**parameters), D, None)

    def fit_from(
        self,
        starts: Sequence[Any],
        few: int | None,
        enough: Enough,
        D: Array | None = None,
        *,
        known: Any = None,
        **parameters: Any,
    ) -> Any:
        """Return a fit from several starts and the estimator's own, at most ``few``, until they are ``enough``."""
        fresh = clone(self.estimator).set_params(**parameters)
        if not isinstance(fresh, ConditionalMDS):
            return self._fit(fresh, D, known)
        if few is not None and isinstance(fresh.init, str) and fresh.init != "closed-form":
            n_starts = automatic_n_starts(self.n) if fresh.n_init == "auto" else fresh.n_init
            fresh.set_params(n_init=min(few, n_starts))
        return self._fit(fresh, D, known, starts=starts, enough=enough)

    def search(
        self, starts: Sequence[Any] = (), enough: Enough | None = None, same: float = SAME_MINIMUM, **others: Any
    ) -> Any:
        """Return a fit from several starts and all of the estimator's own, until they are enough.

        Where their number is left to the estimator, that is also when all minima have been seen.
        """
        automatic = getattr(self.estimator, "n_init", None) == "auto"

        def done(stresses: Array) -> bool:
            return (enough is not None and enough(stresses)) or (automatic and all_seen(stresses, same))

        return self.fit_from(starts, None, done, **others)

    def side_by_side(self) -> tuple[FitSetup, int]:
        """Return the same for fits that run at the same time, each in a thread of its own, and how many may.

        Few objects are fitted mostly by interpreted code, which threads cannot share; the passes over many use all
        threads by themselves, and each fit takes memory of its own.
        """
        if elsewhere() > 1:
            return self, elsewhere()
        threads = resolve_threads(self.estimator.n_jobs)
        if threads == 1 or not PARALLEL_FROM <= self.n <= MOST_SIDE_BY_SIDE:
            return self, 1
        return replace(self, estimator=clone(self.estimator).set_params(n_jobs=1)), threads

    def _fit(self, fresh: Any, D: Array | None, known: Any, **how: Any) -> Any:
        arguments = how if self.weights is None else {**how, "weights": self.weights}
        with ending_all(), warnings.catch_warnings():
            # The user's own fit says what the map repeats, and what is done about it.
            warnings.simplefilter("ignore", LeakWarning)
            warnings.simplefilter("ignore", AdjustmentWarning)
            known = self.known if known is None else known
            return refit(fresh, self.D if D is None else D, n_free=self.n_free, known=known, **arguments)


def make_setup(purpose: str, estimator: Any, X: Any, known: Any, weights: Any = None, instead: str = "") -> FitSetup:
    """Return the setup for the fits of a function: to dissimilarities, computed from features if need be.

    For ConditionalIsomap, whose distances stand for lengths of paths, these lengths are the dissimilarities.
    """
    if weights is not None and not isinstance(estimator, ConditionalMDS):
        raise ValueError(f"weights were given but {type(estimator).__name__} takes none; leave them out.")
    X, known = read_data(estimator, X, known)
    transformer, fresh = stages_of(estimator)
    require_few(purpose, count_objects(X, ready=transformer is None), instead)
    landmarks = getattr(transformer, "n_landmarks", None)
    if landmarks is not None:
        raise ValueError(f"n_landmarks={landmarks}: {purpose} needs the paths between all objects; leave it out.")
    if transformer is None:
        checked = read_dissimilarities(X, warn=True)
        D, labels = checked.array_for(purpose), checked.labels
    else:
        D, labels = compare(transformer, X)
    weights = align_columns(align_rows(weights, labels, "weights"), labels, "weights")
    return FitSetup(fresh, np.asarray(D, dtype=np.float64), labels, in_order(known, labels), weights)


def read_data(estimator: Any, X: Any, known: Any) -> tuple[Any, Any]:
    """Return data as an estimator's fit reads them; ``known`` may be names of columns."""
    return known_by_name(labelled_frame(X), known, features=not get_tags(estimator).input_tags.pairwise)


def in_order(known: Any, labels: pd.Index | None) -> Any:
    """Return known features in the order of the objects and without labels, so that refits do not align them again."""
    known = align_rows(known, labels, "known")
    return known.reset_index(drop=True) if is_pandas(known) else known


def _in_rows(known: Any, at: IntArray) -> Any:
    if known is None:
        return None
    return known.iloc[at].reset_index(drop=True) if is_pandas(known) else np.asarray(known)[at]


def warm_start(fitted: Any, extra: int = 0, seed: int = 0) -> tuple[Array, Any]:
    """Return a fit as a start for another, with ``extra`` further dimensions that are almost zero."""
    U, coef = np.asarray(fitted.free_embedding_, dtype=np.float64), fitted.coef_
    some = np.arange(0, len(U), len(U) // 500) if len(U) > MOST_SQUARED else None
    labels = labels_of_fit(fitted)
    distances = np.asarray(fitted.predict_dissimilarities(some if some is None or labels is None else labels[some]))
    # From exactly zero no descent ever leaves.
    size = 1e-3 * float(np.sqrt(np.nanmean(distances**2)))
    more = np.random.default_rng(seed).normal(scale=size, size=(len(U), extra))
    flat = (np.ptp(U, axis=0) == 0) * np.random.default_rng(seed + 1).normal(scale=size, size=U.shape)
    B = coef.to_numpy().copy()
    empty = np.flatnonzero(~np.any(B != 0, axis=1))
    B[empty, empty] = size
    return np.column_stack([U + flat, more]), None if coef.empty else coef * 0 + B
