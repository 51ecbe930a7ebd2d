"""What other rooms ask of a fitted estimator beyond its public attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array

if TYPE_CHECKING:
    import pandas as pd


def labels_of_fit(fitted: Any) -> pd.Index | None:
    """Return the labels of the objects that an estimator was fitted to; None if they had none."""
    return getattr(fitted, "_labels", None)


def aims_of(fitted: Any, D: Array) -> Array:
    """Return what fitted distances stand for: dissimilarities, transformed as the fit does if it does."""
    seen = getattr(fitted, "disparities_", None)
    if seen is None:
        return D
    # Equal dissimilarities may have become different ones; of a pair that the fit did not see, their mean.
    return np.asarray(np.where(np.isfinite(seen), seen, fitted._transformed(D)))
