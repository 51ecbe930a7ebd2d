"""What other rooms ask of an estimator beyond its public attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._typing import Array
from ..problem import KnownFeatures
from ._fitting import Enough, Refit
from ._parameters import names_checkpoint

if TYPE_CHECKING:
    import pandas as pd


def refit(
    estimator: Any,
    X: Any,
    *,
    n_free: int | None = None,
    starts: Sequence[Any] = (),
    enough: Enough | None = None,
    **data: Any,
) -> Any:
    """Fit an estimator with the number of free dimensions of an earlier fit, from further starts, or until enough."""
    return estimator._fit(X, refit=Refit(starts, enough, n_free), **data)


def labels_of_fit(fitted: Any) -> pd.Index | None:
    """Return the labels of the objects that an estimator was fitted to; None if they had none."""
    return fitted._map.labels if hasattr(fitted, "_map") else getattr(fitted, "_labels", None)


def transformer_of(fitted: Any) -> Any:
    """Return the transformer that compared the features an estimator was fitted to; None if it compared none."""
    return getattr(fitted._map, "transformer", None) if hasattr(fitted, "_map") else None


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
    return np.asarray(np.where(np.isfinite(seen), seen, fitted._map.placer.aims(D)))


def known_of(fitted: Any) -> KnownFeatures:
    """Return the known features of a fit, coded as columns."""
    known: KnownFeatures = fitted._map.known
    return known


def known_part_of(fitted: Any) -> Array:
    """Return the known features' part of all fitted coordinates; the other part is ``free_embedding_``."""
    found = fitted._map
    return np.asarray(found.Z[:, found.U.shape[1] :] / found.scale)
