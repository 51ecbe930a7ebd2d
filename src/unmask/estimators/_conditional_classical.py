"""Conditional classical scaling: the closed form as an estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..checking import refuse_target, require_range
from ..engines import make_engine
from ..kernels import OneBlasThread, Workers, resolve_threads
from ..problem import KnownFeatures, build_pairs, check_dimension, check_known
from ..solvers import canonical_map, closed_form
from ._adjustment import FreeMap, fit_free_map
from ._base import ConditionalMap
from ._fit import assign, forget
from ._fitted_map import FittedMap
from ._parameters import check_parameters
from ._placing import GowerPlacer, transform
from ._random_fits import sample_of
from ._reading import Needs, read
from ._search import AS_ASKED, Refit
from ._tables import block_roots


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalClassicalMDS(ConditionalMap):
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
    eigenvalues_ : ndarray of shape (n_free,)
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

    __metadata_request__transform = {"known": True}
    _takes_missing = False
    transform = transform

    coef: Any = "diagonal"

    def fit(self, X: Any, y: Any = None, *, known: Any = None) -> Self:
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
        self._fit(X, y, known, None, None)
        return self

    def _fit(self, X: Any, y: Any, known: Any, weights: Any, callback: Any, refit: Refit = AS_ASKED) -> None:
        import pandas as pd

        forget(self)
        p = check_parameters(self)
        refuse_target(y)
        with OneBlasThread(), Workers(resolve_threads(self.n_jobs)) as workers:
            data = read(self, X, known, None, Needs(complete="the closed form", in_parts=True), workers)
            checked = data.dissimilarities
            require_range(checked.largest, 1e-150, 1e150)  # eigenvalues are squares
            coded = check_known(data.known, checked.n, checked.labels, self.coef, types=self.known_types)
            _require_linear(coded)
            coded.require_no_error(type(self).__name__)
            check_dimension(p, checked.n, coded)
            engine = make_engine(build_pairs(checked, None, None, workers), workers)
            (U, gram, values), decision = fit_free_map(
                self.adjust,
                refit.n_free,
                p,
                coded,
                lambda dimensions: closed_form(engine, coded, dimensions),
                lambda solution: FreeMap.given(solution[0], coded, (), float(np.abs(solution[0]).max(initial=0.0))),
            )
            fitted = FittedMap(
                U=canonical_map(U),
                gram=gram,
                Z=np.column_stack([U, coded.values @ block_roots(gram, coded)]),
                known=coded,
                scale=engine.scale,
                labels=checked.labels,
                dtype=checked.source.dtype,
                n_components=p,
                decision=decision,
                sample=sample_of(checked.source),
                widths={},
                transformer=data.transformer,
            )
            points = engine.point_stress(fitted.Z) / (2 * engine.total)
            shown = fitted.shown_total(engine, float(points.sum()) * 2 * engine.total) / (2 * engine.total)
            ones, nothing = np.ones((checked.n, 1)), np.empty((checked.n, 0))
            means = engine.graph.squared_product(ones, nothing, 0.0)[:, 0] / checked.n
        squares = np.sum((fitted.known_map - fitted.known_map.mean(axis=0)) ** 2, axis=1)
        attributes = {
            "stress_": float(points.sum()),
            "shown_stress_": shown,
            "stress_per_point_": pd.Series(points, index=checked.labels, name="stress"),
            "eigenvalues_": values / engine.scale**2,
        }
        assign(self, replace(fitted, placer=GowerPlacer(means - squares - squares.mean())), attributes)
        self._map.warn(self.adjust)


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
