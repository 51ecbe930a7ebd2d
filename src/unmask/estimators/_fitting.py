"""A fit as a straight line: read the data, search from every start, and describe the map that was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._typing import Array
from ..checking import (
    Dissimilarities,
    check_dissimilarities,
    is_file,
    known_by_name,
    labelled_frame,
    open_file,
    refuse_target,
    require_objects,
    warn_user,
    with_sizes,
)
from ..cluster import is_dask_frame
from ..dissimilarities import Metric, compare, float_type
from ..engines import Engine
from ..kernels import OneBlasThread, Workers, resolve_threads
from ..problem import Problem
from ..progress import Callback, Listener, Progress, SavedFit, current_watch, watching
from ..solvers import (
    RULES,
    Attempt,
    Objective,
    SearchSettings,
    Solution,
    Stage,
    Start,
    attempt_all,
    automatic_n_starts,
    best_of,
    canonical_map,
    given_start,
    make_objective,
    make_starts,
    principal_turn,
    saved_start,
    warned_of_interruption,
    was_cut_short,
    with_saved,
)
from ._adjustment import Decision, FreeMap, fit_free_map
from ._fitted_map import FittedMap, remembering
from ._many import Choice, Solver, choose_solver, exact_after_all, some_objects, takes_pairs
from ._parameters import check_parameters, check_start, described, fixed_random_state, open_fit
from ._random_fits import sample_of

# So many starts are followed, then as many again and so on, before it is decided whether they are enough: whatever the
# number of threads.
FIRST_WAVE = 2


# ---- reading


class Needs(NamedTuple):
    """What a fit needs of the dissimilarities."""

    square: tuple[str, str] | None = None  # what needs the square array, and what to use instead
    complete: str | None = None  # what needs all of them
    in_parts: bool = False  # nothing needs all of them at once
    chooses_solver: bool = False


@dataclass(frozen=True)
class Data:
    """What a fit has read, and the solver that suits it."""

    dissimilarities: Dissimilarities
    known: Any
    weights: Any
    transformer: Any  # fitted; None for dissimilarities
    solver: Choice | None

    @property
    def samples(self) -> bool:
        return self.solver is not None and self.solver.samples


def read(
    estimator: Any, X: Any, known: Any, weights: Any, needs: Needs, workers: Workers, random_state: Any = None
) -> Data:
    """Return checked dissimilarities, made by the transformer of `metric` unless they are precomputed."""
    X, known = read_tables(estimator, X, known)
    solver = None
    if needs.chooses_solver:
        X = open_file(X) if takes_pairs(estimator) and is_file(X) else X
        ready = estimator._make_transformer() is None
        solver = choose_solver(estimator, X, ready=ready, weighted=kind_of_weights(weights))
    checked, transformer = _dissimilarities(estimator, X, needs, solver, workers, random_state)
    if solver is not None and solver.samples:
        exact = exact_after_all(checked.n, checked.missing)
        if exact is not None:
            solver = exact
            checked, transformer = _dissimilarities(estimator, X, needs, solver, workers, random_state)
    return Data(checked, known, weights, transformer, solver)


def read_tables(estimator: Any, X: Any, known: Any) -> tuple[Any, Any]:
    """Return tables of other packages as those of pandas if they have labels; known features may be given by name."""
    features = not estimator.__sklearn_tags__().input_tags.pairwise
    return known_by_name(with_sizes(labelled_frame(X), features=features), known, features=features)


def kind_of_weights(weights: Any) -> str:
    """Return "sparse" or "dense", or an empty string without weights."""
    return "" if weights is None else "sparse" if sp.issparse(weights) else "dense"


def _dissimilarities(
    estimator: Any, X: Any, needs: Needs, solver: Choice | None, workers: Workers, random_state: Any
) -> tuple[Dissimilarities, Any]:
    """Return checked dissimilarities, and the transformer that made them."""
    samples = solver is not None and solver.samples
    transformer = estimator._make_transformer(float_type(X), samples=samples, random_state=random_state)
    if transformer is not None and len(getattr(X, "shape", ())) == 2 and not is_dask_frame(X):
        require_objects(X.shape[0])
    # A transformer that was given makes the table it stands for; a name leaves it open how it is read.
    parts = None if samples else needs.in_parts and not hasattr(estimator.metric, "fit")
    compared = None if transformer is None else compare(transformer, X, estimator, parts=parts)
    made = compared is not None and isinstance(compared.values, np.ndarray)
    asked = samples and estimator.solver == Solver.STOCHASTIC
    checked = check_dissimilarities(
        X if compared is None else compared.values,
        workers=workers,
        complete_for="solver='stochastic'" if asked else needs.complete,
        among=some_objects if samples else None,
        warn=not samples and not (made and isinstance(transformer, Metric)),  # which warns by itself
    )
    if needs.square is not None:
        checked = checked.in_full(*needs.square)
    if compared is None:
        checked.note_objects(estimator)
    else:
        checked = replace(checked, labels=compared.labels)
    return checked, transformer


# ---- searching


Form = Callable[[Array], Array]
# Takes the objectives that starts led to; returns whether they are enough.
Enough = Callable[[Array], bool]


class Refit(NamedTuple):
    """How a fit differs from the estimator's own: further starts, a rule to end early, a number of free dimensions."""

    starts: Sequence[Any] = ()  # maps and coefficients
    enough: Enough | None = None
    n_free: int | None = None


