"""Starts: the closed form, random ones, or the user's; and the best of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ..kernels import Workers, each, elsewhere
from ..problem import KnownFeatures
from ..progress import Progress, SavedFit
from ._closed_form import closed_form, coefficients
from ._loop import MakeRule, Objective, Reason, Report, SearchSettings, Solution, catching_interrupt, minimise

# A start's coefficients and coordinates are kept at least this share of a typical distance: from exactly zero the
# gradient is zero too, and no descent ever leaves.
LEAST_SHARE = 0.01
# Eigenvectors of this relative accuracy give the same start to five decimals in a fraction of the time.
START_ACCURACY = 1e-2
# Measured, 20 starts, seconds with two threads and with one: 0.14 and 0.08 at 60 objects, 0.20 and 0.22 at 200,
# 0.24 and 0.41 at 300.
PARALLEL_FROM = 200
# Sums over many pairs depend a little on the number of threads and on the machine.
SAME_STRESS = 1e-6
OTHER_DATA = (
    "the checkpoint is of another fit: its map has another stress with these dissimilarities, known features and "
    "weights; pass the same data, or begin anew."
)


class Start(NamedTuple):
    """A start and its kind in the report; one from a checkpoint may have its solution."""

    kind: str
    theta: Array
    solution: Solution | None = None


def automatic_n_starts(n: int) -> int:
    """Return the default number of starts: 128 for a dozen objects, 110 for a hundred, 7 for a thousand, then 1.

    A start costs a fixed overhead for few objects and grows with N squared for many; this spends about half a second.
    """
    return max(1, round(128 / (1 + n**2 / 60_000)))


def make_starts(
    objective: Objective, known: KnownFeatures, init: str, n_starts: int, rng: np.random.Generator
) -> Iterator[Start]:
    """Yield ``n_starts`` starts: the closed form first unless only random ones are asked for.

    Random ones have normal coordinates, and together with the coefficients the size of the dissimilarities.
    """
    structure = objective.structure
    if init != "random":
        U, gram, _ = closed_form(objective.engine, known, structure.p, tol=START_ACCURACY)
        yield Start("closed-form", structure.pack(*off_zero(objective, known, U, gram, rng)))
        n_starts -= 1
    # Squared distances add up over p + q columns, and a pair's squared difference is twice a variance.
    size = _typical_distance(objective) / np.sqrt(2.0 * (structure.p + known.n_dimensions))
    for child in rng.spawn(n_starts):
        U = child.normal(scale=size, size=(structure.n, structure.p))
        # The coefficients of a block are of one size, in a metric in which its coding does not matter.
        sizes = size * child.lognormal(sigma=0.5, size=len(known.groups))
        B = coefficients(known, np.zeros((known.n_kept,) * 2), sizes)
        yield Start("random", structure.pack(U, B, child))


def off_zero(
    objective: Objective, known: KnownFeatures, U: Array, gram: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return coordinates, and coefficients of some BB', moved off zero where they have zeros."""
    least = LEAST_SHARE * _typical_distance(objective)
    flat = np.sqrt(np.mean(U**2, axis=0)) < least
    return U + flat * rng.normal(scale=least, size=U.shape), coefficients(known, gram, least)


def given_start(objective: Objective, known: KnownFeatures, U: Array, B: Array) -> Start:
    """Return the user's map (n x p) and coefficients (all known columns, the user's units) as a start."""
    kept = list(known.kept)
    # V B with V in raw units: standard units are raw ones divided by the scale, so B is multiplied by it.
    standard = known.scale[kept, None] * B[np.ix_(kept, kept)]
    return Start("given", objective.structure.pack(U * objective.engine.scale, standard * objective.engine.scale))


def _typical_distance(objective: Objective) -> float:
    """Return the root mean square of the (scaled) dissimilarities, each weighted as in the stress."""
    engine = objective.engine
    return float(np.sqrt(engine.total / (engine.graph.degrees.sum() / 2)))


