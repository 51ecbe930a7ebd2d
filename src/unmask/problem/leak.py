"""How much of what is known a map repeats, along its axes and among neighbours, each beside what chance makes.

Two measures, because one is not enough: canonical correlations see what varies along the map, and of a map that was
adjusted for the known features they are 0 whatever it shows; neighbours see circles, clusters and curves too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.stats
from scipy.spatial import cKDTree

from .._typing import Array, IntArray
from ._known import Feature, KnownColumn, KnownFeatures
from .linalg import axes_that_show, canonical_correlations, orthonormal_basis

LEVEL = 0.05
# Random maps whose average correlation is the reference: the level is .05 with a standard error of .002.
DRAWS = 9999
# Neighbours are asked of at most so many objects, picked at random.
LEAK_SAMPLE = 5000
MOST_NEIGHBOURS = 10
PERMUTATIONS = 99
# Of so many permutations the one is taken that is least correlated with what was taken off a map.
TRIES = 10
# Sums in another order are not a difference.
ROUNDING = 1e-12


# ---- along the map


class LinearLeak(NamedTuple):
    """What a map repeats of known features along its axes."""

    correlations: Array  # canonical, largest first
    leak: float  # their mean; 0 if there are none
    reference: float  # what the mean exceeds in 5% of random maps
    p_value: float
    directions: int  # how many of the correlations are above chance; 0 exactly if the leak is not above its reference


def linear_leak(U: Array, V: Array, *, beside: float = 0.0) -> LinearLeak:
    """Return the canonical correlations of a map with known columns, and what chance makes of as many objects.

    Dimensions are counted by rank: columns without a part of their own add nothing. An axis of rounding beside the
    others, or beside a length of ``beside``, counts for nothing.
    """
    U = axes_that_show(U, beside)
    correlations = canonical_correlations(U, V)
    n, p, q = len(U), orthonormal_basis(U).shape[1], orthonormal_basis(V).shape[1]
    leak = float(correlations.mean()) if len(correlations) else 0.0
    return LinearLeak(
        correlations,
        leak,
        leak_reference(n, p, q),
        leak_p_value(leak, n, p, q),
        leaking_directions(correlations, n, p, q),
    )


def leak_in_words(leak: float, reference: float) -> str:
    """Return a leak beside chance, for every place that shows one; only the leak where the reference is not known.

    Examples
    --------
    >>> from unmask.problem.leak import leak_in_words
    >>> leak_in_words(0.6, 0.2)
    '0.60, more than chance: 19 of 20 random maps stay below 0.20'
    """
    if np.isnan(reference):
        return f"{leak:.2f}"
    # As many digits as show which of the two is larger.
    digits = next((d for d in range(2, 6) if f"{leak:.{d}f}" != f"{reference:.{d}f}"), 2)
    verdict = "more than chance" if leak > reference else "no more than chance"
    return f"{leak:.{digits}f}, {verdict}: 19 of 20 random maps stay below {reference:.{digits}f}"


def leaking_directions(correlations: Array, n: int, p: int, q: int) -> int:
    """Return how many canonical correlations are above chance, by testing those that are left one after the other.

    The mean of all but the first k is compared with that of random maps with k objects, axes and columns less.
    """
    for k in range(len(correlations)):
        if np.mean(correlations[k:]) <= leak_reference(n - k, p - k, q - k):
            return k
    return len(correlations)


def leak_reference(n: int, p: int, q: int) -> float:
    """Return what the average canonical correlation of a random map with known columns exceeds in 5% of cases.

    There are n objects, and the centred map and known columns have the ranks p and q. Where one of these is 1 there is
    one correlation, whose square has a beta distribution. The mean of several has no known distribution: the reference
    is the 95% point of 9,999 draws, always the same. It is 0 where p or q is 0, and 1 where p + q > n - 1.

    Examples
    --------
    >>> from unmask.problem.leak import leak_reference
    >>> [round(leak_reference(n, 2, 1), 2) for n in (14, 150)]
    [0.65, 0.2]
    """
    fewer, more = sorted((p, q))
    if fewer == 0:
        return 0.0
    if p + q > n - 1:
        return 1.0
    if fewer == 1:
        return float(np.sqrt(scipy.stats.beta.ppf(1 - LEVEL, more / 2, (n - 1 - more) / 2)))
    return float(_random_leaks(fewer, more, n - 1 - more)[round((1 - LEVEL) * (DRAWS + 1)) - 1])


def leak_p_value(leak: float, n: int, p: int, q: int) -> float:
    """Return the share of random maps whose leak is at least as large: below .05 if it is above its reference.

    Examples
    --------
    >>> from unmask.problem.leak import leak_p_value
    >>> round(leak_p_value(0.65, n=14, p=2, q=1), 3), round(leak_p_value(0.65, n=30, p=2, q=1), 5)
    (0.049, 0.0006)
    """
    fewer, more = sorted((p, q))
    if fewer == 0 or p + q > n - 1:
        return 1.0
    if fewer == 1:
        return float(scipy.stats.beta.sf(leak**2, more / 2, (n - 1 - more) / 2))
    drawn = _random_leaks(fewer, more, n - 1 - more)
    return float((1 + DRAWS - np.searchsorted(drawn, leak)) / (1 + DRAWS))


@lru_cache(maxsize=64)
def _random_leaks(s: int, explained: int, left: int) -> Array:
    """Return the mean canonical correlations of random maps, sorted."""
    return np.sort(_random_correlations(s, explained, left).mean(axis=1))


def _random_correlations(s: int, explained: int, left: int) -> Array:
    """Return draws of s canonical correlations of independent tables.

    Their squares are the eigenvalues of A (A + B)⁻¹ for independent Wishart matrices A and B, so that only the
    triangular roots L of these are drawn (Bartlett's decomposition), at a cost that does not grow with the number of
    objects: the singular values of L_B⁻¹ L_A are the tangents of the angles whose sines are the correlations.
    """
    rng = np.random.default_rng(0)
    A, B = (_wishart_roots(rng, s, freedom) for freedom in (explained, left))
    tangents = np.linalg.svd(np.linalg.solve(B, A), compute_uv=False)
    return np.asarray(tangents / np.hypot(1.0, tangents))


def _wishart_roots(rng: np.random.Generator, s: int, freedom: int) -> Array:
    roots = np.tril(rng.standard_normal((DRAWS, s, s)), -1)
    at = np.arange(s)
    roots[:, at, at] = np.sqrt(rng.chisquare(freedom - at, (DRAWS, s)))
    return roots


# ---- among neighbours


class NeighbourLeak(NamedTuple):
    """How well neighbours on a map tell a feature, and how well they would by chance; NaN where none can be asked."""

    score: float
    baseline: float  # mean over maps with permuted rows
    reference: float  # what 5% of these exceed
    p_value: float

    @property
    def above_chance(self) -> bool:
        """Whether neighbours tell the feature better than in 95% of the permuted maps."""
        return self.p_value <= LEVEL

    @property
    def corrected(self) -> float:
        """The score on a scale from 0, as good as chance, to 1, always right."""
        return (self.score - self.baseline) / (1.0 - self.baseline) if self.baseline < 1.0 else 0.0


@dataclass(frozen=True)
class Trait:
    """What is predicted from neighbours: the level that an object has, or its values in some columns.

    ``levels`` numbers the levels, in their order if they have one; ``columns`` holds numbers, one row per object.
    """

    name: str
    kind: str
    levels: IntArray | None
    columns: Array
    ordered: bool = False

    def of(self, rows: IntArray) -> Trait:
        """Return the trait of some objects."""
        levels = None if self.levels is None else self.levels[rows]
        return replace(self, levels=levels, columns=self.columns[rows])

    def score(self, neighbours: IntArray) -> float:
        """Return how well neighbours tell the trait: the share of right levels, or a correlation."""
        return _right_levels(self.levels, neighbours) if self.levels is not None else _told(self.columns, neighbours)


def traits_of(known: KnownFeatures, table: list[KnownColumn] | None = None) -> list[Trait]:
    """Return the known features in the form in which they are predicted from neighbours.

    Cells are not kept by `known`, but the coded columns of a level differ from those of any other. A feature all of
    whose columns are functions of other features has none of its own there and is left out, unless `table` holds the
    cells, none missing.
    """
    if table is not None:
        whole = np.asarray((known.encode(table) - known.reference - known.centre) / known.scale)
        return [_trait(feature, whole[:, list(feature.columns)]) for feature in known.features]
    kept = [(feature, known.columns_of(feature)) for feature in known.features]
    return [_trait(feature, known.values[:, at]) for feature, at in kept if at]


def _trait(feature: Feature, columns: Array) -> Trait:
    if not feature.coding.levels:
        return Trait(feature.name, feature.coding.kind, None, columns)
    # Levels come out in their order: the columns of an ordinal feature are steps, so that rows sort as levels do.
    levels = np.unique(columns.round(9), axis=0, return_inverse=True)[1].ravel()
    return Trait(feature.name, feature.coding.kind, levels, columns, feature.coding.ordered)


def neighbour_leak(
    U: Array,
    known: KnownFeatures,
    rng: np.random.Generator,
    *,
    adjusted_for: Array | None = None,
    n_neighbors: int | None = None,
    n_permutations: int | None = None,
    stop_early: bool = False,
) -> dict[str, NeighbourLeak]:
    """Return for each known feature how well neighbours on the map tell it, and how well they would by chance.

    The score of a feature of levels is the share of objects whose level is the most common one among their nearest
    neighbours, ties shared out; of a numeric one the correlation of the values with the mean of the neighbours' values;
    of one of several columns the same, pooled over them. An object whose cell is missing neither is asked nor answers;
    a feature without a column of its own (it is a function of others) is left out. Above 5,000 objects, so many of
    them, picked at random, are asked about each other.

    ``adjusted_for`` are the columns with which the map is uncorrelated by construction, with what was filled in for
    missing cells. Chance is then what permuted maps give that are hardly correlated with the columns either: among the
    neighbours on such a map fewer are alike in what is known than on any map. By default the root of the number of
    objects, at most 10, are the ``n_neighbors``, and 99 the ``n_permutations``. With ``stop_early`` permuting ends as
    soon as no feature can be above chance any more, and the features are left out; else they are as without.
    """
    rows = rng.permutation(len(U))[:LEAK_SAMPLE]  # in random order, by which equally far neighbours are then picked
    missing = {feature.name: feature.missing for feature in known.features}
    groups: dict[bytes, list[Trait]] = {}
    for trait in traits_of(known):
        groups.setdefault(np.isin(rows, missing[trait.name]).tobytes(), []).append(trait)
    leaks: dict[str, NeighbourLeak] = {}
    for gone, traits in groups.items():
        present = rows[~np.frombuffer(gone, dtype=bool)]
        chance = PermutedMaps(U[present], None if adjusted_for is None else adjusted_for[present], rng, n_permutations)
        told = told_by_neighbours(chance, [trait.of(present) for trait in traits], n_neighbors, stop_early=stop_early)
        leaks |= dict(zip((trait.name for trait in traits), told, strict=not stop_early))
    return {name: leaks[name] for name in known.feature_names if name in leaks}


@dataclass(frozen=True)
class PermutedMaps:
    """A map, and orders of its rows: the reference for what is there by chance.

    Permuted maps of one that is uncorrelated with known columns are nearly so too. Regressing the columns out of each
    would make them exactly so, but tears apart the levels in tight clusters: neighbours then tell them by chance.
    """

    given: Array
    adjusted_for: Array | None
    rng: np.random.Generator
    number: int | None = None

    @cached_property
    def map(self) -> Array:
        """The map itself, adjusted again within a sample."""
        centred = self.given - self.given.mean(axis=0)
        return np.asarray(centred - self._basis @ (self._basis.T @ centred))

    def __len__(self) -> int:
        return PERMUTATIONS if self.number is None else self.number

    def orders(self) -> Iterator[IntArray]:
        """Yield the permutations."""
        for _ in range(len(self)):
            if self.adjusted_for is None:
                yield self.rng.permutation(len(self.given))
                continue
            tries = self.rng.permuted(np.tile(np.arange(len(self.given)), (TRIES, 1)), axis=1)
            yield tries[np.argmin(np.sum((self._basis.T @ self.map[tries]) ** 2, axis=(1, 2)))]

    @cached_property
    def _basis(self) -> Array:
        return orthonormal_basis(np.empty((len(self.given), 0)) if self.adjusted_for is None else self.adjusted_for)


def told_by_neighbours(
    chance: PermutedMaps, traits: Sequence[Trait], n_neighbors: int | None = None, *, stop_early: bool = False
) -> list[NeighbourLeak]:
    """Return how well neighbours tell traits of the same objects, on a map and by chance.

    With ``stop_early`` the list is empty if no trait is told above chance, which a few permuted maps often show.
    """
    U = chance.map
    if len(U) < 3:  # a single neighbour is the only one there is, whatever the map
        return [NeighbourLeak(*[np.nan] * 4) for _ in traits]
    k = min(round(np.sqrt(len(U))), MOST_NEIGHBOURS) if n_neighbors is None else n_neighbors
    neighbours = nearest(U, k)
    scores = np.array([trait.score(neighbours) for trait in traits])
    permuted: list[list[float]] = []
    for order in chance.orders():
        near = np.argsort(order)[neighbours[order]]  # the neighbours it had, by other numbers
        permuted.append([trait.score(near) for trait in traits])
        if stop_early and (1 + np.sum(permuted >= scores - ROUNDING, axis=0) > LEVEL * (1 + len(chance))).all():
            return []
    by_trait = np.array(permuted).T
    return [NeighbourLeak(*beside_chance(score, by)) for score, by in zip(scores, by_trait, strict=True)]


def beside_chance(score: float, permuted: Array) -> tuple[float, float, float, float]:
    """Return a score, the mean and the 95% point of permuted ones (beyond it p is at most .05), and the p-value."""
    at = int(np.ceil((1 - LEVEL) * (len(permuted) + 1))) - 1
    p_value = (1 + np.sum(permuted >= score - ROUNDING)) / (1 + len(permuted))
    return float(score), float(permuted.mean()), float(np.sort(permuted)[at]), float(p_value)


def nearest(U: Array, k: int) -> IntArray:
    """Return the k nearest neighbours of each object on a map, itself not among them."""
    n, k = len(U), min(k, len(U) - 1)
    if U.shape[1] == 0:
        U = np.zeros((n, 1))
    neighbours = cKDTree(U).query(U, k + 1)[1]
    # Of more coincident objects than k + 1 the tree may leave out the one that asks; then the last one goes.
    itself = neighbours == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(neighbours[~itself].reshape(n, k))


def _right_levels(levels: IntArray, neighbours: IntArray) -> float:
    """Return the share of objects whose level is the most common one among their neighbours, ties shared out."""
    near = levels[neighbours]
    votes = (near[:, :, None] == near[:, None, :]).sum(axis=2)  # for the level of each neighbour; no need of all levels
    most = votes.max(axis=1)
    tied = (votes == most[:, None]).sum(axis=1) / most
    own = (near == levels[:, None]).sum(axis=1)
    return float(np.mean((own == most) / tied))


def _told(columns: Array, neighbours: IntArray) -> float:
    """Return the correlation of values with the mean of the neighbours' values, pooled over columns; 0 if undefined."""
    means = columns[neighbours[:, 0]]
    for at in range(1, neighbours.shape[1]):
        means = means + columns[neighbours[:, at]]
    one, other = (table - table.mean(axis=0) for table in (columns, means))
    size = np.sqrt(np.sum(one**2) * np.sum(other**2))
    return float(np.sum(one * other) / size) if size > 0 else 0.0
