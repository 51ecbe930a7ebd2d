"""Many objects: which solver a fit takes, what it may be asked for, and what is looked at instead of all pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import IntArray
from ..checking import Dissimilarities, is_long, is_source, number_of_objects_in
from ..cluster import is_dask_frame
from ..dissimilarities import Metric, is_compiled
from ..kernels import ArraySource, Pairs, SampledPairs, Source, Weighting, Workers, reads_by_number, rectangle
from ..problem import SCHEMES
from ..solvers import LANDMARKS

# Seconds that a pass takes a pair and thread, where dissimilarities are read and where features are compared.
# These are of 20 columns by compiled code; other metrics are about ten times slower.
A_PAIR, A_COMPARISON, COLUMNS, UNCOMPILED = 3e-9, 6e-9, 20, 10.0
LONGEST_PASS = 60.0
PARTNERS = 2000  # fitted objects that new ones are placed by
LOOKED_AT = 1000  # objects among which all pairs are checked
READ = 0.12  # of the objects of a file are references, unless these are fewer than there are landmarks
MOST_PREDICTED = 20_000
MOST_KEPT = 3 * 2**30


def number_of_objects(X: Any, *, ready: bool) -> int | None:
    """Return how many objects there are, if it can be told without reading; ``ready`` dissimilarities are of pairs."""
    if is_dask_frame(X):
        return len(X)
    if ready or is_source(X):
        return number_of_objects_in(X)
    shape = getattr(X, "shape", None)
    return len(X) if shape is None and hasattr(X, "__len__") else shape and int(shape[0])


def choose_solver(estimator: Any, X: Any, threads: int, *, ready: bool, weighted: str) -> str:
    """Return which solver a fit takes, and why; ``ready`` says that X holds dissimilarities.

    ``weighted`` is "sparse" or "dense" as weights of the pairs are, or empty if there are none.
    """
    asked, n = estimator.solver, number_of_objects(X, ready=ready or takes_pairs(estimator))
    if asked not in ("auto", "stochastic"):
        return f"{asked}: as asked for"
    if n is not None and n <= LANDMARKS:
        return _few(n)
    some, why_not = _some_pairs(X, n or 0, weighted, ready=ready), _needs_all_pairs(estimator, bool(weighted))
    if asked == "auto" and some:
        return f"lbfgs: {some}, and a pass is over the others only"
    if asked == "auto":
        return _automatic(estimator, X, n, threads, why_not)
    if some:
        raise ValueError(f"solver='stochastic' with {some}; use solver='lbfgs', which passes over the others only.")
    if why_not:
        raise ValueError(f"solver='stochastic' with {why_not}; leave it out, or use solver='lbfgs' with fewer objects.")
    return "stochastic: as asked for"


def _time_of_a_pair(estimator: Any, X: Any) -> float:
    """Return the seconds that a pass takes a pair: longer where features are compared again in each."""
    metric = estimator._make_transformer()
    if not isinstance(metric, Metric):  # what is read is there by then
        return A_PAIR
    shape: tuple[int, ...] = getattr(X, "shape", ())
    sparse = sp.issparse(X)
    columns = X.nnz / shape[0] if sparse else shape[1] if len(shape) == 2 else 1
    return A_COMPARISON * max(1.0, columns / COLUMNS) * (1.0 if is_compiled(metric) and not sparse else UNCOMPILED)


def takes_pairs(estimator: Any) -> bool:
    """Tell whether X holds dissimilarities, also where paths are found among them."""
    return isinstance(estimator.metric, str) and estimator.metric == "precomputed"


def exact_after_all(checked: Dissimilarities) -> str:
    """Return why what was read is not for the stochastic solver, if nothing told before; else an empty string."""
    if checked.n <= LANDMARKS:
        return _few(checked.n)
    return f"lbfgs: {checked.n:,} objects, of which some pairs have no dissimilarity" if checked.missing else ""


def _some_pairs(X: Any, n: int, weighted: str, *, ready: bool) -> str:
    """Say which pairs are left out where X, or a matrix of weights, lists those that count."""
    pairs = n * (n - 1) // 2
    if ready and sp.issparse(X) and X.nnz < pairs:
        return "a sparse matrix of dissimilarities, in which those of absent pairs are missing"
    if ready and is_long(X) and len(X) < pairs:
        return "a long table of dissimilarities, in which those of other pairs are missing"
    if ready and hasattr(X, "stored_pairs") and not hasattr(X, "references"):
        return "a source that has stored some pairs, so that all others are missing"
    return "a sparse matrix of weights, in which absent pairs count nothing" if weighted == "sparse" else ""


def _few(n: int) -> str:
    return f"lbfgs: with {n:,} objects there is no need to leave out any pair"


def _automatic(estimator: Any, X: Any, n: int | None, threads: int, why_not: str) -> str:
    """Return what "auto" means: exact while a pass takes less than a minute, and what is kept for it has room."""
    if n is None:
        return "lbfgs: the pairs given fit into memory"
    kept = estimator._bytes_kept(n)
    seconds = estimator._pairs_passed(n) * _time_of_a_pair(estimator, X) / threads
    if kept > MOST_KEPT:
        why = f"{n:,} objects, their pairs would take {kept / 1e9:,.0f} GB"
    elif seconds > LONGEST_PASS:
        why = f"{n:,} objects, a pass over all pairs would take about {_duration(seconds)}"
    else:
        return f"lbfgs: {n:,} objects, a pass over all pairs takes about {_duration(seconds)}"
    return f"lbfgs: {why}, but there is {why_not}" if why_not else f"stochastic: {why}"


def _needs_all_pairs(estimator: Any, weighted: bool) -> str:
    """Say what has been asked for that references cannot give."""
    if estimator.level != "ratio":
        return f"level={estimator.level!r}, which fits a transformation to all pairs"
    if weighted:
        return "an array of weights, which is as large as all pairs"
    if estimator.weights not in (None, "sammon"):
        return f"weights={estimator.weights!r}, which follow the distances of all pairs"
    if getattr(estimator, "n_landmarks", 0) is None and estimator.on_disconnected == "components":
        return "on_disconnected='components', for which the paths between all objects are found"
    return "known_error, which weighs all residuals" if estimator.known_error else ""


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:,.0f} min"


def some_objects(source: Source, number: int | None = None) -> IntArray:
    """Return some objects that can be compared with all, always the same: those whose pairs are checked, for example.

    A larger number has the same and others, so that a file is not read in ever more places.
    """
    references = getattr(source, "references", None)
    order = np.random.default_rng(0).permutation(source.n if references is None else references)
    return np.sort(order[: number or LOOKED_AT])


def sampled_pairs(checked: Dissimilarities, scheme: str | None, workers: Workers, seed: int) -> SampledPairs:
    """Return the pairs as the stochastic solver reads them, weighted as among some objects."""
    at, n = some_objects(checked.source), checked.n
    among = ArraySource(np.ascontiguousarray(rectangle(checked.source, at, at)))
    few = SCHEMES[scheme].build(Dissimilarities(among, None, 0, checked.largest), workers)
    assert isinstance(few, Pairs)  # as of every array
    # The sum that Sammon's weights are divided by is over all pairs.
    share = len(at) * (len(at) - 1) / (n * (n - 1)) if few.weighting == Weighting.SAMMON else 1.0
    # Whole rows are read of as few objects as will do.
    by_rows = hasattr(checked.source, "references") or not reads_by_number(checked.source)
    pool = some_objects(checked.source, max(LANDMARKS, int(READ * n))) if by_rows else None
    factor = few.factor * share
    sampled = SampledPairs(checked.source, few.scale, few.weighting, floor=few.floor, factor=factor, every_pair=True)
    return replace(sampled, seed=seed, some=pool)
