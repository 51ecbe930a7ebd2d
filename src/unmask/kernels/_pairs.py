"""What a pass reads for each pair of objects: a dissimilarity and a rule for its weight."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import Array, IntArray
from ._sources import Source, Sums, read_only

Rule = tuple[int, float, float, float]  # weighting, scale, floor, factor: how a dissimilarity is scaled and weighted


class Weighting(IntEnum):
    """How the weight of a pair is found; integers because compiled code branches on them."""

    UNIT = 0  # 1 for every pair; no dissimilarity is missing
    MASKED = 1  # 1, or 0 where the dissimilarity is NaN
    SAMMON = 2  # 1 / (delta * sum of delta), computed from delta: no N x N array of weights
    ARRAY = 3  # given, and 0 where the dissimilarity is NaN


# A rectangle of the table for compiled code: dissimilarities, weights (None where all are 1), and the rule.
Part = tuple[Array, Array | None, int, float, float, float]


@dataclass(frozen=True)
class Pairs:
    """Dissimilarities and weights of all pairs, as a square table that the passes read; `Edges` is the list.

    ``scale`` is a power of two that brings the dissimilarities near 1, applied while reading: squares can then
    neither overflow nor vanish, the user's array is not copied, and no rounding is added.
    """

    source: Source
    scale: float
    weighting: Weighting = Weighting.UNIT
    W: Any = None  # weights of all pairs, where they are given
    floor: float = 0.0  # smallest positive (scaled) dissimilarity, as which 0 counts for Sammon's weights
    factor: float = 1.0  # multiplies every weight; for Sammon 1 / sum of delta
    every_pair: bool = False  # no pair is missing or without weight, as far as is known
    sums: Sums | None = None  # of the scaled dissimilarities whatever their weights, if they were seen before

    @cached_property
    def n(self) -> int:
        return self.source.n

    @cached_property
    def rule(self) -> Rule:
        """How a dissimilarity is scaled and weighted, for compiled code."""
        return int(self.weighting), self.scale, self.floor, self.factor

    def part(self, rows: slice, columns: slice, desk: Array | None = None) -> Part:
        """Return a rectangle of the table for compiled code, read into the array ``desk`` if there is one."""
        if desk is not None:
            self.source.fill(rows, columns, desk)
        D = read_only(self.source.tile(rows, columns) if desk is None else desk, self.source.dtype)
        if self.weighting == Weighting.UNIT:
            return D, None, *self.rule
        given = self.weighting == Weighting.ARRAY
        return D, read_only(self.W[rows, columns] if given else np.empty((1, 0))), *self.rule

    @cached_property
    def whole(self) -> Part:
        """The whole table for compiled code; another source than an array is read once."""
        return self.part(slice(0, self.n), slice(0, self.n))

    def listed(self) -> tuple[IntArray, IntArray, Array, Array]:
        """Return the two objects of every pair, its dissimilarity in the user's units, NaN if missing, and its weight.

        A scheme's weights, which follow the dissimilarities, are not among them: all are 1.
        """
        rows, columns = np.triu_indices(self.n, 1)
        delta = self.whole[0][rows, columns].astype(np.float64)
        given = self.weighting == Weighting.ARRAY
        return rows, columns, delta, self.W[rows, columns].astype(np.float64) if given else np.ones(len(delta))


@dataclass(frozen=True)
class SampledPairs(Pairs):
    """Pairs of which only those with some references are read at a time, drawn anew for every step from a pool."""

    seed: int = 0
    some: IntArray | None = None  # the pool, if not all objects are in it

    @cached_property
    def pool(self) -> IntArray:
        return np.arange(self.n) if self.some is None else self.some


class ReferenceSums(NamedTuple):
    """Sums over the pairs of all objects with some references.

    ``G`` is the half-gradient in Z, ``shares`` each object's weighted squared error, ``stresses`` and ``sizes`` each
    reference's weighted squared error and sum of squares; NaN where a dissimilarity is missing.
    """

    G: Array
    shares: Array
    stresses: Array
    sizes: Array


@dataclass(frozen=True)
class Edges:
    """Dissimilarities and weights of the pairs that count, as a list that the passes read; `Pairs` is the table."""

    n: int
    rows: IntArray
    columns: IntArray  # rows < columns
    delta: Array  # scaled
    weight: Array
    scale: float
    floor: float = 0.0  # smallest positive (scaled) dissimilarity
    weighting = Weighting.ARRAY

    def listed(self) -> tuple[IntArray, IntArray, Array, Array]:
        """Return the two objects of every pair, its dissimilarity in the user's units, and its weight."""
        return self.rows, self.columns, self.delta / self.scale, self.weight

    def symmetric(self, values: Array) -> sp.csr_array:
        """Return the symmetric sparse matrix with these values on the edges."""
        upper = sp.csr_array((values, (self.rows, self.columns)), shape=(self.n, self.n))
        return sp.csr_array(upper + upper.T)


def power_of_two_near(value: float) -> float:
    """Return the reciprocal power of two of ``value``'s size: multiplying by it is exact."""
    return float(2.0 ** -np.round(np.log2(value)))
