"""Scores of a map: whether it keeps neighbourhoods, and its errors where the truth is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array, IntArray
from ..checking import Dissimilarities, is_pandas, quote, require_integer
from ..kernels import MOST_SQUARED, rectangle, strip_height
from ..problem.linalg import symmetric_root
from ._inputs import (
    LabelledTable,
    SomeDissimilarities,
    align,
    count_objects,
    picked,
    read_dissimilarities,
    read_in_parts,
    read_table,
    require_rows,
)

if TYPE_CHECKING:
    import pandas as pd

NEIGHBOURHOODS = (5, 10, 20, 50)
MOST_ASKED = 1000  # of very many objects


def neighbourhood_scores(
    dissimilarities: Any, embedding: Any, *, n_neighbors: int | Iterable[int] | None = None, metric: Any = "precomputed"
) -> pd.DataFrame:
    """Return trustworthiness and continuity of a map for neighbourhoods of several sizes.

    Trustworthiness asks whether neighbours on the map are neighbours by the dissimilarities (if not, the map invents
    neighbours); continuity, whether neighbours by the dissimilarities are neighbours on the map (if not, the map tears
    them apart). Both are 1 if all are. A conditional map is meant to bring objects together that differ only in what is
    known, so that it may well score lower than an ordinary one.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects)
        In any form that :class:`unmask.ConditionalMDS` takes, none missing.
    embedding : array-like of shape (n_objects, n_components), or fitted estimator
        The map.
    n_neighbors : int or iterable of int, optional
        Sizes of the neighbourhoods, each below half the number of objects. By default those of 5, 10, 20 and 50 that
        are, or the largest possible one.
    metric : str, callable or transformer, default="precomputed"
        Makes dissimilarities of a table of features, if one is given instead; as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    DataFrame
        Rows ``n_neighbors``, columns ``trustworthiness`` and ``continuity``. Of objects equally far away the one
        that comes first in the table counts as nearer. Of more than 20,000 objects the neighbours of 1,000 are looked
        at, picked at random, as ``attrs["sample"]`` says.

    References
    ----------
    J. Venna and S. Kaski, "Local multidimensional scaling", Neural Networks 19, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.inspection import neighbourhood_scores
    >>> x = np.arange(8.0)[:, None] ** 2
    >>> print(neighbourhood_scores(np.abs(x - x.T), x % 9, n_neighbors=[2, 3]).round(2).to_string(index_names=False))
       trustworthiness  continuity
    2             0.53        0.47
    3             0.50        0.51
    """
    import pandas as pd

    many = count_objects(dissimilarities, ready=isinstance(metric, str) and metric == "precomputed") > MOST_SQUARED
    complete_for = "comparing neighbourhoods"
    checked: Any = (
        read_in_parts(dissimilarities, metric)
        if many
        else read_dissimilarities(dissimilarities, metric, complete_for=complete_for)
    )
    n, U = checked.n, coordinates(embedding, checked)
    sizes = _sizes(n_neighbors, n)
    asked = picked(n, MOST_ASKED) if many else np.arange(n)
    lost = np.zeros((len(sizes), 2))
    for at in np.array_split(asked, -(-len(asked) // strip_height(n))):
        delta = rectangle(checked.source, at, slice(0, n))
        if np.isnan(delta).any():
            raise ValueError(f"some pairs have no dissimilarity (NaN) and {complete_for} needs all of them; fill them.")
        here, there = _ranks(cdist(U[at], U), at), _ranks(delta, at)
        lost += [(beyond(here, there, k), beyond(there, here, k)) for k in sizes]
    scores = 1.0 - lost * [[2.0 / (len(asked) * k * (2.0 * n - 3.0 * k - 1.0))] for k in sizes]
    table = pd.DataFrame(scores, pd.Index(sizes, name="n_neighbors"), ["trustworthiness", "continuity"])
    if many:
        table.attrs["sample"] = f"neighbours of {len(asked):,} of {n:,} objects, picked at random"
    return table


def coordinates(embedding: Any, checked: Dissimilarities | SomeDissimilarities) -> Array:
    """Return a map with its rows in the order of the dissimilarities."""
    table = read_table(align(embedding, checked.labels, "embedding", "dissimilarities"), "embedding")
    require_rows(table.values, checked.n, "embedding", "dissimilarities")
    return table.values


def _sizes(n_neighbors: int | Iterable[int] | None, n: int) -> list[int]:
    largest = (n - 1) // 2
    if n_neighbors is None:
        return [k for k in NEIGHBOURHOODS if k <= largest] or [largest]
    sizes = list(n_neighbors) if isinstance(n_neighbors, Iterable) else [n_neighbors]
    for k in sizes:
        if require_integer("n_neighbors", k, 1) > largest:
            raise ValueError(f"n_neighbors={k} is too many for {n} objects; use at most {largest}, below half of them.")
    return sizes


def _ranks(distances: Array, at: IntArray) -> IntArray:
    """Return the rank of every object among the neighbours of some, by position: 1 for the nearest, 0 for itself."""
    distances = np.array(distances, dtype=np.float64)
    distances[np.arange(len(at)), at] = -1.0
    order = np.argsort(distances, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], axis=1)
    return ranks


def beyond(near: IntArray, judge: IntArray, k: int) -> float:
    """Return how far beyond the k nearest by one ranking those are that are among them by the other, summed up."""
    return float(np.where((near > 0) & (near <= k), np.maximum(judge - k, 0), 0).sum())


def signal_to_noise(truth: Any, dissimilarities: Any) -> pd.Series[float]:
    """Return how much of the dissimilarities is signal when the true distances are known.

    Parameters
    ----------
    truth : array-like of shape (n_objects, n_objects)
        Distances without noise.
    dissimilarities : array-like of shape (n_objects, n_objects)
        As observed, in the same units; missing pairs (NaN) do not count.

    Returns
    -------
    Series
        ``signal_to_noise``: sum of squared true distances by sum of squared noise; ``decibels``: ten times its
        decimal logarithm; ``stress_of_truth``: normalised stress of the true distances. A fit with less stress than
        this fits noise.

    Examples
    --------
    >>> from unmask.datasets import make_car_brands
    >>> from unmask.inspection import signal_to_noise
    >>> cars = make_car_brands(random_state=0)
    >>> print(signal_to_noise(cars.noiseless, cars.dissimilarities).round(3).to_string())
    signal_to_noise    26.608
    decibels           14.250
    stress_of_truth     0.038
    """
    import pandas as pd

    observed, true = read_dissimilarities(dissimilarities), read_dissimilarities(truth)
    delta, values = (table.array_for("signal_to_noise") for table in (observed, true))
    require_rows(values, observed.n, "truth", "dissimilarities")
    exact: Any = pd.DataFrame(values, index=true.labels, columns=true.labels)
    if true.labels is not None:
        exact = align(exact, observed.labels, "truth", "dissimilarities")
        exact = align(exact.T, observed.labels, "truth", "dissimilarities")
    upper = np.triu_indices(observed.n, 1)
    delta, d = delta[upper], np.asarray(exact)[upper]
    counts = np.isfinite(delta) & np.isfinite(d)
    signal, noise, total = (float(np.sum(x[counts] ** 2)) for x in (d, delta - d, delta))
    ratio = signal / noise if noise > 0 else np.inf
    scores = {"signal_to_noise": ratio, "decibels": 10 * np.log10(ratio), "stress_of_truth": noise / total}
    return pd.Series(scores, name="signal to noise")


def coef_error(coef: Any, truth: Any) -> pd.DataFrame:
    """Return the error of estimated coefficients when the true ones are known.

    Distances depend on the coefficients B only through ``B B'``; both are brought into their one symmetric positive
    form before they are compared.

    Parameters
    ----------
    coef : fitted estimator, or array-like of shape (n_known, n_known) or (n_known,)
        Estimated coefficients; a vector is the diagonal.
    truth : array-like of shape (n_known, n_known) or (n_known,)
        True coefficients. A Series or DataFrame is matched by name, and may name further features.

    Returns
    -------
    DataFrame
        One row per feature and a last row ``(all)``: length of the row of B as it is (``truth``) and as it was
        estimated (``estimate``), and the length of their difference divided by the true one (``relative_error``).

    Examples
    --------
    >>> import pandas as pd
    >>> from unmask.inspection import coef_error
    >>> truth = pd.Series({"size": 2.0, "age": 4.0})
    >>> print(coef_error(pd.Series({"age": 3.0, "size": -2.0}), truth).round(3))
           truth  estimate  relative_error
    age    4.000     3.000           0.250
    size   2.000     2.000           0.000
    (all)  4.472     3.606           0.224
    """
    import pandas as pd

    estimated = _coefficients(getattr(coef, "coef_", coef), "coef", None)
    true = _coefficients(truth, "truth", estimated.names if is_pandas(getattr(coef, "coef_", coef)) else None)
    if true.values.shape != estimated.values.shape:
        raise ValueError(
            f"coef is of {len(estimated.values)} features and truth of {len(true.values)}; pass the same features."
        )
    B, B_true = (symmetric_root(table.values @ table.values.T) for table in (estimated, true))
    rows = [*((B_true[f], B[f]) for f in range(len(B))), (B_true, B)]
    lengths = [tuple(np.linalg.norm(x) for x in (right, estimate, estimate - right)) for right, estimate in rows]
    data = [(t, e, gap / t if t > 0 else np.nan) for t, e, gap in lengths]
    return pd.DataFrame(data, index=[*estimated.names, "(all)"], columns=["truth", "estimate", "relative_error"])


def _coefficients(data: Any, name: str, wanted: list[str] | None) -> LabelledTable:
    """Return a square table of coefficients, in the order of the names wanted if it has names."""
    if is_pandas(data):
        data = data.set_axis([str(label) for label in data.index])
        missing = [label for label in wanted or [] if label not in data.index]
        if missing:
            raise ValueError(f"{name} has no coefficient of {quote(missing)}; its features are {quote(data.index)}.")
        names = list(data.index) if wanted is None else wanted
        if hasattr(data, "columns"):
            data = data.set_axis([str(label) for label in data.columns], axis=1)[names]
        data = data.loc[names]
        table = read_table(data, name)
    else:
        table = read_table(data, name)
        names = [f"known{f}" for f in range(len(table.values))]
    values = np.diag(table.values[:, 0]) if np.ndim(data) == 1 else table.values
    if values.shape[0] != values.shape[1]:
        raise ValueError(f"{name} has shape {values.shape}; pass a square table or the diagonal.")
    return LabelledTable(values, None, names)
