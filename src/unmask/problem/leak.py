"""How much of what is known a map repeats, along its axes and among neighbours, each beside what chance makes.

Two measures, because one is not enough: canonical correlations see what varies along the map, and of a map that was
adjusted for the known features they are 0 whatever it shows; neighbours see circles, clusters and curves too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.stats
from scipy.spatial import cKDTree

from .._typing import Array, IntArray
from ..checking import wilks_p_value
from ._known import Feature, KnownColumn, KnownFeatures
from .linalg import axes_that_show, canonical_correlations, orthonormal_basis

LEVEL = 0.05
# Random maps whose average correlation is the reference: the level is .05 with a standard error of .002.
DRAWS = 10_000
# Neighbours are asked of at most so many objects, picked at random.
MOST_OBJECTS = 5000
MOST_NEIGHBOURS = 10
# Permuted maps: fewer where each needs a search of its own for many objects, whose scores vary little.
PERMUTATIONS, FEWER_PERMUTATIONS = 99, 39
MANY_OBJECTS = 1000


# ---- along the map


class LinearLeak(NamedTuple):
    """What a map repeats of known features along its axes."""

    correlations: Array  # canonical, largest first
    leak: float  # their mean; 0 if there are none
    reference: float  # what the mean exceeds in 5% of random maps
    p_value: float
    directions: int  # how many of the correlations are above chance


def linear_leak(U: Array, V: Array, *, groups: int = 1, beside: float = 0.0) -> LinearLeak:
    """Return the canonical correlations of a map with known columns, and what chance makes of as many objects.

    Dimensions are counted by rank: columns without a part of their own add nothing. ``groups`` is the number of groups
    of objects within which both tables were centred (those that were mapped apart); each beyond the first costs a
    degree of freedom. An axis of rounding beside the others, or beside a length of ``beside``, counts for nothing.
    """
    U = axes_that_show(U, beside)
    correlations = canonical_correlations(U, V)
    n, p, q = len(U) - groups + 1, orthonormal_basis(U).shape[1], orthonormal_basis(V).shape[1]
    return LinearLeak(
        correlations,
        float(correlations.mean()) if len(correlations) else 0.0,
        leak_reference(n, p, q),
        wilks_p_value(correlations, n, p, q),
        leaking_directions(correlations, n, p, q),
    )


def leaking_directions(correlations: Array, n: int, p: int, q: int, level: float = LEVEL) -> int:
    """Return how many canonical correlations are above chance, by testing those that are left one after the other.

    That all but the first k are 0 is tested like the hypothesis that all are, with k objects, axes and columns less:
    Bartlett's -m ln Π_{i>k} (1 - r_i²) with (p - k)(q - k) degrees of freedom, where m does not depend on k.
    """
    for k in range(len(correlations)):
        if wilks_p_value(correlations[k:], n - k, p - k, q - k) > level:
            return k
    return len(correlations)


@lru_cache(maxsize=256)
def leak_reference(n: int, p: int, q: int) -> float:
    """Return what the average canonical correlation of a random map with known columns exceeds in 5% of cases.

    There are n objects, and the centred map and known columns have the ranks p and q. Where one of these is 1 there is
    one correlation, whose square has a beta distribution, and a leak above the reference is one with a p-value (Wilks's
    test) below .05. Of several correlations the mean has no known distribution: the reference is the 95% point of
    10,000 draws of them, always the same. Both then have level .05; Wilks's test sees one large correlation among many
    sooner than their mean does. It is 0 where p or q is 0, and 1 where p + q > n - 1.

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
    averages = _random_correlations(fewer, more, n - 1 - more).mean(axis=1)
    return float(np.quantile(averages, 1 - LEVEL))


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
        return self.score > self.reference

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
    values = known.values + known.shift
    return [_trait(feature, values[:, at]) for feature, at in kept if at]


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
) -> dict[str, NeighbourLeak]:
    """Return for each known feature how well neighbours on the map tell it, and how well they would by chance.

    The score of a feature of levels is the share of objects whose level is the most common one among their nearest
    neighbours, ties shared out; of a numeric one the correlation of the values with the mean of the neighbours' values;
    of one of several columns the same, pooled over them. An object whose cell is missing neither is asked nor answers;
    a feature without a column of its own (it is a function of others) is left out. Above 5,000 objects, so many of
    them, picked at random, are asked about each other.

    ``adjusted_for`` are the columns that were regressed out of the map, with what was filled in for missing cells.
    Chance is then what permuted maps give from which the columns are regressed out again: residuals repel objects that
    are alike in what is known, so that the plain chance level would be wrong. By default the root of the number of
    objects, at most 10, are the ``n_neighbors``, and 99 the ``n_permutations``, or 39 for an adjusted map of more than
    1,000 objects, where neighbours are searched on each.
    """
    rows = rng.permutation(len(U))[:MOST_OBJECTS]  # in random order, by which equally far neighbours are then picked
    missing = {feature.name: feature.missing for feature in known.features}
    groups: dict[bytes, list[Trait]] = {}
    for trait in traits_of(known):
        groups.setdefault(np.isin(rows, missing[trait.name]).tobytes(), []).append(trait)
    leaks: dict[str, NeighbourLeak] = {}
    for gone, traits in groups.items():
        present = rows[~np.frombuffer(gone, dtype=bool)]
        chance = PermutedMaps(U[present], None if adjusted_for is None else adjusted_for[present], rng, n_permutations)
        told = told_by_neighbours(chance, [trait.of(present) for trait in traits], n_neighbors)
        leaks |= dict(zip((trait.name for trait in traits), told, strict=True))
    return {name: leaks[name] for name in known.feature_names if name in leaks}


