"""Draws of a posterior: the map, the coefficients, the noise, missing cells, and new dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ..checking import require_package
from ..kernels import plain
from ..solvers import canonical_map
from ._cells import Numbers
from ._model import Model
from ._sampling import Chains

if TYPE_CHECKING:
    import pandas as pd

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
    def V(self) -> Array:  # noqa: N802
        """The known values, with the drawn cells."""
        return self.parts[2]

    @property
    def s(self) -> Array:
        """The noise at the mean dissimilarity, in each draw."""
        return np.exp(self.parts[3])

    @property
    def gamma(self) -> Array:
        """The power of the distance with which the noise grows, in each draw."""
        return self.parts[4]

    @cached_property
    def gram(self) -> Array:
        """BB' in each draw."""
        C = self.parts[1]
        return np.asarray(C @ C.transpose(0, 2, 1))

    @cached_property
    def _maps(self) -> tuple[Array, Array]:
        """The maps as they are shown, and the coefficients A by which the known features act along the free ones."""
        U = self.parts[0] - self.parts[0].mean(axis=1, keepdims=True)
        if not self.adjusted:
            return U, np.zeros((len(self), self.model.known.n_kept, self.model.p))
        V = self.V.copy()
        for cells, _ in self.model.cells:
            if isinstance(cells, Numbers) and cells.measured:  # as measured
                V[:, cells.rows, cells.columns[0]] = cells.mean
        V = V - V.mean(axis=1, keepdims=True)
        A = np.linalg.pinv(V) @ U
        return U - V @ A, A

    @property
    def gram_everywhere(self) -> Array:
        """BB' + AA': the whole effect of the known features, in each draw."""
        A = self._maps[1]
        return np.asarray(self.gram + A @ A.transpose(0, 2, 1))

    @cached_property
    def axes(self) -> Array:
        """All axes of the map: eigenvectors of the mean of UU' times the roots of their eigenvalues."""
        side = self._maps[0].transpose(1, 0, 2).reshape(self.model.evidence.n, -1)
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
        U = self._maps[0]
        left, _, right = np.linalg.svd(U.transpose(0, 2, 1) @ self.axes, full_matrices=False)
        return np.asarray(U @ (left @ right))[:, :, : self.p]

    @cached_property
    def covariances(self) -> Array:
        """The covariance of each object's place about its point on the map."""
        off = self.aligned - self.embedding
        return np.asarray(np.einsum("sni,snj->nij", off, off) / len(self))

    def predict(self, rows: IntArray, columns: IntArray, level: float, seed: int) -> Predicted:
        """Return new judgements of some pairs, as precise as those that were observed, of precision 1 if none was."""
        rng, (U, C, V, *_) = np.random.default_rng(seed), self.parts
        Z = np.concatenate([U, V @ C], axis=2)
        step = max(1, AT_A_TIME // (len(self) * max(Z.shape[2], 1)))
        seen = self.model.evidence
        precision = seen.table(seen.precision, 1.0)[np.minimum(rows, columns), np.maximum(rows, columns)]
        parts = [Predicted(*(np.empty(0),) * 3)]
        for first in range(0, len(rows), step):
            pairs = slice(first, first + step)
            d = np.linalg.norm(Z[:, rows[pairs]] - Z[:, columns[pairs]], axis=2)
            parts.append(self.judged(d, rng, level, precision[pairs]))
        return Predicted(*map(np.concatenate, zip(*parts, strict=True)))

    def judged(self, d: Array, rng: np.random.Generator, level: float, precision: Array | float = 1.0) -> Predicted:
        """Return a judgement for the distances in each draw; of twice the precision, it has half the variance."""
        sd = self.s[:, None] * (d**2 + plain.NEAREST_NOISE**2) ** (self.gamma[:, None] / 2) / np.sqrt(precision)
        return Predicted(d.mean(axis=0), *interval(d + sd * rng.standard_normal(d.shape), level))

    def diagnostics(self) -> pd.DataFrame:
        """Return R-hat and effective sample sizes: one row per kind of quantity, with the worst of its values.

        The kinds are the noise, BB' and the objects' coordinates on maps rotated onto each other. A single chain is
        halved.
        """
        import pandas as pd

        chains, number = self.chains.x.shape[:2]
        shape = (2, number // 2) if chains == 1 else (chains, number)
        each = {"s": self.s, "gamma": self.gamma}
        if self.model.known.n_kept:
            gram = self.gram[:, *np.tril_indices(self.model.known.n_kept)]
            each["coefficients"] = gram[:, gram.std(axis=0) > 0]  # within blocks; 0 elsewhere
        if self.p:
            each["map"] = self.aligned
        az = require_package("arviz", "a posterior", "posterior")
        data = az.convert_to_dataset(
            {name: x[: shape[0] * shape[1]].reshape(*shape, *x.shape[1:]) for name, x in each.items()}
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            tables = {
                "r_hat": (az.rhat(data), np.nanmax),
                "ess_bulk": (az.ess(data, method="bulk"), np.nanmin),
                "ess_tail": (az.ess(data, method="tail"), np.nanmin),
            }
        worst = {name: [float(of(table[name].to_numpy())) for table, of in tables.values()] for name in each}
        return pd.DataFrame.from_dict(worst, orient="index", columns=list(tables))
