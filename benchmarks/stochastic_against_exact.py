"""The stochastic solver beside the exact one, and its own account of its accuracy: part of ``make bench-scale``.

At N = 10,000, three kinds of data given something and one with nothing known, five seeds each: the full stress as a
multiple of the exact minimum, CPU time as a share of the exact fit's, and how well the map tells the factors that are
not known (ACC). At N = 20,000: by how many of its standard errors the reported stress is off. No constant of the
solver was chosen on these seeds.
"""

from __future__ import annotations

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.scale import cpu
from unmask import ConditionalMDS
from unmask.inspection import average_canonical_correlation

KINDS = ("clusters", "curved", "uniform", "nothing known")
FIRST_SEED = 1000


class Data(NamedTuple):
    """Features, what is known, the factors that are not, and the number of dimensions to map."""

    X: np.ndarray
    known: np.ndarray | None
    unknown: np.ndarray
    p: int


def make_data(kind: str, n: int, seed: int) -> Data:
    """Simulate one kind of data."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        factors = rng.uniform(size=(n, 7)) * (np.array([90, 88, 83, 82, 81, 70, 68]) / 562)
        known = factors[:, :4] * (1 + 0.05 * rng.standard_normal((n, 4)))
        return Data((factors + 0.01 * rng.normal(size=(n, 7))).astype(np.float32), known, factors[:, 4:], 3)
    if kind == "curved":
        t, a = rng.uniform(np.pi, 4 * np.pi, n), rng.uniform(0, 2 * np.pi, n)
        h, v = rng.uniform(0, 2, n), rng.uniform(-1, 1, n)
        unknown = np.column_stack([t / 6 * np.cos(t), t / 6 * np.sin(t), np.cos(a), np.sin(a), 0.4 * np.cos(2 * a)])
        factors = np.column_stack([unknown, h, 1.5 * v, 0.5 * np.sin(3 * h), v * h])
        known, noise = np.column_stack([v, h]), 0.1
    else:
        centres = np.random.default_rng(7).normal(size=(12, 5)) * 1.2
        factors = (centres[rng.integers(12, size=n)] + 0.7 * rng.normal(size=(n, 5))) * [1.6, 1.3, 1.2, 1.0, 0.8]
        known, noise = factors[:, [0, 3]] + 0.1 * rng.normal(size=(n, 2)), 0.35
        unknown = factors[:, [1, 2, 4]]
    X = factors @ np.linalg.qr(rng.normal(size=(20, 20)))[0][: factors.shape[1]] + noise * rng.normal(size=(n, 20))
    nothing = kind == "nothing known"
    return Data(X.astype(np.float32), None if nothing else known, factors if nothing else unknown, 2 if nothing else 3)


def fit(data: Data, solver: str, seed: int) -> tuple[ConditionalMDS, float]:
    """Return a fitted map and its CPU seconds; an exact fit has one start, which is the cheapest it can be."""
    n_init = 1 if solver == "lbfgs" else "auto"
    mds = ConditionalMDS(data.p, solver=solver, n_init=n_init, random_state=seed)
    begin = cpu()
    mds.fit(data.X, known=data.known)
    return mds, cpu() - begin


def full_stress(mds: ConditionalMDS, X: np.ndarray) -> float:
    """Return the stress over all pairs of a fitted map."""
    places, error, size = mds._fitted, 0.0, 0.0
    for first in range(0, len(X), 500):
        rows = slice(first, first + 500)
        delta = cdist(X[rows], X)
        error += float(np.sum((delta - cdist(places[rows], places)) ** 2))
        size += float(np.sum(delta**2))
    return error / size


def compare(kind: str, n: int, seed: int) -> tuple[float, float, float, float]:
    """Return stress and CPU time as multiples of the exact fit's, by how much ACC is lower, and the error's size."""
    data = make_data(kind, n, seed)
    exact, exact_seconds = fit(data, "lbfgs", seed)
    mds, seconds = fit(data, "stochastic", seed)
    stress = full_stress(mds, data.X)
    told = [average_canonical_correlation(each.embedding_, data.unknown) for each in (exact, mds)]
    off = abs(mds.stress_ - stress) / mds.stress_se_
    return stress / exact.stress_, seconds / exact_seconds, told[0] - told[1], off


def measure_against_exact(n: int, seeds: int) -> None:
    """Print how the stochastic fits compare, by kind and altogether."""
    found = {kind: np.array([compare(kind, n, FIRST_SEED + seed) for seed in range(seeds)]) for kind in KINDS}
    for kind, rows in (*found.items(), ("all", np.concatenate(list(found.values())))):
        stress, time, lost, off = rows.T
        print(
            f"{kind:>14}: stress median {np.median(stress):.4f}, worst {stress.max():.4f}; CPU median "
            f"{np.median(time):.2f}, worst {time.max():.2f}; ACC lower by at most {lost.max():.4f}; stress_ off by at "
            f"most {off.max():.1f} standard errors",
            flush=True,
        )


def measure_standard_errors(n: int, seeds: int) -> None:
    """Print by how many standard errors the reported stress is off, for each seed."""
    data = make_data("clusters", n, FIRST_SEED)
    fits = [fit(data, "stochastic", FIRST_SEED + seed)[0] for seed in range(seeds)]
    off = [(mds.stress_ - full_stress(mds, data.X)) / mds.stress_se_ for mds in fits]
    within = sum(abs(one) <= 3 for one in off)
    print(f"N = {n:,}: stress_ within 3 standard errors in {within} of {seeds} seeds, {np.round(off, 1).tolist()}")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    fit(make_data("clusters", 4000, 0), "stochastic", 0)  # compiled
    fit(make_data("clusters", 8200, 0)._replace(p=1), "lbfgs", 0)
    measure_against_exact(10_000, given.seeds)
    measure_standard_errors(20_000, 4 * given.seeds)


if __name__ == "__main__":
    main()
