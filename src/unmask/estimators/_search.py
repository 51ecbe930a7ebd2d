"""The search for a map: every start, the best of them, and the stages after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ..engines import CostEngine
from ..kernels import Form, Workers
from ..problem import SCHEMES, Cells, Problem
from ..progress import SavedFit, current_watch
from ..solvers import (
    RULES,
    Objective,
    SearchSettings,
    Solution,
    Stage,
    Start,
    attempt_all,
    automatic_n_starts,
    best_of,
    canonical_map,
    closed_form,
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
from ._fitted_map import block_roots
from ._parameters import check_start
from ._reading import Data

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


@dataclass(frozen=True)
class Task:
    """What is searched, with what, and from where."""

    estimator: Any
    data: Data
    problem: Problem
    engine: Any
    form: Form | None  # of a cost; None for the stress
    seed: int
    saved: SavedFit
    refit: Refit
    workers: Workers


class Search(NamedTuple):
    """The end of a search: coordinates, coefficients, estimated cells, and how every start ended."""

    U: Array
    gram: Array  # BB'
    Z: Array
    moved: Sequence[tuple[Cells, Array]]
    engine: Any
    starts: Sequence[Solution] = ()
    best: Solution | None = None  # after its further stages
    radius: float | None = None  # of weights that followed the map
    unit: float = 1.0  # the objective times this is the stress or cost
    eigenvalues: Array | None = None


def search(task: Task, p: int) -> Search:
    """Follow every start of a map of p dimensions that has not finished, and the best through its further stages."""
    estimator, problem = task.estimator, replace(task.problem, p=p)
    objective, unit, radius = make_objective(problem, task.engine), 1.0, None
    starts = [] if task.data.samples else _starts(task, objective)
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
    if task.data.samples:
        start = _start_of_many(task, objective, problem, saving)
        ends = [start.solution or descend(objective, start.theta, saving, start.kind)]
    else:
        starts = with_saved(objective, starts, task.saved, settings.max_iter) if task.saved.starts else starts
        # All starts, or twice as many each time until they are enough.
        wave, ends = len(starts) if task.refit.enough is None else FIRST_WAVE, []
        while len(ends) < len(starts):
            ends += attempt_all(objective, starts[len(ends) : wave], task.workers, saving)
            wave = 2 * len(ends)
            if was_cut_short(ends) or (task.refit.enough and task.refit.enough(np.array([s.value for s in ends]))):
                break
    stage = Stage(objective, best_of(ends))
    if task.form is None and not task.data.samples:
        # Weights that move with the map, then values that move within their errors.
        stage, radius = SCHEMES[estimator.weights].refine(problem, stage, task.workers, settings)
        if problem.known.errors:
            stage = within_errors(problem, stage, settings)
    (objective, best), structure = stage, stage.objective.structure
    parts = structure.unknown(best.theta), structure.gram(best.theta), structure.lift(best.theta)
    return Search(*parts, structure.moved(best.theta), objective.engine, ends, best, radius, unit)


def solve(task: Task, p: int) -> Search:
    """Return the closed form, which takes no search."""
    U, gram, values = closed_form(task.engine, task.problem.known, p)
    Z = np.column_stack([U, task.problem.known.values @ block_roots(gram, task.problem.known)])
    return Search(U, gram, Z, (), task.engine, eigenvalues=values)


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
    known = task.problem.known
    return given_start(
        objective, known, *check_start(start, objective.structure, known, task.data.dissimilarities.labels)
    )


def _starts(task: Task, objective: Objective) -> list[Start]:
    """Return the estimator's own starts after, in turns, those of a refit."""
    saved, given, n_init = task.saved, task.estimator.init, task.estimator.n_init
    if isinstance(given, tuple):
        own = [_given(task, objective, given)]
    elif saved.init == "given" and (start := saved_start(objective, saved, 1, int(task.estimator.max_iter))):
        own = [start]
    else:
        number = automatic_n_starts(task.problem.n) if n_init == "auto" else int(n_init)
        number = 1 if saved.init in ("closed-form", "given") else number
        # The closed form and the size of a random start go by the dissimilarities, whatever the cost is.
        by_stress = objective if task.form is None else Objective(task.engine.base, objective.structure)
        own = list(make_starts(by_stress, task.problem.known, saved.init, number, np.random.default_rng(task.seed)))
    # A map that is adjusted may have been fitted with more dimensions than it is first tried with.
    others = [
        _given(task, objective, start) for start in task.refit.starts if start[0].shape[1] == objective.structure.p
    ]
    return [*others[:1], *own[:1], *others[1:], *own[1:]]


def _start_of_many(task: Task, objective: Objective, problem: Problem, settings: SearchSettings) -> Start:
    """Return where the stochastic solver begins: unless a start is given, with the others placed among landmarks."""
    if start := saved_start(objective, task.saved, 1, settings.max_iter):
        return start
    if isinstance(task.estimator.init, tuple):
        return _given(task, objective, task.estimator.init)
    number = None if task.estimator.n_init == "auto" else int(task.estimator.n_init)
    rng = np.random.default_rng(task.seed)
    landmarks = fit_landmarks(problem, settings, task.workers, rng, task.saved.init, number)
    return Start("landmarks", place_others(objective, problem, *landmarks, task.workers))
