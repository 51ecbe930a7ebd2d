"""Weights of pairs: checked, and turned into what the passes read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .. import kernels
from .._typing import Array, IntArray
from ..checking import (
    Dissimilarities,
    FewPairsWarning,
    align_columns,
    align_rows,
    name_object,
    quote,
    require_real,
    rounding_level,
    warn_user,
)
from ..kernels import Edges, Pairs, Weighting, Workers, power_of_two_near
from ._graph import make_graph

if TYPE_CHECKING:
    import pandas as pd

SCHEMES = ("sammon", "curvilinear")


def build_pairs(
    dissimilarities: Dissimilarities, scheme: str | None, weights: Any, workers: Workers, *, apart: bool = False
) -> tuple[Pairs | Edges, IntArray | None]:
    """Combine dissimilarities and weights into what the passes read.

    Also return the number of each object's group if the pairs that count fall into several, which is an error unless
    ``apart``; None if all hang together.
    """
    if scheme is not None and weights is not None:
        raise ValueError(
            f"weights={scheme!r} asks for a scheme and fit received an array of weights; choose one of them."
        )
    scale = power_of_two_near(dissimilarities.largest)  # unless the largest pair does not count
    plain = Weighting.MASKED if dissimilarities.missing else Weighting.UNIT
    pairs: Pairs | Edges
    if weights is not None and sp.issparse(weights):
        pairs = _edges(dissimilarities, weights)
    elif weights is not None:
        W, largest = _check_array(weights, dissimilarities, workers)
        largest_delta, every_pair = _pairs_that_count(dissimilarities.values, W)
        scale = power_of_two_near(largest_delta)
        # Brought near 1, like the dissimilarities; only ratios of weights matter to the map.
        pairs = Pairs(
            dissimilarities.source,
            scale,
            Weighting.ARRAY,
            W,
            factor=power_of_two_near(largest),
            every_pair=every_pair,
        )
    elif scheme == "sammon":
        pairs = _sammon(dissimilarities, scale, workers)
    else:
        pairs = Pairs(dissimilarities.source, scale, plain, every_pair=not dissimilarities.missing)
    graph = make_graph(pairs, workers)
    if graph.every_pair:
        return pairs, None
    component = graph.components()
    if not component.any():
        return pairs, None
    _require_partners(component, dissimilarities, weighted=weights is not None)
    if not apart:
        _refuse_groups(component, dissimilarities, weighted=weights is not None)
    return pairs, component


def _sammon(dissimilarities: Dissimilarities, scale: float, workers: Workers) -> Pairs:
    """Sammon's weights 1 / (delta * sum of delta), a zero dissimilarity counted as the smallest positive one."""
    masked = Pairs(dissimilarities.source, scale, Weighting.MASKED)
    total = float(kernels.fused().pair_sums(masked, workers)[1])
    smallest = min(float(np.min(row, where=row > 0, initial=np.inf)) for row in dissimilarities.values)
    return Pairs(
        dissimilarities.source,
        scale,
        Weighting.SAMMON,
        floor=smallest * scale,
        factor=1.0 / total,
        every_pair=not dissimilarities.missing,
    )


def _check_array(weights: Any, dissimilarities: Dissimilarities, workers: Workers) -> tuple[Array, float]:
    labels = dissimilarities.labels
    if isinstance(weights, str):
        raise ValueError(f"fit received weights={weights!r}, a scheme; give it to the estimator: weights={weights!r}.")
    W = np.asarray(align_columns(align_rows(weights, labels, "weights"), labels, "weights"))
    require_real(W, "weights")
    W = np.ascontiguousarray(W, dtype=W.dtype if W.dtype in (np.float32, np.float64) else np.float64)
    n = dissimilarities.n
    if W.shape != (n, n):
        raise ValueError(f"weights has shape {W.shape} but there are {n} objects; pass an array of shape ({n}, {n}).")
    survey = kernels.fused().survey(W, workers)
    if survey.missing or survey.one_sided or survey.infinite or survey.smallest < 0:
        _require_weights(_without_diagonal(W), lambda i, j: _name_pair(labels, i, j))
    if survey.asymmetry > rounding_level(W, survey.largest):
        gap = np.abs(_without_diagonal(W) - _without_diagonal(W).T)
        i, j = np.argwhere(gap > rounding_level(W, survey.largest))[0]
        raise ValueError(
            f"weights is not symmetric: {W[i, j]:g} and {W[j, i]:g} for {_name_pair(labels, i, j)}; "
            "pass (weights + weights.T) / 2."
        )
    if survey.largest == 0:
        raise ValueError("weights are all zero; at least the pairs that matter need a positive weight.")
    return W, survey.largest


