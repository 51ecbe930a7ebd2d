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
from ..checking import AdjustmentWarning, Dissimilarities, LeakWarning, quote, require_integer
from ..dissimilarities import Geodesic
from ..estimators import ConditionalClassicalMDS, ConditionalMDS
from ..problem import KnownFeatures, check_dimension, without_errors
from ..problem.leak import linear_leak, neighbour_leak
from ._correlations import average, recovered, unknown_columns
from ._fits import Advance, counting, ending_all
from ._inputs import align, code_known, read_coordinates, read_dissimilarities, read_table, require_rows
from ._leak import leak_beside_chance, taken_out
from ._rivals import mds_then_regress, partial_dbrda
from ._scores import neighbourhood_scores, neighbourhood_sizes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Task:
    """What a method to compare is given.

    Attributes
    ----------
    dissimilarities : DataFrame of shape (n_objects, n_objects)
        Checked: symmetric, NaN where missing.
    known : DataFrame, array or None
        Known features as the user gave them, rows in the order of the dissimilarities.
    n_components : int
        Dimensions of the map.
    known_types : dict or None
        Declared types of known features.
    random_state : int or None
        Seed.
    """

    dissimilarities: pd.DataFrame
    known: Any
    n_components: int
    known_types: dict[Any, Any] | None = None
    random_state: int | None = None

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.dissimilarities)

    def fit(self, estimator: type, *, known: bool = True, **parameters: Any) -> Any:
        """Return an estimator, fitted to the dissimilarities and, unless `known` is False, to the known features."""
        if known:
            parameters["known_types"] = self.known_types
        mds = estimator(self.n_components, metric="precomputed", **parameters)
        return mds.fit(self.dissimilarities, known=self.known if known else None)


COLUMNS = [
    *("stress", "leak", "leak_reference", "knn_leak", "trustworthiness"),
    *("acc_all", "acc_unknown", "seconds", "note"),
]
FEW_OBJECTS = 1000
FEW_PERMUTATIONS = 19

MapMaker = Callable[[Task], Any]


