"""The data everybody gets: 20 columns, in which 12 overlapping clusters vary along five factors, two of them known."""

from __future__ import annotations

import numpy as np

from ..data import Array

COLUMNS = 20
COMPARED = 500_000  # pairs by which maps are compared


def make_data(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Return features (float32), and the two known ones."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(12, 5)) * 1.2
    factors = (centres[rng.integers(12, size=n)] + 0.7 * rng.normal(size=(n, 5))) * [1.6, 1.3, 1.2, 1.0, 0.8]
    known = factors[:, [0, 3]] + 0.1 * rng.normal(size=(n, 2))
    turned = factors @ np.linalg.qr(rng.normal(size=(COLUMNS, COLUMNS)))[0][:5]
    return (turned + 0.35 * rng.normal(size=(n, COLUMNS))).astype(np.float32), known


def sampled_stress(X: Array, places: Array) -> float:
    """Return the normalised stress of a map over random pairs, the same ones for everybody."""
    rng = np.random.default_rng(1)
    first = rng.integers(len(X), size=COMPARED)
    second = (first + rng.integers(1, len(X), size=COMPARED)) % len(X)  # never the same object twice
    delta = np.linalg.norm(X[first].astype(float) - X[second], axis=1)
    apart = np.linalg.norm(places[first].astype(float) - places[second], axis=1)
    return float(np.sum((delta - apart) ** 2) / np.sum(delta**2))
