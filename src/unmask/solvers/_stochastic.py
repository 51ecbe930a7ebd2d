"""Many objects: landmarks are fitted exactly, all others are placed among them, and all take steps together.

A step uses b random references instead of all objects. In the majoriser's metric it is "theta minus the gradient" of
the stress that these estimate. Steps are whole while the stress falls by more than the noise of the references. Then
they have lengths 1, 1/2, 1/3 …, which average over all references since. Stress before and after a stretch of steps is
compared on the same fresh references, so that their common noise cancels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..engines import make_engine
from ..kernels import ArraySource, Pairs, Source, Workers, rectangle, strip_reader
from ..problem import KnownFeatures, Problem
from ..problem.linalg import symmetric_root
from ..progress import Progress
from ._canonical import canonical_map
from ._closed_form import closed_form
from ._loop import (
    Objective,
    Point,
    Reason,
    Report,
    SearchSettings,
    Solution,
    Stage,
    catching_interrupt,
    make_objective,
    run_stage,
)
from ._starts import LEAST_SHARE, START_ACCURACY, Start, attempt_all, automatic_n_starts, best_of, make_starts, off_zero

# Few landmarks err most in soft directions of the map, along which the stress hardly rises, and there steps against
# references correct slowly. So the closed form of the landmarks is turned to the principal axes of all objects, and
# landmarks are not fitted to the last digit. On three sets of curved data, N = 10,000, 70 steps: 1.004 of the exact
# minimum each; without either 1.008 to 1.014.
LANDMARKS, FIRST = 3000, 1000
LANDMARK_SHARE = 1e-3  # of the stress: a landmark fit ends when an iteration lowers it by less
# Axes almost as long as the last one that is asked for may be longer than it among all objects.
SPARE_AXES, ALMOST = 4, 0.5
NO_LOWER = 0.01  # another start replaces the closed form if its stress is lower by this share
EACH_LEVEL = 5  # landmarks of every level of a known feature, if there are so many
PLACED_BY = 256  # landmarks that each other object is placed by
PLACED_TOGETHER = 2048
PLACING_STEPS = 4  # of Newton's method; the steps of all objects together do the rest
SEVERAL_STARTS = 2  # dimensions up to which there are several starts
# A smaller fall, as a share of the stress, is not worth as many iterations again.
SMALL_FALL = 1e-3
# Iterations between two comparisons: while steps are whole, and at first while they shrink (then twice as many, …).
WHOLE, SHRINKING = 10, 20


def choose_landmarks(known: KnownFeatures, pool: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Return random objects of a pool, among them some of every level of each known feature."""
    order = rng.permutation(pool)
    chosen = [order[:number]]
    for feature in known.features:
        if feature.coding.levels:
            coded = known.values[:, known.columns_of(feature)][order]
            level = np.unique(coded, axis=0, return_inverse=True)[1].ravel()
            chosen += [order[np.flatnonzero(level == at)[:EACH_LEVEL]] for at in range(level.max() + 1)]
    return np.unique(np.concatenate(chosen))


def fit_landmarks(
    problem: Problem,
    settings: SearchSettings,
    workers: Workers,
    rng: np.random.Generator,
    init: str,
    number: int | None,
) -> tuple[IntArray, Stage]:
    """Return landmarks and their fit to each other; from several starts in few dimensions, where minima abound."""
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
        if theta is None or best.value < (1.0 - NO_LOWER) * attempts[0].value:
            theta = place_others(objective, own, few, Stage(first, best), workers)
    return at, run_stage("landmarks", objective, theta, settings)


