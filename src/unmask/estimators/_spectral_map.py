"""The classical map of any dissimilarities: the last stage of every spectral method."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._documentation import DocumentedMixin
from .._typing import Array
from ..checking import labels_of, object_names, require_integer, with_labels
from ..dissimilarities import SparseSpectral, fitted_labels, make_transformer, set_input_tags
from ..progress import Callback, watching
from ..solvers import axis_signs


class SpectralMap(DocumentedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Classical scaling of the dissimilarities that a transformer prescribes.

    With the transformers of :mod:`unmask.dissimilarities` this is Isomap, kernel PCA, Laplacian eigenmaps, locally
    linear embedding, maximum entropy unfolding and so on. For what known features leave, put a conditional estimator
    behind the transformer instead: ``make_pipeline(transformer, ConditionalMDS(metric="precomputed"))``.

    Squared dissimilarities are double-centred, and the map is the leading eigenvectors times the roots of their
    eigenvalues. Where the transformer has `masses_` (:class:`~unmask.dissimilarities.LaplacianEigenmaps`), objects are
    weighted by them. Besides what the transformer costs, time grows with N cubed, memory with N squared. For Laplacian
    eigenmaps and locally linear embedding the same eigenvectors come from a sparse matrix, without a table.

    Parameters
    ----------
    dissimilarity : transformer, str or callable, optional
        Returns dissimilarities by ``fit_transform``; it is cloned. The name of a metric, or a function of two rows, as
        :class:`unmask.dissimilarities.Metric` takes them. By default Euclidean distances, and the map is that of
        principal components.
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
    object_names_ : ndarray of shape (n_objects,)
        Labels of the objects in the order of the map's rows; their numbers if they had none.
    n_features_in_ : int
        Number of columns seen in the fit.

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
            Present by convention.
        callback : callable, optional
            Hears how far a transformer is that has stages or iterations, as an :class:`unmask.Progress`; returns True
            to stop it.

        Returns
        -------
        self : SpectralMap
        """
        require_integer("n_components", self.n_components, 1)
        with watching(callback):
            self.dissimilarity_ = self._transformer().fit(X)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.dissimilarity_, name):
                setattr(self, name, getattr(self.dissimilarity_, name))
        self._labels = fitted_labels(self.dissimilarity_, X)
        self._embed()
        return self

    def fit_transform(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Array:
        """Return the map of the fitted objects; see :meth:`fit`."""
        labelled: Array = with_labels(self.fit(X, callback=callback), self.embedding_, self._labels)
        return labelled

    def transform(self, X: Any) -> Array:
        """Place new objects by their dissimilarities to the fitted ones (Gower's formula); the map does not change.

        Parameters
        ----------
        X : new objects, as the transformer takes

        Returns
        -------
        ndarray of shape (n_new, n_components)
        """
        check_is_fitted(self)
        if isinstance(self.dissimilarity_, SparseSpectral):  # a new object is a weighted mean of fitted ones
            weights, labels = self.dissimilarity_.new_weights(X)
            places = np.asarray(weights @ self.embedding_)
        else:
            squared = np.asarray(self.dissimilarity_.transform(X), dtype=np.float64) ** 2
            products = -0.5 * (squared - self._means)
            products -= (products @ self._shares)[:, None]
            places, labels = products @ self._loadings, labels_of(X)
        labelled: Array = with_labels(self, places, labels)
        return labelled

    @property
    def object_names_(self) -> Any:
        """Labels of the objects in the order of the map's rows, as an array; their numbers if they had none."""
        check_is_fitted(self)
        return object_names(self._labels, len(self.embedding_))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _transformer(self) -> Any:
        if isinstance(self.dissimilarity, str) and self.dissimilarity == "precomputed":
            raise ValueError(
                "dissimilarity='precomputed' leaves nothing to compute; use ConditionalClassicalMDS, with this metric."
            )
        return make_transformer("euclidean" if self.dissimilarity is None else self.dissimilarity)

    def _embed(self) -> None:
        transformer = self.dissimilarity_
        sparse = isinstance(transformer, SparseSpectral)
        n = transformer.graph_.shape[0] if sparse else len(transformer.dissimilarities_)
        if self.n_components >= n:
            raise ValueError(
                f"n_components={self.n_components} but there are n_samples={n} objects; a map of them has at most "
                f"{n - 1} dimensions."
            )
        masses = np.asarray(getattr(transformer, "masses_", np.ones(n)), dtype=np.float64)
        self._shares = masses / masses.sum()
        root = np.sqrt(n * self._shares)
        values, axes = transformer.leading_axes(self.n_components) if sparse else self._axes(root)
        self.eigenvalues_: Array = values
        axes = axes * axis_signs(axes)
        kept = self.eigenvalues_ > n * np.finfo(np.float64).eps * abs(self.eigenvalues_[0])
        scale = np.sqrt(np.where(kept, self.eigenvalues_, 0.0))
        self.embedding_ = axes * scale / root[:, None]
        # Products of a new object with the fitted ones, times these, are its place: the identity for fitted ones.
        self._loadings = root[:, None] * axes * np.divide(1.0, scale, out=np.zeros_like(scale), where=kept)

    def _axes(self, root: Array) -> tuple[Array, Array]:
        """Return the leading eigenvalues and eigenvectors of the double-centred squared dissimilarities."""
        squared = np.asarray(self.dissimilarity_.dissimilarities_, dtype=np.float64) ** 2
        n = len(squared)
        if not np.isfinite(squared).all():
            raise ValueError(
                "some dissimilarities are missing (NaN) and a classical map needs all of them; use ConditionalMDS."
            )
        self._means = squared @ self._shares
        # Weighted double centring; with equal masses the usual one.
        products = -0.5 * (squared - self._means[:, None] - self._means[None, :] + self._means @ self._shares)
        values, vectors = eigh(
            root[:, None] * products * root[None, :], subset_by_index=[n - self.n_components, n - 1], check_finite=False
        )
        return values[::-1], vectors[:, ::-1]
