"""Maps adjusted for what is known: the part that the known features predict is taken off the free map.

The free map and the known features are fitted together, Z = [F, VB]. Writing F = U + VA with V'U = 0 changes neither Z
nor the stress, so a model in which the known features also act along the map, Z = [U + VA, VB], is fitted by fitting
the free map and regressing it on V. Ordinary least squares whatever the weights of the pairs are: with the weights of
the fit the residuals would again be correlated with V, and the map would leak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .._typing import Array
from ..checking import AdjustmentWarning, LeakWarning, count, quote, warn_user
from ..problem import KnownFeatures, types_with_levels
from ..problem.leak import LinearLeak, NeighbourLeak, leak_in_words, linear_leak
from ..solvers import Stage
from ._imputed import Widths, cell_widths, cells_off_the_map
from ._tables import Moved, block_roots, moved_values

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F")

# Unless an earlier fit decided their number, the free map gets at most this many dimensions more than are shown.
MOST_EXTRA = 3
# Adjusting takes q of the N - 1 degrees of freedom of each axis; beyond this share it is worth a word.
LARGE_SHARE = 0.1
# A level with no more objects than this has its mean, and so nearly all that is to be seen of them, taken off.
SMALL_LEVEL = 2
# Features whose numbers are given in a warning.
MOST_LISTED = 5


class FreeMap(NamedTuple):
    """A fitted free map and what is known: the coded columns that were kept, missing cells as estimated.

    Values that were measured with error are as measured: that is how they are known.
    """

    U: Array
    V: Array
    size: float  # of the coordinates, those of what is known among them: beside it an axis may be rounding
    widths: Widths | None = None  # of the intervals of missing numbers, if there are any

    @classmethod
    def of(cls, stage: Stage, known: KnownFeatures) -> FreeMap:
        """Read the free map off the end of a search."""
        structure, theta = stage.objective.structure, stage.solution.theta
        U, moved = structure.unknown(theta), structure.moved(theta)
        widths = cell_widths(known, moved, U, block_roots(structure.gram(theta), known), stage.objective.engine)
        return cls.given(U, known, moved, float(np.abs(structure.lift(theta)).max()), widths)

    @classmethod
    def given(cls, U: Array, known: KnownFeatures, moved: Moved, size: float, widths: Widths | None = None) -> FreeMap:
        """Put estimated cells into what is known."""
        estimated = [(cells, r) for cells, r in moved if cells.price == 0.0]
        return cls(U, moved_values(known, estimated), size, widths)

    def with_cells_off_the_map(self, known: KnownFeatures) -> tuple[FreeMap, list[tuple[str, int]]]:
        """Take missing numbers from the regression of what is known on the map where that is surer.

        A feature that acts along the map, not across it, has a coefficient near 0, and the dissimilarities then say
        next to nothing about a cell of its own. Also return the cells that nothing determines: feature and row.
        """
        V, widths, left = cells_off_the_map(self.U, self.V, known, self.widths)
        return self._replace(V=V, widths=widths), left


class Decision(NamedTuple):
    """Whether a map is adjusted, and the leak of the free map by which this was decided."""

    adjusted: bool
    leak: LinearLeak
    hindrance: str = ""  # why a map that leaks could not be adjusted


@dataclass(frozen=True)
class Adjustment:
    """How the map that is shown comes from the free one: U = (F - (V - centre) A) turn."""

    A: Array  # known columns x axes of the free map
    centre: Array
    turn: Array  # axes of the free map x axes shown

    def __call__(self, free: Array, V: Array) -> Array:
        return np.asarray((free - (V - self.centre) @ self.A) @ self.turn)

    def shown_share(self, free: FreeMap) -> float:
        """Return which share of the sum of squares that is left of a free map the axes shown hold."""
        left = free.U - (free.V - self.centre) @ self.A
        total = float(np.sum(left**2))
        return float(np.sum(self(free.U, free.V) ** 2)) / total if total > 0 else 1.0

    def without_hidden_axes(self, free: FreeMap) -> Array:
        """Return the free map without what is left of it along axes that are not shown."""
        predicted = (free.V - self.centre) @ self.A
        return np.asarray(predicted + (free.U - predicted) @ self.turn @ self.turn.T)

    @property
    def shared(self) -> Array:
        """A in the axes shown."""
        return np.asarray(self.A @ self.turn)


def adjust_map(free: FreeMap, p: int, turn_of: Callable[[Array], Array]) -> Adjustment:
    """Regress a free map on what is known; the residuals are turned by ``turn_of``, and p of their axes are kept."""
    centre = free.V.mean(axis=0)
    # Columns of V may depend on each other across blocks: least squares of least norm.
    A = np.linalg.lstsq(free.V - centre, free.U, rcond=None)[0]
    residuals = free.U - (free.V - centre) @ A
    return Adjustment(A, centre, turn_of(residuals)[:, :p])


def fit_free_map(
    adjust: Any,
    n_free: int | None,
    p: int,
    known: KnownFeatures,
    fit: Callable[[int], F],
    read: Callable[[F], FreeMap],
    *,
    may_follow: Callable[[F], bool] = lambda _: True,
    labels: pd.Index | None = None,
) -> tuple[F, Decision]:
    """Fit a free map of as many dimensions as are needed, and decide whether it is adjusted.

    A known feature that acts along the map takes up room there: with too few dimensions what is left is the wrong axis.
    So a free map that leaks is fitted once more with a dimension for each direction that does (if another
    fit ``may_follow`` this one). ``n_free`` is the number of dimensions that an earlier fit came to.
    """
    most = len(known.values) - 1 - known.n_dimensions
    if n_free is not None and n_free > most:
        raise ValueError(
            f"the map has {n_free} dimensions before it is adjusted, but objects and known features leave at most "
            f"{most}; use fewer dimensions or known features, or adjust=False."
        )
    possible = p > 0 and known.n_kept > 0
    fitted = fit(p if n_free is None or not possible or adjust == "auto" else n_free)
    free = read(fitted)
    leak = linear_leak(free.U, free.V, beside=free.size)
    wished = possible and bool(leak.directions if adjust == "auto" else adjust)
    hindrance = _hindrance(free, known, labels) if wished else ""
    if hindrance and adjust != "auto":
        raise ValueError(f"adjust=True, but {hindrance}, or use adjust=False.")
    decision = Decision(wished and not hindrance, leak, hindrance)
    wanted = min(p + min(leak.directions, MOST_EXTRA), most) if n_free is None else n_free
    if decision.adjusted and wanted > free.U.shape[1] and may_follow(fitted):
        fitted = fit(wanted)
    return fitted, decision


def _hindrance(free: FreeMap, known: KnownFeatures, labels: pd.Index | None) -> str:
    """Return why a map cannot be adjusted: nothing determines some missing cells; empty if it can be."""
    _, left = free.with_cells_off_the_map(known)
    if not left:
        return ""
    named = quote(f"{feature} of {row if labels is None else labels[row]}" for feature, row in left)
    return (
        f"what missing cells of known predict cannot be taken off the map, since neither it nor the dissimilarities "
        f"determine them: {named}. Fill them, leave these objects or features out"
    )


# ---- warnings


def warn_of_decision(decision: Decision, adjust: Any, known: KnownFeatures) -> None:
    """Warn if a map leaks, or what adjusting it costs; ``adjust`` is the estimator's parameter."""
    leak = leak_in_words(decision.leak.leak, decision.leak.reference)
    if decision.adjusted and adjust == "auto":
        warn_user(
            f"the map repeated what is known: its leak was {leak}. So it is shown adjusted: what the known features "
            "predict was taken off. With adjust=False it is shown as it was fitted (free_embedding_).",
            AdjustmentWarning,
        )
    if decision.adjusted:
        for cost in costs_of_adjusting(known):
            warn_user(cost, AdjustmentWarning)
    elif decision.leak.directions:
        first = "Use adjust=True, which takes off the map what the known features predict and leaves the fit as it is"
        first = f"It is not adjusted, since {decision.hindrance}" if decision.hindrance else first
        warn_user(
            f"the map repeats what is known: its leak is {leak}. {first}; or use fewer dimensions (n_components); or "
            "declare a feature Spline or another type if its effect is not linear.",
            LeakWarning,
        )


