"""unmask as the cases use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .data import N_UNKNOWN, Array, dissimilarities, known
from .measure import Measurement, clock
from .peers import quiet

MARGIN = 1e-6  # "the same stress": the best normalised stress plus this


@contextmanager
def engine(n: int, dtype: str, weighting: str, threads: int) -> Iterator[Any]:
    """Yield the engine in memory for a kind of weights: unit, array or sammon."""
    from unmask.checking import check_dissimilarities
    from unmask.engines import make_engine
    from unmask.kernels import Workers
    from unmask.problem import build_pairs

    D = dissimilarities(n, dtype)
    W = some_weights(n, dtype) if weighting == "array" else None
    with Workers(threads) as workers:
        checked = check_dissimilarities(D, workers=workers)
        pairs = build_pairs(checked, "sammon" if weighting == "sammon" else None, W, workers)
        yield make_engine(pairs, workers)


def some_weights(n: int, dtype: str = "float64") -> Array:
    """Return a symmetric array of weights between 0.5 and 1.5."""
    upper = np.triu(np.random.default_rng(2).uniform(0.5, 1.5, size=(n, n)), 1)
    W: Array = (upper + upper.T).astype(dtype)
    return W


def fit(D: Array, p: int, *, V: Array | None = None, W: Array | None = None, **parameters: Any) -> Any:
    """Fit a map; not converging within a limit set on purpose is no cause for a warning."""
    from unmask import ConditionalMDS

    with quiet():
        mds = ConditionalMDS(p, metric="precomputed", random_state=0, **parameters)
        return mds.fit(D, known=V, weights=W)


def fit_conditional(n: int, **parameters: Any) -> Any:
    """Fit three unknown features of the car brands given the four known ones."""
    return fit(dissimilarities(n), N_UNKNOWN, V=known(n), **parameters)


def best_stress(make: Callable[..., Any], starts: int) -> float:
    """Return the lowest stress of a long run from the default start and, with more starts, from random ones."""
    found = [make(tol=1e-13, max_iter=3000, n_init=1).stress_]
    if starts > 1:
        found.append(make(tol=1e-11, max_iter=2000, init="random", n_init=starts - 1).stress_)
    return float(min(found))


def time_to(goal: float, make: Callable[..., Any], repeats: int, **parameters: Any) -> Measurement:
    """Time a whole fit, input checks and report included, that ends at the first iteration below the goal.

    A first fit, not timed, says how many iterations that is; its end is marked as a bound if it never gets there.
    """
    probe = make(n_init=1, tol=1e-13, **parameters)
    below = np.flatnonzero(probe.stress_path_ <= goal)
    steps = max(1, int(below[0])) if len(below) else probe.n_iter_
    timed = clock(lambda: make(n_init=1, tol=0.0, max_iter=steps, **parameters), repeats)
    last = make(n_init=1, tol=0.0, max_iter=steps, **parameters)
    note = f"{steps} iterations, stress {last.stress_:.8f}"
    passes = float(last.starts_["passes"].iloc[0])
    return Measurement("", "", "", 0, timed.wall, timed.cpu, passes, bound=not len(below), note=note)
