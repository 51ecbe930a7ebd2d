"""Weights that were given, an array or a sparse matrix: checked, and combined with the dissimilarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..checking import Dissimilarities, align_columns, align_rows, is_source, name_object, require_real, rounding_level
from ..kernels import ArraySource, Edges, Pairs, Weighting, Workers, power_of_two_near, read_entries, strips

if TYPE_CHECKING:
    import pandas as pd

NOTHING_COUNTS = "weights are all zero; at least the pairs that matter need a positive weight."
NO_LENGTH = "all dissimilarities with a positive weight are zero or missing; there is nothing to map."


def weighted_pairs(dissimilarities: Dissimilarities, weights: Any, workers: Workers) -> Pairs | Edges:
    """Return the pairs of a fit with given weights, an array or a sparse matrix."""
    source, n = dissimilarities.source, dissimilarities.n
    if sp.issparse(weights):
        W, largest = _check_sparse(weights, dissimilarities), 1.0
    else:
        W, largest = _check_array(weights, dissimilarities, workers)
    if source.lists_pairs:
        rows, columns, delta = source.stored_pairs()
        return list_edges(n, rows, columns, delta, np.asarray(W[rows, columns], dtype=np.float64).ravel())
    if sp.issparse(weights):
        upper = sp.triu(W, 1).tocoo()
        rows, columns = upper.coords
        return list_edges(n, rows, columns, read_entries(source, rows, columns), upper.data)
    if source.on_workers:
        raise ValueError(
            "weights is an array with as many numbers as the dissimilarities, which lie on the workers of a cluster; "
            "use weights='sammon' or none, or a sparse matrix of weights for some pairs."
        )
    longest, counted = 0.0, 0
    for part, strip in strips(source):
        counts = (W[part] > 0) & ~np.isnan(strip)
        counts[np.arange(len(strip)), np.arange(n)[part]] = False
        counted += int(np.count_nonzero(counts))
        longest = max(longest, float(np.max(strip, where=counts, initial=0.0)))
    if longest == 0:
        raise ValueError(NO_LENGTH)
    # Both are brought near 1; only ratios of weights matter to the map.
    scale, factor = power_of_two_near(longest), power_of_two_near(largest)
    return Pairs(source, scale, Weighting.ARRAY, W, factor=factor, every_pair=counted == n * (n - 1))


def list_edges(n: int, rows: IntArray, columns: IntArray, delta: Array, weight: Array) -> Edges:
    """Return the pairs that have a dissimilarity and a weight, both brought near 1 by powers of two."""
    counts = ~np.isnan(delta) & (weight > 0)
    if not counts.any():
        raise ValueError(NOTHING_COUNTS)
    counted = delta[counts].astype(np.float64)
    if not counted.any():
        raise ValueError(NO_LENGTH)
    scale = power_of_two_near(float(counted.max()))
    weight = weight[counts] * power_of_two_near(float(weight.max()))
    floor = float(np.min(counted, where=counted > 0, initial=np.inf)) * scale
    return Edges(n, rows[counts], columns[counts], counted * scale, weight, scale, floor)


def require_weights(weight: Array, rows: IntArray, columns: IntArray, labels: pd.Index | None) -> None:
    """Raise on a weight that is negative or not finite."""
    for at in np.flatnonzero(~np.isfinite(weight) | (weight < 0))[:1]:
        why = "is negative" if np.isfinite(weight[at]) else "is not finite"
        raise ValueError(
            f"weights has {weight[at]:g} for {_name_pair(labels, rows[at], columns[at])}, which {why}; "
            "use 0 to leave a pair out."
        )


def _check_array(weights: Any, dissimilarities: Dissimilarities, workers: Workers) -> tuple[Array, float]:
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
    asymmetric = survey.asymmetry > rounding_level(W, survey.largest)
    if asymmetric or survey.missing or survey.one_sided or survey.infinite or survey.smallest < 0:
        _check_sparse(sp.csr_array(W), dissimilarities)  # names the pair
    if survey.largest == 0:
        raise ValueError(NOTHING_COUNTS)
    return W, survey.largest


def _check_sparse(weights: Any, dissimilarities: Dissimilarities) -> sp.csr_array:
    """Return a sparse matrix of weights without a diagonal, which is never used and may be anything."""
    labels = dissimilarities.labels
    _require_shape(weights, dissimilarities.n, "a sparse matrix")
    W = sp.csr_array(weights).astype(np.float64)
    W.setdiag(0.0)
    W.sum_duplicates()
    W.eliminate_zeros()
    coo = W.tocoo()
    require_weights(coo.data, coo.coords[0], coo.coords[1], labels)
    gap = sp.triu(abs(W - W.T), 1).tocoo()
    for at in np.flatnonzero(gap.data > rounding_level(weights, float(W.max())))[:1]:
        i, j = gap.coords[0][at], gap.coords[1][at]
        raise ValueError(
            f"weights is not symmetric: {W[i, j]:g} and {W[j, i]:g} for {_name_pair(labels, i, j)}; "
            "pass (weights + weights.T) / 2."
        )
    return W


def _require_shape(W: Any, n: int, what: str) -> None:
    if W.shape != (n, n):
        raise ValueError(f"weights has shape {W.shape} but there are {n} objects; pass {what} of shape ({n}, {n}).")


def _name_pair(labels: pd.Index | None, i: int, j: int) -> str:
    return f"the pair ({name_object(labels, int(i))}, {name_object(labels, int(j))})"
