"""Converting similarities into dissimilarities."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..checking import (
    align_columns,
    align_rows,
    is_pandas,
    is_unlabelled,
    name_object,
    numbers,
    require_choice,
    require_number,
    require_unique,
    rounding_level,
)

METHODS = ("correlation", "absolute_correlation", "cosine", "unit", "counts", "confusion", "standard")


def similarity_to_dissimilarity(
    S: Any, method: str, *, occurrences: Any = None, pseudocount: float | None = None
) -> Any:
    """Turn similarities into dissimilarities, ready for ``ConditionalMDS(metric="precomputed")``.

    Parameters
    ----------
    S : array-like or DataFrame of shape (n_objects, n_objects)
        Similarities; NaN where missing. The columns of a DataFrame are matched with its rows by label.
    method : {"correlation", "absolute_correlation", "cosine", "unit", "counts", "confusion", "standard"}
        The kind of similarity; see Notes. Values that this kind cannot have are refused.
    occurrences : array-like or Series of length n_objects, optional
        For ``"counts"``: how often each object occurs. By default the diagonal of `S`.
    pseudocount : float, optional
        For ``"confusion"``: added to every cell, since one of 0 is refused; 0.5 is usual for counts.

    Returns
    -------
    ndarray or DataFrame of shape (n_objects, n_objects)
        NaN where the similarity is; with labels if `S` has them, float32 if `S` is.

    Notes
    -----
    - ``"correlation"``, ``"cosine"``: ``sqrt(2 (1 - r))``, the Euclidean distance of vectors scaled to length 1.
    - ``"absolute_correlation"``: ``sqrt(1 - r^2)``, the sine of the angle, for variables whose sign is arbitrary.
    - ``"unit"``: ``1 - s``, for similarities between 0 (nothing in common) and 1 (the same).
    - ``"counts"``: ``sqrt(2 (1 - s))`` with Ochiai's coefficient ``s = c_ij / sqrt(o_i o_j)``, o counting occurrences.
    - ``"confusion"``: ``-ln sqrt(p_ij p_ji / (p_ii p_jj))``, minus the logarithm of the similarity in the choice model
      of Shepard (1957) and Luce (1963). Rows are what was presented, columns what was answered, in counts or shares.
    - ``"standard"``: ``sqrt(s_ii + s_jj - 2 s_ij)``, the Euclidean distances of vectors with these inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import similarity_to_dissimilarity
    >>> together = np.array([[4, 2, 0], [2, 9, 3], [0, 3, 4]])  # how often each occurs is on the diagonal
    >>> similarity_to_dissimilarity(together, "counts")[0].round(3)
    array([0.   , 1.155, 1.414])
    """
    require_choice("method", method, METHODS)
    for name, value, owner in (("occurrences", occurrences, "counts"), ("pseudocount", pseudocount, "confusion")):
        if value is not None and method != owner:
            raise ValueError(f"{name} belongs to method={owner!r}, not to method={method!r}; leave it out.")
    table = _Table(S)
    if method == "counts":
        D = _from_counts(table, occurrences)
    elif method == "confusion":
        D = _from_confusion(table, require_number("pseudocount", pseudocount or 0.0, 0.0))
    else:
        D = _from_products(table) if method == "standard" else _from_bounded(table, method)
    D = (D + D.T) / 2  # removes rounding errors
    np.fill_diagonal(D, 0.0)
    D = D.astype(table.dtype, copy=False)
    return D if table.labels is None else type(S)(D, index=table.labels, columns=table.labels, copy=False)


class _Table:
    """Similarities in double precision, and their labels."""

    def __init__(self, S: Any) -> None:
        if len(shape := np.shape(S)) != 2 or shape[0] != shape[1]:
            raise ValueError(f"S has shape {shape} but must be square, one row and one column per object.")
        self.labels = None
        if is_pandas(S):
            by_header = is_unlabelled(S.index) and not is_unlabelled(S.columns)
            self.labels = S.columns if by_header else S.index
            require_unique(self.labels, "S")
            if not (is_unlabelled(S.columns) or is_unlabelled(S.index)):
                S = align_columns(S, self.labels, "the header of S")
        values = numbers(S, "S")
        self.dtype, self.values = values.dtype, values.astype(np.float64)
        self.rounding = rounding_level(values, 1.0)
        self.refuse(np.isinf(self.values), "replace it, or use NaN for missing")

    def refuse(self, wrong: Any, why: str) -> None:
        """Raise if any pair is marked as wrong, naming the first."""
        for i, j in np.argwhere(wrong)[:1]:
            pair = f"({name_object(self.labels, int(i))}, {name_object(self.labels, int(j))})"
            raise ValueError(f"S has {self.values[i, j]:g} for the pair {pair}; {why}.")

    def symmetric(self) -> Array:
        S = self.values
        apart = np.abs(S - S.T) > self.rounding * np.max(np.abs(S), where=np.isfinite(S), initial=0.0)
        why = "it is not symmetric: pass (S + S.T) / 2, or method='confusion' (rows presented, columns answered)"
        self.refuse(apart | (np.isnan(S) != np.isnan(S.T)), why)
        return S


def _from_bounded(table: _Table, method: str) -> Array:
    S, lowest = table.symmetric(), 0.0 if method == "unit" else -1.0
    outside = (lowest - table.rounding > S) | (1 + table.rounding < S)
    np.fill_diagonal(outside, np.abs(np.diagonal(S) - 1) > table.rounding)
    table.refuse(outside, f"method={method!r} needs values from {lowest:g} to 1, with 1 on the diagonal")
    S = np.clip(S, lowest, 1.0)  # clipped by rounding only
    if method == "unit":
        return 1 - S
    # As a product, since 1 - r^2 would lose digits near 1.
    return np.sqrt((1 - S) * (1 + S) if method == "absolute_correlation" else 2 * (1 - S))


def _from_counts(table: _Table, occurrences: Any) -> Array:
    S = table.symmetric()
    table.refuse(S < 0, "a count must be at least 0")
    given = np.diagonal(S) if occurrences is None else align_rows(occurrences, table.labels, "occurrences")
    often = np.asarray(given, dtype=np.float64)
    if often.shape != (len(S),) or not np.all((often > 0) & (often < np.inf)):
        raise ValueError("occurrences (by default the diagonal of S) must be one number above 0 per object.")
    too_often = np.minimum(often[:, None], often) * (1 + table.rounding) < S
    np.fill_diagonal(too_often, False)
    table.refuse(too_often, "one of them occurs less often than that; pass occurrences")
    root = np.sqrt(often)  # the root of each, not of the product, which may overflow
    return np.asarray(np.sqrt(2 * (1 - np.minimum(S / root[:, None] / root, 1.0))))


def _from_confusion(table: _Table, pseudocount: float) -> Array:
    C = table.values + pseudocount
    table.refuse(table.values < 0, "a count or share must be at least 0")
    table.refuse(np.diag(~np.any(table.values > 0, axis=1)), "its row has no answers: leave it out")
    table.refuse(C == 0, "the dissimilarity would be infinite: pass a pseudocount (0.5 is usual for counts)")
    table.refuse(np.diag(np.isnan(np.diagonal(C))), "the right answers on the diagonal must be given")
    D = _apart((np.log(C) + np.log(C.T)) / 2) / 2
    table.refuse(-table.rounding > D, "they were confused more than recognised: join them, or set the pair to NaN")
    return np.asarray(np.maximum(D, 0.0))


def _from_products(table: _Table) -> Array:
    S, size = table.symmetric(), np.abs(table.values)
    table.refuse(np.diag(np.isnan(np.diagonal(S))), "the diagonal must be given")
    squared = _apart(S)
    # Rounding errors are in proportion to the terms of each pair, not to the largest number of the table.
    wrong = squared < -table.rounding * (np.diagonal(size)[:, None] + np.diagonal(size) + 2 * size)
    table.refuse(wrong, "s_ii + s_jj - 2 s_ij is below 0, which inner products never give")
    return np.sqrt(np.maximum(squared, 0.0))


def _apart(S: Array) -> Array:
    own = np.diagonal(S)
    return np.asarray(own[:, None] + own - 2 * S)
