"""Weights that were given: an array or a sparse matrix, checked; and pairs as a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..checking import Dissimilarities, align_columns, align_rows, is_source, name_object, require_real, rounding_level
from ..kernels import ArraySource, Edges, Workers, power_of_two_near

if TYPE_CHECKING:
    import pandas as pd


def check_array(weights: Any, dissimilarities: Dissimilarities, workers: Workers) -> tuple[Array, float]:
    """Return an array of weights in the order of the objects, and the largest of them."""
    labels = dissimilarities.labels
    if isinstance(weights, str):
        raise ValueError(f"fit received weights={weights!r}, a scheme; give it to the estimator: weights={weights!r}.")
    if is_source(weights):
        raise ValueError("weights is a source of dissimilarities; pass an array of weights, or a sparse matrix.")
    W = np.asarray(align_columns(align_rows(weights, labels, "weights"), labels, "weights"))
    require_real(W, "weights")
    W = np.ascontiguousarray(W, dtype=W.dtype if W.dtype in (np.float32, np.float64) else np.float64)
    _require_shape(W, dissimilarities.n, "an array")
    survey = ArraySource(W).survey(workers)
    if survey.missing or survey.one_sided or survey.infinite or survey.smallest < 0:
        _require_weights(_without_diagonal(W), lambda i, j: _name_pair(labels, i, j))
    if survey.asymmetry > rounding_level(W, survey.largest):
        gap = np.abs(_without_diagonal(W) - _without_diagonal(W).T)
        _refuse_asymmetry(W, np.argwhere(gap > rounding_level(W, survey.largest))[0], labels)
    if survey.largest == 0:
        raise ValueError("weights are all zero; at least the pairs that matter need a positive weight.")
    return W, survey.largest


def check_sparse(weights: Any, dissimilarities: Dissimilarities) -> sp.csr_array:
    """Return a sparse matrix of weights without a diagonal."""
    labels = dissimilarities.labels
    _require_shape(weights, dissimilarities.n, "a sparse matrix")
    W = sp.csr_array(weights).astype(np.float64)
    W.setdiag(0.0)
    W.sum_duplicates()
    W.eliminate_zeros()
    coo = W.tocoo()
    _require_weights(coo.data[None, :], lambda _, e: _name_pair(labels, coo.coords[0][e], coo.coords[1][e]))
    gap = sp.triu(abs(W - W.T), 1).tocoo()
    wrong = np.flatnonzero(gap.data > rounding_level(weights, float(W.max())))
    if len(wrong):
        _refuse_asymmetry(W, [ends[wrong[0]] for ends in gap.coords], labels)
    return W


def _require_shape(W: Any, n: int, what: str) -> None:
    if W.shape != (n, n):
        raise ValueError(f"weights has shape {W.shape} but there are {n} objects; pass {what} of shape ({n}, {n}).")


def _require_weights(off: Array, name: Callable[[int, int], str]) -> None:
    for wrong, why in ((~np.isfinite(off), "is not finite"), (off < 0, "is negative")):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"weights has {off[i, j]:g} for {name(int(i), int(j))}, which {why}; use 0 to leave a pair out."
            )


def _refuse_asymmetry(W: Any, pair: Any, labels: pd.Index | None) -> None:
    i, j = map(int, pair)
    raise ValueError(
        f"weights is not symmetric: {W[i, j]:g} and {W[j, i]:g} for {_name_pair(labels, i, j)}; "
        "pass (weights + weights.T) / 2."
    )


def _name_pair(labels: pd.Index | None, i: int, j: int) -> str:
    return f"the pair ({name_object(labels, int(i))}, {name_object(labels, int(j))})"


def _without_diagonal(W: Array) -> Array:
    """Return a copy with a zero diagonal: an object's weight with itself is never used and may be anything."""
    off = W.copy()
    np.fill_diagonal(off, 0.0)
    return off


def list_edges(n: int, rows: IntArray, columns: IntArray, delta: Array, weight: Array) -> Edges:
    """Return the pairs that have a dissimilarity and a weight, both brought near 1 by powers of two."""
    counts = ~np.isnan(delta) & (weight > 0)
    if not counts.any():
        raise ValueError("weights are all zero; at least the pairs that matter need a positive weight.")
    counted = delta[counts].astype(np.float64)
    if not counted.any():
        raise ValueError("all dissimilarities with a positive weight are zero; there is nothing to map.")
    scale = power_of_two_near(float(counted.max()))
    weight = weight[counts] * power_of_two_near(float(weight.max()))
    floor = float(np.min(counted, where=counted > 0, initial=np.inf)) * scale
    return Edges(n, rows[counts], columns[counts], counted * scale, weight, scale, floor)
