"""What repeated fits need: dissimilarities as a table, and an estimator to fit them with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._typing import Array
from ..checking import check_dissimilarities, is_pandas
from ..dissimilarities import Metric
from ..kernels import Workers, resolve_threads

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Study:
    """An estimator, the dissimilarities it is to be fitted to, and what is known."""

    estimator: Any
    D: Array
    labels: pd.Index | None
    known: Any
    weights: Any = None

    @property
    def n(self) -> int:
        return len(self.D)

    def fit(self, D: Array | None = None, *, known: Any = None, **parameters: Any) -> Any:
        """Return a fresh fit, of other dissimilarities or known features if given."""
        fresh = clone(self.estimator).set_params(**parameters)
        values = self.D if D is None else D
        arguments = {} if self.weights is None else {"weights": self.weights}
        return fresh.fit(self.table(values), known=self.known if known is None else known, **arguments)

    def table(self, values: Array) -> Any:
        """Return a square table with the objects' labels, if they have any."""
        if self.labels is None:
            return values
        import pandas as pd

        return pd.DataFrame(values, index=self.labels, columns=self.labels)

    def names(self) -> Any:
        """Return the labels, or numbers."""
        return range(self.n) if self.labels is None else self.labels


def make_study(estimator: Any, X: Any, known: Any, weights: Any = None) -> Study:
    """Return a study of dissimilarities, computed from features unless the estimator takes them as they are."""
    parameters = estimator.get_params()
    if parameters.get("metric") == "precomputed":
        with Workers(resolve_threads(parameters.get("n_jobs"))) as workers:
            checked = check_dissimilarities(X, symmetrize=parameters.get("symmetrize"), workers=workers)
        return Study(clone(estimator), checked.values.astype(np.float64), checked.labels, known, weights)
    metric = Metric(
        parameters["metric"], metric_params=parameters.get("metric_params"), n_jobs=parameters.get("n_jobs")
    )
    D = metric.fit(X).dissimilarities_
    fresh = clone(estimator).set_params(metric="precomputed", metric_params=None)
    return Study(fresh, D, X.index if is_pandas(X) else None, known, weights)


def warm_start(fitted: Any, extra: int = 0, seed: int = 0) -> tuple[Array, Any]:
    """Return a fit as a start, with ``extra`` dimensions of almost nothing."""
    U = np.asarray(fitted.embedding_, dtype=np.float64)
    # From exactly zero no descent ever leaves.
    size = 1e-3 * float(np.sqrt(np.mean(np.asarray(fitted.predict_dissimilarities()) ** 2)))
    more = np.random.default_rng(seed).normal(scale=size, size=(len(U), extra))
    flat = (np.ptp(U, axis=0) == 0) * np.random.default_rng(seed + 1).normal(scale=size, size=U.shape)
    return np.column_stack([U + flat, more]), _off_zero(fitted.coef_, size)


def _off_zero(coef: pd.DataFrame, size: float) -> pd.DataFrame | None:
    """Return coefficients with no row of zeros; None without known features."""
    if coef.empty:
        return None
    B = coef.to_numpy().copy()
    empty = np.flatnonzero(~np.any(B != 0, axis=1))
    B[empty, empty] = size
    return coef * 0 + B
