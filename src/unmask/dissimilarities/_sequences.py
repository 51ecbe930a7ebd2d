"""Metrics of objects that are sequences of numbers: Wasserstein distances and dynamic time warping."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from .._typing import Array, IntArray
from ..checking import require_integer, require_number, require_package, warn_user
from ..kernels import resolve_threads
from ._rows import Rows


def read_sequences(rows: Rows) -> Array:
    """Return an array of arrays, one per object, with NaN where a value is missing.

    X is a table with one object per row, or a list, Series or one-dimensional array with one sequence per object.
    """
    X = rows.X
    if not isinstance(X, list | tuple) and len(getattr(X, "shape", (0, 0))) != 1:
        return _array_of(np.asarray(rows.table(ensure_all_finite="allow-nan"), dtype=np.float64))
    if not rows.new:
        for name in ("n_features_in_", "feature_names_in_"):  # left by an earlier fit to a table
            vars(rows.estimator).pop(name, None)
    if len(X) < rows.least:
        raise ValueError(f"Found array with {len(X)} sample(s) while a minimum of {rows.least} is required.")
    return _array_of([_sequence(item, rows, row) for row, item in enumerate(X)])


def _array_of(items: Iterable[Array]) -> Array:
    """Return an array whose entries are arrays, of any lengths."""
    return np.fromiter(items, dtype=object)


def _sequence(item: Any, rows: Rows, row: int) -> Array:
    name, metric = rows.object(row), rows.estimator.metric
    try:
        values = np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} of X must be a sequence of numbers for metric={metric!r}: {error}") from error
    if values.ndim != 1:
        raise ValueError(
            f"Reshape your data: {name} of X has shape {values.shape}, but metric={metric!r} compares sequences of "
            "numbers; pass a list of sequences, or a table with one object per row."
        )
    if np.isinf(values).any():
        raise ValueError(f"{name} of X holds infinity (inf); replace it.")
    return values


def _require_some(values: Array, rows: Rows, row: int) -> Array:
    if not len(values):
        raise ValueError(f"{rows.object(row)} of X has no value at all; leave it out.")
    return values


# ---- Wasserstein


def read_order(rows: Rows, values: Array, params: dict[str, Any]) -> dict[str, Any]:
    """Return the order of a Wasserstein distance and, of histograms, the positions of the columns."""
    learnt: dict[str, Any] = {"order": require_number("metric_params['order']", params.get("order", 1), 1.0)}
    if values.ndim == 2:
        positions, columns = params.get("positions"), values.shape[1]
        given = np.arange(columns) if positions is None else positions
        learnt["positions"] = rows.per_column("positions", given, columns, -np.inf)
    return learnt


def samples(rows: Rows, values: Array, _learnt: Any) -> Array:
    """Return for each object its sorted values, and the cumulative share at each; NaN only fills up short rows."""
    ordered = [_require_some(np.sort(sample[~np.isnan(sample)]), rows, row) for row, sample in enumerate(values)]
    return _array_of([np.stack([sample, np.arange(1, len(sample) + 1) / len(sample)]) for sample in ordered])


def histograms(rows: Rows, amounts: Array, learnt: dict[str, Any]) -> Array:
    """Return what :func:`samples` does; of order 1, coordinates whose city-block distances are the distances."""
    order = np.argsort(learnt["positions"], kind="stable")
    positions = learnt["positions"][order]
    shares = np.cumsum(rows.shares(amounts)[:, order], axis=1)
    shares /= shares[:, -1:]
    if learnt["order"] > 1.0:
        return _array_of([np.stack([positions, share]) for share in shares])
    return shares[:, :-1] * np.diff(positions) if len(positions) > 1 else np.zeros((len(shares), 1))


def wasserstein(x: Array, y: Array, learnt: dict[str, Any]) -> Array:
    """Return Wasserstein distances."""
    if x.ndim == 2:
        return np.asarray(cdist(x, y, "cityblock"))
    out = np.empty((len(x), len(y)))
    starts = [np.cumsum([0, *(one.shape[1] for one in side)]) for side in (x, y)]
    _compiled()(np.concatenate(x, axis=1), starts[0], np.concatenate(y, axis=1), starts[1], learnt["order"], out)
    return out


def _transport(x: Array, x_starts: IntArray, y: Array, y_starts: IntArray, order: float, out: Array) -> None:
    """Fill ``out`` with the Wasserstein distances between two sets of distributions, each set joined end to end.

    The distance is the integral of the difference of the two quantile functions to the power of ``order``. Both are
    step functions, so the integral is a sum over the steps of either.
    """
    for i in range(len(x_starts) - 1):
        for j in range(len(y_starts) - 1):
            a, b = x_starts[i], y_starts[j]
            done = total = 0.0
            while a < x_starts[i + 1] and b < y_starts[j + 1]:
                upto = min(x[1, a], y[1, b])
                gap = abs(x[0, a] - y[0, b])
                total += (upto - done) * (gap if order == 1.0 else gap**order)
                done = upto
                a, b = a + (x[1, a] <= upto), b + (y[1, b] <= upto)
            out[i, j] = total ** (1.0 / order)


@lru_cache(maxsize=1)
def _compiled() -> Any:
    import numba

    return numba.njit(nogil=True, cache=True)(_transport)


# ---- dynamic time warping


def read_warping(rows: Rows, _values: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return the options of dynamic time warping, after checking that the package is there."""
    window = params.get("window")
    if _dtw().dtw_cc is None:
        warn_user("dtaidistance lacks its compiled part and is slow; reinstall it with a C compiler.", RuntimeWarning)
    return {
        "penalty": require_number("metric_params['penalty']", params.get("penalty", 0), 0.0),
        "window": None if window is None else require_integer("metric_params['window']", window, 1),
        "threads": resolve_threads(rows.estimator.n_jobs),
    }


def series(rows: Rows, values: Array, _learnt: Any) -> Array:
    """Return the series without the NaN that fill up short rows of a table."""
    trimmed = []
    for row, value in enumerate(values):
        length = np.max(np.flatnonzero(~np.isnan(value)), initial=-1) + 1
        gaps = np.isnan(_require_some(value[:length], rows, row))
        if gaps.any():
            raise ValueError(
                f"{rows.object(row)} of X has a gap (NaN) at position {int(np.argmax(gaps))}, before its last value; "
                "fill it, for example by interpolation."
            )
        trimmed.append(np.ascontiguousarray(value[:length]))
    return _array_of(trimmed)


def warping(x: Array, y: Array, options: dict[str, Any]) -> Array:
    """Return the costs of the best alignments.

    The compiled part of the package holds the interpreter lock; it divides the pairs among its own threads (OpenMP).
    """
    dtw, n, threads = _dtw(), len(x), options["threads"]
    compiled = dtw.dtw_cc is not None
    how = {"use_c": compiled, "parallel": compiled and threads > 1 and dtw.dtw_cc_omp is not None, "compact": True}
    how |= {"block": ((0, n), (n, n + len(y))), "penalty": options["penalty"], "window": options["window"]}
    with threadpool_limits(threads, user_api="openmp"):
        costs = dtw.distance_matrix([*x, *y], **how)
    return np.asarray(costs, dtype=np.float64).reshape(n, len(y))


def _dtw() -> Any:
    return require_package("dtaidistance.dtw", "metric='dtw'", "series")
