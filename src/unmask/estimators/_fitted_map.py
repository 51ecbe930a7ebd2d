"""A fitted map: coordinates, coefficients and known features, and every table made of them when it is asked for.

A map may be adjusted: the part that the known features predict is taken off. The free map and the known features are
fitted together, Z = [F, VB]. Writing F = U + VA with V'U = 0 changes neither Z nor the stress, so a model in which the
known features also act along the map, Z = [U + VA, VB], is fitted by fitting the free map and regressing it on V.
Ordinary least squares whatever the weights of the pairs are: with the weights of the fit the residuals would again be
correlated with V, and the map would leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, IntArray
from ..checking import find_labels, quote
from ..dissimilarities import fitted_labels
from ..kernels import Source, rectangle
from ..problem import Cells, KnownFeatures
from ..problem.leak import LinearLeak, NeighbourLeak, linear_leak, neighbour_leak
from ..problem.linalg import symmetric_root
from ..solvers import principal_turn
from ._imputed import Widths, cells_off_the_map, imputed_table
from ._tables import coef_table, importance_table, level_table, shared_table, summary_table

if TYPE_CHECKING:
    import pandas as pd


# Objects that stand for all where fits are compared with chance. Stress of random data rises with the number of objects
# (by a tenth from 100 to 400, in two dimensions), so that the sample gives a lower bound.
SAMPLE = 100


class FromMap:
    """A fitted attribute that is read off the fitted map when it is asked for; a path such as ``leak.reference``."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        check_is_fitted(estimator)
        return attrgetter(self.path)(estimator._map)


class Decision(NamedTuple):
    """Whether a map is adjusted, and the leak of the first free map, by which this was decided."""

    adjusted: bool
    leak: LinearLeak
    hindrance: str = ""  # why a map that leaks could not be adjusted


class Adjustment(NamedTuple):
    """How the map that is shown comes from the free one: U = (F - (V - centre) A) turn."""

    A: Array  # known columns x axes of the free map
    centre: Array
    turn: Array  # axes of the free map x axes shown

    def residuals(self, free: Array, V: Array) -> Array:
        return np.asarray(free - (V - self.centre) @ self.A)


def sample_of(source: Source) -> Array:
    """Return the dissimilarities of all pairs, or of the pairs of some objects, always the same."""
    at = sampled_objects(source.n)
    return np.asarray(rectangle(source, at, at)[np.triu_indices(len(at), 1)], dtype=np.float64)


def sampled_objects(n: int) -> IntArray:
    """Return the objects that stand for all."""
    return np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])