def warn_of_neighbours(told: dict[str, NeighbourLeak], kinds: Mapping[str, str]) -> None:
    """Warn of known features that neighbours predict on a map whose linear leak is 0 by construction."""
    levels = [name for name in told if kinds[name] in types_with_levels()]
    numbers = [name for name in told if name not in levels]
    remedies = [f"map each level of {quote(levels)} by itself"] if levels else []
    remedies += [f"declare {quote(numbers)} as Spline() or another type"] if numbers else []
    listed = [neighbours_in_words(name, kinds[name], told[name]) for name in list(told)[:MOST_LISTED]]
    more = f" and {len(told) - MOST_LISTED} more" if len(told) > MOST_LISTED else ""
    warn_user(
        f"neighbours on the map {'; '.join(listed)}{more}. Its linear leak is 0 by construction, and still the map "
        "shows these features: in clusters, in spread or along a curve. Look at the map coloured by them; "
        f"{', and '.join(remedies)}.",
        LeakWarning,
    )


def neighbours_in_words(name: str, kind: str, leak: NeighbourLeak) -> str:
    """Return how well neighbours predict a feature, beside chance, in words."""
    how = "right" if kind in types_with_levels() else "correlation"
    verdict = "more than chance" if leak.above_chance else "no more than chance"
    chance = f"by chance {leak.baseline:.2f}, below {leak.reference:.2f} in 19 of 20 cases"
    return f"tell {name}: {leak.score:.2f} {how}, {verdict} ({chance})"


def costs_of_adjusting(known: KnownFeatures) -> Iterator[str]:
    """Yield the costs of adjusting a map of few objects, in sentences."""
    n, q = known.values.shape
    if q / (n - 1) > LARGE_SHARE:
        yield (
            f"the map is adjusted for {count(q, 'column')} of known features with {n} objects: about "
            f"{q / (n - 1):.0%} of what is to be seen is taken off by chance alone. Condition on fewer features or "
            "levels, or use adjust=False."
        )
    small = [
        f"{level} ({feature.name})"
        for feature in known.features
        for level, objects in zip(feature.coding.levels, feature.counts, strict=True)
        if objects <= SMALL_LEVEL
    ]
    if small:
        yield (
            f"the map is adjusted and some levels have no more than {SMALL_LEVEL} objects: {quote(small)}. They come "
            "to lie at or near the centre, whatever their dissimilarities are; join such levels, or leave the objects "
            "out."
        )
