"""A fitted map: coordinates, coefficients and known features, and every table made of them when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, IntArray
from ..checking import find_labels, quote
from ..problem import KnownFeatures
from ..problem.leak import LinearLeak, NeighbourLeak, linear_leak, neighbour_leak
from ..solvers import principal_turn
from ._adjustment import Adjustment, Decision, FreeMap, adjust_map, warn_of_decision, warn_of_neighbours
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


class FromMap:
    """A fitted attribute that is read off the fitted map when it is asked for: ``coef_`` is ``coef`` of the map."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        check_is_fitted(estimator)
        return getattr(estimator._map, self.name.removesuffix("_"))


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


@dataclass(frozen=True, eq=False, kw_only=True)
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
    has_weights: bool = False  # whether the pairs had weights of their own
    transformer: Any = None  # compares features; None for dissimilarities
    placer: Any = None  # places new objects, if that is possible
    evidence: Any = None  # the pairs that a posterior is drawn from, or why there is none
    sampled: bool = False  # the pairs are too many to read all of them

    # ---- maps

    @cached_property
    def free(self) -> FreeMap:
        """The free map beside the known features; those of an adjusted map as they are taken off."""
        free = FreeMap.given(self.U, self.known, self.moved, float(np.abs(self.Z).max()), self.widths)
        return free.with_cells_off_the_map(self.known)[0] if self.adjusted else free

    @cached_property
    def adjustment(self) -> Adjustment | None:
        """The adjustment of the map that is shown; None if it is the free map."""
        return adjust_map(self.free, self.n_components, self.turn_of) if self.adjusted else None

    @cached_property
    def embedding(self) -> Array:
        """The map that is shown, in the user's units."""
        return self._given_units(self.U if self.adjustment is None else self.adjustment(self.U, self.free.V))

    @property
    def free_embedding(self) -> Array:
        return self._given_units(self.U)

    @property
    def adjusted_embedding(self) -> Array:
        adjustment = self.adjustment or adjust_map(self.free, self.n_components, self.turn_of)
        return self._given_units(adjustment(self.free.U, self.free.V))

    def _given_units(self, U: Array) -> Array:
        return np.asarray((U / self.scale).astype(self.dtype))

    @property
    def adjusted(self) -> bool:
        return self.decision.adjusted

    @property
    def n_free(self) -> int:
        return int(self.U.shape[1])

    @property
    def shown_share(self) -> float:
        return 1.0 if self.adjustment is None else self.adjustment.shown_share(self.free)

    def shown_total(self, engine: Any, total: float) -> float:
        """Return twice the cost of the dimensions shown and of what is known; ``total`` is that of all dimensions."""
        if self.adjustment is None or self.n_free <= self.n_components:
            return total
        shown = np.column_stack([self.adjustment.without_hidden_axes(self.free), self.Z[:, self.n_free :]])
        return float(engine.point_stress(shown).sum())

    def distances(self, at: IntArray) -> Array:
        """Return the fitted distances between some objects, in the user's units."""
        # Squares of very large or small coordinates overflow; dividing by a power of two is exact.
        return np.asarray(squareform(pdist(self.Z[at], self.distance)) / self.scale)

    # ---- leak

    @cached_property
    def _leak(self) -> LinearLeak:
        if self.adjustment is None:
            return self.decision.leak
        return linear_leak(self.adjustment(self.U, self.free.V), self.free.V, beside=self.free.size)

    @property
    def leak(self) -> float:
        return self._leak.leak

    @property
    def leak_reference(self) -> float:
        return self._leak.reference

    @property
    def free_leak(self) -> float:
        return self.decision.leak.leak

    @property
    def uncorrelated(self) -> bool:
        """Whether the linear leak is 0 by construction."""
        return self.adjusted or (self.orthogonal and self.known.n_kept > 0)

    def neighbour_leak(self, *, stop_early: bool = False) -> dict[str, NeighbourLeak]:
        """Return how well neighbours on the map tell each known feature."""
        if not self.n_components:
            return {}
        adjusted_for = self.free.V if self.uncorrelated else None
        U, rng = self.embedding.astype(np.float64), np.random.default_rng(0)
        return neighbour_leak(U, self.known, rng, adjusted_for=adjusted_for, stop_early=stop_early)

    @cached_property
    def knn_leak(self) -> pd.DataFrame:
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

    @property
    def _everywhere(self) -> Array:
        """Coefficients along the map and across it: with spare dimensions only the sum of the two is determined."""
        return self.roots if self.adjustment is None else np.column_stack([self.adjustment.A, self.roots])

    @cached_property
    def coef(self) -> pd.DataFrame:
        return coef_table(self.known, self.gram, self.scale)

    @cached_property
    def shared_coef(self) -> pd.DataFrame:
        p = self.n_components
        along = np.zeros((self.known.n_kept, p)) if self.adjustment is None else self.adjustment.shared
        return shared_table(self.known, along, self.scale)

    @cached_property
    def importance(self) -> pd.DataFrame:
        return importance_table(self.known, self._everywhere @ self._everywhere.T, self.scale)

    @cached_property
    def level_positions(self) -> pd.DataFrame:
        return level_table(self.known, self._everywhere / self.scale)

    @cached_property
    def known_summary(self) -> pd.DataFrame:
        return summary_table(self.known)

    @cached_property
    def known_redundant(self) -> pd.Series:
        import pandas as pd

        return pd.Series(self.known.redundant, name="reason", dtype=object)

    @cached_property
    def known_imputed(self) -> pd.DataFrame:
        """The missing cells as estimated; those of an adjusted map as they were taken off it."""
        values = moved_values(self.known, self.moved) if self.adjustment is None else self.free.V
        return imputed_table(self.known, values, self.labels, self.roots, self.free.widths)

    @cached_property
    def known_corrected(self) -> pd.DataFrame:
        return corrected_table(self.known, self.moved, self.labels)

    # ---- warnings

    def warn(self, adjust: Any) -> None:
        """Warn of doubtful cells, and of what the map repeats; ``adjust`` is the estimator's parameter."""
        if self.moved:
            warn_of_imputed(self.known_imputed)
        if self.adjusted or self.decision.leak.directions:
            warn_of_decision(self.decision, adjust, self.known)
        if self.uncorrelated:
            told = {name: leak for name, leak in self.neighbour_leak(stop_early=True).items() if leak.above_chance}
            if told:
                warn_of_neighbours(told, {feature.name: feature.coding.kind for feature in self.known.features})


