"""Lists of pairs as a square table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..checking import rounding_level
from ._found import Found
from ._source import Source


def table_of_pairs(
    source: Source, first: IntArray, second: IntArray, lengths: Array, labels: Sequence[Any], rows: IntArray
) -> Found:
    """Return the square table of pairs; a pair may be named twice if both say the same.

    Parameters
    ----------
    source : Source
        The file.
    first, second : array of shape (n_pairs,)
        The objects, as positions among the labels.
    lengths : array of shape (n_pairs,)
        The dissimilarities.
    labels : sequence
        The objects' labels.
    rows : array of shape (n_pairs,)
        Where in the file each pair is.

    Returns
    -------
    Found
        The table, NaN for pairs that are not named.
    """
    n = len(labels)
    source.require_room(n * n, f"names {n:,} objects in {len(rows):,} pairs")
    lower, upper = np.minimum(first, second), np.maximum(first, second)
    given = ~np.isnan(lengths)
    order = np.argsort((lower * n + upper)[given], kind="stable")
    at = np.flatnonzero(given)[order]
    _require_agreement(source, lower, upper, lengths, at, labels, rows)
    values = np.full((n, n), np.nan)
    values[lower[at[::-1]], upper[at[::-1]]] = lengths[at[::-1]]  # of two that agree, the first
    values[upper[at[::-1]], lower[at[::-1]]] = lengths[at[::-1]]
    named = int(np.count_nonzero(lower[at] != upper[at])) - _repeated(lower, upper, at)

    def place(i: int, j: int) -> tuple[int | None, int | None]:
        i, j = min(i, j), max(i, j)
        found = np.flatnonzero((lower == i) & (upper == j) & given)
        return int(rows[found[0]]) if len(found) else None, 3

    said = (f"list of pairs, {named} of the {n * (n - 1) // 2} pairs of {n} objects",)
    return Found(values, labels, place, said)


def _repeated(lower: IntArray, upper: IntArray, at: IntArray) -> int:
    """Return how many pairs of different objects are named again, of those in order."""
    same = (lower[at[1:]] == lower[at[:-1]]) & (upper[at[1:]] == upper[at[:-1]])
    return int(np.count_nonzero(same & (lower[at[1:]] != upper[at[1:]])))


def _require_agreement(
    source: Source,
    lower: IntArray,
    upper: IntArray,
    lengths: Array,
    at: IntArray,
    labels: Sequence[Any],
    rows: IntArray,
) -> None:
    """Raise where a pair is named twice with different numbers."""
    before, after = at[:-1], at[1:]
    same = (lower[before] == lower[after]) & (upper[before] == upper[after])
    finite = lengths[at][np.isfinite(lengths[at])]
    level = rounding_level(lengths, float(np.abs(finite).max(initial=0.0)))
    different = same & (lengths[before] != lengths[after])
    with np.errstate(invalid="ignore"):  # infinite ones, which have a sentence of their own
        different &= np.abs(lengths[before] - lengths[after]) > level
    if different.any():
        one, other = sorted(int(end[np.argmax(different)]) for end in (before, after))
        raise source.problem(
            f"{lengths[other]:g} for the pair {str(labels[lower[one]])!r} and {str(labels[upper[one]])!r}, but "
            f"{lengths[one]:g} in row {rows[one]}; keep one row per pair, or let unmask.io.read_ratings average them.",
            row=int(rows[other]),
            column=3,
        )
