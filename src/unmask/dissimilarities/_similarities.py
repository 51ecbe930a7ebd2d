"""Converting similarities into dissimilarities: one small object per kind, with its checks and its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

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

if TYPE_CHECKING:
    import pandas as pd


def similarity_to_dissimilarity(
    S: Any, method: str, *, occurrences: Any = None, pseudocount: float | None = None
) -> Any:
    """Turn similarities into dissimilarities, ready for ``ConditionalMDS(metric="precomputed")``.

    The method says what the similarities are. Each has its own checks: what cannot be a similarity of that kind is
    refused, with the pair's name, rather than turned into something. Time and memory grow with N squared.

    Parameters
    ----------
    S : array-like or DataFrame of shape (n_objects, n_objects)
        Similarities; NaN where missing. The columns of a DataFrame are matched with its rows by label.
    method : {"correlation", "absolute_correlation", "cosine", "unit", "counts", "confusion", "standard"}
        What the similarities are, and so how they become dissimilarities; see Notes.
    occurrences : array-like of length n_objects, Series or "margins", optional
        For ``"counts"`` only: how often each object occurs. By default the diagonal of `S`. ``"margins"`` counts how
        often each occurs together with another object: the sum of its row without the diagonal.
    pseudocount : float, optional
        For ``"confusion"`` only: added to every cell, so that two objects that were never confused get a dissimilarity;
        0.5 is usual for counts. By default nothing is added, and an empty cell is refused.

    Returns
    -------
    ndarray or DataFrame of shape (n_objects, n_objects)
        Dissimilarities: symmetric, at least 0, 0 on the diagonal, NaN where the similarity is. A DataFrame with the
        labels if `S` is one; float32 if `S` is.

    Raises
    ------
    ValueError
        If `S` is not square, holds infinite values, is not symmetric (unless ``"confusion"``), or breaks a rule of
        the method.

    Notes
    -----
    ``"correlation"`` : ``sqrt(2 (1 - r))``, between 0 and 2. The Euclidean distance of the standardised variables,
    divided by the root of the number of observations. Opposite variables (r = -1) are farthest apart.

    ``"absolute_correlation"`` : ``sqrt(1 - r^2)``, between 0 and 1: the sine of the angle between the variables.
    Opposite variables coincide: for variables whose sign is arbitrary.

    ``"cosine"`` : ``sqrt(2 (1 - c))``, between 0 and 2: the Euclidean distance of the vectors, each scaled to length 1.

    ``"unit"`` : ``1 - s``, for similarities between 0 (nothing in common) and 1 (the same). If they are inner products,
    as Gower's and Jaccard's are, ``"standard"`` gives ``sqrt(2 (1 - s))``, which are Euclidean distances.

    ``"counts"`` : ``sqrt(2 (1 - s))`` with ``s = c_ij / sqrt(o_i o_j)``, Ochiai's coefficient: how often two objects
    occur together, by how often each occurs. With the occurrences on the diagonal it is the cosine of the two columns
    of the presence table behind the counts. It lies between 0 and ``sqrt(2)``, which two objects that never occur
    together get, however often they occur: nothing is infinite.

    ``"confusion"`` : ``-ln sqrt(p_ij p_ji / (p_ii p_jj))``. Rows are what was presented, columns what was answered;
    cells are counts or shares, `p` the shares of each row. The root is the similarity in the choice model of Shepard
    and Luce, whatever the bias towards some answers; that it falls off exponentially with distance is Shepard's law.
    How often each object was presented cancels. A cell of 0 would be infinitely far: give a `pseudocount`.

    ``"standard"`` : ``sqrt(s_ii + s_jj - 2 s_ij)``, the standard transformation. Of inner products (a kernel, a
    covariance) it gives the Euclidean distances of the vectors behind them.

    References
    ----------
    R. N. Shepard, "Stimulus and response generalization: a stochastic model relating generalization to distance in
    psychological space", Psychometrika, 1957.

    R. D. Luce, "Detection and recognition", in: Handbook of Mathematical Psychology 1, 1963.

    K. V. Mardia, J. T. Kent and J. M. Bibby, "Multivariate Analysis", 1979, section 14.2 (standard transformation).

    Examples
    --------
    >>> import numpy as np
    >>> from unmask.dissimilarities import similarity_to_dissimilarity
    >>> together = np.array([[4, 2, 0], [2, 9, 3], [0, 3, 4]])  # how often each occurs is on the diagonal
    >>> similarity_to_dissimilarity(together, "counts").round(3)
    array([[0.   , 1.155, 1.414],
           [1.155, 0.   , 1.   ],
           [1.414, 1.   , 0.   ]])
    """
    require_choice("method", method, METHODS)
    conversion = _make_conversion(method, {"occurrences": occurrences, "pseudocount": pseudocount})
    table = _read(S)
    if conversion.symmetric:
        _require_symmetric(table, method)
    D = conversion.dissimilarities(table)
    D = (D + D.T) / 2  # removes rounding errors: exactly symmetric from here on
    np.fill_diagonal(D, 0.0)
    return table.like_input(D)


# ---- the table


@dataclass(frozen=True)
class SimilarityTable:
    """Similarities as read, in double precision, with their labels, and the type that the result will have."""

    values: Array
    labels: pd.Index | None
    relative: float  # relative differences up to this are rounding
    level: float  # and differences up to this
    dtype: Any

    def pair(self, i: Any, j: Any) -> str:
        """Name a pair for a message."""
        return f"the pair ({name_object(self.labels, int(i))}, {name_object(self.labels, int(j))})"

    def object(self, i: Any) -> str:
        """Name an object for a message."""
        return name_object(self.labels, int(i))

    def like_input(self, D: Array) -> Any:
        """Return dissimilarities in the precision of the input, with its labels if it had some."""
        D = D.astype(self.dtype, copy=False)
        if self.labels is None:
            return D
        import pandas as pd

        return pd.DataFrame(D, index=self.labels, columns=self.labels, copy=False)


def _read(S: Any) -> SimilarityTable:
    labels = None
    if is_pandas(S):
        S, labels = _square_frame(S)
    values = numbers(S, "S")
    _require_square(values)
    infinite = np.argwhere(np.isinf(values))
    largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    table = SimilarityTable(
        values.astype(np.float64), labels, rounding_level(values, 1.0), rounding_level(values, largest), values.dtype
    )
    for i, j in infinite[:1]:
        raise ValueError(f"S has {values[i, j]:g} for {table.pair(i, j)}; replace it, or use NaN for missing.")
    return table


def _square_frame(frame: Any) -> tuple[Any, pd.Index]:
    """Return a frame whose columns follow its rows, and the labels: those of the rows unless pandas made these up."""
    if not hasattr(frame, "columns"):
        raise ValueError("S is one column; pass a square table of similarities, one row and one column per object.")
    _require_square(frame)
    by_column = is_unlabelled(frame.index) and not is_unlabelled(frame.columns)
    labels = frame.columns if by_column else frame.index
    require_unique(labels, "S")
    if not by_column and not is_unlabelled(frame.columns):
        frame = align_columns(frame, labels, "the header of S")
    return frame, labels


def _require_square(values: Any) -> None:
    n, columns = values.shape
    if n != columns:
        raise ValueError(
            f"S has shape ({n}, {columns}) but must be square, one row and one column per object; "
            "from a table of features compute similarities first, or use unmask.dissimilarities.Metric."
        )


def _require_symmetric(table: SimilarityTable, method: str) -> None:
    S = table.values
    with np.errstate(invalid="ignore"):
        wrong = (np.abs(S - S.T) > table.level) | (np.isnan(S) != np.isnan(S.T))
    for i, j in np.argwhere(wrong)[:1]:
        confusion = " Did you mean method='confusion' (rows presented, columns answered)?" if _at_least_0(S) else ""
        raise ValueError(
            f"the similarities are not symmetric: {S[i, j]:g} and {S[j, i]:g} for {table.pair(i, j)}, "
            f"and method={method!r} needs one similarity per pair; correct it, or pass (S + S.T) / 2.{confusion}"
        )


def _at_least_0(S: Array) -> bool:
    return not np.any(S < 0)


def _other_method(S: Array) -> str:
    """Suggest which method may suit a table that this one does not."""
    diagonal = np.diagonal(S)
    if _at_least_0(S) and not diagonal.any():
        return "The diagonal is 0: are these dissimilarities already, or counts of pairs (method='counts')?"
    if _at_least_0(S) and np.array_equal(np.floor(S), S, equal_nan=True):
        return "Did you mean method='counts'?"
    if np.all(diagonal == 1) and not np.any(np.abs(S) > 1):
        return "Did you mean method='correlation' or method='cosine'?"
    return "Did you mean method='standard', which takes inner products of any size?"


# ---- the methods


class Conversion:
    """A kind of similarity: whether it must be symmetric, what it must satisfy, and its formula."""

    symmetric: ClassVar[bool] = True

    def dissimilarities(self, table: SimilarityTable) -> Array:
        """Return dissimilarities, NaN where missing; the diagonal may be anything."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bounded(Conversion):
    """Similarities between `lowest` and 1, with 1 on the diagonal."""

    noun: str
    lowest: float
    formula: Callable[[Array], Array]

    def dissimilarities(self, table: SimilarityTable) -> Array:
        """Return dissimilarities after checking the range and the diagonal."""
        S, rounding = table.values, table.relative  # the bounds are of size 1, whatever else is in the table
        diagonal = np.diagonal(S)
        for i in np.flatnonzero(np.abs(diagonal - 1) > rounding)[:1]:  # a missing one does not matter
            raise ValueError(
                f"S has {diagonal[i]:g} on the diagonal, for {table.object(i)}; {self.noun} of an object with itself "
                f"must be 1. {_other_method(S)}"
            )
        low, high = self.lowest - rounding, 1 + rounding
        for i, j in np.argwhere((low > S) | (high < S))[:1]:
            raise ValueError(
                f"S has {S[i, j]:g} for {table.pair(i, j)}; {self.noun} must lie between {self.lowest:g} and 1. "
                f"{_other_method(S)}"
            )
        return self.formula(np.clip(S, self.lowest, 1.0))  # clipped by rounding only


