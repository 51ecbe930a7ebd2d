"""The function that is minimised, the rules that propose steps, and the one loop that follows them."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from .. import kernels
from .._typing import Array
from ..engines import Engine
from ..problem import Problem, Structure, make_structure
from ..progress import Progress, SavedFit, SavedStart, Watch
from ._canonical import canonical_map

# ---- the objective


class Point(NamedTuple):
    """The parameters theta, the value of the objective there, and half its derivative."""

    theta: Array
    value: float
    gradient: Array


class Objective:
    """The stress as a function of theta: one pass over the pairs a call. Several threads may call it.

    Theta is measured in the root of H's diagonal. A step of length ``safe_step`` along the gradient never raises the
    stress: for unit weights the majoriser is then the identity, for others H <= 2 diag(H), as for every Laplacian.
    Where the lift is not linear, or the cost is another one, it may have to be halved up to ``halvings`` times.
    """

    def __init__(self, engine: Engine, structure: Structure) -> None:
        self.engine, self.structure, self.total = engine, structure, engine.total
        self.safe_step = 1.0 if engine.graph.unit_weights else 0.5
        self.halvings = 30 if structure.nonlinear or not engine.majorises else 0

    def __call__(self, theta: Array) -> Point:
        structure = self.structure
        theta = structure.project(theta)
        value, G = self.engine.stress(structure.lift(theta))
        gradient = structure.adjoint(theta, G)
        if structure.nonlinear:
            value += structure.price(theta)
        if structure.constrained:
            # The part of a majorisation step that stays permitted: the gradient where there is no constraint, and zero
            # at the constrained minimum. Every rule uses it as a gradient.
            gradient = theta - structure.project(theta - gradient)
        return Point(theta, value, gradient)


def make_objective(problem: Problem, engine: Engine) -> Objective:
    """Return the objective of a problem for an engine, with its structure."""
    return Objective(engine, make_structure(problem, engine.graph))


# ---- rules


class Rule(Protocol):
    """How to go on from a point: a memory and a way to step."""

    patience: int  # stop after this many small decreases in a row

    def candidates(self, point: Point) -> Iterator[tuple[Array, float]]:
        """Yield parameters to try, each with the value it must not exceed; the last is a majorisation step."""

    def learn(self, old: Point, new: Point) -> None:
        """Remember an accepted step."""


class Smacof:
    """Plain conditional SMACOF: the minimum of the majorising quadratic, every time."""

    patience = 1

    def __init__(self, step: Callable[[Array], Array], halvings: int = 0) -> None:
        self._step, self._halvings = step, halvings

    def candidates(self, point: Point) -> Iterator[tuple[Array, float]]:
        step = self._step(point.gradient)
        for halving in range(self._halvings + 1):
            yield point.theta - 0.5**halving * step, point.value

    def learn(self, old: Point, new: Point) -> None:
        """Keep no memory."""


class Lbfgs:
    """Limited-memory BFGS on the same pass, with Armijo backtracking and a majorisation step as a last resort.

    Theta is measured in the majoriser's metric, so the identity is the natural first guess of the curvature. On the
    raw scale of B the method is slower than SMACOF (221 passes against 189); in this metric it takes 32.
    """

    patience = 3  # one small decrease can be chance (a short step after backtracking)
    most = 8  # steps that are remembered
    trials = 4
    sufficient = 1e-4

    def __init__(self, size: int, safe_step: float, halvings: int = 0) -> None:
        self._safe_step, self._halvings, self._count = safe_step, halvings, 0
        self._kernels = kernels.lbfgs  # found once: a module that is imported when it is first used
        # Steps, changes of the gradient, and inverse curvatures.
        self._memory = np.zeros((self.most, size)), np.zeros((self.most, size)), np.zeros(self.most)

    def candidates(self, point: Point) -> Iterator[tuple[Array, float]]:
        theta, value, gradient = point
        if self._count:
            direction = self._kernels.lbfgs_direction(*self._memory, self._count, gradient)
            slope = 2.0 * float(np.einsum("i,i->", direction, gradient))
            step = 1.0
            for _ in range(self.trials if slope < 0.0 else 0):
                yield theta + step * direction, value + self.sufficient * step * slope
                step /= 2.0
            self._count = 0  # the memory misled: forget it
        for halving in range(self._halvings + 1):
            yield theta - 0.5**halving * self._safe_step * gradient, value

    def learn(self, old: Point, new: Point) -> None:
        step, change = new.theta - old.theta, new.gradient - old.gradient
        self._count += self._kernels.lbfgs_remember(*self._memory, self._count % self.most, step, change)


# Returns a maker of rules for an objective, each with a memory of its own.
MakeRule = Callable[[Objective], Callable[[], Rule]]


def smacof(objective: Objective) -> Callable[[], Rule]:
    """Return a maker of SMACOF rules that share one factorisation of H."""
    return partial(Smacof, objective.structure.step(objective.engine.graph.solver()), objective.halvings)


def lbfgs(objective: Objective) -> Callable[[], Rule]:
    """Return a maker of L-BFGS rules."""
    return partial(Lbfgs, objective.structure.size, objective.safe_step, objective.halvings)


RULES: dict[str, MakeRule] = {"lbfgs": lbfgs, "smacof": smacof}

# ---- the loop


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

    __str__ = sentence


@dataclass(frozen=True)
class Solution:
    """The parameters at which the loop stopped, the values on the way, and the reason."""

    theta: Array
    path: tuple[float, ...]  # normalised objective after 0, 1, 2 … iterations
    reason: Reason
    passes: int
    kind: str = ""  # of the start

    @property
    def value(self) -> float:
        return self.path[-1]

    @property
    def n_iter(self) -> int:
        return len(self.path) - 1

    @property
    def converged(self) -> bool:
        return self.reason in (Reason.SMALL_DECREASE, Reason.SETTLED, Reason.ROUNDING)


class Function(Protocol):
    """A function to minimise; its values are reported as shares of ``total``."""

    total: float

    def __call__(self, theta: Array) -> Point:
        """Return the value and half the derivative."""


def minimise(
    objective: Function,
    theta: Array,
    rule: Rule,
    *,
    tol: float,
    max_iter: int,
    share: float = 0.0,
    callback: Callable[[int, float, Array], bool] = lambda *_: False,
) -> Solution:
    """Follow ``rule`` from ``theta`` until the normalised objective falls by less than ``tol``, or a ``share`` of it.

    The objective never rises: a candidate is accepted only at or below its bound, never above the present value. It
    ends early after Ctrl-C, or when ``callback``, called with the iteration, the objective and theta, returns True.
    """
    point, passes, small = objective(theta), 1, 0
    if not math.isfinite(point.value):
        raise FloatingPointError(
            f"the stress at the start is {point.value}; the start, the dissimilarities or the weights span too many "
            "orders of magnitude."
        )
    path = [point.value / objective.total]
    stopped = callback(0, path[0], point.theta)
    while small < rule.patience:
        if stopped or len(path) > max_iter:
            reason = Reason.INTERRUPTED if stopped else Reason.MAX_ITER
            break
        new = None
        try:
            for candidate, bound in rule.candidates(point):
                new, passes = objective(candidate), passes + 1
                if new.value <= bound:
                    break
            else:
                reason = Reason.ROUNDING if new is None or math.isfinite(new.value) else Reason.NOT_FINITE
                break
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
            break
        assert new is not None
        rule.learn(point, new)
        path.append(new.value / objective.total)
        small = small + 1 if path[-2] - path[-1] < max(tol, share * path[-1]) else 0
        point = new
        stopped = callback(len(path) - 1, path[-1], point.theta)
    else:
        reason = Reason.SMALL_DECREASE
    return Solution(point.theta, tuple(path), reason, passes)


# ---- reports, and stages after the search


@dataclass(frozen=True)
class SearchSettings:
    """Options of a search. Reports give ``unit`` times the objective, and the map in its ``canonical`` form."""

    make_rule: MakeRule
    tol: float
    max_iter: int
    watch: Watch = field(default_factory=Watch)
    canonical: Callable[[Array], Array] = canonical_map
    unit: float = 1.0
    share: float = 0.0  # a fall by less than this share of the objective is small too
    saved: SavedFit | None = None  # receives the finished starts, for checkpoints


@dataclass
class Report:
    """Reports the iterations of one start to the callbacks of a fit; called after each, returns whether to stop."""

    settings: SearchSettings
    objective: Objective
    begin: Progress

    def __call__(self, iteration: int, value: float, theta: Array, ahead: int = 0) -> bool:
        watch = self.settings.watch
        if not watch.listeners or not watch.is_due():
            return watch.stopped.is_set()
        return watch.update(self._progress(iteration, value, theta, ahead))

    def follow(self, theta: Array, rule: Rule) -> Solution:
        """Minimise from a start by a rule."""
        tol, max_iter, share = self.settings.tol, self.settings.max_iter, self.settings.share
        found = minimise(self.objective, theta, rule, tol=tol, max_iter=max_iter, share=share, callback=self)
        return replace(found, kind=self.begin.kind)

    def end(self, solution: Solution) -> None:
        """Save a finished start, and report it."""
        watch, saved, begin = self.settings.watch, self.settings.saved, self.begin
        if solution.reason is Reason.INTERRUPTED:
            watch.stopped.set()
        elif saved is not None:
            start = SavedStart(begin.kind, solution.theta, solution.path, solution.passes, solution.reason.name)
            saved.starts[self.objective.structure.p, begin.start] = start
        if watch.listeners:
            watch.end(self._progress(solution.n_iter, solution.value, solution.theta), solution.converged)

    def _progress(self, iteration: int, value: float, theta: Array, ahead: int = 0) -> Progress:
        options, begin, structure = self.settings, self.begin, self.objective.structure
        here = structure.p, begin.start, SavedStart(begin.kind, theta, (value,))
        return replace(
            begin,
            iteration=iteration,
            stress=value * options.unit,
            max_iter=options.max_iter,
            tol=options.tol * options.unit,
            ahead=ahead,
            _draw=lambda: options.canonical(structure.unknown(theta)) / self.objective.engine.scale,
            _save=None if options.saved is None else partial(options.saved.including, *here),
        )


class Stage(NamedTuple):
    """An objective and its solution."""

    objective: Objective
    solution: Solution


def run_stage(name: str, objective: Objective, theta: Array, settings: SearchSettings) -> Stage:
    """Minimise from one start, and report it as a stage of its own."""
    settings.watch.begin(name, 1)
    report = Report(settings, objective, Progress(name, start=1, n_starts=1))
    solution = report.follow(theta, settings.make_rule(objective)())
    report.end(solution)
    return Stage(objective, solution)


@contextmanager
def catching_interrupt(pressed: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C only set ``pressed``, for the loop to look up; a second one raises KeyboardInterrupt.

    As an exception Ctrl-C could end any line, and compiled code turns it into a SystemError. Signals reach the main
    thread only, and the caller's own handler stays in place.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def press(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