@dataclass(frozen=True)
class PermutedMaps:
    """A map, and copies of it with permuted rows: the reference for what is there by chance."""

    given: Array
    adjusted_for: Array | None
    rng: np.random.Generator
    number: int | None = None

    def map(self) -> Array:
        """Return the map itself, adjusted again within a sample."""
        return self._residual(self.given)

    def orders(self) -> list[IntArray]:
        """Return the permutations."""
        n, number = len(self.given), self.number
        if number is None:
            slow = self.adjusted_for is not None and n > MANY_OBJECTS
            number = FEWER_PERMUTATIONS if slow else PERMUTATIONS
        return [self.rng.permutation(n) for _ in range(number)]

    def permuted(self, U: Array, order: IntArray) -> Array:
        """Return a map with its rows permuted and, if it was adjusted, adjusted again."""
        return self._residual(U[order])

    def _residual(self, U: Array) -> Array:
        if self._basis is None:
            return U
        centred = U - U.mean(axis=0)
        return np.asarray(centred - self._basis @ (self._basis.T @ centred))

    @cached_property
    def _basis(self) -> Array | None:
        return None if self.adjusted_for is None else orthonormal_basis(self.adjusted_for)


def told_by_neighbours(
    chance: PermutedMaps, traits: Sequence[Trait], n_neighbors: int | None = None
) -> list[NeighbourLeak]:
    """Return how well neighbours tell traits of the same objects, on a map and by chance."""
    U = chance.map()
    if len(U) < 3:  # a single neighbour is the only one there is, whatever the map
        return [NeighbourLeak(*[np.nan] * 4) for _ in traits]
    k = min(round(np.sqrt(len(U))), MOST_NEIGHBOURS) if n_neighbors is None else n_neighbors
    neighbours = nearest(U, k)
    scores = [trait.score(neighbours) for trait in traits]
    permuted = np.array([[trait.score(near) for trait in traits] for near in _by_chance(chance, U, neighbours, k)])
    return [NeighbourLeak(*beside_chance(score, by)) for score, by in zip(scores, permuted.T, strict=True)]


def _by_chance(chance: PermutedMaps, U: Array, neighbours: IntArray, k: int) -> list[IntArray]:
    orders = chance.orders()
    if chance.adjusted_for is not None:
        return [nearest(chance.permuted(U, order), k) for order in orders]
    # A map whose rows are permuted and nothing else has the neighbours it had, by other numbers.
    return [np.argsort(order)[neighbours[order]] for order in orders]


def beside_chance(score: float, permuted: Array) -> tuple[float, float, float, float]:
    """Return a score, the mean and the 95% point of permuted ones (beyond it p is at most .05), and the p-value."""
    at = int(np.ceil((1 - LEVEL) * (len(permuted) + 1))) - 1
    # Sums in another order are not a difference.
    p_value = (1 + np.sum(permuted >= score - 1e-12)) / (1 + len(permuted))
    return score, float(permuted.mean()), float(np.sort(permuted)[at]), float(p_value)


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
