"""One look at every entry of a square table: what is wrong with it, how large its numbers are, and their sums."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import Array

TILE = 320  # rows and columns that a pass keeps in the cache (see _fused.py)


class Sums(NamedTuple):
    """Sums over the dissimilarities of the pairs i < j that have one."""

    lengths: float
    squares: float
    least: float  # smallest above 0; infinity if there is none

    def scaled(self, scale: float) -> Sums | None:
        """Return the sums of dissimilarities times a number; None where squares of the given ones leave the range."""
        if not 1e-240 < self.squares < 1e280:
            return None
        return Sums(self.lengths * scale, self.squares * scale**2, self.least * scale)


class Survey(NamedTuple):
    """A summary of every entry off the diagonal of a square table."""

    missing: int  # pairs that are NaN on both sides
    one_sided: int  # pairs that are NaN on one side only
    infinite: int
    smallest: float
    largest: float
    asymmetry: float
    sums: Sums


def survey_pairs(a: Array, b: Array) -> Survey:
    """Return the survey of pairs whose entries are given in either direction."""
    a, b = a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
    low = np.minimum(a.min(initial=np.inf), b.min(initial=np.inf))
    high = np.maximum(a.max(initial=0.0), b.max(initial=0.0))
    missing = one_sided = infinite = 0
    with np.errstate(invalid="ignore"):
        given, gap = a, a - b
    if not (low >= 0.0 and high < np.inf):  # NaN if any entry is
        gone, back = np.isnan(a), np.isnan(b)
        missing, one_sided = int((gone & back).sum()), int((gone != back).sum())
        infinite = int(np.isinf(a).sum() + np.isinf(b).sum())
        given, gap = np.where(gone, 0.0, a), gap[np.isfinite(gap)]
        finite = [side[np.isfinite(side)] for side in (a, b)]
        low, high = min(side.min(initial=0.0) for side in finite), max(side.max(initial=0.0) for side in finite)
    least = low if low > 0.0 and low == a.min(initial=np.inf) else np.min(given, where=given > 0.0, initial=np.inf)
    with np.errstate(over="ignore"):
        sums = Sums(float(given.sum()), float(given @ given), float(least))
    asymmetry = max(gap.max(initial=0.0), -gap.min(initial=0.0))
    return Survey(missing, one_sided, infinite, float(min(low, 0.0)), float(high), float(asymmetry), sums)


def survey_block(block: Array, mirror: Array, above: Any = True) -> Survey:
    """Return the survey of a rectangle of the table, given its mirror image; ``above`` masks pairs that are counted."""
    if above is True:
        return survey_pairs(block.ravel(), mirror.T.ravel())
    return survey_pairs(block[above], np.ascontiguousarray(mirror.T)[above])


def join_surveys(surveys: list[Survey]) -> Survey:
    """Return the survey of several parts together."""
    missing, one_sided, infinite, lows, highs, gaps, sums = zip(*surveys, strict=True)
    lengths, squares, least = zip(*sums, strict=True)
    added = Sums(sum(lengths), sum(squares), min(least))
    return Survey(sum(missing), sum(one_sided), sum(infinite), min(lows), max(highs), max(gaps), added)
