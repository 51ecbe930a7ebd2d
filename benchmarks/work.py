"""The work that `benchmarks.before_after` gives to two checkouts: a process that reads names and prints CPU times."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

Work = Callable[[], Any]


def _features(n: int, columns: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, columns))


def _table(n: int, columns: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    F = _features(n, columns)
    return (squareform(pdist(F)) * 1.02).astype(dtype), F


def fit(n: int, p: int, dtype: str = "float64", iterations: int = 1000, starts: Any = "auto", **options: Any) -> Work:
    """Return a fit of a table."""
    from unmask import ConditionalMDS

    D, F = _table(n, p + 3, dtype)
    model = ConditionalMDS(
        p, metric="precomputed", n_init=starts, max_iter=iterations, tol=1e-9, random_state=0, **options
    )
    return lambda: model.fit(D, known=F[:, :2])


def fit_features(n: int, columns: int, **options: Any) -> Work:
    """Return a fit of features, whose distances are computed where they are needed."""
    from unmask import ConditionalMDS

    F = _features(n, columns)
    model = ConditionalMDS(2, random_state=0, **options)
    return lambda: model.fit(F, known=F[:, :2])


def memory_map() -> Work:
    """Return a fit of a file of dissimilarities."""
    from unmask import ConditionalMDS

    D, F = _table(3000, 5)
    path = Path(tempfile.mkdtemp()) / "d.npy"
    np.save(path, D)
    model = ConditionalMDS(2, metric="precomputed", n_init=1, max_iter=20, solver="lbfgs", random_state=0)
    return lambda: model.fit(np.load(path, mmap_mode="r"), known=F[:, :2])


def stored_pairs() -> Work:
    """Return a fit of the tenth of the pairs that a sparse matrix holds."""
    from unmask import ConditionalMDS

    D, F = _table(2000, 5)
    keep = np.triu(np.random.default_rng(1).random(D.shape) < 0.1, 1)
    stored = sparse.csr_array(np.where(keep | keep.T, D, 0.0))
    model = ConditionalMDS(2, metric="precomputed", n_init=1, max_iter=100, random_state=0)
    return lambda: model.fit(stored, known=F[:, :2])


def isomap() -> Work:
    """Return a fit of paths through a graph of neighbours."""
    from unmask import ConditionalIsomap

    F = _features(1000, 5)
    model = ConditionalIsomap(2, n_neighbors=8, n_init=1, max_iter=100, random_state=0)
    return lambda: model.fit(F, known=F[:, :2])


def transform() -> Work:
    """Return the placing of new objects."""
    from unmask import ConditionalMDS

    F = _features(2200, 5)
    model = ConditionalMDS(2, n_init=1, max_iter=50, random_state=0).fit(F[:2000], known=F[:2000, :2])
    return lambda: model.transform(F[2000:], known=F[2000:, :2])


def permutations() -> Work:
    """Return tests of two known features."""
    from unmask import ConditionalMDS
    from unmask.inspection import permutation_test

    D, F = _table(30, 5)
    model = ConditionalMDS(2, metric="precomputed", n_init=4, random_state=0, n_jobs=1)
    return lambda: permutation_test(model, D, F[:, :2], n_permutations=39)


def posterior() -> Work:
    """Return draws from the posterior."""
    from unmask import ConditionalMDS

    D, F = _table(30, 5)
    model = ConditionalMDS(2, metric="precomputed", n_init=4, random_state=0, n_jobs=1).fit(D, known=F[:, :2])
    return lambda: model.posterior(n_draws=100, chains=2)


# What is made and done, and in how many rounds. Peak memory is that of a process that does nothing else.
WORK: dict[str, tuple[Callable[[], Work], int]] = {
    "fit, N = 14": (lambda: fit(14, 2, starts=20), 15),
    "fit, N = 14, Sammon": (lambda: fit(14, 2, starts=20, weights="sammon"), 15),
    "fit, N = 14, ordinal": (lambda: fit(14, 2, starts=5, level="ordinal"), 15),
    "fit, N = 14, spline": (lambda: fit(14, 2, starts=5, level="spline"), 15),
    "fit, N = 1000": (lambda: fit(1000, 2, starts=2, iterations=60), 15),
    "fit, N = 5000, 20 iterations": (lambda: fit(5000, 5, starts=1, iterations=20), 9),
    "fit, N = 5000, float32, 20 iterations": (lambda: fit(5000, 5, "float32", starts=1, iterations=20), 9),
    "features on the fly, N = 8000": (lambda: fit_features(8000, 20, n_init=1, max_iter=10, solver="lbfgs"), 5),
    "memory map, N = 3000": (memory_map, 9),
    "stored pairs, N = 2000": (stored_pairs, 9),
    "stochastic, N = 50,000": (lambda: fit_features(50_000, 20, solver="stochastic"), 3),
    "Isomap, N = 1000": (isomap, 9),
    "transform, 200 onto 2000": (transform, 15),
    "permutation_test, N = 30": (permutations, 5),
    "posterior(), N = 30": (posterior, 3),
}
MEMORY = {
    "peak memory, fit, N = 5000": "fit, N = 5000, 20 iterations",
    "peak memory, stochastic": "stochastic, N = 50,000",
}


def main() -> None:
    """Do the work named on each line of the input, and print its CPU time in seconds."""
    warnings.simplefilter("ignore")
    ready: dict[str, Work] = {}
    for line in sys.stdin:
        name = line.strip()
        if name in MEMORY:
            WORK[MEMORY[name]][0]()()
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, flush=True)
            continue
        if name not in ready:
            ready = {name: WORK[name][0]()}  # one at a time: the data of the last one are let go
        began = time.process_time()
        ready[name]()
        print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main()
