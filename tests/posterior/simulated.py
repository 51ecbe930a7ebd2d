"""Data that the model itself makes, so that the truth is a draw from its prior."""

from dataclasses import replace

import numpy as np

from unmask.posterior import Draws, Evidence, Model, sample
from unmask.problem import KnownFeatures, check_known
from unmask.progress import Watch

TAU = 0.35


def no_evidence(n: int) -> Evidence:
    rows, columns = np.triu_indices(n, 1)
    return Evidence(n, rows, columns, np.ones(len(rows)), np.ones(len(rows)))


def make_model(n: int, p: int, known: object = None, **others: object) -> Model:
    coded = KnownFeatures.nothing(n) if known is None else check_known(known, n, None, "auto", **others)
    return Model(no_evidence(n), coded, p, TAU)


def simulate(
    model: Model, rng: np.random.Generator, x: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, Model]:
    """Return parameters drawn from the prior, all dissimilarities they make, and the model that sees these."""
    x = rng.standard_normal(model.size) if x is None else x
    own, seen = model.parameters(x), model.evidence
    d = np.linalg.norm(own.Z[seen.rows] - own.Z[seen.columns], axis=1)
    sd = np.exp(own.log_s) * (d**2 + 1e-4) ** (own.gamma / 2)
    delta = d + sd * rng.standard_normal(len(d))
    return x, delta, replace(model, evidence=replace(seen, delta=delta))


def without(model: Model, left_out: np.ndarray) -> Model:
    """Return the model without some pairs."""
    seen = model.evidence
    parts = {name: getattr(seen, name)[~left_out] for name in ("rows", "columns", "delta", "precision")}
    return replace(model, evidence=replace(seen, **parts))


def draw(
    model: Model, start: np.ndarray, *, draws: int = 200, chains: int = 2, seed: int = 0, tuning: int = 300
) -> Draws:
    found = sample(model, start, draws=draws, tuning=tuning, chains=chains, cores=1, seed=seed, watch=Watch())
    return Draws(model, found, model.p)