def compare(
    dissimilarities: Any,
    known: Any = None,
    *,
    n_components: int = 2,
    features: Any = None,
    unknown: Sequence[Any] | None = None,
    methods: Iterable[str] | None = None,
    known_types: dict[Any, Any] | None = None,
    n_neighbors: int | None = None,
    random_state: int | None = 0,
    metric: Any = "precomputed",
    progress: Advance | None = None,
) -> pd.DataFrame:
    """Map one data set by several methods and return their scores in one table.

    Methods that use `known`: ``"conditional-mds"`` (full coefficients), ``"conditional-mds-diagonal"``,
    ``"conditional-mds-adjusted"``, ``"conditional-classical-mds"`` (the closed form), and the two strongest simple
    rivals, ``"mds-then-regress"`` (:func:`mds_then_regress`) and ``"partial-dbrda"`` (:func:`partial_dbrda`). Methods
    that do not: ``"mds"`` (metric), ``"isomap"`` (10 neighbours), ``"tsne"``. :func:`register_method` adds others.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    known : array-like of shape (n_objects, n_known), optional
        Known features, none missing; :class:`unmask.ConditionalMDS` has estimates of missing cells
        (``known_imputed_``).
    n_components : int, default=2
        Dimensions of every map.
    features : array-like of shape (n_objects, n_features), optional
        The truth, where it is known: all features that made the dissimilarities.
    unknown : sequence, optional
        Columns of `features` that were not known, as in :func:`recovery`.
    methods : iterable of str, optional
        Which methods to run; by default all registered ones.
    known_types : dict, optional
        Types of known features, as in :class:`unmask.ConditionalMDS`. Measurement errors are left out: every method is
        given the values as measured.
    n_neighbors : int, optional
        Size of the neighbourhoods for trustworthiness; 5 by default, or the largest possible one.
    random_state : int or None, default=0
        Seed of every method that uses one.
    metric : str, callable or transformer, default="precomputed"
        Makes dissimilarities of a table of features, if one is given instead; as in :class:`unmask.ConditionalMDS`.
    progress : callable, optional
        Called with how many methods are done, and how many there are. Without it, a bar appears after 3 s in a terminal
        or a notebook.

    Returns
    -------
    DataFrame
        One row per method. ``stress``: of the method's own fit, NaN where it minimises none. ``leak``: what the map
        repeats of the known features along its axes, and ``leak_reference``: 19 of 20 random maps stay below it; NaN
        where the leak is 0 by construction. ``knn_leak``: how well neighbours on the map predict the known features, on
        average from 0 (by chance) to 1 (always); :func:`leak_report` has each feature. ``trustworthiness`` of the map;
        one that leaves the known features out need not have a high value. ``acc_all``, ``acc_unknown``: see
        :func:`recovery`; NaN without `features`. ``seconds``: wall time, compiling at the first call included.
        ``note``: warnings, or why a method failed.

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

    require_integer("n_components", n_components, 1)
    names = [methods] if isinstance(methods, str) else list(_METHODS if methods is None else methods)
    if not names or not set(names) <= set(_METHODS):
        raise ValueError(
            f"methods={names!r} must name registered methods, at least one; these are {', '.join(map(repr, _METHODS))}."
        )
    checked = read_dissimilarities(dissimilarities, metric)
    n, labels, types = checked.n, checked.labels, without_errors(known_types)
    D = pd.DataFrame(checked.array_for("compare"), index=labels, columns=labels)
    coded = code_known(known, n, labels, types, "dissimilarities")
    check_dimension(n_components, n, coded)
    if features is None and unknown is not None:
        raise ValueError("unknown names features but features were not given; pass features, the truth.")
    truth = None
    if features is not None:
        table = read_table(align(features, labels, "features", "dissimilarities"), "features", "feature")
        require_rows(table.values, n, "features", "dissimilarities")
        truth = table.values, unknown_columns(table, unknown, known)
    judge = _Judge(checked, coded, truth, neighbourhood_sizes(n_neighbors, n)[0])
    task = Task(D, align(known, labels, "known", "dissimilarities"), n_components, types, random_state)
    with counting("compare", progress) as advance:
        rows = []
        for done, name in enumerate(names):
            advance(done, len(names))
            rows.append(_run(_METHODS[name], task, judge))
    return pd.DataFrame(rows, index=pd.Index(names, name="method"), columns=COLUMNS)


def method_names() -> tuple[str, ...]:
    """Return the names of all registered methods."""
    return tuple(_METHODS)


@dataclass(frozen=True)
class _Judge:
    """The data that maps are scored against."""

    checked: Dissimilarities
    coded: KnownFeatures
    truth: tuple[Array, list[int]] | None  # all features, and which of them were not known
    n_neighbors: int

    def scores(self, result: Any) -> dict[str, Any]:
        """Return the scores of a map, or of an estimator that has one."""
        U, rng = read_coordinates(result, self.checked.labels, self.checked.n), np.random.default_rng(0)
        near = neighbour_leak(
            U, self.coded, rng, adjusted_for=taken_out(U, self.coded), n_permutations=FEW_PERMUTATIONS
        )
        scores: dict[str, Any] = {
            "stress": float(getattr(result, "stress_", np.nan)),
            **leak_beside_chance(linear_leak(U, self.coded.values)),
            "knn_leak": average(np.array([feature.corrected for feature in near.values()])),
        }
        if not self.checked.missing:
            table = neighbourhood_scores(self.checked.array_for("compare"), U, n_neighbors=self.n_neighbors)
            scores["trustworthiness"] = float(table["trustworthiness"].iloc[0])
        return scores if self.truth is None else scores | recovered(U, self.coded.values, *self.truth)


def _run(make: MapMaker, task: Task, judge: _Judge) -> dict[str, Any]:
    """Make one map and score it; an error goes into the note, and does not stop the other methods."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # What a map repeats is in columns of its own.
            warnings.simplefilter("ignore", LeakWarning)
            warnings.simplefilter("ignore", AdjustmentWarning)
            start = time.perf_counter()
            with ending_all():
                result = make(task)
            seconds = time.perf_counter() - start
        scores = judge.scores(result)
    except Exception as error:  # a registered method may raise anything
        return {"note": f"{type(error).__name__}: {error}"}
    notes = dict.fromkeys(str(warning.message) for warning in caught)
    if getattr(result, "n_free_", task.n_components) > task.n_components:
        notes[f"stress of a free map of {result.n_free_} dimensions"] = None
    return {**scores, "seconds": seconds, "note": " ".join(notes)}


