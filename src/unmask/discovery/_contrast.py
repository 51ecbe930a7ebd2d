"""A group of objects compared with others in every column, by a test that suits the type of the column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2, rankdata

from .._typing import Array, IntArray
from ..checking import find_labels, quote
from ..problem import Cyclic, Nominal, Ordinal, feature_type
from ..problem.chance import holm
from ._material import own_labels

Mask = NDArray[np.bool_]

# A column with more levels is text, such as names, rather than a category.
MOST_LEVELS = 50
# All groups of the same size are looked at if there are no more; else so many at random, where χ² will not do.
# scipy.stats.permutation_test draws them anew for each column, in a Python loop: seconds for a table of 40.
MOST_GROUPS = 20_000
RANDOM_GROUPS = 9_999
# χ² is an approximation for many objects: so many on either side, and expected of each level.
ENOUGH_OBJECTS, ENOUGH_EXPECTED = 10, 5.0
# Groups whose scores are summed at a time.
CHUNK = 200
# Of more objects, random groups would take too long: levels that are too rare for χ² are joined instead.
MANY_OBJECTS = 2_000
# Sums of the same numbers in another order.
ROUNDING = 1e-9


def sides(objects: pd.Index, group: Any, other: Any) -> tuple[Mask, Mask]:
    """Return which objects are in the group, and with which they are compared."""
    inside = _mask(objects, group, "group")
    outside = ~inside if other is None else _mask(objects, other, "other")
    both = objects[inside & outside]
    if len(both):
        raise ValueError(f"other has {quote(both)}, which is in group too; compare a group with other objects.")
    if not outside.any():
        raise ValueError("group has all objects, and none is left to compare it with; leave some out.")
    return inside, outside


def _mask(objects: pd.Index, labels: Any, what: str) -> Mask:
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise ValueError(f"{what}={labels!r} must be a list of labels of objects.")
    own = own_labels(labels, objects, what)
    if not own:
        raise ValueError(f"{what} has no objects; name at least one.")
    mask = np.zeros(len(objects), dtype=bool)
    mask[find_labels(objects, pd.Index(own, dtype=object, tupleize_cols=False))] = True
    return mask


def contrast(
    known: pd.DataFrame, types: Mapping[str, Any], table: pd.DataFrame, inside: Mask, outside: Mask
) -> pd.DataFrame:
    """Return how a group of objects differs from another in every known feature and every other column."""
    groups, given = Groups(), (inside, outside)
    rows = [{"where": "known", "arguments": {}, **_row(known[n], types.get(str(n)), *given, groups)} for n in known]
    for name in (name for name in table if name not in known):
        adopt = {"name": name, "column": name}
        rows.append({"where": "table", "arguments": adopt, **_row(table[name], None, *given, groups)})
    columns = ["column", "where", "type", "strength", "p_value", "group", "other", "arguments", "note"]
    ranked = pd.DataFrame(rows, columns=columns)
    tested = ranked["p_value"].notna()
    ranked.loc[tested, "p_value"] = holm(ranked.loc[tested, "p_value"].to_numpy(dtype=np.float64))
    return ranked.sort_values(["p_value", "strength"], ascending=[True, False], kind="stable", ignore_index=True)


def _row(column: pd.Series[Any], kind: Any, inside: Mask, outside: Mask, groups: Groups) -> dict[str, Any]:
    used = (inside | outside) & column.notna().to_numpy()
    trait, member = make_trait(column[used], kind), inside[used]
    row = {"column": column.name, "type": trait.type, "strength": np.nan, "p_value": np.nan, "note": trait.note}
    if member.all() or not member.any():
        return row | {"group": "", "other": "", "note": "not tested: one side has no values"}
    row |= dict(zip(("group", "other"), trait.words(member), strict=True))
    if trait.note:
        return row
    comparison = Comparison(trait, member)
    return row | {"strength": comparison.strength, "p_value": comparison.p_value(groups)}


# ---- columns by their type


@dataclass(frozen=True)
class Trait:
    """A column without missing cells, and its scores, whose sum over a group is tested.

    A column that is not tested has no scores, and a note with the reason.
    """

    type: str
    cells: pd.Series[Any]
    scores: Array
    note: str = ""

    def words(self, member: Mask) -> tuple[str, str]:
        """Return the median of either side, or how many have the level that differs most."""
        parts = self.cells[member], self.cells[~member]
        if self.type == "numeric":
            return tuple(f"{float(part.astype(np.float64).median()):.4g}" for part in parts)  # type: ignore[return-value]
        if self.type == "ordinal":
            return tuple(str(part.sort_values().iloc[(len(part) - 1) // 2]) for part in parts)  # type: ignore[return-value]
        if self.type == "cyclic" or not len(self.cells) or self.cells.nunique() > MOST_LEVELS:
            return "", ""
        shares = [part.value_counts(normalize=True) for part in parts]
        level = shares[0].sub(shares[1], fill_value=0).abs().idxmax()
        return tuple(f"{level}: {int((part == level).sum())} of {len(part)}" for part in parts)  # type: ignore[return-value]


def make_trait(cells: pd.Series[Any], kind: Any) -> Trait:
    """Return a column with the scores that suit its type: ranks, levels, or angles of ranks."""
    from pandas.api import types

    declared = None if kind is None else feature_type(kind, str(cells.name))
    nothing = np.empty((len(cells), 0))
    if isinstance(declared, Ordinal) and declared.levels is not None:
        cells = cells.astype(pd.CategoricalDtype(list(declared.levels), ordered=True))
    if cells.nunique() < 2:
        return Trait("nominal", cells, nothing, "not tested: all objects are the same")
    is_number = types.is_numeric_dtype(cells.dtype) and not types.is_bool_dtype(cells.dtype)
    if isinstance(declared, Cyclic) and is_number:
        # Uniform scores: the ranks as places around a circle.
        turned = 2 * np.pi * rankdata(cells.to_numpy(dtype=np.float64) % float(declared.period)) / len(cells)
        return Trait("cyclic", cells, np.column_stack([np.cos(turned), np.sin(turned)]))
    if is_number and not isinstance(declared, Nominal):
        return Trait("numeric", cells, rankdata(cells.to_numpy(dtype=np.float64))[:, None])
    if isinstance(cells.dtype, pd.CategoricalDtype) and cells.dtype.ordered:
        return Trait("ordinal", cells, rankdata(cells.cat.codes.to_numpy())[:, None])
    codes, levels = pd.factorize(cells)
    if len(levels) > MOST_LEVELS:
        return Trait("nominal", cells, nothing, f"not tested: more than {MOST_LEVELS} different values")
    return Trait("nominal", cells, (codes[:, None] == np.arange(len(levels))).astype(np.float64))


# ---- the test


@dataclass(frozen=True)
class Comparison:
    """The sum of the scores over a group, compared with that over a random group of the same size.

    The statistic is (s - E s)ᵀ Cov(s)⁻ (s - E s), with mean and covariance under random grouping. For ranks that is the
    H of Kruskal and Wallis, for levels Pearson's χ² times (n - 1) / n, for uniform scores nearly W of Mardia, Watson
    and Wheeler. Divided by n - 1 it is the squared multiple correlation of the group with the scores.
    """

    trait: Trait
    member: Mask

    @cached_property
    def _whitened(self) -> Array:
        """Uncorrelated scores: the statistic is the sum of squares of their sums."""
        centred = self.trait.scores - self.trait.scores.mean(axis=0)
        left, singular, _ = np.linalg.svd(centred, full_matrices=False)
        n, k = len(self.member), int(self.member.sum())
        return np.asarray(left[:, singular > ROUNDING * singular[0]] * np.sqrt(n * (n - 1) / (k * (n - k))))

    @property
    def statistic(self) -> float:
        return float(np.sum(self._whitened[self.member].sum(axis=0) ** 2))

    @property
    def strength(self) -> float:
        """Multiple correlation of the scores with being in the group."""
        return float(np.sqrt(min(self.statistic / (len(self.member) - 1), 1.0)))

    def p_value(self, groups: Groups) -> float:
        """Return the probability that a random group differs as much."""
        n, k = len(self.member), int(self.member.sum())
        size = min(k, n - k)  # of the smaller side, whose scores sum to those of the other with another sign
        scores = self.trait.scores
        expected = scores.mean(axis=0) * size  # how many of each level, on the smaller side
        rare = expected < ENOUGH_EXPECTED
        levels = self.trait.type == "nominal"
        sparse = rare.any() if levels else size < ENOUGH_OBJECTS
        if comb(n, k) <= MOST_GROUPS or (sparse and n <= MANY_OBJECTS):
            least = self.statistic * (1 - ROUNDING)
            listed, own = groups.of(n, size)
            sums = (self._whitened[listed[at : at + CHUNK]].sum(axis=1) for at in range(0, len(listed), CHUNK))
            beaten = sum(int(np.sum(np.sum(part**2, axis=1) >= least)) for part in sums)
            return (own + beaten) / (own + len(listed)) if own else beaten / comb(n, k)
        if sparse and levels:
            joined = Trait(
                "nominal", self.trait.cells, np.column_stack([scores[:, ~rare], scores[:, rare].sum(axis=1)])
            )
            return Comparison(joined, self.member)._by_chi_square
        return self._by_chi_square

    @property
    def _by_chi_square(self) -> float:
        return float(chi2.sf(self.statistic, self._whitened.shape[1]))


class Groups:
    """Groups of the size of the one that is tested: all there are, or random ones; the same for all columns."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[int, int], tuple[IntArray, int]] = {}

    def of(self, n: int, k: int) -> tuple[IntArray, int]:
        """Return groups of k of n objects, and how often the tested group itself counts beside them."""
        if (n, k) not in self._drawn:
            if comb(n, k) <= MOST_GROUPS:
                self._drawn[n, k] = np.array(list(combinations(range(n), k)), dtype=np.int64), 0
            else:
                rng = np.random.default_rng(0)
                parts = [min(CHUNK, RANDOM_GROUPS - at) for at in range(0, RANDOM_GROUPS, CHUNK)]
                drawn = [np.argpartition(rng.random((part, n)), k - 1, axis=1)[:, :k] for part in parts]
                self._drawn[n, k] = np.concatenate(drawn), 1
        return self._drawn[n, k]
