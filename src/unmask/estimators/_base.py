"""What all conditional estimators share: parameters, the attributes of a fit, and what can be asked of a fitted map."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._documentation import DocumentedMixin
from .._typing import Array
from ..checking import find_labels, known_by_name, new_rows, object_names, quote, with_labels
from ..cluster import is_dask_array, is_dask_frame, over_parts
from ..dissimilarities import make_transformer, set_input_tags
from ._fitted_map import FittedMap
from ._fitting import read_tables
from ._many import MOST_PREDICTED
from ._picture import draw_map, small_picture
from ._placing import NewObjects, place, read_new
from ._summary import Summary, as_html, key_rows, summarise, title_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalMap(DocumentedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators that make a map from dissimilarities given known features."""

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, self._make_transformer, takes_missing=self._takes_missing)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def _make_transformer(self, dtype: str = "float64", *, samples: bool = False, random_state: Any = None) -> Any:
        """Return the unfitted transformer that makes dissimilarities of X; None if X holds them.

        ``samples``: some pairs will stand for all. ``random_state`` is that of the fit, if it continues another.
        """
        return make_transformer(self.metric, self.metric_params, dtype=dtype, n_jobs=self.n_jobs)

    def _for_ready_dissimilarities(self) -> Any:
        """Return an unfitted estimator that does with ready dissimilarities what this one does with them."""
        return clone(self).set_params(metric="precomputed", metric_params=None)

    def _assign(self, fitted: FittedMap, attributes: dict[str, Any]) -> None:
        """Assign the attributes of a fit: those of every map, and those of the estimator."""
        self._map = fitted
        self.embedding_, self.free_embedding_ = fitted.embedding, fitted.free_embedding
        self.adjusted_, self.n_free_ = fitted.decision.adjusted, fitted.U.shape[1]
        self.shown_share_, self.free_leak_ = fitted.shown_share, fitted.decision.leak.leak
        self.leak_, self.leak_reference_ = fitted.leak.leak, fitted.leak.reference
        self.coef_, self.shared_coef_ = fitted.coef_table(), fitted.shared_table()
        self.importance_, self.level_positions_ = fitted.importance_table(), fitted.level_table()
        self.known_summary_, self.known_redundant_ = fitted.summary_table(), fitted.redundant()
        self.known_imputed_, self.known_corrected_ = fitted.imputed, fitted.corrected_table()
        if hasattr(self.metric, "fit"):
            self.metric_ = fitted.transformer
        for name, value in attributes.items():
            setattr(self, name, value)

    @property
    def object_names_(self) -> Any:
        """Labels of the objects in the order of the map's rows, as an array; their numbers if they had none."""
        check_is_fitted(self)
        return object_names(self._map.labels, len(self.embedding_))

    def _labelled(self, fitted: Self) -> Array:
        """Return the map, with the objects' labels where the output is set to frames."""
        labelled: Array = with_labels(self, fitted.embedding_, fitted._map.labels)
        return labelled

    @property
    def adjusted_embedding_(self) -> Array:
        """The map adjusted for what is known, whether it is the one that is shown or not."""
        check_is_fitted(self)
        return self._map.adjusted_embedding

    @property
    def knn_leak_(self) -> pd.DataFrame:
        """How well neighbours on the map tell each known feature, beside what chance makes; computed when asked for.

        ``score``: the share of objects whose level is the most common one among their nearest neighbours, or the
        correlation of a number with the mean of the neighbours'; ``baseline`` and ``reference``: its mean and 95% point
        over maps whose rows were permuted and which, if the map is adjusted, are hardly correlated with what is known
        either; ``p_value``. Above 5,000 objects of a sample.
        """
        check_is_fitted(self)
        return self._map.knn_leak.copy()

    def predict_dissimilarities(self, objects: Any = None) -> Any:
        """Return the fitted distances between objects, those of missing pairs among them.

        Parameters
        ----------
        objects : array-like, optional
            Labels of some objects, or their positions where they have no labels: for the distances between these only.
            By default all, whose table takes memory that grows with the square of their number.

        Returns
        -------
        DataFrame of shape (n_objects, n_objects)
            Distances of map and known features together, in the units of the dissimilarities; where `level` transforms
            these, in the units of ``disparities_``. Of GeneralMDS city-block distances if these were fitted; where its
            fitted value is not a distance in the units of the dissimilarities, as with ``distance="student"``, neither
            are these.
        """
        import pandas as pd

        check_is_fitted(self)
        n, labels_of_all = len(self._map.U), self._map.labels
        if objects is None and self._map.sampled and n > MOST_PREDICTED:
            raise ValueError(
                f"a table of the distances between all {n:,} objects would not fit into memory; name some of them: "
                "predict_dissimilarities(objects)."
            )
        every = pd.RangeIndex(n) if labels_of_all is None else labels_of_all
        labels = every if objects is None else pd.Index(objects)
        at = np.arange(n) if objects is None else find_labels(every, labels)
        if (at < 0).any():
            raise ValueError(f"objects names {quote(labels[at < 0])}, which were not fitted; name fitted objects.")
        return pd.DataFrame(self._map.distances(at), index=labels, columns=labels)

    def summary(self) -> Summary:
        """Return what was asked, what was found, whether it is good, and what to do next.

        Returns
        -------
        Summary
            ``print`` it, or let a notebook show it; ``rows`` has its lines. Stress stands beside that of the same
            dissimilarities in random order, given the same known features: the median of 9 fits from two starts each.
            Of more than 100 objects, 100 are taken for this; random data of all have more, so that a map that is
            better than these is better than those.

        Examples
        --------
        >>> from unmask import ConditionalClassicalMDS
        >>> from unmask.datasets import load_kinship
        >>> kin = load_kinship()
        >>> mds = ConditionalClassicalMDS(metric="precomputed").fit(kin.dissimilarities, known=kin.known[["gender"]])
        >>> print(mds.summary().title)
        ConditionalClassicalMDS: a map of 14 objects in 2 dimensions, given gender
        """
        check_is_fitted(self)
        return summarise(self)

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

    def explore(self, X: Any = None, *, known: Any = None, table: Any = None, weights: Any = None) -> Any:
        """Show the workbench, in which a study goes on from here by mouse or keyboard, in Jupyter or marimo.

        The map is fitted again in the background, with the same parameters; without an integer as ``random_state`` it
        may be another of several that fit as well. Needs the extra ``app``.

        Parameters
        ----------
        X, known, weights
            As in ``fit``. Without `X` they are those of the fit, as long as these are in memory: an estimator keeps no
            copy of them.
        table : array-like of shape (n_objects, n_columns), optional
            Further columns, to colour by, to be compared with the map and to be made known.

        Returns
        -------
        Workbench
            A widget, which a notebook shows. ``workbench.study`` is the study; ``workbench.close()`` ends the process
            that fits the maps.
        """
        check_is_fitted(self)
        try:
            from ..app import explore_fitted
        except ImportError as missing:
            raise ImportError(f"explore() needs {missing.name}; install it with: pip install 'unmask[app]'.") from None
        if X is None:
            X, known, weights = _recalled(self._map, known, weights)
        return explore_fitted(self, X, known, table, weights)

    # ---- in a notebook

    def _repr_html_inner(self) -> str:
        """Return what scikit-learn's ``_repr_html_`` hands on, unless displays are set to text."""
        return fitted_page(self) if hasattr(self, "embedding_") else str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and hasattr(self, "embedding_"):
            bundle["text/html"] = fitted_page(self)
        return bundle


