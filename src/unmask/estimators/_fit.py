"""A fit as a straight line: read the data, search from every start, and describe the map that was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import kernels
from .._typing import Array, IntArray
from ..checking import Dissimilarities, UnfinishedWarning, quote, refuse_target, warn_user
from ..dissimilarities import keep_objects
from ..engines import make_engine
from ..kernels import Form, OneBlasThread, Source, Workers, rectangle, resolve_threads
from ..problem import (
    SCHEMES,
    Curve,
    Problem,
    build_pairs,
    check_dimension,
    check_known,
    make_graph,
    ranked,
    warn_of_few_pairs,
)
from ..progress import Callback, Listener, Progress, watching
from ..solvers import Solution, best_of, was_cut_short
from ._adjustment import decide, warn_of_map
from ._fitted_map import FittedMap, sample_of
from ._imputed import cell_widths
from ._parameters import check_parameters, described, names_checkpoint, open_fit
from ._placing import StressPlacer
from ._posterior import keep_for_posterior
from ._reading import Data, Inputs, Needs, Solver, read, sampled_pairs, some_objects
from ._search import CANONICAL, Enough, Refit, Search, Task, search

# Unless an earlier fit decided their number, the free map gets at most this many dimensions more than are shown.
MOST_EXTRA = 3
PARTNERS = 2000  # fitted objects that new ones are placed by, of many
READ_TOGETHER = 128  # objects whose dissimilarities to some others are in memory at a time


class Method(NamedTuple):
    """The three parts of a fit in which estimators differ."""

    # Returns the data, the problem, the engine that passes over its pairs, and the form of a cost.
    read: Callable[[Any, Inputs], tuple[Data, Problem, Any, Form | None]]
    search: Callable[[Task, int], Search]
    # Returns the map with its placer, and the attributes that are not read off the map.
    describe: Callable[[FittedMap, Task, Search], tuple[FittedMap, dict[str, Any]]]


def fit_map(
    estimator: Any,
    method: Method,
    X: Any,
    y: Any,
    known: Any,
    weights: Any = None,
    callback: Callback | None = None,
    refit: Refit | None = None,
) -> None:
    """Fit an estimator: read, search, describe, assign."""
    forget(estimator)
    p = check_parameters(estimator)
    refuse_target(y)
    saved, random_state = open_fit(estimator.init, estimator.random_state)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    with ExitStack() as stack:
        watch = stack.enter_context(watching(callback, *([Printer(estimator.verbose)] if estimator.verbose else [])))
        stack.enter_context(OneBlasThread())
        workers = stack.enter_context(Workers(resolve_threads(estimator.n_jobs)))
        inputs = Inputs(X, known, weights, p, seed, random_state, workers)
        data, problem, engine, form = method.read(estimator, inputs)
        if watch.watched or saved.about:
            saved = described(saved, estimator, problem, random_state)
        task = Task(estimator, data, problem, engine, form, seed, saved, refit or Refit(), workers)
        found, fitted = _free_map(task, method)
        fitted, attributes = method.describe(fitted, task, found)
    if type(fitted.transformer) is type(estimator.metric):  # not the paths of an Isomap between objects it compares
        attributes["metric_"] = fitted.transformer
    # Everything else is read off the map when it is asked for.
    vars(estimator).update({"_map": fitted, "embedding_": fitted.embedding, **attributes})
    if found.best is not None:
        warn_unfinished(estimator, found.starts, found.best)
    warn_of_map(fitted, estimator.adjust)


def forget(estimator: Any) -> None:
    """Delete the attributes of an earlier fit, so that a failing one leaves nothing half-way."""
    for name in list(vars(estimator)):
        if name.endswith("_") or name == "_map":
            delattr(estimator, name)


# ---- searching


def _free_map(task: Task, method: Method) -> tuple[Search, FittedMap]:
    """Return a free map of as many dimensions as are needed, and the decision whether it is adjusted.

    A known feature that acts along the map takes up room there: with too few dimensions what is left is the wrong axis.
    So a free map that leaks is fitted once more with a dimension for each direction that does, unless it began at a
    given start, which fixes the number of dimensions.
    """
    problem, adjust, n_free = task.problem, task.estimator.adjust, task.refit.n_free
    most = problem.n - 1 - problem.known.n_dimensions
    if n_free is not None and n_free > most:
        raise ValueError(
            f"the map has {n_free} dimensions before it is adjusted, but objects and known features leave at most "
            f"{most}; use fewer dimensions or known features, or adjust=False."
        )
    possible = problem.p > 0 and problem.known.n_kept > 0
    first = problem.p if n_free is None or not possible or adjust == "auto" else n_free
    found = method.search(task, first)
    fitted = _map_of(task, found)
    decision = decide(fitted, adjust)
    if decision.adjusted and task.saved.init != "given" and not was_cut_short(found.starts):
        wanted = min(problem.p + min(decision.leak.directions, MOST_EXTRA), most) if n_free is None else n_free
        if wanted > first:
            found = method.search(task, wanted)
            fitted = _map_of(task, found)
    return found, replace(fitted, decision=decision)


def _map_of(task: Task, found: Search) -> FittedMap:
    """Return the fitted map of a search."""
    data, (canonical, turn_of) = task.data, CANONICAL[task.form]
    fitted = FittedMap(
        U=canonical(found.U),
        gram=found.gram,
        Z=found.Z,
        known=task.problem.known,
        scale=found.engine.scale,
        labels=data.dissimilarities.labels,
        dtype=data.dissimilarities.source.dtype,
        n_components=task.problem.p,
        sample=sample_of(data.dissimilarities.source),
        moved=found.moved,
        turn_of=turn_of,
        distance="cityblock" if task.form == Form.COLUMNS else "euclidean",
        orthogonal=task.problem.orthogonal,
        has_weights=data.weights is not None,
        transformer=data.transformer,
        sampled=data.samples,
    )
    if found.moved:
        widths = cell_widths(fitted.known, fitted.U, fitted.known_map, fitted.roots, found.engine)
        fitted = replace(fitted, widths=widths)
    return fitted


# ---- the conditional stress


def read_stress(estimator: Any, inputs: Inputs) -> tuple[Data, Problem, Any, None]:
    """Return the data, the problem of the conditional stress and its engine."""
    level, scheme, in_full = estimator.level, estimator.weights, None
    p, workers = inputs.p, inputs.workers
    SCHEMES[scheme].require(level, p)
    if level != "ratio":
        in_full = f"level={level!r}", "use level='ratio'"
    elif SCHEMES[scheme].follows_map:
        in_full = f"weights={scheme!r}", "use weights=None"
    in_parts = level == "ratio" and not SCHEMES[scheme].as_table and estimator.solver != Solver.SMACOF
    needs = Needs(in_full, in_parts=in_parts)
    data = read(estimator, inputs, needs)
    checked = data.dissimilarities
    if data.samples:
        pairs: Any = sampled_pairs(checked, scheme, workers, inputs.seed)
    else:
        pairs = build_pairs(ranked(checked) if level == "ordinal" else checked, scheme, inputs.weights, workers)
    coded = check_known(data.known, checked.n, checked.labels, estimator.coef, types=estimator.known_types)
    check_dimension(p, checked.n, coded)
    if estimator.orthogonal and (
        moving := [feature.name for feature in coded.features if len(feature.missing)]
        + [coded.names[coded.kept[column]] for column in coded.errors]
    ):
        raise ValueError(
            f"orthogonal=True with values of {quote(moving)} that are estimated (missing, or measured with error): "
            "what the map should be orthogonal to is not known before the fit. Use adjust=True, or fill them."
        )
    problem = Problem(pairs, coded, p, bool(estimator.orthogonal))
    problem.require_room()
    warn_of_few_pairs(pairs, p + coded.n_dimensions, checked.labels)
    return data, problem, make_engine(pairs, workers, level, estimator.ties), None


def describe_stress(fitted: FittedMap, task: Task, found: Search) -> tuple[FittedMap, dict[str, Any]]:
    """Return a map with what new objects are placed by and a posterior is drawn from, and the attributes of the fit."""
    import pandas as pd

    estimator, data, engine, labels = task.estimator, task.data, found.engine, fitted.labels
    checked, curve, se = data.dissimilarities, None, 0.0
    partners: IntArray = np.arange(checked.n)
    attributes = {"solver_": str(data.solver), "radius_": found.radius, **of_search(found, "stress")}
    disparities = engine.disparity_table(fitted.Z)
    if disparities is not None:
        disparities = disparities / engine.scale
        attributes["disparities_"] = pd.DataFrame(disparities, index=labels, columns=labels)
        curve = Curve(checked.array_for("a level"), disparities, ordinal=estimator.level == "ordinal")
    shares, fingerprints = engine.last_pass(fitted.Z, kernels.placing.fingerprint_vector(checked.n))
    points = shares / (2 * engine.total)
    stress = total = float(points.sum())
    shown = fitted.shown_total(engine, float(shares.sum())) / (2 * engine.total)
    if data.samples:
        stress, se = engine.normalised_stress(fitted.Z)
        partners = some_objects(checked.source, PARTNERS)
        keep_objects(data.transformer, partners)
    if fingerprints is None and not data.samples and curve is None:
        fingerprints = _fingerprints_of_pairs(checked, engine.scale, task.workers)
    placer = StressPlacer(fingerprints, estimator.weights, task.problem.pairs.floor, curve, partners)
    if fingerprints is None:
        placer = replace(placer, fingerprints=_fingerprints(checked.source, placer, engine.scale))
    share = stress / total if total else 1.0
    attributes |= {"stress_": stress, "stress_se_": se, "shown_stress_": shown * share}
    attributes["stress_per_point_"] = pd.Series(points * share, index=labels, name="stress")
    # Residuals of disparities, which are fitted to the distances, give no intervals.
    widths = fitted.widths if estimator.level == "ratio" else None
    return replace(
        fitted, widths=widths, evidence=keep_for_posterior(estimator, task.problem), placer=placer
    ), attributes


def _fingerprints(source: Source, placer: StressPlacer, scale: float) -> Array:
    """Return a number for each partner that identifies its dissimilarities to all, as a new object brings them."""
    partners, vector = placer.partners, kernels.placing.fingerprint_vector(len(placer.partners))
    found = []
    for part in np.array_split(partners, -(-len(partners) // READ_TOGETHER)):
        delta = rectangle(source, part, partners).astype(np.float64)
        found.append((np.nan_to_num(placer.aims(delta)) * scale) ** 2 @ vector)
    return np.concatenate(found)


def _fingerprints_of_pairs(checked: Dissimilarities, scale: float, workers: Workers) -> Array:
    """Return the same of every pair there is, whatever its weight: a new object brings no weights."""
    vector = kernels.placing.fingerprint_vector(checked.n)
    # In the units of the fit, which pairs without weight may exceed by any factor.
    every = SCHEMES[None].build(replace(checked, largest=1.0 / scale), workers)
    squares = make_graph(every, workers).squared_product(vector[:, None], np.empty((checked.n, 0)), 0.0)
    with np.errstate(over="ignore"):
        return np.asarray(squares[:, 0] * np.square(scale / every.scale))  # of powers of two: exact


STRESS = Method(read_stress, search, describe_stress)

# ---- reports


def of_search(found: Search, quantity: str) -> dict[str, Any]:
    """Return the attributes that describe a search."""
    import pandas as pd

    best, lowest = found.best, best_of(found.starts)
    assert best is not None
    rows = []
    for s in found.starts:
        reason = s.reason.sentence(quantity)
        rows.append((s.kind, s.value * found.unit, s.n_iter, s.passes, s.converged, reason, s is lowest))
    columns = ["kind", quantity, "n_iter", "passes", "converged", "reason", "best"]
    return {
        f"{quantity}_path_": np.asarray(best.path) * found.unit,
        "n_iter_": best.n_iter,
        "converged_": best.converged,
        "stop_reason_": best.reason.sentence(quantity),
        "starts_": pd.DataFrame(rows, columns=columns),
    }


def warn_unfinished(estimator: Any, starts: Sequence[Solution], best: Solution) -> None:
    """Warn if a search was interrupted, or stopped by `max_iter` before it settled."""
    if best.converged and not was_cut_short(starts):
        return
    if was_cut_short([*starts, best]):
        where, rest = f"in start {len(starts)}", "all starts"
        if not was_cut_short(starts):
            where, rest = "in a stage that follows the starts", "all of it"
        warn_user(
            f"the fit was interrupted {where}; its map is the best by then, and unfinished: fit again to have {rest}.",
            UnfinishedWarning,
        )
        return
    settled = "search settled"
    for quantity in ("stress", "cost"):
        if hasattr(estimator, f"{quantity}_"):
            settled = f"{quantity} settled (at {getattr(estimator, f'{quantity}_'):.6g})"
    warn_user(
        f"the best of {len(starts)} starts stopped after {best.n_iter} iterations because "
        f"{getattr(estimator, 'stop_reason_', best.reason)}, before the {settled}; give it more than "
        f"max_iter={estimator.max_iter}, or be content with a larger tol than {estimator.tol:g}.",
        ConvergenceWarning,
    )


class Printer(Listener):
    """Prints a line when a start ends; at level 2 also one for each iteration."""

    def __init__(self, level: int) -> None:
        self.level = level

    def update(self, progress: Progress) -> None:
        if self.level > 1:
            print(progress)

    def end(self, progress: Progress, converged: bool) -> None:
        if progress.stage in ("search", "stochastic"):
            print(f"{progress} ({progress.kind}{'' if converged else ', not converged'})")


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
    fit_map(estimator, estimator._method, X, None, known, weights, callback, Refit(starts, enough, n_free))
    return estimator


def stages_of(estimator: Any) -> tuple[Any, Any]:
    """Return the stages of an estimator: a transformer (None for precomputed dissimilarities), and what maps these."""
    transformer = estimator._make_transformer()
    fresh = clone(estimator) if transformer is None else estimator._for_ready_dissimilarities()
    if names_checkpoint(getattr(fresh, "init", None)):  # of one fit, which others do not continue
        fresh.set_params(init="auto")
    return transformer, fresh
