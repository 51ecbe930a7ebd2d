"""Dissimilarities against fitted distances, pair by pair and object by object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist, squareform

from .._typing import Array, IntArray
from ..checking import Dissimilarities, find_labels, is_unlabelled, require_choice
from ..estimators import labels_of_fit
from ..kernels import MOST_SQUARED
from ..problem import SCHEMES
from ._inputs import (
    SomeDissimilarities,
    align,
    count_objects,
    is_fitted_map,
    picked,
    read_dissimilarities,
    read_in_parts,
    read_table,
    require_few,
    require_rows,
)

if TYPE_CHECKING:
    import pandas as pd


MOST_IN_SAMPLE = 2000  # of very many objects


@dataclass(frozen=True)
class Fit:
    """Square tables of one fit; weights are 0 where a pair does not count."""

    labels: pd.Index | None
    delta: Array
    disparity: Array  # what the distances are compared with: delta, unless a measurement level transformed it
    distance: Array
    weight: Array
    n: int = 0  # of which this is a sample; 0 if it is none

    def said(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table of this fit that says of a sample that it is one."""
        if self.n:
            table.attrs["sample"] = f"{len(self.delta):,} of {self.n:,} objects, picked at random"
        return table

    @property
    def residual(self) -> Array:
        return np.asarray(self.disparity - self.distance)

    @property
    def index(self) -> pd.Index:
        import pandas as pd

        return pd.RangeIndex(len(self.delta)) if self.labels is None else self.labels


def shepard(
    dissimilarities: Any, embedding: Any, *, known_map: Any = None, weights: Any = None, metric: Any = "precomputed"
) -> pd.DataFrame:
    """Return the table behind a Shepard diagram: every pair's dissimilarity and its distance in the fit.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    embedding : fitted estimator, or array-like of shape (n_objects, n_components)
        With an estimator, distances are those it fitted, the part of the known features among them.
    known_map : array-like of shape (n_objects, n_dimensions), optional
        With a plain map: coordinates of the known features in the units of the map (``V B``), which lie at right
        angles to it. None: distances on the map alone.
    weights : {None, "sammon"} or array-like of shape (n_objects, n_objects), optional
        Weights of the pairs. By default those of the estimator's scheme; an array that was given to its `fit`
        is not kept and must be given here too.
    metric : str, callable or transformer, default="precomputed"
        Makes dissimilarities of a table of features, if one is given instead; as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    DataFrame
        One row per pair (N (N - 1) / 2 of them; of more than 20,000 objects those among 2,000, picked at random, as
        ``attrs["sample"]`` says): ``i`` and ``j`` (labels), ``dissimilarity``, ``disparity`` (what
        the distance is compared with: the dissimilarity itself unless `level` transformed it), ``distance``,
        ``residual`` (disparity less distance) and ``weight`` (0 where the dissimilarity is missing).

    Examples
    --------
    >>> from unmask import ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> from unmask.inspection import shepard
    >>> kin = load_kinship()
    >>> mds = ConditionalMDS(metric="precomputed", init="closed-form")
    >>> table = shepard(kin.dissimilarities, mds.fit(kin.dissimilarities, known=kin.known[["gender"]]))
    >>> stress = (table["residual"] ** 2).sum() / (table["disparity"] ** 2).sum()
    >>> bool(abs(stress - mds.stress_) < 1e-12)
    True
    """
    import pandas as pd

    fit = _read_fit(dissimilarities, embedding, known_map, weights, metric)
    i, j = np.triu_indices(len(fit.delta), 1)
    columns = {
        "i": fit.index[i],
        "j": fit.index[j],
        "dissimilarity": fit.delta[i, j],
        "disparity": fit.disparity[i, j],
        "distance": fit.distance[i, j],
        "residual": fit.residual[i, j],
        "weight": fit.weight[i, j],
    }
    return fit.said(pd.DataFrame(columns))


def stress_per_point(
    dissimilarities: Any, embedding: Any, *, known_map: Any = None, weights: Any = None, metric: Any = "precomputed"
) -> pd.DataFrame:
    """Return each object's part of the stress, and its stress relative to its own dissimilarities.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing.
    embedding : fitted estimator, or array-like of shape (n_objects, n_components)
        As in :func:`shepard`.
    known_map : array-like of shape (n_objects, n_dimensions), optional
        As in :func:`shepard`.
    weights : {None, "sammon"} or array-like of shape (n_objects, n_objects), optional
        As in :func:`shepard`.
    metric : str, callable or transformer, default="precomputed"
        As in :func:`shepard`.

    Returns
    -------
    DataFrame
        One row per object. ``stress``: its part of the normalised stress, which is the sum of the column.
        ``relative``: its weighted squared residuals divided by its weighted squared dissimilarities (disparities),
        so that an object in the middle, all of whose dissimilarities are small, can be compared with one far out.
        Of more than 20,000 objects, 2,000 picked at random, by the pairs among them, as ``attrs["sample"]`` says; a
        fitted estimator has an estimate for every object, ``stress_per_point_``.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import stress_per_point
    >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> print(stress_per_point(D, [[0.0], [1.0], [2.0]]).round(3))
       stress  relative
    0   0.045       0.1
    1   0.000       0.0
    2   0.045       0.1
    """
    import pandas as pd

    fit = _read_fit(dissimilarities, embedding, known_map, weights, metric)
    counts = fit.weight > 0
    squares = np.sum(fit.weight * np.where(counts, fit.residual, 0.0) ** 2, axis=1)
    own = np.sum(fit.weight * np.where(counts, fit.disparity, 0.0) ** 2, axis=1)
    relative = np.divide(squares, own, out=np.full(len(own), np.nan), where=own > 0)
    return fit.said(pd.DataFrame({"stress": squares / own.sum(), "relative": relative}, index=fit.index))


