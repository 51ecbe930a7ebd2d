"""Geodesic dissimilarities: shortest paths through a neighbourhood graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Array, IntArray
from ..checking import (
    StoredPairs,
    labelled_frame,
    labels_of,
    require_choice,
    require_features,
    require_flag,
    require_integer,
    require_jobs,
    require_package,
    warn_of_square_features,
)
from ..graphs import (
    edges_reach,
    graph_from_approximate_neighbours,
    graph_from_dissimilarities,
    graph_from_edges,
    graph_from_features,
    shortest_paths,
)
from ..progress import Callback, Watch, watching
from ._base import DTYPES
from ._landmarks import LandmarkRows
from ._metrics import NAMES
from ._transformers import ComparingTransformer

# From this many objects on, if they have more than so many columns, an approximate search may be faster than an exact
# one. With fewer columns a k-d tree is: 20,000 objects took it 0.08 CPU s in 3 columns and 0.35 in 5, on a surface 0.3
# in 15; the first approximate search in a process compiles for 40 s.
APPROXIMATE_FROM = 20_000
TREE_COLUMNS = 15
# Metrics by which scikit-learn searches for neighbours of complete tables; of the last two if it need learn nothing.
SEARCHED = {name for names in VALID_METRICS.values() for name in names} & {*NAMES} - {"nan_euclidean"}
LEARNING = ("seuclidean", "mahalanobis")


@dataclass(eq=False, repr=False, kw_only=True)
class Geodesic(ComparingTransformer):
    """Replace dissimilarities by the lengths of shortest paths between near objects.

    Near objects are joined by edges; the dissimilarity of two objects becomes the length of the shortest path between
    them. On a curved surface this follows the surface, where the straight line would leave it. The first two stages of
    Isomap; put :class:`unmask.ConditionalMDS` with ``metric="precomputed"`` behind it for the third.

    Time grows with N squared times log N, memory with N squared; with `n_landmarks` = L with L N log N and L N.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        An object's neighbours are this many nearest ones. None if `radius` is given. Of dissimilarities, all objects as
        near as the last one are neighbours too; of features, ties are broken by their order.
    radius : float, optional
        An object's neighbours are those within this distance.
    mutual : bool, default=False
        Keep an edge only if each of the two objects is a neighbour of the other; by default one is enough.
    metric : str, callable or transformer, default="euclidean"
        How near objects are: a name or a function of two rows, as :class:`Metric` takes them; a transformer of this
        module; ``"precomputed"`` if `X` holds dissimilarities (NaN where missing; the columns of a DataFrame are
        matched with its rows by label). A sparse matrix is then a graph, such as scikit-learn's ``kneighbors_graph``
        makes: an edge stored one way counts, and with ``n_neighbors=None, radius=np.inf`` all edges do. What
        scikit-learn cannot search for neighbours by, such as ``"gower"``, is computed for all pairs first, and ties
        among neighbours are then as of dissimilarities.
    metric_params : dict, optional
        Further arguments of a metric that is a name or a function.
    approximate : {"auto", True, False}, default="auto"
        Whether to search for nearly the nearest neighbours, by the package pynndescent, instead of the nearest ones.
        ``"auto"`` does from 20,000 objects and 16 columns on if it is installed and knows the metric: with fewer
        columns a tree finds the nearest ones sooner. Not with `radius`.
    on_disconnected : {"join", "error"}, default="join"
        What to do with a graph that falls into parts: join them by the shortest edges between them, with a warning that
        counts them, or raise an error.
    n_landmarks : int, optional
        Find only the paths from so many objects, drawn at random, to all others, for many objects: the result is then a
        :class:`LandmarkRows`, to be read in parts, in which all other dissimilarities are missing.
    random_state : int, RandomState instance or None, default=None
        By what landmarks are drawn.
    n_jobs : int, optional
        Threads for the search of neighbours, as in scikit-learn; None means one, -1 every core.
    dtype : {"float64", "float32"}, default="float64"
        Type of the result; float32 takes half the memory.

    Attributes
    ----------
    graph_ : scipy sparse array of shape (n_objects, n_objects)
        The neighbourhood graph, symmetric, with lengths of edges.
    dissimilarities_ : ndarray of shape (n_objects, n_objects), or LandmarkRows
        Lengths of the shortest paths.
    n_components_joined_ : int
        Number of parts the neighbours alone leave; 1 if the graph was connected.
    approximate_ : bool
        Whether neighbours were searched for approximately.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import Geodesic
    >>> angle = np.linspace(0, np.pi, 20)[:, None]
    >>> half_circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> Geodesic(n_neighbors=2).fit_transform(half_circle)[0, -1].round(2).item()
    3.14
    """

    n_neighbors: int | None = field(default=5, kw_only=False)
    radius: float | None = None
    mutual: bool = False
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    approximate: Any = "auto"
    on_disconnected: str = "join"
    dtype: str = "float64"
    n_landmarks: int | None = None
    random_state: Any = None
    n_jobs: int | None = None

    _TAKES_MISSING = True
    _WIDEN = "n_neighbors or radius"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._searches:
            tags.input_tags.sparse = False
        return tags

    @property
    def _searches(self) -> bool:
        """Tell whether neighbours are searched for among features, rather than in a table of all dissimilarities."""
        if not isinstance(self.metric, str):
            return callable(self.metric) and not hasattr(self.metric, "fit")
        return self.metric in SEARCHED and (self.metric not in LEARNING or bool(self.metric_params))

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Build the graph and find the shortest paths.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features), or (n_objects, n_objects)
            Features, or dissimilarities with ``metric="precomputed"``.
        y : ignored
            Present by convention.
        callback : callable, optional
            Hears, as an :class:`unmask.Progress`, when the stages ``"graph"`` and ``"paths"`` begin.

        Returns
        -------
        self : Geodesic
        """
        with watching(callback) as watch:
            self._find_paths(X, watch)
        return self

    def _find_paths(self, X: Any, watch: Watch) -> None:
        self._check_parameters()
        watch.begin("graph")
        values: Any = self._read_features(X) if self._searches else self._compare(X)
        shape = (values.n, values.n) if isinstance(values, StoredPairs) else values.shape
        self._n = int(shape[0])
        self._require_neighbours(self._n)
        self._fit_X = values
        self.approximate_ = self._choose_approximate(*shape)
        self._search = self._make_search().fit(values) if self._searches else None
        self.graph_ = self._joined(self._graph(), self._distances_from)
        watch.begin("paths")
        self.dissimilarities_ = self._paths(self._n)
        self._reach = self._own_reach() if self.mutual else None

    def _paths(self, n: int) -> Any:
        if self.n_landmarks is None:
            return shortest_paths(self.graph_, self.dtype)
        if self.n_landmarks > n:
            raise ValueError(f"n_landmarks={self.n_landmarks} but there are {n} objects; leave it out to use them all.")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        landmarks = np.sort(rng.choice(n, self.n_landmarks, replace=False))
        strip = shortest_paths(self.graph_, self.dtype, landmarks)
        among = np.triu(strip[:, landmarks])  # sums in another order differ by rounding
        strip[:, landmarks] = among + among.T
        return LandmarkRows(strip, landmarks)

    def _labelled(self, D: Any, labels: Any) -> Any:
        return D if self.n_landmarks is not None else super()._labelled(D, labels)

    def transform(self, X: Any) -> Array:
        """Return the lengths of the shortest paths from new objects to the fitted ones.

        A path from a new object goes through one of its neighbours among the fitted objects (with ``mutual``, one that
        has it among its own, or else the nearest); from a fitted object it is the path found in the fit. The graph does
        not change.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or (n_new, n_objects)

        Returns
        -------
        ndarray or DataFrame of shape (n_new, n_objects)
            With `n_landmarks`, NaN where neither the fitted object nor a neighbour on the way to it is a landmark.
        """
        check_is_fitted(self)
        values, labels = self._compare_new(X) if self._search is None else (self._read_new(X), labels_of(X))
        D = np.empty((len(values), self._n), dtype=self.dtype)
        paths = self.dissimilarities_
        read = paths.rows if isinstance(paths, LandmarkRows) else paths.__getitem__
        for row, (lengths, neighbours) in enumerate(zip(*self._neighbours_of(values), strict=True)):
            if not len(neighbours):
                raise ValueError(
                    f"new object {row} has no neighbour among the fitted objects (n_neighbors={self.n_neighbors}, "
                    f"radius={self.radius}); enlarge these, or leave it out."
                )
            steps = self._steps(values[row], np.asarray(lengths), np.asarray(neighbours))
            first = self._first_steps(steps, np.asarray(neighbours))
            # With landmarks, a path that was not searched for is NaN; another neighbour may have it.
            D[row] = np.fmin.reduce(steps[first][:, None] + read(neighbours[first]), axis=0)
        return super()._labelled(D, labels)

    def _steps(self, new: Array, lengths: Array, neighbours: IntArray) -> Array:
        """Return the lengths to the neighbours, 0 to those with the same features.

        With many columns scikit-learn finds distances from products of rows, which leaves equal ones apart.
        """
        if self._search is None:
            return lengths
        return np.where((self._fit_X[neighbours] == new).all(axis=1), 0.0, lengths)

    def _first_steps(self, lengths: Array, neighbours: IntArray) -> Any:
        """Tell which neighbours a path starts through: those it equals; if ``mutual``, those that have it; or all."""
        same = lengths == 0
        if same.any():
            return same
        if self._reach is None:
            return slice(None)
        mutual = lengths <= self._reach[neighbours]
        return mutual if mutual.any() else lengths == lengths.min()

    def _own_reach(self) -> Array:
        """Return how far each fitted object's neighbourhood reaches."""
        if self.n_neighbors is None:
            return np.full(self._n, self.radius, dtype=np.float64)
        if self._search is not None:
            return np.asarray(self._search.kneighbors(n_neighbors=self.n_neighbors)[0][:, -1])
        if isinstance(self._fit_X, StoredPairs):
            return edges_reach(*self._fit_X.stored_pairs(), self._n, self.n_neighbors)
        others = np.where(np.isnan(self._fit_X), np.inf, self._fit_X)
        np.fill_diagonal(others, np.inf)
        return np.asarray(np.partition(others, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1])

    def _check_parameters(self) -> None:
        if (self.n_neighbors is None) == (self.radius is None):
            raise ValueError(
                f"n_neighbors={self.n_neighbors!r} and radius={self.radius!r}: give one of them and None for the other."
            )
        if self.n_neighbors is not None:
            require_integer("n_neighbors", self.n_neighbors, 1)
        number = isinstance(self.radius, Real) and not isinstance(self.radius, bool)
        if self.radius is not None and (not number or not self.radius > 0):
            raise ValueError(f"radius={self.radius!r} must be a number above 0.")
        if not self._searches:
            self._make_transformer()
        require_flag("mutual", self.mutual)
        require_choice("on_disconnected", self.on_disconnected, ("join", "error"))
        if self.n_landmarks is not None:
            require_integer("n_landmarks", self.n_landmarks, 2)
        require_jobs(self.n_jobs)
        self._check_approximate()
        require_choice("dtype", self.dtype, DTYPES)

    def _check_approximate(self) -> None:
        if not isinstance(self.approximate, bool | np.bool_) and self.approximate != "auto":
            raise ValueError(f"approximate={self.approximate!r} must be 'auto', True or False.")
        if self.approximate == "auto" or not self.approximate:
            return
        if callable(self.metric) and not _is_compiled(self.metric):
            raise ValueError(
                f"approximate=True with metric={self.metric!r}: pynndescent takes functions compiled by numba.njit "
                "only; compile it, name a metric, or pass approximate=False."
            )
        if not self._searches or self.n_neighbors is None:
            raise ValueError(
                f"approximate=True with metric={self.metric!r} and n_neighbors={self.n_neighbors}: only the k nearest "
                "rows of a table of features are searched for approximately; pass n_neighbors and features, or "
                "approximate=False."
            )

    def _choose_approximate(self, n: int, columns: int) -> bool:
        """Tell whether to search approximately, and require the package if the user does."""
        if isinstance(self.approximate, bool | np.bool_):
            if self.approximate:
                require_package("pynndescent", "approximate=True", "graphs")
            return bool(self.approximate)
        if n < APPROXIMATE_FROM or not self._searches or self.n_neighbors is None or not find_spec("pynndescent"):
            return False
        if callable(self.metric):  # which a tree would call for every pair it looks at
            return _is_compiled(self.metric)
        if columns <= TREE_COLUMNS:
            return False
        from pynndescent.distances import named_distances  # last: for the first time this compiles for half a minute

        return self.metric in named_distances

    def _read_features(self, X: Any) -> Array:
        X = labelled_frame(X)
        require_features(X)
        warn_of_square_features(X)
        self._labels = labels_of(X)
        features: Array = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        return features

    def _read_new(self, X: Any) -> Array:
        features: Array = validate_data(self, labelled_frame(X), dtype=[np.float64, np.float32], reset=False)
        return features

    def _make_search(self) -> NearestNeighbors:
        params = dict(self.metric_params or {})
        p = params.pop("p", 2)  # which scikit-learn wants beside the others
        return NearestNeighbors(metric=self.metric, p=p, metric_params=params or None, n_jobs=self.n_jobs)

    def _graph(self) -> Any:
        rule: dict[str, Any] = {"n_neighbors": self.n_neighbors, "radius": self.radius, "mutual": self.mutual}
        if isinstance(self._fit_X, StoredPairs):
            return graph_from_edges(*self._fit_X.stored_pairs(), self._n, **rule)
        if self._search is None:
            return graph_from_dissimilarities(self._fit_X, **rule)
        if self.approximate_:
            return graph_from_approximate_neighbours(
                self._fit_X,
                n_neighbors=int(self.n_neighbors or 1),
                mutual=self.mutual,
                metric=self.metric,
                metric_params=self.metric_params,
                n_jobs=self.n_jobs,
            )
        return graph_from_features(self._search, **rule)

    def _distances_from(self, rows: IntArray) -> Array:
        if isinstance(self._fit_X, StoredPairs):
            return np.asarray(self._fit_X.rows(rows), dtype=np.float64)
        if self._search is None:
            return np.asarray(self._fit_X[rows], dtype=np.float64)
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
            # As in the fit, all as near as the k-th nearest: the order of the objects must not matter.
            bound = np.partition(known, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1 : self.n_neighbors]
            near = [np.flatnonzero(row) for row in (known <= bound) & np.isfinite(known)]
        return [known[i, row] for i, row in enumerate(near)], near


def _is_compiled(function: Any) -> bool:
    """Tell a function compiled by numba from one in plain Python."""
    return hasattr(function, "py_func")
