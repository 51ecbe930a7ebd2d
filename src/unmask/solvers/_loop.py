"""The one iteration loop. Rules propose, the loop evaluates, accepts and decides when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from .._typing import Array
from ._objective import Objective, Point


class Reason(StrEnum):
    """Why the loop stopped."""

    SMALL_DECREASE = "the stress fell by less than tol"
    ROUNDING = "no lower stress can be told apart from rounding"
    MAX_ITER = "max_iter was reached"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "it was interrupted"
    NOT_FINITE = "the stress was no longer a finite number"


@dataclass(frozen=True)
class Solution:
    """What the loop found."""

    theta: Array
    path: tuple[float, ...]  # normalised objective after 0, 1, 2 … iterations
    reason: Reason
    passes: int

    @property
    def value(self) -> float:
        return self.path[-1]

    @property
    def n_iter(self) -> int:
        return len(self.path) - 1

    @property
    def converged(self) -> bool:
        return self.reason in (Reason.SMALL_DECREASE, Reason.ROUNDING)


class Rule(Protocol):
    """How to go on from a point: a memory and a way to step."""

    patience: int  # stop after this many small decreases in a row

    def candidates(self, point: Point) -> Iterator[tuple[Array, float]]:
        """Yield places to try, each with the value it must not exceed; the last one is a majorisation step."""

    def learn(self, old: Point, new: Point) -> None:
        """Take note of an accepted step."""


Callback = Callable[[int, float], bool | None]


def minimise(
    objective: Objective,
    theta: Array,
    rule: Rule,
    *,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> Solution:
    """Follow ``rule`` from ``theta`` until the normalised objective falls by less than ``tol``.

    The objective never rises: a candidate is accepted only at or below its bound, never above the present value. Ctrl-C
    ends it where it is.
    """
    point, passes = objective(theta), 1
    if not math.isfinite(point.value):
        raise FloatingPointError(
            f"the stress at the start is {point.value}; the start, the dissimilarities or the weights span too many "
            "orders of magnitude."
        )
    path = [point.value / objective.total]
    small = 0
    reason = Reason.MAX_ITER
    for iteration in range(1, max_iter + 1):
        try:
            new, tried = _first_acceptable(objective, point, rule)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
            break
        passes += tried
        if new is None or not math.isfinite(new.value):
            reason = Reason.ROUNDING if new is None else Reason.NOT_FINITE
            break
        rule.learn(point, new)
        path.append(new.value / objective.total)
        small = small + 1 if path[-2] - path[-1] < tol else 0
        point = new
        if small >= rule.patience:
            reason = Reason.SMALL_DECREASE
            break
        if callback is not None and callback(iteration, path[-1]):
            reason = Reason.CALLBACK
            break
    return Solution(point.theta, tuple(path), reason, passes)


def _first_acceptable(objective: Objective, point: Point, rule: Rule) -> tuple[Point | None, int]:
    """Return the first candidate at or below its bound (the last if it is no number; else none), and the tries."""
    new, tried = None, 0
    for theta, bound in rule.candidates(point):
        new = objective(theta)
        tried += 1
        if new.value <= bound:
            return new, tried
    return (new if new is not None and not math.isfinite(new.value) else None), tried
