"""The conditional stress, and what belongs to it: levels, schemes of weights, the stochastic solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import kernels
from .._typing import Array
from ..checking import Dissimilarities, quote
from ..dissimilarities import keep_objects
from ..engines import Engine, make_engine
from ..kernels import Edges, Pairs, Which, Workers, rectangle
from ..problem import (
    SCHEMES,
    Curve,
    KnownFeatures,
    Problem,
    build_pairs,
    check_dimension,
    check_known,
    make_graph,
    ranked,
    warn_of_few_pairs,
)
from ..solvers import (
    RULES,
    Attempt,
    SearchSettings,
    Stage,
    Start,
    descend,
    fit_landmarks,
    make_objective,
    place_others,
    saved_start,
    within_errors,
)
from ._adjustment import Decision
from ._fitted_map import FittedMap
from ._fitting import Data, Method, Needs, Search, Task, map_of
from ._imputed import cell_widths
from ._many import PARTNERS, Solver, sampled_pairs, some_objects
from ._placing import StressPlacer
from ._posterior import keep_for_posterior

READ_TOGETHER = 128  # objects whose dissimilarities to some others are in memory at a time


@dataclass(frozen=True)
class LeastStress(Method):
    """Minimises the conditional stress."""

    @property
    def rule(self) -> str:  # type: ignore[override]
        return self.estimator.solver if self.estimator.solver in RULES else "lbfgs"

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        level, scheme, solver = self.estimator.level, self.estimator.weights, self.estimator.solver
        square = None
        if level != "ratio":
            square = f"level={level!r}", "use level='ratio'"
        elif SCHEMES[scheme].follows_map:
            square = f"weights={scheme!r}", "use weights=None"
        in_parts = level == "ratio" and scheme in (None, "sammon") and solver != Solver.SMACOF
        return Needs(square, in_parts=in_parts, chooses_solver=True)

    def make_problem(self, data: Data, p: int, seed: int, workers: Workers) -> tuple[Problem, Engine]:
        options, checked = self.estimator, data.dissimilarities
        SCHEMES[options.weights].require(options.level, p)
        pairs: Pairs | Edges
        if data.samples:
            pairs = sampled_pairs(checked, options.weights, workers, seed)
        else:
            ranks = ranked(checked) if options.level == "ordinal" else checked
            pairs = build_pairs(ranks, options.weights, data.weights, workers)
        known = check_known(data.known, checked.n, checked.labels, options.coef, types=options.known_types)
        check_dimension(p, checked.n, known)
        if options.orthogonal:
            _refuse_moving(known)
        problem = Problem(pairs, known, p, bool(options.orthogonal))
        problem.require_room()
        warn_of_few_pairs(pairs, p + known.n_dimensions, checked.labels)
        return problem, make_engine(pairs, workers, options.level, options.ties)

    def search(self, task: Task) -> Search:
        if not task.data.samples:
            return super().search(task)
        problem, saved, workers = task.problem, task.saved, task.workers
        objective = make_objective(problem, task.engine)
        settings = replace(self.settings(objective), saved=saved)
        start = saved_start(objective, saved, 1, settings.max_iter)
        if start is None and saved.init == "given":
            start = self.starts(objective, task)[0]
        if start is None:
            number = None if self.estimator.n_init == "auto" else int(self.estimator.n_init)
            rng = np.random.default_rng(task.seed)
            landmarks = fit_landmarks(problem, settings, workers, rng, saved.init, number)
            start = Start("landmarks", place_others(objective, problem, *landmarks, workers))
        solution = start.solution or descend(objective, start.theta, settings, start.kind)
        return Search(Stage(objective, solution), [Attempt(start.kind, solution)], {"radius_": None})

    def refined(self, stage: Stage, task: Task, settings: SearchSettings) -> tuple[Stage, dict[str, Any]]:
        """Follow weights that move with the map, then values that move within their errors."""
        stage, radius = SCHEMES[self.estimator.weights].refine(task.problem, stage, task.workers, settings)
        if task.problem.known.errors:
            stage = within_errors(task.problem, stage, settings)
        return stage, {"radius_": radius}

    def describe(self, search: Search, task: Task, decision: Decision) -> tuple[FittedMap, dict[str, Any]]:
        import pandas as pd

        engine: Any = search.stage.objective.engine
        data, checked, options = task.data, task.data.dissimilarities, self.estimator
        fitted = map_of(self, search, task, decision, sampled=data.samples)
        widths = None  # residuals of disparities, which are fitted to the distances, say too little
        if options.level == "ratio":
            widths = cell_widths(fitted.known, fitted.moved, fitted.U, fitted.roots, engine)
        fitted = replace(fitted, widths=widths, evidence=keep_for_posterior(options, task.problem))
        attributes: dict[str, Any] = {"solver_": str(data.solver), "stress_se_": 0.0}
        disparities, curve = engine.disparity_table(fitted.Z), None
        if disparities is not None:
            disparities = disparities / engine.scale
            attributes["disparities_"] = pd.DataFrame(disparities, index=checked.labels, columns=checked.labels)
            delta = checked.array_for(f"level={options.level!r}")
            curve = Curve(delta, disparities, ordinal=options.level == "ordinal")
        vector = kernels.placing.fingerprint_vector(checked.n)
        shares, fingerprints = engine.last_pass(fitted.Z, vector)
        points = shares / (2 * engine.total)
        stress = total = float(points.sum())
        shown = fitted.shown_total(engine, float(shares.sum())) / (2 * engine.total)
        partners: Which = slice(None)
        if data.samples:
            estimate = engine.normalised_stress(fitted.Z)
            stress, attributes["stress_se_"] = estimate
            partners = some_objects(checked.source, PARTNERS)
            fingerprints = _fingerprints_among(checked, partners, engine.scale)
            keep_objects(data.transformer, partners)
        elif fingerprints is None:
            fingerprints = _fingerprints(checked, curve, engine.scale, task.workers)
        points, shown = points * (stress / total if total else 1.0), shown * (stress / total if total else 1.0)
        attributes |= {
            "stress_": stress,
            "shown_stress_": shown,
            "stress_per_point_": pd.Series(points, index=checked.labels, name="stress"),
        }
        U, known_map, known_given = (table[partners] for table in (fitted.U, fitted.known_map, fitted.known_given))
        scheme = options.weights, task.problem.pairs.floor
        placer = StressPlacer(U, known_map, known_given, fingerprints, *scheme, curve, partners)
        return replace(fitted, placer=placer), attributes


def _refuse_moving(known: KnownFeatures) -> None:
    """Raise where the map is to be orthogonal to features whose values are themselves estimated."""
    missing = [feature.name for feature in known.features if len(feature.missing)]
    moving = missing + [known.names[known.kept[column]] for column in known.errors]
    if moving:
        raise ValueError(
            f"orthogonal=True with values of {quote(moving)} that are estimated (missing, or measured with error): "
            "what the map should be orthogonal to is not known before the fit. Use adjust=True, or fill them."
        )


def _fingerprints_among(checked: Dissimilarities, partners: Any, scale: float) -> Array:
    """Return the fingerprints of some objects, by their dissimilarities to each other."""
    vector = kernels.placing.fingerprint_vector(len(partners))
    parts = np.array_split(partners, -(-len(partners) // READ_TOGETHER))
    among = (rectangle(checked.source, part, partners).astype(np.float64) for part in parts)
    return np.concatenate([(delta * scale) ** 2 @ vector for delta in among])


def _fingerprints(checked: Dissimilarities, curve: Curve | None, scale: float, workers: Workers) -> Array:
    """Return a number for each fitted object that identifies its row of dissimilarities, as a new object brings it."""
    vector = kernels.placing.fingerprint_vector(checked.n)
    if curve is None:
        # Every pair there is, whatever its weight: a new object brings no weights.
        # In the units of the fit, which pairs without weight may exceed by any factor.
        every = SCHEMES[None].build(replace(checked, largest=1.0 / scale), workers)
        squares = make_graph(every, workers).squared_product(vector[:, None], np.empty((checked.n, 0)), 0.0)
        with np.errstate(over="ignore"):
            return np.asarray(squares[:, 0] * np.square(scale / every.scale))  # of powers of two: exact
    delta = checked.array_for("a level").astype(np.float64)
    aims = np.where(delta == 0.0, 0.0, curve(delta))
    squares = np.nan_to_num(aims * scale, nan=0.0) ** 2
    np.fill_diagonal(squares, 0.0)
    return np.asarray(squares @ vector)
