"""What the transformers share: labels, and the dissimilarities as the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..checking import Callback, CallbackSupportMixin, labels_of, with_labels

if TYPE_CHECKING:
    import pandas as pd

DTYPES = ("float64", "float32")


class DissimilarityTransformer(TransformerMixin, BaseEstimator):
    """Base of the transformers from objects to dissimilarities.

    A subclass's ``fit`` sets ``dissimilarities_`` (fitted x fitted) and ``_labels`` (None where the objects have
    none); its ``transform`` returns the dissimilarities of new objects to the fitted ones. With
    ``set_output(transform="pandas")`` the labels travel on to the estimator behind.
    """

    dissimilarities_: Array
    _labels: pd.Index | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the dissimilarities between objects."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Return the dissimilarities between objects, (n_objects, n_objects); see :meth:`fit`."""
        self.fit(X)
        return self._labelled(self.dissimilarities_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the labels of the fitted objects as text; their numbers 0, 1, 2 … where they have none."""
        check_is_fitted(self)
        labels = range(len(self.dissimilarities_)) if self._labels is None else self._labels
        return np.asarray([str(label) for label in labels], dtype=object)

    def _labelled(self, D: Array) -> Array:
        """Return dissimilarities among the fitted objects with their labels where the output is set to pandas."""
        labelled: Array = with_labels(self, D, self._labels)
        return labelled

    @staticmethod
    def _labels_of(X: Any) -> pd.Index | None:
        return labels_of(X)


class WatchedTransformer(CallbackSupportMixin, DissimilarityTransformer):
    """Base of the transformers whose fit can be watched."""

    __metadata_request__fit = {"callback": True}

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Find the dissimilarities between objects."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Array:
        """Return the dissimilarities between objects, (n_objects, n_objects); see :meth:`fit`."""
        return self._labelled(self.fit(X, callback=callback).dissimilarities_)
