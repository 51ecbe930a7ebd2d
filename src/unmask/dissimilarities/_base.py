"""The base class of all transformers to dissimilarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._documentation import DocumentedMixin
from .._typing import Array
from ..checking import (
    object_names,
    require_choice,
    require_flag,
    require_integer,
    require_jobs,
    require_number,
    with_labels,
)

if TYPE_CHECKING:
    import pandas as pd


class DissimilarityTransformer(DocumentedMixin, TransformerMixin, BaseEstimator):
    """Base of the transformers from objects to dissimilarities.

    A subclass lists its parameters as fields of a dataclass and what they may be in ``_RULES``: choices, the least
    integer, the least float, bool, or (None, one of these) if None will do. It writes two methods. ``_fit(X)`` sets
    ``dissimilarities_`` and ``_labels`` (None for objects without labels). ``_new(X)`` returns the dissimilarities of
    new objects to the fitted ones, and the labels of the new objects.
    """

    _RULES: ClassVar[dict[str, Any]] = {}

    dtype: str = "float64"
    dissimilarities_: Array
    _labels: pd.Index | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = [self.dtype]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the dissimilarities between objects.

        Parameters
        ----------
        X : array-like or other data
            The objects, in a form that the class describes.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Return the dissimilarities between objects, with their labels as rows and columns if they have any.

        Parameters
        ----------
        X, y, **params
            As in :meth:`fit`.

        Returns
        -------
        ndarray or DataFrame of shape (n_objects, n_objects)
        """
        return self._labelled(self.fit(X, **params).dissimilarities_, self._labels)

    def transform(self, X: Any) -> Array:
        """Return the dissimilarities of new objects to the fitted ones; the fit does not change.

        Parameters
        ----------
        X : array-like or other data
            New objects, in the form of those of the fit.

        Returns
        -------
        ndarray or DataFrame of shape (n_new, n_objects)
        """
        check_is_fitted(self)
        return self._labelled(*self._new(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the labels of the fitted objects as text; their numbers 0, 1, 2 … where they have none."""
        return np.asarray([str(label) for label in self.object_names_], dtype=object)

    @property
    def object_names_(self) -> Any:
        """Labels of the fitted objects as an array; their numbers where they have none."""
        check_is_fitted(self)
        return object_names(self._labels, len(self.dissimilarities_))

    def _check_parameters(self) -> None:
        for name, rule in self._RULES.items():
            _require(name, getattr(self, name), rule)

    def _fit(self, X: Any) -> None:
        raise NotImplementedError

    def _new(self, X: Any) -> tuple[Array, pd.Index | None]:
        raise NotImplementedError

    def _labelled(self, D: Array, labels: pd.Index | None) -> Array:
        """Return dissimilarities with the labels of their rows and of the fitted objects, which are the columns."""
        import pandas as pd

        columns = pd.RangeIndex(D.shape[1]) if self._labels is None else self._labels
        labelled: Array = with_labels(self, D, labels, columns)
        return labelled


def _require(name: str, value: Any, rule: Any) -> None:
    if name == "n_jobs":
        require_jobs(value)
    elif rule is bool:
        require_flag(name, value)
    elif isinstance(rule, int):
        require_integer(name, value, rule)
    elif isinstance(rule, float):
        require_number(name, value, rule)
    elif rule[0] is not None:
        require_choice(name, value, rule)
    elif value is not None:
        _require(name, value, rule[1])
