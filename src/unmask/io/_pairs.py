"""Turning a list of pairs into a square table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..checking import rounding_level
from ._input_file import InputFile
from ._square import SquareTable


def table_of_pairs(
    file: InputFile, first: IntArray, second: IntArray, lengths: Array, labels: Sequence[Any], rows: IntArray
) -> SquareTable:
    """Return the square table of pairs; a pair may occur twice with the same number.

    ``first`` and ``second`` are positions among the labels, ``lengths`` the dissimilarities, and ``rows`` where in the
    file each pair is. The table is NaN for pairs that are not named.
    """
    n = len(labels)
    file.require_room(n * n, f"names {n:,} objects in {len(rows):,} pairs")
    lower, upper = np.minimum(first, second), np.maximum(first, second)
    given = ~np.isnan(lengths)
    order = np.argsort((lower * n + upper)[given], kind="stable")
    at = np.flatnonzero(given)[order]
    _require_agreement(file, lower, upper, lengths, at, labels, rows)
    values = np.full((n, n), np.nan)
    values[lower[at[::-1]], upper[at[::-1]]] = lengths[at[::-1]]  # where a pair is named twice, the first
    values[upper[at[::-1]], lower[at[::-1]]] = lengths[at[::-1]]
    named = int(np.count_nonzero(lower[at] != upper[at])) - _repeated(lower, upper, at)

    def place(i: int, j: int) -> tuple[int | None, int | None]:
        i, j = min(i, j), max(i, j)
        pairs = np.flatnonzero((lower == i) & (upper == j) & given)
        return int(rows[pairs[0]]) if len(pairs) else None, 3

    detected = (f"list of pairs, {named} of the {n * (n - 1) // 2} pairs of {n} objects",)
    return SquareTable(values, labels, place, detected)


def _repeated(lower: IntArray, upper: IntArray, at: IntArray) -> int:
    """Return how often pairs of different objects are named again; ``at`` sorts the pairs."""
    same = (lower[at[1:]] == lower[at[:-1]]) & (upper[at[1:]] == upper[at[:-1]])
    return int(np.count_nonzero(same & (lower[at[1:]] != upper[at[1:]])))


def _require_agreement(
    file: InputFile,
    lower: IntArray,
    upper: IntArray,
    lengths: Array,
    at: IntArray,
    labels: Sequence[Any],
    rows: IntArray,
) -> None:
    """Raise if a pair is named twice with different numbers."""
    before, after = at[:-1], at[1:]
    same = (lower[before] == lower[after]) & (upper[before] == upper[after])
    finite = lengths[at][np.isfinite(lengths[at])]
    level = rounding_level(lengths, float(np.abs(finite).max(initial=0.0)))
    different = same & (lengths[before] != lengths[after])
    with np.errstate(invalid="ignore"):  # infinite ones, which have a sentence of their own
        different &= np.abs(lengths[before] - lengths[after]) > level
    if different.any():
        one, other = sorted(int(end[np.argmax(different)]) for end in (before, after))
        raise file.problem(
            f"{lengths[other]:g} for the pair {str(labels[lower[one]])!r} and {str(labels[upper[one]])!r}, but "
            f"{lengths[one]:g} in row {rows[one]}; keep one row per pair, or let unmask.io.read_ratings average them.",
            row=int(rows[other]),
            column=3,
        )
