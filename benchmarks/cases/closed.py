"""Case 6: the closed form against a full symmetric eigendecomposition and scikit-bio's pcoa."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..data import N_FEATURES, N_UNKNOWN, Array, dissimilarities, known
from ..measure import OURS, Results, clock, kindest_blas
from ..peers import optional, skbio_pcoa
from ..plan import Plan

CASE = "closed"
TASK = "closed form"
FULL = "numpy.linalg.eigh, all vectors"
FULL_UP_TO = 5000


def _double_centred(D: Array) -> Array:
    B: Array = -0.5 * D**2
    B -= B.mean(axis=0)
    B -= B.mean(axis=1)[:, None]
    return B


def _ours(D: Array, p: int, V: Array | None) -> None:
    from unmask import ConditionalClassicalMDS

    ConditionalClassicalMDS(p, metric="precomputed").fit(D, known=V)


def run(results: Results, plan: Plan) -> None:
    """Time the whole estimator; of the full decomposition only the decomposition."""
    skbio = optional("skbio", results)
    few = dissimilarities(400)
    _ours(few, N_FEATURES, None)
    small = _double_centred(few)
    blas = kindest_blas(lambda: np.linalg.eigh(small))
    results.note(f"closed: numpy and scikit-bio had {blas} BLAS thread(s), with which they were faster.")
    for n in [n for n in plan.sizes if n >= min(2000, plan.main)]:
        repeats = 3 if n <= 5000 else 1
        D, V = dissimilarities(n), known(n)  # generated before the clock starts
        results.add(clock(partial(_ours, D, N_FEATURES, None), repeats).named(CASE, TASK, OURS, n))
        given = clock(partial(_ours, D, N_UNKNOWN, V), repeats)
        results.add(given.named(CASE, TASK, f"{OURS} (3 unknown, given 4 known)", n))
        with threadpool_limits(blas, "blas"):
            _peers(results, D, skbio)


def _peers(results: Results, D: Array, skbio: Any) -> None:
    n = len(D)
    if n <= FULL_UP_TO:
        results.add(clock(partial(np.linalg.eigh, _double_centred(D))).named(CASE, TASK, FULL, n))
    for method in ("eigh", "fsvd") if skbio is not None else ():
        if method == "fsvd" or n <= FULL_UP_TO:
            timed = clock(partial(skbio_pcoa, skbio, D, N_FEATURES, method))
            results.add(timed.named(CASE, TASK, f"scikit-bio pcoa ({method})", n))
