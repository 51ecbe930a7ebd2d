"""What other rooms ask of an estimator beyond its public attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._typing import Array
from ..problem import KnownFeatures
from ._given_start import names_checkpoint

if TYPE_CHECKING:
    import pandas as pd


def fit_with_free(estimator: Any, X: Any, n_free: int | None, **data: Any) -> Any:
    """Fit an estimator with the number of free dimensions (``n_free_``) that an earlier fit came to; None decides it.

    ``data`` are known features, weights and a callback, as in ``fit``.
    """
    return estimator.fit(X, **data) if n_free is None else estimator._fit_with_free(X, n_free, **data)


def labels_of_fit(fitted: Any) -> pd.Index | None:
    """Return the labels of the objects that an estimator was fitted to; None if they had none."""
    return getattr(fitted, "_labels", None)


def transformer_of(fitted: Any) -> Any:
    """Return the transformer that compared the features an estimator was fitted to; None if it compared none."""
    return getattr(fitted, "_transformer", None)


def stages_of(estimator: Any) -> tuple[Any, Any]:
    """Return the stages of an estimator: a transformer (None for precomputed dissimilarities), and what maps these."""
    transformer = estimator._make_transformer()
    fresh = clone(estimator) if transformer is None else estimator._for_ready_dissimilarities()
    if names_checkpoint(getattr(fresh, "init", None)):  # of one fit, which others do not continue
        fresh.set_params(init="auto")
    return transformer, fresh


def aims_of(fitted: Any, D: Array) -> Array:
    """Return what fitted distances stand for: dissimilarities, transformed as the fit does if it does."""
    seen = getattr(fitted, "disparities_", None)
    if seen is None:
        return D
    # Equal dissimilarities may have become different ones; of a pair that the fit did not see, their mean.
    return np.asarray(np.where(np.isfinite(seen), seen, fitted._transformed(D)))


def known_of(fitted: Any) -> KnownFeatures:
    """Return the known features of a fit, coded as columns."""
    known: KnownFeatures = fitted._known
    return known
