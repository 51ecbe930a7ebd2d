"""Some random references at a time instead of all pairs: for more objects than can be compared with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import ReferenceSums, SampledPairs, Weighting, Workers, reads_by_number, rectangle
from ..problem import WeightGraph
from ._table import SINGLE_PRECISION_FROM

REFERENCES = 128  # of one draw
# A look at pairs apart from the steps: rectangles of so many by so many objects, drawn independently of each other.
SIDE = 16
RECTANGLES = 2000  # looked at together
MOST_RECTANGLES = 32_000
ACCURACY = 1e-3  # relative standard error with which the stress is reported, unless that takes too many rectangles
# Of a source that gives whole rows only, so many rows stand for the rectangles.
ROWS = 256
FEW = 256  # objects of which all pairs are read, where it is these that are asked about
TOGETHER = 4096  # objects whose pairs with some others are looked at together


class Estimate(NamedTuple):
    """A ratio of sums over all pairs, estimated from some, and its standard error."""

    value: float
    error: float


class SampledEngine:
    """Estimates of the passes from the pairs of all objects with some references.

    ``draw`` takes the next references from a random order of the objects; until then every pass uses the same, so that
    two places can be compared. The stress and its gradient are scaled up to all pairs.
    """

    majorises = True
    one_thread = False

    def __init__(self, pairs: SampledPairs, workers: Workers) -> None:
        self.pairs, self.workers = pairs, workers
        self.n, self.scale = pairs.n, pairs.scale
        single = pairs.source.dtype == np.float32 and pairs.n >= SINGLE_PRECISION_FROM and 1e-30 < pairs.scale < 1e30
        self._dtype = np.dtype(np.float32 if single else np.float64)
        self._walks, self._looks, self.places = np.random.default_rng(pairs.seed).spawn(3)
        self._order: IntArray = np.empty(0, dtype=np.int64)
        self._references: IntArray = np.empty(0, dtype=np.int64)
        self.draw()
        self.total = self._mean_size() * self.n * (self.n - 1) / 2
        self.graph: WeightGraph = SampledGraph(self)
        self.each: Array = np.empty(0)  # stress of each reference in the last pass, scaled up to all pairs

    def draw(self, count: int = REFERENCES) -> None:
        """Go on to the next references, an object no sooner again than all others had their turn."""
        if len(self._order) < count:
            self._order = np.concatenate([self._order, self._walks.permutation(self.n)])
        drawn, self._order = self._order[:count], self._order[count:]
        self._references = np.unique(drawn)  # in order, and once: at the end of one walk and the beginning of the next

    def sums(self, Z: Array) -> ReferenceSums:
        """Return what the pairs with the present references say, as it is."""
        run = getattr(self.pairs.source, "reference_pass", None) or kernels.references().reference_pass
        found: ReferenceSums = run(self.pairs, self._references, Z.astype(self._dtype, copy=False), self.workers)
        counted = self.pairs.weighting != Weighting.UNIT or found.degrees.sum() == len(self._references) * (self.n - 1)
        _require_complete(counted)
        return found

    @property
    def times(self) -> float:
        """What a sum over references is multiplied by to stand for all objects."""
        return self.n / len(self._references)

    def stress(self, Z: Array) -> tuple[float, Array]:
        found = self.sums(Z)
        self.each = found.stresses * (self.n / 2.0)
        return float(self.each.mean()), found.G * self.times

    def point_stress(self, Z: Array) -> Array:
        """Return each object's share of twice the stress, estimated from references of its own."""
        self.draw(2 * REFERENCES)
        return self.sums(Z).shares * self.times

    # ---- independent pairs

    def normalised_stress(self, Z: Array) -> Estimate:
        """Return the stress as a share of the dissimilarities' sum of squares, from independent rectangles of pairs."""
        found = np.empty((0, 2))
        while len(found) < MOST_RECTANGLES:
            found = np.concatenate([found, self._look(Z)])
            errors, sizes = found.T
            value = float(errors.sum() / sizes.sum())
            # Of a ratio of means: the variation of the residuals errors - value * sizes.
            spread = float(np.std(errors - value * sizes, ddof=1) / np.sqrt(len(found)) / sizes.mean())
            if spread <= ACCURACY * value or not reads_by_number(self.pairs.source):
                break
        return Estimate(value, spread)

    def _mean_size(self) -> float:
        """Return the mean of w delta^2 over pairs."""
        pairs = SIDE * SIDE if reads_by_number(self.pairs.source) else self.n - 1
        return float(self._look(np.zeros((self.n, 0)))[:, 1].mean()) / pairs

    def _look(self, Z: Array) -> Array:
        """Return the sums of weighted squared errors and sizes over rectangles of pairs, a row each."""
        if not reads_by_number(self.pairs.source):
            self._references = np.sort(self._looks.choice(self.n, min(ROWS, self.n), replace=False))
            found = self.sums(Z)
            return np.column_stack([found.stresses, found.sizes])
        rows, columns = (self._looks.integers(self.n, size=(RECTANGLES, SIDE)) for _ in range(2))
        delta = np.empty((RECTANGLES, SIDE, SIDE))
        for at in range(RECTANGLES):
            delta[at] = rectangle(self.pairs.source, rows[at], columns[at])
        _require_complete(not np.isnan(delta).any())
        delta *= self.scale
        W = np.where(rows[:, :, None] == columns[:, None, :], 0.0, 1.0)
        if self.pairs.weighting == Weighting.SAMMON:
            W *= self.pairs.factor / np.maximum(delta, self.pairs.floor)
        squared = np.zeros_like(delta)
        for column in Z.T:
            squared += (column[rows][:, :, None] - column[columns][:, None, :]) ** 2
        errors, sizes = W * (delta - np.sqrt(squared)) ** 2, W * delta**2
        return np.column_stack([table.sum(axis=(1, 2)) for table in (errors, sizes)])


