"""What all estimators share, and what conditional estimators share besides."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._documentation import DocumentedMixin
from .._typing import Array
from ..checking import is_unlabelled, object_names, with_labels
from ..dissimilarities import make_transformer, set_input_tags
from ..progress import Callback
from ._fit import Method, fit_map
from ._fitted_map import FromMap, positions_of
from ._summary import Summary, as_html, key_rows, summarise, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of a table of the distances between all objects.
MOST_PREDICTED = 20_000
# Inches and dots per inch of the small picture: some 20 kB, whatever the number of objects.
SIZE, DPI = (4.6, 3.8), 90
MOST_LABELS = 40


class MapEstimator(DocumentedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators. A fitted one has one private attribute, ``_map``, which has the objects' ``labels``."""

    _map: Any

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    @property
    def object_names_(self) -> Any:
        """Labels of the objects in the order of the map's rows, as an array; their numbers if they had none."""
        check_is_fitted(self)
        return object_names(self._map.labels, len(self.embedding_))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit and return the map; the parameters are those of :meth:`fit`."""
        self.fit(X, y, **fit_params)  # type: ignore[attr-defined]
        labelled: Array = with_labels(self, self.embedding_, self._map.labels)
        return labelled

    def plot(self, *, color: Any = None, shape: Any = None, labels: Any = None, ax: Axes | None = None) -> Axes:
        """Draw the map; :func:`unmask.plotting.plot_map` draws more of it.

        Parameters
        ----------
        color, shape : Series or array-like of length n_objects, optional
            What to colour by, and what to show by markers.
        labels : sequence of length n_objects, optional
            Labels of the objects; by default those of the data, if they had any.
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
            The Axes drawn on.
        """
        check_is_fitted(self)
        if not self.embedding_.shape[1]:
            raise ValueError("n_components=0 fits coefficients alone: there is no map to draw; use at least 1.")
        for name, column in (("color", color), ("shape", shape)):
            if isinstance(column, str):
                raise ValueError(f"{name}={column!r} is a name, and a map keeps no columns; pass table[{column!r}].")
        return draw_map(self, color=color, shape=shape, labels=labels, ax=ax)


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalMap(MapEstimator):
    """Base of the estimators that make a map from dissimilarities, given known features."""

    # `known` travels through a pipeline by metadata routing without being asked for twice.
    __metadata_request__fit = {"known": True}

    n_components: int = field(default=2, kw_only=False)
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    coef: Any = "auto"
    known_types: dict[Any, Any] | None = None
    adjust: Any = False
    n_jobs: int | None = None
    _takes_missing = True  # dissimilarities
    _method: ClassVar[Method]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, self._make_transformer, takes_missing=self._takes_missing)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _make_transformer(self, dtype: str = "float64", *, samples: bool = False, random_state: Any = None) -> Any:
        """Return the unfitted transformer that makes dissimilarities of X; None if X holds them.

        ``samples``: some pairs will stand for all. ``random_state`` is that of the fit, if it continues another.
        """
        return make_transformer(self.metric, self.metric_params, dtype=dtype, n_jobs=self.n_jobs)

    def _for_ready_dissimilarities(self) -> Any:
        """Return an unfitted estimator that does with ready dissimilarities what this one does with them."""
        return clone(self).set_params(metric="precomputed", metric_params=None)

    # Parameters that not every estimator has.
    solver, orthogonal, init, random_state, verbose = "lbfgs", False, "closed-form", 0, 0

    adjusted_ = FromMap("adjusted")
    free_embedding_ = FromMap("free_embedding")
    adjusted_embedding_ = FromMap("adjusted_embedding")
    n_free_ = FromMap("n_free")
    shown_share_ = FromMap("shown_share")
    leak_ = FromMap("leak.leak")
    leak_reference_ = FromMap("leak.reference")
    free_leak_ = FromMap("decision.leak.leak")
    knn_leak_ = FromMap("knn_leak")
    coef_ = FromMap("coef")
    shared_coef_ = FromMap("shared_coef")
    importance_ = FromMap("importance")
    level_positions_ = FromMap("level_positions")
    known_summary_ = FromMap("known_summary")
    known_redundant_ = FromMap("known_redundant")
    known_imputed_ = FromMap("known_imputed")
    known_corrected_ = FromMap("known_corrected")

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        known: Any = None,
        weights: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn the map and the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), or (n_objects, n_features)
            Dissimilarities (``metric="precomputed"``; NaN where missing), or features. Dissimilarities may also be a
            condensed vector, a long table of pairs, a scipy sparse matrix (absent entries are missing), a
            ``DistanceMatrix`` of scikit-bio, a graph of networkx or igraph, of which shortest paths are taken; or an
            array or a file that is read in parts (:doc:`/scaling`). Labels align `known` and `weights`.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), optional
            Known features, one row per object: numbers, text, booleans, categories; missing cells are estimated. Or
            names of columns of `X`, which then leave the features, or of attributes of a graph's nodes.
        weights : array-like or scipy sparse matrix of shape (n_objects, n_objects), optional
            Weights of the pairs; 0 leaves a pair out. With a sparse matrix only the stored pairs are passed over.
        callback : callable or list of callables, optional
            Called with an :class:`unmask.Progress` after every iteration; returning True stops the fit.

        Returns
        -------
        self : object
        """
        fit_map(self, self._method, X, y, known, weights, callback)
        return self

    def predict_dissimilarities(self, objects: Any = None) -> Any:
        """Return the fitted distances between objects, those of missing pairs among them.

        Parameters
        ----------
        objects : array-like, optional
            Labels of some objects, or their positions where they have no labels; by default all.

        Returns
        -------
        DataFrame of shape (n_objects, n_objects)
            Distances of map and known features together, in the units of the dissimilarities; where `level` transforms
            these, in the units of ``disparities_``. GeneralMDS returns the distances it fits, unless its fitted value
            is not a distance, as with ``distance="student"``.
        """
        import pandas as pd

        check_is_fitted(self)
        n = len(self._map.U)
        if objects is None and self._map.sampled and n > MOST_PREDICTED:
            raise ValueError(
                f"a table of the distances between all {n:,} objects would not fit into memory; name some of them: "
                "predict_dissimilarities(objects)."
            )
        labels, at = positions_of(self._map.labels, n, objects)
        return pd.DataFrame(self._map.distances(at), index=labels, columns=labels)

    def summary(self) -> Summary:
        """Return what was asked, what was found, whether it is good, and what to do next.

        Returns
        -------
        Summary
            ``print`` it, or let a notebook show it; ``rows`` has its lines. Stress stands beside that of the same
            dissimilarities in random order, given the same known features: the median of 9 fits from two starts each,
            of at most 100 objects.

        Examples
        --------
        >>> from unmask import ConditionalClassicalMDS
        >>> from unmask.datasets import load_kinship
        >>> kin = load_kinship()
        >>> print(ConditionalClassicalMDS(metric="precomputed").fit(kin.dissimilarities).summary().title)
        ConditionalClassicalMDS: a map of 14 objects in 2 dimensions, given nothing
        """
        check_is_fitted(self)
        return summarise(self)

    def explore(self, X: Any, *, known: Any = None, table: Any = None, weights: Any = None) -> Any:
        """Show the workbench, in which a study goes on from here by mouse or keyboard, in Jupyter or marimo.

        The map is fitted again in the background, with the same parameters. Needs the extra ``app``.

        Parameters
        ----------
        X, known, weights
            The data, as in ``fit``.
        table : array-like of shape (n_objects, n_columns), optional
            Further columns, to colour by, to compare with the map and to make known.

        Returns
        -------
        Workbench
            A widget; ``workbench.study`` is the study, and ``workbench.close()`` ends the process that fits the maps.
        """
        try:
            from ..app import explore_fitted
        except ImportError as missing:
            raise ImportError(f"explore() needs {missing.name}; install it with: pip install 'unmask[app]'.") from None
        return explore_fitted(self, X, known, table, weights)

    def _html_repr(self) -> str:
        """Return the page for a notebook: the map and its main numbers, or scikit-learn's box before a fit."""
        return fitted_page(self) if hasattr(self, "embedding_") else str(super()._html_repr())


