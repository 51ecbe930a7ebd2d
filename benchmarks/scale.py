"""Cost of a fit against the number of objects, and the stochastic fit beside the exact one: ``make bench-scale``.

CPU seconds of this process, and its largest memory beyond the data; each size in a process of its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from unmask import ConditionalMDS

SIZES = (10_000, 100_000, 1_000_000)
KINDS = ("clusters", "curved", "uniform", "nothing known")


def make_data(kind: str, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray | None, int]:
    """Return features (float32), what is known, and the number of dimensions to map."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        factors = rng.uniform(size=(n, 7)) * (np.array([90, 88, 83, 82, 81, 70, 68]) / 562)
        known = factors[:, :4] * (1 + 0.05 * rng.standard_normal((n, 4)))
        return (factors + 0.01 * rng.normal(size=(n, 7))).astype(np.float32), known, 3
    if kind == "curved":
        t, a = rng.uniform(np.pi, 4 * np.pi, n), rng.uniform(0, 2 * np.pi, n)
        h, v = rng.uniform(0, 2, n), rng.uniform(-1, 1, n)
        ring = [np.cos(a), np.sin(a), 0.4 * np.cos(2 * a)]
        factors = np.column_stack([t / 6 * np.cos(t), t / 6 * np.sin(t), h, *ring, 1.5 * v, 0.5 * np.sin(3 * h), v * h])
        known, noise = np.column_stack([v, h]), 0.1
    else:
        centres = np.random.default_rng(7).normal(size=(12, 5)) * 1.2
        factors = (centres[rng.integers(12, size=n)] + 0.7 * rng.normal(size=(n, 5))) * [1.6, 1.3, 1.2, 1.0, 0.8]
        known, noise = factors[:, [0, 3]] + 0.1 * rng.normal(size=(n, 2)), 0.35
    X = factors @ np.linalg.qr(rng.normal(size=(20, 20)))[0][: factors.shape[1]] + noise * rng.normal(size=(n, 20))
    return (X.astype(np.float32), None, 2) if kind == "nothing known" else (X.astype(np.float32), known, 3)


def cpu() -> float:
    """Return the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory(name: str) -> float:
    """Return a figure of this process's memory in MB: ``VmRSS`` now, ``VmHWM`` at most since it was last forgotten."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def forget_peak() -> None:
    """Let the largest memory be counted from here: what made the data took more than they do."""
    Path("/proc/self/clear_refs").write_text("5")


def fit(kind: str, n: int, seed: int, solver: str) -> tuple[ConditionalMDS, float, float]:
    """Return a fitted map, its CPU seconds, and the largest memory beyond what there was before, in MB."""
    X, known, p = make_data(kind, n, seed)
    forget_peak()
    begin = cpu()
    mds = ConditionalMDS(p, solver=solver, n_init="auto" if solver == "stochastic" else 1, random_state=seed)
    before = memory("VmRSS")
    mds.fit(X, known=known)
    return mds, cpu() - begin, memory("VmHWM") - before


def measure_size(n: int) -> None:
    """Print what one stochastic fit of n objects costs."""
    fit("clusters", 4000, 0, "stochastic")  # compiled
    mds, seconds, beyond = fit("clusters", n, 0, "stochastic")
    print(
        f"{n:>9,} objects: {seconds:6.1f} CPU s, {1e6 * seconds / n:5.0f} us an object, {beyond:5.0f} MB "
        f"beyond the data, {mds.n_iter_} iterations, stress {mds.stress_:.6f} +- {mds.stress_se_:.6f}",
        flush=True,
    )


def full_stress(mds: ConditionalMDS, X: np.ndarray) -> float:
    """Return the stress over all pairs of a fitted map."""
    places, error, size = mds._fitted, 0.0, 0.0
    for first in range(0, len(X), 500):
        rows = slice(first, first + 500)
        delta = cdist(X[rows], X)
        error += float(np.sum((delta - cdist(places[rows], places)) ** 2))
        size += float(np.sum(delta**2))
    return error / size


def measure_accuracy(n: int, seeds: int) -> None:
    """Print stress and CPU seconds of stochastic fits as multiples of the exact ones."""
    for kind in KINDS:
        found = []
        for seed in range(seeds):
            exact, exact_seconds, _ = fit(kind, n, seed, "lbfgs")
            mds, seconds, _ = fit(kind, n, seed, "stochastic")
            stress = full_stress(mds, make_data(kind, n, seed)[0])
            found.append((stress / exact.stress_, seconds / exact_seconds, abs(mds.stress_ - stress) / mds.stress_se_))
        ratio, time, errors = np.array(found).T
        print(
            f"{kind}: stress median {np.median(ratio):.4f}, worst {ratio.max():.4f}; CPU median {np.median(time):.2f}, "
            f"worst {time.max():.2f}; stress_ is off by at most {errors.max():.1f} standard errors",
            flush=True,
        )


def main() -> None:
    """Measure one size, or everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.size:
        measure_size(given.size)
        return
    for size in SIZES:
        subprocess.run([sys.executable, "-m", "benchmarks.scale", "--size", str(size)], check=True)
    measure_accuracy(10_000, given.seeds)


if __name__ == "__main__":
    main()
