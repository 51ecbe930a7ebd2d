"""Dissimilarities and weights combined into what the passes read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..checking import Dissimilarities, MapWarning, name_object, quote, warn_user
from ..kernels import (
    Edges,
    Pairs,
    Source,
    Weighting,
    Workers,
    power_of_two_near,
    read_entries,
    strips,
)
from ._graph import make_graph
from ._schemes import SCHEMES
from ._weights import check_array, check_sparse, list_edges

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 5  # that an error lists


def build_pairs(dissimilarities: Dissimilarities, scheme: str | None, weights: Any, workers: Workers) -> Pairs | Edges:
    """Combine dissimilarities and weights into what the passes read; raise if they do not connect all objects."""
    if scheme is not None and weights is not None:
        raise ValueError(
            f"weights={scheme!r} asks for a scheme and fit received an array of weights; choose one of them."
        )
    source, rule = dissimilarities.source, None if weights is not None else SCHEMES[scheme]
    weights = weights if rule is None else rule.weights_for(dissimilarities)
    if rule is not None and weights is None:
        pairs = rule.build(dissimilarities, workers)
    elif sp.issparse(weights):
        pairs = _with_sparse(source, check_sparse(weights, dissimilarities))
    else:
        pairs = _with_array(source, *check_array(weights, dissimilarities, workers))
        if rule is not None:  # which will weigh new objects too
            pairs = replace(pairs, floor=source.smallest_positive() * pairs.scale)
    graph = make_graph(pairs, workers)
    if not graph.every_pair:
        _require_one_group(graph.components(), dissimilarities.labels, weighted=weights is not None)
    return pairs


def _with_array(source: Source, W: Array, largest: float) -> Pairs | Edges:
    if source.lists_pairs:
        rows, columns, delta = source.stored_pairs()
        return list_edges(source.n, rows, columns, delta, W[rows, columns].astype(np.float64))
    if source.on_workers:
        raise ValueError(
            "weights is an array with as many numbers as the dissimilarities, which lie on the workers of a cluster; "
            "use weights='sammon' or none, or a sparse matrix of weights for some pairs."
        )
    largest_delta, every_pair = _pairs_that_count(source, W)
    # Brought near 1, like the dissimilarities; only ratios of weights matter to the map.
    factor = power_of_two_near(largest)
    scale = power_of_two_near(largest_delta)
    return Pairs(source, scale, Weighting.ARRAY, W, factor=factor, every_pair=every_pair)


def _with_sparse(source: Source, W: sp.csr_array) -> Edges:
    if source.lists_pairs:
        rows, columns, delta = source.stored_pairs()
        return list_edges(source.n, rows, columns, delta, np.asarray(W[rows, columns]).ravel())
    upper = sp.triu(W, 1).tocoo()
    rows, columns = upper.coords
    return list_edges(source.n, rows, columns, read_entries(source, rows, columns), upper.data)


def _pairs_that_count(source: Source, W: Array) -> tuple[float, bool]:
    """Return the largest dissimilarity of a pair with a positive weight, and whether every pair has one."""
    largest, counted, n = 0.0, 0, source.n
    for rows, strip in strips(source):
        counts = (W[rows] > 0) & ~np.isnan(strip)
        counts[np.arange(len(strip)), np.arange(n)[rows]] = False
        counted += int(np.count_nonzero(counts))
        largest = max(largest, float(np.max(strip, where=counts, initial=0.0)))
    if largest == 0:
        raise ValueError("all dissimilarities with a positive weight are zero or missing; there is nothing to map.")
    return largest, counted == n * (n - 1)


def _require_one_group(component: IntArray, labels: pd.Index | None, *, weighted: bool) -> None:
    """Raise when no pair that counts connects some groups of objects: nothing says how far apart these are."""
    sizes = np.bincount(component)
    if len(sizes) == 1:
        return
    if np.any(sizes == 1):
        alone = int(np.flatnonzero(sizes[component] == 1)[0])
        why = (
            "weight with any other object (all are 0)"
            if weighted
            else "dissimilarity to any other object left (all are NaN)"
        )
        raise ValueError(f"{name_object(labels, alone)} has no {why}; leave it out.")
    members = (np.flatnonzero(component == number) for number in np.argsort(-sizes, kind="stable")[:MOST_GROUPS])
    listed = "; ".join(f"{len(m)} objects ({quote(m if labels is None else labels[m])})" for m in members)
    more = f"; and {len(sizes) - MOST_GROUPS} more groups" if len(sizes) > MOST_GROUPS else ""
    cause = "weights are zero" if weighted else "dissimilarities are missing"
    raise ValueError(
        f"the objects fall into {len(sizes)} groups between which all {cause}: {listed}{more}. Fit each group on its "
        "own, or give some pair between them a dissimilarity and a weight."
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
            MapWarning,
        )