def _pairs_that_count(D: Array, W: Array) -> tuple[float, bool]:
    """Return the largest dissimilarity of a pair with a positive weight, and whether every pair has one."""
    largest, counted = 0.0, 0
    for i, (row, weights) in enumerate(zip(D, W, strict=True)):
        counts = (weights > 0) & ~np.isnan(row)
        counts[i] = False
        counted += int(np.count_nonzero(counts))
        largest = max(largest, float(np.max(row, where=counts, initial=0.0)))
    if largest == 0:
        raise ValueError("all dissimilarities with a positive weight are zero or missing; there is nothing to map.")
    return largest, counted == len(D) * (len(D) - 1)


def _name_pair(labels: pd.Index | None, i: int, j: int) -> str:
    return f"the pair ({name_object(labels, int(i))}, {name_object(labels, int(j))})"


def _without_diagonal(W: Array) -> Array:
    """Return a copy with a zero diagonal: an object's weight with itself is never used and may be anything."""
    off = W.copy()
    np.fill_diagonal(off, 0.0)
    return off


def _require_weights(off: Array, name: Callable[[int, int], str]) -> None:
    for wrong, why in ((~np.isfinite(off), "is not finite"), (off < 0, "is negative")):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"weights has {off[i, j]:g} for {name(int(i), int(j))}, which {why}; use 0 to leave a pair out."
            )


def _edges(dissimilarities: Dissimilarities, weights: Any) -> Edges:
    n, labels = dissimilarities.n, dissimilarities.labels
    if weights.shape != (n, n):
        raise ValueError(
            f"weights has shape {weights.shape} but there are {n} objects; pass a sparse matrix of shape ({n}, {n})."
        )
    W = sp.csr_array(weights).astype(np.float64)
    W.setdiag(0.0)
    W.sum_duplicates()
    W.eliminate_zeros()
    coo = W.tocoo()
    stored = coo.data[None, :]
    _require_weights(stored, lambda _, e: _name_pair(labels, coo.coords[0][e], coo.coords[1][e]))
    _require_symmetric(W, rounding_level(weights, float(W.max())), labels)
    upper = sp.triu(W, 1).tocoo()
    rows, columns = upper.coords
    delta = dissimilarities.values[rows, columns].astype(np.float64)
    present = ~np.isnan(delta)
    if not present.any():
        raise ValueError("weights are all zero; at least the pairs that matter need a positive weight.")
    if not delta[present].any():
        raise ValueError("all dissimilarities with a positive weight are zero; there is nothing to map.")
    scale = power_of_two_near(float(delta[present].max()))
    delta = delta * scale
    weight = upper.data * power_of_two_near(float(upper.data.max()))
    return Edges(n, rows[present], columns[present], delta[present], weight[present], scale)


def _require_symmetric(W: sp.csr_array, level: float, labels: pd.Index | None) -> None:
    gap = sp.triu(abs(W - W.T), 1).tocoo()
    wrong = np.flatnonzero(gap.data > level)
    if len(wrong):
        i, j = (int(ends[wrong[0]]) for ends in gap.coords)
        raise ValueError(
            f"weights is not symmetric: {W[i, j]:g} and {W[j, i]:g} for {_name_pair(labels, i, j)}; "
            "pass (weights + weights.T) / 2."
        )


def _require_partners(component: IntArray, dissimilarities: Dissimilarities, *, weighted: bool) -> None:
    """Raise when an object is alone: nothing says where it is."""
    sizes = np.bincount(component)
    if np.any(sizes == 1):
        alone = int(np.flatnonzero(sizes[component] == 1)[0])
        why = (
            "weight with any other object (all are 0)"
            if weighted
            else "dissimilarity to any other object left (all are NaN)"
        )
        raise ValueError(f"{name_object(dissimilarities.labels, alone)} has no {why}; leave it out.")


def _refuse_groups(component: IntArray, dissimilarities: Dissimilarities, *, weighted: bool) -> None:
    """Raise when the pairs that count fall into groups: nothing says how far apart these are."""
    labels = dissimilarities.labels
    members = [np.flatnonzero(component == c) for c in range(component.max() + 1)]
    groups = "; ".join(f"group {g + 1}: {quote(m if labels is None else labels[m])}" for g, m in enumerate(members))
    cause = "weights are zero" if weighted else "dissimilarities are missing"
    raise ValueError(
        f"the objects fall into {len(members)} groups between which all {cause}: {groups}. "
        "Pass on_disconnected='components' to map each group on its own with common coefficients, or give some pair "
        "between them a dissimilarity and a weight."
    )


def warn_of_few_pairs(pairs: Pairs | Edges, dimensions: int, labels: pd.Index | None) -> None:
    """Warn of objects that have no more pairs than dimensions: these do not hold them in one place."""
    graph = make_graph(pairs, Workers())
    if graph.every_pair:
        return
    counts = graph.pair_counts()
    few = np.flatnonzero(counts <= dimensions)
    if len(few):
        named = ", ".join(f"{name_object(labels, int(i))} ({counts[i]})" for i in few[:5])
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        warn_user(
            f"few dissimilarities hold these objects in place, no more than there are dimensions ({dimensions}): "
            f"{named}{more}. Do not read much into where they are.",
            FewPairsWarning,
        )