AS_ASKED = Refit()


class Task(NamedTuple):
    """What is searched, with what, and from where."""

    problem: Problem
    engine: Engine
    data: Data
    seed: int
    saved: SavedFit
    refit: Refit
    workers: Workers


class Search(NamedTuple):
    """The stage in which a search ended, all attempts, and further attributes of the estimator by name."""

    stage: Stage
    attempts: list[Attempt]
    found: dict[str, Any]


@dataclass(frozen=True)
class Method:
    """What an estimator minimises, and how; this one minimises nothing in particular."""

    estimator: Any
    quantity = "stress"  # as attributes and messages call it
    printed = "normalised stress"
    rule = "lbfgs"
    most_starts = 128  # with n_init="auto"
    needs = Needs()

    def make_problem(self, data: Data, p: int, seed: int, workers: Workers) -> tuple[Problem, Engine]:
        """Return the problem and the engine that passes over its pairs."""
        raise NotImplementedError

    def describe(self, search: Search, task: Task, decision: Decision) -> tuple[FittedMap, dict[str, Any]]:
        """Return the fitted map, and the attributes that only this method has, by name."""
        raise NotImplementedError

    def forms(self, objective: Objective) -> tuple[Form, Form]:
        """Return the canonical form of a map, and the turn to it."""
        return canonical_map, principal_turn

    def calibrated(self, problem: Problem, objective: Objective, theta: Array) -> Objective:
        """Return the objective in units in which steps from ``theta`` are neither long nor short."""
        return objective

    def unit(self, objective: Objective) -> float:
        """Return the factor between the objective of the solver and the quantity."""
        return 1.0

    def start_objective(self, objective: Objective) -> Objective:
        """Return the objective of the stress, by which starts are made."""
        return objective

    def refined(self, stage: Stage, task: Task, settings: SearchSettings) -> tuple[Stage, dict[str, Any]]:
        """Follow the best start through further stages; return the last one, and attributes that they found."""
        return stage, {}

    def search(self, task: Task) -> Search:
        """Follow every start that has not finished, and the best of all through its further stages."""
        objective = make_objective(task.problem, task.engine)
        starts = self.starts(objective, task)
        objective = self.calibrated(task.problem, objective, starts[0].theta)
        settings = self.settings(objective)
        starts = with_saved(objective, starts, task.saved, settings.max_iter)
        attempts = _attempted(objective, starts, task, replace(settings, saved=task.saved))
        stage, after = self.refined(Stage(objective, best_of(attempts)), task, settings)
        return Search(stage, attempts, after)

    def settings(self, objective: Objective) -> SearchSettings:
        """Return how a search is run."""
        options = float(self.estimator.tol), int(self.estimator.max_iter), current_watch()
        return SearchSettings(RULES[self.rule], *options, self.forms(objective)[0], self.unit(objective))

    def starts(self, objective: Objective, task: Task) -> list[Start]:
        """Return the estimator's own starts after, in turns, those of a refit."""
        known, saved, init = task.problem.known, task.saved, self.estimator.init

        def given(start: Any) -> Start:
            checked = check_start(start, objective.structure, known, task.data.dissimilarities.labels)
            return given_start(objective, known, *checked)

        if isinstance(init, tuple):
            own = [given(init)]
        elif saved.init == "given" and (start := saved_start(objective, saved, 1, int(self.estimator.max_iter))):
            own = [start]
        else:
            asked = self.estimator.n_init
            number = min(self.most_starts, automatic_n_starts(task.problem.n)) if asked == "auto" else int(asked)
            number = 1 if saved.init in ("closed-form", "given") else number
            rng = np.random.default_rng(task.seed)
            own = list(make_starts(self.start_objective(objective), known, saved.init, number, rng))
        # A map that is adjusted may have been fitted with more dimensions than it is first tried with.
        others = [given(start) for start in task.refit.starts if start[0].shape[1] == objective.structure.p]
        return [*others[:1], *own[:1], *others[1:], *own[1:]]


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


# ---- the line


