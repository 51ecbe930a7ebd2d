"""A fitted map: coordinates, coefficients and known features, and every table made of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from .._typing import Array, IntArray
from ..checking import find_labels, quote
from ..engines import Engine
from ..problem import KnownFeatures
from ..problem.leak import LinearLeak, NeighbourLeak, linear_leak, neighbour_leak
from ..solvers import principal_turn
from ._adjustment import (
    Adjustment,
    Decision,
    FreeMap,
    adjust_map,
    warn_of_decision,
    warn_of_neighbours,
)
from ._imputed import Widths, imputed_table, warn_of_imputed
from ._tables import (
    Moved,
    block_roots,
    coef_table,
    corrected_table,
    importance_table,
    level_table,
    moved_values,
    shared_table,
    summary_table,
)

if TYPE_CHECKING:
    import pandas as pd


def positions_of(fitted: pd.Index | None, n: int, objects: Any) -> tuple[pd.Index, IntArray]:
    """Return labels of fitted objects, of all by default, and their positions."""
    import pandas as pd

    every = pd.RangeIndex(n) if fitted is None else fitted
    if objects is None:
        return every, np.arange(n)
    labels = pd.Index(objects)
    at = find_labels(every, labels)
    if (at < 0).any():
        raise ValueError(f"objects names {quote(labels[at < 0])}, which were not fitted; name fitted objects.")
    return labels, at


@dataclass(frozen=True, eq=False)
class FittedMap:
    """The result of a fit. Coordinates and coefficients are in the units of the fit, tables in those of the user."""

    U: Array  # the free map in its canonical form
    gram: Array  # BB' of the known columns that were kept, in standard units
    Z: Array  # all coordinates: fitted distances are those between its rows
    known: KnownFeatures
    scale: float  # the user's dissimilarities times this are those of the fit
    labels: pd.Index | None
    dtype: Any
    n_components: int
    decision: Decision
    sample: Array  # dissimilarities of all pairs, or of the pairs of a random sample of objects
    moved: Moved = ()  # missing and measured cells of the known features, as estimated
    widths: Widths | None = None  # of the intervals of missing numbers
    turn_of: Callable[[Array], Array] = principal_turn
    distance: str = "euclidean"
    orthogonal: bool = False
    weights_given: str = ""  # "sparse" or "dense" if the pairs had weights of their own
    transformer: Any = None  # compares features; None for dissimilarities
    placer: Any = None  # places new objects, if that is possible
    evidence: Any = None  # the pairs that a posterior is drawn from, or why there is none
    sampled: bool = False  # the pairs are too many to read all of them
    given: Sequence[Callable[[], Any]] | None = None  # X, known and weights of the fit, as long as they are in memory

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "given": None}

    @cached_property
    def free(self) -> FreeMap:
        """The free map beside the known features; those of an adjusted map as they are taken off."""
        free = FreeMap.given(self.U, self.known, self.moved, float(np.abs(self.Z).max()), self.widths)
        return free.with_cells_off_the_map(self.known)[0] if self.decision.adjusted else free

    @cached_property
    def adjustment(self) -> Adjustment | None:
        """The adjustment of the map that is shown; None if it is the free map."""
        return adjust_map(self.free, self.n_components, self.turn_of) if self.decision.adjusted else None

    # ---- maps

    @cached_property
    def embedding(self) -> Array:
        """The map that is shown, in the user's units."""
        return self._given_units(self.U if self.adjustment is None else self.adjustment(self.U, self.free.V))

    @property
    def adjusted_embedding(self) -> Array:
        """The adjusted map, in the user's units, also where it is not the one that is shown."""
        adjustment = self.adjustment or adjust_map(self.free, self.n_components, self.turn_of)
        return self._given_units(adjustment(self.free.U, self.free.V))

    def _given_units(self, U: Array) -> Array:
        return np.asarray((U / self.scale).astype(self.dtype))

    def shown_total(self, engine: Engine, total: float) -> float:
        """Return twice the cost of the dimensions shown and of what is known; ``total`` is that of all dimensions."""
        if self.adjustment is None or self.U.shape[1] <= self.n_components:
            return total
        shown = np.column_stack([self.adjustment.without_hidden_axes(self.free), self.Z[:, self.U.shape[1] :]])
        return float(engine.point_stress(shown).sum())

    def distances(self, at: IntArray) -> Array:
        """Return the fitted distances between some objects, in the user's units."""
        # Squares of very large or small coordinates overflow; dividing by a power of two is exact.
        return np.asarray(squareform(pdist(self.Z[at], self.distance)) / self.scale)

    # ---- leak

    @cached_property
    def leak(self) -> LinearLeak:
        """The linear leak of the map that is shown."""
        if self.adjustment is None:
            return self.decision.leak
        return linear_leak(self.adjustment(self.U, self.free.V), self.free.V, beside=self.free.size)

    @property
    def uncorrelated(self) -> bool:
        """Whether the linear leak is 0 by construction."""
        return self.decision.adjusted or (self.orthogonal and self.known.n_kept > 0)

    def neighbour_leak(self, *, stop_early: bool = False) -> dict[str, NeighbourLeak]:
        """Return how well neighbours on the map tell each known feature."""
        if not self.n_components:
            return {}
        adjusted_for = self.free.V if self.uncorrelated else None
        U, rng = self.embedding.astype(np.float64), np.random.default_rng(0)
        return neighbour_leak(U, self.known, rng, adjusted_for=adjusted_for, stop_early=stop_early)

    @cached_property
    def knn_leak(self) -> pd.DataFrame:
        """Scores of the neighbours, beside those by chance."""
        import pandas as pd

        columns = list(NeighbourLeak._fields)
        return pd.DataFrame.from_dict(self.neighbour_leak(), orient="index", columns=columns, dtype=np.float64)

    # ---- known features

    @cached_property
    def roots(self) -> Array:
        """The coefficients in standard units: the symmetric root of each block of BB'."""
        return block_roots(self.gram, self.known)

    @cached_property
    def known_map(self) -> Array:
        """Coordinates of the known features beside those of the map, as fitted."""
        return np.asarray(moved_values(self.known, self.moved) @ self.roots)

    @cached_property
    def known_given(self) -> Array:
        """The same with measured values as they were given, as a new object would bring them."""
        return np.asarray(self.free.V @ self.roots)

    @cached_property
    def imputed(self) -> pd.DataFrame:
        """The missing cells as estimated; those of an adjusted map as they were taken off it."""
        values = moved_values(self.known, self.moved) if self.adjustment is None else self.free.V
        return imputed_table(self.known, values, self.labels, self.roots, self.free.widths)

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes that all estimators have, by name."""
        import pandas as pd

        known, roots, p = self.known, self.roots, self.n_components
        along = np.zeros((known.n_kept, p)) if self.adjustment is None else self.adjustment.shared
        # Along the map and across it: with spare dimensions only the sum of the two is determined.
        everywhere = roots if self.adjustment is None else np.column_stack([self.adjustment.A, roots])
        return {
            "embedding_": self.embedding,
            "free_embedding_": self._given_units(self.U),
            "adjusted_": self.decision.adjusted,
            "n_free_": self.U.shape[1],
            "shown_share_": 1.0 if self.adjustment is None else self.adjustment.shown_share(self.free),
            "free_leak_": self.decision.leak.leak,
            "leak_": self.leak.leak,
            "leak_reference_": self.leak.reference,
            "coef_": coef_table(known, self.gram, self.scale),
            "shared_coef_": shared_table(known, along, self.scale),
            "importance_": importance_table(known, everywhere @ everywhere.T, self.scale),
            "level_positions_": level_table(known, everywhere / self.scale),
            "known_summary_": summary_table(known),
            "known_redundant_": pd.Series(known.redundant, name="reason", dtype=object),
            "known_imputed_": self.imputed,
            "known_corrected_": corrected_table(known, self.moved, self.labels),
        }

    # ---- warnings

    def warn(self, adjust: Any) -> None:
        """Warn of doubtful cells, and of what the map repeats; ``adjust`` is the estimator's parameter."""
        warn_of_imputed(self.imputed)
        if self.decision.adjusted or self.decision.leak.directions:
            warn_of_decision(self.decision, adjust, self.known)
        if self.uncorrelated:
            told = {name: leak for name, leak in self.neighbour_leak(stop_early=True).items() if leak.above_chance}
            if told:
                warn_of_neighbours(told, {feature.name: feature.coding.kind for feature in self.known.features})


def remembering(fitted: FittedMap, X: Any, known: Any, weights: Any) -> FittedMap:
    """Return the map with the user's data, as long as others keep these; text, lists and None are kept."""

    def recall(data: Any) -> Callable[[], Any]:
        try:
            return weakref.ref(data)
        except TypeError:
            return lambda: data

    return replace(fitted, given=(recall(X), lambda: known, recall(weights)))
