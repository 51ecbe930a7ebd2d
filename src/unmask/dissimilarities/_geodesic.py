"""Geodesic dissimilarities: shortest paths through a neighbourhood graph."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Array, IntArray
from ..graphs import (
    components,
    graph_from_dissimilarities,
    graph_from_features,
    join_components,
    shortest_paths,
)


class DisconnectedGraphWarning(UserWarning):
    """The neighbourhood graph fell into parts, which were joined."""


class Geodesic(TransformerMixin, BaseEstimator):
    """Replace dissimilarities by the lengths of shortest paths between near objects.

    Near objects are joined by edges; the dissimilarity of two objects becomes the length of the shortest path between
    them. On a curved surface this follows the surface, where the straight line would leave it. The first two stages of
    Isomap; put :class:`unmask.ConditionalMDS` with ``metric="precomputed"`` behind it for the third.

    Time grows with N squared times log N, memory with N squared.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        An object's neighbours are this many nearest ones. None if `radius` is given.
    radius : float, optional
        An object's neighbours are those within this distance.
    mutual : bool, default=False
        Keep an edge only if each of the two objects is a neighbour of the other; by default one is enough.
    metric : str or callable, default="euclidean"
        As in :class:`sklearn.neighbors.NearestNeighbors`; ``"precomputed"`` if `X` holds dissimilarities (NaN where
        missing).
    metric_params : dict, optional
        Further arguments of the metric.
    on_disconnected : {"join", "error"}, default="join"
        What to do with a graph that falls into parts: join them by the shortest edges between them, with a warning that
        counts them, or raise an error.
    dtype : {"float64", "float32"}, default="float64"
        Type of the result; float32 takes half the memory.

    Attributes
    ----------
    graph_ : scipy sparse array of shape (n_objects, n_objects)
        The neighbourhood graph, symmetric, with lengths of edges.
    dissimilarities_ : ndarray of shape (n_objects, n_objects)
        Lengths of the shortest paths.
    n_components_joined_ : int
        Number of parts that were joined; 1 if the graph was connected.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import Geodesic
    >>> angle = np.linspace(0, np.pi, 20)[:, None]
    >>> half_circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> Geodesic(n_neighbors=2).fit_transform(half_circle)[0, -1].round(2).item()
    3.14
    """

    def __init__(
        self,
        n_neighbors: int | None = 5,
        *,
        radius: float | None = None,
        mutual: bool = False,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        on_disconnected: str = "join",
        dtype: str = "float64",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.mutual = mutual
        self.metric = metric
        self.metric_params = metric_params
        self.on_disconnected = on_disconnected
        self.dtype = dtype

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.positive_only = self._precomputed
        tags.input_tags.allow_nan = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def fit(self, X: Any, y: Any = None) -> Geodesic:
        """Build the graph and find the shortest paths.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features), or (n_objects, n_objects)
            Features, or dissimilarities with ``metric="precomputed"``.
        y : ignored
            Present by convention.

        Returns
        -------
        self : Geodesic
        """
        self._check_parameters()
        values = self._read(X, reset=True)
        self._labels = X.index if hasattr(X, "iloc") else None
        if self.n_neighbors is not None and self.n_neighbors >= len(values):
            raise ValueError(
                f"n_neighbors={self.n_neighbors} but there are n_samples={len(values)} objects; "
                f"an object has at most {len(values) - 1} neighbours."
            )
        self._fit_X = values
        self._search = None if self._precomputed else self._make_search().fit(values)
        self.graph_ = self._connected(self._graph())
        self.dissimilarities_ = shortest_paths(self.graph_, self.dtype)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Build the graph and return the lengths of the shortest paths, (n_objects, n_objects); see :meth:`fit`."""
        D: Array = self.fit(X).dissimilarities_
        return D

    def transform(self, X: Any) -> Array:
        """Return the lengths of the shortest paths from new objects to the fitted ones.

        A path from a new object goes through one of its neighbours among the fitted objects; of a fitted object it is
        the path found in the fit. The graph does not change.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or (n_new, n_objects)

        Returns
        -------
        ndarray of shape (n_new, n_objects)
        """
        check_is_fitted(self)
        values = self._read(X, reset=False)
        D = np.empty((len(values), len(self._fit_X)), dtype=self.dtype)
        for row, (lengths, neighbours) in enumerate(zip(*self._neighbours_of(values), strict=True)):
            if not len(neighbours):
                raise ValueError(f"new object {row} has no fitted object within radius={self.radius}; enlarge it.")
            D[row] = np.min(lengths[:, None] + self.dissimilarities_[neighbours], axis=0)
        return D

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the labels of the fitted objects, or names made of the class's."""
        check_is_fitted(self)
        if self._labels is not None and all(isinstance(label, str) for label in self._labels):
            return np.asarray(self._labels, dtype=object)
        return np.asarray([f"geodesic{i}" for i in range(len(self._fit_X))], dtype=object)

    def _check_parameters(self) -> None:
        if (self.n_neighbors is None) == (self.radius is None):
            raise ValueError(
                f"n_neighbors={self.n_neighbors!r} and radius={self.radius!r}: give one of them and None for the other."
            )
        if self.n_neighbors is not None and self.n_neighbors < 1:
            raise ValueError(f"n_neighbors={self.n_neighbors!r} must be at least 1.")
        if self.radius is not None and not self.radius > 0:
            raise ValueError(f"radius={self.radius!r} must be above 0.")
        for name, choices in (("on_disconnected", ("join", "error")), ("dtype", ("float64", "float32"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r} is not one of {', '.join(map(repr, choices))}.")

    def _read(self, X: Any, *, reset: bool) -> Array:
        finite = "allow-nan" if self._precomputed else True
        values: Array = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            ensure_all_finite=finite,
            ensure_min_samples=2 if reset else 1,
            reset=reset,
        )
        if not self._precomputed:
            return values
        if reset and values.shape[0] != values.shape[1]:
            raise ValueError(f"X has shape {values.shape} but dissimilarities must be square.")
        if np.nanmin(values) < 0:
            raise ValueError(f"Negative values in data: X holds {np.nanmin(values):g}; a dissimilarity is at least 0.")
        return values

    def _make_search(self) -> NearestNeighbors:
        return NearestNeighbors(metric=self.metric, metric_params=self.metric_params)

    def _graph(self) -> Any:
        rule: dict[str, Any] = {"n_neighbors": self.n_neighbors, "radius": self.radius, "mutual": self.mutual}
        if self._search is None:
            return graph_from_dissimilarities(self._fit_X, **rule)
        return graph_from_features(self._search, **rule)

    def _connected(self, graph: Any) -> Any:
        """Return the graph with its parts joined, or raise."""
        self.n_components_joined_ = components(graph)[0]
        if self.n_components_joined_ == 1:
            return graph
        parts = f"the neighbourhood graph falls into {self.n_components_joined_} parts"
        if self.on_disconnected == "error":
            raise ValueError(f"{parts}; raise n_neighbors or radius, or pass on_disconnected='join'.")
        warnings.warn(
            f"{parts}, which were joined by the shortest edges between them; raise n_neighbors or radius to avoid it.",
            DisconnectedGraphWarning,
            stacklevel=3,
        )
        return join_components(graph, self._distances_from)

    def _distances_from(self, rows: IntArray) -> Array:
        if self._search is None:
            return self._fit_X[rows].astype(np.float64)
        return np.asarray(
            pairwise_distances(self._fit_X[rows], self._fit_X, metric=self.metric, **(self.metric_params or {}))
        )

    def _neighbours_of(self, values: Array) -> tuple[Any, Any]:
        """Return for each new object the lengths to its neighbours among the fitted ones, and which these are."""
        if self._search is not None:
            if self.n_neighbors is None:
                lengths, indices = self._search.radius_neighbors(values, radius=self.radius)
                return lengths, indices
            lengths, indices = self._search.kneighbors(values, n_neighbors=self.n_neighbors)
            return lengths, indices
        known = np.where(np.isnan(values), np.inf, values)
        if self.n_neighbors is None:
            near = [np.flatnonzero(row <= self.radius) for row in known]
        else:
            order = np.argsort(known, axis=1, kind="stable")[:, : self.n_neighbors]
            near = [row[np.isfinite(known[i, row])] for i, row in enumerate(order)]
        return [known[i, row] for i, row in enumerate(near)], near
