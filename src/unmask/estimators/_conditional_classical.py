"""Conditional classical scaling: the closed form as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..checking import refuse_target, require_range
from ..engines import make_engine
from ..kernels import OneBlasThread, Workers, resolve_threads
from ..problem import KnownFeatures, build_pairs, check_dimension, check_known
from ..solvers import closed_form
from ._adjustment import FreeMap, fit_free_map
from ._base import PlacingMap, squared_distances
from ._tables import block_roots


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalClassicalMDS(PlacingMap):
    """Classical scaling of what the known features leave unexplained, in closed form.

    Squared dissimilarities are regressed on the squared differences of the known features, what these explain is
    subtracted, and the rest is double-centred and decomposed. There is one answer, no start and no iteration; it
    minimises no stress, and :class:`ConditionalMDS`, which does, uses it as its first start. Without known
    features this is classical (Torgerson) scaling.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map; 0 fits the coefficients alone.
    metric : str, callable or transformer, default="euclidean"
        How to compute dissimilarities from features, as in :class:`ConditionalMDS`; ``"precomputed"`` if `X` holds
        dissimilarities.
    metric_params : dict, optional
        Further arguments of a metric that is a name or a function.
    coef : {"full", "diagonal", "grouped"} or list of lists, default="diagonal"
        Structure of the coefficients. ``"diagonal"`` regresses on the squares alone, as published; ``"full"`` on
        products of two features as well, so that the result does not depend on how the features are coded.
        Negative estimates count as zero.
    known_types : dict, optional
        Types of known features, as in :class:`ConditionalMDS`; numeric and nominal ones only. A nominal feature is
        regressed on by all products of its coded columns, whatever `coef` is.
    adjust
        Whether the map is shown adjusted for what is known, as in :class:`ConditionalMDS`.
    n_jobs : int, optional
        Threads for the passes over the pairs; None and -1 mean every core.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map, in principal axes. An axis with a negative eigenvalue is zero.
    eigenvalues_ : ndarray of shape (n_free_,)
        Leading eigenvalues of the double-centred remainder.
    adjusted_, free_embedding_, adjusted_embedding_, n_free_, coef_, shared_coef_, stress_, importance_, leak_, \
leak_reference_, free_leak_, knn_leak_, stress_per_point_, object_names_, known_redundant_, \
known_summary_, level_positions_
        As in :class:`ConditionalMDS`.

    Examples
    --------
    >>> from unmask import ConditionalClassicalMDS
    >>> from unmask.datasets import load_kinship
    >>> kin = load_kinship()
    >>> mds = ConditionalClassicalMDS(n_components=2, metric="precomputed")
    >>> U = mds.fit_transform(kin.dissimilarities, known=kin.known[["gender", "degree"]])
    >>> U.shape, round(mds.stress_, 4)
    ((14, 2), 0.0235)
    """

    _NEEDS_ALL = "the closed form"

    coef: Any = "diagonal"

    def fit(self, X: Any, y: Any = None, *, known: Any = None) -> ConditionalClassicalMDS:
        """Compute the map and the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), or (n_objects, n_features)
            Dissimilarities (``metric="precomputed"``), none missing, or features.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), optional
            Known features, one row per object.

        Returns
        -------
        self : ConditionalClassicalMDS
        """
        return self._fit_with_free(X, None, y=y, known=known)

    def _fit_with_free(
        self, X: Any, n_free: int | None, *, y: Any = None, known: Any = None
    ) -> ConditionalClassicalMDS:
        p = self._start_fit()
        refuse_target(y)
        self._note(X, known)
        X, known = self._read_data(X, known)
        with OneBlasThread(), Workers(resolve_threads(self.n_jobs)) as workers:
            checked = self._read_dissimilarities(X, workers)
            require_range(checked.largest, 1e-150, 1e150)  # eigenvalues are squares
            coded = check_known(known, checked.n, checked.labels, self.coef, types=self.known_types)
            _require_linear(coded)
            coded.require_no_error(type(self).__name__)
            check_dimension(p, checked.n, coded)
            engine = make_engine(build_pairs(checked, None, None, workers), workers)
            (U, gram, values), decision = fit_free_map(
                self.adjust,
                n_free,
                p,
                coded,
                lambda dimensions: closed_form(engine, coded, dimensions),
                lambda solution: FreeMap.given(solution[0], coded, (), float(np.abs(solution[0]).max(initial=0.0))),
            )
            Z = np.column_stack([U, coded.values @ block_roots(gram, coded)])
            self._report(U, gram, Z, engine=engine, known=coded, checked=checked, decision=decision)
            self.eigenvalues_ = values / engine.scale**2
            # Column means of the squared dissimilarities less the known part: what a new object's are compared with.
            means = (
                engine.graph.squared_product(np.ones((checked.n, 1)), np.empty((checked.n, 0)), 0.0)[:, 0] / checked.n
            )
            squares = np.sum((self._known_map - self._known_map.mean(axis=0)) ** 2, axis=1)
            self._mean_squares = means - squares - squares.mean()
        self._speak_of_known(decision)
        return self

    @property
    def _reads_parts(self) -> bool:
        return True

    def fit_transform(self, X: Any, y: Any = None, *, known: Any = None) -> Array:
        """Compute the map and return it; see :meth:`fit`."""
        return self._labelled(self.fit(X, y, known=known))

    def _check_new_cells(self, values: Array) -> None:
        if np.isnan(values).any():
            raise ValueError(
                "the new dissimilarities have NaN and the closed form needs all of them; use ConditionalMDS."
            )
        super()._check_new_cells(values)

    def _place(self, delta: Array, known_map: Array, first: int = 0) -> Array:
        """Project onto the fitted axes (Gower 1968): u = -1/2 Lambda^-1 U'(delta^2 - c - column means)."""
        U, c = self._free_map, squared_distances(known_map, self._known_map)
        values = np.sum(U**2, axis=0)
        axes = np.divide(U, values, out=np.zeros_like(U), where=values > 1e-12 * values.max(initial=0.0))
        return np.asarray(-0.5 * (delta**2 - c - self._mean_squares) @ axes)


def _require_linear(known: KnownFeatures) -> None:
    """Raise on what a regression of squares cannot estimate."""
    for feature in known.features:
        if feature.coding.block is not None:
            raise ValueError(
                f"known: {feature.name!r} is {feature.coding.kind}, which the closed form cannot fit; "
                "use ConditionalMDS, or declare the feature numeric or nominal."
            )
        if len(feature.missing):
            raise ValueError(
                f"known has {len(feature.missing)} missing cells in column {feature.name!r}, which the closed form "
                "cannot estimate; use ConditionalMDS, or fill them."
            )
