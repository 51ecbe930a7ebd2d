"""How much of the known features a map repeats, along its axes and among neighbours, each compared with chance.

Two measures, because one is not enough. Canonical correlations see what varies along the map; they are always 0 on a
map that was adjusted for the known features. Neighbours see circles, clusters and curves too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.stats
from scipy.spatial import cKDTree

from .._typing import Array, IntArray
from ._known import KnownColumn, KnownFeatures
from .linalg import axes_that_show, orthonormal_basis

LEVEL = 0.05
# Random maps whose average correlation is the reference: the level is .05 with a standard error of .002.
DRAWS = 9999
# Above this many objects, neighbours are checked for a random sample of them.
LEAK_SAMPLE = 5000
MOST_NEIGHBOURS = 10
PERMUTATIONS = 99
# Of this many permutations of an adjusted map, the least correlated with the columns that were taken off is used.
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
    """Return the canonical correlations of a map with known columns, compared with those of random maps.

    Dimensions are counted by rank: dependent columns add nothing. An axis of rounding beside the others, or beside a
    length of ``beside``, counts for nothing.
    """
    P, Q = orthonormal_basis(axes_that_show(U, beside)), orthonormal_basis(V)
    correlations = np.clip(np.linalg.svd(P.T @ Q, compute_uv=False), 0.0, 1.0)
    leak = float(correlations.mean()) if len(correlations) else 0.0
    ranks = len(U), P.shape[1], Q.shape[1]
    directions = leaking_directions(correlations, *ranks)
    return LinearLeak(correlations, leak, leak_reference(*ranks), leak_p_value(leak, *ranks), directions)


def leak_in_words(leak: float, reference: float) -> str:
    """Return a leak and its comparison with chance as text; only the leak if the reference is NaN.

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
    """Return how many canonical correlations are above chance, found by testing what is left after each.

    The mean of all but the first k is compared with that of random maps with k objects, axes and columns less.
    """
    for k in range(len(correlations)):
        if np.mean(correlations[k:]) <= leak_reference(n - k, p - k, q - k):
            return k
    return len(correlations)


