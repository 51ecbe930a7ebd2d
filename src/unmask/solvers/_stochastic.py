"""Many objects: landmarks fitted exactly, all others placed among them, then steps against random references.

A step of conditional SMACOF against b random references is, in the majoriser's metric, "theta minus the gradient" of
the stress that these estimate, scaled up to all pairs. Whole steps first, while the stress falls by more than the noise
of the references; then steps of 1, 1/2, 1/3 …, which is to say the mean over all references since. How long either
lasts is decided by the stress on fresh references: a place is compared with an earlier one on the same of them, so that
what these have in common drops out of the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..engines import SampledEngine, make_engine
from ..kernels import ArraySource, Pairs, Source, Workers, rectangle, strip_reader
from ..problem import KnownFeatures, Problem
from ..problem.linalg import symmetric_root
from ..progress import Progress
from ._canonical import canonical_map
from ._closed_form import closed_form
from ._interrupt import hearing_interrupt
from ._loop import Reason, SearchSettings, Solution
from ._objective import Objective, Point, make_objective
from ._stages import Stage, run_stage
from ._starts import LEAST_SHARE, START_ACCURACY, Start, attempt_all, automatic_n_starts, best_of, make_starts, off_zero

# Soft directions of a map, along which the stress hardly rises, are where few landmarks lead astray and where steps
# against references are slow to lead back. So the closed form, which is of some landmarks, is turned to the principal
# axes of all objects; and landmarks are not fitted to the last digit, for the last of the fall is theirs alone. On
# three sets of curved data, N = 10,000, 70 steps: 1.004 of the exact minimum each; without either 1.008 to 1.014.
LANDMARKS, FIRST = 3000, 1000
LANDMARK_SHARE = 1e-3  # of the stress: a landmark fit ends when an iteration lowers it by less
# Axes of almost the same length as the last that is asked for may change places with it where all objects are counted.
SPARE_AXES, ALMOST = 4, 0.5
NO_LOWER = 0.01  # share by which the stress of few landmarks must be lower for another start than the closed form
EACH_LEVEL = 5  # landmarks of every level of a known feature, if there are so many
PLACED_BY = 256  # landmarks that each other object is placed by
PLACED_TOGETHER = 2048
PLACING_STEPS = 4  # of Newton's: what is left of the way is walked with the others
SEVERAL_STARTS = 2  # are followed up to so many dimensions
# A fall by less than this share of the stress, which is told no more exactly, is not worth as many iterations again.
SMALL_FALL = 1e-3
# Iterations between two comparisons: while steps are whole, and at first while they shrink (then twice as many, …).
WHOLE, SHRINKING = 10, 20


def choose_landmarks(known: KnownFeatures, pool: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Return random objects of those there are to choose from, some of every level of each known feature among them."""
    order = rng.permutation(pool)
    chosen = [order[:number]]
    for feature in known.features:
        if feature.coding.levels:
            coded = known.values[:, known.columns_of(feature)][order]
            level = np.unique(coded, axis=0, return_inverse=True)[1].ravel()
            chosen += [order[np.flatnonzero(level == at)[:EACH_LEVEL]] for at in range(level.max() + 1)]
    return np.unique(np.concatenate(chosen))


@dataclass(frozen=True)
class Landmarks:
    """Objects that were fitted exactly, and the stage in which that ended."""

    objects: IntArray
    stage: Stage


def fit_landmarks(
    problem: Problem,
    settings: SearchSettings,
    workers: Workers,
    rng: np.random.Generator,
    init: str,
    number: int | None,
) -> Landmarks:
    """Fit some objects by themselves; from several starts where there are few dimensions, and more to go wrong."""
    settings = replace(settings, share=LANDMARK_SHARE, saved=None)
    at = choose_landmarks(problem.known, problem.pairs.pool, LANDMARKS, rng)
    own, objective = _among(problem, at, workers)
    few = choose_landmarks(own.known, np.arange(own.n), FIRST, rng)
    fewer, first = _among(own, few, workers)
    if number is None:
        number = automatic_n_starts(len(few)) if problem.p <= SEVERAL_STARTS else 1
    starts: list[Start] = []
    theta: Array | None = None
    if init != "random":
        U, B = closed_form_of_all(problem, at[few], fewer, first, workers, rng)
        starts = [Start("closed-form", first.structure.pack(U[at[few]], B))]
        theta = objective.structure.pack(U[at], B)
    starts += make_starts(first, fewer.known, "random", number - len(starts), rng)
    if len(starts) > 1 or theta is None:
        attempts = attempt_all(first, starts, workers, settings, "landmarks")
        best = best_of(attempts)
        if theta is None or best.value < (1.0 - NO_LOWER) * attempts[0].solution.value:
            theta = place_others(objective, own, Landmarks(few, Stage(first, best)), workers)
    return Landmarks(at, run_stage("landmarks", objective, theta, settings))


