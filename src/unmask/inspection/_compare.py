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
from ..checking import AdjustmentWarning, Dissimilarities, LeakWarning, quote, require_integer, require_package
from ..dissimilarities import Geodesic
from ..estimators import ConditionalClassicalMDS, ConditionalMDS
from ..problem import check_dimension, without_errors
from ..problem.leak import linear_leak, neighbour_leak
from ..problem.linalg import canonical_correlations
from ._completed import completed
from ._correlations import average, unknown_columns
from ._fits import Advance, ending_all, nobody
from ._inputs import LabelledTable, align, code_known, read_dissimilarities, read_table, require_rows
from ._leak import taken_out
from ._rivals import mds_then_regress, partial_dbrda
from ._scores import coordinates, neighbourhood_scores

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


FEW_OBJECTS = 1000
FEW_PERMUTATIONS = 19

MapMaker = Callable[[Task], Any]


@dataclass(frozen=True)
class _Method:
    make: MapMaker
    package: str | None = None


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

    Methods that know of `known`: ``"conditional-mds"`` (full coefficients), ``"conditional-mds-diagonal"``,
    ``"conditional-classical-mds"`` (the closed form), and the two strongest simple rivals, ``"mds-then-regress"``
    (:func:`mds_then_regress`) and ``"partial-dbrda"`` (:func:`partial_dbrda`). Methods that do not: ``"mds"``
    (metric), ``"isomap"`` (10 neighbours), ``"tsne"``, ``"umap"``. :func:`register_method` adds others.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    known : array-like of shape (n_objects, n_known), optional
        Known features. Missing cells are estimated by :class:`unmask.ConditionalMDS`, with a warning, and all methods
        are given the estimates.
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
        Called with how many methods are done, and how many there are.

    Returns
    -------
    DataFrame
        One row per method. ``stress``: of the method's own fit, NaN where it minimises none. ``leak``: what the map
        repeats of the known features along its axes. ``knn_leak``: how well neighbours on the map tell them, on average
        from 0 (as well as by chance) to 1 (always); :func:`leak_report` has each feature. ``trustworthiness``: of the
        map, by the dissimilarities; a map that leaves the known features out need not have a high one. ``acc_all``,
        ``acc_unknown``: see :func:`recovery`; NaN without `features`. ``seconds``: wall time, which at the first call
        includes compiling. ``note``: warnings, why a method failed, or which package it lacks.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import compare
    >>> kin = load_kinship()
    >>> table = compare(kin.dissimilarities, kin.known[["gender"]], methods=["partial-dbrda", "mds"])
    >>> print(table[["stress", "leak", "trustworthiness"]].round(3).to_string(index_names=False))
                   stress   leak  trustworthiness
    partial-dbrda     NaN  0.000            0.774
    mds             0.071  0.949            0.900
    """
    import pandas as pd

    require_integer("n_components", n_components, 1)
    checked = read_dissimilarities(dissimilarities, metric)
    known_types = without_errors(known_types)
    known = completed(known, checked, n_components, known_types, random_state)
    judge = _make_judge(checked, known, features, unknown, known_types, n_neighbors)
    check_dimension(n_components, checked.n, judge.coded)
    task = Task(
        pd.DataFrame(checked.array_for("compare"), index=checked.labels, columns=checked.labels),
        align(known, checked.labels, "known", "dissimilarities"),
        n_components,
        known_types,
        random_state,
    )
    chosen = _chosen(methods)
    rows = []
    for done, method in enumerate(chosen.values()):
        (progress or nobody)(done, len(chosen))
        rows.append(_run(method, task, judge))
    return pd.DataFrame(rows, index=pd.Index(chosen, name="method"), columns=COLUMNS)


COLUMNS = ["stress", "leak", "knn_leak", "trustworthiness", "acc_all", "acc_unknown", "seconds", "note"]


def method_names() -> tuple[str, ...]:
    """Return the names of all registered methods."""
    return tuple(_METHODS)


def _chosen(methods: Iterable[str] | None) -> dict[str, _Method]:
    """Return the methods of these names, by default all."""
    if methods is None:
        return dict(_METHODS)
    names = [methods] if isinstance(methods, str) else list(methods)
    strange = [name for name in names if name not in _METHODS]
    if strange or not names:
        raise ValueError(
            f"methods={names!r} must name registered methods, at least one; these are {', '.join(map(repr, _METHODS))}."
        )
    return {name: _METHODS[name] for name in names}


# ---- judging maps


@dataclass(frozen=True)
class _Judge:
    """The data that maps are scored against."""

    checked: Dissimilarities
    coded: Any
    truth: LabelledTable | None
    unknown: list[int]
    n_neighbors: int

    def scores(self, result: Any) -> dict[str, float]:
        """Return the scores of a map, or of an estimator that has one."""
        U = coordinates(result, self.checked)
        scores = {
            "stress": float(getattr(result, "stress_", np.nan)),
            "leak": linear_leak(U, self.coded.values).leak,
            "knn_leak": self._knn_leak(U),
        }
        if not self.checked.missing:
            table = neighbourhood_scores(self.checked.array_for("compare"), U, n_neighbors=self.n_neighbors)
            scores["trustworthiness"] = float(table["trustworthiness"].iloc[0])
        if self.truth is not None:
            truth = self.truth.values
            both = np.column_stack([U, self.coded.values])
            scores["acc_all"] = average(canonical_correlations(both, truth))
            scores["acc_unknown"] = average(canonical_correlations(U, truth[:, self.unknown]))
        return scores

    def _knn_leak(self, U: Array) -> float:
        adjusted_for = taken_out(U, self.coded)
        rng = np.random.default_rng(0)  # the same permutations for every method
        told = neighbour_leak(U, self.coded, rng, adjusted_for=adjusted_for, n_permutations=FEW_PERMUTATIONS)
        return average(np.array([feature.corrected for feature in told.values()]))


def _make_judge(
    checked: Dissimilarities,
    known: Any,
    features: Any,
    unknown: Sequence[Any] | None,
    types: dict[Any, Any] | None,
    n_neighbors: int | None,
) -> _Judge:
    coded = code_known(known, checked.n, checked.labels, types, "dissimilarities")
    largest = (checked.n - 1) // 2
    size = min(5, largest) if n_neighbors is None else require_integer("n_neighbors", n_neighbors, 1)
    if size > largest:
        raise ValueError(f"n_neighbors={size} is too many for {checked.n} objects; use at most {largest}.")
    if features is None:
        if unknown is not None:
            raise ValueError("unknown names features but features were not given; pass features, the truth.")
        return _Judge(checked, coded, None, [], size)
    truth = read_table(align(features, checked.labels, "features", "dissimilarities"), "features", "feature")
    require_rows(truth.values, checked.n, "features", "dissimilarities")
    return _Judge(checked, coded, truth, unknown_columns(truth, unknown, known), size)


def _run(method: _Method, task: Task, judge: _Judge) -> dict[str, Any]:
    """Make one map and score it; an error goes into the note, and does not stop the other methods."""
    try:
        if method.package is not None:
            require_package(method.package, "this method", "compare")  # imported before the clock starts
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            # What a map repeats is in columns of its own.
            warnings.simplefilter("ignore", LeakWarning)
            warnings.simplefilter("ignore", AdjustmentWarning)
            start = time.perf_counter()
            with ending_all():
                result = method.make(task)
            seconds = time.perf_counter() - start
        scores: dict[str, Any] = judge.scores(result)
    except Exception as error:  # whatever a registered method raises is its own affair
        return {"note": f"{type(error).__name__}: {error}"}
    said = dict.fromkeys(str(warning.message) for warning in heard)
    if getattr(result, "n_free_", task.n_components) > task.n_components:
        said[f"stress of a free map of {result.n_free_} dimensions"] = None
    return {**scores, "seconds": seconds, "note": " ".join(said)}


# ---- methods


def register_method(name: str, function: MapMaker | None, *, package: str | None = None) -> None:
    """Add a method to :func:`compare`, replace it, or remove it (``function=None``).

    Parameters
    ----------
    name : str
        Name of the method.
    function : callable or None
        Called with a :class:`Task` (attributes ``dissimilarities``, ``known``, ``n_components``, ``known_types``,
        ``random_state``); returns a map (array or DataFrame with one row per object), or a fitted estimator with
        ``embedding_`` and, if it has one, ``stress_``. None removes the method.
    package : str, optional
        Module that must be importable; without it the method's row says so.

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
    if not isinstance(name, str) or not name:
        raise ValueError(f"name={name!r} must be a text that names the method.")
    if function is None:
        if name not in _METHODS:
            raise ValueError(f"name={name!r} is no registered method to take out; these are {quote(_METHODS)}.")
        del _METHODS[name]
        return
    if not callable(function):
        raise ValueError(f"function={function!r} must be callable with a Task and return a map, or None.")
    _METHODS[name] = _Method(function, package)


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


def _umap(task: Task) -> Array:
    umap = require_package("umap", "this method", "compare")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a seed costs threads, and distances have no inverse
        reducer = umap.UMAP(
            n_neighbors=min(15, task.n - 1),
            n_components=task.n_components,
            metric="precomputed",
            random_state=task.random_state,
        )
        return np.asarray(reducer.fit_transform(task.dissimilarities.to_numpy(copy=True)))


_METHODS: dict[str, _Method] = {
    "conditional-mds": _Method(_conditional("full")),
    "conditional-mds-diagonal": _Method(_conditional("diagonal")),
    "conditional-mds-adjusted": _Method(_conditional("full", adjust=True)),
    "conditional-classical-mds": _Method(lambda task: task.fit(ConditionalClassicalMDS)),
    "mds-then-regress": _Method(_mds_then_regress),
    "partial-dbrda": _Method(_partial_dbrda),
    "mds": _Method(lambda task: task.fit(ConditionalMDS, known=False, random_state=task.random_state)),
    "isomap": _Method(_isomap),
    "tsne": _Method(_tsne),
    "umap": _Method(_umap, package="umap"),
}
