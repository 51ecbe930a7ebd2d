"""Fits in stages: a problem that changes with what was found, followed from where the last one ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from .._typing import Array
from ..problem import Problem
from ._loop import Callback, Rule, Solution, minimise
from ._objective import Objective, make_objective

MakeRule = Callable[[Objective], Callable[[], Rule]]


class Settings(NamedTuple):
    """How each stage is run."""

    make_rule: MakeRule
    tol: float
    max_iter: int
    callback: Callback | None = None


class Stage(NamedTuple):
    """An objective and where it was minimised."""

    objective: Objective
    solution: Solution


def follow(objective: Objective, theta: Array, settings: Settings) -> Stage:
    """Minimise an objective from one place."""
    rule = settings.make_rule(objective)()
    solution = minimise(
        objective, theta, rule, tol=settings.tol, max_iter=settings.max_iter, callback=settings.callback
    )
    return Stage(objective, solution)


def within_errors(problem: Problem, stage: Stage, settings: Settings) -> Stage:
    """Let measured values move within their errors, from a fit in which they were exact.

    A move by one standard error costs the mean squared residual of that fit: then residuals and errors are both
    measured in their standard deviations, and the sum is minus twice a log-likelihood.
    """
    engine = stage.objective.engine
    pairs = sum(len(rows) for rows, _ in engine.graph.observed_pairs())
    price = max(stage.solution.value * engine.total / pairs, 1e-12)
    objective = make_objective(replace(problem, error_price=price), engine)
    return follow(objective, stage.objective.structure.carry(stage.solution.theta, objective.structure), settings)
