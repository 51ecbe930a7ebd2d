"""What a fit reads: checked dissimilarities, made of features if need be, and the solver that suits them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..checking import (
    Dissimilarities,
    check_dissimilarities,
    is_file,
    known_by_name,
    labelled_frame,
    open_file,
    require_objects,
    with_sizes,
)
from ..cluster import is_dask_frame
from ..dissimilarities import Metric, compare, float_type
from ..kernels import Workers
from ._many import Choice, Solver, choose_solver, exact_after_all, some_objects, takes_pairs


class Needs(NamedTuple):
    """What a fit needs of the dissimilarities."""

    in_full: tuple[str, str] | None = None  # what needs the square array, and what to use instead
    complete: str | None = None  # what needs all of them
    in_parts: bool = False  # nothing needs all of them at once
    chooses_solver: bool = False


@dataclass(frozen=True)
class Data:
    """What a fit has read, and the solver that suits it."""

    dissimilarities: Dissimilarities
    known: Any
    weights: Any
    transformer: Any  # fitted; None for dissimilarities
    solver: Choice | None
    samples: bool  # some pairs stand for all


def read_tables(estimator: Any, X: Any, known: Any) -> tuple[Any, Any]:
    """Return tables of other packages as those of pandas if they have labels; known features may be given by name."""
    features = not estimator.__sklearn_tags__().input_tags.pairwise
    return known_by_name(with_sizes(labelled_frame(X), features=features), known, features=features)


def read(
    estimator: Any, X: Any, known: Any, weights: Any, needs: Needs, workers: Workers, random_state: Any = None
) -> Data:
    """Return checked dissimilarities, made by the transformer of `metric` unless they are precomputed."""
    X, known = read_tables(estimator, X, known)
    solver, samples = None, False
    if needs.chooses_solver:
        X = open_file(X) if takes_pairs(estimator) and is_file(X) else X
        solver = choose_solver(estimator, X, ready=estimator._make_transformer() is None, weights=weights)
        samples = solver.solver is Solver.STOCHASTIC
    checked, transformer = _dissimilarities(estimator, X, needs, workers, random_state, samples=samples)
    if samples and (exact := exact_after_all(checked.n, checked.missing)) is not None:
        solver, samples = exact, False
        checked, transformer = _dissimilarities(estimator, X, needs, workers, random_state, samples=False)
    return Data(checked, known, weights, transformer, solver, samples)


def _dissimilarities(
    estimator: Any, X: Any, needs: Needs, workers: Workers, random_state: Any, *, samples: bool
) -> tuple[Dissimilarities, Any]:
    """Return checked dissimilarities, and the transformer that made them; of ``samples`` some pairs are looked at."""
    transformer = estimator._make_transformer(float_type(X), samples=samples, random_state=random_state)
    if transformer is not None and len(getattr(X, "shape", ())) == 2 and not is_dask_frame(X):
        require_objects(X.shape[0])
    # A transformer that was given makes the table it stands for; a name leaves it open how it is read.
    parts = None if samples else needs.in_parts and not hasattr(estimator.metric, "fit")
    compared = None if transformer is None else compare(transformer, X, estimator, parts=parts)
    made = compared is not None and isinstance(compared.values, np.ndarray)
    asked = samples and estimator.solver == Solver.STOCHASTIC
    checked = check_dissimilarities(
        X if compared is None else compared.values,
        workers=workers,
        complete_for="solver='stochastic'" if asked else needs.complete,
        among=some_objects if samples else None,
        warn=not samples and not (made and isinstance(transformer, Metric)),  # which warns by itself
    )
    if needs.in_full is not None:
        checked = checked.in_full(*needs.in_full)
    if compared is None:
        checked.note_objects(estimator)
    else:
        checked = replace(checked, labels=compared.labels)
    return checked, transformer