def _require_complete(complete: bool) -> None:
    """Raise on a missing dissimilarity, which a look at some objects may not have met."""
    if not complete:
        raise ValueError(
            "some dissimilarities are missing (NaN) and solver='stochastic' needs all of them; use solver='lbfgs', or "
            "fill them."
        )


class SampledGraph:
    """The graph of pairs that are read with some references at a time: what depends on weights is estimated."""

    every_pair = True

    def __init__(self, engine: SampledEngine) -> None:
        self._engine, self.n = engine, engine.n
        self.unit_weights = engine.pairs.weighting == Weighting.UNIT

    @cached_property
    def _references(self) -> IntArray:
        return np.sort(self._engine.places.choice(self.n, min(2 * REFERENCES, self.n), replace=False))

    def _strips(self, chosen: IntArray) -> Iterator[tuple[slice, Array, Array]]:
        """Yield the dissimilarities and the weights of some objects' pairs with a stretch of all objects at a time."""
        pairs = self._engine.pairs
        height = TOGETHER if reads_by_number(pairs.source) else self.n
        for first in range(0, self.n, height):
            objects = slice(first, min(first + height, self.n))
            delta = rectangle(pairs.source, chosen, objects).astype(np.float64) * pairs.scale
            W = np.ones_like(delta) if self.unit_weights else pairs.factor / np.maximum(delta, pairs.floor)
            W[chosen[:, None] == np.arange(first, objects.stop)] = 0.0
            yield objects, delta, W

    @cached_property
    def degrees(self) -> Array:
        if self.unit_weights:
            return np.full(self.n, float(self.n))
        sums = np.concatenate([W.sum(axis=0) for _, _, W in self._strips(self._references)])
        return np.asarray(sums * (self.n / len(self._references)))

    def laplacian(self, X: Array) -> Array:
        if self.unit_weights:
            return np.asarray(self.n * X - X.sum(axis=0))
        chosen: IntArray = np.flatnonzero(X.any(axis=1))
        times = 1.0
        if len(chosen) > FEW:
            chosen, times = self._references, self.n / len(self._references)
        out = self.degrees[:, None] * X
        for objects, _, W in self._strips(chosen):
            out[objects] -= times * (W.T @ X[chosen])
        return np.asarray(out)

    def solver(self) -> Callable[[Array], Array]:
        raise NotImplementedError("references know no inverse of H")  # pragma: no cover

    def squared_product(self, X: Array, fill: Array, offset: float) -> Array:  # noqa: ARG002 - none is missing
        """Return squared dissimilarities times X, which has few rows that are not 0: all pairs are never read."""
        chosen, out = np.flatnonzero(X.any(axis=1)), np.zeros(X.shape)
        for objects, delta, _ in self._strips(chosen):
            out[objects] = (delta**2).T @ X[chosen]
        return out

    def observed_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        raise NotImplementedError("all pairs are never listed")  # pragma: no cover

    def pair_counts(self) -> IntArray:
        return np.full(self.n, self.n - 1)

    def components(self) -> IntArray:
        return np.zeros(self.n, dtype=np.int64)
