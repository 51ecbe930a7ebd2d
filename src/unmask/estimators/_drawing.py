"""Drawing the posterior of a fitted map: what can be asked for, how long it takes, and what a fit keeps for it."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ..checking import UnfinishedWarning, require_package, warn_user
from ..kernels import resolve_threads
from ..posterior import TUNING, Draws, Evidence, Line, Model, empirical_tau, expected_seconds, sample
from ..problem import Problem
from ..progress import Watch
from ._posterior import Posterior
from ._summary import title_of

# A pass over 400 objects takes some 3 ms, and 700 draws of four chains 87,000 of them: minutes; of 1,000 objects, half
# an hour.
MOST_DRAWN = 400
# Seconds from which on it is said how long it will take.
LONG = 60.0
FEWEST_DRAWS = 10


class Kept(NamedTuple):
    """What a fit keeps for its posterior: its level and the evidence, or why there is none."""

    level: str
    evidence: Evidence | None
    hindrance: str = ""


def keep_for_posterior(estimator: Any, problem: Problem) -> Kept:
    """Return the pairs that count, with their dissimilarities as they were given, and what they were fitted by.

    Parameters that are set after a fit are those of the next one.
    """
    hindrance = _why_not(estimator, problem)
    return Kept(estimator.level, None if hindrance else Evidence.of(problem.pairs), hindrance)


def _why_not(estimator: Any, problem: Problem) -> str:
    """Return why this fit has no posterior; empty if it has one."""
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
    if estimator.orthogonal:
        return (
            "orthogonal=True with a posterior, whose prior is the only thing that holds the map back; use adjust=True, "
            "which takes off the map what is known, in every draw."
        )
    if problem.n > MOST_DRAWN:
        return (
            f"posterior: there are {problem.n:,} objects, and drawing the places of more than {MOST_DRAWN} takes too "
            "long; pass a sample of them, or use unmask.inspection.bootstrap."
        )
    return ""


def draw_posterior(fitted: Any, *, n_draws: int, chains: int, level: float, seed: int, watch: Watch) -> Posterior:
    """Return the posterior of a fitted map."""
    require_package("nutpie", "a posterior", "posterior")
    kept: Kept = fitted._map.evidence
    if kept.evidence is None:
        raise ValueError(kept.hindrance)
    model, start, unit, line = _model_of(fitted, kept.level, kept.evidence)
    cores = min(chains, resolve_threads(fitted.n_jobs))
    size = {"chains": chains, "cores": cores}
    seconds = expected_seconds(model, start, iterations=TUNING + n_draws, **size)
    if seconds > LONG:
        warn_user(
            f"the posterior of {model.evidence.n} objects will take about {seconds / 60:.0f} minutes; with fewer draws "
            "(n_draws) or chains it is faster.",
            UserWarning,
        )
    drawn = sample(model, start, draws=n_draws, tuning=TUNING, seed=seed, watch=watch, **size)
    if not drawn.finished:
        _say_unfinished(drawn.x.shape[1], n_draws)
    draws = Draws(model, drawn, int(fitted.embedding_.shape[1]), bool(fitted.adjusted_))
    found = Posterior(draws, unit, level, seed, f"posterior of {title_of(fitted)}", copy(fitted), line)
    found.warn()
    return found


def _say_unfinished(made: int, wanted: int) -> None:
    if made < FEWEST_DRAWS:
        raise ValueError("the posterior was stopped before its chains had drawn enough to go by; let it run longer.")
    warn_user(f"the posterior was stopped after {made} of {wanted} draws of each chain.", UnfinishedWarning)


def _model_of(fitted: Any, level: str, evidence: Evidence) -> tuple[Model, Array, float, Line]:
    """Return the model of a fitted map, where its chains begin, its unit (the mean dissimilarity) and its line."""
    line = Line() if level == "ratio" else evidence.line_to(np.asarray(fitted.predict_dissimilarities()))
    evidence = evidence.on(line)
    unit = evidence.unit
    to_model = 1.0 / (fitted._map.scale * unit)
    U, gram = fitted._map.free.U * to_model, fitted._map.roots @ fitted._map.roots.T * to_model**2
    scaled = evidence.scaled()
    tau = empirical_tau(scaled, U, fitted._map.Z / fitted._map.scale / unit, fitted._map.known)
    model = Model(scaled, fitted._map.known, U.shape[1], tau)
    return model, model.start(U - U.mean(axis=0), gram), unit, line
