"""Curvilinear weights: what is near on the map counts, and the neighbourhood shrinks while the map is followed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array
from ..checking import MapWarning, warn_user
from ..engines import TableEngine
from ..kernels import Weighting, Workers
from ..problem import Equal, Problem, Scheme
from ._loop import Reason, SearchSettings
from ._objective import make_objective
from ._stages import Stage, run_stage

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
    follows_map = True

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
        last = curvilinear(problem, stage, workers, settings)
        radius = last.radius / stage.objective.engine.scale
        if np.isinf(radius):
            warn_user(
                f"weights='curvilinear': {problem.pairs.n} objects are too few for neighbourhoods in "
                f"{stage.objective.structure.k} dimensions (those of the map and of the known features), so every pair "
                "counts the same (radius_=inf); use weights=None, or fewer dimensions or known features.",
                MapWarning,
            )
        elif last.too_small:
            warn_user(
                "weights='curvilinear': the neighbourhood became too small to hold every object in place before it was "
                f"small for most; it was kept at radius_={radius:.4g}. Some objects lie far from all others: "
                "leave them out to let it shrink further.",
                MapWarning,
            )
        return last.stage, radius


class Curvilinear(NamedTuple):
    """The last stage, its radius, and whether the radius could shrink no more."""

    stage: Stage
    radius: float
    too_small: bool


def curvilinear(problem: Problem, stage: Stage, workers: Workers, settings: SearchSettings) -> Curvilinear:
    """Shrink the neighbourhood in which dissimilarities count, following the map.

    A pair counts by ``exp(-(d / radius)^2)`` with its fitted distance d, known features included, as it was at the
    beginning of the stage. The first radius is the largest of these distances.
    The radius shrinks until the neighbourhood is small, or until some object has too few neighbours to hold it.
    """
    last = Curvilinear(stage, np.inf, too_small=False)
    Z = stage.objective.structure.lift(stage.solution.theta)
    radius = float(cdist(Z, Z).max())
    for _ in range(STAGES):
        weights = _neighbourhood(problem, last.stage, radius)
        neighbours, needed = weights.sum(axis=1), last.stage.objective.structure.k + SPARE_NEIGHBOURS
        if neighbours.min() < needed:
            most_count = np.isinf(last.radius) or np.median(neighbours) > len(neighbours) * MOST
            last = last._replace(too_small=bool(most_count))
            break
        # A stage on the way need not be followed to its end.
        short = replace(settings, max_iter=min(STAGE_ITERATIONS, settings.max_iter))
        last = Curvilinear(_with_weights(problem, last.stage, weights, workers, short), radius, too_small=False)
        if last.stage.solution.reason is Reason.INTERRUPTED:
            return last
        if np.median(neighbours) <= ENOUGH * needed:
            break
        radius *= SHRINKAGE
    return last._replace(stage=_to_its_end(last.stage, settings))


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
    pairs = replace(problem.pairs, weighting=Weighting.ARRAY, W=weights, factor=1.0)
    objective = make_objective(replace(problem, pairs=pairs), TableEngine(pairs, workers))
    theta = stage.objective.structure.carry(stage.solution.theta, objective.structure)
    return run_stage("curvilinear", objective, theta, settings)


def _neighbourhood(problem: Problem, stage: Stage, radius: float) -> Array:
    """Return the weights for a radius: 0 for missing pairs and on the diagonal."""
    Z = stage.objective.structure.lift(stage.solution.theta)
    weights = np.exp(-((cdist(Z, Z) / radius) ** 2))
    weights[np.isnan(problem.pairs.whole[0]) | (weights < LEAST_WEIGHT)] = 0.0
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights)
