"""Dissimilarities from a metric: every pair compared once, tile by tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, IntArray
from ..checking import (
    MissingDissimilarityWarning,
    computed,
    labels_of,
    name_object,
    warn_user,
)
from ..kernels import OneBlasThread, empty_square
from ._base import DissimilarityTransformer
from ._metrics import make_comparison
from ._on_demand import OnDemand, fill
from ._rows import Rows


@dataclass(eq=False, repr=False, kw_only=True)
class Metric(DissimilarityTransformer):
    """Compare all pairs of objects by a metric.

    The metrics of scipy and scikit-learn by name, Gower's for mixed tables with missing cells, Aitchison's for
    compositions, Wasserstein's for samples and histograms, dynamic time warping for series, or a function of two rows.
    `X` has one object per row; Notes list what each metric takes.

    Parameters
    ----------
    metric : str or callable, default="euclidean"
        Name of a metric, or a function of two rows that returns a number. The names are listed under Notes.
    metric_params : dict, optional
        Further arguments of the metric.
    dtype : {"float64", "float32"}, default="float64"
        Type of the result; float32 takes half the memory.
    n_jobs : int, optional
        Threads; None and -1 mean every core. The result does not depend on it. A function written in Python is
        called from one thread only.

    Attributes
    ----------
    dissimilarities_ : ndarray of shape (n_objects, n_objects)
        Dissimilarity of each pair: symmetric, 0 on the diagonal, NaN where two objects share no cell (``"gower"`` and
        ``"nan_euclidean"``, with a warning that counts them).
    n_features_in_ : int
        Number of columns seen in the fit, if `X` was a table.

    Notes
    -----
    **Tables of numbers.** ``"euclidean"`` (``"l2"``), ``"sqeuclidean"``, ``"cityblock"`` (``"manhattan"``, ``"l1"``),
    ``"chebyshev"`` (``"infinity"``), ``"minkowski"`` (``"p"``; parameter ``p``), ``"canberra"``, ``"cosine"``,
    ``"correlation"``, ``"hamming"`` (``"matching"``), ``"braycurtis"``, ``"hellinger"`` and ``"jensenshannon"``
    (amounts); all but the last two take weights of the columns ``w``. ``"seuclidean"`` and ``"mahalanobis"`` learn the
    variances ``V`` or the inverse covariances ``VI`` from all fitted objects, unless they are given.
    ``"nan_euclidean"`` allows missing cells. ``"haversine"`` takes latitude and longitude in radians. Sparse tables:
    ``"euclidean"``, ``"cityblock"``, ``"cosine"`` and their other names.

    **Presence and absence** (cells 0 and 1, or False and True; anything else is refused): ``"jaccard"``, ``"dice"``,
    ``"rogerstanimoto"`` (``"sokalmichener"``), ``"russellrao"``, ``"sokalsneath"``, ``"yule"``. In Russell and Rao's,
    the formula is above 0 for an object and itself; the diagonal is 0 nevertheless.

    **Mixed tables.** ``"gower"``: the mean difference over the columns that both objects have. Numbers and dates
    differ by a share of their range among the fitted objects, which new objects may exceed; ordered categories by a
    share of the range of their ranks; other categories, text, booleans and columns of equal numbers by 0 or 1.
    Parameters: ``weights`` of the columns (a list, or a dict by name), and ``asymmetric``, a list of 0/1 columns that
    are left out where both cells are 0.

    **Compositions.** ``"aitchison"``: Euclidean distance of centred log-ratios; zeros are refused unless a
    ``pseudocount`` is added to every cell. ``"robust_aitchison"``: log-ratios of the parts above 0; a part of 0 counts
    as the geometric mean of the others.

    **Distributions.** ``"wasserstein"``: each object is a sample of values, as a row (NaN where it has fewer) or, in a
    list, as a sequence of any length. ``"wasserstein_histogram"``: each column is a position and each cell the amount
    there; each row is divided by its sum. ``positions`` of the columns, by default 0, 1, 2, …. Both: ``order``, by
    default 1.

    **Series.** ``"dtw"``: root of the sum of squared differences along the best alignment; rows (NaN after the last
    value) or a list of sequences. ``window``, the widest shift plus 1, and ``penalty`` for a shift. Needs the package
    dtaidistance: ``pip install 'unmask[series]'``.

    References
    ----------
    J. C. Gower, "A general coefficient of similarity and some of its properties", Biometrics, 1971. J. Aitchison, "The
    statistical analysis of compositional data", Chapman and Hall, 1986.

    Examples
    --------
    >>> import pandas as pd
    >>> from unmask.dissimilarities import Metric
    >>> sites = pd.DataFrame({"oak": [5, 3, 0], "fern": [0, 1, 4]}, index=["hill", "slope", "dell"])
    >>> Metric("braycurtis").fit_transform(sites).round(2)
           hill  slope  dell
    hill   0.00   0.33  1.00
    slope  0.33   0.00  0.75
    dell   1.00   0.75  0.00
    """

    metric: Any = field(default="euclidean", kw_only=False)
    metric_params: dict[str, Any] | None = None
    dtype: str = "float64"
    n_jobs: int | None = None

    _RULES = {"dtype": ("float64", "float32"), "n_jobs": None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            entry = make_comparison(self.metric, self.metric_params).entry
        except ValueError:  # raised again by fit
            return tags
        tags.input_tags.allow_nan = entry.allow_nan
        tags.input_tags.sparse = entry.sparse
        tags.input_tags.positive_only = entry.positive
        tags.input_tags.string = tags.input_tags.categorical = entry.text
        return tags

    def _fit(self, X: Any) -> None:
        self.dissimilarities_ = self._square(self._read(X))

    def on_demand(self, X: Any) -> OnDemand:
        """Return the dissimilarities between objects as a source: each part is computed when it is read.

        For more objects than memory has room for in a table of N x N numbers. Pass it to an estimator with
        ``metric="precomputed"``; every pass over the pairs compares them anew.

        Parameters
        ----------
        X : as in :meth:`fit`

        Returns
        -------
        OnDemand
        """
        source: OnDemand = clone(self)._read(X)
        return source

    def _new(self, X: Any) -> tuple[Array, Any]:
        X = computed(X)
        _, (D,) = self._compare_new(X, height=None)
        return D, labels_of(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_objects")

    def _read(self, X: Any) -> OnDemand:
        """Learn from all objects, and return their dissimilarities as a source."""
        self.__dict__.pop("dissimilarities_", None)
        self._check_parameters()
        comparison, rows = make_comparison(self.metric, self.metric_params), Rows(self, X, new=False)
        with OneBlasThread():
            self._objects = comparison.fit(rows)
        self._comparison, self._labels = comparison, rows.labels
        return OnDemand(comparison, self._objects, np.dtype(self.dtype), rows.labels)

    def _square(self, source: OnDemand) -> Array:
        """Return all dissimilarities of a source as an array."""
        D = empty_square(source.n, self.dtype)
        names = source.name, source.name
        missing = fill(D, source.comparison, source.objects, source.objects, names, self.n_jobs)
        self._warn_of_missing(missing, source.n * (source.n - 1) // 2)
        return D

    def _compare_new(self, X: Any, height: int | None) -> tuple[int, Iterator[Array]]:
        """Return the number of new objects, and their dissimilarities to the fitted ones, ``height`` rows at a time."""
        check_is_fitted(self)
        rows = Rows(self, X, new=True)
        with OneBlasThread():
            new = self._comparison.coordinates(rows)
        return new.shape[0], self._rows_of_new(rows, new, height or new.shape[0])

    def _rows_of_new(self, rows: Rows, new: Any, height: int) -> Iterator[Array]:
        n, fitted, missing = new.shape[0], self._objects.shape[0], 0
        for top in range(0, n, height):
            names = (lambda row, top=top: rows.object(top + row)), (lambda at: name_object(self._labels, at))
            some = new[top : top + height]
            D = np.empty((some.shape[0], fitted), dtype=self.dtype)
            missing += fill(D, self._comparison, some, self._objects, names, self.n_jobs)
            yield D
        self._warn_of_missing(missing, n * fitted)

    def _keep(self, which: IntArray) -> None:
        """Forget all fitted objects but some; new objects are then compared with these alone."""
        self._objects = self._objects[which]
        self._labels = None if self._labels is None else self._labels[which]

    def _warn_of_missing(self, missing: int, pairs: int) -> None:
        if missing:
            warn_user(
                f"{missing} of {pairs} pairs have no dissimilarity (NaN): the two objects share no cell that "
                f"metric={self._comparison.name!r} could compare; they count as missing (weight 0) in a map.",
                MissingDissimilarityWarning,
            )


def is_compiled(metric: Metric) -> bool:
    """Return whether compiled code compares the rows of a table by a metric."""
    return make_comparison(metric.metric, metric.metric_params).formula is not None
