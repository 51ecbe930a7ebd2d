"""Choosing how strong a ridge is: by how well pairs that a fit did not see are predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..engines import Engine, LevelEngine, make_engine
from ..kernels import ArraySource, Edges, Pairs, SampledPairs, Weighting, Workers, rectangle
from ..problem import Curve, Problem, held_out_pairs
from ._loop import Reason, minimise
from ._objective import Objective, make_objective
from ._rules import lbfgs
from ._starts import make_starts
from ._stochastic import choose_landmarks

# What is tried. The best strength is about the noise of a dissimilarity over the spread of a coordinate, as variances.
STRENGTHS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.2, 1.6, 2.4, 3.2, 4.8, 6.4)
# Ten folds of a tenth choose no better (gain in the correlation with what is hidden, 36 sets each: .015 and .129, and
# .017 and .129 with these) and take twice as long.
FOLDS, SHARE = 5, 0.2
# A strong ridge makes the shortest axis vanish, which is another question: how many dimensions there are. So it keeps
# this share of its length. Without that, and strengths up to 12.8, held-out pairs of nine-point ratings gain .053
# instead of .129.
KEPT_AXIS = 0.3
# It does not depend on how many objects there are, so that of many some stand for all.
MOST_OBJECTS = 200
# Errors of prediction need no more digits than this, and starts no more than being near a good map.
TOLERANCE, MOST_ITERATIONS = 1e-6, 200
STARTS = 4


class _Fit(NamedTuple):
    """An objective, and where it was minimised."""

    objective: Objective
    theta: Array


class _Listed(NamedTuple):
    """The pairs that count, one by one, in the engine's units."""

    rows: IntArray
    columns: IntArray
    delta: Array
    weight: Array

    def take(self, which: IntArray) -> _Listed:
        return _Listed(self.rows[which], self.columns[which], self.delta[which], self.weight[which])


def choose_ridge(problem: Problem, workers: Workers, level: str, ties: str, rng: np.random.Generator) -> float:
    """Return the strength of the ridge that predicts held-out pairs best.

    A fifth of the pairs is treated as missing at a time; a fit to the others, for every strength from the one before,
    says how far apart they should be, and the squared error counts as it does in the stress.
    """
    few = _few_objects(problem, rng)
    engine = make_engine(few.pairs, workers, level, ties)
    first = _best(few, make_objective(few, engine), rng)
    strengths = _that_keep_all_axes(few, engine, first)
    listed, errors = _listed(few.pairs), np.zeros(len(strengths))
    for held in held_out_pairs(listed.rows, listed.columns, few.n, SHARE, FOLDS, rng, "ridge='heldout'"):
        rest = replace(few, pairs=_without(few.pairs, listed, held))
        fits = _path(rest, make_engine(rest.pairs, workers, level, ties), first, strengths)
        out = listed.take(held)
        errors += [_error(rest, fit, out, ordinal=level == "ordinal") for fit in fits]
    return strengths[int(np.argmin(errors))]


def _best(problem: Problem, objective: Objective, rng: np.random.Generator) -> _Fit:
    """Return the best of a few searches without a ridge."""
    starts = make_starts(objective, problem.known, "auto", STARTS, rng)
    found = [_descend(objective, start.theta) for start in starts]
    return _Fit(objective, min(found, key=lambda theta: objective(theta).value))


def _path(problem: Problem, engine: Engine, start: _Fit, strengths: Sequence[float]) -> Iterator[_Fit]:
    """Yield a fit for every strength, each from the one before."""
    for strength in strengths:
        objective = make_objective(replace(problem, penalties={**problem.penalties, "ridge": strength}), engine)
        theta = start.objective.structure.carry(start.theta, objective.structure)
        start = _Fit(objective, _descend(objective, theta))
        yield start


def _that_keep_all_axes(problem: Problem, engine: Engine, start: _Fit) -> Sequence[float]:
    """Return the strengths up to the one with which the shortest axis of the map becomes too short."""
    shortest = _shortest_axis(start)
    for number, fit in enumerate(_path(problem, engine, start, STRENGTHS[1:]), start=1):
        if _shortest_axis(fit) < KEPT_AXIS * shortest:
            return STRENGTHS[:number]
    return STRENGTHS


