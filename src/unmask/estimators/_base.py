"""What all estimators share, and what conditional estimators share besides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._documentation import DocumentedMixin
from .._typing import Array
from ..checking import object_names, with_labels
from ..dissimilarities import make_transformer, set_input_tags
from ..progress import Callback
from ._fitted_map import FittedMap, positions_of
from ._fitting import AS_ASKED, Refit, fit_map
from ._many import MOST_PREDICTED
from ._picture import draw_map, small_picture
from ._summary import Summary, as_html, key_rows, summarise, title_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
        """Fit and return the map.

        Parameters
        ----------
        X, y, **fit_params
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_objects, n_components)
            The map.
        """
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

    def _fit(
        self,
        X: Any,
        y: Any = None,
        known: Any = None,
        weights: Any = None,
        callback: Callback | None = None,
        refit: Refit = AS_ASKED,
    ) -> Self:
        fit_map(self._method(self), X, y, known, weights, callback, refit)
        return self

    def _assign(self, fitted: FittedMap, attributes: dict[str, Any]) -> None:
        """Assign the attributes of a fit: those of every map, and those of the estimator."""
        self._map = fitted
        if hasattr(self.metric, "fit"):
            attributes["metric_"] = fitted.transformer
        for name, value in (fitted.attributes() | attributes).items():
            setattr(self, name, value)

    @property
    def adjusted_embedding_(self) -> Array:
        """The map adjusted for what is known, whether it is the one that is shown or not."""
        check_is_fitted(self)
        adjusted: Array = self._map.adjusted_embedding
        return adjusted

    @property
    def knn_leak_(self) -> pd.DataFrame:
        """How well neighbours on the map tell each known feature, beside what chance makes; computed when asked for.

        ``score``: the share of objects whose level is the most common one among their nearest neighbours, or the
        correlation of a number with the mean of the neighbours'; ``baseline`` and ``reference``: its mean and 95% point
        over maps whose rows were permuted and which, if the map is adjusted, are hardly correlated with what is known
        either; ``p_value``. Above 5,000 objects of a sample.
        """
        check_is_fitted(self)
        table: pd.DataFrame = self._map.knn_leak.copy()
        return table

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

    def _html_repr(self) -> str:
        """Return the page for a notebook: the map and its main numbers, or scikit-learn's box before a fit."""
        return fitted_page(self) if hasattr(self, "embedding_") else str(super()._html_repr())


def _recalled(fitted: FittedMap, known: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return the data of a fit; raise if they are no longer in memory."""
    X, known_then, weights_then = (None,) * 3 if fitted.given is None else [recall() for recall in fitted.given]
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
    """Return the map of a fitted estimator and its main numbers as self-contained HTML."""
    picture = ""
    if estimator.embedding_.shape[1]:
        picture = f'<img alt="the map" style="max-width:100%" src="{small_picture(estimator)}">'
    numbers = as_html(title_of(estimator), key_rows(estimator))
    address = estimator._get_doc_link()
    page = address and f', <a href="{address}" rel="noreferrer" target="_blank">documentation</a>'
    more = f"<p>More: <code>summary()</code>, <code>plot(color=…)</code>{page}</p>"
    box = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:1em"
    return f'<div style="{box}">{picture}<div>{numbers}{more}</div></div>'