def saved_start(objective: Objective, saved: SavedFit, number: int, max_iter: int) -> Start | None:
    """Return a start of a checkpoint, if it has one: with its solution unless it is unfinished or lacked iterations."""
    start = saved.starts.get((objective.structure.p, number))
    if start is None:
        return None
    if start.theta.shape != (objective.structure.size,) or not start.path:
        raise ValueError(OTHER_DATA)
    solution = None
    if start.reason and (start.reason != Reason.MAX_ITER.name or len(start.path) > max_iter):
        solution = Solution(start.theta, start.path, Reason[start.reason], start.passes, start.kind)
    return Start(start.kind, start.theta, solution)


def with_saved(objective: Objective, starts: list[Start], saved: SavedFit, max_iter: int) -> list[Start]:
    """Return starts, those of a checkpoint in their places; raise if its map has another stress with these data."""
    merged = [saved_start(objective, saved, number + 1, max_iter) or start for number, start in enumerate(starts)]
    first = next((number for number, start in enumerate(merged) if start is not starts[number]), None)
    if first is not None:
        stress = objective(merged[first].theta).value / objective.total
        if not math.isclose(stress, saved.starts[objective.structure.p, first + 1].path[-1], rel_tol=SAME_STRESS):
            raise ValueError(OTHER_DATA)
    return merged


def attempt_all(
    objective: Objective,
    starts: Iterable[Start],
    workers: Workers,
    settings: SearchSettings,
    stage: str = "search",
) -> list[Solution]:
    """Follow every start to its end, several at a time where a pass itself cannot use the threads.

    Below PARALLEL_FROM objects a start is mostly interpreted code, which threads cannot share. After Ctrl-C, or when a
    callback asks for it, those that have begun end where they are, and the others are left out.
    """
    queue, watch = list(starts), settings.watch
    watch.begin(stage, len(queue))
    side_by_side = len(queue) > 1 and objective.engine.one_thread
    if side_by_side and not watch.watched and elsewhere() > 1:
        # The workers of joblib's backend share the starts, and nothing is reported.
        options = {"tol": settings.tol, "max_iter": settings.max_iter, "share": settings.share}
        return list(each(partial(_follow_alone, objective, settings.make_rule, options), queue))
    make_rule = settings.make_rule(objective)
    solutions: dict[int, Solution] = {}

    def attempt(number: int) -> None:
        start = queue[number]
        if number and start.solution is None and watch.stopped.is_set():  # without the first there is no map
            return
        report = Report(settings, objective, Progress(stage, start=number + 1, n_starts=len(queue), kind=start.kind))
        solutions[number] = start.solution or report.follow(start.theta, make_rule())  # first: a callback may raise
        report.end(solutions[number])

    with catching_interrupt(watch.stopped):
        try:
            (workers if side_by_side and objective.engine.n >= PARALLEL_FROM else Workers(1)).run(attempt, len(queue))
        except KeyboardInterrupt:
            # Without a map there is nothing to keep, and a second Ctrl-C ends the fit without one.
            if watch.stopped.is_set() or not solutions:
                raise
            watch.stopped.set()
    done = list(map(solutions.__getitem__, sorted(solutions)))
    if watch.stopped.is_set() and not was_cut_short(done):  # it was stopped between two starts
        done[-1] = replace(done[-1], reason=Reason.INTERRUPTED)
    return done


def _follow_alone(objective: Objective, make_rule: MakeRule, options: dict[str, Any], start: Start) -> Solution:
    """Follow a start in another process, which has a rule of its own."""
    found = start.solution or minimise(objective, start.theta, make_rule(objective)(), **options)
    return replace(found, kind=start.kind)


def was_cut_short(solutions: Sequence[Solution]) -> bool:
    """Return whether a start was interrupted, so that no other should follow."""
    return Reason.INTERRUPTED in map(attrgetter("reason"), solutions)


def best_of(solutions: Sequence[Solution]) -> Solution:
    """Return the solution with the lowest objective, the first of equals."""
    return min(solutions, key=attrgetter("value"))
