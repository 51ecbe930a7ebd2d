"""Some random references at a time instead of all pairs: for more objects than can be compared with each other."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .. import kernels
from .._typing import Array, IntArray
from ..kernels import ReferenceSums, SampledPairs, Weighting, Workers, rectangle, strip_reader
from ..problem import WeightGraph
from ._table import Engine, arithmetic_of

REFERENCES = 128  # of one draw
# One look at independent pairs: random objects in blocks, each block against the next. All objects count the same, so
# that an object that fits badly adds little variation, and looks are independent of each other.
SIDE, BLOCKS = 96, 100
# So many looks, and as many again if their standard error is too large. Stopping as soon as it happens to be small
# would report too small an error.
LOOKS = 16
ACCURACY = 1e-3  # relative standard error with which the stress is reported, unless that takes too many looks
ROWS = 256  # stand for the looks where single entries cannot be read
# So many objects with the largest dissimilarities, and with the largest errors, are not left to chance: one object far
# away can have most of the sum of squares.
FAR = 16
SAMPLED_PARTNERS = 4096  # objects that stand for all partners of one, about as many as the last steps used
READ_AT_ONCE = 4096  # objects whose dissimilarities to some references are in memory


class Estimate(NamedTuple):
    """A ratio of sums over all pairs, estimated from some, and its standard error."""

    value: float
    error: float


class SampledEngine(Engine):
    """Estimates of the passes from the pairs of all objects with some references.

    ``draw`` takes the next references from a random order of those there are; until then every pass uses the same, so
    that two places can be compared. The stress and its gradient are scaled up to all pairs.
    """

    one_thread = False

    def __init__(self, pairs: SampledPairs, workers: Workers) -> None:
        self.pairs, self.workers = pairs, workers
        self.n, self.scale = pairs.n, pairs.scale
        self._dtype = arithmetic_of(pairs)
        self._walks, self._looks, self.places = np.random.default_rng(pairs.seed).spawn(3)
        self._order: IntArray = np.empty(0, dtype=np.int64)
        self.draw()
        readable = pairs.source.references  # the only rows that can be read
        self._objects: IntArray = np.arange(self.n) if readable is None else readable
        self._by_rows = readable is not None or not pairs.source.by_number
        self.total = self._mean_size() * self.n * (self.n - 1) / 2
        self.graph = SampledGraph(self)
        self.each: Array = np.empty(0)  # stress of each reference in the last pass, scaled up to all pairs

    def draw(self, count: int = REFERENCES) -> None:
        """Go on to the next references; an object comes again after all others."""
        if len(self._order) < count:
            self._order = np.concatenate([self._order, self._walks.permutation(self.pairs.pool)])
        drawn, self._order = self._order[:count], self._order[count:]
        self._references: IntArray = np.unique(drawn)  # one order's end and the next one's beginning may share some

    def sums(self, Z: Array) -> ReferenceSums:
        """Return the sums over the pairs with the present references."""
        Z = Z.astype(self._dtype, copy=False)
        found: ReferenceSums = kernels.references.reference_pass(self.pairs, self._references, Z, self.workers)
        _require_complete(found.stresses, Z)
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
        """Return the stress as a share of the dissimilarities' sum of squares, from pairs that no step has chosen."""
        far = self._far(Z)
        known, others = self._with_far(far, Z) if len(far) else 0.0, np.setdiff1d(self._objects, far)
        rest = self.n - len(far)
        scale = rest * ((self.n if self._by_rows else rest) - 1) / 2  # pairs that the mean of a look, or of rows, is of

        def look() -> Array:
            looks = range(1 if self._by_rows else LOOKS)
            return known + scale * np.concatenate([self._look(Z, others) for _ in looks])

        found = look()
        if not self._by_rows and (first := _ratio(*found.T)).error > ACCURACY * first.value:
            found = np.concatenate([found, look()])
        estimate = _ratio(*found.T)
        left_out = 1.0 - len(found) / len(others) if self._by_rows else 1.0
        return Estimate(estimate.value, estimate.error * float(np.sqrt(left_out)))

    def _far(self, Z: Array) -> IntArray:
        """Return the objects whose dissimilarities, or errors, to the present references are the largest.

        None where only some rows exist: the stress is then of these, and all of them may be read.
        """
        if len(self._objects) < self.n:
            return self._objects[:0]
        return np.unique([np.argsort(self.sums(at).shares)[-FAR:] for at in (np.zeros((self.n, 1)), Z)])

    def _with_far(self, far: IntArray, Z: Array) -> Array:
        """Return the errors and sizes of all pairs with some objects; half of those that sampled rows count too."""
        self._references = far
        found = self.sums(Z)
        within = self._rectangles(far[None], far[None], Z) / 2
        across = np.array([found.stresses.sum(), found.sizes.sum()]) - 2 * within
        return np.asarray(within + across / 2 if self._by_rows else within + across)

    def _mean_size(self) -> float:
        """Return the mean of w delta^2 over pairs."""
        return float(self._look(np.zeros((self.n, 1)), self._objects)[:, 1].mean())

    def _look(self, Z: Array, objects: IntArray) -> Array:
        """Return the mean weighted squared error and size of a pair in one look, or in some rows, each in a row."""
        if self._by_rows:
            self._references = np.sort(self._looks.choice(objects, min(ROWS, len(objects)), replace=False))
            found = self.sums(Z)
            return np.column_stack([found.stresses, found.sizes]) / (self.n - 1)
        rows = self._looks.choice(objects, (min(BLOCKS, len(objects) // SIDE), SIDE), replace=False)
        return self._rectangles(rows, np.roll(rows, 1, axis=0), Z)[None] / (rows.size * SIDE)

    def _rectangles(self, rows: IntArray, columns: IntArray, Z: Array) -> Array:
        """Return the weighted squared errors and sizes of some rectangles of the table, summed."""
        Z = np.ascontiguousarray(Z, dtype=self._dtype)
        sums = kernels.references.rectangle_sums(self.pairs, rows, columns, Z, self.workers)
        _require_complete(sums[0], Z)
        return np.array([part.sum() for part in sums])


def _ratio(errors: Array, sizes: Array) -> Estimate:
    """Return a ratio of means, and its standard error: the variation of the residuals errors - value * sizes."""
    value = float(errors.sum() / sizes.sum())
    return Estimate(value, float(np.std(errors - value * sizes, ddof=1) / np.sqrt(len(errors)) / sizes.mean()))


def _require_complete(found: Array, Z: Array) -> None:
    """Raise on a missing dissimilarity, which a look at some objects may not have met."""
    if np.isnan(found).any() and np.isfinite(Z).all():
        raise ValueError(
            "some dissimilarities are missing (NaN) and solver='stochastic' needs all of them; use solver='lbfgs', or "
            "fill them."
        )


class SampledGraph(WeightGraph):
    """The graph of pairs that are read with some references at a time: what depends on weights is estimated."""

    every_pair = True

    def __init__(self, engine: SampledEngine) -> None:
        self._engine, self.n = engine, engine.n
        self.unit_weights = engine.pairs.weighting == Weighting.UNIT
        self._references, self._partners = (self._some(number) for number in (2 * REFERENCES, SAMPLED_PARTNERS))

    def _some(self, number: int) -> IntArray:
        pool = self._engine.pairs.pool
        return np.sort(self._engine.places.choice(pool, min(number, len(pool)), replace=False))

    def _weights(self, delta: Array) -> Array:
        pairs = self._engine.pairs
        return np.ones_like(delta) if self.unit_weights else pairs.factor / np.maximum(delta, pairs.floor)

    @cached_property
    def degrees(self) -> Array:
        if self.unit_weights:
            return np.full(self.n, float(self.n))
        return np.asarray(self._weighted(np.ones((self.n, 1)))[:, 0])

    def laplacian(self, X: Array) -> Array:
        if self.unit_weights:
            return np.asarray(self.n * X - X.sum(axis=0))
        return np.asarray(self.degrees[:, None] * X - self._weighted(X))

    def _weighted(self, X: Array) -> Array:
        """Return the sums over all others of an object's weights times X, estimated."""
        pairs, chosen = self._engine.pairs, self._references
        strip, out = strip_reader(pairs.source, chosen), np.empty(X.shape)
        for first in range(0, self.n, READ_AT_ONCE):
            objects = slice(first, min(first + READ_AT_ONCE, self.n))
            W = self._weights(strip(objects).astype(np.float64) * pairs.scale)
            W[chosen[:, None] == np.arange(first, objects.stop)] = 0.0
            out[objects] = W.T @ X[chosen]
        return out * (self.n / len(chosen))

    def pairs_of(self, rows: IntArray) -> tuple[IntArray, Array, Array]:
        """Return some partners of some objects, and the weights and dissimilarities of their pairs, an object a row."""
        delta = rectangle(self._engine.pairs.source, rows, self._partners).astype(np.float64) * self._engine.scale
        return self._partners, self._weights(delta), delta

    def pair_counts(self) -> IntArray:
        return np.full(self.n, self.n - 1)

    def components(self) -> IntArray:
        return np.zeros(self.n, dtype=np.int64)
