"""Starts: the closed form, random ones, or the user's; and the best of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from .._typing import Array
from ..checking import UnfinishedWarning, warn_user
from ..kernels import Workers, each, elsewhere
from ..problem import KnownFeatures
from ..problem.linalg import whitening
from ..progress import Progress, SavedFit
from ._closed_form import closed_form
from ._interrupt import hearing_interrupt
from ._loop import MakeRule, Reason, SearchSettings, Solution, follow, minimise
from ._objective import Objective

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
    """A place to start from, and its kind in the report; from a checkpoint perhaps with its solution."""

    kind: str
    theta: Array
    solution: Solution | None = None
    saved: bool = False


class Attempt(NamedTuple):
    """A start and where it led."""

    kind: str
    solution: Solution


def automatic_n_starts(n: int) -> int:
    """Return the default number of starts: 128 for a dozen objects, 110 for a hundred, 7 for a thousand, then 1.

    A start costs a fixed overhead for few objects and grows with N squared for many; this spends about half a second.
    """
    return max(1, round(128 / (1 + n**2 / 60_000)))


def closed_form_start(objective: Objective, known: KnownFeatures, rng: np.random.Generator) -> Start:
    """Return the closed form as a start, moved off zero where it has zeros."""
    U, gram, _ = closed_form(objective.engine, known, objective.structure.p, tol=START_ACCURACY)
    return Start("closed-form", objective.structure.pack(*off_zero(objective, known, U, gram, rng)))


def off_zero(
    objective: Objective, known: KnownFeatures, U: Array, gram: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return coordinates, and coefficients of some BB', moved off zero where they have zeros."""
    least = LEAST_SHARE * _typical_distance(objective)
    B = known.blockwise(lambda group: _root_off_zero(gram[np.ix_(group, group)], known.values[:, group], least))
    flat = np.sqrt(np.mean(U**2, axis=0)) < least
    return U + flat * rng.normal(scale=least, size=U.shape), B


def _root_off_zero(gram: Array, V: Array, least: float) -> Array:
    """Return B for a block of BB', made longer where needed: along no axis is the spread of VB below ``least``."""
    roots, axes = whitening(V.T @ V / len(V))
    spread = (axes * roots) @ axes.T  # the symmetric root
    values, vectors = np.linalg.eigh(spread @ gram @ spread)
    return np.asarray(np.linalg.solve(spread, vectors * np.sqrt(np.maximum(values, least**2))))


def random_start(objective: Objective, known: KnownFeatures, rng: np.random.Generator) -> Start:
    """Return normal coordinates and coefficients of random size, together of the size of the dissimilarities."""
    structure, q = objective.structure, known.n_dimensions
    # Squared distances add up over p + q columns, and a pair's squared difference is twice a variance.
    size = _typical_distance(objective) / np.sqrt(2.0 * (structure.p + q))
    U = rng.normal(scale=size, size=(structure.n, structure.p))

    def some(group: list[int]) -> Array:
        """Return coefficients of one size for a block, in a metric in which its coding does not matter."""
        return _root_off_zero(np.zeros((len(group),) * 2), known.values[:, group], size * rng.lognormal(sigma=0.5))

    return Start("random", structure.pack(U, known.blockwise(some), rng))


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


def make_starts(
    objective: Objective, known: KnownFeatures, init: str, n_starts: int, rng: np.random.Generator
) -> Iterator[Start]:
    """Yield ``n_starts`` starts: the closed form first unless only random ones are asked for."""
    if init != "random":
        yield closed_form_start(objective, known, rng)
        n_starts -= 1
    for child in rng.spawn(n_starts):
        yield random_start(objective, known, child)


def saved_start(objective: Objective, saved: SavedFit, number: int, max_iter: int) -> Start | None:
    """Return a start of a checkpoint, if it is there: with its solution, or without it if it lacked iterations."""
    start = saved.starts.get((objective.structure.p, number))
    if start is None:
        return None
    if start.theta.shape != (objective.structure.size,) or not start.path:
        raise ValueError(OTHER_DATA)
    is_over = start.reason and (start.reason != Reason.MAX_ITER.name or len(start.path) > max_iter)
    solution = Solution(start.theta, start.path, Reason[start.reason], start.passes) if is_over else None
    return Start(start.kind, start.theta, solution, saved=True)


