"""Case 10: the unfolding methods and DRILL against scikit-learn's locally linear embedding and spectral embedding.

They are other methods, not other implementations of the same one: the ratios say what a map by a semidefinite or
log-determinant optimum costs compared with one eigendecomposition. Goals are in processor seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..data import Array
from ..measure import OURS, Measurement, Results, clock
from ..peers import quiet
from ..plan import Plan

CASE = "spectral"
LLE, EIGENMAPS = "scikit-learn LocallyLinearEmbedding", "scikit-learn SpectralEmbedding"
ROLL, ROBOT = 1000, 215
DIGITS, DIGITS_FROM = 1000, 5000  # a minute or more: only in a full run
MANY = 10_000  # objects for the methods with a sparse precision


class Goal(NamedTuple):
    """A method, the number of objects, and the processor seconds and iterations it may take."""

    task: str
    n: int
    seconds: float
    iterations: float = np.inf


ENTROPY = Goal("maximum entropy unfolding, Swiss roll", ROLL, 5.0, 60.0)
VARIANCE = Goal("maximum variance unfolding, Swiss roll", ROLL, 10.0)
DRILL = Goal("DRILL without penalty, robot's WiFi", ROBOT, 3.0)
PENALISED = Goal("DRILL with penalty 0.01, robot's WiFi", ROBOT, 3.0)
LAPLACIAN = Goal("map of Laplacian eigenmaps, Swiss roll", MANY, 20.0)
LINEAR = Goal("map of locally linear embedding, Swiss roll", MANY, 20.0)
GOALS = (ENTROPY, VARIANCE, DRILL, PENALISED, LAPLACIAN, LINEAR)


def _roll(n: int) -> tuple[Array, Array]:
    """Return points on a Swiss roll and the sheet that was rolled."""
    from sklearn.datasets import make_swiss_roll

    X, angle = make_swiss_roll(n, random_state=0)
    arc = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2
    return X, np.column_stack([arc, X[:, 1]])


def _robot(n: int) -> Array:
    from unmask.datasets import make_robot_wifi

    return np.asarray(make_robot_wifi(random_state=0).features)[:n]


def _error(covariance: Array, sheet: Array) -> float:
    """Return the Procrustes error of the classical map."""
    from scipy.spatial import procrustes

    values, vectors = np.linalg.eigh(covariance)
    return float(procrustes(sheet, vectors[:, :-3:-1] * np.sqrt(values[:-3:-1]))[2])


def _methods() -> Iterator[tuple[Goal, Any]]:
    from unmask.dissimilarities import Drill, MaximumEntropyUnfolding, MaximumVarianceUnfolding

    yield ENTROPY, MaximumEntropyUnfolding(6)
    yield VARIANCE, MaximumVarianceUnfolding(6)
    yield DRILL, Drill(7, penalty=0.0)
    yield PENALISED, Drill(7, penalty=0.01)


def _peers(X: Array) -> Iterator[tuple[str, Callable[[], object]]]:
    from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding

    yield LLE, partial(LocallyLinearEmbedding(n_neighbors=7, random_state=0).fit, X)
    yield EIGENMAPS, partial(SpectralEmbedding(n_neighbors=7, affinity="nearest_neighbors", random_state=0).fit, X)


def _remark(method: Any, sheet: Array | None) -> str:
    """Say how exact the result is."""
    parts = [f"{method.n_iter_} iterations"]
    if hasattr(method, "violation_"):
        parts.append(f"violation {method.violation_:.1e}")
    if sheet is not None and hasattr(method, "rank_"):
        parts.append(f"Procrustes error {_error(method.covariance_, sheet):.1e}")
    return ", ".join(parts)


def _measured(goal: Goal, method: Any, X: Array, sheet: Array | None, repeats: int) -> Measurement:
    method.fit(X)
    found = clock(lambda: method.fit(X), repeats).named(CASE, goal.task, OURS, goal.n)
    return replace(found, value=float(method.n_iter_), note=_remark(method, sheet))


def run(results: Results, plan: Plan) -> None:
    """Time the dissimilarities of each method, and the whole maps of scikit-learn, on the same objects."""
    (roll, sheet), robot = _roll(ROLL), _robot(ROBOT)
    repeats = min(3, plan.repeats)
    with quiet():
        for goal, method in _methods():
            X = roll if goal.n == ROLL else robot
            results.add(_measured(goal, method, X, sheet if goal.n == ROLL else None, repeats))
            for who, call in _peers(X):
                results.add(clock(call, repeats).named(CASE, goal.task, who, goal.n))
        if plan.main >= DIGITS_FROM:
            _many_unknowns(results)
            _many_objects(results)


def _many_unknowns(results: Results) -> None:
    """Time DRILL where its steps are found by conjugate gradients."""
    from sklearn.datasets import load_digits

    from unmask.dissimilarities import Drill

    digits = np.asarray(load_digits().data[:DIGITS])
    for penalty in (0.0, 0.5):
        method = Drill(6, penalty=penalty)
        task = f"DRILL with penalty {penalty:g}, handwritten digits"
        timed = clock(partial(method.fit, digits)).named(CASE, task, OURS, DIGITS)
        results.add(replace(timed, value=float(method.n_iter_), note=_remark(method, None)))


def _many_objects(results: Results) -> None:
    """Time the maps that come from a sparse factor, and those of scikit-learn by its sparse solver."""
    from unmask import SpectralMap
    from unmask.dissimilarities import LaplacianEigenmaps, LocallyLinear

    X = _roll(MANY)[0]
    for goal, method in ((LAPLACIAN, LaplacianEigenmaps(7)), (LINEAR, LocallyLinear(7))):
        results.add(clock(partial(SpectralMap(method).fit, X)).named(CASE, goal.task, OURS, MANY))
        for who, call in _peers(X):
            results.add(clock(call).named(CASE, goal.task, who, MANY))
