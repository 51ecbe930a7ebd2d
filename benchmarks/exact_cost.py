"""What an exact fit costs, by which ``solver="auto"`` decides: ``python -m benchmarks.exact_cost``.

Prints the passes over all pairs that one start takes, and the CPU time of one thread that a pass takes for a pair. The
constants of ``unmask.estimators`` were set by it once and stay, so that every machine takes the same solver.
"""

from __future__ import annotations

import time
import warnings
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from unmask import ConditionalMDS
from unmask.dissimilarities import Metric

COLUMNS = (5, 20, 30, 60)


def make_features(n: int, columns: int, seed: int = 0) -> tuple[Any, pd.DataFrame]:
    """Return objects with variances that fall from column to column, in three known groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    X = rng.standard_normal((n, columns)) * np.linspace(2, 0.2, columns)
    return X + 2 * rng.standard_normal((3, columns))[group], pd.DataFrame({"group": pd.Categorical(group)})


def passes(n: int, columns: int, p: int, given: bool) -> int:
    """Return how many passes the default start takes."""
    X, known = make_features(n, columns)
    mds = ConditionalMDS(p, n_init=1, solver="lbfgs", random_state=0).fit(X, known=known if given else None)
    return int(mds.starts_["passes"].iloc[0])


def nanoseconds(source: Any) -> float:
    """Return the shortest CPU time of an iteration for a pair, with one thread."""
    heard: list[float] = []
    mds = ConditionalMDS(metric="precomputed", n_init=1, solver="lbfgs", max_iter=12, tol=0, n_jobs=1, random_state=0)
    mds.fit(source, callback=lambda _: heard.append(time.process_time()))
    n = len(mds.embedding_)
    return float(np.diff(heard).min() / (n * (n - 1) / 2) * 1e9)


def main() -> None:
    """Print both."""
    warnings.simplefilter("ignore")
    fits = product((3500, 5000), COLUMNS, (2, 3), (False, True))
    counts = [passes(*fit) for fit in fits]
    print(f"passes a start: median {np.median(counts):.0f}, from {min(counts)} to {max(counts)}: {sorted(counts)}")
    table = Metric().fit_transform(make_features(5000, 5)[0])
    print(f"reading a table: {nanoseconds(table):.1f} ns a pair")
    for metric in ("euclidean", "cityblock", "cosine"):
        for columns in COLUMNS:
            source = Metric(metric).on_demand(make_features(5000, columns)[0])
            print(f"comparing {columns} columns, {metric}: {nanoseconds(source):.1f} ns a pair", flush=True)
    for metric in ("chebyshev", "canberra", "gower"):
        source = Metric(metric).on_demand(make_features(2000, 20)[0])
        print(f"comparing 20 columns, {metric}: {nanoseconds(source):.1f} ns a pair", flush=True)


if __name__ == "__main__":
    main()
