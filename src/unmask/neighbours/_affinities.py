"""How strongly neighbours are drawn to each other: the affinities of t-SNE and of UMAP, for balanced graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import curve_fit

from .._typing import Array, IntArray
from ..graphs import Nearest

NEIGHBOURS_PER_PERPLEXITY = 3
# An object has at most this share of its neighbours as perplexity: with all of them there is no bandwidth.
MOST_OF_THEM = 0.9


@dataclass(frozen=True)
class TSNE:
    """Student's kernel and the Kullback-Leibler divergence."""

    perplexity: float
    exaggeration: float

    @property
    def n_neighbors(self) -> int:
        return round(NEIGHBOURS_PER_PERPLEXITY * self.perplexity)

    def weigh(self, near: Nearest, asked: int) -> Array:
        """Return weights whose entropy is that of so many equal ones; a stratum counts by its size."""
        from ._forces import bandwidths

        number = near.lengths.shape[1]
        perplexity = max(1.0, min(self.perplexity * number / asked, MOST_OF_THEM * number))
        weights = bandwidths(near.lengths.astype(np.float64) ** 2, np.log(perplexity), entropy=True)
        return np.asarray(weights * near.share)

    def join(self, there: Any, back: Any) -> Any:
        return (there + back) / 2.0


@dataclass(frozen=True)
class UMAP:
    """The smooth kernel 1 / (1 + a d^2b) and the cross entropy."""

    n_neighbors: int
    min_dist: float
    spread: float

    @cached_property
    def curve(self) -> tuple[float, float]:
        """A and b with which the kernel is about 1 up to ``min_dist`` and falls like exp(-d / spread) beyond."""
        d = np.linspace(0.0, 3.0 * self.spread, 300)
        aim = np.where(d < self.min_dist, 1.0, np.exp(-(d - self.min_dist) / self.spread))
        (a, b), _ = curve_fit(lambda d, a, b: 1.0 / (1.0 + a * d ** (2.0 * b)), d, aim)
        return float(a), float(b)

    def weigh(self, near: Nearest, asked: int) -> Array:  # noqa: ARG002
        """Return weights that are 1 for the nearest and add up to the logarithm of the number."""
        from ._forces import bandwidths

        target = np.log2(near.lengths.shape[1] + 1.0)
        return np.asarray(bandwidths(near.lengths.astype(np.float64), target, entropy=False))

    def join(self, there: Any, back: Any) -> Any:
        return there + back - there.multiply(back)


Model = TSNE | UMAP


def directed_affinities(found: Iterable[Nearest], model: Model, asked: int, shape: tuple[int, int]) -> sp.csr_array:
    """Return how much each row is drawn to its neighbours, with a bandwidth for each row and stratum."""
    parts = [(near, model.weigh(near, asked)) for near in found]
    if not parts:
        return sp.csr_array(shape, dtype=np.float64)
    rows = np.concatenate([np.repeat(near.rows, near.neighbours.shape[1]) for near, _ in parts])
    columns = np.concatenate([near.neighbours.ravel() for near, _ in parts])
    values = np.concatenate([weights.ravel() for _, weights in parts])
    kept = values > 0.0
    return sp.csr_array((values[kept], (rows[kept], columns[kept])), shape=shape)


def affinities(
    found: Iterable[Nearest], model: Model, asked: int, strata: IntArray, *, mutual: bool = True
) -> sp.csr_array:
    """Return symmetric affinities whose rows add up to 1 on average.

    Within a stratum they are joined as in t-SNE or UMAP. ``mutual``: objects of different strata are drawn to each
    other only if each is a neighbour of the other, so that levels are aligned where they overlap and nowhere else.
    """
    n = len(strata)
    there = directed_affinities(found, model, asked, (n, n))
    back = there.T.tocsr()
    joint = model.join(there, back).tocoo()
    i, j, values = joint.row, joint.col, joint.data
    if mutual and strata.max(initial=0) > 0:
        both = there.multiply(back).sqrt().tocoo()
        within, across = strata[i] == strata[j], strata[both.row] != strata[both.col]
        i, j = np.concatenate([i[within], both.row[across]]), np.concatenate([j[within], both.col[across]])
        values = np.concatenate([values[within], both.data[across]])
    graph = sp.csr_array((values.astype(np.float32), (i, j)), shape=(n, n))
    graph.sort_indices()
    graph.data *= np.float32(n / max(float(graph.data.sum(dtype=np.float64)), 1e-300))
    return graph
