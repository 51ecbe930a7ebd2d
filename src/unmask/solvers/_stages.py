"""Fits in stages: a problem that changes with what was found, followed from where the last one ended."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array
from ..checking import Progress
from ..engines import TableEngine
from ..kernels import Pairs, Weighting, Workers
from ..problem import Problem
from ._loop import Reason, SearchSettings, Solution, follow
from ._objective import Objective, make_objective

# The neighbourhood's radius shrinks by this factor a stage. Stages are short, because weights that stay as they were
# while the map changes let objects that no longer count for each other come to lie on top of each other: with 50
# iterations a stage the trustworthiness of four Swiss rolls is .94, .84, .75 and .81, with 5 .99, 1.00, 1.00 and .99.
SHRINKAGE = 0.9
STAGES = 60
STAGE_ITERATIONS = 5
# An object needs this many neighbours more than dimensions to be held in place, each counted by its weight; the
# neighbourhood is small when the median object has no more than this many times as many.
SPARE_NEIGHBOURS = 3
ENOUGH = 4
# Objects at the edge limit the neighbourhood a little on any data; if most pairs still count, something lies far out.
MOST = 0.5
# A pair that counts less than this does not count at all: between clusters far apart weights would be so small that
# the Laplacian is singular to rounding.
LEAST_WEIGHT = 1e-10


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
    price = max(stage.solution.value * engine.total / pairs, 1e-12)
    objective = make_objective(replace(problem, error_price=price), engine)
    theta = stage.objective.structure.carry(stage.solution.theta, objective.structure)
    return run_stage("errors", objective, theta, settings)


class Curvilinear(NamedTuple):
    """The last stage, its radius, and whether the radius could shrink no more."""

    stage: Stage
    radius: float
    too_small: bool


def curvilinear(problem: Problem, stage: Stage, workers: Workers, settings: SearchSettings) -> Curvilinear:
    """Shrink the neighbourhood in which dissimilarities count, following the map.

    A pair counts by ``exp(-(d / radius)^2)`` with its distance d on the map as it was at the beginning of the stage.
    The radius shrinks until the neighbourhood is small, or until some object has too few neighbours to hold it.
    """
    found = Curvilinear(stage, np.inf, too_small=False)
    unknown = stage.objective.structure.unknown(stage.solution.theta)
    radius = float(cdist(unknown, unknown).max())
    for _ in range(STAGES):
        weights = _neighbourhood(problem, found.stage, radius)
        neighbours, needed = weights.sum(axis=1), found.stage.objective.structure.k + SPARE_NEIGHBOURS
        if neighbours.min() < needed:
            found = found._replace(too_small=bool(np.median(neighbours) > len(neighbours) * MOST))
            break
        # A stage on the way need not be followed to its end.
        short = replace(settings, max_iter=min(STAGE_ITERATIONS, settings.max_iter))
        found = Curvilinear(_with_weights(problem, found.stage, weights, workers, short), radius, too_small=False)
        if found.stage.solution.reason is Reason.INTERRUPTED:
            return found
        if np.median(neighbours) <= ENOUGH * needed:
            break
        radius *= SHRINKAGE
    return found._replace(stage=_to_its_end(found.stage, settings))


def _to_its_end(stage: Stage, settings: SearchSettings) -> Stage:
    """Go on with the last stage until it has converged, or had all its iterations."""
    first = stage.solution
    left = settings.max_iter - first.n_iter
    if first.converged or left < 1:
        return stage
    last = run_stage("curvilinear", stage.objective, first.theta, replace(settings, max_iter=left)).solution
    path, passes = first.path + last.path[1:], first.passes + last.passes
    return Stage(stage.objective, replace(last, path=path, passes=passes))


def _with_weights(problem: Problem, stage: Stage, weights: Array, workers: Workers, settings: SearchSettings) -> Stage:
    """Go on from a stage with other weights."""
    pairs = replace(_dense(problem), weighting=Weighting.ARRAY, W=weights, factor=1.0)
    objective = make_objective(replace(problem, pairs=pairs), TableEngine(pairs, workers))
    theta = stage.objective.structure.carry(stage.solution.theta, objective.structure)
    return run_stage("curvilinear", objective, theta, settings)


def _neighbourhood(problem: Problem, stage: Stage, radius: float) -> Array:
    """Return the weights for a radius: 0 for missing pairs and on the diagonal."""
    Z = stage.objective.structure.lift(stage.solution.theta)
    weights = np.exp(-((cdist(Z, Z) / radius) ** 2))
    weights[np.isnan(_dense(problem).values) | (weights < LEAST_WEIGHT)] = 0.0
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights)


def _dense(problem: Problem) -> Pairs:
    assert isinstance(problem.pairs, Pairs)  # sparse weights are refused with these
    return problem.pairs
