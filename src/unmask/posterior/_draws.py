"""Draws of a posterior: the map, the coefficients, the noise, missing cells, and new dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ..kernels import plain
from ..solvers import canonical_map
from ._cells import Numbers
from ._model import Model
from ._sampling import Chains

# Most differences of coordinates, for some pairs in all draws, that are held in memory.
AT_A_TIME = 4_000_000


def interval(each: Array, level: float) -> tuple[Array, Array]:
    """Return the ends of the central interval over draws (the first axis), such that a new draw falls in it."""
    low, high = np.quantile(each, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
    return low, high


class Predicted(NamedTuple):
    """For some pairs the mean distance, and an interval for a new judgement of it, in the model's units."""

    distance: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Draws:
    """Draws of a model's parameters in the model's units, and quantities that do not change when a draw is rotated.

    With ``adjusted``, the part that the known features predict is removed from the map of each draw. ``p`` axes are
    shown.
    """

    model: Model
    chains: Chains
    p: int
    adjusted: bool = False

    def __len__(self) -> int:
        return int(np.prod(self.chains.x.shape[:2]))

    @cached_property
    def parts(self) -> list[Array]:
        """Every parameter, stacked: U, C, V, log s, gamma."""
        flat = self.chains.x.reshape(len(self), -1)
        return [np.array(part) for part in zip(*(self.model.parameters(x) for x in flat), strict=True)]

    @property
    def s(self) -> Array:
        """The noise at the mean dissimilarity, in each draw."""
        return np.exp(self.parts[3])

    @property
    def gamma(self) -> Array:
        """The power of the distance with which the noise grows, in each draw."""
        return self.parts[4]

    @cached_property
    def free(self) -> Array:
        """The maps, centred."""
        U = self.parts[0]
        return np.asarray(U - U.mean(axis=1, keepdims=True))

    @property
    def V(self) -> Array:  # noqa: N802
        """The known values, with the drawn cells."""
        return self.parts[2]

    @cached_property
    def gram(self) -> Array:
        """BB' in each draw."""
        C = self.parts[1]
        return np.asarray(C @ C.transpose(0, 2, 1))

    @cached_property
    def A(self) -> Array:  # noqa: N802
        """How the known features act along the maps: 0 unless adjusted."""
        if not self.adjusted:
            return np.zeros((len(self), self.model.known.n_kept, self.model.p))
        return np.asarray(np.linalg.pinv(self._as_known) @ self.free)

    @cached_property
    def _as_known(self) -> Array:
        """The centred known values, those measured with error as measured."""
        V = self.V.copy()
        for cells, _ in self.model.cells:
            if isinstance(cells, Numbers) and cells.measured:
                V[:, cells.rows, cells.columns[0]] = cells.mean
        return np.asarray(V - V.mean(axis=1, keepdims=True))

    @cached_property
    def shown(self) -> Array:
        """The maps as they are shown: free, or adjusted for the known features."""
        return np.asarray(self.free - self._as_known @ self.A) if self.adjusted else self.free

    @cached_property
    def axes(self) -> Array:
        """All axes of the map: eigenvectors of the mean of UU' times the roots of their eigenvalues."""
        side = self.shown.transpose(1, 0, 2).reshape(self.model.evidence.n, -1)
        values, vectors = np.linalg.eigh(side @ side.T / len(self))
        order = np.argsort(values)[::-1][: self.model.p]
        return canonical_map(vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0)))

    @property
    def embedding(self) -> Array:
        """The map."""
        return self.axes[:, : self.p]

    @cached_property
    def aligned(self) -> Array:
        """The maps, each rotated onto the map as well as possible."""
        left, _, right = np.linalg.svd(self.shown.transpose(0, 2, 1) @ self.axes, full_matrices=False)
        return np.asarray(self.shown @ (left @ right))[:, :, : self.p]

    @cached_property
    def covariances(self) -> Array:
        """The covariance of each object's place about its point on the map."""
        off = self.aligned - self.embedding
        return np.asarray(np.einsum("sni,snj->nij", off, off) / len(self))

    @property
    def gram_everywhere(self) -> Array:
        """BB' + AA': the whole effect of the known features, in each draw."""
        return np.asarray(self.gram + self.A @ self.A.transpose(0, 2, 1))

    def distances(self, rows: IntArray, columns: IntArray) -> Array:
        """Return the distances of some pairs in each draw."""
        U, C, V = self.parts[:3]
        Z = np.concatenate([U, V @ C], axis=2)
        return np.asarray(np.linalg.norm(Z[:, rows] - Z[:, columns], axis=2))

    def predict(self, rows: IntArray, columns: IntArray, level: float, seed: int) -> Predicted:
        """Return new judgements of some pairs, as precise as those that were observed, of precision 1 if none was."""
        rng, axes = np.random.default_rng(seed), self.parts[0].shape[2] + self.parts[1].shape[2]
        step = max(1, AT_A_TIME // (len(self) * max(axes, 1)))
        seen, parts = self.model.evidence, []
        precision = seen.table(seen.precision, 1.0)[np.minimum(rows, columns), np.maximum(rows, columns)]
        for first in range(0, len(rows), step):
            pairs = slice(first, first + step)
            d = self.distances(rows[pairs], columns[pairs])
            low, high = interval(self.judged(d, rng, precision[pairs]), level)
            parts.append((d.mean(axis=0), low, high))
        joined = (np.concatenate(side) for side in zip(*parts, strict=True)) if parts else (np.empty(0),) * 3
        return Predicted(*joined)

    def judged(self, d: Array, rng: np.random.Generator, precision: Array | float = 1.0) -> Array:
        """Return a judgement for each draw's distance; of twice the precision, it has half the variance."""
        sd = self.s[:, None] * (d**2 + plain.NEAREST_NOISE**2) ** (self.gamma[:, None] / 2) / np.sqrt(precision)
        return np.asarray(d + sd * rng.standard_normal(d.shape))