def fit_map(
    method: Method,
    X: Any,
    y: Any = None,
    known: Any = None,
    weights: Any = None,
    callback: Callback | None = None,
    refit: Refit = AS_ASKED,
) -> Any:
    """Fit an estimator: read, search, describe, assign; return it."""
    estimator = method.estimator
    forget(estimator)
    p = check_parameters(estimator)
    refuse_target(y)
    printer = [Printer(method.printed, int(estimator.verbose))] if estimator.verbose else []
    saved = open_fit(estimator.init)
    random_state = fixed_random_state(estimator.random_state, saved)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    with watching(callback, *printer) as watch:
        with OneBlasThread(), Workers(resolve_threads(estimator.n_jobs)) as workers:
            data = read(estimator, X, known, weights, method.needs, workers, random_state)
            problem, engine = method.make_problem(data, p, seed, workers)
            if watch.watched or saved.about:
                saved = described(saved, estimator, problem, random_state)
            task = Task(problem, engine, data, seed, saved, refit, workers)
            search, decision = fit_free_map(
                estimator.adjust,
                refit.n_free,
                p,
                problem.known,
                lambda free: method.search(task._replace(problem=replace(problem, p=free))),
                lambda search: FreeMap.of(search.stage, problem.known),
                # A given start fixes the number of dimensions.
                may_follow=lambda search: not (saved.init == "given" or was_cut_short(search.attempts)),
                labels=data.dissimilarities.labels,
            )
            fitted, attributes = method.describe(search, task, decision)
        fitted = remembering(fitted, X, known, weights)
        estimator._assign(fitted, attributes | search.found)
        _assign_search(estimator, method, search)
        fitted.warn(estimator.adjust)
    return estimator


def forget(estimator: Any) -> None:
    """Delete the attributes of an earlier fit, so that a failing one leaves nothing half-way."""
    for name in list(vars(estimator)):
        if name.endswith("_"):
            delattr(estimator, name)


def map_of(method: Method, search: Search, task: Task, decision: Decision, **further: Any) -> FittedMap:
    """Return the fitted map of a search."""
    structure, theta = search.stage.objective.structure, search.stage.solution.theta
    estimator, data, checked = method.estimator, task.data, task.data.dissimilarities
    canonical, turn_of = method.forms(search.stage.objective)
    return FittedMap(
        U=canonical(structure.unknown(theta)),
        gram=structure.gram(theta),
        Z=structure.lift(theta),
        known=task.problem.known,
        scale=search.stage.objective.engine.scale,
        labels=checked.labels,
        dtype=checked.source.dtype,
        n_components=int(estimator.n_components),
        decision=decision,
        sample=sample_of(checked.source),
        moved=structure.moved(theta),
        turn_of=turn_of,
        orthogonal=bool(estimator.orthogonal),
        weights_given=kind_of_weights(data.weights),
        transformer=data.transformer,
        **further,
    )


def _assign_search(estimator: Any, method: Method, search: Search) -> None:
    """Assign the attributes that describe the search, and warn if it did not converge."""
    import pandas as pd

    quantity, best, attempts = method.quantity, search.stage.solution, search.attempts
    unit = method.unit(search.stage.objective)
    setattr(estimator, f"{quantity}_path_", np.asarray(best.path) * unit)
    estimator.n_iter_, estimator.converged_ = best.n_iter, best.converged
    estimator.stop_reason_ = best.reason.sentence(quantity)
    lowest = best_of(attempts)
    rows = []
    for kind, s in attempts:
        reason = s.reason.sentence(quantity)
        rows.append((kind, s.value * unit, s.n_iter, s.passes, s.converged, reason, s is lowest))
    columns = ["kind", quantity, "n_iter", "passes", "converged", "reason", "best"]
    estimator.starts_ = pd.DataFrame(rows, columns=columns)
    warn_unfinished(estimator, attempts, best, f"{quantity} settled (at {getattr(estimator, f'{quantity}_'):.6g})")


def warn_unfinished(estimator: Any, attempts: list[Attempt], best: Solution, event: str) -> None:
    """Warn if a search was interrupted, or stopped by `max_iter` before an event."""
    reason = getattr(estimator, "stop_reason_", best.reason)
    if not warned_of_interruption(attempts, best) and not best.converged:
        warn_user(
            f"the best of {len(attempts)} starts stopped after {best.n_iter} iterations because "
            f"{reason}, before the {event}; give it more than max_iter={estimator.max_iter}, or be content with a "
            f"larger tol than {estimator.tol:g}.",
            ConvergenceWarning,
        )


class Printer(Listener):
    """Prints a line when a start ends; at level 2 also one for each iteration."""

    def __init__(self, quantity: str, level: int) -> None:
        self.quantity, self.level, self.lowest = quantity, level, float("inf")

    def begin(self, stage: str, n_starts: int) -> None:
        self.lowest = float("inf")

    def update(self, progress: Progress) -> None:
        if self.level > 1:
            print(f"{_named(progress)}, iteration {progress.iteration}: {self.quantity} {progress.stress:.9g}")

    def end(self, progress: Progress, converged: bool) -> None:
        state = "" if converged else ", not converged"
        best = ", the best so far" if progress.stress < self.lowest else ""
        self.lowest = min(self.lowest, progress.stress)
        if progress.stage in ("search", "stochastic"):
            found = f"{self.quantity} {progress.stress:.9g} after {progress.iteration} iterations"
            print(f"{_named(progress)} ({progress.kind}): {found}{state}{best}")


def _named(progress: Progress) -> str:
    return f"start {progress.start} of {progress.n_starts}" if progress.stage == "search" else progress.stage
