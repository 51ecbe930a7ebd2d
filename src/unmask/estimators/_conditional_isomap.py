"""Conditional Isomap: a neighbourhood graph, shortest paths, conditional scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..dissimilarities import Geodesic
from ._conditional_mds import ConditionalMDS

# Objects that paths are found from with the stochastic solver, unless `n_landmarks` says otherwise.
PATHS_FROM = 500


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalIsomap(ConditionalMDS):
    """Conditional scaling of geodesic dissimilarities, which follow a curved surface.

    :class:`unmask.dissimilarities.Geodesic` followed by :class:`ConditionalMDS`, with the parameters of both.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map; 0 fits the coefficients alone.
    n_neighbors : int or None, default=5
        An object's neighbours are this many nearest ones. None if `radius` is given.
    radius : float, optional
        An object's neighbours are those within this distance.
    mutual : bool, default=False
        Keep an edge only if each of the two objects is a neighbour of the other.
    on_disconnected : {"join", "error"}, default="join"
        Join the parts of a disconnected graph with a warning, or raise an error.
    n_landmarks : int, optional
        Find only the paths from so many random objects to all others, and fit these: for many objects. By default the
        paths between all objects, or from 500 with ``solver="stochastic"``, which ``solver="auto"`` is where all would
        take more than 3 GB.
    metric, metric_params, coef, known_types, weights, level, ties, orthogonal, adjust, init, n_init, solver, \
max_iter, tol, n_jobs, random_state, verbose
        As in :class:`ConditionalMDS`. ``weights`` refers to the geodesic dissimilarities.

    Attributes
    ----------
    geodesic_ : Geodesic
        The fitted graph (``geodesic_.graph_``) and shortest paths (``geodesic_.dissimilarities_``).
    embedding_, coef_, stress_
        And all other attributes of :class:`ConditionalMDS`; ``disparities_`` are of the geodesic dissimilarities.

    References
    ----------
    A. T. Bui, "Conditional manifold learning", arXiv:2111.13646.

    Examples
    --------
    >>> from unmask import ConditionalIsomap
    >>> from unmask.datasets import load_kinship
    >>> kin = load_kinship()
    >>> isomap = ConditionalIsomap(n_components=2, n_neighbors=5, metric="precomputed", random_state=0)
    >>> U = isomap.fit_transform(kin.dissimilarities, known=kin.known[["gender", "degree"]])
    >>> U.shape, round(isomap.stress_, 4)
    ((14, 2), 0.0273)
    """

    n_neighbors: int | None = 5
    radius: float | None = None
    mutual: bool = False
    n_landmarks: int | None = None
    on_disconnected: str = "join"

    def _make_transformer(self, dtype: str = "float64", *, samples: bool = False, random_state: Any = None) -> Geodesic:
        # With the seed of a checkpoint the landmarks are the same.
        own = {"dtype": dtype, "random_state": self.random_state if random_state is None else random_state}
        if samples and self.n_landmarks is None:
            own["n_landmarks"] = PATHS_FROM
        return Geodesic(**self._parameters_of(Geodesic) | own)

    @property
    def geodesic_(self) -> Geodesic:
        """The fitted graph and shortest paths."""
        check_is_fitted(self)
        geodesic: Geodesic = self._map.transformer
        return geodesic

    def _for_ready_dissimilarities(self) -> ConditionalMDS:
        ready = {"metric": "precomputed", "metric_params": None}
        return ConditionalMDS(**self._parameters_of(ConditionalMDS) | ready)

    def _parameters_of(self, part: Any) -> dict[str, Any]:
        names = part().get_params(deep=False)
        return {name: value for name, value in self.get_params(deep=False).items() if name in names}