# ---- methods


def register_method(name: str, function: MapMaker | None) -> None:
    """Add a method to :func:`compare`, replace it, or remove it (``function=None``).

    Parameters
    ----------
    name : str
        Name of the method.
    function : callable or None
        Called with a :class:`Task` (attributes ``dissimilarities``, ``known``, ``n_components``, ``known_types``,
        ``random_state``); returns a map (array or DataFrame with one row per object), or a fitted estimator with
        ``embedding_`` and, if it has one, ``stress_``. None removes the method.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import compare, register_method
    >>> register_method("degree-only", lambda task: task.known[["degree"]])
    >>> kin = load_kinship()
    >>> table = compare(kin.dissimilarities, kin.known[["degree"]], n_components=1, methods=["degree-only"])
    >>> table.loc["degree-only", "leak"].round(6).item()
    1.0
    >>> register_method("degree-only", None)
    """
    if function is None and name not in _METHODS:
        raise ValueError(f"name={name!r} is not a registered method; these are {quote(_METHODS)}.")
    if function is None:
        del _METHODS[name]
    elif callable(function):
        _METHODS[name] = function
    else:
        raise ValueError(f"function={function!r} must be callable with a Task and return a map, or None.")


def _conditional(coef: str, *, adjust: bool = False) -> MapMaker:
    return lambda task: task.fit(ConditionalMDS, coef=coef, adjust=adjust, random_state=task.random_state)


def _mds_then_regress(task: Task) -> pd.DataFrame:
    options: dict[str, Any] = {"known_types": task.known_types, "random_state": task.random_state}
    return mds_then_regress(task.dissimilarities, task.known, n_components=task.n_components, **options)


def _partial_dbrda(task: Task) -> pd.DataFrame:
    options: dict[str, Any] = {"n_components": task.n_components, "known_types": task.known_types}
    return partial_dbrda(task.dissimilarities, task.known, **options).embedding


def _isomap(task: Task) -> Array:
    geodesic = Geodesic(min(10, task.n - 1), metric="precomputed").fit_transform(task.dissimilarities)
    return ConditionalClassicalMDS(task.n_components, metric="precomputed").fit_transform(geodesic)


def _tsne(task: Task) -> Array:
    from sklearn.manifold import TSNE

    tsne = TSNE(
        task.n_components,
        perplexity=min(30.0, (task.n - 1) / 3),
        metric="precomputed",
        init="random",
        learning_rate=max(task.n / 48, 10.0),  # scikit-learn has a floor of 50, at which few objects fly apart
        method="barnes_hut" if task.n_components < 4 else "exact",  # quadtrees end at three dimensions
        random_state=task.random_state,
    )
    D = task.dissimilarities.to_numpy(copy=True)  # the exact method squares its input in place
    # Threads that wait for each other take fifty times longer on a busy machine than one takes for a small map.
    with threadpool_limits(1 if task.n < FEW_OBJECTS else None):
        return np.asarray(tsne.fit_transform(D))


_METHODS: dict[str, MapMaker] = {
    "conditional-mds": _conditional("full"),
    "conditional-mds-diagonal": _conditional("diagonal"),
    "conditional-mds-adjusted": _conditional("full", adjust=True),
    "conditional-classical-mds": lambda task: task.fit(ConditionalClassicalMDS),
    "mds-then-regress": _mds_then_regress,
    "partial-dbrda": _partial_dbrda,
    "mds": lambda task: task.fit(ConditionalMDS, known=False, random_state=task.random_state),
    "isomap": _isomap,
    "tsne": _tsne,
}
