"""Simulated sets: two unknown features, and a known one that acts across the map, along it, or both.

The seeds come from a date, and neither this file nor the library has a constant that was chosen by looking at the sets
they make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform

from .methods import ADJUSTED, ORTHOGONAL, PUBLISHED, RIVAL, TOO_FEW, fit, measure

SEED = 20261116  # the day on which the question was asked
SETS, OBJECTS, STARTS, NOISE = 60, 60, 8, 0.1
METHODS = (PUBLISHED, ORTHOGONAL, ADJUSTED, RIVAL)


@dataclass(frozen=True)
class Kind:
    """How a known feature of unit variance acts, and what it has to do with the unknown ones."""

    name: str
    along: float  # its effect along a direction of the map ...
    across: float  # ... and at right angles to the map
    correlation: float = 0.0  # with the unknown feature of that direction
    weak: bool = False  # one dimension is shown, and the direction is the weaker of two; else it is any
    spreads: tuple[float, float] = (1.0, 0.7)

    @property
    def p(self) -> int:
        """Number of dimensions shown."""
        return 1 if self.weak else 2


EFFECT = 1.5
KINDS = (
    Kind("at right angles to the map", 0.0, EFFECT),
    Kind("along the map", EFFECT, 0.0),
    Kind("half and half", EFFECT / np.sqrt(2), EFFECT / np.sqrt(2)),
    Kind("at right angles, known and unknown correlated at .6", 0.0, EFFECT, correlation=0.6),
    Kind("one dimension shown, strong effect along the weaker axis", 3.0, 0.0, weak=True, spreads=(1.0, 0.5)),
)


def make_set(kind: Kind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """Return dissimilarities with relative noise, the unknown features that a map is to show, and the known one."""
    v, unknown = rng.normal(size=OBJECTS), rng.normal(size=(OBJECTS, 2))
    angle = np.pi / 2 if kind.weak else rng.uniform(0, np.pi)
    direction = np.array([np.cos(angle), np.sin(angle)])
    # Along the direction the unknown features become ρv + √(1 - ρ²) times what they were.
    shared = kind.correlation * v + (np.sqrt(1 - kind.correlation**2) - 1) * (unknown @ direction)
    truth = (unknown + np.outer(shared, direction)) * kind.spreads
    d = pdist(np.column_stack([truth + kind.along * np.outer(v, direction), kind.across * v]))
    noisy = np.abs(d * (1 + NOISE * rng.normal(size=d.size)))
    return squareform(noisy), truth[:, : kind.p], pd.DataFrame({"v": v})


def run(kind: Kind, seeds: np.random.SeedSequence, sets: int) -> list[dict[str, Any]]:
    """Return what is measured of each method on each of some sets."""
    rows = []
    for number, seed in enumerate(seeds.spawn(sets)):
        D, truth, known = make_set(kind, np.random.default_rng(seed))
        start = int(seed.generate_state(1)[0])
        for method in (*METHODS, TOO_FEW) if kind.weak else METHODS:
            fitted = fit(method, D, known, p=kind.p, n_init=STARTS, seed=start)
            rows.append({"kind": kind.name, "set": number, "method": method, **measure(fitted, known, truth)})
    return rows


def simulate(sets: int, kinds: Sequence[Kind] = KINDS) -> list[dict[str, Any]]:
    """Return mean and standard error of each measure, by kind of effect and method."""
    seeds = np.random.SeedSequence(SEED).spawn(len(kinds))
    rows = pd.DataFrame([row for kind, seed in zip(kinds, seeds, strict=True) for row in run(kind, seed, sets)])
    found = []
    for (kind, method), group in rows.groupby(["kind", "method"], sort=False):
        measured = group.drop(columns=["kind", "method", "set"])
        summary = zip(measured.columns, measured.mean(), measured.sem(), strict=True)
        found.append({"kind": kind, "method": method, **{name: [mean, error] for name, mean, error in summary}})
    return found
