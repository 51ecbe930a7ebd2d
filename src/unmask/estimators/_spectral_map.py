"""The classical map of any dissimilarities: the last stage of every spectral method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..checking import labels_of, require_integer, with_labels
from ..dissimilarities import SparseSpectral, fitted_labels, make_transformer, set_input_tags
from ..progress import Callback, watching
from ..solvers import axis_signs
from ._base import MapEstimator

if TYPE_CHECKING:
    import pandas as pd


class SpectralAxes(NamedTuple):
    """What new objects are placed by: their products with the fitted ones, times the loadings, are their places."""

    labels: pd.Index | None
    shares: Array  # of the objects' masses
    means: Array  # of the squared dissimilarities; none where these are not made
    loadings: Array


class SpectralMap(MapEstimator):
    """Classical scaling of the dissimilarities that a transformer prescribes.

    With the transformers of :mod:`unmask.dissimilarities` this is Isomap, kernel PCA, Laplacian eigenmaps, locally
    linear embedding, maximum entropy unfolding and so on. To condition on known features, put a conditional estimator
    behind the transformer instead: ``make_pipeline(transformer, ConditionalMDS(metric="precomputed"))``.

    The map is the leading eigenvectors of the double-centred squared dissimilarities, times the roots of their
    eigenvalues; objects are weighted by the transformer's `masses_`, if it has them. Time grows with N cubed, memory
    with N squared; for Laplacian eigenmaps and locally linear embedding the eigenvectors are those of a sparse matrix.

    Parameters
    ----------
    dissimilarity : transformer, str or callable, optional
        Makes dissimilarities, as `metric` of :class:`ConditionalMDS`. By default Euclidean distances, and the map is
        that of principal components.
    n_components : int, default=2
        Dimensions of the map.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map. An axis with a negative eigenvalue is zero.
    eigenvalues_ : ndarray of shape (n_components,)
        Leading eigenvalues of the double-centred squared dissimilarities.
    dissimilarity_ : transformer
        The fitted transformer.
    object_names_, n_features_in_ : ndarray, int
        Labels of the objects (their numbers if they had none), and the number of columns seen in the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask import SpectralMap
    >>> from unmask.dissimilarities import MaximumEntropyUnfolding
    >>> angle = np.linspace(0, 5, 40)
    >>> curve = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> line = SpectralMap(MaximumEntropyUnfolding(n_neighbors=3), n_components=1).fit_transform(curve)
    >>> bool((np.diff(line[:, 0]) < 0).all() or (np.diff(line[:, 0]) > 0).all())  # unrolled
    True
    """

    __metadata_request__fit = {"callback": True}

    def __init__(self, dissimilarity: Any = None, n_components: int = 2) -> None:
        self.dissimilarity = dissimilarity
        self.n_components = n_components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, self._transformer, takes_missing=False)
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> SpectralMap:
        """Find the dissimilarities and their classical map.

        Parameters
        ----------
        X : as the transformer takes
        y : ignored
        callback : callable, optional
            Called with an :class:`unmask.Progress` by a transformer that has stages or iterations; returning True
            stops it.

        Returns
        -------
        self : SpectralMap
        """
        p = require_integer("n_components", self.n_components, 1)
        with watching(callback):
            self.dissimilarity_ = transformer = self._transformer().fit(X)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(transformer, name):
                setattr(self, name, getattr(transformer, name))
        sparse = isinstance(transformer, SparseSpectral)
        n = transformer.graph_.shape[0] if sparse else len(transformer.dissimilarities_)
        if p >= n:
            raise ValueError(
                f"n_components={p} but there are n_samples={n} objects; a map of them has at most {n - 1} dimensions."
            )
        masses = np.asarray(getattr(transformer, "masses_", np.ones(n)), dtype=np.float64)
        shares = masses / masses.sum()
        root, means = np.sqrt(n * shares), np.empty(0)
        if sparse:
            values, axes = transformer.leading_axes(p)
        else:
            squared = np.asarray(transformer.dissimilarities_, dtype=np.float64) ** 2
            if not np.isfinite(squared).all():
                raise ValueError(
                    "some dissimilarities are missing (NaN) and a classical map needs all of them; use ConditionalMDS."
                )
            means = squared @ shares
            # Weighted double centring; with equal masses the usual one.
            products = -0.5 * (squared - means[:, None] - means[None, :] + means @ shares)
            weighted = root[:, None] * products * root[None, :]
            values, axes = (x[..., ::-1] for x in eigh(weighted, subset_by_index=[n - p, n - 1], check_finite=False))
        axes = axes * axis_signs(axes)
        kept = values > n * np.finfo(np.float64).eps * abs(values[0])
        scale = np.sqrt(np.where(kept, values, 0.0))
        self.eigenvalues_: Array = values
        self.embedding_ = axes * scale / root[:, None]
        # New objects are placed by these as fitted ones would be.
        loadings = root[:, None] * axes * np.divide(1.0, scale, out=np.zeros_like(scale), where=kept)
        self._map = SpectralAxes(fitted_labels(transformer, X), shares, means, loadings)
        return self

    def transform(self, X: Any) -> Array:
        """Place new objects by their dissimilarities to the fitted ones (Gower's formula); the map does not change."""
        check_is_fitted(self)
        if isinstance(self.dissimilarity_, SparseSpectral):  # a new object is a weighted mean of fitted ones
            weights, labels = self.dissimilarity_.new_weights(X)
            places = np.asarray(weights @ self.embedding_)
        else:
            squared = np.asarray(self.dissimilarity_.transform(X), dtype=np.float64) ** 2
            products = -0.5 * (squared - self._map.means)
            products -= (products @ self._map.shares)[:, None]
            places, labels = products @ self._map.loadings, labels_of(X)
        labelled: Array = with_labels(self, places, labels)
        return labelled

    def _transformer(self) -> Any:
        if isinstance(self.dissimilarity, str) and self.dissimilarity == "precomputed":
            raise ValueError(
                "dissimilarity='precomputed' leaves nothing to compute; use ConditionalClassicalMDS, with this metric."
            )
        return make_transformer("euclidean" if self.dissimilarity is None else self.dissimilarity)
