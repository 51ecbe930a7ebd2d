"""The one iteration loop. Rules propose, the loop evaluates, accepts and decides when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Protocol

from .._typing import Array
from ..progress import Progress, SavedFit, SavedStart, Watch
from ._canonical import canonical_map
from ._objective import Objective, Point


class Reason(Enum):
    """Why the loop stopped."""

    SMALL_DECREASE = "the {} fell by less than tol"
    SETTLED = "the {} on fresh references fell by less than its standard error, or by next to nothing"
    ROUNDING = "no lower {} can be told apart from rounding"
    MAX_ITER = "max_iter was reached"
    INTERRUPTED = "it was interrupted"
    NOT_FINITE = "the {} was no longer a finite number"

    def sentence(self, quantity: str = "stress") -> str:
        """Return the reason in words."""
        return str(self.value).format(quantity)

    def __str__(self) -> str:
        return self.sentence()


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


class Function(Protocol):
    """What the loop minimises; ``total`` is the unit in which it is told."""

    total: float

    def __call__(self, theta: Array) -> Point:
        """Return the value and half the derivative at a place."""


MakeRule = Callable[[Objective], Callable[[], Rule]]


@dataclass(frozen=True)
class SearchSettings:
    """How a search is run and reported: listeners see ``unit`` times the objective, and the map in one form."""

    make_rule: MakeRule
    tol: float
    max_iter: int
    watch: Watch = field(default_factory=Watch)
    canonical: Callable[[Array], Array] = canonical_map
    unit: float = 1.0
    share: float = 0.0  # of the objective, by which a fall is small too
    saved: SavedFit | None = None  # takes the finished starts, for checkpoints

    def progress(
        self, begin: Progress, objective: Objective, iteration: int, value: float, theta: Array, ahead: int = 0
    ) -> Progress:
        """Return the progress of a search that began with ``begin``."""

        def draw() -> Array:
            return self.canonical(objective.structure.unknown(theta)) / objective.engine.scale

        here = objective.structure.p, begin.start, SavedStart(begin.kind, theta, (value,))
        return replace(
            begin,
            iteration=iteration,
            stress=value * self.unit,
            max_iter=self.max_iter,
            tol=self.tol * self.unit,
            ahead=ahead,
            _draw=draw,
            _save=None if self.saved is None else partial(self.saved.including, *here),
        )

    def reporter(self, begin: Progress, objective: Objective) -> Callable[..., bool]:
        """Return a function of iteration, objective and theta that reports them and returns whether to stop."""

        def report(iteration: int, value: float, theta: Array, ahead: int = 0) -> bool:
            if not self.watch.listeners:
                return self.watch.stopped.is_set()
            return self.watch.update(self.progress(begin, objective, iteration, value, theta, ahead))

        return report

    def end(self, begin: Progress, objective: Objective, solution: Solution) -> None:
        """Save a start that has come to its end, and report it."""
        if solution.reason is Reason.INTERRUPTED:
            self.watch.stopped.set()
        elif self.saved is not None:
            start = SavedStart(begin.kind, solution.theta, solution.path, solution.passes, solution.reason.name)
            self.saved.starts[objective.structure.p, begin.start] = start
        if self.watch.listeners:
            last = self.progress(begin, objective, solution.n_iter, solution.value, solution.theta)
            self.watch.end(last, solution.converged)


def follow(
    objective: Objective, theta: Array, make_rule: Callable[[], Rule], settings: SearchSettings, begin: Progress
) -> Solution:
    """Minimise from a start by a rule, and report it."""
    return minimise(
        objective,
        theta,
        make_rule(),
        tol=settings.tol,
        max_iter=settings.max_iter,
        share=settings.share,
        callback=settings.reporter(begin, objective),
        due=settings.watch.is_due,
    )


def minimise(
    objective: Function,
    theta: Array,
    rule: Rule,
    *,
    tol: float,
    max_iter: int,
    share: float = 0.0,
    callback: Callable[[int, float, Array], bool] = lambda *_: False,
    due: Callable[[], bool] = lambda: True,
) -> Solution:
    """Follow ``rule`` from ``theta`` until the normalised objective falls by less than ``tol``, or a ``share`` of it.

    The objective never rises: a candidate is accepted only at or below its bound, never above the present value. Ctrl-C
    ends it where it is, and so does a callback (iteration, objective, theta) that returns True. The callback is called
    only for iterations that are ``due``.
    """
    point, passes, small = objective(theta), 1, 0
    if not math.isfinite(point.value):
        raise FloatingPointError(
            f"the stress at the start is {point.value}; the start, the dissimilarities or the weights span too many "
            "orders of magnitude."
        )
    path = [point.value / objective.total]

    def stops() -> bool:
        return due() and callback(len(path) - 1, path[-1], point.theta)

    stopped = stops()
    while small < rule.patience:
        if stopped or len(path) > max_iter:
            reason = Reason.INTERRUPTED if stopped else Reason.MAX_ITER
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
        small = small + 1 if path[-2] - path[-1] < max(tol, share * path[-1]) else 0
        point = new
        stopped = stops()
    else:
        reason = Reason.SMALL_DECREASE
    return Solution(point.theta, tuple(path), reason, passes)


def _first_acceptable(objective: Function, point: Point, rule: Rule) -> tuple[Point | None, int]:
    """Return the first candidate at or below its bound (the last if it is no number; else none), and the tries."""
    new, tried = None, 0
    for theta, bound in rule.candidates(point):
        new = objective(theta)
        tried += 1
        if new.value <= bound:
            return new, tried
    return (new if new is not None and not math.isfinite(new.value) else None), tried