def _read_fit(dissimilarities: Any, embedding: Any, known_map: Any, weights: Any, metric: Any) -> Fit:
    ready = isinstance(metric, str) and metric == "precomputed"
    if count_objects(dissimilarities, ready=ready) > MOST_SQUARED:
        return _read_sample(dissimilarities, embedding, known_map, weights, metric)
    checked = read_dissimilarities(dissimilarities, metric)
    delta = checked.array_for("a table of residuals").astype(np.float64)
    estimated = is_fitted_map(embedding) and hasattr(embedding, "predict_dissimilarities")
    if estimated:
        _refuse_known_map(known_map)
        distance = _square(embedding.predict_dissimilarities(), checked, "embedding")
        disparity = _square(getattr(embedding, "disparities_", delta), checked, "embedding")
    else:
        distance, disparity = _map_distances(embedding, known_map, checked), delta
    weights = getattr(embedding, "weights", None) if estimated and weights is None else weights
    weight = _weights(weights, checked, delta)
    return Fit(checked.labels, delta, disparity, distance, np.where(np.isfinite(disparity), weight, 0.0))


def _read_sample(dissimilarities: Any, embedding: Any, known_map: Any, weights: Any, metric: Any) -> Fit:
    """Return the fit of a sample of many objects, which are fitted without weights of their own or a `level`."""
    import pandas as pd

    data = read_in_parts(dissimilarities, metric)
    at = picked(data.n, MOST_IN_SAMPLE)
    sample: Any
    if is_fitted_map(embedding) and hasattr(embedding, "predict_dissimilarities"):
        _refuse_known_map(known_map)
        weights = getattr(embedding, "weights", None) if weights is None else weights
        labels = labels_of_fit(embedding)
        objects = at if labels is None else labels[at] if data.labels is None else data.labels[at]
        sample, known_map = _FittedSample(embedding.predict_dissimilarities(objects).to_numpy()), None
    else:
        sample, known_map = (None if x is None else _rows(x, data, at) for x in (embedding, known_map))
    if hasattr(embedding, "disparities_") or not isinstance(weights, str | None):
        require_few("a table of residuals by `level` or an array of weights", data.n)
    fit = _read_fit(np.asarray(data.among(at)), sample, known_map, weights, "precomputed")
    return replace(fit, labels=pd.Index(at) if data.labels is None else data.labels[at], n=data.n)


@dataclass(frozen=True)
class _FittedSample:
    """Fitted distances of some objects, as a fitted estimator has them."""

    embedding_: Array

    def predict_dissimilarities(self) -> Array:
        return self.embedding_


def _rows(table: Any, data: SomeDissimilarities, at: IntArray) -> Array:
    values = read_table(align(table, data.labels, "embedding", "dissimilarities"), "embedding").values
    require_rows(values, data.n, "embedding", "dissimilarities")
    return values[at]


def _refuse_known_map(known_map: Any) -> None:
    if known_map is not None:
        raise ValueError(
            "known_map was given with a fitted estimator, which has one of its own; leave it out, "
            "or pass the estimator's embedding_."
        )


def _square(table: Any, checked: Dissimilarities, name: str) -> Array:
    """Return a square table of the fit with its objects in the order of the dissimilarities."""
    require_rows(table, checked.n, name, "dissimilarities")
    if checked.labels is not None and hasattr(table, "index") and not _made_up(table.index, checked.labels):
        table = align(align(table, checked.labels, name, "dissimilarities").T, checked.labels, name, "dissimilarities")
    return np.asarray(table, dtype=np.float64)


def _made_up(index: pd.Index, labels: pd.Index) -> bool:
    """Return whether labels are the numbers that pandas gives, although the objects have names."""
    return is_unlabelled(index) and bool((find_labels(index, labels) < 0).any())


def _map_distances(embedding: Any, known_map: Any, checked: Dissimilarities) -> Array:
    parts = []
    for data, name in ((embedding, "embedding"), (known_map, "known_map")):
        if data is not None:
            table = read_table(align(data, checked.labels, name, "dissimilarities"), name)
            require_rows(table.values, checked.n, name, "dissimilarities")
            parts.append(table.values)
    Z = np.column_stack(parts)
    return np.asarray(cdist(Z, Z))


def _weights(weights: Any, checked: Dissimilarities, delta: Array) -> Array:
    """Return a square table of weights, 0 on the diagonal and for missing pairs."""
    if weights is None:
        table = np.ones_like(delta)
    elif isinstance(weights, str):
        require_choice("weights", weights, tuple(SCHEMES))
        table = squareform(SCHEMES[weights].of_pairs(squareform(delta, checks=False)))
    else:
        table = read_table(_square(weights, checked, "weights"), "weights").values.copy()
        if table.shape != delta.shape or (table < 0).any() or not np.allclose(table, table.T, rtol=1e-5, atol=0.0):
            raise ValueError(
                f"weights has shape {table.shape}; pass a symmetric table of numbers of at least 0, one row and one "
                f"column for each of the {checked.n} objects."
            )
    table[np.isnan(delta)] = 0.0
    np.fill_diagonal(table, 0.0)
    return table