def chord(S: Array) -> Array:
    """Return the distance between vectors of length 1 from their cosines."""
    return np.asarray(np.sqrt(2 * (1 - S)))


def sine(S: Array) -> Array:
    """Return the sine of the angle from its cosine; as a product, since 1 - r^2 would lose digits near 1."""
    return np.asarray(np.sqrt((1 - S) * (1 + S)))


@dataclass(frozen=True)
class Counts(Conversion):
    """How often two objects occur together."""

    occurrences: Any = None

    def dissimilarities(self, table: SimilarityTable) -> Array:
        """Return the chord of Ochiai's coefficient."""
        S = table.values
        for i, j in np.argwhere(S < 0)[:1]:
            raise ValueError(
                f"S has {S[i, j]:g} for {table.pair(i, j)}; a count must be at least 0. "
                "Did you mean method='correlation' or method='standard'?"
            )
        occurrences = self._occurrences(table)
        self._require_occurrences(occurrences, table)
        # The root of each, not of the product, which may overflow.
        root = np.sqrt(occurrences)
        return chord(np.minimum(S / root[:, None] / root, 1.0))

    def _occurrences(self, table: SimilarityTable) -> Array:
        """Return how often each object occurs."""
        if self.occurrences is None:
            return np.diagonal(table.values)
        if isinstance(self.occurrences, str):
            return self._margins(table)
        given = np.asarray(align_rows(self.occurrences, table.labels, "occurrences"), dtype=np.float64)
        if given.shape != (len(table.values),):
            raise ValueError(
                f"occurrences has shape {given.shape} but there are {len(table.values)} objects; pass one number per "
                "object."
            )
        return given

    def _margins(self, table: SimilarityTable) -> Array:
        require_choice("occurrences", self.occurrences, ("margins",))
        off = table.values.copy()
        np.fill_diagonal(off, 0.0)
        for i, j in np.argwhere(np.isnan(off))[:1]:
            raise ValueError(
                f"S has no count for {table.pair(i, j)} (NaN), so that occurrences='margins' has no sum; fill it, or "
                "pass the occurrences as numbers."
            )
        return np.asarray(off.sum(axis=1))

    def _require_occurrences(self, occurrences: Array, table: SimilarityTable) -> None:
        """Raise where an object never occurs, or occurs less often than together with another."""
        S = table.values
        origin = "the diagonal of the similarities" if self.occurrences is None else "occurrences"
        for i in np.flatnonzero(~(np.isfinite(occurrences) & (occurrences > 0)))[:1]:
            raise ValueError(
                f"{origin} says that {table.object(i)} occurs {occurrences[i]:g} times, but it must be a number above "
                "0; leave the object out, or pass occurrences (numbers, or 'margins' for the sums of the rows)."
            )
        most = np.minimum(occurrences[:, None], occurrences) * (1 + table.relative)
        np.fill_diagonal(most, np.inf)
        for i, j in np.argwhere(most < S)[:1]:
            rarer = i if occurrences[i] <= occurrences[j] else j
            raise ValueError(
                f"S has {S[i, j]:g} for {table.pair(i, j)}, but {origin} says that {table.object(rarer)} occurs "
                f"{occurrences[rarer]:g} times, and no more than that can it occur with another; pass occurrences "
                "(numbers, or 'margins' for the sums of the rows)."
            )


