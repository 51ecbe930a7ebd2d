"""What the estimators share that follow several starts: how these are made, and what came of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._typing import Array
from ..checking import (
    Dissimilarities,
    refuse_target,
    require_choice,
    require_flag,
    require_integer,
    require_number,
    warn_user,
)
from ..engines import Engine
from ..kernels import OneBlasThread, Workers, resolve_threads
from ..problem import KnownFeatures, Problem
from ..progress import Callback, Listener, Progress, SavedFit, current_watch, watching
from ..solvers import (
    RULES,
    Attempt,
    Objective,
    Reason,
    SearchSettings,
    Stage,
    Start,
    attempt_all,
    automatic_n_starts,
    best_of,
    canonical_by_component,
    canonical_map,
    given_start,
    make_objective,
    make_starts,
    saved_start,
    side_by_side,
    warned_of_interruption,
    was_cut_short,
    with_saved,
)
from ._adjustment import Decision, FreeMap, fit_free_map
from ._base import ConditionalMap
from ._given_start import check_start, require_init
from ._saving import described, fixed_random_state, open_fit


class Search(NamedTuple):
    """The stage in which a search ended, and all that was tried on the way."""

    stage: Stage
    attempts: list[Attempt]


@dataclass(eq=False, repr=False, kw_only=True)
class SearchingMap(ConditionalMap):
    """Base of the estimators that follow several starts and keep the best."""

    __metadata_request__fit = {"callback": True}

    orthogonal: bool = False
    init: Any = "auto"
    n_init: Any = "auto"
    max_iter: int = 1000
    tol: float = 1e-9
    random_state: Any = None
    verbose: int = 0

    # What is minimised, as attributes and messages call it, and as it is called while it falls.
    _QUANTITY = "stress"
    _PRINTED = "normalised stress"
    # A name of RULES.
    _rule = "lbfgs"
    # At most so many starts with n_init="auto".
    _MOST_STARTS = 128

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        known: Any = None,
        weights: Any = None,
        callback: Callback | None = None,
    ) -> Array:
        """Learn the map and return it; see :meth:`fit`."""
        return self._labelled(self.fit(X, y, known=known, weights=weights, callback=callback))

    def _search_and_report(self, X: Any, y: Any, known: Any, weights: Any, callback: Callback | None) -> None:
        """Do what every fit does, whatever it minimises."""
        p = self._check_parameters()
        self._own_weights = "" if weights is None else "sparse" if sp.issparse(weights) else "dense"
        refuse_target(y)
        self._note(X, known, weights)
        X, known = self._read_data(X, known)
        printer = [Printer(self._PRINTED, int(self.verbose))] if self.verbose else []
        saved = open_fit(self.init)
        self._random_state = fixed_random_state(self.random_state, saved)
        with watching(callback, *printer) as watch:
            with OneBlasThread(), Workers(resolve_threads(self.n_jobs)) as workers:
                checked = self._read_dissimilarities(X, workers)
                problem, engine = self._make_problem(checked, known, weights, p, workers)
                if watch.watched or saved.about:
                    saved = described(saved, self, problem)
                search, decision = fit_free_map(
                    False if self.adjust == "auto" and problem.penalties.get("leak_penalty") else self.adjust,
                    self.n_free,
                    p,
                    problem.known,
                    lambda dimensions: self._search(replace(problem, p=dimensions), engine, checked, workers, saved),
                    lambda search: _free_map(search.stage, problem.known),
                    # A given start says how many dimensions there are.
                    may_follow=lambda search: not (saved.init == "given" or was_cut_short(search.attempts)),
                    groups=1 if problem.component is None else int(problem.component.max()) + 1,
                    labels=checked.labels,
                )
                self._report_fit(search.stage, problem, checked, decision, workers)
            self._report_search(search, self._unit(search.stage.objective))
            self._speak_of_known(decision)

    def _search(
        self, problem: Problem, engine: Engine, checked: Dissimilarities, workers: Workers, saved: SavedFit
    ) -> Search:
        """Follow every start that has not finished, and the best of all through its further stages."""
        objective = make_objective(problem, engine)
        starts = self._starts(objective, problem.known, checked, saved)
        objective = self._calibrated(problem, objective, starts[0].theta)
        settings = self._settings(problem, objective)
        starts = with_saved(objective, starts, saved, settings.max_iter)
        starts = self._prepared(objective, starts, settings)
        attempts = self._attempt(objective, starts, workers, replace(settings, saved=saved))
        return Search(self._refine(problem, Stage(objective, best_of(attempts)), workers, settings), attempts)

    def _settings(self, problem: Problem, objective: Objective) -> SearchSettings:
        return SearchSettings(
            RULES[self._rule],
            float(self.tol),
            int(self.max_iter),
            current_watch(),
            self._canonical(problem, objective),
            self._unit(objective),
        )

    # ---- what differs from one to the other

    def _attempt(
        self, objective: Objective, starts: list[Start], workers: Workers, settings: SearchSettings
    ) -> list[Attempt]:
        """Follow the starts."""
        return attempt_all(objective, starts, workers, settings)

    def _make_problem(
        self, checked: Dissimilarities, known: Any, weights: Any, p: int, workers: Workers
    ) -> tuple[Problem, Engine]:
        """Check everything that belongs to the problem, and freeze it."""
        raise NotImplementedError

    def _calibrated(self, problem: Problem, objective: Objective, theta: Array) -> Objective:
        """Return the objective in units in which steps from ``theta`` are neither long nor short."""
        return objective

    def _unit(self, objective: Objective) -> float:
        """Return what a value of the objective, as the solver has it, counts in the quantity."""
        return 1.0

    def _canonical(self, problem: Problem, objective: Objective) -> Callable[[Array], Array]:
        """Return how a map is written down."""
        component = problem.component
        if component is None:
            return canonical_map
        return lambda U: side_by_side(canonical_by_component(U, component), component)

    def _prepared(self, objective: Objective, starts: list[Start], settings: SearchSettings) -> list[Start]:
        """Return the starts after whatever precedes the search."""
        return starts

    def _refine(self, problem: Problem, stage: Stage, workers: Workers, settings: SearchSettings) -> Stage:
        """Follow the best start through further stages."""
        return stage

    def _report_fit(
        self, stage: Stage, problem: Problem, checked: Dissimilarities, decision: Decision, workers: Workers
    ) -> None:
        """Set the attributes that tell about the map."""
        raise NotImplementedError

    # ---- what is the same

    def _check_parameters(self) -> int:
        p = self._start_fit()
        require_flag("orthogonal", self.orthogonal)
        require_integer("verbose", self.verbose, 0)
        require_integer("max_iter", self.max_iter, 1)
        require_number("tol", self.tol, 0.0)
        require_init(self.init)
        if isinstance(self.n_init, str):
            require_choice("n_init", self.n_init, ("auto",))
        else:
            require_integer("n_init", self.n_init, 1)
        single = isinstance(self.init, tuple) or self.init == "closed-form"
        if single and self.n_init not in ("auto", 1):
            raise ValueError(
                f"n_init={self.n_init!r} asks for several starts but init gives a single one; "
                "use init='auto' or n_init=1."
            )
        return p

    def _starts(
        self, objective: Objective, known: KnownFeatures, checked: Dissimilarities, saved: SavedFit
    ) -> list[Start]:
        if isinstance(self.init, tuple):
            U0, B0 = check_start(self.init, objective.structure, known, checked.labels)
            return [given_start(objective, known, U0, B0)]
        if saved.init == "given" and (start := saved_start(objective, saved, 1, int(self.max_iter))):
            return [start]
        n_starts = min(self._MOST_STARTS, automatic_n_starts(checked.n)) if self.n_init == "auto" else int(self.n_init)
        n_starts = 1 if saved.init in ("closed-form", "given") else n_starts
        return list(
            make_starts(self._stress_of(objective), known, saved.init, n_starts, np.random.default_rng(self._seed()))
        )

    def _seed(self) -> int:
        return int(check_random_state(self._random_state).randint(np.iinfo(np.int32).max))

    def _stress_of(self, objective: Objective) -> Objective:
        """Return the objective by which starts are made: that of the stress, whatever is minimised."""
        return objective

    def _report_search(self, search: Search, unit: float) -> None:
        """Set what tells about the search."""
        import pandas as pd

        quantity, best, attempts = self._QUANTITY, search.stage.solution, search.attempts
        setattr(self, f"{quantity}_path_", np.asarray(best.path) * unit)
        self.n_iter_, self.converged_, self.stop_reason_ = best.n_iter, best.converged, self._in_words(best.reason)
        lowest = best_of(attempts)
        rows = [
            (kind, s.value * unit, s.n_iter, s.passes, s.converged, self._in_words(s.reason), s is lowest)
            for kind, s in attempts
        ]
        self.starts_ = pd.DataFrame(rows, columns=["kind", quantity, "n_iter", "passes", "converged", "reason", "best"])
        if not warned_of_interruption(attempts, best) and not self.converged_:
            warn_user(
                f"the best of {len(attempts)} starts stopped after {self.n_iter_} iterations because "
                f"{self.stop_reason_}, before the {quantity} settled (at {getattr(self, f'{quantity}_'):.6g}); "
                f"give it more than max_iter={self.max_iter}, or be content with a larger tol than {self.tol:g}.",
                ConvergenceWarning,
            )

    def _in_words(self, reason: Reason) -> str:
        return str(reason.value).replace("stress", self._QUANTITY)


def _free_map(stage: Stage, known: KnownFeatures) -> FreeMap:
    return FreeMap.of(stage.objective.structure, stage.solution.theta, known, stage.objective.engine)


class Printer(Listener):
    """Prints a line about each start that has come to its end; at level 2 also one about each iteration."""

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
