"""Dissimilarities and weights combined into what the passes read; schemes of weights.

A scheme is a rule with a name, by which pairs count. A new one is a subclass of Scheme with a name and the weight of a
dissimilarity, and a line that registers it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ..checking import (
    Dissimilarities,
    MapWarning,
    align_columns,
    align_rows,
    is_source,
    name_object,
    quote,
    require_real,
    rounding_level,
    warn_user,
)
from ..kernels import (
    ArraySource,
    Edges,
    Pairs,
    Weighting,
    Workers,
    power_of_two_near,
    read_entries,
    square_array,
    strips,
)
from ._graph import make_graph

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 5  # that an error lists
NOTHING_COUNTS = "weights are all zero; at least the pairs that matter need a positive weight."
NO_LENGTH = "all dissimilarities with a positive weight are zero or missing; there is nothing to map."


class Scheme:
    """How pairs are weighted: by their dissimilarities, unless a subclass overrides `build`."""

    name: str | None
    summary: str  # half a sentence for those who choose
    as_table = True  # whether the weights are kept as a square table
    follows_map = False  # whether they change with the map

    def require(self, level: str, n_components: int) -> None:
        """Raise where other parameters of an estimator contradict the scheme."""
        if level != "ratio":
            raise ValueError(
                f"weights={self.name!r} with level={level!r}: these weights need dissimilarities in units that "
                "mean something; use weights=None (or an array in fit), or level='ratio'."
            )

    def weigh(self, delta: Array, smallest: float) -> Array:
        """Return weights, up to a common factor, for dissimilarities in any unit, those of new objects too.

        ``smallest`` is the smallest positive dissimilarity of the fit; one of 0 may count as this.
        """
        raise NotImplementedError

    def of_pairs(self, delta: Array) -> Array:
        """Return the weights of all pairs of a fit, from a list of their dissimilarities."""
        return self.weigh(delta, float(np.min(delta, where=delta > 0, initial=np.inf)))

    def build(self, dissimilarities: Dissimilarities, workers: Workers) -> Pairs | Edges:
        """Return what the passes read: a list if only some pairs are stored, and a table otherwise."""
        source, scale = dissimilarities.source, power_of_two_near(dissimilarities.largest)
        if source.lists_pairs:
            rows, columns, delta = source.stored_pairs()
            weight = np.where(np.isnan(delta), 0.0, self.of_pairs(delta.astype(np.float64) * scale))
            require_weights(weight, rows, columns, dissimilarities.labels)
            return list_edges(source.n, rows, columns, delta, weight)
        D, smallest = square_array(source, f"weights={self.name!r}", "use weights=None"), source.sums(1.0).least
        W = np.where(np.isnan(D), 0.0, self.weigh(D * scale, smallest * scale))
        np.fill_diagonal(W, 0.0)
        pairs = weighted_pairs(dissimilarities, W, workers)
        return replace(pairs, floor=smallest * pairs.scale)  # for the weights of new objects

    def refine(self, problem: Any, stage: Any, workers: Workers, settings: Any) -> tuple[Any, float | None]:
        """Go on from the best start where weights follow the map; return the last stage, and their radius if any."""
        return stage, None


class Equal(Scheme):
    """Every pair counts the same."""

    as_table = False
    name: str | None = None
    summary = "every pair counts the same"

    def require(self, level: str, n_components: int) -> None:
        """Accept every parameter."""

    def weigh(self, delta: Array, smallest: float) -> Array:
        return np.ones_like(delta)

    def build(self, dissimilarities: Dissimilarities, workers: Workers) -> Pairs | Edges:
        """Return pairs whose weights are not stored but computed in each pass."""
        if dissimilarities.source.lists_pairs:
            return super().build(dissimilarities, workers)
        scale, missing = power_of_two_near(dissimilarities.largest), dissimilarities.missing
        weighting = Weighting.MASKED if missing else Weighting.UNIT
        sums = None if dissimilarities.sums is None else dissimilarities.sums.scaled(scale)
        return Pairs(dissimilarities.source, scale, weighting, every_pair=not missing, sums=sums)


class Sammon(Equal):
    """1 / (delta * sum of delta), where a dissimilarity of 0 counts as the smallest positive one."""

    name = "sammon"
    summary = "small dissimilarities count more, each by its reciprocal"
    require = Scheme.require

    def weigh(self, delta: Array, smallest: float) -> Array:
        return np.asarray(1.0 / np.maximum(delta, smallest))

    def of_pairs(self, delta: Array) -> Array:
        return super().of_pairs(delta) / float(np.nansum(delta))

    def build(self, dissimilarities: Dissimilarities, workers: Workers) -> Pairs | Edges:
        pairs = super().build(dissimilarities, workers)
        if isinstance(pairs, Edges):
            return pairs
        sums = pairs.sums
        if sums is None:
            sums = pairs.source.sums(pairs.scale)
        return replace(pairs, weighting=Weighting.SAMMON, floor=sums.least, factor=1.0 / sums.lengths, sums=sums)


SCHEMES: dict[str | None, Scheme] = {}


def register_scheme(scheme: Scheme) -> None:
    """Offer a scheme by its name, wherever one is chosen."""
    SCHEMES[scheme.name] = scheme


register_scheme(Equal())
register_scheme(Sammon())


def build_pairs(dissimilarities: Dissimilarities, scheme: str | None, weights: Any, workers: Workers) -> Pairs | Edges:
    """Combine dissimilarities and weights into what the passes read; raise if they do not connect all objects."""
    if scheme is not None and weights is not None:
        raise ValueError(
            f"weights={scheme!r} asks for a scheme and fit received an array of weights; choose one of them."
        )
    if weights is None:
        pairs = SCHEMES[scheme].build(dissimilarities, workers)
    else:
        pairs = weighted_pairs(dissimilarities, weights, workers)
    graph = make_graph(pairs, workers)
    if not graph.every_pair:
        weighted = weights is not None or not isinstance(SCHEMES[scheme], Equal)
        _require_one_group(graph.components(), dissimilarities.labels, weighted=weighted)
    return pairs


def _require_one_group(component: IntArray, labels: pd.Index | None, *, weighted: bool) -> None:
    """Raise when no pair that counts connects some groups of objects: their distances are not determined."""
    sizes = np.bincount(component)
    if len(sizes) == 1:
        return
    for alone in np.flatnonzero(sizes[component] == 1)[:1]:
        why = "weight with any other object (all are 0)" if weighted else "dissimilarity to any other object left"
        raise ValueError(f"{name_object(labels, int(alone))} has no {why}; leave it out.")
    members = (np.flatnonzero(component == number) for number in np.argsort(-sizes, kind="stable")[:MOST_GROUPS])
    listed = "; ".join(f"{len(m)} objects ({quote(m if labels is None else labels[m])})" for m in members)
    cause = "weights are zero" if weighted else "dissimilarities are missing"
    raise ValueError(
        f"the objects fall into {len(sizes)} groups between which all {cause}: {listed}"
        f"{f'; and {len(sizes) - MOST_GROUPS} more groups' * (len(sizes) > MOST_GROUPS)}. Fit each group on its own, "
        "or give some pair between them a dissimilarity and a weight."
    )


def warn_of_few_pairs(pairs: Pairs | Edges, dimensions: int, labels: pd.Index | None) -> None:
    """Warn of objects that have no more pairs than dimensions, which do not hold them in one place."""
    graph = make_graph(pairs, Workers())
    if graph.every_pair:
        return
    counts = graph.pair_counts()
    few = np.flatnonzero(counts <= dimensions)
    if len(few):
        named = ", ".join(f"{name_object(labels, int(i))} ({counts[i]})" for i in few[:5])
        warn_user(
            f"few dissimilarities hold these objects in place, no more than there are dimensions ({dimensions}): "
            f"{named}{f' and {len(few) - 5} more' * (len(few) > 5)}. Do not read much into where they are.",
            MapWarning,
        )


# ---- weights that were given


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