@dataclass(frozen=True)
class Confusion(Conversion):
    """How often one object was taken for another."""

    symmetric: ClassVar[bool] = False
    pseudocount: float = 0.0

    def dissimilarities(self, table: SimilarityTable) -> Array:
        """Return minus the logarithm of the similarity in the choice model; the sums of the rows cancel in it."""
        C = table.values
        for i, j in np.argwhere(C < 0)[:1]:
            raise ValueError(
                f"S has {C[i, j]:g} for {table.pair(i, j)}; how often one is taken for the other must be at least 0. "
                "Did you mean method='correlation' or method='standard'?"
            )
        for i in np.flatnonzero(~np.any(C > 0, axis=1))[:1]:
            raise ValueError(
                f"S has no answer at all to {table.object(i)} in its row; rows are what was presented: leave it out."
            )
        C = C + require_number("pseudocount", self.pseudocount, 0.0)
        self._require_positive(C, table)
        log = np.log(C)
        right = np.diagonal(log)
        D = (right[:, None] + right - log - log.T) / 2
        self._require_recognised(D, C, table)
        return np.asarray(np.maximum(D, 0.0))  # below 0 by rounding only

    def _require_positive(self, C: Array, table: SimilarityTable) -> None:
        empty = np.argwhere(C == 0)
        for i, j in empty[:1]:
            cell = f"the right answers to {table.object(i)}" if i == j else table.pair(i, j)
            raise ValueError(
                f"S has 0 for {cell}, and {len(empty)} cells of 0 in all; the similarity would be 0 and the "
                "dissimilarity infinite: pass a pseudocount, which is added to every cell (0.5 is usual for counts)."
            )
        for i in np.flatnonzero(np.isnan(np.diagonal(C)))[:1]:
            raise ValueError(f"S lacks the right answers to {table.object(i)} (NaN on the diagonal); fill them.")

    def _require_recognised(self, D: Array, C: Array, table: SimilarityTable) -> None:
        for i, j in np.argwhere(-table.relative > D)[:1]:
            raise ValueError(
                f"{table.pair(i, j)} was confused ({C[i, j]:g} and {C[j, i]:g}) more than recognised ({C[i, i]:g} and "
                f"{C[j, j]:g}), so that its dissimilarity would be {D[i, j]:.3g}, below 0; join the two objects, or "
                "set both cells to NaN to leave the pair out. Are presented objects in the rows and answers in the "
                "columns, in the same order?"
            )


