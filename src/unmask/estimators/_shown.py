"""How a fitted estimator shows itself: a summary, a plot, and a page in a notebook."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._documentation import DocumentedMixin
from ._picture import draw_map, small_picture
from ._summary import Summary, as_html, key_rows, summarise, title_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes


class ShownMap(DocumentedMixin):
    """What the conditional estimators have in common for those who look at them; goes before ``BaseEstimator``."""

    embedding_: Any
    _own_weights = ""  # or how they were given
    _given: tuple[Callable[[], Any], Any, Callable[[], Any]] | None = None  # X, known and weights of the fit

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
        self._require_map()
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
            X, known, weights = self._recall(known, weights)
        return explore_fitted(self, X, known, table, weights)

    def _note(self, X: Any, known: Any, weights: Any = None) -> None:
        """Note where the data of a fit are, without keeping alive what may be large."""
        self._given = _weakly(X), known, _weakly(weights)

    def _recall(self, known: Any, weights: Any) -> tuple[Any, Any, Any]:
        """Return the data of the fit; raise with the call that gives them again if they are gone."""
        X, known_then, weights_then = (None, None, None)
        if self._given is not None:
            X, known_then, weights_then = self._given[0](), self._given[1], self._given[2]()
        known, weights = known_then if known is None else known, weights_then if weights is None else weights
        if X is None or (weights is None and self._own_weights):
            used = {"known": self._known.features, "weights": self._own_weights}  # type: ignore[attr-defined]
            again = ", ".join(["X", *(f"{name}={name}" for name, was_given in used.items() if was_given)])
            raise ValueError(
                "explore() without data: those of the fit are no longer in memory, and an estimator keeps no copy of "
                f"them; give them again, as in fit: explore({again})."
            )
        return X, known, weights

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_given"}

    def _require_map(self) -> None:
        if not self.embedding_.shape[1]:
            raise ValueError("n_components=0 fits coefficients alone: there is no map to draw; use at least 1.")

    def _for_ready_dissimilarities(self) -> Any:
        """Return an unfitted estimator that does with ready dissimilarities what this one does with them."""
        return clone(self).set_params(metric="precomputed", metric_params=None)

    # ---- in a notebook

    def _repr_html_inner(self) -> str:
        """Return what scikit-learn's ``_repr_html_`` hands on, unless displays are set to text."""
        if not hasattr(self, "embedding_"):
            return str(super()._repr_html_inner())  # type: ignore[misc]
        return fitted_page(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle and hasattr(self, "embedding_"):
            bundle["text/html"] = fitted_page(self)
        return bundle


def _weakly(given: Any) -> Callable[[], Any]:
    """Return what leads to an object while others keep it; what allows no such thing (text, lists, None) is kept."""
    try:
        return weakref.ref(given)
    except TypeError:
        return lambda: given


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
