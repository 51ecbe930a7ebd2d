"""The data everybody gets: 20 columns, in which 12 overlapping clusters vary along five factors, two of them known."""

from __future__ import annotations

import numpy as np

from ..data import Array
from ..stochastic_against_exact import make_data as simulate

COMPARED = 500_000  # pairs by which maps are compared


def make_data(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Return features (float32), and the two known ones."""
    simulated = simulate("clusters", n, seed)
    assert simulated.known is not None
    return simulated.X, simulated.known


def sampled_stress(X: Array, places: Array) -> float:
    """Return the normalised stress of a map over random pairs, the same ones for everybody."""
    rng = np.random.default_rng(1)
    first = rng.integers(len(X), size=COMPARED)
    second = (first + rng.integers(1, len(X), size=COMPARED)) % len(X)  # never the same object twice
    delta = np.linalg.norm(X[first].astype(float) - X[second], axis=1)
    apart = np.linalg.norm(places[first].astype(float) - places[second], axis=1)
    return float(np.sum((delta - apart) ** 2) / np.sum(delta**2))
