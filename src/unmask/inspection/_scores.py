"""Scores of a map: how well it keeps neighbourhoods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from .._typing import Array, IntArray
from ..checking import require_integer
from ..kernels import rectangle, strip_height
from ._inputs import read_aligned, read_dissimilarities

if TYPE_CHECKING:
    import pandas as pd

NEIGHBOURHOODS = (5, 10, 20, 50)


def neighbourhood_scores(
    dissimilarities: Any, embedding: Any, *, n_neighbors: int | Iterable[int] | None = None, metric: Any = "precomputed"
) -> pd.DataFrame:
    """Return trustworthiness and continuity of a map for neighbourhoods of several sizes.

    Trustworthiness is low if the map shows objects as neighbours that are not, continuity if it separates neighbours;
    both are 1 if the neighbourhoods are the same. A conditional map brings objects together that differ only in the
    known features, so that it may score lower than an ordinary one.

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
        Computes dissimilarities from features, if these are given instead; as in :class:`unmask.ConditionalMDS`.

    Returns
    -------
    DataFrame
        Rows ``n_neighbors``, columns ``trustworthiness`` and ``continuity``. Ties are broken by the order of the rows.

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

    checked = read_dissimilarities(dissimilarities, metric, complete_for="comparing neighbourhoods")
    n, U = checked.n, read_aligned(embedding, checked.labels, checked.n, "embedding").values
    sizes = neighbourhood_sizes(n_neighbors, n)
    lost = np.zeros((len(sizes), 2))
    for at in np.array_split(np.arange(n), -(-n // strip_height(n))):
        here, there = _ranks(cdist(U[at], U), at), _ranks(rectangle(checked.source, at, slice(0, n)), at)
        lost += [(_beyond(here, there, k), _beyond(there, here, k)) for k in sizes]
    scores = 1.0 - lost * [[2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0))] for k in sizes]
    return pd.DataFrame(scores, pd.Index(sizes, name="n_neighbors"), ["trustworthiness", "continuity"])


def neighbourhood_sizes(n_neighbors: int | Iterable[int] | None, n: int) -> list[int]:
    """Return the given sizes of neighbourhoods, or the default ones that are possible."""
    largest = (n - 1) // 2
    if n_neighbors is None:
        return [k for k in NEIGHBOURHOODS if k <= largest] or [largest]
    sizes = list(n_neighbors) if isinstance(n_neighbors, Iterable) else [n_neighbors]
    for k in sizes:
        if require_integer("n_neighbors", k, 1) > largest:
            raise ValueError(f"n_neighbors={k} is too many for {n} objects; use at most {largest}, below half of them.")
    return sizes


def _ranks(distances: Array, at: IntArray) -> IntArray:
    """Return the rank of every object among the neighbours of some: 1 for the nearest, 0 for itself."""
    distances = np.array(distances, dtype=np.float64)
    distances[np.arange(len(at)), at] = -1.0
    return np.argsort(np.argsort(distances, axis=1, kind="stable"), axis=1)


def _beyond(near: IntArray, judge: IntArray, k: int) -> float:
    """Return the sum of the ranks beyond k, by one ranking, of the k nearest by the other."""
    return float(np.where((near > 0) & (near <= k), np.maximum(judge - k, 0), 0).sum())
