"""P-values: comparing an observed value with what chance gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats

from .._typing import Array

# A statistic of permuted data that means the same differs by its rounding, and a sum of many by a multiple of it.
ROUNDING = 1e-9


def as_large(values: Any, observed: Any, *, slack: float = 0.0) -> Array:
    """Return which values are as large as the observed one, up to rounding.

    An order that changes nothing, such as one that only swaps the names of two levels, must count: otherwise p-values
    for few objects are too small. ``slack`` is by how much two values that mean the same may differ in addition.
    """
    least = observed * (1.0 - ROUNDING * np.sign(observed)) - slack  # an infinite one stays so
    return np.asarray(np.asarray(values) >= least)


def as_small(values: Any, observed: Any, *, slack: float = 0.0) -> Array:
    """Return which values are as small as the observed one, up to rounding; see :func:`as_large`."""
    return as_large(-np.asarray(values), -np.asarray(observed), slack=slack)


def holm(p_values: Array) -> Array:
    """Return Holm's step-down correction: the i-th smallest of m times m - i + 1, never below the one before."""
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def wilks_p_value(correlations: Array, n: int, p: int, q: int) -> float:
    """Return how probable canonical correlations as large as these are for two tables that are not related.

    The tables have `n` objects and, centred, the ranks `p` and `q`. Wilks's Λ is Π (1 - r²). Its p-value is that of
    Rao's F, which is exact where p or q is 1 or 2. Bartlett's χ² was rejected because it raises false alarms where
    there are few objects for the columns: 19% at n, p, q = 12, 2, 8, where F has its 5%. With p = q = 1 it is the t
    test of a correlation, with p = 1 one-way analysis of variance. It is 1 where p or q is 0, and where p + q > n - 1,
    as some correlations are then 1 for all data.

    References
    ----------
    C. R. Rao, "An asymptotic expansion of the distribution of Wilks' criterion", Bull. Inst. Internat. Statist. 33,
    1951. M. S. Bartlett, "Further aspects of the theory of multiple regression", Math. Proc. Camb. 34, 1938.

    Examples
    --------
    >>> from unmask.problem.chance import wilks_p_value
    >>> round(wilks_p_value([0.65], n=14, p=2, q=1), 3), round(wilks_p_value([0.65], n=30, p=2, q=1), 5)
    (0.049, 0.0006)
    """
    if min(p, q) == 0 or p + q > n - 1:
        return 1.0
    r = np.asarray(correlations, dtype=np.float64)
    return 0.0 if r.max() >= 1.0 else float(rao_p_value(np.log1p(-(r**2)).sum(), n, p, q))


def rao_p_value(log_lambda: Any, n: int, p: int, q: int) -> Array:
    """Return the p-value of each logarithm of Wilks's Λ, by Rao's F."""
    m = n - 1 - (p + q + 1) / 2
    excess = p**2 + q**2 - 5
    t = np.sqrt((p**2 * q**2 - 4) / excess) if excess > 0 else 1.0
    within = m * t - p * q / 2 + 1  # degrees of freedom; above 0 as p + q < n
    ratio = np.expm1(-log_lambda / t)  # (1 - Λ^(1/t)) / Λ^(1/t), which keeps its digits where Λ is near 1
    return np.asarray(scipy.stats.f.sf(ratio * within / (p * q), p * q, within))
