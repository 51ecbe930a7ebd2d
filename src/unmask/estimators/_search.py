"""The search for a map: every start, the best of them, and the stages after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ..engines import CostEngine
from ..kernels import Form, Workers
from ..problem import SCHEMES, Problem
from ..progress import SavedFit, current_watch
from ..solvers import (
    RULES,
    Attempt,
    Objective,
    SearchSettings,
    Stage,
    Start,
    attempt_all,
    automatic_n_starts,
    best_of,
    canonical_map,
    descend,
    fit_landmarks,
    given_start,
    make_objective,
    make_starts,
    ordered_axes,
    ordering_turn,
    place_others,
    principal_axes,
    principal_turn,
    saved_start,
    was_cut_short,
    with_saved,
    within_errors,
)
from ._parameters import check_start

# So many starts are followed, then as many again and so on, before it is decided whether they are enough: whatever the
# number of threads.
FIRST_WAVE = 2
# A first step along the gradient of a cost is this share of the coordinates' size; a longer one is halved.
FIRST_STEP = 0.05

Canonical = Callable[[Array], Array]
# The canonical form of a map, and the turn to it: all turns, shifts and reflections that leave the cost as it is are
# used up. None is the stress.
CANONICAL: dict[Form | None, tuple[Canonical, Canonical]] = {
    None: (canonical_map, principal_turn),
    Form.SQUARED: (canonical_map, principal_turn),
    Form.INNER: (principal_axes, principal_turn),
    Form.COLUMNS: (ordered_axes, ordering_turn),
}
# Takes the objectives that starts led to; returns whether they are enough.
Enough = Callable[[Array], bool]


class Refit(NamedTuple):
    """How a fit differs from the estimator's own: further starts, a rule to end early, a number of free dimensions."""

    starts: Sequence[Any] = ()  # maps and coefficients
    enough: Enough | None = None
    n_free: int | None = None


AS_ASKED = Refit()


@dataclass(frozen=True)
class Task:
    """What is searched, with what, and from where."""

    estimator: Any
    problem: Problem
    engine: Any
    labels: Any
    samples: bool  # some pairs stand for all
    form: Form | None  # of a cost; None for the stress
    seed: int
    saved: SavedFit
    refit: Refit
    workers: Workers


class Search(NamedTuple):
    """The stage in which a search ended, all attempts, and the radius of the weights that followed the map."""

    stage: Stage
    attempts: list[Attempt]
    radius: float | None = None
    unit: float = 1.0  # the objective times this is the stress or cost


def search(task: Task, p: int) -> Search:
    """Follow every start of a map of p dimensions that has not finished, and the best through its further stages."""
    estimator, problem = task.estimator, replace(task.problem, p=p)
    objective, unit = make_objective(problem, task.engine), 1.0
    by_stress = objective
    if task.form is not None:
        # The closed form and the size of a random start go by the dissimilarities, whatever the cost is.
        by_stress = Objective(task.engine.base, objective.structure)
    starts = [] if task.samples else _starts(task, objective, by_stress)
    if task.form is not None:
        engine = _calibrated(task.engine, objective, starts[0].theta)
        objective, unit = make_objective(problem, engine), engine.total / engine.unit
    settings = SearchSettings(
        RULES.get(estimator.solver, RULES["lbfgs"]),
        float(estimator.tol),
        int(estimator.max_iter),
        current_watch(),
        CANONICAL[task.form][0],
        unit,
    )
    saving = replace(settings, saved=task.saved)
    if task.samples:
        start = _start_of_many(task, objective, problem, saving)
        solution = start.solution or descend(objective, start.theta, saving, start.kind)
        return Search(Stage(objective, solution), [Attempt(start.kind, solution)])
    starts = with_saved(objective, starts, task.saved, settings.max_iter)
    attempts = _attempted(objective, starts, task, saving)
    stage, radius = Stage(objective, best_of(attempts)), None
    if task.form is None:  # weights that move with the map, then values that move within their errors
        stage, radius = SCHEMES[estimator.weights].refine(problem, stage, task.workers, settings)
        if problem.known.errors:
            stage = within_errors(problem, stage, settings)
    return Search(stage, attempts, radius, unit)


def _calibrated(engine: CostEngine, objective: Objective, theta: Array) -> CostEngine:
    """Return the engine in units in which steps from ``theta`` are neither long nor short."""
    point = objective(theta)
    if not np.isfinite(point.value):
        raise FloatingPointError(
            f"the cost at the start is {point.value}; dissimilarities or weights span too many orders of magnitude."
        )
    slope = float(np.linalg.norm(point.gradient))
    unit = FIRST_STEP * float(np.linalg.norm(point.theta)) / slope if slope > 0 else 1.0
    total = max(abs(point.value), np.finfo(float).tiny)
    return CostEngine(engine.base, engine.cost, engine.workers, unit, unit * total)


def _given(task: Task, objective: Objective, start: Any) -> Start:
    return given_start(
        objective, task.problem.known, *check_start(start, objective.structure, task.problem.known, task.labels)
    )


def _own_start(task: Task, objective: Objective) -> Start | None:
    """Return the one start that was given, in ``init`` or in a checkpoint; None if starts are to be made."""
    if isinstance(task.estimator.init, tuple):
        return _given(task, objective, task.estimator.init)
    if task.saved.init == "given":
        return saved_start(objective, task.saved, 1, int(task.estimator.max_iter))
    return None


def _starts(task: Task, objective: Objective, by_stress: Objective) -> list[Start]:
    """Return the estimator's own starts after, in turns, those of a refit."""
    one, saved, asked = _own_start(task, objective), task.saved, task.estimator.n_init
    if one is not None:
        own = [one]
    else:
        number = automatic_n_starts(task.problem.n) if asked == "auto" else int(asked)
        number = 1 if saved.init in ("closed-form", "given") else number
        own = list(make_starts(by_stress, task.problem.known, saved.init, number, np.random.default_rng(task.seed)))
    # A map that is adjusted may have been fitted with more dimensions than it is first tried with.
    others = [
        _given(task, objective, start) for start in task.refit.starts if start[0].shape[1] == objective.structure.p
    ]
    return [*others[:1], *own[:1], *others[1:], *own[1:]]


def _start_of_many(task: Task, objective: Objective, problem: Problem, settings: SearchSettings) -> Start:
    """Return where the stochastic solver begins: unless a start is given, with the others placed among landmarks."""
    start = saved_start(objective, task.saved, 1, settings.max_iter) or _own_start(task, objective)
    if start is not None:
        return start
    number = None if task.estimator.n_init == "auto" else int(task.estimator.n_init)
    rng = np.random.default_rng(task.seed)
    landmarks = fit_landmarks(problem, settings, task.workers, rng, task.saved.init, number)
    return Start("landmarks", place_others(objective, problem, *landmarks, task.workers))


def _attempted(objective: Objective, starts: list[Start], task: Task, settings: SearchSettings) -> list[Attempt]:
    """Follow the starts: all, or until they are enough."""
    if task.refit.enough is None:
        return attempt_all(objective, starts, task.workers, settings)
    attempts: list[Attempt] = []
    while len(attempts) < len(starts):
        done = len(attempts)
        attempts += attempt_all(objective, starts[done : max(FIRST_WAVE, 2 * done)], task.workers, settings)
        values = np.array([attempt.solution.value for attempt in attempts])
        if was_cut_short(attempts) or task.refit.enough(values):
            break
    return attempts
