"""Drawing the posterior of a fitted map: what can be asked for, how long it takes, and what a fit keeps for it."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ..checking import UnfinishedWarning, require_package, warn_user
from ..kernels import resolve_threads
from ..posterior import TUNING, Draws, Evidence, Line, Model, empirical_tau, expected_seconds, sample
from ..problem import PENALTIES, KnownFeatures, Problem
from ..progress import Watch
from ._posterior import Posterior
from ._summary import title_of
from ._tables import Moved

ESTIMATES = ("least_squares", "posterior")
# Of a fit with estimate="posterior"; the defaults of the method are the same.
N_DRAWS, CHAINS, LEVEL = 400, 4, 0.95
# A pass over 400 objects takes some 3 ms, and 700 draws of four chains 87,000 of them: minutes; of 1,000 objects, half
# an hour.
MOST_OBJECTS = 400
# Seconds from which on it is said how long it will take.
LONG = 60.0
FEWEST_DRAWS = 10
WAY_OUT = "use ridge='heldout', which shrinks the map by held-out pairs, for any number of objects"


class Prepared(NamedTuple):
    """A model, where to begin, its unit (the mean dissimilarity), and what brings dissimilarities onto its scale."""

    model: Model
    start: Array
    unit: float
    line: Line


class Kept(NamedTuple):
    """What a fit keeps for its posterior: its level and the evidence, or why there is none."""

    level: str
    evidence: Evidence | None
    hindrance: str = ""
    prepared: Prepared | None = None  # what came of the evidence and the fit by least squares


def keep_for_posterior(estimator: Any, problem: Problem) -> Kept:
    """Return the pairs that count, with their dissimilarities as they were given, and what they were fitted by.

    Parameters that are set after a fit are those of the next one.
    """
    hindrance = _why_not(estimator) or _why_not_of(problem)
    return Kept(estimator.level, None if hindrance else Evidence.of(problem.pairs), hindrance)


def _why_not_of(problem: Problem) -> str:
    """Say why there is no posterior of these objects, if there is none."""
    if problem.n > MOST_OBJECTS:
        return f"posterior: {why_too_many(problem.n)}."
    if problem.component is not None:
        groups = int(problem.component.max()) + 1
        return f"posterior: the objects fall into {groups} groups that were mapped apart; pass one group at a time."
    return ""


def why_too_many(n: int) -> str:
    """Say that there are too many objects to draw their places."""
    return f"there are {n:,} objects, and drawing the places of more than {MOST_OBJECTS} takes too long; {WAY_OUT}"


def refuse_many(n: int) -> None:
    """Raise before a fit whose posterior would be refused."""
    if n > MOST_OBJECTS:
        raise ValueError(f"estimate='posterior': {why_too_many(n)}.")


def refuse_posterior(estimator: Any) -> None:
    """Raise where the parameters of an estimator ask for what the model of the posterior is not about."""
    reason = _why_not(estimator)
    if reason:
        raise ValueError(reason)


def _why_not(estimator: Any) -> str:
    """Say which parameter of an estimator asks for what the model is not about, if any does."""
    if estimator.level not in ("ratio", "interval"):
        return (
            f"level={estimator.level!r} has no posterior: the model is about how far dissimilarities are from "
            "distances, and such disparities are fitted to these. Use level='ratio' or level='interval'."
        )
    if estimator.weights is not None:
        return (
            f"weights={estimator.weights!r} with a posterior, whose model learns by itself how the noise grows with "
            "the distance; use weights=None. (An array of weights, passed to fit, is taken for precisions.)"
        )
    held = [name for name in PENALTIES if getattr(estimator, name, 0.0)] + ["orthogonal"] * bool(estimator.orthogonal)
    if held:
        return (
            f"{held[0]}={getattr(estimator, held[0])!r} with a posterior, whose prior is the only thing that holds the "
            "map back; leave it out. adjust=True takes off the map what is known, in every draw."
        )
    return ""


def draw_posterior(fitted: Any, *, n_draws: int, chains: int, level: float, seed: int, watch: Watch) -> Posterior:
    """Return the posterior of a fitted map."""
    require_package("nutpie", "a posterior", "posterior")
    kept: Kept = fitted._kept
    if kept.evidence is None:
        raise ValueError(kept.hindrance)
    prepared = kept.prepared or model_of(fitted, kept.level, kept.evidence)
    fitted._kept = kept._replace(prepared=prepared)  # the map may be that of the posterior when it is drawn again
    model, start, unit, line = prepared
    cores = min(chains, resolve_threads(fitted.n_jobs))
    size = {"chains": chains, "cores": cores}
    seconds = expected_seconds(model, start, iterations=TUNING + n_draws, **size)
    if seconds > LONG:
        warn_user(
            f"the posterior of {model.evidence.n} objects will take about {seconds / 60:.0f} minutes; with fewer draws "
            f"(n_draws) or chains it is faster. Or {WAY_OUT}.",
            UserWarning,
        )
    drawn = sample(model, start, draws=n_draws, tuning=TUNING, seed=seed, watch=watch, **size)
    if not drawn.finished:
        _say_unfinished(drawn.x.shape[1], n_draws)
    draws = Draws(model, drawn, int(fitted.embedding_.shape[1]), bool(fitted.adjusted_))
    found = Posterior(draws, unit, level, seed, f"posterior of {title_of(fitted)}", copy(fitted), line)
    found.warn()
    return found


def draw_as_usual(fitted: Any, seed: int, watch: Watch) -> Posterior:
    """Return the posterior of a fitted map with as many draws as it has by default."""
    return draw_posterior(fitted, n_draws=N_DRAWS, chains=CHAINS, level=LEVEL, seed=seed, watch=watch)


class UnfinishedError(ValueError):
    """Drawing was stopped before there was anything to go by."""


def _say_unfinished(made: int, wanted: int) -> None:
    if made < FEWEST_DRAWS:
        raise UnfinishedError(
            "the posterior was stopped before its chains had drawn enough to go by; let it run longer."
        )
    warn_user(f"the posterior was stopped after {made} of {wanted} draws of each chain.", UnfinishedWarning)


def model_of(fitted: Any, level: str, evidence: Evidence) -> Prepared:
    """Return the model of a map that was fitted at a level, and where to begin."""
    line = Line() if level == "ratio" else evidence.line_to(np.asarray(fitted.predict_dissimilarities()))
    evidence = evidence.on(line)
    unit = evidence.unit
    to_model = 1.0 / (fitted._scale * unit)
    U, gram = fitted._free.U * to_model, fitted._coef_standard @ fitted._coef_standard.T * to_model**2
    scaled = evidence.scaled()
    tau = empirical_tau(scaled, U, fitted._fitted / unit, fitted._known)
    model = Model(scaled, fitted._known, U.shape[1], tau)
    return Prepared(model, model.start(U - U.mean(axis=0), gram), unit, line)


def moved_to(V: Array, moved: Moved, known: KnownFeatures) -> Moved:
    """Return cells that a fit estimated with other values, of all known columns in standard units, in their place."""
    out = []
    for cells, _ in moved:
        at = np.ix_(cells.rows, np.asarray(cells.columns))
        here = V[at] - (known.values[at] if cells.price > 0 else 0.0)
        if cells.mixture:
            system = np.vstack([cells.standard.T, np.ones(len(cells.standard))])
            here = np.linalg.lstsq(system, np.vstack([here.T, np.ones(len(here))]), rcond=None)[0].T
        out.append((cells, here))
    return out
