"""General costs of a map: ``sum over i<j of w_ij loss(fitted_ij, target_ij)``.

The fitted value is a function of the squared distance of a pair, of its inner product or of its (smoothed) sum of
absolute differences; it may be divided by its sum over all pairs, which makes it a share. These functions are plain
Python, take a parameter as the last argument, and return value and slope; they are compiled when they are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from .._typing import Array

PairFunction = Callable[..., tuple[float, float]]


class Form(IntEnum):
    """What of a pair the fitted value is a function of; integers because compiled code branches on them."""

    SQUARED = 0  # squared distance
    INNER = 1  # inner product; an object with itself counts half a pair, so that the cost is half that of all i and j
    COLUMNS = 2  # sum of absolute differences, each smoothed to sqrt(x^2 + e^2) - e with the link's parameter e


@dataclass(frozen=True)
class Cost:
    """What a pass over pairs computes."""

    targets: Array  # n x n, symmetric, NaN where a pair does not count
    form: Form
    link: PairFunction  # (x, parameter) -> (fitted, slope)
    loss: PairFunction  # (fitted, target, parameter) -> (loss, slope in fitted)
    weights: Array | None = None
    link_parameter: float = 0.0
    loss_parameter: float = 0.0
    normalised: bool = False

    @property
    def n(self) -> int:
        return len(self.targets)

    @property
    def counts_itself(self) -> bool:
        """Whether an object's inner product with itself counts; as a share of all pairs it is none."""
        return self.form == Form.INNER and not self.normalised


# ---- fitted values: of a squared distance, an inner product or a sum


def root(x: float, parameter: float) -> tuple[float, float]:
    """Return the distance for a squared distance; two objects in one place do not pull."""
    if x <= 0.0:
        return 0.0, 0.0
    distance = math.sqrt(x)
    return distance, 0.5 / distance


def itself(x: float, parameter: float) -> tuple[float, float]:
    """Return x."""
    return x, 1.0


def student(x: float, parameter: float) -> tuple[float, float]:
    """Return Student's kernel of one degree of freedom."""
    value = 1.0 / (1.0 + x)
    return value, -value * value


# ---- losses


def squared(fitted: float, target: float, parameter: float) -> tuple[float, float]:
    """Return the squared difference."""
    residual = fitted - target
    return residual * residual, 2.0 * residual


def absolute(fitted: float, target: float, parameter: float) -> tuple[float, float]:
    """Return the absolute difference, smoothed below the parameter."""
    residual = fitted - target
    size = math.sqrt(residual * residual + parameter * parameter)
    return size - parameter, residual / size


def huber(fitted: float, target: float, parameter: float) -> tuple[float, float]:
    """Return the squared difference up to the parameter, and its tangent beyond."""
    residual = fitted - target
    if abs(residual) <= parameter:
        return residual * residual, 2.0 * residual
    side = 1.0 if residual > 0.0 else -1.0
    return parameter * (2.0 * abs(residual) - parameter), 2.0 * parameter * side


def sammon(fitted: float, target: float, parameter: float) -> tuple[float, float]:
    """Return the squared difference per unit of the target; none counts as less than the parameter."""
    residual = fitted - target
    unit = 1.0 / max(target, parameter)
    return unit * residual * residual, 2.0 * unit * residual


def logarithmic(fitted: float, target: float, parameter: float) -> tuple[float, float]:
    """Return the squared difference of logarithms; no fitted value counts as less than the parameter."""
    size = max(fitted, parameter)
    residual = math.log(size / target)
    return residual * residual, 2.0 * residual / size


def kullback_leibler(fitted: float, target: float, parameter: float) -> tuple[float, float]:
    """Return target log(target / fitted) - target + fitted: the divergence of shares once they are summed."""
    size = max(fitted, 1e-300)
    if target <= 0.0:
        return fitted, 1.0
    return target * math.log(target / size) - target + size, 1.0 - target / size
