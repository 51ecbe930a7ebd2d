"""Stages after the search: weights that follow the map, and known values that move within their errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array
from ..checking import MapWarning, warn_user
from ..engines import TableEngine
from ..kernels import Weighting, Workers
from ..problem import Equal, Problem, Scheme
from ._loop import Reason, SearchSettings, Stage, make_objective, run_stage

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


class CurvilinearWeights(Equal):
    """``exp(-(d / radius)^2)`` of the fitted distance d: equal weights first, then a stage for each radius."""

    name = "curvilinear"
    summary = "what is near by the fitted distances counts more, while the neighbourhood shrinks"
    as_table = follows_map = True

    def require(self, level: str, n_components: int) -> None:
        Scheme.require(self, level, n_components)
        if n_components == 0:
            raise ValueError("weights='curvilinear' needs a map to go by; use n_components of at least 1.")

    def of_pairs(self, delta: Array) -> Array:  # noqa: ARG002
        raise ValueError(
            "weights='curvilinear' moved with the map and were not kept; pass weights as an array, for example "
            "np.exp(-((mds.predict_dissimilarities() / mds.radius_) ** 2))."
        )

    def refine(self, problem: Problem, stage: Stage, workers: Workers, settings: SearchSettings) -> tuple[Stage, float]:
        """Shrink the neighbourhood in which dissimilarities count; return the last stage and its radius.

        Distances on the map include the known features, and are those at the beginning of the stage. The first radius
        is the largest of them. It shrinks until the neighbourhood is small, or until some object has too few neighbours
        to hold it.
        """
        missing, scale, k = np.isnan(problem.pairs.whole[0]), stage.objective.engine.scale, stage.objective.structure.k
        # A stage on the way need not be followed to its end.
        short = replace(settings, max_iter=min(STAGE_ITERATIONS, settings.max_iter))
        radius, next_radius = np.inf, 0.0
        for _ in range(STAGES):
            Z = stage.objective.structure.lift(stage.solution.theta)
            d = cdist(Z, Z)
            next_radius = next_radius * SHRINKAGE or float(d.max())
            weights = np.exp(-((d / next_radius) ** 2))
            weights[missing | (weights < LEAST_WEIGHT)] = 0.0
            np.fill_diagonal(weights, 0.0)
            neighbours, needed = weights.sum(axis=1), k + SPARE_NEIGHBOURS
            if neighbours.min() < needed:
                if np.isinf(radius) or np.median(neighbours) > len(neighbours) * MOST:
                    _warn_of_few_neighbours(len(neighbours), k, radius / scale)
                break
            radius = next_radius
            pairs = replace(problem.pairs, weighting=Weighting.ARRAY, W=weights, factor=1.0)
            objective = make_objective(replace(problem, pairs=pairs), TableEngine(pairs, workers))
            theta = stage.objective.structure.carry(stage.solution.theta, objective.structure)
            stage = run_stage("curvilinear", objective, theta, short)
            if stage.solution.reason is Reason.INTERRUPTED:
                return stage, radius / scale
            if np.median(neighbours) <= ENOUGH * needed:
                break
        first = stage.solution
        left = settings.max_iter - first.n_iter
        if not first.converged and left > 0:  # the last stage is followed to its end
            last = run_stage("curvilinear", stage.objective, first.theta, replace(settings, max_iter=left)).solution
            path, passes = first.path + last.path[1:], first.passes + last.passes
            stage = Stage(stage.objective, replace(last, path=path, passes=passes))
        return stage, radius / scale


def _warn_of_few_neighbours(n: int, k: int, radius: float) -> None:
    if np.isinf(radius):
        problem = (
            f"{n} objects are too few for neighbourhoods in {k} dimensions (those of the map and of the known "
            "features), so every pair counts the same (radius_=inf); use weights=None, or fewer dimensions or known "
            "features."
        )
    else:
        problem = (
            "the neighbourhood became too small to hold every object in place before it was small for most; it was "
            f"kept at radius_={radius:.4g}. Some objects lie far from all others: leave them out to let it shrink "
            "further."
        )
    warn_user(f"weights='curvilinear': {problem}", MapWarning)


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