# ---- between rooms


def labels_of_fit(fitted: Any) -> pd.Index | None:
    """Return the labels of the objects that an estimator was fitted to; None if they had none."""
    return fitted._map.labels if hasattr(fitted, "_map") else getattr(fitted, "_labels", None)


def transformer_of(fitted: Any) -> Any:
    """Return the transformer that compared the features an estimator was fitted to; None if it compared none."""
    return getattr(fitted._map, "transformer", None) if hasattr(fitted, "_map") else None


def aims_of(fitted: Any, D: Array) -> Array:
    """Return what fitted distances stand for: dissimilarities, transformed as the fit does if it does."""
    seen = getattr(fitted, "disparities_", None)
    if seen is None:
        return D
    # Equal dissimilarities may have become different ones; of a pair that the fit did not see, their mean.
    return np.asarray(np.where(np.isfinite(seen), seen, fitted._map.placer.aims(D)))


def known_of(fitted: Any) -> KnownFeatures:
    """Return the known features of a fit, coded as columns."""
    known: KnownFeatures = fitted._map.known
    return known


def known_part_of(fitted: Any) -> Array:
    """Return the known features' part of all fitted coordinates; the other part is ``free_embedding_``."""
    return np.asarray(fitted._map.Z[:, fitted._map.n_free :] / fitted._map.scale)
