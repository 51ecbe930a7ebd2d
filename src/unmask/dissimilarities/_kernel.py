"""Distances in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import validate_data

from .._typing import Array
from ..checking import labels_of, require_features
from ._base import DissimilarityTransformer

# Squared distances this far below 0, relative to the largest, are not rounding.
ROUNDING = 1e-9


@dataclass(eq=False, repr=False, kw_only=True)
class KernelDissimilarity(DissimilarityTransformer):
    """Distances between objects in the feature space of a kernel; their classical map is kernel PCA.

    ``d_ij = sqrt(k_ii - 2 k_ij + k_jj)`` for a positive semi-definite kernel k, also for new objects. `X` holds
    features, (n_objects, n_features).

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in :func:`sklearn.metrics.pairwise.pairwise_kernels`: ``"linear"``, ``"poly"``, ``"rbf"``, ``"laplacian"``,
        ``"cosine"`` …, or a function of two rows.
    kernel_params : dict, optional
        Further arguments of the kernel, for example ``{"gamma": 0.1}``.

    Attributes
    ----------
    dissimilarities_, covariance_ : ndarray of shape (n_objects, n_objects)
        Distances in feature space, and the kernel between the objects, not centred.

    References
    ----------
    B. Schölkopf, A. Smola and K.-R. Müller, "Nonlinear component analysis as a kernel eigenvalue problem", Neural
    Computation, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import KernelDissimilarity
    >>> points = np.array([[0.0], [1.0], [9.0]])
    >>> KernelDissimilarity("rbf", kernel_params={"gamma": 1.0}).fit_transform(points)[0].round(2)
    array([0.  , 1.12, 1.41])
    """

    kernel: Any = field(default="rbf", kw_only=False)
    kernel_params: dict[str, Any] | None = None

    def _fit(self, X: Any) -> None:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' is not offered, since new objects would need their kernel with themselves; turn "
                "the table into dissimilarities by similarity_to_dissimilarity."
            )
        require_features(X)
        self._labels = labels_of(X)
        self._fit_X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        K = self._kernel(self._fit_X, self._fit_X)
        self._fit_own = own = np.diagonal(K).copy()
        squared = own[:, None] - (K + K.T) + own
        np.fill_diagonal(squared, 0.0)
        self.covariance_ = K
        self.dissimilarities_ = self._roots(squared)

    def _new(self, X: Any) -> tuple[Array, Any]:
        new = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        own = np.array([self._kernel(row[None, :], row[None, :])[0, 0] for row in new])
        squared = own[:, None] - 2 * self._kernel(new, self._fit_X) + self._fit_own
        # The square root would enlarge the rounding error between equal objects.
        for row, values in enumerate(new):
            squared[row, (self._fit_X == values).all(axis=1)] = 0.0
        return self._roots(squared), labels_of(X)

    def _kernel(self, A: Array, B: Array) -> Array:
        A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
        params = self.kernel_params or {}
        return np.asarray(pairwise_kernels(A, B, metric=self.kernel, **params), dtype=np.float64)

    def _roots(self, squared: Array) -> Array:
        if squared.min() < -ROUNDING * np.abs(squared).max():
            raise ValueError(
                f"kernel={self.kernel!r} gives a negative squared distance ({squared.min():g}), so it is not positive "
                "semi-definite; choose another kernel or other kernel_params."
            )
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))
