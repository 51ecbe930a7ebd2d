"""Fitting an estimator many times: to other dissimilarities, known features or numbers of dimensions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._typing import Array
from ..checking import (
    AdjustmentWarning,
    Dissimilarities,
    LeakWarning,
    UnfinishedMapWarning,
    align_columns,
    align_rows,
    check_dissimilarities,
)
from ..dissimilarities import compare
from ..estimators import ConditionalMDS, stages_of
from ..kernels import Workers, resolve_threads
from ..problem import KnownFeatures
from ..solvers import Objective, Start, automatic_number

if TYPE_CHECKING:
    import pandas as pd


# Hears how many fits are done, and how many there will be.
Advance = Callable[[int, int], None]


def nobody(done: int, total: int) -> None:
    """Do not listen."""


@contextmanager
def ending_all() -> Iterator[None]:
    """Let Ctrl-C end a series of fits, and not only the present one with the map it has."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnfinishedMapWarning)
        try:
            yield
        except UnfinishedMapWarning:
            raise KeyboardInterrupt from None


class _WarmMDS(ConditionalMDS):
    """Searches from given maps too, in one fit: for few objects, checking the input takes longer than a search."""

    also: Sequence[Any] = ()

    def _starts(self, objective: Objective, known: KnownFeatures, checked: Dissimilarities) -> list[Start]:
        given = [ConditionalMDS(init=start)._starts(objective, known, checked) for start in self.also]
        return [*chain(*given), *super()._starts(objective, known, checked)]


@dataclass(frozen=True)
class FitSetup:
    """An estimator, the dissimilarities it is to be fitted to, and what is known."""

    estimator: Any
    D: Array
    labels: pd.Index | None
    known: Any
    weights: Any = None

    @property
    def n(self) -> int:
        return len(self.D)

    @property
    def takes_start(self) -> bool:
        """Whether the estimator searches from a start, as a closed form does not."""
        return "init" in self.estimator.get_params()

    def unadjusted(self) -> FitSetup:
        """Return the same without adjusting the map, which changes nothing of the stress."""
        return replace(self, estimator=clone(self.estimator).set_params(adjust=False, n_free="auto"))

    def decided(self, fitted: Any) -> FitSetup:
        """Return the same with what a fit decided: whether to adjust the map, and the dimensions before that."""
        n_free = fitted.n_free_ if fitted.adjusted_ else "auto"
        return replace(self, estimator=clone(self.estimator).set_params(adjust=fitted.adjusted_, n_free=n_free))

    def fit(self, D: Array | None = None, *, known: Any = None, start: Any = None, **parameters: Any) -> Any:
        """Return a new fit: to other dissimilarities or known features, or from a start, where these are given."""
        if start is not None and self.takes_start:
            parameters |= {"init": start, "n_init": "auto"}
        return self._fit(clone(self.estimator).set_params(**parameters), D, known)

    def fit_from(self, starts: Sequence[Any], few: int, *, known: Any) -> Any:
        """Return a fit of other known features from several starts and at most ``few`` of the estimator's own."""
        if not self.takes_start:
            return self.fit(known=known)
        fresh = _WarmMDS(**self.estimator.get_params())
        if fresh.init in ("auto", "random"):
            n_starts = automatic_number(self.n) if fresh.n_init == "auto" else fresh.n_init
            fresh.set_params(n_init=min(few, n_starts))
        fresh.also = starts
        return self._fit(fresh, None, known)

    def _fit(self, fresh: Any, D: Array | None, known: Any) -> Any:
        values = self.D if D is None else D
        arguments = {} if self.weights is None else {"weights": self.weights}
        with ending_all(), warnings.catch_warnings():
            # What the map repeats, and what is done about it, is said by the user's own fit.
            warnings.simplefilter("ignore", LeakWarning)
            warnings.simplefilter("ignore", AdjustmentWarning)
            return fresh.fit(self.table(values), known=self.known if known is None else known, **arguments)

    def table(self, values: Array) -> Any:
        """Return a square table with the objects' labels, if they have any."""
        if self.labels is None:
            return values
        import pandas as pd

        return pd.DataFrame(values, index=self.labels, columns=self.labels)

    def names(self) -> pd.Index:
        """Return the labels of the objects, or their numbers."""
        import pandas as pd

        return pd.RangeIndex(self.n) if self.labels is None else self.labels


def make_setup(estimator: Any, X: Any, known: Any, weights: Any = None) -> FitSetup:
    """Return the setup for fits to dissimilarities, computed from features unless they are precomputed.

    For ConditionalIsomap, whose distances stand for lengths of paths, these lengths are the dissimilarities.
    """
    if weights is not None and not isinstance(estimator, ConditionalMDS):
        raise ValueError(f"weights were given but {type(estimator).__name__} takes none; leave them out.")
    transformer, fresh = stages_of(estimator)
    if transformer is None:
        with Workers(resolve_threads(estimator.n_jobs)) as workers:
            checked = check_dissimilarities(X, symmetrize=estimator.symmetrize, workers=workers)
        D, labels = checked.array_for("fitting again and again"), checked.labels
    else:
        D, labels = compare(transformer, X)
    return FitSetup(fresh, np.asarray(D, dtype=np.float64), labels, known, _in_order(weights, labels))


def _in_order(weights: Any, labels: pd.Index | None) -> Any:
    """Return weights in the order of the objects."""
    return align_columns(align_rows(weights, labels, "weights"), labels, "weights")


def warm_start(fitted: Any, extra: int = 0, seed: int = 0) -> tuple[Array, Any]:
    """Return a fit as a start for another, with ``extra`` further dimensions that are almost zero."""
    U = np.asarray(fitted.free_embedding_, dtype=np.float64)
    # From exactly zero no descent ever leaves.
    size = 1e-3 * float(np.sqrt(np.nanmean(np.asarray(fitted.predict_dissimilarities()) ** 2)))
    more = np.random.default_rng(seed).normal(scale=size, size=(len(U), extra))
    flat = (np.ptp(U, axis=0) == 0) * np.random.default_rng(seed + 1).normal(scale=size, size=U.shape)
    return np.column_stack([U + flat, more]), _off_zero(fitted.coef_, size)


def _off_zero(coef: pd.DataFrame, size: float) -> pd.DataFrame | None:
    """Return coefficients without rows of zeros; None if nothing is known."""
    if coef.empty:
        return None
    B = coef.to_numpy().copy()
    empty = np.flatnonzero(~np.any(B != 0, axis=1))
    B[empty, empty] = size
    return coef * 0 + B
