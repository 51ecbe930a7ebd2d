"""What sets some objects apart from others: every column tested by what suits its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from ._proposals import own_labels

Mask = NDArray[np.bool_]

# A column with more levels is text, such as names, rather than a category.
MOST_LEVELS = 50
# All groups of the same size are looked at if there are no more; else so many at random, where χ² will not do.
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
    groups = Groups()
    rows = [
        {"where": "known", "arguments": {}, **_row(known[name], types.get(str(name)), inside, outside, groups)}
        for name in known.columns
    ]
    others = [name for name in table.columns if name not in known.columns]
    for name in others:
        adopt = {"arguments": {"name": name, "column": name}}
        rows.append({"where": "table", **adopt, **_row(table[name], None, inside, outside, groups)})
    columns = ["column", "where", "type", "strength", "p_value", "group", "other", "arguments", "note"]
    ranked = pd.DataFrame(rows, columns=columns)
    tested = ranked["p_value"].notna()
    ranked.loc[tested, "p_value"] = holm(ranked.loc[tested, "p_value"].to_numpy(dtype=np.float64))
    return ranked.sort_values(["p_value", "strength"], ascending=[True, False], kind="stable", ignore_index=True)


def _row(column: pd.Series[Any], kind: Any, inside: Mask, outside: Mask, groups: Groups) -> dict[str, Any]:
    used = (inside | outside) & column.notna().to_numpy()
    trait = make_trait(column[used], kind)
    row = {"column": column.name, "type": trait.type, "strength": np.nan, "p_value": np.nan, "note": ""}
    member = inside[used]
    if member.all() or not member.any():
        return row | {"group": "", "other": "", "note": "not tested: one side has no values"}
    told = dict(zip(("group", "other"), trait.words(member), strict=True))
    if trait.scores.shape[1] == 0:
        return row | told | {"note": trait.note}
    comparison = Comparison(trait, member)
    return row | told | {"strength": comparison.strength, "p_value": comparison.p_value(groups)}


# ---- columns by their type


@dataclass(frozen=True)
class Trait:
    """A column without missing cells as scores, whose sum over a group is what is tested.

    Without scores nothing is tested, and the note says why.
    """

    type: str
    cells: pd.Series[Any]
    scores: Array
    note: str = ""

    def words(self, member: Mask) -> tuple[str, str]:
        """Return what is typical of either side."""
        if self.type in ("numeric", "ordinal"):
            middle = [self.cells[side].sort_values(ignore_index=True) for side in (member, ~member)]
            return _middle(middle[0], self.type), _middle(middle[1], self.type)
        if self.type == "cyclic" or not len(self.cells) or self.cells.nunique() > MOST_LEVELS:
            return "", ""
        shares = [self.cells[side].value_counts(normalize=True) for side in (member, ~member)]
        level = shares[0].sub(shares[1], fill_value=0).abs().idxmax()
        counts = [int((self.cells[side] == level).sum()) for side in (member, ~member)]
        return f"{level}: {counts[0]} of {member.sum()}", f"{level}: {counts[1]} of {(~member).sum()}"


def _middle(ordered: pd.Series[Any], kind: str) -> str:
    if kind == "numeric":
        return f"{float(ordered.astype(np.float64).median()):.4g}"
    return str(ordered.iloc[(len(ordered) - 1) // 2])


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
        return Trait("cyclic", cells, _angles(cells.to_numpy(dtype=np.float64), declared))
    if is_number and not isinstance(declared, Nominal):
        return Trait("numeric", cells, rankdata(cells.to_numpy(dtype=np.float64))[:, None])
    if isinstance(cells.dtype, pd.CategoricalDtype) and cells.dtype.ordered:
        return Trait("ordinal", cells, rankdata(cells.cat.codes.to_numpy())[:, None])
    codes, levels = pd.factorize(cells)
    if len(levels) > MOST_LEVELS:
        return Trait("nominal", cells, nothing, f"not tested: more than {MOST_LEVELS} different values")
    return Trait("nominal", cells, (codes[:, None] == np.arange(len(levels))).astype(np.float64))


def _angles(values: Array, kind: Cyclic) -> Array:
    """Return uniform scores: the places of the ranks around a circle."""
    turned = 2 * np.pi * rankdata(values % float(kind.period)) / len(values)
    return np.column_stack([np.cos(turned), np.sin(turned)])


# ---- the test


@dataclass(frozen=True)
class Comparison:
    """The sum of the scores over a group, compared with that over a random group of the same size.

    The statistic is (s - E s)ᵀ Cov(s)⁻ (s - E s), with mean and covariance under random grouping. For ranks that is the
    H of Kruskal and Wallis, for levels Pearson's χ² times (n - 1) / n, for uniform scores W of Mardia, Watson and
    Wheeler, nearly; and divided by n - 1 the squared multiple correlation of the group with the scores.
    """

    trait: Trait
    member: Mask

    @cached_property
    def _whitened(self) -> Array:
        """Scores by which the statistic is a sum of squares: without what is known of all by the others."""
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
        """Return how probable it is that a random group differs as much."""
        n, k = len(self.member), int(self.member.sum())
        size = min(k, n - k)  # of the smaller side, whose scores sum to those of the other with another sign
        if comb(n, k) <= MOST_GROUPS:
            return self._count(groups.all(n, size)) / comb(n, k)
        if self._is_sparse and n <= MANY_OBJECTS:
            return (1 + self._count(groups.random(n, size))) / (1 + RANDOM_GROUPS)
        joined = self._joined() if self._is_sparse and self.trait.type == "nominal" else self
        return float(chi2.sf(joined.statistic, joined._whitened.shape[1]))

    def _count(self, groups: IntArray) -> int:
        """Return how many groups have a statistic as large."""
        least, found = self.statistic * (1 - ROUNDING), 0
        for at in range(0, len(groups), CHUNK):
            sums = self._whitened[groups[at : at + CHUNK]].sum(axis=1)
            found += int(np.sum(np.sum(sums**2, axis=1) >= least))
        return found

    @property
    def _is_sparse(self) -> bool:
        smaller = min(self.member.sum(), (~self.member).sum())
        if self.trait.type != "nominal":
            return bool(smaller < ENOUGH_OBJECTS)
        return bool((self._expected < ENOUGH_EXPECTED).any())

    @property
    def _expected(self) -> Array:
        """How many of each level are to be expected on the smaller side."""
        return np.asarray(self.trait.scores.mean(axis=0) * min(self.member.sum(), (~self.member).sum()))

    def _joined(self) -> Comparison:
        """Return the same with all levels that are too rare taken for one."""
        scores, rare = self.trait.scores, self._expected < ENOUGH_EXPECTED
        joined = np.column_stack([scores[:, ~rare], scores[:, rare].sum(axis=1)])
        return Comparison(Trait("nominal", self.trait.cells, joined), self.member)


class Groups:
    """Groups of the size of one that is tested: all there are, or some at random; the same for all columns."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._drawn: dict[tuple[str, int, int], IntArray] = {}

    def all(self, n: int, k: int) -> IntArray:
        return self._once(("all", n, k), lambda: np.array(list(combinations(range(n), k)), dtype=np.int64))

    def random(self, n: int, k: int) -> IntArray:
        return self._once(("random", n, k), lambda: self._draw(n, k))

    def _once(self, key: tuple[str, int, int], make: Callable[[], IntArray]) -> IntArray:
        if key not in self._drawn:
            self._drawn[key] = make()
        return self._drawn[key]

    def _draw(self, n: int, k: int) -> IntArray:
        rng = np.random.default_rng(self._seed)
        parts = [min(CHUNK, RANDOM_GROUPS - at) for at in range(0, RANDOM_GROUPS, CHUNK)]
        drawn = [np.argpartition(rng.random((part, n)), k - 1, axis=1)[:, :k] for part in parts]
        return np.asarray(np.concatenate(drawn))
