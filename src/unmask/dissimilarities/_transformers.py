"""What `metric=` means everywhere: a name, a function of two rows, or a transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from .._typing import Array, IntArray
from ..checking import (
    MapWarning,
    StoredPairs,
    as_pandas,
    check_dissimilarities,
    is_source,
    labelled_frame,
    labels_of,
    new_dissimilarities,
    new_rows,
    stored_both_ways,
    warn_of_square_features,
    warn_user,
)
from ..cluster import SpreadObjects, ambient_client, is_dask_array, is_dask_frame, spread
from ..graphs import components, join_components
from ..kernels import Workers, resolve_threads
from ..progress import Callback, watching
from ._base import DissimilarityTransformer
from ._metric import Metric
from ._metrics import make_comparison

if TYPE_CHECKING:
    import pandas as pd


def make_transformer(
    metric: Any, metric_params: dict[str, Any] | None = None, *, dtype: str = "float64", n_jobs: int | None = None
) -> Any:
    """Return the unfitted transformer for a `metric`, or None for ``"precomputed"``.

    Parameters
    ----------
    metric : str, callable or transformer
        A name or a function of two rows, as :class:`Metric` takes them; a transformer of this module, or any other
        whose ``fit_transform`` returns dissimilarities, which is cloned; or ``"precomputed"``.
    metric_params, dtype, n_jobs
        Parameters of :class:`Metric` for a name or a function.

    Returns
    -------
    transformer or None

    Examples
    --------
    >>> from unmask.dissimilarities import make_transformer
    >>> make_transformer("cityblock")
    Metric(metric='cityblock')
    """
    if isinstance(metric, str) and metric == "precomputed":
        if metric_params:
            raise ValueError(f"metric_params={metric_params!r} means nothing with metric='precomputed'; leave it out.")
        return None
    if not (hasattr(metric, "fit") and hasattr(metric, "transform")):
        make_comparison(metric, metric_params)  # raises if either is wrong
        return Metric(metric, metric_params=metric_params, dtype=dtype, n_jobs=n_jobs)
    if isinstance(metric, type):
        raise ValueError(f"metric={metric.__name__} is a class; pass an object of it, metric={metric.__name__}().")
    if metric_params:
        raise ValueError(
            f"metric_params={metric_params!r} with metric={metric!r}: a transformer has parameters of its own; set "
            "them there and leave metric_params out."
        )
    return clone(metric)


def float_type(X: Any) -> str:
    """Return the type in which data are compared: float32 if all columns are, else float64."""
    kinds = X.dtypes if hasattr(X, "columns") and hasattr(X, "dtypes") else [getattr(X, "dtype", "")]
    return "float32" if {str(kind).lower() for kind in kinds} == {"float32"} else "float64"


def set_input_tags(tags: Any, make: Callable[[], Any], *, takes_missing: bool) -> None:
    """Set the input tags of an estimator with a `metric` to those of its transformer, or of dissimilarities."""
    try:
        transformer = make()
    except ValueError:  # raised again by fit
        return
    if transformer is None:
        tags.input_tags.pairwise = tags.input_tags.positive_only = True
        # Entries that a sparse matrix does not store are missing.
        tags.input_tags.allow_nan = tags.input_tags.sparse = takes_missing
    elif hasattr(transformer, "__sklearn_tags__"):
        tags.input_tags = get_tags(transformer).input_tags


class Compared(NamedTuple):
    """Dissimilarities that a transformer made, and the labels of the objects if they have any."""

    values: Any
    labels: pd.Index | None


def compare(transformer: Any, X: Any, estimator: Any = None, *, parts: bool | None = False) -> Compared:
    """Fit a transformer; the estimator gets the number and names of its features.

    With ``parts``, the dissimilarities of a metric are a source where the table would be large; with None, always.
    """
    X = labelled_frame(X)
    pairwise = hasattr(transformer, "__sklearn_tags__") and get_tags(transformer).input_tags.pairwise
    if not (pairwise or is_dask_array(X) or is_dask_frame(X)):
        warn_of_square_features(X)
    # A metric does not keep its table, which can be computed again; other transformers need theirs.
    is_metric = isinstance(transformer, Metric)
    values = _metric_table(transformer, X, parts) if is_metric else as_pandas(transformer.fit_transform(X))
    shape = (values.n, values.n) if is_source(values) else np.shape(values)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"metric={transformer!r} returned shape {shape}, not a table of dissimilarities; it must be square, "
            "one row and one column per object. To change features before they are compared, use a pipeline."
        )
    for name in ("n_features_in_", "feature_names_in_") if estimator is not None else ():
        vars(estimator).pop(name, None)
        if hasattr(transformer, name):
            setattr(estimator, name, getattr(transformer, name))
    labels = None if is_source(values) else labels_of(values)
    return Compared(values, fitted_labels(transformer, X) if labels is None else labels)


def _metric_table(metric: Metric, X: Any, parts: bool | None) -> Any:
    source = metric._read(X)
    client = ambient_client() if is_dask_array(X) or is_dask_frame(X) else None
    if client is not None and parts is None:
        return SpreadObjects(source, client)
    if client is not None and parts:
        return spread(source, client)
    if parts is not None and not (parts and source.is_large):
        return metric._square(source)
    # Repeated labels are allowed as long as nothing is aligned by them.
    return source if source.labels is None or source.labels.is_unique else replace(source, labels=None)


def fitted_labels(transformer: Any, X: Any) -> pd.Index | None:
    """Return the labels of the objects that a transformer was fitted to; None if they have none."""
    return transformer._labels if isinstance(transformer, DissimilarityTransformer) else labels_of(X)


class NewRows(NamedTuple):
    """Dissimilarities of new objects to the fitted ones, some rows at a time, with their number and type."""

    n: int
    dtype: Any
    parts: Iterator[Array]


def compare_new(transformer: Any, X: Any, height: int, check: Callable[[Array], None]) -> NewRows:
    """Compare new objects with the fitted ones, ``height`` rows at a time, and check the dissimilarities."""

    def checked(part: Array) -> Array:
        check(part)
        return part

    if isinstance(transformer, Metric):
        n, parts = transformer._compare_new(X, height)
        return NewRows(n, np.dtype(transformer.dtype), map(checked, parts))
    return rows_of_new(checked(np.asarray(transformer.transform(X))), height)


def rows_of_new(delta: Array, height: int) -> NewRows:
    """Return a table of dissimilarities some rows at a time."""
    return NewRows(len(delta), delta.dtype, (delta[top : top + height] for top in range(0, len(delta), height)))


def keep_objects(transformer: Any, which: IntArray) -> None:
    """Make a fitted metric forget all objects but some; other transformers need theirs."""
    if isinstance(transformer, Metric):
        transformer._keep(which)


class ComparingTransformer(DissimilarityTransformer):
    """Base of the transformers that build a graph from the dissimilarities of a `metric`, or from those in X."""

    __metadata_request__fit = {"callback": True}

    n_neighbors: int | None
    metric: Any
    metric_params: dict[str, Any] | None
    on_disconnected: str
    _TAKES_MISSING = False
    _TAKES_PARTS = False  # whether dissimilarities that would make a large table can be read in parts
    _WIDEN = "n_neighbors"  # parameters that widen neighbourhoods, for messages

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, self._make_transformer, takes_missing=self._TAKES_MISSING)
        return tags

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Find the dissimilarities between objects.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features), or (n_objects, n_objects)
            Features, or dissimilarities with ``metric="precomputed"``.
        y : ignored
            Present by convention.
        callback : callable, optional
            Called with an :class:`unmask.Progress` when a stage begins (``"graph"``, then ``"paths"`` or
            ``"unfolding"``), and in every iteration; returns True to stop.

        Returns
        -------
        self : object
        """
        with watching(callback):
            super().fit(X)
        return self

    def _make_transformer(self) -> Any:
        return make_transformer(self.metric, self.metric_params, n_jobs=getattr(self, "n_jobs", None))

    def _compare(self, X: Any) -> Any:
        """Return the dissimilarities among all objects: an array, a source in parts, or pairs that are given."""
        self._comparing = transformer = self._make_transformer()
        D, is_metric = X, isinstance(transformer, Metric)
        if transformer is not None:
            # A metric that allows NaN may leave pairs missing, which are looked for in the table.
            may_miss = is_metric and get_tags(transformer).input_tags.allow_nan
            D, self._labels = compare(transformer, X, self, parts=self._TAKES_PARTS and not may_miss)
        if not is_metric:  # whose dissimilarities are sound
            D = self._checked(D)
        if is_source(D):
            return D
        missing = 0 if self._TAKES_MISSING else int(np.isnan(D).sum()) // 2
        if missing:
            raise ValueError(
                f"{missing} pairs have no dissimilarity (NaN) and {type(self).__name__} needs all of them; "
                "fill them, or put Geodesic(metric='precomputed') before it."
            )
        return D

    def _checked(self, data: Any) -> Any:
        """Return checked dissimilarities; a sparse matrix is a graph where missing pairs are allowed."""
        is_graph = self._TAKES_MISSING and sp.issparse(data)
        data = stored_both_ways(data) if is_graph else data
        with Workers(resolve_threads(None)) as workers:
            checked = check_dissimilarities(data, workers=workers, warn=not is_graph)  # most pairs have no edge
        if self._comparing is None:
            checked.note_objects(self)
            self._labels = checked.labels
        if self._TAKES_MISSING and isinstance(checked.source, StoredPairs):
            return checked.source
        return np.asarray(checked.array_for(type(self).__name__))

    def _compare_new(self, X: Any) -> tuple[Array, pd.Index | None]:
        """Return the dissimilarities of new objects to the fitted ones, checked, and their labels."""
        if self._comparing is not None:
            return np.asarray(self._comparing.transform(X)), labels_of(X)
        X = new_rows(X, self._labels, self.n_features_in_)
        values = new_dissimilarities(X, self._labels, self.n_features_in_, type(self).__name__, self._check_new)
        return values, labels_of(X)

    def _check_new(self, values: Array) -> None:
        if not np.all((values >= 0) & np.isfinite(values) | (np.isnan(values) & self._TAKES_MISSING)):
            gaps = "" if self._TAKES_MISSING else "missing or "
            raise ValueError(
                f"Negative values in data, or {gaps}infinite ones: new dissimilarities must be finite and >= 0."
            )

    def _require_neighbours(self, n: int) -> None:
        if self.n_neighbors is not None and self.n_neighbors >= n:
            most = f"an object has at most {n - 1} neighbours."
            raise ValueError(f"n_neighbors={self.n_neighbors} but there are n_samples={n} objects; {most}")

    def _joined(self, graph: Any, distances_from: Callable[[IntArray], Array]) -> Any:
        """Return the graph with its parts joined, or raise."""
        self.n_components_joined_ = components(graph)[0]
        if self.n_components_joined_ == 1:
            return graph
        parts = f"the neighbourhood graph falls into {self.n_components_joined_} parts"
        if self.on_disconnected == "error":
            raise ValueError(f"{parts}; raise {self._WIDEN}, or pass on_disconnected='join'.")
        joined = f"{parts}, which were joined by the shortest edges between them; raise {self._WIDEN} to avoid it."
        warn_user(joined, MapWarning)
        return join_components(graph, distances_from)