def block_roots(gram: Array, known: KnownFeatures) -> Array:
    """Return the symmetric positive root of each block of BB'."""
    return known.blockwise(lambda group: symmetric_root(gram[np.ix_(group, group)]))


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
    sample: Array  # dissimilarities of all pairs, or of the pairs of a random sample of objects
    decision: Decision | None = None
    moved: Sequence[tuple[Cells, Array]] = ()  # missing and measured cells of the known features, as estimated
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
    def embedding(self) -> Array:
        """The map that is shown, in the user's units."""
        return self.adjusted_embedding if self.adjusted else self.free_embedding

    @property
    def free_embedding(self) -> Array:
        return np.asarray((self.U / self.scale).astype(self.dtype))

    @property
    def adjusted_embedding(self) -> Array:
        U = self.regression.residuals(self.U, self.known_values) @ self.regression.turn
        return np.asarray((U / self.scale).astype(self.dtype))

    @cached_property
    def regression(self) -> Adjustment:
        """The regression of the free map on the known features, and the turn of what is left to the axes shown."""
        centre = self.known_values.mean(axis=0)
        # Columns of V may depend on each other across blocks: least squares of least norm.
        A = np.linalg.lstsq(self.known_values - centre, self.U, rcond=None)[0]
        turn = self.turn_of(self.U - (self.known_values - centre) @ A)
        return Adjustment(A, centre, turn[:, : self.n_components])

    @property
    def adjusted(self) -> bool:
        return self.decision is not None and self.decision.adjusted

    @property
    def n_free(self) -> int:
        return int(self.U.shape[1])

    @property
    def shown_share(self) -> float:
        residuals = self.regression.residuals(self.U, self.known_values)
        total = float(np.sum(residuals**2)) if self.adjusted else 0.0
        return float(np.sum((residuals @ self.regression.turn) ** 2)) / total if total > 0 else 1.0

    def shown_total(self, engine: Any, total: float) -> float:
        """Return twice the cost of the dimensions shown and the known features; ``total`` is that of all dimensions."""
        if not self.adjusted or self.n_free <= self.n_components:
            return total
        residuals, turn = self.regression.residuals(self.U, self.known_values), self.regression.turn
        shown = self.U - residuals + residuals @ turn @ turn.T
        return float(engine.point_stress(np.column_stack([shown, self.Z[:, self.n_free :]])).sum())

    def distances(self, at: IntArray) -> Array:
        """Return the fitted distances between some objects, in the user's units."""
        # Squares of very large or small coordinates overflow; dividing by a power of two is exact.
        return np.asarray(squareform(pdist(self.Z[at], self.distance)) / self.scale)

    # ---- leak

    @cached_property
    def leak(self) -> LinearLeak:
        """The leak of the map shown."""
        if self.decision is not None and not self.adjusted:
            return self.decision.leak
        # Beside the largest coordinate an axis may be rounding.
        size = float(np.abs(self.Z).max(initial=0.0))
        U = self.regression.residuals(self.U, self.known_values) @ self.regression.turn if self.adjusted else self.U
        return linear_leak(U, self.known_values, beside=size)

    @property
    def uncorrelated(self) -> bool:
        """Whether the linear leak is 0 by construction."""
        return self.adjusted or (self.orthogonal and self.known.n_kept > 0)

    def neighbour_leak(self, *, stop_early: bool = False) -> dict[str, NeighbourLeak]:
        """Return how well neighbours on the map predict each known feature."""
        if not self.n_components:
            return {}
        U, rng = self.embedding.astype(np.float64), np.random.default_rng(0)
        return neighbour_leak(
            U, self.known, rng, adjusted_for=self.known_values if self.uncorrelated else None, stop_early=stop_early
        )

    @cached_property
    def knn_leak(self) -> pd.DataFrame:
        import pandas as pd

        columns = list(NeighbourLeak._fields)
        return pd.DataFrame.from_dict(self.neighbour_leak(), orient="index", columns=columns, dtype=np.float64)

    # ---- known features

    def values(self, *, as_measured: bool = True) -> Array:
        """Return the known values (kept columns, standard units) with the estimated cells in place.

        Values that were measured with error are as measured, or as the fit moved them.
        """
        values = self.known.values.copy()
        for cells, r in self.moved:
            at = np.ix_(cells.rows, np.asarray(cells.columns))
            if not cells.price:
                values[at] = r @ cells.standard
            elif not as_measured:
                values[at] += r @ cells.standard
        return values

    @cached_property
    def predicted_cells(self) -> tuple[Array, Widths | None, list[tuple[str, int]]]:
        """The known values with missing numbers predicted by the map where that is surer, and the widths.

        A feature that acts along the map, not across it, has a coefficient near 0, and the dissimilarities then
        determine hardly anything of its missing cells. The last part has the cells that nothing determines: feature and
        row.
        """
        return cells_off_the_map(self.U, self.values(), self.known, self.widths)

    @cached_property
    def known_values(self) -> Array:
        """The known values; those of an adjusted map as they are taken off it."""
        return self.predicted_cells[0] if self.adjusted else self.values()

    @cached_property
    def roots(self) -> Array:
        """The coefficients in standard units: the symmetric root of each block of BB'."""
        return block_roots(self.gram, self.known)

    @cached_property
    def known_map(self) -> Array:
        """Coordinates of the known features beside those of the map, as fitted."""
        return np.asarray(self.values(as_measured=False) @ self.roots)

    @cached_property
    def known_given(self) -> Array:
        """The same with measured values as they were given, as a new object would bring them."""
        return np.asarray(self.known_values @ self.roots)

    @property
    def _everywhere(self) -> Array:
        """Coefficients along the map and across it: with spare dimensions only the sum of the two is determined."""
        return np.column_stack([self.regression.A, self.roots]) if self.adjusted else self.roots

    @cached_property
    def coef(self) -> pd.DataFrame:
        return coef_table(self.known, self.gram, self.scale)

    @cached_property
    def shared_coef(self) -> pd.DataFrame:
        along = np.zeros((self.known.n_kept, self.n_components))
        return shared_table(
            self.known, self.regression.A @ self.regression.turn if self.adjusted else along, self.scale
        )

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
        values, widths = self.values(as_measured=False), self.widths
        if self.adjusted:
            values, widths, _ = self.predicted_cells
        return imputed_table(self.known, values, self.labels, self.roots, widths)

    @cached_property
    def known_corrected(self) -> pd.DataFrame:
        """The values of features measured with error, as the fit moved them, in their own units."""
        import pandas as pd

        values, known = self.values(as_measured=False), self.known
        columns = sorted({column for cells, _ in self.moved if cells.price for column in cells.columns})
        data = {known.names[known.kept[column]]: known.restore(values[:, column], column) for column in columns}
        return pd.DataFrame(data, index=pd.RangeIndex(len(values)) if self.labels is None else self.labels)


# ---- between rooms


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


def labels_of_fit(fitted: Any) -> pd.Index | None:
    """Return the labels of the objects that an estimator was fitted to; None if they had none."""
    return fitted._map.labels if hasattr(fitted, "_map") else fitted_labels(fitted, None)


def transformer_of(fitted: Any) -> Any:
    """Return the transformer that compared the features an estimator was fitted to; None if it compared none."""
    return getattr(fitted._map, "transformer", None) if hasattr(fitted, "_map") else None


def aims_of(fitted: Any, D: Array) -> Array:
    """Return what fitted distances stand for: dissimilarities, transformed as in the fit."""
    seen = getattr(fitted, "disparities_", None)
    if seen is None:
        return D
    # Equal dissimilarities may have become different ones; a pair without a disparity gets their mean.
    return np.asarray(np.where(np.isfinite(seen), seen, fitted._map.placer.aims(D)))


def known_of(fitted: Any) -> KnownFeatures:
    """Return the known features of a fit, coded as columns."""
    known: KnownFeatures = fitted._map.known
    return known


def known_part_of(fitted: Any) -> Array:
    """Return the known features' part of all fitted coordinates; the other part is ``free_embedding_``."""
    return np.asarray(fitted._map.Z[:, fitted._map.n_free :] / fitted._map.scale)
