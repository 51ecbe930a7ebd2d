"""Geodesic dissimilarities: shortest paths through a neighbourhood graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .._typing import Array, IntArray
from ..checking import (
    StoredPairs,
    labelled_frame,
    labels_of,
    require_features,
    require_package,
    warn_of_square_features,
)
from ..graphs import (
    are_near,
    near_pairs,
    nearest_neighbours,
    reach_of,
    search_algorithm,
    shortest_paths,
    symmetric_graph,
    takes_usearch,
)
from ..progress import current_watch, series
from ._landmarks import LandmarkRows
from ._metrics import NAMES
from ._transformers import ComparingTransformer

# Metrics by which scikit-learn searches for neighbours of complete tables; of the last two if it need learn nothing.
SEARCHED = {name for names in VALID_METRICS.values() for name in names} & {*NAMES} - {"nan_euclidean"}
LEARNING = ("seuclidean", "mahalanobis")


@dataclass(eq=False, repr=False, kw_only=True)
class Geodesic(ComparingTransformer):
    """Replace dissimilarities by the lengths of shortest paths between near objects.

    Near objects are joined by edges; the dissimilarity of two objects becomes the length of the shortest path between
    them. On a curved surface this follows the surface, where the straight line would leave it. The first two stages of
    Isomap; put :class:`unmask.ConditionalMDS` with ``metric="precomputed"`` behind it for the third.

    A path from a new object goes through one of its neighbours among the fitted objects (with ``mutual``, one that has
    it among its own, or else the nearest); the graph does not change. With `n_landmarks` it is NaN where neither the
    fitted object nor a neighbour on the way to it is a landmark.

    Time grows with N squared times log N, memory with N squared; with `n_landmarks` = L with L N log N and L N.
    Neighbours are found exactly, except for more than 5e11 = N² times columns (100,000 objects with 50 columns) in more
    than 5 columns: there the package usearch (the extra ``graphs``) finds about 97% of the `n_neighbors` nearest by
    Euclidean, squared Euclidean and cosine distances.

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
        makes: an edge stored one way counts, and with ``n_neighbors=None, radius=np.inf`` all edges do.
    metric_params : dict, optional
        Further arguments of a metric that is a name or a function.
    on_disconnected : {"join", "error"}, default="join"
        What to do with a graph that falls into parts: join them by the shortest edges between them, with a warning that
        counts them, or raise an error.
    n_landmarks : int, optional
        Find only the paths from so many objects, drawn at random, to all others, for many objects: the result is then a
        :class:`LandmarkRows`, to be read in parts, in which all other dissimilarities are missing.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of landmarks.
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
        Number of parts that neighbours alone leave.

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
    on_disconnected: str = "join"
    dtype: str = "float64"
    n_landmarks: int | None = None
    random_state: Any = None
    n_jobs: int | None = None

    _RULES = {
        "n_neighbors": (None, 1),
        "mutual": bool,
        "on_disconnected": ("join", "error"),
        "n_landmarks": (None, 2),
        "n_jobs": None,
        "dtype": ("float64", "float32"),
    }
    _TAKES_MISSING = True
    _WIDEN = "n_neighbors or radius"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._searches:
            tags.input_tags.sparse = False
        return tags

    @property
    def _searches(self) -> bool:
        """Whether neighbours are searched for among features, rather than in a table of all dissimilarities."""
        if not isinstance(self.metric, str):
            return callable(self.metric) and not hasattr(self.metric, "fit")
        return self.metric in SEARCHED and (self.metric not in LEARNING or bool(self.metric_params))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if (self.n_neighbors is None) == (self.radius is None):
            raise ValueError(
                f"n_neighbors={self.n_neighbors!r} and radius={self.radius!r}: give one of them and None for the other."
            )
        radius = self.radius
        if radius is not None and (not isinstance(radius, Real) or isinstance(radius, bool) or not radius > 0):
            raise ValueError(f"radius={radius!r} must be a number above 0.")

    # ---- the graph and its paths

    def _fit(self, X: Any) -> None:
        watch = current_watch()
        watch.begin("graph")
        self._fit_X: Any = self._read_features(X, True) if self._searches else self._compare(X)
        self._n = self._fit_X.n if isinstance(self._fit_X, StoredPairs) else len(self._fit_X)
        self._require_neighbours(self._n)
        self._search = self._make_search() if self._searches else None
        self.graph_ = self._joined(self._graph(), self._distances_from)
        watch.begin("paths")
        self.dissimilarities_ = self._paths()

    def _read_features(self, X: Any, reset: bool) -> Array:
        X = labelled_frame(X)
        if reset:
            require_features(X)
            warn_of_square_features(X)
            self._labels = labels_of(X)
        options = {"dtype": [np.float64, np.float32], "ensure_min_samples": 1 + reset, "reset": reset}
        return np.asarray(validate_data(self, X, **options))

    def _make_search(self) -> NearestNeighbors:
        params = dict(self.metric_params or {})
        how = {"p": params.pop("p", 2), "algorithm": search_algorithm(self.metric, *self._fit_X.shape)}
        search = NearestNeighbors(metric=self.metric, metric_params=params or None, n_jobs=self.n_jobs, **how)
        return search.fit(self._fit_X)

    def _graph(self) -> Any:
        """Return the graph of neighbours, and note how far each object's neighbourhood reaches."""
        k, n, radius = self.n_neighbors, self._n, self.radius
        self._reach: Array = np.full(n, radius, dtype=np.float64)
        if self._search is not None and k is not None:
            if takes_usearch(self._search.effective_metric_, *self._fit_X.shape):
                require_package("usearch", f"the search for the neighbours of {n:,} objects", "graphs")
            with series(None) as report:
                lengths, neighbours = nearest_neighbours(self._search, self._fit_X, k, partial(report, "graph"))
            self._reach = lengths[:, -1]
            ends = np.repeat(np.arange(n), k), neighbours.ravel()
            return symmetric_graph(*ends, lengths.ravel(), n, mutual=self.mutual)
        if self._search is not None:
            near = self._search.radius_neighbors_graph(radius=radius, mode="distance")
        elif isinstance(self._fit_X, StoredPairs):
            i, j, lengths = self._fit_X.stored_pairs()
            near = symmetric_graph(i, j, lengths.astype(np.float64), n)
        else:
            near = near_pairs(self._fit_X.__getitem__, n, k, radius)
        if k is not None:
            self._reach = reach_of(near, k)
        ends = near.tocoo().coords
        kept = near.data <= self._reach[ends[0]]
        return symmetric_graph(ends[0][kept], ends[1][kept], near.data[kept], n, mutual=self.mutual)

    def _distances_from(self, rows: IntArray) -> Array:
        if self._search is not None:
            params = self.metric_params or {}
            return np.asarray(pairwise_distances(self._fit_X[rows], self._fit_X, metric=self.metric, **params))
        table = self._fit_X.rows(rows) if isinstance(self._fit_X, StoredPairs) else self._fit_X[rows]
        return np.asarray(table, dtype=np.float64)

    def _paths(self) -> Any:
        number, n = self.n_landmarks, self._n
        if number is None:
            return shortest_paths(self.graph_, self.dtype)
        if number > n:
            raise ValueError(f"n_landmarks={number} but there are {n} objects; leave it out to use them all.")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        landmarks = np.sort(rng.choice(n, number, replace=False))
        strip = shortest_paths(self.graph_, self.dtype, landmarks)
        among = np.triu(strip[:, landmarks])  # sums in another order differ by rounding
        strip[:, landmarks] = among + among.T
        return LandmarkRows(strip, landmarks)

    def _labelled(self, D: Any, labels: Any) -> Any:
        return D if self.n_landmarks is not None else super()._labelled(D, labels)

    # ---- new objects

    def _new(self, X: Any) -> tuple[Array, Any]:
        values, labels = self._compare_new(X) if self._search is None else (self._read_features(X, False), labels_of(X))
        D = np.empty((len(values), self._n), dtype=self.dtype)
        paths = self.dissimilarities_
        read = paths.rows if isinstance(paths, LandmarkRows) else paths.__getitem__
        for row, (lengths, neighbours) in enumerate(zip(*self._neighbours_of(values), strict=True)):
            if not len(neighbours):
                raise ValueError(
                    f"new object {row} has no neighbour among the fitted objects (n_neighbors={self.n_neighbors}, "
                    f"radius={self.radius}); enlarge these, or leave it out."
                )
            steps = np.asarray(lengths)
            if self._search is not None:  # with many columns scikit-learn finds distances that leave equal rows apart
                steps = np.where((self._fit_X[neighbours] == values[row]).all(axis=1), 0.0, steps)
            first = self._first_steps(steps, np.asarray(neighbours))
            # With landmarks, a path that was not searched for is NaN; another neighbour may have it.
            D[row] = np.fmin.reduce(steps[first][:, None] + read(neighbours[first]), axis=0)
        return D, labels

    def _neighbours_of(self, values: Array) -> tuple[Any, Any]:
        """Return for each new object the lengths to its neighbours among the fitted ones, and which these are."""
        if self._search is None:
            near = [np.flatnonzero(row) for row in are_near(values, self.n_neighbors, self.radius)]
            return [values[i, row] for i, row in enumerate(near)], near
        if self.n_neighbors is None:
            lengths, indices = self._search.radius_neighbors(values, radius=self.radius)
        else:
            lengths, indices = self._search.kneighbors(values, n_neighbors=self.n_neighbors)
        return lengths, indices

    def _first_steps(self, lengths: Array, neighbours: IntArray) -> Any:
        """Return which neighbours a path starts through: those it equals; if ``mutual``, those that have it; or all."""
        same = lengths == 0
        if same.any() or not self.mutual:
            return same if same.any() else slice(None)
        mutual = lengths <= self._reach[neighbours]
        return mutual if mutual.any() else lengths == lengths.min()
