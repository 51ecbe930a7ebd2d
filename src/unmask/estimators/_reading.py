"""What a fit reads: checked dissimilarities, made of features if need be, and the solver that suits them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import IntArray
from ..checking import (
    Dissimilarities,
    check_dissimilarities,
    is_file,
    is_long,
    is_source,
    known_by_name,
    labelled_frame,
    number_of_objects_in,
    open_file,
    require_objects,
    with_sizes,
)
from ..cluster import is_dask_frame
from ..dissimilarities import LARGE_UNCOMPILED, Metric, compare, float_type, is_compiled
from ..kernels import LARGE, ArraySource, SampledPairs, Source, Weighting, Workers, rectangle
from ..problem import SCHEMES, declares_error
from ..solvers import LANDMARKS, automatic_n_starts

# The cost of an exact fit is counted: passes x pairs x starts x a constant for the metric. It depends on no threads,
# clock or packages, so that every machine takes the same solver. The constants are nanoseconds of one core, measured
# once by benchmarks/exact_cost.py: where dissimilarities are read, and where up to 20 columns are compared by compiled
# code; other metrics take about five times as long.
A_PAIR, A_COMPARISON, COLUMNS, UNCOMPILED = 4.0, 12.0, 20, 5.0
# Of one start: between the median, 72, and the upper quartile, 121, of 32 fits measured there.
PASSES = 100
LONGEST_FIT = 40e9  # nanoseconds of one core: 20 seconds on two
LOOKED_AT = 1000  # objects among which all pairs are checked
READ = 0.12  # share of a file's objects that are references, unless these are fewer than the landmarks
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


class Needs(NamedTuple):
    """What a fit needs of the dissimilarities."""

    in_full: tuple[str, str] | None = None  # what needs the square array, and what to use instead
    complete: str | None = None  # what needs all of them
    in_parts: bool = False  # nothing needs all of them at once


class Inputs(NamedTuple):
    """What is given to a fit: data, the number of dimensions, seeds, and threads."""

    X: Any
    known: Any
    weights: Any
    p: int
    seed: int
    random_state: Any
    workers: Workers


@dataclass(frozen=True)
class Data:
    """What a fit has read, and the solver that suits it."""

    dissimilarities: Dissimilarities
    known: Any
    weights: Any
    transformer: Any  # fitted; None for dissimilarities
    solver: Choice
    samples: bool  # some pairs stand for all


def read_tables(estimator: Any, X: Any, known: Any) -> tuple[Any, Any]:
    """Return tables of other packages as those of pandas if they have labels; known features may be given by name."""
    features = not estimator.__sklearn_tags__().input_tags.pairwise
    return known_by_name(with_sizes(labelled_frame(X), features=features), known, features=features)


def read(estimator: Any, inputs: Inputs, needs: Needs) -> Data:
    """Return checked dissimilarities, made by the transformer of `metric` unless they are precomputed."""
    X, known = read_tables(estimator, inputs.X, inputs.known)
    X = open_file(X) if takes_pairs(estimator) and is_file(X) else X
    choice = choose_solver(estimator, X, ready=estimator._make_transformer() is None, weights=inputs.weights)
    samples = choice.solver is Solver.STOCHASTIC
    checked, transformer = _dissimilarities(estimator, X, inputs, needs, samples=samples)
    if samples and (exact := exact_after_all(checked.n, checked.missing)) is not None:
        choice, samples = exact, False
        checked, transformer = _dissimilarities(estimator, X, inputs, needs, samples=False)
    return Data(checked, known, inputs.weights, transformer, choice, samples)


def _dissimilarities(
    estimator: Any, X: Any, inputs: Inputs, needs: Needs, *, samples: bool
) -> tuple[Dissimilarities, Any]:
    """Return checked dissimilarities, and the transformer that made them; with ``samples`` only some pairs are read."""
    transformer = estimator._make_transformer(float_type(X), samples=samples, random_state=inputs.random_state)
    if transformer is not None and len(getattr(X, "shape", ())) == 2 and not is_dask_frame(X):
        require_objects(X.shape[0])
    # A given transformer makes its table; a metric's name does not say how it is read.
    parts = None if samples else needs.in_parts and not hasattr(estimator.metric, "fit")
    compared = None if transformer is None else compare(transformer, X, estimator, parts=parts)
    made = compared is not None and isinstance(compared.values, np.ndarray)
    asked = samples and estimator.solver == Solver.STOCHASTIC
    checked = check_dissimilarities(
        X if compared is None else compared.values,
        workers=inputs.workers,
        complete_for="solver='stochastic'" if asked else needs.complete,
        among=some_objects if samples else None,
        warn=not samples and not (made and isinstance(transformer, Metric)),  # which warns by itself
    )
    if needs.in_full is not None:
        checked = checked.in_full(*needs.in_full)
    if compared is not None:
        return replace(checked, labels=compared.labels), transformer
    checked.note_objects(estimator)
    return checked, None


# ---- the solver


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
    some = _left_out(X, weights, (n or 0) * ((n or 0) - 1) // 2, ready=ready)
    why_not = _need_of_all_pairs(estimator, weights)
    if estimator.solver == "auto" and some:
        return Choice(Solver.LBFGS, f"{some}, and a pass is over the others only")
    if estimator.solver == "auto":
        return _automatic(estimator, X, n, why_not)
    if some:
        raise ValueError(f"solver='stochastic' with {some}; use solver='lbfgs', which passes over the others only.")
    if why_not:
        raise ValueError(f"solver='stochastic' with {why_not}; leave it out, or use solver='lbfgs' with fewer objects.")
    return Choice(Solver.STOCHASTIC, "as asked for")


def _left_out(X: Any, weights: Any, pairs: int, *, ready: bool) -> str:
    """Return the form in which data leave out some pairs, so that a pass over the others is short; or nothing."""
    if ready and sp.issparse(X) and X.nnz < pairs:
        return "a sparse matrix of dissimilarities, in which those of absent pairs are missing"
    if ready and is_long(X) and len(X) < pairs:
        return "a long table of dissimilarities, in which those of other pairs are missing"
    if ready and is_source(X) and X.lists_pairs and X.references is None:
        return "a source that has stored some pairs, so that all others are missing"
    return "a sparse matrix of weights, in which absent pairs count nothing" if sp.issparse(weights) else ""


def _need_of_all_pairs(estimator: Any, weights: Any) -> str:
    """Return the option that needs all pairs, or nothing."""
    if estimator.level != "ratio":
        return f"level={estimator.level!r}, which fits a transformation to all pairs"
    if weights is not None:
        return "an array of weights, which is as large as all pairs"
    scheme = SCHEMES[estimator.weights]
    if scheme.as_table:
        how = "follow the distances" if scheme.follows_map else "are kept as a table"
        return f"weights={estimator.weights!r}, which {how} of all pairs"
    return "a measurement error, which weighs all residuals" if declares_error(estimator.known_types) else ""


def exact_after_all(n: int, missing: int) -> Choice | None:
    """Return the choice of an exact solver if the data, once read, are not for the stochastic one; else None."""
    if n <= LANDMARKS:
        return Choice(Solver.LBFGS, f"with {n:,} objects there is no need to leave out any pair")
    return Choice(Solver.LBFGS, f"{n:,} objects, of which some pairs have no dissimilarity") if missing else None


def _automatic(estimator: Any, X: Any, n: int | None, why_not: str) -> Choice:
    """Return the meaning of "auto": exact while the fit is short and its shortest paths have room."""
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
    metric, sparse = estimator._make_transformer(), sp.issparse(X)
    if not isinstance(metric, Metric) or isinstance(estimator.metric, Metric):  # the table is there by then
        return A_PAIR
    compiled = is_compiled(metric) and not sparse
    if 8 * n**2 <= (LARGE if compiled else LARGE_UNCOMPILED):  # a table is made
        return A_PAIR
    shape: tuple[int, ...] = getattr(X, "shape", ())
    columns = X.nnz / shape[0] if sparse else shape[1] if len(shape) == 2 else 1
    return A_COMPARISON * max(1.0, columns / COLUMNS) * (1.0 if compiled else UNCOMPILED)


def some_objects(source: Source, number: int | None = None) -> IntArray:
    """Return some objects that can be compared with all, always the same: those whose pairs are checked, for example.

    A larger number contains the smaller, so that a file is not read in ever more places.
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