class PlacingMap(ConditionalMap):
    """Base of the estimators that can also place new objects on a finished map."""

    __metadata_request__transform = {"known": True}

    def transform(self, X: Any, *, known: Any = None) -> Array:
        """Place new objects on the fitted map.

        Parameters
        ----------
        X : array-like of shape (n_new, n_objects), or (n_new, n_features)
            Dissimilarities of the new objects to the fitted ones (``metric="precomputed"``; a DataFrame's columns are
            matched by label), or their features. Of an array or a table of Dask, parts are placed where they lie.
        known : array-like of shape (n_new, n_known), optional
            Known features of the new objects; needed when the map was fitted with known features.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Coordinates on the map; an array of Dask, not computed yet, if `X` is one. The map itself does not change; a
            fitted object returns to its own point (to one of theirs, if several have the same dissimilarities and known
            features). Pairs are weighted by the scheme of the fit; an array of weights says nothing about new objects,
            which then count each fitted object the same.
        """
        check_is_fitted(self)
        if is_dask_array(X) or is_dask_frame(X):
            parts: Array = self._placed_in_parts(X, known)
            return parts
        new = self._read_new(X, known)
        placed: Array = with_labels(self, place(self._map, new, self.n_jobs), new.labels)
        return placed

    def _placed_in_parts(self, X: Any, known: Any) -> Any:
        """Return an array of Dask, of which each part is placed where it lies when it is asked for."""
        # A copy that returns plain arrays and keeps to one thread: parts are placed side by side.
        alone = copy(self).set_params(n_jobs=1).set_output(transform="default")
        X, known = known_by_name(X, known, features=not self.__sklearn_tags__().input_tags.pairwise)

        def place(part: Any, known: Any) -> Array:
            return np.asarray(alone.transform(part, known=known))

        return over_parts(place, X, known, self.embedding_.shape[1], self.embedding_.dtype)

    def _read_new(self, X: Any, known: Any) -> NewObjects:
        """Return checked new objects."""
        X, known = read_tables(self, X, known)
        if self.__sklearn_tags__().input_tags.pairwise:
            X = new_rows(X, self._map.labels, len(self._map.U))
        return read_new(self._map, X, known, type(self).__name__)


def _recalled(fitted: FittedMap, known: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return the data of a fit; raise if they are no longer in memory."""
    X, known_then, weights_then = (None, None, None)
    if fitted.given is not None:
        X, known_then, weights_then = fitted.given[0](), fitted.given[1], fitted.given[2]()
    known, weights = known_then if known is None else known, weights_then if weights is None else weights
    if X is None or (weights is None and fitted.weights_given):
        used = {"known": fitted.known.features, "weights": fitted.weights_given}
        again = ", ".join(["X", *(f"{name}={name}" for name, was_given in used.items() if was_given)])
        raise ValueError(
            "explore() without data: those of the fit are no longer in memory, and an estimator keeps no copy of "
            f"them; give them again, as in fit: explore({again})."
        )
    return X, known, weights


def fitted_page(estimator: Any) -> str:
    """Return the map of a fitted estimator and the numbers that are ready at hand, as HTML that needs nothing else."""
    picture = ""
    if estimator.embedding_.shape[1]:
        picture = f'<img alt="the map" style="max-width:100%" src="{small_picture(estimator)}">'
    numbers = as_html(title_of(estimator), key_rows(estimator))
    address = estimator._get_doc_link()
    page = address and f', <a href="{address}" rel="noreferrer" target="_blank">documentation</a>'
    more = f"<p>More: <code>summary()</code>, <code>plot(color=…)</code>{page}</p>"
    box = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:1em"
    return f'<div style="{box}">{picture}<div>{numbers}{more}</div></div>'
