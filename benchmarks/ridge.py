"""What a ridge gains: canonical correlation of the map with the unknown features, paired against least squares.

    python -m benchmarks.ridge [sets]

Four kinds of data of 30 objects with seven features, of which 4, 5 or 6 are known; prints a table and writes
``benchmarks/ridge.json``. No constant of the library was chosen by the seeds.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from unmask import ConditionalMDS
from unmask.inspection import average_canonical_correlation

SEED, OBJECTS, SETS, STARTS = 20261117, 30, 45, 20
NOISE = 0.2
WEIGHTS = np.array([90.0, 88, 83, 82, 81, 70, 68]) / 562  # of the features of simulated car brands
KINDS = {
    "cars": "multiplicative noise",
    "correlated": "known and unknown features correlated at .6",
    "additive": "additive noise",
    "ranks": "nine-point ratings by rank",
}


def make_set(kind: str, q: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dissimilarities, known and unknown features."""
    X = rng.uniform(size=(OBJECTS, 7))
    if kind == "correlated":
        X = rng.normal(size=(OBJECTS, 7))
        X[:, q:] = 0.6 * X[:, : 7 - q] + 0.8 * X[:, q:]
    known = X[:, :q] * (1 + 0.05 * rng.normal(size=(OBJECTS, q)))
    d = pdist(X * WEIGHTS)
    noise = NOISE * rng.normal(size=len(d))
    delta = np.maximum(d + noise * (d.mean() if kind == "additive" else d), 0.0)
    if kind == "ranks":
        delta = 1 + np.floor(9 * (rankdata(delta, method="ordinal") - 1) / len(delta))
    return squareform(delta), known, X[:, q:]


def measure(kind: str, sets: int) -> dict[str, Any]:
    """Return the mean correlations without and with a ridge, the gain with its standard error, and the time."""
    found, strengths, seconds = [], [], []
    for number in range(sets):
        q = 4 + number % 3
        D, known, unknown = make_set(kind, q, np.random.default_rng([SEED, list(KINDS).index(kind), number]))
        row = []
        for ridge in (0.0, "heldout"):
            mds = ConditionalMDS(7 - q, metric="precomputed", ridge=ridge, n_init=STARTS, n_jobs=1, random_state=number)
            begun = time.process_time()
            mds.fit(D, known=known)
            seconds.append(time.process_time() - begun)
            row.append(average_canonical_correlation(mds.embedding_, unknown))
        found.append(row)
        strengths.append(mds.ridge_)
    values, spent = np.array(found), np.array(seconds).reshape(-1, 2)
    gain = values[:, 1] - values[:, 0]
    return {
        "least squares": float(values[:, 0].mean()),
        "ridge": float(values[:, 1].mean()),
        "gain": float(gain.mean()),
        "standard error": float(gain.std(ddof=1) / np.sqrt(sets)),
        "median strength": float(np.median(strengths)),
        "further CPU seconds": float(np.median(spent[:, 1] - spent[:, 0])),
    }


def main() -> None:
    """Measure all kinds, print them as a table, and keep them."""
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else SETS
    warnings.simplefilter("ignore")
    measured = {kind: measure(kind, sets) for kind in KINDS}
    print("| data | least squares | ridge | gain | strength | further CPU s |\n| --- | --- | --- | --- | --- | --- |")
    for kind, row in measured.items():
        gain = f"{row['gain']:+.3f} ± {row['standard error']:.3f}"
        values = f"{row['least squares']:.3f} | {row['ridge']:.3f} | {gain} | {row['median strength']:.1f}"
        print(f"| {KINDS[kind]} | {values} | {row['further CPU seconds']:.2f} |")
    kept = {"sets": sets, "date": time.strftime("%Y-%m-%d"), "unmask": version("unmask"), "measured": measured}
    (Path(__file__).parent / "ridge.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
