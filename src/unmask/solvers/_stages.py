"""Fits in stages: a problem that changes with what was found, followed from where the last one ended."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from .._typing import Array
from ..problem import Problem
from ..progress import Progress
from ._loop import SearchSettings, Solution, follow
from ._objective import Objective, make_objective


class Stage(NamedTuple):
    """An objective and where it was minimised."""

    objective: Objective
    solution: Solution


def run_stage(name: str, objective: Objective, theta: Array, settings: SearchSettings) -> Stage:
    """Minimise from one place."""
    settings.watch.begin(name, 1)
    begin = Progress(name, start=1, n_starts=1)
    solution = follow(objective, theta, settings.make_rule(objective), settings, begin)
    settings.end(begin, objective, solution)
    return Stage(objective, solution)


def within_errors(problem: Problem, stage: Stage, settings: SearchSettings) -> Stage:
    """Let measured values move within their errors, from a fit in which they were exact.

    A move by one standard error costs the mean squared residual of that fit: then residuals and errors are both
    measured in their standard deviations, and the sum is minus twice a log-likelihood.
    """
    engine = stage.objective.engine
    pairs = sum(len(rows) for rows, _ in engine.graph.observed_pairs())
    price = max(stage.solution.value * stage.objective.total / pairs, 1e-12)
    objective = make_objective(replace(problem, error_price=price), engine)
    theta = stage.objective.structure.carry(stage.solution.theta, objective.structure)
    return run_stage("errors", objective, theta, settings)