def closed_form_of_all(
    problem: Problem, few: IntArray, fewer: Problem, first: Objective, workers: Workers, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return coordinates of all objects, and coefficients: the closed form of a few, by which the others are placed.

    The axes are the principal ones of all objects; among a few, two of almost the same length may change places.
    """
    p, known = problem.p, problem.known
    U, gram, values = closed_form(first.engine, fewer.known, p + SPARE_AXES if p else 0, tol=START_ACCURACY)
    wide: Array = np.empty((problem.n, max(p, int(np.sum(values > ALMOST * values[p - 1])) if p else 0)))
    if p:
        # Along an axis that is almost zero, triangulation would find noise.
        wide[few] = (U * (values > LEAST_SHARE**2 * values[0]))[:, : wide.shape[1]]
        root = known.blockwise(lambda group: symmetric_root(gram[np.ix_(group, group)]))
        _place_by(wide, known.values @ root, few, problem.pairs, workers, most_steps=0)
        wide = canonical_map(wide)[:, :p]
    return off_zero(first, fewer.known, wide, gram, rng)


def _among(problem: Problem, at: IntArray, workers: Workers) -> tuple[Problem, Objective]:
    """Return the problem of some objects and all their pairs, and its objective."""
    pairs = problem.pairs
    source = ArraySource(np.ascontiguousarray(rectangle(pairs.source, at, at)))
    part = Pairs(source, pairs.scale, pairs.weighting, floor=pairs.floor, factor=pairs.factor, every_pair=True)
    own = replace(problem, pairs=part, known=problem.known.take(at))
    return own, make_objective(own, make_engine(part, workers))


def place_others(objective: Objective, problem: Problem, at: IntArray, stage: Stage, workers: Workers) -> Array:
    """Return theta for all objects: the landmarks where they are, the others placed by some of them."""
    known, p = problem.known, problem.p
    structure, theta = stage.objective.structure, stage.solution.theta
    gram = structure.gram(theta)
    B = known.blockwise(lambda group: symmetric_root(gram[np.ix_(group, group)]))
    U = np.empty((problem.n, p))
    if p:
        U[at] = structure.unknown(theta)
        _place_by(U, known.values @ B, at, problem.pairs, workers, most_steps=PLACING_STEPS)
        U[at] = structure.unknown(theta)
    return objective.structure.pack(U, B)


def _place_by(U: Array, V: Array, at: IntArray, pairs: Pairs, workers: Workers, *, most_steps: int) -> None:
    """Place all objects by some of those with the given numbers, which have coordinates."""
    some = at[np.linspace(0, len(at) - 1, min(PLACED_BY, len(at))).astype(int)]
    shared = some, U[some].copy(), V[some], pairs.scale, pairs.floor, most_steps
    for objects, placed in pairs.source.over_stretches("place", _placed, workers, shared, V):
        U[objects] = placed


def _placed(source: Source, objects: slice, workers: Workers, shared: tuple[Any, ...], V: Array) -> Array:
    """Return the coordinates of consecutive objects, placed some at a time."""
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
    settings.watch.begin("stochastic", 1)
    report = Report(settings, objective, Progress("stochastic", start=1, n_starts=1, kind=kind))
    with catching_interrupt(settings.watch.stopped):
        solution = replace(_Descent(objective).follow(theta, settings.max_iter, report), kind=kind)
    report.end(solution)
    return solution


class _Descent:
    """Steps against random references, and the number of passes they took."""

    def __init__(self, objective: Objective) -> None:
        self.engine: Any = objective.engine  # which samples
        self.objective, self.passes = objective, 0

    def follow(self, theta: Array, max_iter: int, report: Report) -> Solution:
        """Step until there is a reason to stop; stretches of whole and of shrinking steps end with a comparison."""
        whole, earlier, here = True, 0, 0  # steps in earlier stretches of this kind, and in this one
        path: list[float] = []
        point = self._draw(theta)
        before = point.theta
        while True:
            path.append(point.value / self.objective.total)
            # Of shrinking steps the next stretch is as long as all before it.
            ahead = (WHOLE if whole else max(SHRINKING, earlier)) - here
            stop = report(len(path) - 1, path[-1], point.theta, max(ahead, 1))
            reason = None
            if not np.isfinite(path[-1]):
                reason = Reason.NOT_FINITE
            elif stop:
                reason = Reason.INTERRUPTED
            elif len(path) > max_iter:
                reason = Reason.MAX_ITER
            elif ahead == 0:
                if self._fell(before, point):
                    earlier, here = earlier + here, 0
                elif whole:
                    whole, earlier, here = False, 0, 0
                else:
                    reason = Reason.SETTLED
                before = point.theta
            if reason is not None:
                return Solution(point.theta, tuple(path), reason, self.passes)
            point = self._step(point, 1.0 if whole else 1.0 / (2.0 + earlier + here))
            here += 1

    def _draw(self, theta: Array) -> Point:
        """Return the point at theta on fresh references."""
        self.engine.draw()
        self.passes += 1
        return self.objective(theta)

    def _step(self, point: Point, length: float) -> Point:
        """Take a step; where the lift is not linear, one that does not raise the stress on the same references."""
        length *= self.objective.safe_step
        for halving in range(self.objective.halvings):
            ahead = self.objective(point.theta - 0.5**halving * length * point.gradient)
            self.passes += 1
            if ahead.value <= point.value:
                return self._draw(ahead.theta)
        return self._draw(self.objective.structure.project(point.theta - length * point.gradient))

    def _fell(self, before: Array, point: Point) -> bool:
        """Return whether the stress fell by more than its standard error, on the references of the last evaluation."""
        each = self.engine.each
        earlier = self.objective(before)
        self.passes += 1
        error = float(np.std(self.engine.each - each, ddof=1) / np.sqrt(len(each)))
        return earlier.value - point.value > max(error, SMALL_FALL * point.value)
