"""Conditional classical scaling: the closed form as an estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..checking import require_range
from ..engines import make_engine
from ..problem import Problem, build_pairs, check_dimension, check_known
from ._base import ConditionalMap
from ._fit import Method, fit_map
from ._fitted_map import FittedMap
from ._placing import GowerPlacer, transform
from ._reading import Data, Inputs, Needs, read
from ._search import Search, Task, solve


def read_complete(estimator: Any, inputs: Inputs) -> tuple[Data, Problem, Any, None]:
    """Return complete dissimilarities, and known features that a regression of squares can estimate."""
    data = read(estimator, inputs, Needs(complete="the closed form", in_parts=True))
    checked = data.dissimilarities
    require_range(checked.largest, 1e-150, 1e150)  # eigenvalues are squares
    coded = check_known(data.known, checked.n, checked.labels, estimator.coef, types=estimator.known_types)
    for feature in coded.features:
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
    coded.require_no_error(type(estimator).__name__)
    check_dimension(inputs.p, checked.n, coded)
    pairs = build_pairs(checked, None, None, inputs.workers)
    return data, Problem(pairs, coded, inputs.p), make_engine(pairs, inputs.workers), None


def describe_closed_form(fitted: FittedMap, task: Task, found: Search) -> tuple[FittedMap, dict[str, Any]]:  # noqa: ARG001
    """Return a map with what new objects are placed by, and the attributes of the fit."""
    import pandas as pd

    engine, n = found.engine, len(fitted.U)
    points = engine.point_stress(fitted.Z) / (2 * engine.total)
    stress = float(points.sum())
    shown = fitted.shown_total(engine, stress * 2 * engine.total) / (2 * engine.total)
    means = engine.graph.squared_product(np.ones((n, 1)), np.empty((n, 0)), 0.0)[:, 0] / n
    squares = np.sum((fitted.known_map - fitted.known_map.mean(axis=0)) ** 2, axis=1)
    attributes = {
        "stress_": stress,
        "shown_stress_": shown,
        "stress_per_point_": pd.Series(points, index=fitted.labels, name="stress"),
        "eigenvalues_": found.eigenvalues / engine.scale**2,
    }
    return replace(fitted, placer=GowerPlacer(means - squares - squares.mean(), np.arange(n))), attributes


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
    metric, metric_params, known_types, adjust, n_jobs
        As in :class:`ConditionalMDS`; numeric and nominal known features only.
    coef : {"full", "diagonal", "grouped"} or list of lists, default="diagonal"
        Structure of the coefficients. ``"diagonal"`` regresses on the squares alone, as published; ``"full"`` on
        products of two features as well, so that the result does not depend on how the features are coded. A nominal
        feature always has all products of its coded columns. Negative estimates count as zero.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, n_components)
        The map, in principal axes. An axis with a negative eigenvalue is zero.
    eigenvalues_ : ndarray of shape (n_free,)
        Leading eigenvalues of the double-centred remainder.
    stress_, coef_, importance_, leak_
        And all other attributes of :class:`ConditionalMDS` that are not about a search.

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
    _method = Method(read_complete, solve, describe_closed_form)
    transform = transform

    coef: Any = "diagonal"

    def fit(self, X: Any, y: Any = None, *, known: Any = None) -> Self:  # type: ignore[override]
        """Compute the map and the coefficients; parameters as of :class:`ConditionalMDS`, none missing."""
        fit_map(self, self._method, X, y, known)
        return self
