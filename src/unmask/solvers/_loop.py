"""The one iteration loop. Rules propose, the loop evaluates, accepts and decides when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from .._typing import Array
from ..checking import Progress, Watch
from ._canonical import canonical_map
from ._objective import Objective, Point


class Reason(StrEnum):
    """Why the loop stopped."""

    SMALL_DECREASE = "the stress fell by less than tol"
    SETTLED = "the stress on fresh references fell by less than its standard error, or by next to nothing"
    ROUNDING = "no lower stress can be told apart from rounding"
    MAX_ITER = "max_iter was reached"
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
        return self.reason in (Reason.SMALL_DECREASE, Reason.SETTLED, Reason.ROUNDING)


class Rule(Protocol):
    """How to go on from a point: a memory and a way to step."""

    patience: int  # stop after this many small decreases in a row

    def candidates(self, point: Point) -> Iterator[tuple[Array, float]]:
        """Yield places to try, each with the value it must not exceed; the last one is a majorisation step."""

    def learn(self, old: Point, new: Point) -> None:
        """Take note of an accepted step."""


MakeRule = Callable[[Objective], Callable[[], Rule]]


@dataclass(frozen=True)
class SearchSettings:
    """How a search is run, who watches, and what they see: ``unit`` times the objective, the map in one form."""

    make_rule: MakeRule
    tol: float
    max_iter: int
    watch: Watch = field(default_factory=Watch)
    canonical: Callable[[Array], Array] = canonical_map
    unit: float = 1.0

    def progress(self, begin: Progress, objective: Objective, iteration: int, value: float, theta: Array) -> Progress:
        """Return where a search is that began with ``begin``."""

        def draw() -> Array:
            return self.canonical(objective.structure.unknown(theta)) / objective.engine.scale

        return replace(begin, max_iter=self.max_iter, iteration=iteration, stress=value * self.unit, _draw=draw)

    def end(self, begin: Progress, objective: Objective, solution: Solution) -> None:
        """Tell those who watch where a search that began with ``begin`` came to its end."""
        if self.watch.listeners:
            last = self.progress(begin, objective, solution.n_iter, solution.value, solution.theta)
            self.watch.end(last, solution.converged)


def follow(
    objective: Objective, theta: Array, make_rule: Callable[[], Rule], settings: SearchSettings, begin: Progress
) -> Solution:
    """Minimise from a start, and tell those who watch how far it is."""
    watch = settings.watch

    def stop(iteration: int, value: float, theta: Array) -> bool:
        if not watch.listeners:
            return watch.stopped.is_set()
        return watch.tell(settings.progress(begin, objective, iteration, value, theta))

    solution = minimise(objective, theta, make_rule(), tol=settings.tol, max_iter=settings.max_iter, callback=stop)
    if solution.reason is Reason.INTERRUPTED:
        watch.stopped.set()
    return solution


def minimise(
    objective: Objective,
    theta: Array,
    rule: Rule,
    *,
    tol: float,
    max_iter: int,
    callback: Callable[[int, float, Array], bool] = lambda *_: False,
) -> Solution:
    """Follow ``rule`` from ``theta`` until the normalised objective falls by less than ``tol``.

    The objective never rises: a candidate is accepted only at or below its bound, never above the present value. Ctrl-C
    ends it where it is, and so does a callback (iteration, objective, theta) that returns True.
    """
    point, passes = objective(theta), 1
    if not math.isfinite(point.value):
        raise FloatingPointError(
            f"the stress at the start is {point.value}; the start, the dissimilarities or the weights span too many "
            "orders of magnitude."
        )
    path = [point.value / objective.total]
    small = 0
    stopped = callback(0, path[0], point.theta)
    reason = Reason.MAX_ITER
    for iteration in range(1, max_iter + 1):
        if stopped:
            break
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
        stopped = callback(iteration, path[-1], point.theta)
        if small >= rule.patience:
            reason = Reason.SMALL_DECREASE
            break
    if stopped and reason is Reason.MAX_ITER:
        reason = Reason.INTERRUPTED
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
