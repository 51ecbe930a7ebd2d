"""A fit as a straight line: read the data, search from every start, and describe the map that was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import kernels
from .._typing import Array
from ..checking import Dissimilarities, quote, refuse_target, warn_user
from ..dissimilarities import keep_objects
from ..engines import make_engine
from ..kernels import Form, OneBlasThread, Which, Workers, rectangle, resolve_threads
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
from ..progress import Callback, Listener, Progress, watching
from ..solvers import Attempt, Solution, best_of, warned_of_interruption, was_cut_short
from ._adjustment import Decision, FreeMap, fit_free_map
from ._fitted_map import FittedMap
from ._imputed import cell_widths
from ._many import Solver, sampled_pairs, some_objects
from ._parameters import check_parameters, described, fixed_random_state, names_checkpoint, open_fit
from ._placing import StressPlacer
from ._posterior import keep_for_posterior
from ._random_fits import sample_of
from ._reading import Data, Needs, read
from ._search import AS_ASKED, CANONICAL, Enough, Refit, Search, Task, search

PARTNERS = 2000  # fitted objects that new ones are placed by, of many
READ_TOGETHER = 128  # objects whose dissimilarities to some others are in memory at a time

# Returns what a fit has read, the problem, the engine that passes over its pairs, and the form of a cost.
Read = Callable[..., tuple[Data, Problem, Any, Form | None]]


def fit_map(
    estimator: Any,
    X: Any,
    y: Any,
    known: Any,
    weights: Any,
    callback: Callback | None,
    refit: Refit = AS_ASKED,
    *,
    read_problem: Read,
) -> None:
    """Fit an estimator: read, search, describe, assign."""
    forget(estimator)
    p = check_parameters(estimator)
    refuse_target(y)
    saved = open_fit(estimator.init)
    random_state = fixed_random_state(estimator.random_state, saved)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    with ExitStack() as stack:
        watch = stack.enter_context(watching(callback, *([Printer(estimator)] if estimator.verbose else [])))
        stack.enter_context(OneBlasThread())
        workers = stack.enter_context(Workers(resolve_threads(estimator.n_jobs)))
        data, problem, engine, form = read_problem(estimator, X, known, weights, p, seed, random_state, workers)
        if watch.watched or saved.about:
            saved = described(saved, estimator, problem, random_state)
        labels = data.dissimilarities.labels
        task = Task(estimator, problem, engine, labels, data.samples, form, seed, saved, refit, workers)
        found, decision = fit_free_map(
            estimator.adjust,
            refit.n_free,
            p,
            problem.known,
            lambda dimensions: search(task, dimensions),
            lambda found: FreeMap.of(found.stage, problem.known),
            # A given start fixes the number of dimensions.
            may_follow=lambda found: not (saved.init == "given" or was_cut_short(found.attempts)),
            labels=labels,
        )
        fitted = _map_of(task, data, found, decision)
        if form is None:
            fitted, attributes = _with_stress(fitted, task, data, found)
        else:
            attributes = _of_cost(fitted, found)
    assign(estimator, fitted, attributes | _of_search(found, "stress" if form is None else "cost"))
    warn_unfinished(estimator, found.attempts, found.stage.solution)
    fitted.warn(estimator.adjust)


def forget(estimator: Any) -> None:
    """Delete the attributes of an earlier fit, so that a failing one leaves nothing half-way."""
    for name in list(vars(estimator)):
        if name.endswith("_") or name == "_map":
            delattr(estimator, name)


def assign(estimator: Any, fitted: FittedMap, attributes: dict[str, Any]) -> None:
    """Assign what a fit found; everything else is read off the map when it is asked for."""
    if hasattr(estimator.metric, "fit"):
        attributes = {"metric_": fitted.transformer, **attributes}
    vars(estimator).update({"_map": fitted, "embedding_": fitted.embedding, **attributes})


# ---- reading


def read_stress(
    estimator: Any, X: Any, known: Any, weights: Any, p: int, seed: int, random_state: Any, workers: Workers
) -> tuple[Data, Problem, Any, None]:
    """Return the data, the problem of the conditional stress and its engine."""
    level, scheme, in_full = estimator.level, estimator.weights, None
    SCHEMES[scheme].require(level, p)
    if level != "ratio":
        in_full = f"level={level!r}", "use level='ratio'"
    elif SCHEMES[scheme].follows_map:
        in_full = f"weights={scheme!r}", "use weights=None"
    in_parts = level == "ratio" and scheme in (None, "sammon") and estimator.solver != Solver.SMACOF
    needs = Needs(in_full, in_parts=in_parts, chooses_solver=True)
    data = read(estimator, X, known, weights, needs, workers, random_state)
    checked = data.dissimilarities
    if data.samples:
        pairs: Any = sampled_pairs(checked, scheme, workers, seed)
    else:
        pairs = build_pairs(ranked(checked) if level == "ordinal" else checked, scheme, weights, workers)
    coded = check_known(data.known, checked.n, checked.labels, estimator.coef, types=estimator.known_types)
    check_dimension(p, checked.n, coded)
    if estimator.orthogonal:
        _refuse_moving(coded)
    problem = Problem(pairs, coded, p, bool(estimator.orthogonal))
    problem.require_room()
    warn_of_few_pairs(pairs, p + coded.n_dimensions, checked.labels)
    return data, problem, make_engine(pairs, workers, level, estimator.ties), None


def _refuse_moving(known: KnownFeatures) -> None:
    """Raise where the map is to be orthogonal to features whose values are themselves estimated."""
    missing = [feature.name for feature in known.features if len(feature.missing)]
    moving = missing + [known.names[known.kept[column]] for column in known.errors]
    if moving:
        raise ValueError(
            f"orthogonal=True with values of {quote(moving)} that are estimated (missing, or measured with error): "
            "what the map should be orthogonal to is not known before the fit. Use adjust=True, or fill them."
        )


# ---- describing


def _map_of(task: Task, data: Data, found: Search, decision: Decision) -> FittedMap:
    """Return the fitted map of a search."""
    structure, theta = found.stage.objective.structure, found.stage.solution.theta
    estimator, checked = task.estimator, data.dissimilarities
    canonical, turn_of = CANONICAL[task.form]
    return FittedMap(
        U=canonical(structure.unknown(theta)),
        gram=structure.gram(theta),
        Z=structure.lift(theta),
        known=task.problem.known,
        scale=found.stage.objective.engine.scale,
        labels=checked.labels,
        dtype=checked.source.dtype,
        n_components=int(estimator.n_components),
        decision=decision,
        sample=sample_of(checked.source),
        moved=structure.moved(theta),
        turn_of=turn_of,
        distance="cityblock" if task.form == Form.COLUMNS else "euclidean",
        orthogonal=bool(estimator.orthogonal),
        has_weights=data.weights is not None,
        transformer=data.transformer,
        sampled=data.samples,
    )


def _of_cost(fitted: FittedMap, found: Search) -> dict[str, Any]:
    """Return the cost and its parts, by the names of the attributes."""
    import pandas as pd

    engine: Any = found.stage.objective.engine
    points = pd.Series(engine.point_stress(fitted.Z) / 2, index=fitted.labels, name="cost")
    cost = float(points.sum())
    shown = fitted.shown_total(engine, 2 * cost) / 2
    return {"cost_": cost, "shown_cost_": shown, "cost_per_point_": points}


def _with_stress(fitted: FittedMap, task: Task, data: Data, found: Search) -> tuple[FittedMap, dict[str, Any]]:
    """Return a map with what new objects are placed by and a posterior is drawn from, and the attributes of the fit."""
    import pandas as pd

    estimator, checked, labels = task.estimator, data.dissimilarities, fitted.labels
    engine: Any = found.stage.objective.engine
    widths, se, curve = None, 0.0, None
    if estimator.level == "ratio" and fitted.moved:  # residuals of disparities, fitted to the distances, say too little
        widths = cell_widths(fitted.known, fitted.moved, fitted.U, fitted.roots, engine)
    fitted = replace(fitted, widths=widths, evidence=keep_for_posterior(estimator, task.problem))
    attributes: dict[str, Any] = {"solver_": str(data.solver), "radius_": found.radius}
    disparities = engine.disparity_table(fitted.Z)
    if disparities is not None:
        disparities = disparities / engine.scale
        attributes["disparities_"] = pd.DataFrame(disparities, index=labels, columns=labels)
        delta = checked.array_for(f"level={estimator.level!r}")
        curve = Curve(delta, disparities, ordinal=estimator.level == "ordinal")
    shares, fingerprints = engine.last_pass(fitted.Z, kernels.placing.fingerprint_vector(checked.n))
    points = shares / (2 * engine.total)
    stress = total = float(points.sum())
    shown = fitted.shown_total(engine, float(shares.sum())) / (2 * engine.total)
    partners: Which = slice(None)
    if data.samples:
        stress, se = engine.normalised_stress(fitted.Z)
        partners = some_objects(checked.source, PARTNERS)
        fingerprints = _fingerprints_among(checked, partners, engine.scale)
        keep_objects(data.transformer, partners)
    elif fingerprints is None:
        fingerprints = _fingerprints(checked, curve, engine.scale, task.workers)
    share = stress / total if total else 1.0
    attributes |= {"stress_": stress, "stress_se_": se, "shown_stress_": shown * share}
    attributes["stress_per_point_"] = pd.Series(points * share, index=labels, name="stress")
    placer = StressPlacer(fingerprints, estimator.weights, task.problem.pairs.floor, curve, partners)
    return replace(fitted, placer=placer), attributes


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


def _of_search(found: Search, quantity: str) -> dict[str, Any]:
    """Return the attributes that describe a search."""
    import pandas as pd

    best, lowest = found.stage.solution, best_of(found.attempts)
    rows = [
        (kind, s.value * found.unit, s.n_iter, s.passes, s.converged, s.reason.sentence(quantity), s is lowest)
        for kind, s in found.attempts
    ]
    columns = ["kind", quantity, "n_iter", "passes", "converged", "reason", "best"]
    return {
        f"{quantity}_path_": np.asarray(best.path) * found.unit,
        "n_iter_": best.n_iter,
        "converged_": best.converged,
        "stop_reason_": best.reason.sentence(quantity),
        "starts_": pd.DataFrame(rows, columns=columns),
    }


def warn_unfinished(estimator: Any, attempts: list[Attempt], best: Solution) -> None:
    """Warn if a search was interrupted, or stopped by `max_iter` before it settled."""
    if warned_of_interruption(attempts, best) or best.converged:
        return
    settled = "search settled"
    for quantity in ("stress", "cost"):
        if hasattr(estimator, f"{quantity}_"):
            settled = f"{quantity} settled (at {getattr(estimator, f'{quantity}_'):.6g})"
    warn_user(
        f"the best of {len(attempts)} starts stopped after {best.n_iter} iterations because "
        f"{getattr(estimator, 'stop_reason_', best.reason)}, before the {settled}; give it more than "
        f"max_iter={estimator.max_iter}, or be content with a larger tol than {estimator.tol:g}.",
        ConvergenceWarning,
    )


class Printer(Listener):
    """Prints a line when a start ends; at level 2 also one for each iteration."""

    def __init__(self, estimator: Any) -> None:
        self.quantity = "normalised stress" if "solver" in estimator.get_params(deep=False) else "cost"
        self.level, self.lowest = int(estimator.verbose), float("inf")

    def begin(self, stage: str, n_starts: int) -> None:
        self.lowest = float("inf")

    def update(self, progress: Progress) -> None:
        if self.level > 1:
            print(f"{self._name(progress)}, iteration {progress.iteration}: {self.quantity} {progress.stress:.9g}")

    def end(self, progress: Progress, converged: bool) -> None:
        state = "" if converged else ", not converged"
        best = ", the best so far" if progress.stress < self.lowest else ""
        self.lowest = min(self.lowest, progress.stress)
        if progress.stage in ("search", "stochastic"):
            found = f"{self.quantity} {progress.stress:.9g} after {progress.iteration} iterations"
            print(f"{self._name(progress)} ({progress.kind}): {found}{state}{best}")

    @staticmethod
    def _name(progress: Progress) -> str:
        return f"start {progress.start} of {progress.n_starts}" if progress.stage == "search" else progress.stage


# ---- between rooms


def refit(
    estimator: Any,
    X: Any,
    *,
    n_free: int | None = None,
    starts: Sequence[Any] = (),
    enough: Enough | None = None,
    known: Any = None,
    weights: Any = None,
    callback: Callback | None = None,
) -> Any:
    """Fit an estimator with the number of free dimensions of an earlier fit, from further starts, or until enough."""
    estimator._fit(X, None, known, weights, callback, Refit(starts, enough, n_free))
    return estimator


def stages_of(estimator: Any) -> tuple[Any, Any]:
    """Return the stages of an estimator: a transformer (None for precomputed dissimilarities), and what maps these."""
    transformer = estimator._make_transformer()
    fresh = clone(estimator) if transformer is None else estimator._for_ready_dissimilarities()
    if names_checkpoint(getattr(fresh, "init", None)):  # of one fit, which others do not continue
        fresh.set_params(init="auto")
    return transformer, fresh
