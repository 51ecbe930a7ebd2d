"""Case 11: what comes before and after a fit: metrics, Isomap, placing new objects, inspection."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..data import N_UNKNOWN, Array, dissimilarities, known
from ..measure import OURS, Results, clock
from ..ours import fit
from ..peers import quiet
from ..plan import Plan

CASE = "stages"
SKLEARN_METRIC, SKLEARN_ISOMAP = "scikit-learn pairwise_distances", "scikit-learn Isomap"
COLUMNS = 20
METRICS = ("euclidean", "cityblock", "cosine")
ISOMAP_UP_TO = 2000  # shortest paths between all pairs
NEW = 500  # objects to be placed
INSPECTED = 500


def _features(n: int, columns: int = COLUMNS) -> Array:
    return np.random.default_rng(3).normal(size=(n, columns))


def _surface(n: int) -> Array:
    from sklearn.datasets import make_swiss_roll

    points: Array = make_swiss_roll(n, random_state=0)[0]
    return points


def run(results: Results, plan: Plan) -> None:
    """Time each stage by itself; data are made, and what is compiled is compiled, before the clock starts."""
    repeats = min(3, plan.repeats)
    with quiet():
        _metrics(results, plan.main, repeats)
        _isomap(results, min(plan.main, ISOMAP_UP_TO), repeats)
        _placing(results, plan.main, repeats)
        _inspection(results, min(plan.main, INSPECTED))


def _metrics(results: Results, n: int, repeats: int) -> None:
    from sklearn.metrics import pairwise_distances

    from unmask.dissimilarities import Metric

    X = _features(n)
    for name in METRICS:
        ours, task = Metric(name), f"table of dissimilarities, {name}, {COLUMNS} columns"
        ours.fit_transform(X[:50])
        results.add(clock(partial(ours.fit_transform, X), repeats).named(CASE, task, OURS, n))
        theirs = partial(pairwise_distances, X, metric=name, n_jobs=-1)
        results.add(clock(theirs, repeats).named(CASE, task, SKLEARN_METRIC, n))


def _isomap(results: Results, n: int, repeats: int) -> None:
    from sklearn.manifold import Isomap

    from unmask import ConditionalIsomap

    X, task = _surface(n), "Isomap, 8 neighbours, 3 columns"
    ours = ConditionalIsomap(2, n_neighbors=8, n_init=1, random_state=0)
    ours.fit(X[:100])
    results.add(clock(partial(ours.fit, X), repeats).named(CASE, task, OURS, n))
    results.add(clock(partial(Isomap(n_neighbors=8).fit, X), repeats).named(CASE, task, SKLEARN_ISOMAP, n))


def _placing(results: Results, n: int, repeats: int) -> None:
    new = min(NEW, n // 2)
    D, V = dissimilarities(n + new), known(n + new)
    mds = fit(np.ascontiguousarray(D[:n, :n]), N_UNKNOWN, V=V[:n], n_init=1)
    mds.transform(D[n : n + 2, :n], known=V[n : n + 2])
    call = partial(mds.transform, D[n:, :n], known=V[n:])
    results.add(clock(call, repeats).named(CASE, f"{new} new objects placed, p = 3, q = 4", OURS, n))


def _inspection(results: Results, n: int) -> None:
    from unmask import ConditionalMDS
    from unmask.inspection import bootstrap, choose_n_components, permutation_test

    D, V = dissimilarities(n), known(n)
    mds = ConditionalMDS(N_UNKNOWN, metric="precomputed", random_state=0).fit(D, known=V)
    tasks: dict[str, Any] = {
        "permutation_test, 4 features, 4 permutations": partial(permutation_test, n_permutations=4),
        "choose_n_components, at most 3, 3 splits": partial(choose_n_components, max_components=3, n_splits=3),
        "bootstrap, 10 resamples": partial(bootstrap, n_resamples=10),
    }
    results.add(clock(lambda: mds.fit(D, known=V)).named(CASE, "one fit, all its starts", OURS, n))
    for task, call in tasks.items():
        results.add(clock(partial(call, mds, D, V)).named(CASE, task, OURS, n))
