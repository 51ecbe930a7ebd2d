"""Case 1: one pass over all pairs against one iteration of scikit-learn's SMACOF; one thread against all."""

from __future__ import annotations

import os
from dataclasses import replace

from threadpoolctl import threadpool_limits

from ..data import coordinates, dissimilarities, known
from ..measure import OURS, Measurement, Results, clock, kindest_blas
from ..ours import engine
from ..peers import CML, CML_QUOTED_N, CML_QUOTED_SECONDS, SKLEARN, cml_iteration, sklearn_smacof
from ..plan import Plan

CASE = "pass"
DTYPES = ("float32", "float64")
WEIGHTINGS = ("unit", "array", "sammon")
THREADS = os.cpu_count() or 1


def task(dtype: str, weighting: str) -> str:
    """Return the name of a pass."""
    return f"one pass, {dtype}, {weighting} weights"


def time_pass(n: int, dtype: str, weighting: str, threads: int, repeats: int) -> Measurement:
    """Time one pass at fixed coordinates, k = 7: the fastest of some after one to warm up."""
    Z = coordinates(n, dtype)
    with engine(n, dtype, weighting, threads) as passes:
        passes.stress(Z)
        return clock(lambda: passes.stress(Z), max(repeats, min(50, 200_000 // n)))


def sklearn_iteration(n: int, dtype: str, repeats: int) -> Measurement:
    """Time one iteration as the difference of runs with one and with a few, so that setting up is left out."""
    D, start = dissimilarities(n, dtype), coordinates(n, dtype)
    more = 12 if n <= 1000 else 5 if n <= 2000 else 3
    repeats = repeats if n <= 2000 else 2
    blas = kindest_blas(lambda: sklearn_smacof(D, start, 2))
    with threadpool_limits(blas, "blas"):
        short = clock(lambda: sklearn_smacof(D, start, 1), repeats)
        long = clock(lambda: sklearn_smacof(D, start, 1 + more), repeats)
    return replace(long.minus(short, more), note=f"{blas} BLAS thread(s)")


def _compare(results: Results, n: int, repeats: int) -> None:
    double = sklearn_iteration(n, "float64", repeats)
    for dtype in DTYPES:
        for weighting in WEIGHTINGS:
            ours = time_pass(n, dtype, weighting, THREADS, repeats)
            results.add(ours.named(CASE, task(dtype, weighting), OURS, n))
            results.add(double.named(CASE, task(dtype, weighting), SKLEARN, n))
    # From its default start scikit-learn computes in float64; only a float32 start keeps it in float32.
    single = sklearn_iteration(n, "float32", repeats)
    results.add(single.named(CASE, task("float32", "unit"), f"{SKLEARN} (forced to float32)", n))


def run(results: Results, plan: Plan) -> None:
    """Measure every size, kind of weights and type; then one thread against all."""
    for n in plan.sizes:
        _compare(results, n, plan.repeats)
        for dtype in DTYPES:
            for threads in sorted({1, THREADS}):
                timed = time_pass(n, dtype, "unit", threads, plan.repeats)
                results.add(timed.named("threads", f"{dtype}, {threads} thread(s)", OURS, n))
    if CML_QUOTED_N in plan.sizes:
        measured = cml_iteration(dissimilarities(CML_QUOTED_N), known(CML_QUOTED_N), results)
        seconds = CML_QUOTED_SECONDS if measured is None else measured
        for dtype in DTYPES:
            # R runs on one core: its processor time is its time by the clock.
            theirs = Measurement(
                CASE, task(dtype, "unit"), CML, CML_QUOTED_N, seconds, seconds, quoted=measured is None
            )
            results.add(theirs)
