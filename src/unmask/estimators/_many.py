"""Many objects: the choice of the solver, and the pairs that stand for all."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import IntArray
from ..checking import Dissimilarities, is_long, is_source, number_of_objects_in
from ..cluster import is_dask_frame
from ..dissimilarities import LARGE_UNCOMPILED, Metric, is_compiled
from ..kernels import LARGE, ArraySource, SampledPairs, Source, Weighting, Workers, rectangle
from ..problem import SCHEMES, declares_error
from ..solvers import LANDMARKS, automatic_n_starts

# The cost of an exact fit is a count: passes x pairs x starts x a constant for the metric. It depends on no threads,
# clock or packages, so that every machine takes the same solver. The constants are nanoseconds of one core, measured
# once by benchmarks/exact_cost.py: where dissimilarities are read, and where up to 20 columns are compared by compiled
# code; other metrics take about five times as long.
A_PAIR, A_COMPARISON, COLUMNS, UNCOMPILED = 4.0, 12.0, 20, 5.0
# Of one start: between the median, 72, and the upper quartile, 121, of 32 fits measured there.
PASSES = 100
LONGEST_FIT = 40e9  # nanoseconds of one core: 20 seconds on two
LOOKED_AT = 1000  # objects among which all pairs are checked
READ = 0.12  # of the objects of a file are references, unless these are fewer than there are landmarks
MOST_KEPT = 3 * 2**30  # bytes of shortest paths


class Solver(StrEnum):
    """The solvers of the stress; the first two are rules that pass over all pairs."""

    LBFGS = "lbfgs"
    SMACOF = "smacof"
    STOCHASTIC = "stochastic"


class Choice(NamedTuple):
    """The solver of a fit, and the reason."""

    solver: Solver
    reason: str

    def __str__(self) -> str:
        return f"{self.solver}: {self.reason}"


def number_of_objects(X: Any, *, ready: bool) -> int | None:
    """Return the number of objects, None if it takes reading X; ``ready`` says that X holds dissimilarities."""
    if is_dask_frame(X):
        return len(X)
    if ready or is_source(X):
        return number_of_objects_in(X)
    shape = getattr(X, "shape", None)
    return len(X) if shape is None and hasattr(X, "__len__") else shape and int(shape[0])


def takes_pairs(estimator: Any) -> bool:
    """Return whether X holds dissimilarities, also where paths are found among them."""
    return isinstance(estimator.metric, str) and estimator.metric == "precomputed"


def choose_solver(estimator: Any, X: Any, weights: Any = None, *, ready: bool) -> Choice:
    """Return the solver of a fit; ``ready`` says that X holds dissimilarities."""
    if estimator.solver not in ("auto", Solver.STOCHASTIC):
        return Choice(Solver(estimator.solver), "as asked for")
    n = number_of_objects(X, ready=ready or takes_pairs(estimator))
    if n is not None and (exact := exact_after_all(n, 0)):
        return exact
    pairs = (n or 0) * ((n or 0) - 1) // 2
    # Where data leave pairs out, a pass over the others is short; some options need all pairs.
    left_out = (
        (
            ready and sp.issparse(X) and X.nnz < pairs,
            "a sparse matrix of dissimilarities, in which those of absent pairs are missing",
        ),
        (
            ready and is_long(X) and len(X) < pairs,
            "a long table of dissimilarities, in which those of other pairs are missing",
        ),
        (
            ready and is_source(X) and X.lists_pairs and X.references is None,
            "a source that has stored some pairs, so that all others are missing",
        ),
        (sp.issparse(weights), "a sparse matrix of weights, in which absent pairs count nothing"),
    )
    needed = (
        (estimator.level != "ratio", f"level={estimator.level!r}, which fits a transformation to all pairs"),
        (weights is not None, "an array of weights, which is as large as all pairs"),
        (
            estimator.weights not in (None, "sammon"),
            f"weights={estimator.weights!r}, which follow the distances of all pairs",
        ),
        (declares_error(estimator.known_types), "a measurement error, which weighs all residuals"),
    )
    some, why_not = (next((words for is_so, words in table if is_so), "") for table in (left_out, needed))
    if estimator.solver == "auto":
        if some:
            return Choice(Solver.LBFGS, f"{some}, and a pass is over the others only")
        return _automatic(estimator, X, n, why_not)
    if some:
        raise ValueError(f"solver='stochastic' with {some}; use solver='lbfgs', which passes over the others only.")
    if why_not:
        raise ValueError(f"solver='stochastic' with {why_not}; leave it out, or use solver='lbfgs' with fewer objects.")
    return Choice(Solver.STOCHASTIC, "as asked for")


def exact_after_all(n: int, missing: int) -> Choice | None:
    """Return the choice of an exact solver if the data, once read, are not for the stochastic one; else None."""
    if n <= LANDMARKS:
        return Choice(Solver.LBFGS, f"with {n:,} objects there is no need to leave out any pair")
    return Choice(Solver.LBFGS, f"{n:,} objects, of which some pairs have no dissimilarity") if missing else None


def _automatic(estimator: Any, X: Any, n: int | None, why_not: str) -> Choice:
    """Return the meaning of "auto": exact while the fit is short, and what is kept for it has room."""
    if n is None:
        return Choice(Solver.LBFGS, "the pairs given fit into memory")
    kept, passed = 0, n * (n - 1) // 2
    if hasattr(estimator, "n_landmarks"):  # shortest paths are kept, those from landmarks as a list of pairs
        landmarks = estimator.n_landmarks
        kept, passed = (8 * n * n, passed) if landmarks is None else (128 * landmarks * n, int(landmarks) * n)
    starts = automatic_n_starts(n) if estimator.n_init == "auto" else int(estimator.n_init)
    cost = starts * min(PASSES, int(estimator.max_iter)) * passed * _cost_of_a_pair(estimator, X, n)
    seconds = cost / 2e9
    about = f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.0f} s"
    about = f"{about if seconds < 100 else f'{seconds / 60:,.0f} min'} on two cores"
    if kept > MOST_KEPT:
        why = f"{n:,} objects, their pairs would take {kept / 1e9:,.0f} GB"
    elif cost > LONGEST_FIT:
        why = f"{n:,} objects, an exact fit would take about {about}"
    else:
        return Choice(Solver.LBFGS, f"{n:,} objects, an exact fit takes about {about}")
    return Choice(Solver.LBFGS, f"{why}, but there is {why_not}") if why_not else Choice(Solver.STOCHASTIC, why)


def _cost_of_a_pair(estimator: Any, X: Any, n: int) -> float:
    """Return the constant of the metric: larger where features are compared again in each pass."""
    metric = estimator._make_transformer()
    if not isinstance(metric, Metric) or isinstance(estimator.metric, Metric):  # what is read is there by then
        return A_PAIR
    sparse = sp.issparse(X)
    compiled = is_compiled(metric) and not sparse
    if 8 * n**2 <= (LARGE if compiled else LARGE_UNCOMPILED):  # a table is made
        return A_PAIR
    shape: tuple[int, ...] = getattr(X, "shape", ())
    columns = X.nnz / shape[0] if sparse else shape[1] if len(shape) == 2 else 1
    return A_COMPARISON * max(1.0, columns / COLUMNS) * (1.0 if compiled else UNCOMPILED)


def some_objects(source: Source, number: int | None = None) -> IntArray:
    """Return some objects that can be compared with all, always the same: those whose pairs are checked, for example.

    A larger number has the same and others, so that a file is not read in ever more places.
    """
    order = np.random.default_rng(0).permutation(source.n if source.references is None else source.references)
    return np.sort(order[: number or LOOKED_AT])


def sampled_pairs(checked: Dissimilarities, scheme: str | None, workers: Workers, seed: int) -> SampledPairs:
    """Return the pairs as the stochastic solver reads them, weighted as among some objects."""
    at, n = some_objects(checked.source), checked.n
    among = ArraySource(np.ascontiguousarray(rectangle(checked.source, at, at)))
    few: Any = SCHEMES[scheme].build(Dissimilarities(among, None, 0, checked.largest), workers)
    # The sum that Sammon's weights are divided by is over all pairs.
    share = len(at) * (len(at) - 1) / (n * (n - 1)) if few.weighting == Weighting.SAMMON else 1.0
    # Whole rows are read of as few objects as will do.
    by_rows = checked.source.references is not None or not checked.source.by_number
    pool = some_objects(checked.source, max(LANDMARKS, int(READ * n))) if by_rows else None
    factor = few.factor * share
    sampled = SampledPairs(checked.source, few.scale, few.weighting, floor=few.floor, factor=factor, every_pair=True)
    return replace(sampled, seed=seed, some=pool)