def _shortest_axis(fit: _Fit) -> float:
    U = fit.objective.structure.unknown(fit.theta)
    return float(np.linalg.svd(U - U.mean(axis=0), compute_uv=False)[-1])


def _error(problem: Problem, fit: _Fit, held: _Listed, *, ordinal: bool) -> float:
    """Return the squared error of the held-out pairs, as a share of their sum of squares."""
    Z, engine, aims = fit.objective.structure.lift(fit.theta), fit.objective.engine, held.delta
    if isinstance(engine, LevelEngine):  # as the fit to the others transforms them
        assert isinstance(problem.pairs, Pairs)  # of which alone there are disparities
        aims = Curve(problem.pairs.values * engine.scale, engine.table(Z), ordinal=ordinal)(aims)
    distances = np.sqrt(np.sum((Z[held.rows] - Z[held.columns]) ** 2, axis=1))
    return float(np.sum(held.weight * (distances - aims) ** 2) / np.sum(held.weight * aims**2))


def _descend(objective: Objective, theta: Array) -> Array:
    found = minimise(objective, theta, lbfgs(objective)(), tol=TOLERANCE, max_iter=MOST_ITERATIONS)
    if found.reason is Reason.INTERRUPTED:
        raise KeyboardInterrupt  # there is no map yet that could be kept
    return found.theta


def _few_objects(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem of some objects by themselves, if there are many; as a table in memory."""
    pairs = problem.pairs
    if isinstance(pairs, Edges):
        return problem
    if pairs.n <= MOST_OBJECTS:
        at: IntArray = np.arange(pairs.n)
    else:
        pool = pairs.pool if isinstance(pairs, SampledPairs) else np.arange(pairs.n)
        most = max(MOST_OBJECTS, 4 * (problem.p + problem.known.n_dimensions))
        at = choose_landmarks(problem.known, pool, most, rng)
    values = rectangle(pairs.source, at, at).astype(np.float64)
    counts = ~np.isnan(values) & ~np.eye(len(at), dtype=bool)
    if pairs.weighting == Weighting.ARRAY:
        counts &= pairs.W[np.ix_(at, at)] > 0
    compared = counts.any(axis=1)  # others stand alone among these
    at, values = at[compared], values[np.ix_(compared, compared)]
    W = pairs.W[np.ix_(at, at)] if pairs.weighting == Weighting.ARRAY else pairs.W
    part = Pairs(ArraySource(values), pairs.scale, pairs.weighting, W, pairs.floor, pairs.factor, pairs.every_pair)
    return replace(problem, pairs=part, known=problem.known.take(at))


def _listed(pairs: Pairs | Edges) -> _Listed:
    if isinstance(pairs, Edges):
        return _Listed(pairs.rows, pairs.columns, pairs.delta, pairs.weight)
    i, j = np.triu_indices(pairs.n, 1)
    delta, weight = pairs.values[i, j] * pairs.scale, kernels.plain.pair_weights(pairs)[i, j]
    counts = ~np.isnan(delta) & (weight > 0)
    return _Listed(i[counts], j[counts], delta[counts], weight[counts])


def _without(pairs: Pairs | Edges, listed: _Listed, held: IntArray) -> Pairs | Edges:
    """Return the pairs without those held out."""
    if isinstance(pairs, Edges):
        rest = listed.take(np.setdiff1d(np.arange(len(listed.rows)), held))
        return replace(pairs, rows=rest.rows, columns=rest.columns, delta=rest.delta, weight=rest.weight)
    values, i, j = pairs.values.copy(), listed.rows[held], listed.columns[held]
    values[i, j] = values[j, i] = np.nan
    weighting = Weighting.MASKED if pairs.weighting == Weighting.UNIT else pairs.weighting
    return replace(pairs, source=ArraySource(values), weighting=weighting, every_pair=False, sums=None)