def leak_reference(n: int, p: int, q: int) -> float:
    """Return the 95% point of the average canonical correlation of random maps with known columns.

    There are n objects, and the centred map and known columns have the ranks p and q. Where one of these is 1, the
    square of the only correlation has a beta distribution; otherwise the reference is that of 9,999 draws, always the
    same. It is 0 where p or q is 0, and 1 where p + q > n - 1.

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
    """Return the share of random maps whose leak is at least as large: below .05 if it is above its reference."""
    fewer, more = sorted((p, q))
    if fewer == 0 or p + q > n - 1:
        return 1.0
    if fewer == 1:
        return float(scipy.stats.beta.sf(leak**2, more / 2, (n - 1 - more) / 2))
    drawn = _random_leaks(fewer, more, n - 1 - more)
    return float((1 + DRAWS - np.searchsorted(drawn, leak)) / (1 + DRAWS))


@lru_cache(maxsize=64)
def _random_leaks(s: int, explained: int, left: int) -> Array:
    """Return the mean of s canonical correlations of independent tables, for many draws, sorted.

    Their squares are the eigenvalues of A (A + B)⁻¹ for independent Wishart matrices A and B, so that only the
    triangular roots L of these are drawn (Bartlett's decomposition), at a cost that does not grow with the number of
    objects: the singular values of L_B⁻¹ L_A are the tangents of the angles whose sines are the correlations.
    """
    rng, at, roots = np.random.default_rng(0), np.arange(s), []
    for freedom in (explained, left):
        root = np.tril(rng.standard_normal((DRAWS, s, s)), -1)
        root[:, at, at] = np.sqrt(rng.chisquare(freedom - at, (DRAWS, s)))
        roots.append(root)
    tangents = np.linalg.svd(np.linalg.solve(roots[1], roots[0]), compute_uv=False)
    return np.sort((tangents / np.hypot(1.0, tangents)).mean(axis=1))


# ---- among neighbours


class NeighbourLeak(NamedTuple):
    """How well neighbours on a map predict a feature, and how well by chance; NaN for fewer than three objects."""

    score: float
    baseline: float  # mean over maps with permuted rows
    reference: float  # what 5% of these exceed
    p_value: float

    @property
    def above_chance(self) -> bool:
        """Whether neighbours predict the feature better than in 95% of the permuted maps."""
        return self.p_value <= LEVEL

    @property
    def corrected(self) -> float:
        """The score on a scale from 0, as good as chance, to 1, always right."""
        return (self.score - self.baseline) / (1.0 - self.baseline) if self.baseline < 1.0 else 0.0


@dataclass(frozen=True)
class Trait:
    """What is predicted from neighbours: an object's level, or its values in some columns.

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
        """Return how well neighbours predict the trait.

        For levels, the share of objects whose level is the most common one among their neighbours, ties shared out; for
        numbers, the correlation of values with the mean of the neighbours' values, pooled over columns.
        """
        if self.levels is not None:
            near = self.levels[neighbours]
            votes = (near[:, :, None] == near[:, None, :]).sum(axis=2)  # for the level of each neighbour
            most = votes.max(axis=1)
            tied = (votes == most[:, None]).sum(axis=1) / most
            own = (near == self.levels[:, None]).sum(axis=1)
            return float(np.mean((own == most) / tied))
        sums = self.columns[neighbours[:, 0]]
        for at in range(1, neighbours.shape[1]):
            sums = sums + self.columns[neighbours[:, at]]
        one, other = (table - table.mean(axis=0) for table in (self.columns, sums))
        size = np.sqrt(np.sum(one**2) * np.sum(other**2))
        return float(np.sum(one * other) / size) if size > 0 else 0.0


def traits_of(known: KnownFeatures, table: list[KnownColumn] | None = None) -> list[Trait]:
    """Return the known features in the form in which they are predicted from neighbours.

    A feature all of whose columns are functions of other features is left out, unless `table` holds the cells, none
    missing.
    """
    values: Array = known.values
    if table is not None:
        values = np.asarray((known.encode(table) - known.reference - known.centre) / known.scale)
    traits = []
    for feature in known.features:
        at = known.columns_of(feature) if table is None else list(feature.columns)
        levels = None
        if at and feature.coding.levels:
            # The columns of two levels differ, and the rows of an ordinal feature sort as its levels do.
            levels = np.unique(values[:, at].round(9), axis=0, return_inverse=True)[1].ravel()
        if at:
            ordered = levels is not None and feature.coding.ordered
            traits.append(Trait(feature.name, feature.coding.kind, levels, values[:, at], ordered))
    return traits


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
    """Return for each known feature how well neighbours on the map predict it, and how well they would by chance.

    :meth:`Trait.score` has the score. An object whose cell is missing is left out; so is a feature without a column of
    its own (a function of others). Above 5,000 objects, a random sample of 5,000 is used.

    ``adjusted_for`` are the columns with which the map is uncorrelated by construction, with estimates for missing
    cells. Chance is then given by permuted maps that are hardly correlated with the columns either: on such a map fewer
    neighbours are alike in the known features than on any map. ``n_neighbors`` is by default the root of the number of
    objects, at most 10. With ``stop_early`` permuting ends as soon as no feature can be above chance any more, and the
    features are left out; the others are as without.
    """
    rows = rng.permutation(len(U))[:LEAK_SAMPLE]  # in random order, by which equally far neighbours are then picked
    missing = {feature.name: feature.missing for feature in known.features}
    groups: dict[bytes, list[Trait]] = {}
    for trait in traits_of(known):
        groups.setdefault(np.isin(rows, missing[trait.name]).tobytes(), []).append(trait)
    leaks: dict[str, NeighbourLeak] = {}
    for gone, traits in groups.items():
        present = rows[~np.frombuffer(gone, dtype=bool)]
        found = predicted_by_neighbours(
            U[present],
            [trait.of(present) for trait in traits],
            rng,
            None if adjusted_for is None else adjusted_for[present],
            n_neighbors=n_neighbors,
            n_permutations=n_permutations,
            stop_early=stop_early,
        )
        leaks |= dict(zip((trait.name for trait in traits), found, strict=not stop_early))
    return {name: leaks[name] for name in known.feature_names if name in leaks}


def predicted_by_neighbours(
    U: Array,
    traits: Sequence[Trait],
    rng: np.random.Generator,
    adjusted_for: Array | None,
    *,
    n_neighbors: int | None = None,
    n_permutations: int | None = None,
    stop_early: bool = False,
) -> list[NeighbourLeak]:
    """Return how well neighbours predict traits of the same objects, on a map and on maps with permuted rows.

    Permuted maps of one that is uncorrelated with known columns are nearly so too. Regressing the columns out of each
    would make them exactly so, but tears apart the levels in tight clusters, which neighbours then predict by chance.

    With ``stop_early`` the list is empty if no trait is above chance, which a few permuted maps often show.
    """
    if len(U) < 3:  # a single neighbour is the only one there is, on every map
        return [NeighbourLeak(*[np.nan] * 4) for _ in traits]
    number = PERMUTATIONS if n_permutations is None else n_permutations
    basis = np.empty((len(U), 0)) if adjusted_for is None else orthonormal_basis(adjusted_for)
    centred: Array = U - U.mean(axis=0)
    U = centred - basis @ (basis.T @ centred)  # adjusted again within a sample
    k = min(round(np.sqrt(len(U))), MOST_NEIGHBOURS) if n_neighbors is None else n_neighbors
    neighbours = nearest(U, k)
    scores = np.array([trait.score(neighbours) for trait in traits])
    permuted: list[list[float]] = []
    for _ in range(number):
        if adjusted_for is None:
            order = rng.permutation(len(U))
        else:
            tries = rng.permuted(np.tile(np.arange(len(U)), (TRIES, 1)), axis=1)
            order = tries[np.argmin(np.sum((basis.T @ U[tries]) ** 2, axis=(1, 2)))]
        near = np.argsort(order)[neighbours[order]]  # the neighbours it had, by other numbers
        permuted.append([trait.score(near) for trait in traits])
        if stop_early and (1 + np.sum(permuted >= scores - ROUNDING, axis=0) > LEVEL * (1 + number)).all():
            return []
    drawn = np.array(permuted)
    # Beyond this point of the permuted scores p is at most .05.
    references = np.sort(drawn, axis=0)[int(np.ceil((1 - LEVEL) * (number + 1))) - 1]
    p_values = (1 + np.sum(drawn >= scores - ROUNDING, axis=0)) / (1 + number)
    columns = scores, drawn.mean(axis=0), references, p_values
    return [NeighbourLeak(*map(float, row)) for row in zip(*columns, strict=True)]


def nearest(U: Array, k: int) -> IntArray:
    """Return the k nearest neighbours of each object on a map, without the object itself."""
    n, k = len(U), min(k, len(U) - 1)
    U = U if U.shape[1] else np.zeros((n, 1))
    neighbours = cKDTree(U).query(U, k + 1)[1]
    # Among more than k + 1 coincident objects the tree may leave out the object itself; then the last one goes.
    itself = neighbours == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(neighbours[~itself].reshape(n, k))
