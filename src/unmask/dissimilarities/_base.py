"""The base class of all transformers to dissimilarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._documentation import DocumentedMixin
from .._typing import Array
from ..checking import labels_of, object_names, with_labels
from ..progress import Callback

if TYPE_CHECKING:
    import pandas as pd

DTYPES = ("float64", "float32")


class DissimilarityTransformer(DocumentedMixin, TransformerMixin, BaseEstimator):
    """Base of the transformers from objects to dissimilarities.

    A subclass lists its parameters as fields of a dataclass. Its ``fit`` sets ``dissimilarities_`` (fitted x fitted)
    and ``_labels`` (None where the objects have none); its ``transform`` returns the dissimilarities of new objects to
    the fitted ones. For objects with labels, such as the rows of a DataFrame, the result is a labelled DataFrame.
    """

    dissimilarities_: Array
    _labels: pd.Index | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the dissimilarities between objects."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Return the dissimilarities between objects, (n_objects, n_objects), with their labels; see :meth:`fit`."""
        return self._labelled(self.fit(X).dissimilarities_, self._labels)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the labels of the fitted objects as text; their numbers 0, 1, 2 … where they have none."""
        return np.asarray([str(label) for label in self.object_names_], dtype=object)

    @property
    def object_names_(self) -> Any:
        """Labels of the fitted objects as an array; their numbers where they have none."""
        check_is_fitted(self)
        return object_names(self._labels, len(self.dissimilarities_))

    def _labelled(self, D: Array, labels: pd.Index | None) -> Array:
        """Return dissimilarities with the labels of their rows and of the fitted objects, which are the columns."""
        import pandas as pd

        columns = pd.RangeIndex(D.shape[1]) if self._labels is None else self._labels
        labelled: Array = with_labels(self, D, labels, columns)
        return labelled

    _labels_of = staticmethod(labels_of)


class WatchedTransformer(DissimilarityTransformer):
    """Base of the transformers whose fit can be watched."""

    __metadata_request__fit = {"callback": True}

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Find the dissimilarities between objects."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Array:
        """Return the dissimilarities between objects, (n_objects, n_objects), with their labels; see :meth:`fit`."""
        return self._labelled(self.fit(X, callback=callback).dissimilarities_, self._labels)
