"""Residuals of a fit, from which new dissimilarities are made by resampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..estimators import aims_of
from ._fits import FitSetup


class TooFewPairsError(ValueError):
    """A fit has at least as many parameters as there are pairs, so that it leaves no residuals."""


@dataclass(frozen=True)
class Residuals:
    """Fitted distances and residuals of the pairs that have a dissimilarity.

    The residuals are enlarged, because a fit with k parameters leaves a share 1 - k/m of the noise of m pairs.
    """

    distances: Array  # N x N, NaN where missing
    rows: IntArray
    columns: IntArray
    values: Array

    def _table(self, values: Array) -> Array:
        D = self.distances.copy()
        D[self.rows, self.columns] = np.maximum(D[self.rows, self.columns] + values, 0.0)
        D[self.columns, self.rows] = D[self.rows, self.columns]
        return D

    def permuted(self, rng: Any) -> Array:
        """Return dissimilarities with the residuals, relative to the distances, in random order.

        If one distance for all pairs would describe the dissimilarities better, the dissimilarities are permuted. In
        pure noise, the residual of a near pair is many times its distance, and tests against such residuals found
        dimensions in nearly every set.
        """
        d = self.distances[self.rows, self.columns]
        given = d + self.values
        if np.sum(self.values**2) >= np.sum((given - given.mean()) ** 2):
            return self._table(rng.permutation(given) - d)
        relative = np.divide(self.values, d, out=np.zeros_like(d), where=d > 0)
        return self._table(d * rng.permutation(relative))

    def wild(self, rng: Any) -> Array:
        """Return dissimilarities with a random sign for each residual, whatever its variance (a wild bootstrap)."""
        return self._table(self.values * rng.choice([-1.0, 1.0], size=len(self.values)))


def make_residuals(setup: FitSetup, fitted: Any) -> Residuals:
    """Return the residuals of a fit; of None, those of all objects in one place."""
    if fitted is None:
        distances, aims = np.zeros_like(setup.D), setup.D
    else:
        distances, aims = fitted.predict_dissimilarities().to_numpy().copy(), aims_of(fitted, setup.D)
    distances[np.isnan(setup.D)] = np.nan
    np.fill_diagonal(distances, 0.0)
    i, j = np.triu_indices(setup.n, 1)
    present = np.isfinite(setup.D[i, j]) & np.isfinite(distances[i, j])
    i, j = i[present], j[present]
    parameters = 0
    if fitted is not None:
        p = fitted.n_free_
        parameters = setup.n * p - p * (p + 1) // 2 + int(np.count_nonzero(np.tril(fitted.coef_.to_numpy())))
    left = 1 - parameters / max(len(i), 1)
    if left <= 0:
        raise TooFewPairsError(
            f"{len(i)} pairs are no more than the {parameters} parameters of the fit, which leaves no residuals to "
            "judge by; lower n_components."
        )
    return Residuals(distances, i, j, (aims[i, j] - distances[i, j]) / np.sqrt(left))