class Standard(Conversion):
    """Inner products: the standard transformation."""

    def dissimilarities(self, table: SimilarityTable) -> Array:
        """Return the square root of s_ii + s_jj - 2 s_ij."""
        S = table.values
        diagonal = np.diagonal(S)
        for i in np.flatnonzero(np.isnan(diagonal))[:1]:
            raise ValueError(
                f"S has no similarity of {table.object(i)} to itself (NaN on the diagonal), without which it has no "
                "dissimilarities; fill it, or leave the object out."
            )
        squared = diagonal[:, None] + diagonal - 2 * S
        # Rounding errors are in proportion to the terms of each pair, not to the largest number of the table.
        size = np.abs(diagonal[:, None]) + np.abs(diagonal) + 2 * np.abs(S)
        for i, j in np.argwhere(squared < -table.relative * size)[:1]:
            raise ValueError(
                f"S has {S[i, j]:g} for {table.pair(i, j)} but {S[i, i]:g} and {S[j, j]:g} for each with itself, so "
                f"that the squared dissimilarity s_ii + s_jj - 2 s_ij would be {squared[i, j]:g}, below 0, which inner "
                "products never give; correct the diagonal, or, if it means nothing, fill it with a number at least "
                "as large as any other."
            )
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))  # below 0 by rounding only


METHODS: dict[str, Callable[..., Conversion]] = {
    "correlation": partial(Bounded, "a correlation", -1.0, chord),
    "absolute_correlation": partial(Bounded, "a correlation", -1.0, sine),
    "cosine": partial(Bounded, "a cosine", -1.0, chord),
    "unit": partial(Bounded, "a 0-1 similarity", 0.0, lambda S: 1 - S),
    "counts": Counts,
    "confusion": Confusion,
    "standard": Standard,
}


def _make_conversion(method: str, options: dict[str, Any]) -> Conversion:
    """Return the method with the options given; raise if it does not have one of them."""
    given = {name: value for name, value in options.items() if value is not None}
    own = _options(METHODS[method])
    for name in given:
        if name not in own:
            owner = next(other for other, kind in METHODS.items() if name in _options(kind))
            raise ValueError(
                f"{name} belongs to method={owner!r} and means nothing with method={method!r}; leave it out."
            )
    return METHODS[method](**given)


def _options(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)} if hasattr(kind, "__dataclass_fields__") else set()
