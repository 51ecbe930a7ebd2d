"""Maps as the ordinations of scikit-bio, which draws them, writes them and hands them to QIIME 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checking import require_package

__all__ = ["ordination"]


def ordination(fitted: Any) -> Any:
    """Return a fitted map as an ``OrdinationResults`` of scikit-bio.

    Parameters
    ----------
    fitted : estimator
        Any fitted estimator of this package.

    Returns
    -------
    skbio.OrdinationResults
        ``samples``: the map, by the labels of the objects as text; ``eigvals``: the sums of squares of its axes, which
        for classical scaling are the eigenvalues. There is no ``proportion_explained``: stress is not a variance.
    """
    import pandas as pd

    check_is_fitted(fitted, "embedding_")
    skbio = require_package("skbio", "unmask.interop.skbio", "bio")
    U = np.asarray(fitted.embedding_, dtype=np.float64)
    axes = [f"axis{a + 1}" for a in range(U.shape[1])]
    known = list(map(str, getattr(fitted, "known_summary_", pd.DataFrame()).index))
    name = type(fitted).__name__
    return skbio.OrdinationResults(
        name,
        f"{name} given {', '.join(known)}" if known else name,
        pd.Series(np.sum((U - U.mean(axis=0)) ** 2, axis=0), index=axes),
        samples=pd.DataFrame(U, index=[str(label) for label in fitted.object_names_], columns=axes),
    )