def closed_form_of_all(
    problem: Problem, few: IntArray, fewer: Problem, first: Objective, workers: Workers, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return coordinates of all objects, and coefficients: the closed form of a few, which the others join.

    Its axes are the principal ones of all objects; among a few, two of almost the same length may change places.
    """
    p, known = problem.p, problem.known
    U, gram, values = closed_form(first.engine, fewer.known, p + SPARE_AXES if p else 0, tol=START_ACCURACY)
    wide: Array = np.empty((problem.n, max(p, int(np.sum(values > ALMOST * values[p - 1])) if p else 0)))
    if p:
        # Along an axis that is next to nothing, triangulation would find noise.
        wide[few] = (U * (values > LEAST_SHARE**2 * values[0]))[:, : wide.shape[1]]
        root = known.blockwise(lambda group: symmetric_root(gram[np.ix_(group, group)]))
        _place_by(wide, known.values @ root, few, problem.pairs, workers, most_steps=0)
        wide = canonical_map(wide)[:, :p]
    return off_zero(first, fewer.known, wide, gram, rng)


def _among(problem: Problem, at: IntArray, workers: Workers) -> tuple[Problem, Objective]:
    """Return the problem of some objects by themselves, with all their pairs."""
    pairs = problem.pairs
    source = ArraySource(np.ascontiguousarray(rectangle(pairs.source, at, at)))
    part = Pairs(source, pairs.scale, pairs.weighting, floor=pairs.floor, factor=pairs.factor, every_pair=True)
    own = replace(problem, pairs=part, known=problem.known.take(at))
    return own, make_objective(own, make_engine(part, workers))


def place_others(objective: Objective, problem: Problem, landmarks: Landmarks, workers: Workers) -> Array:
    """Return theta for all objects: the landmarks where they are, the others placed by some of them."""
    known, p, at = problem.known, problem.p, landmarks.objects
    structure, theta = landmarks.stage.objective.structure, landmarks.stage.solution.theta
    gram = structure.gram(theta)
    B = known.blockwise(lambda group: symmetric_root(gram[np.ix_(group, group)]))
    U = np.empty((problem.n, p))
    if p:
        U[at] = structure.unknown(theta)
        _place_by(U, known.values @ B, at, problem.pairs, workers, most_steps=PLACING_STEPS)
        U[at] = structure.unknown(theta)
    return objective.structure.pack(U, B)


def _place_by(U: Array, V: Array, at: IntArray, pairs: Pairs, workers: Workers, *, most_steps: int) -> None:
    """Place all objects by some of those at certain positions, a stretch at a time."""
    some = at[np.linspace(0, len(at) - 1, min(PLACED_BY, len(at))).astype(int)]
    shared = some, U[some].copy(), V[some], pairs.scale, pairs.floor, most_steps
    for objects, placed in pairs.source.over_stretches("place", _placed, workers, shared, V):
        U[objects] = placed


def _placed(source: Source, objects: slice, workers: Workers, shared: tuple[Any, ...], V: Array) -> Array:
    """Return places of a stretch of objects, some at a time."""
    some, partners, V_some, scale, floor, most_steps = shared
    strip = strip_reader(source, some)
    U, nothing = np.empty((len(V), partners.shape[1])), np.zeros(len(some))
    for first in range(0, len(V), PLACED_TOGETHER):
        own = slice(first, min(first + PLACED_TOGETHER, len(V)))
        there = slice(objects.start + own.start, objects.start + own.stop)
        delta = strip(there).T.astype(np.float64) * scale
        weight = np.ones_like(delta) if floor == 0.0 else 1.0 / np.maximum(delta, floor)
        others = V[own], partners, V_some, V_some, nothing, workers
        U[own] = kernels.placing.place(delta, weight, *others, most_starts=1, most_steps=most_steps)
    return U


def descend(objective: Objective, theta: Array, settings: SearchSettings, kind: str) -> Solution:
    """Step against random references until the stress on fresh ones falls by less than its standard error."""
    engine: Any = objective.engine  # which samples
    settings.watch.begin("stochastic", 1)
    begin = Progress("stochastic", start=1, n_starts=1, kind=kind)
    with hearing_interrupt(settings.watch.stopped):
        report = settings.reporter(begin, objective)
        solution = _Descent(objective, engine, settings.max_iter, report).follow(theta)
    settings.end(begin, objective, solution)
    return solution


@dataclass
class _Pace:
    """How long a step is: whole steps first, then shrinking ones; stretches of either end with a comparison."""

    whole: bool = True
    done: int = 0  # in earlier stretches
    at: int = 0  # in this one

    @property
    def length(self) -> float:
        return 1.0 if self.whole else 1.0 / (2.0 + self.done + self.at)

    @property
    def ahead(self) -> int:
        """Steps that are left of the stretch: of shrinking ones the next is as long as all before it."""
        return (WHOLE if self.whole else max(SHRINKING, self.done)) - self.at

    def next_stretch(self) -> None:
        self.done, self.at = self.done + self.at, 0

    def shrink(self) -> None:
        self.whole, self.done, self.at = False, 0, 0


class _Descent:
    """One descent: where it is, the path so far, and how it goes on."""

    def __init__(self, objective: Objective, engine: SampledEngine, max_iter: int, report: Callable[..., bool]) -> None:
        self.objective, self.engine, self.max_iter, self.report = objective, engine, max_iter, report
        self.safe, self.halvings = objective.safe_step(), objective.halvings
        self.path: list[float] = []
        self.passes, self.pace = 0, _Pace()

    def follow(self, theta: Array) -> Solution:
        """Go on from a place until there is a reason to stop."""
        point = self._at(theta)
        self.before = point.theta
        reason = self._reported(point)
        while reason is None:
            if not self.pace.ahead and not self._goes_on(point):
                reason = Reason.SETTLED
            else:
                point = self._step(point)
                reason = self._reported(point)
        return Solution(point.theta, tuple(self.path), reason, self.passes)

    def _at(self, theta: Array) -> Point:
        """Evaluate a place on fresh references."""
        self.engine.draw()
        self.passes += 1
        return self.objective(theta)

    def _step(self, point: Point) -> Point:
        """Go on; where the lift is not linear, by a step that does not raise the stress on the same references."""
        length = self.pace.length * self.safe
        self.pace.at += 1
        for halving in range(self.halvings):
            ahead = self.objective(point.theta - 0.5**halving * length * point.gradient)
            self.passes += 1
            if ahead.value <= point.value:
                return self._at(ahead.theta)
        return self._at(self.objective.structure.project(point.theta - length * point.gradient))

    def _goes_on(self, point: Point) -> bool:
        """Compare with the beginning of a stretch that is over: go on as before, by shrinking steps, or not."""
        if self._fell(point):
            self.pace.next_stretch()
        elif self.pace.whole:
            self.pace.shrink()
        else:
            return False
        self.before = point.theta
        return True

    def _fell(self, point: Point) -> bool:
        """Tell whether the stress fell by more than its standard error, on the references of the last evaluation."""
        here = self.engine.each
        there = self.objective(self.before)
        self.passes += 1
        error = float(np.std(self.engine.each - here, ddof=1) / np.sqrt(len(here)))
        return there.value - point.value > max(error, SMALL_FALL * point.value)

    def _reported(self, point: Point) -> Reason | None:
        """Report a place, and return a reason to stop if there is one."""
        value = point.value / self.objective.total
        self.path.append(value)
        iteration = len(self.path) - 1
        stop = self.report(iteration, value, point.theta, max(self.pace.ahead, 1))
        if not np.isfinite(value):
            return Reason.NOT_FINITE
        if stop:
            return Reason.INTERRUPTED
        return Reason.MAX_ITER if iteration >= self.max_iter else None
