"""Which fit it is, in so few words and numbers that another one can be told from it."""

from __future__ import annotations

import re
import zlib
from numbers import Integral
from typing import Any

import numpy as np

from .._typing import Array
from ..checking import Dissimilarities
from ..engines import Engine
from ..kernels import Source, rectangle
from ..problem import Problem

SOME = 100  # objects whose dissimilarities tell one table from another
# More starts or iterations go on with the same fit, and these others change nothing about it.
FREE = ("max_iter", "n_init", "n_jobs", "verbose")


def describe_fit(estimator: Any, problem: Problem, engine: Engine, checked: Dissimilarities) -> dict[str, Any]:
    """Return what a checkpoint says about the fit that it belongs to, by the names used in messages."""
    known, parameters = problem.known, estimator.get_params(deep=False)
    if not isinstance(parameters.get("random_state"), Integral):
        parameters.pop("random_state", None)  # drawn numbers are kept beside it
    labels = None if checked.labels is None else zlib.crc32(repr(list(checked.labels)).encode())
    return {
        "estimator": type(estimator).__name__,
        "number of objects": checked.n,
        "known": list(map(str, known.names)),
        **{name: _words(value) for name, value in parameters.items() if name not in FREE},
        **_chosen_solver(estimator),
        "X": [_checksum(_some_of(checked.source))],
        "values of known": [_checksum(column) for column in known.values.T],
        "weights of the pairs": [_checksum(engine.graph.degrees)],
        "labels of the objects": labels,
    }


def _chosen_solver(estimator: Any) -> dict[str, str]:
    """Return which solver was taken: where a table lies may decide what "auto" means."""
    chosen = getattr(estimator, "solver_", None)
    return {} if chosen is None else {"solver": _words(chosen.partition(":")[0])}


def _some_of(source: Source) -> Array:
    """Return some dissimilarities, the same wherever the table lies: a fit may go on where it is read otherwise."""
    objects = np.sort(np.random.default_rng(0).permutation(source.n)[:SOME])
    return rectangle(source, objects, objects)[np.triu_indices(len(objects), 1)]


def _words(value: Any) -> str:
    """Return a parameter as text that is the same in another process."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}, {zlib.crc32(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_words, value))})"
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))


def _checksum(values: Array) -> float:
    """Return a number that changes with any of the values, and with their order."""
    values = np.nan_to_num(np.asarray(values, dtype=np.float64))
    return float(values @ np.random.default_rng(0).uniform(1.0, 2.0, len(values)))
