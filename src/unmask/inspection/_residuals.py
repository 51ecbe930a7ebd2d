"""Residuals of a fit, from which new dissimilarities are made by resampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from .._typing import Array, IntArray
from ..estimators import aims_of
from ._fits import FitSetup


class TooFewPairsError(ValueError):
    """A fit has as many parameters as there are pairs, and leaves no residuals."""


@dataclass(frozen=True)
class Residuals:
    """Fitted distances and residuals of the pairs that have a dissimilarity.

    The residuals are a little larger than the fit left them: a fit with k parameters leaves a share 1 - k/m of the
    noise of m pairs.
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
        """Return dissimilarities that depend on the distances as those fitted do, with their noise in random order.

        Noise is what is left by a line ``a + b d``, a and b at least 0, and relative to it. Distances that fit have the
        line d. If the distances say nothing, the line is level, and the dissimilarities themselves are in random order.
        Noise around d itself would be huge for pairs that happen to be near, and of data that are nothing but noise
        five dimensions were chosen; a rising function instead of a line follows the noise.
        """
        d = self.distances[self.rows, self.columns]
        given = np.maximum(d + self.values, 0.0)
        basis = np.column_stack([np.ones_like(d), d])
        mean = basis @ nnls(basis, given)[0]
        relative = np.divide(given, mean, out=np.ones_like(d), where=mean > 0)
        return self._table(mean * rng.permutation(relative) - d)

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
