"""The one iteration loop. Rules propose, the loop evaluates, accepts and decides when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from .._typing import Array
from ..progress import Progress, Run, Watch
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


# For these a search never goes on.
ENDED = (Reason.SMALL_DECREASE, Reason.SETTLED, Reason.ROUNDING, Reason.NOT_FINITE)


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

    def memory(self) -> dict[str, Array]:
        """Return what it remembers, as it is now."""

    def remember(self, memory: Mapping[str, Array]) -> None:
        """Go on as the rule whose memory it was."""


class Function(Protocol):
    """What the loop minimises; ``total`` is the unit in which it is told."""

    total: float

    def __call__(self, theta: Array) -> Point:
        """Return the value and half the derivative at a place."""


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
    share: float = 0.0  # of the objective, by which a fall is small too

    def progress(self, begin: Progress, objective: Objective, iteration: int, value: float, theta: Array) -> Progress:
        """Return where a search is that began with ``begin``."""

        def draw() -> Array:
            return self.canonical(objective.structure.unknown(theta)) / objective.engine.scale

        where = replace(begin, max_iter=self.max_iter, tol=self.tol * self.unit)
        where = replace(where, iteration=iteration, stress=value * self.unit)
        return replace(where, _draw=draw, _keep=self.watch.journal.arrays)

    def end(self, begin: Progress, objective: Objective, solution: Solution) -> None:
        """Tell those who watch where a search that began with ``begin`` came to its end."""
        if self.watch.listeners:
            last = self.progress(begin, objective, solution.n_iter, solution.value, solution.theta)
            self.watch.end(last, solution.converged)


# A search that goes on from a run, if it is given one; tells how far it is (iteration, objective, theta, and how many
# iterations are sure to follow), which says whether to stop; and takes notes, if anybody wants them.
Tell = Callable[..., bool]
Note = Callable[[Run], None]
Search = Callable[[Run | None, Tell, Note | None], "Solution"]


def take_up(objective: Objective, search: Search, settings: SearchSettings, begin: Progress) -> Solution:
    """Let a search begin, or go on from where it was left, and tell those who watch how far it is."""
    watch, journal = settings.watch, settings.watch.journal
    key = journal.key(begin.stage, begin.start)
    run = journal.find(key, lambda run: _is_over(run, settings.max_iter))

    def tell(iteration: int, value: float, theta: Array, ahead: int = 0) -> bool:
        if not watch.listeners:
            return watch.stopped.is_set()
        return watch.tell(settings.progress(replace(begin, ahead=ahead), objective, iteration, value, theta))

    if run is not None and _is_over(run, settings.max_iter):
        tell(run.n_iter, run.path[-1], run.theta)
        return Solution(run.theta, run.path, Reason(run.reason), run.passes)
    solution = search(run, tell, (lambda run: journal.note(key, run)) if watch.listeners else None)
    if solution.reason is Reason.INTERRUPTED:
        watch.stopped.set()
    return solution


def follow(
    objective: Objective, theta: Array, make_rule: Callable[[], Rule], settings: SearchSettings, begin: Progress
) -> Solution:
    """Minimise from a start, or from where it was left, by a rule."""

    def search(run: Run | None, tell: Tell, note: Note | None) -> Solution:
        limits: dict[str, Any] = {"tol": settings.tol, "share": settings.share, "max_iter": settings.max_iter}
        return minimise(
            objective, theta, make_rule(), **limits, callback=tell, run=run, note=note, due=settings.watch.is_due
        )

    return take_up(objective, search, settings, begin)


def _is_over(run: Run, max_iter: int) -> bool:
    """Tell whether a search had come to its end; one that lacked iterations has not if there are more now."""
    if run.reason == Reason.MAX_ITER.value:
        return run.n_iter >= max_iter
    return run.reason not in ("", Reason.INTERRUPTED.value)


def minimise(
    objective: Function,
    theta: Array,
    rule: Rule,
    *,
    tol: float,
    max_iter: int,
    share: float = 0.0,
    callback: Callable[[int, float, Array], bool] = lambda *_: False,
    run: Run | None = None,
    note: Callable[[Run], None] | None = None,
    due: Callable[[], bool] = lambda: True,
) -> Solution:
    """Follow ``rule`` from ``theta`` until the normalised objective falls by less than ``tol``, or a ``share`` of it.

    The objective never rises: a candidate is accepted only at or below its bound, never above the present value. Ctrl-C
    ends it where it is, and so does a callback (iteration, objective, theta) that returns True. A ``run`` that was left
    goes on instead, and ``note`` is told where it is before each callback, and at its end. Of iterations that are not
    ``due`` neither is told.
    """
    point, passes, small = objective(theta if run is None else run.theta), 1, 0
    if not math.isfinite(point.value):
        raise FloatingPointError(
            f"the stress at the start is {point.value}; the start, the dissimilarities or the weights span too many "
            "orders of magnitude."
        )
    path = [point.value / objective.total]
    if run is not None:  # the pass that was made again is not counted again
        path, passes, small = list(run.path), run.passes, run.small
        rule.remember(run.rule)

    def heard(reason: str = "") -> bool:
        if not reason and not due():
            return False
        if note is not None:
            note(Run(point.theta, tuple(path), passes, small, reason, {} if reason in ENDED else rule.memory()))
        return False if reason else callback(len(path) - 1, path[-1], point.theta)

    stopped = heard()
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
        stopped = heard()
    else:
        reason = Reason.SMALL_DECREASE
    heard(reason.value)
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