def with_saved(objective: Objective, starts: list[Start], saved: SavedFit, max_iter: int) -> list[Start]:
    """Return starts, those of a checkpoint in their places; raise if its map has another stress with these data."""
    own = [saved_start(objective, saved, number, max_iter) for number in range(1, len(starts) + 1)]
    number = next((number for number, start in enumerate(own, 1) if start is not None), None)
    if number is not None:
        start = saved.starts[objective.structure.p, number]
        if not math.isclose(objective(start.theta).value / objective.total, start.path[-1], rel_tol=SAME_STRESS):
            raise ValueError(OTHER_DATA)
    return [start or made for start, made in zip(own, starts, strict=True)]


def attempt_all(
    objective: Objective,
    starts: Iterable[Start],
    workers: Workers,
    settings: SearchSettings,
    stage: str = "search",
) -> list[Attempt]:
    """Follow every start to its end, several at a time where a pass itself cannot use the threads.

    Below PARALLEL_FROM objects a start is mostly interpreted code, which threads cannot share. After Ctrl-C, or when a
    callback asks for it, those that have begun end where they are, and the others are left out.
    """
    queue = list(starts)
    attempts: list[Attempt | None] = [None] * len(queue)
    watch, make_rule = settings.watch, settings.make_rule(objective)
    watch.begin(stage, len(queue))

    def attempt(number: int) -> None:
        start = queue[number]
        if number and start.solution is None and watch.stopped.is_set():  # without the first there is no map
            return
        begin = Progress(stage, start=number + 1, n_starts=len(queue), kind=start.kind)
        solution = start.solution or follow(objective, start.theta, make_rule, settings, begin)
        attempts[number] = Attempt(start.kind, solution)  # first, since a listener may raise
        settings.end(begin, objective, solution)

    unwatched = not watch.watched and not any(start.saved for start in queue)
    if len(queue) > 1 and objective.engine.one_thread and unwatched and elsewhere() > 1:
        return _spread(objective, queue, settings)
    together = objective.engine.one_thread and objective.engine.n >= PARALLEL_FROM
    with hearing_interrupt(watch.stopped):
        try:
            (workers if together else Workers(1)).run(attempt, len(queue))
        except KeyboardInterrupt:
            # Without a map there is nothing to keep; and whoever presses twice wants none.
            if watch.stopped.is_set() or not any(attempts):
                raise
            watch.stopped.set()
    done = [attempt for attempt in attempts if attempt is not None]
    return _marked(done) if watch.stopped.is_set() else done


def _spread(objective: Objective, starts: list[Start], settings: SearchSettings) -> list[Attempt]:
    """Follow the starts on the workers that joblib has been told of; nobody watches."""
    limits = settings.tol, settings.max_iter, settings.share
    follow_one = partial(_follow_alone, objective, settings.make_rule, limits)
    found = each(follow_one, [start.theta for start in starts])
    return [Attempt(start.kind, solution) for start, solution in zip(starts, found, strict=True)]


def _follow_alone(
    objective: Objective, make_rule: MakeRule, limits: tuple[float, int, float], theta: Array
) -> Solution:
    tol, max_iter, share = limits
    return minimise(objective, theta, make_rule(objective)(), tol=tol, max_iter=max_iter, share=share)


def _marked(done: list[Attempt]) -> list[Attempt]:
    """Return attempts of which one says that it was interrupted: the last, if that was between two of them."""
    if was_cut_short(done):
        return done
    kind, last = done[-1]
    return [*done[:-1], Attempt(kind, replace(last, reason=Reason.INTERRUPTED))]


def warned_of_interruption(attempts: list[Attempt], last: Solution) -> bool:
    """Warn if a start, or what followed the best of them, was interrupted, and tell whether it was."""
    if not was_cut_short([*attempts, Attempt("", last)]):
        return False
    where, rest = f"in start {len(attempts)}", "all starts"
    if not was_cut_short(attempts):
        where, rest = "in a stage that follows the starts", "all of it"
    warn_user(
        f"the fit was interrupted {where}; its map is the best by then, and unfinished: fit again to have {rest}.",
        UnfinishedWarning,
    )
    return True


def was_cut_short(attempts: list[Attempt]) -> bool:
    """Tell whether somebody ended the search before its time, so that no other should follow."""
    return any(attempt.solution.reason is Reason.INTERRUPTED for attempt in attempts)


def best_of(attempts: list[Attempt]) -> Solution:
    """Return the attempt with the lowest objective, the first of equals."""
    return min((attempt.solution for attempt in attempts), key=lambda solution: solution.value)
