"""Conditional scaling and the methods one would otherwise use, compared on one data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from .._typing import Array
from ..dissimilarities import Geodesic
from ..estimators import ConditionalClassicalMDS, ConditionalMDS
from ..problem import without_errors
from ..problem.leak import linear_leak, neighbour_leak
from ._correlations import average, recovered, unknown_columns
from ._fits import Advance, counting, part_of_series
from ._inputs import align, read_aligned
from ._leak import leak_beside_chance, taken_out
from ._rivals import mds_then_regress, partial_dbrda, read_with_known
from ._scores import neighbourhood_scores, neighbourhood_sizes

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    *("stress", "leak", "leak_reference", "knn_leak", "trustworthiness"),
    *("acc_all", "acc_unknown", "seconds", "note"),
]
FEW_OBJECTS = 1000
FEW_PERMUTATIONS = 19


@dataclass(frozen=True)
class Task:
    """The data that a method of :func:`compare` is given.

    Attributes
    ----------
    dissimilarities : DataFrame of shape (n_objects, n_objects)
        Symmetric, NaN where missing.
    known, known_types, n_components, random_state
        As given to :func:`compare`, rows in the order of the dissimilarities.
    """

    dissimilarities: pd.DataFrame
    known: Any
    n_components: int
    known_types: dict[Any, Any] | None = None
    random_state: int | None = None


MapMaker = Callable[[Task], Any]


def compare(
    dissimilarities: Any,
    known: Any = None,
    *,
    n_components: int = 2,
    features: Any = None,
    unknown: Sequence[Any] | None = None,
    methods: Iterable[str | MapMaker] | None = None,
    known_types: dict[Any, Any] | None = None,
    random_state: int | None = 0,
    metric: Any = "precomputed",
    progress: Advance | None = None,
) -> pd.DataFrame:
    """Map one data set by several methods and return their scores in one table.

    Methods that use `known`: ``"conditional-mds"`` (full coefficients), ``"conditional-mds-diagonal"``,
    ``"conditional-mds-adjusted"``, ``"conditional-classical-mds"`` (the closed form), ``"mds-then-regress"``
    (:func:`mds_then_regress`) and ``"partial-dbrda"`` (:func:`partial_dbrda`). Methods that do not: ``"mds"`` (metric),
    ``"isomap"`` (10 neighbours), ``"tsne"``.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    known : array-like of shape (n_objects, n_known), optional
        Known features, none missing.
    n_components : int, default=2
        Dimensions of every map.
    features, unknown : array-like of shape (n_objects, n_features), and sequence, optional
        The truth, if there is one, and its columns that were not known, as in :func:`recovery`.
    methods : iterable of str and functions, optional
        Which methods to run; by default all of the above. A function gets a :class:`Task` and returns a map (array or
        DataFrame, one row per object) or a fitted estimator; its name labels the row.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`. Measurement errors are ignored.
    random_state : int or None, default=0
        Seed of every method that uses one.
    metric : str, callable or transformer, default="precomputed"
        Computes dissimilarities from features, if these are given instead; as in :class:`unmask.ConditionalMDS`.
    progress : callable, optional
        Called with the numbers of methods done and to do; by default a bar appears after 3 s.

    Returns
    -------
    DataFrame
        One row per method. ``stress`` of the method's own fit; ``leak`` and ``leak_reference``, below which 19 of 20
        random maps stay (NaN if the leak is 0 by construction); ``knn_leak``, how well neighbours on the map predict
        the known features, from 0 (by chance) to 1 (always); ``trustworthiness`` for 5 neighbours;
        ``acc_all``, ``acc_unknown`` as in :func:`recovery`; ``seconds`` of wall time; ``note``: warnings, or why a
        method failed. NaN if there is no such number.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import compare
    >>> kin = load_kinship()
    >>> table = compare(kin.dissimilarities, kin.known[["gender"]], methods=["partial-dbrda", "mds"])
    >>> print(table[["stress", "leak", "leak_reference", "trustworthiness"]].round(3).to_string(index_names=False))
                   stress   leak  leak_reference  trustworthiness
    partial-dbrda     NaN  0.000             NaN            0.774
    mds             0.071  0.949           0.648            0.900
    """
    import pandas as pd

    makers = _chosen(methods)
    types = without_errors(known_types)
    checked, coded = read_with_known(dissimilarities, metric, known, n_components, types)
    n, labels = checked.n, checked.labels
    D = pd.DataFrame(checked.array_for("compare"), index=labels, columns=labels)
    if features is None and unknown is not None:
        raise ValueError("unknown names features but features were not given; pass features, the truth.")
    truth = None
    if features is not None:
        table = read_aligned(features, labels, n, "features", prefix="feature")
        truth = table.values, unknown_columns(table, unknown, known)

    def scores(result: Any) -> dict[str, Any]:
        U, rng = read_aligned(result, labels, n, "embedding").values, np.random.default_rng(0)
        near = neighbour_leak(U, coded, rng, adjusted_for=taken_out(U, coded), n_permutations=FEW_PERMUTATIONS)
        row = {"stress": float(getattr(result, "stress_", np.nan)), **leak_beside_chance(linear_leak(U, coded.values))}
        row["knn_leak"] = average(np.array([feature.corrected for feature in near.values()]))
        if not checked.missing:
            kept = neighbourhood_scores(D.to_numpy(), U, n_neighbors=neighbourhood_sizes(None, n)[0])
            row["trustworthiness"] = float(kept["trustworthiness"].iloc[0])
        return row if truth is None else row | recovered(U, coded.values, *truth)

    task = Task(D, align(known, labels, "known", "dissimilarities"), n_components, types, random_state)
    with counting("compare", progress) as advance:
        rows = []
        for done, maker in enumerate(makers.values()):
            advance(done, len(makers))
            rows.append(_run(maker, task, scores))
    return pd.DataFrame(rows, index=pd.Index(makers, name="method"), columns=COLUMNS)


def _chosen(methods: Iterable[str | MapMaker] | None) -> dict[str, MapMaker]:
    """Return the methods to run, by name."""
    if methods is None:
        return METHODS
    listed = [methods] if isinstance(methods, str) else list(methods)
    makers = {each if isinstance(each, str) else getattr(each, "__name__", repr(each)): each for each in listed}
    known = all(each in METHODS if isinstance(each, str) else callable(each) for each in listed)
    if not known or not 0 < len(listed) == len(makers):
        raise ValueError(
            f"methods={list(makers)!r} must hold functions or names of methods, at least one, and none twice; the "
            f"names are {', '.join(map(repr, METHODS))}."
        )
    return {name: METHODS[each] if isinstance(each, str) else each for name, each in makers.items()}


def method_names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(METHODS)


def _run(make: MapMaker, task: Task, scores: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return the row of one method; an error goes into the note and does not stop the other methods."""
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            start = time.perf_counter()
            with part_of_series():
                result = make(task)
            seconds = time.perf_counter() - start
        row = scores(result)
    except Exception as error:  # a function of the user may raise anything
        return {"note": f"{type(error).__name__}: {error}"}
    notes = dict.fromkeys(str(warning.message) for warning in caught)
    if getattr(result, "n_free_", task.n_components) > task.n_components:
        notes[f"stress of a free map of {result.n_free_} dimensions"] = None
    return {**row, "seconds": seconds, "note": " ".join(notes)}


# ---- methods


def _fit(task: Task, estimator: type, *, known: bool = True, **parameters: Any) -> Any:
    """Return an estimator, fitted to the dissimilarities and, unless `known` is False, to the known features."""
    parameters |= {"known_types": task.known_types} if known else {}
    model = estimator(task.n_components, metric="precomputed", **parameters)
    return model.fit(task.dissimilarities, known=task.known if known else None)


def _mds(**parameters: Any) -> MapMaker:
    return lambda task: _fit(task, ConditionalMDS, random_state=task.random_state, **parameters)


def _rival(rival: Callable[..., Any], task: Task, **more: Any) -> Any:
    options: dict[str, Any] = {"n_components": task.n_components, "known_types": task.known_types, **more}
    return rival(task.dissimilarities, task.known, **options)


def _isomap(task: Task) -> Array:
    geodesic = Geodesic(min(10, len(task.dissimilarities) - 1), metric="precomputed")
    paths = geodesic.fit_transform(task.dissimilarities)
    return ConditionalClassicalMDS(task.n_components, metric="precomputed").fit_transform(paths)


def _tsne(task: Task) -> Array:
    from sklearn.manifold import TSNE

    D = task.dissimilarities.to_numpy(copy=True)  # the exact method squares its input in place
    n = len(D)
    tsne = TSNE(
        task.n_components,
        perplexity=min(30.0, (n - 1) / 3),
        metric="precomputed",
        init="random",
        learning_rate=max(n / 48, 10.0),  # scikit-learn has a floor of 50, at which few objects fly apart
        method="barnes_hut" if task.n_components < 4 else "exact",  # quadtrees end at three dimensions
        random_state=task.random_state,
    )
    # Threads that wait for each other take fifty times longer on a busy machine than one takes for a small map.
    with threadpool_limits(1 if n < FEW_OBJECTS else None):
        return np.asarray(tsne.fit_transform(D))


METHODS: dict[str, MapMaker] = {
    "conditional-mds": _mds(coef="full"),
    "conditional-mds-diagonal": _mds(coef="diagonal"),
    "conditional-mds-adjusted": _mds(coef="full", adjust=True),
    "conditional-classical-mds": lambda task: _fit(task, ConditionalClassicalMDS),
    "mds-then-regress": lambda task: _rival(mds_then_regress, task, random_state=task.random_state),
    "partial-dbrda": lambda task: _rival(partial_dbrda, task).embedding,
    "mds": _mds(known=False),
    "isomap": _isomap,
    "tsne": _tsne,
}
