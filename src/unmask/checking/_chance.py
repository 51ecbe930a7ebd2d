"""Comparing what was observed with what chance gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array

# A statistic that is found anew from permuted data differs by its rounding, and what sums up many, such as the tail of
# a distribution, by a multiple of it.
ROUNDING = 1e-9


def as_large(values: Any, observed: Any, *, slack: float = 0.0) -> Array:
    """Tell which values are as large as the observed one, up to rounding.

    An order that changes nothing, as one that only swaps the names of two levels, must count: or p-values for few
    objects are too small. ``slack`` is what two values that mean the same may differ by in addition.
    """
    least = observed * (1.0 - ROUNDING * np.sign(observed)) - slack  # an infinite one stays so
    return np.asarray(np.asarray(values) >= least)


def as_small(values: Any, observed: Any, *, slack: float = 0.0) -> Array:
    """Tell which values are as small as the observed one, up to rounding; see :func:`as_large`."""
    return as_large(-np.asarray(values), -np.asarray(observed), slack=slack)


def holm(p_values: Array) -> Array:
    """Return Holm's step-down correction: the i-th smallest of m times m - i + 1, never below the one before."""
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