def draw_map(estimator: Any, *, labels: Any = None, max_labels: int = 150, **options: Any) -> Axes:
    """Draw the map of a fitted estimator, without labels where these would only count the objects."""
    from ..plotting import plot_map  # when it is needed, so that fitting needs no matplotlib

    counted = estimator._map.labels is not None and is_unlabelled(estimator._map.labels)
    return plot_map(estimator, labels=labels, max_labels=0 if labels is None and counted else max_labels, **options)


def fitted_page(estimator: Any) -> str:
    """Return the map of a fitted estimator and its main numbers as self-contained HTML."""
    picture = ""
    if estimator.embedding_.shape[1]:
        from matplotlib.figure import Figure

        figure, file = Figure(figsize=SIZE, layout="constrained"), io.BytesIO()
        draw_map(estimator, max_labels=MOST_LABELS, ax=figure.add_subplot())
        figure.savefig(file, format="png", dpi=DPI)
        encoded = base64.b64encode(file.getvalue()).decode("ascii")
        picture = f'<img alt="the map" style="max-width:100%" src="data:image/png;base64,{encoded}">'
    numbers = as_html(title_of(estimator), key_rows(estimator))
    address = estimator._get_doc_link()
    page = address and f', <a href="{address}" rel="noreferrer" target="_blank">documentation</a>'
    more = f"<p>More: <code>summary()</code>, <code>plot(color=…)</code>{page}</p>"
    box = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:1em"
    return f'<div style="{box}">{picture}<div>{numbers}{more}</div></div>'
