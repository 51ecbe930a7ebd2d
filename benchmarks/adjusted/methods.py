"""The methods compared, and what is measured of each map."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from unmask import AdjustmentWarning, ConditionalMDS, LeakWarning, Spline
from unmask.estimators import refit
from unmask.inspection import average_canonical_correlation, leak_report, mds_then_regress

PUBLISHED, ORTHOGONAL = "published", "`orthogonal=True`"
ADJUSTED, RIVAL = "`adjust=True`", "`mds_then_regress`"
TOO_FEW, AS_SHOWN = "`adjust=True`, one dimension fitted", "`adjust=True`, two dimensions fitted"
SMOOTH = "`adjust=True`, length as `Spline()`"
OPTIONS: dict[str, dict[str, Any]] = {
    PUBLISHED: {},
    ORTHOGONAL: {"orthogonal": True},
    ADJUSTED: {"adjust": True},
    TOO_FEW: {"adjust": True},
    AS_SHOWN: {"adjust": True},
    SMOOTH: {"adjust": True, "known_types": {"carapace length": Spline()}},
}
FREE = {TOO_FEW: 1, AS_SHOWN: 2}  # dimensions fitted; of the others the fit decides


def fit(method: str, D: Any, known: pd.DataFrame, *, p: int, n_init: Any, seed: int) -> Any:
    """Return a map: a fitted estimator, or a table by the rival, which chooses the number of its starts itself."""
    if method == RIVAL:
        return mds_then_regress(D, known, n_components=p, random_state=seed)
    mds = ConditionalMDS(p, metric="precomputed", n_init=n_init, random_state=seed, **OPTIONS[method])
    with warnings.catch_warnings():  # that published maps leak, and what adjusting costs, is what is measured here
        warnings.simplefilter("ignore", LeakWarning)
        warnings.simplefilter("ignore", AdjustmentWarning)
        return refit(mds, D, n_free=FREE.get(method), known=known)


def residual(table: Any, known: pd.DataFrame) -> np.ndarray:
    """Return the part of a table that known features, categories among them, do not predict."""
    V = np.asarray(pd.get_dummies(known, drop_first=True), dtype=float)
    design, values = np.column_stack([np.ones(len(V)), V]), np.asarray(table, dtype=float)
    return np.asarray(values - design @ np.linalg.lstsq(design, values, rcond=None)[0])


def measure(fitted: Any, known: pd.DataFrame, truth: Any) -> dict[str, float]:
    """Return the accuracy of a map and what it repeats of all that is known.

    ``rest`` is the average canonical correlation with the part of the truth that what is known does not predict,
    ``whole`` the one with all of the truth; ``told`` is how well neighbours tell what is known, from 0, as well as by
    chance, to 1.
    """
    leak = leak_report(fitted, known).iloc[-1]
    return {
        "rest": average_canonical_correlation(fitted, residual(truth, known)),
        "whole": average_canonical_correlation(fitted, np.asarray(truth)),
        "leak": float(leak["linear"]),
        "neighbours": float(leak["neighbours"]),
        "chance": float(leak["neighbours_baseline"]),
        "reference": float(leak["neighbours_reference"]),
        "told": float((leak["neighbours"] - leak["neighbours_baseline"]) / (1 - leak["neighbours_baseline"])),
        "stress": float(getattr(fitted, "stress_", np.nan)),
        "free": float(getattr(fitted, "n_free_", np.nan)),
    }
