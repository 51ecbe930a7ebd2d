"""What the conditional estimators share: reading input, reporting a map, placing new objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..checking import (
    Dissimilarities,
    check_dissimilarities,
    find_labels,
    known_by_name,
    labelled_frame,
    labels_of,
    new_dissimilarities,
    new_rows,
    object_names,
    quote,
    require_coef,
    require_integer,
    require_jobs,
    require_objects,
    with_labels,
    with_sizes,
)
from ..cluster import is_dask_array, is_dask_frame, over_parts
from ..dissimilarities import (
    ComparedNew,
    Metric,
    compare,
    compare_new,
    float_type,
    make_transformer,
    rows_of_new,
    set_input_tags,
)
from ..engines import Engine
from ..kernels import Workers, strip_height
from ..problem import KnownFeatures
from ..problem.leak import NeighbourLeak, linear_leak, neighbour_leak
from ..solvers import canonical_map, principal_turn
from ._adjustment import (
    Decision,
    FreeMap,
    adjust_map,
    check_adjust,
    warn_of_adjusting,
    warn_of_automatic,
    warn_of_leak,
    warn_of_neighbours,
)
from ._imputed import Widths, cell_widths, imputed_table, warn_of_imputed
from ._many import MOST_PREDICTED, some_objects
from ._random_fits import sample_of
from ._shown import ShownMap
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


# New objects farther away than this, in units of the fit, would make their squares infinite.
FARTHEST = 1e50


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalMap(ShownMap, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators that make a map from dissimilarities given known features."""

    # `known` travels through a pipeline by metadata routing without being asked for twice.
    __metadata_request__fit = {"known": True}

    n_components: int = field(default=2, kw_only=False)
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    coef: Any = "auto"
    known_types: dict[Any, Any] | None = None
    adjust: Any = False
    n_jobs: int | None = None
    _NEEDS_ALL: ClassVar[str | None] = None  # what cannot do without any dissimilarity, for the message
    _samples = False  # whether the pairs are too many to read all of them

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, self._make_transformer, takes_missing=self._NEEDS_ALL is None)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def _start_fit(self) -> int:
        """Forget an earlier fit, so that a failing one leaves nothing half-way, and check the parameters."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        require_coef(self.coef)
        require_jobs(self.n_jobs)
        p = require_integer("n_components", self.n_components, 0)
        check_adjust(self.adjust, orthogonal=bool(getattr(self, "orthogonal", False)))
        return p

    # ---- reading input

    def _read_data(self, X: Any, known: Any) -> tuple[Any, Any]:
        """Return tables of other packages as those of pandas if they have labels, and what is known if it is named."""
        features = not self.__sklearn_tags__().input_tags.pairwise
        return known_by_name(with_sizes(labelled_frame(X), features=features), known, features=features)

    def _read_dissimilarities(self, X: Any, workers: Workers) -> Dissimilarities:
        """Return checked dissimilarities, made by the transformer of `metric` unless they are precomputed."""
        self._transformer = self._make_transformer(float_type(X))
        if self._transformer is not None and len(getattr(X, "shape", ())) == 2 and not is_dask_frame(X):
            require_objects(X.shape[0])
        # A transformer that was given makes the table it stands for; a name leaves it open how it is read.
        parts = None if self._samples else self._reads_parts and not hasattr(self.metric, "fit")
        compared = None if self._transformer is None else compare(self._transformer, X, self, parts=parts)
        made = compared is not None and isinstance(compared.values, np.ndarray)
        checked = check_dissimilarities(
            X if compared is None else compared.values,
            workers=workers,
            complete_for="solver='stochastic'" if self._asked_to_sample else self._NEEDS_ALL,
            among=some_objects if self._samples else None,
            warn=not self._samples and not (made and isinstance(self._transformer, Metric)),  # which says so itself
        )
        if self._needs_square is not None:
            checked = checked.in_full(*self._needs_square)
        if compared is None:
            checked.note_objects(self)
            return checked
        if hasattr(self.metric, "fit"):
            self.metric_ = self._transformer
        return replace(checked, labels=compared.labels)

    @property
    def _asked_to_sample(self) -> bool:
        """Whether some pairs are to stand for all, whatever there is to read."""
        return self._samples

    @property
    def _needs_square(self) -> tuple[str, str] | None:
        """What in the fit needs the square array of dissimilarities, and what to do instead; None if nothing does."""
        return None

    @property
    def _reads_parts(self) -> bool:
        """Whether nothing in the fit needs all dissimilarities at once."""
        return False

    def _make_transformer(self, dtype: str = "float64") -> Any:
        """Return what makes dissimilarities of X, unfitted; None if X holds them."""
        return make_transformer(self.metric, self.metric_params, dtype=dtype, n_jobs=self.n_jobs)

    @property
    def object_names_(self) -> Any:
        """Labels of the objects in the order of the map's rows, as an array; their numbers if they had none."""
        check_is_fitted(self)
        return object_names(self._labels, len(self.embedding_))

    def _labelled(self, fitted: Self) -> Array:
        """Return the map, with the objects' labels where the output is set to frames."""
        labelled: Array = with_labels(self, fitted.embedding_, self._labels)
        return labelled

    # ---- reporting

    def _report(
        self,
        U: Array,
        gram: Array,
        Z: Array,
        *,
        engine: Engine,
        known: KnownFeatures,
        checked: Dissimilarities,
        decision: Decision,
        moved: Moved = (),
    ) -> None:
        """Set the fitted attributes for a free map U and BB' in the engine's units, and all coordinates Z."""
        import pandas as pd

        self._labels = checked.labels
        self._scale = engine.scale
        self._fitted = Z / engine.scale
        U = canonical_map(U)
        widths = cell_widths(known, moved, U, block_roots(gram, known), engine)
        self._report_map(U, gram, known=known, checked=checked, decision=decision, moved=moved, widths=widths)
        point_stress = self._point_stress(engine, Z) / (2 * engine.total)
        self.stress_ = float(point_stress.sum())
        self.shown_stress_ = self._of_shown(engine, Z, 2 * engine.total, self.stress_)
        self.stress_per_point_ = pd.Series(point_stress, index=self._labels, name="stress")

    def _point_stress(self, engine: Engine, Z: Array) -> Array:
        """Return each object's share of twice the stress."""
        return engine.point_stress(Z)

    def _of_shown(self, engine: Engine, Z: Array, total: float, of_all: float) -> float:
        """Return stress or cost without the dimensions of a free map that are not shown; ``of_all`` if all are."""
        if self._adjustment is None or self.n_free_ == self.embedding_.shape[1]:
            return of_all
        shown = self._adjustment.without_hidden_axes(self._free)
        return float(engine.point_stress(np.column_stack([shown, Z[:, self.n_free_ :]])).sum() / total)

    def _report_map(
        self,
        U: Array,
        gram: Array,
        *,
        known: KnownFeatures,
        checked: Dissimilarities,
        decision: Decision,
        moved: Moved = (),
        widths: Widths | None = None,
        turn_of: Callable[[Array], Array] = principal_turn,
    ) -> None:
        """Set the attributes that tell about the map, free and as it is shown, and about the known features."""
        dtype, p = checked.source.dtype, self.n_components
        self._sample = sample_of(checked.source)
        size = float(np.abs(self._fitted).max()) * self._scale
        self._free = FreeMap.given(U, known, moved, size, widths)
        if decision.adjusted:
            self._free, _ = self._free.with_cells_off_the_map(known)
            widths = self._free.widths
        self._turn_of = turn_of
        self._free_map = U
        self._adjustment = adjust_map(self._free, p, turn_of) if decision.adjusted else None
        shown = self._free_map if self._adjustment is None else self._adjustment(U, self._free.V)
        self.embedding_ = (shown / self._scale).astype(dtype)
        self.free_embedding_ = (self._free_map / self._scale).astype(dtype)
        self.adjusted_, self.n_free_ = decision.adjusted, U.shape[1]
        self.shown_share_ = 1.0 if self._adjustment is None else self._adjustment.shown_share(self._free)
        self.free_leak_ = decision.leak.leak
        leak = decision.leak if self._adjustment is None else linear_leak(shown, self._free.V, beside=self._free.size)
        self.leak_, self.leak_reference_ = leak.leak, leak.reference
        self._knn_leak: pd.DataFrame | None = None
        self._report_known(gram, known, moved, widths)

    @property
    def knn_leak_(self) -> pd.DataFrame:
        """How well neighbours on the map tell each known feature, beside what chance makes; computed when asked for.

        ``score``: the share of objects whose level is the most common one among their nearest neighbours, or the
        correlation of a number with the mean of the neighbours'; ``baseline`` and ``reference``: its mean and 95% point
        over maps whose rows were permuted and which, if the map is adjusted, are hardly correlated with what is known
        either; ``p_value``. Above 5,000 objects of a sample.
        """
        import pandas as pd

        check_is_fitted(self)
        if self._knn_leak is None:
            self._knn_leak = pd.DataFrame.from_dict(
                self._neighbour_leak(), orient="index", columns=list(NeighbourLeak._fields), dtype=np.float64
            )
        return self._knn_leak.copy()

    def _neighbour_leak(self, *, stop_early: bool = False) -> dict[str, NeighbourLeak]:
        if not self.embedding_.shape[1]:
            return {}
        # A map that is fitted orthogonal keeps its neighbours, and of chance what these tell: permuting is enough.
        adjusted_for = self._free.V if self.adjusted_ else None
        U, rng = self.embedding_.astype(np.float64), np.random.default_rng(0)
        return neighbour_leak(U, self._known, rng, adjusted_for=adjusted_for, stop_early=stop_early)

    @property
    def _is_uncorrelated(self) -> bool:
        """Whether the linear leak of the map is 0 by construction."""
        asked = bool(getattr(self, "orthogonal", False)) and self._known.n_kept > 0
        return bool(self.adjusted_ or asked)

    @property
    def adjusted_embedding_(self) -> Array:
        """The map adjusted for what is known, whether it is the one that is shown or not."""
        check_is_fitted(self)
        adjustment = adjust_map(self._free, self.embedding_.shape[1], self._turn_of)
        return np.asarray((adjustment(self._free.U, self._free.V) / self._scale).astype(self.embedding_.dtype))

    def _report_known(self, gram: Array, known: KnownFeatures, moved: Moved, widths: Widths | None) -> None:
        """Set the attributes that tell about the known features."""
        import pandas as pd

        index = self._labels
        # Of an adjusted map missing cells are as they were taken off it.
        values = moved_values(known, moved) if self._adjustment is None else self._free.V
        self._known = known
        self._coef_standard = block_roots(gram, known)
        self._known_map = moved_values(known, moved) @ self._coef_standard
        # As they were measured, which is how a fitted object would bring its own again; missing cells as estimated.
        self._known_given = self._free.V @ self._coef_standard
        shared: Array = np.zeros((known.n_kept, self.embedding_.shape[1]))
        everywhere = self._coef_standard
        if self._adjustment is not None:
            shared = self._adjustment.shared
            # Along the map and at right angles to it; with spare dimensions only the sum of the two is determined.
            everywhere = np.column_stack([self._adjustment.A, everywhere])
        self.coef_ = coef_table(known, gram, self._scale)
        self.shared_coef_ = shared_table(known, shared, self._scale)
        self.importance_ = importance_table(known, everywhere @ everywhere.T, self._scale)
        self.known_redundant_ = pd.Series(known.redundant, name="reason", dtype=object)
        self.known_summary_ = summary_table(known)
        self.level_positions_ = level_table(known, everywhere / self._scale)
        self.known_imputed_ = imputed_table(known, values, index, self._coef_standard, widths)
        self.known_corrected_ = corrected_table(known, moved, index)

    def _speak_of_known(self, decision: Decision) -> None:
        """Warn of doubtful cells, of what the map repeats, or what became of it: last, when everything has been set."""
        warn_of_imputed(self.known_imputed_)
        if not decision.adjusted and decision.leak.directions:
            warn_of_leak(decision)
        if decision.adjusted:
            if self.adjust == "auto":
                warn_of_automatic(decision.leak)
            warn_of_adjusting(self._known)
        if self._is_uncorrelated:
            told = {name: leak for name, leak in self._neighbour_leak(stop_early=True).items() if leak.above_chance}
            if told:
                warn_of_neighbours(told, dict(self.known_summary_["type"]))

    _fitted_distance = "euclidean"

    def predict_dissimilarities(self, objects: Any = None) -> Any:
        """Return the fitted distances between objects, those of missing pairs among them.

        Parameters
        ----------
        objects : array-like, optional
            Labels of some objects, or their positions where they have no labels: for the distances between these only.
            By default all, whose table takes memory that grows with the square of their number.

        Returns
        -------
        DataFrame of shape (n_objects, n_objects)
            Distances of map and known features together, in the units of the dissimilarities; where `level` transforms
            these, in the units of ``disparities_``. Of GeneralMDS city-block distances if these were fitted; where its
            fitted value is not a distance in the units of the dissimilarities, as with ``distance="student"``, neither
            are these.
        """
        import pandas as pd

        check_is_fitted(self)
        if objects is None and self._samples and len(self._fitted) > MOST_PREDICTED:
            raise ValueError(
                f"a table of the distances between all {len(self._fitted):,} objects would not fit into memory; name "
                "some of them: predict_dissimilarities(objects)."
            )
        every = pd.RangeIndex(len(self._fitted)) if self._labels is None else self._labels
        labels = every if objects is None else pd.Index(objects)
        at = np.arange(len(every)) if objects is None else find_labels(every, labels)
        if (at < 0).any():
            raise ValueError(f"objects names {quote(labels[at < 0])}, which were not fitted; name fitted objects.")
        # Squares of very large or small coordinates overflow; multiplying by a power of two is exact.
        distances = squareform(pdist(self._fitted[at] * self._scale, self._fitted_distance)) / self._scale
        return pd.DataFrame(distances, index=labels, columns=labels)


class NewObjects(NamedTuple):
    """New objects: dissimilarities to the fitted ones, what is known, and the same as coordinates beside the map's."""

    parts: Iterator[Array]  # of the dissimilarities, some rows at a time
    V: Array
    known_map: Array
    labels: pd.Index | None
    dtype: Any


class PlacingMap(ConditionalMap):
    """Base of the estimators that can also place new objects on a finished map."""

    __metadata_request__transform = {"known": True}

    def transform(self, X: Any, *, known: Any = None) -> Array:
        """Place new objects on the fitted map.

        Parameters
        ----------
        X : array-like of shape (n_new, n_objects), or (n_new, n_features)
            Dissimilarities of the new objects to the fitted ones (``metric="precomputed"``; a DataFrame's columns are
            matched by label), or their features. Of an array or a table of Dask, parts are placed where they lie.
        known : array-like of shape (n_new, n_known), optional
            Known features of the new objects; needed when the map was fitted with known features.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Coordinates on the map; an array of Dask, not computed yet, if `X` is one. The map itself does not change; a
            fitted object returns to its own point (to one of theirs, if several have the same dissimilarities and known
            features). Pairs are weighted by the scheme of the fit; an array of weights says nothing about new objects,
            which then count each fitted object the same.
        """
        check_is_fitted(self)
        if is_dask_array(X) or is_dask_frame(X):
            parts: Array = self._placed_in_parts(X, known)
            return parts
        new = self._read_new(X, known)
        U: Array = np.empty((len(new.V), self._free_map.shape[1]))
        first = 0
        for delta in new.parts:
            rows = slice(first, first + len(delta))
            U[rows], first = self._place(self._scaled(delta), new.known_map[rows], first), rows.stop
        if self._adjustment is not None:
            U = self._adjustment(U, new.V)
        placed: Array = with_labels(self, (U / self._scale).astype(new.dtype), new.labels)
        return placed

    def _placed_in_parts(self, X: Any, known: Any) -> Any:
        """Return an array of Dask, of which each part is placed where it lies when it is asked for."""
        alone = self._for_transform()
        X, known = known_by_name(X, known, features=not self.__sklearn_tags__().input_tags.pairwise)

        def place(part: Any, known: Any) -> Array:
            return np.asarray(alone.transform(part, known=known))

        return over_parts(place, X, known, self.embedding_.shape[1], self.embedding_.dtype)

    def _for_transform(self) -> Self:
        """Return a copy that returns plain arrays and keeps to one thread: parts are placed side by side."""
        alone: Self = copy(self).set_params(n_jobs=1)
        alone.set_output(transform="default")
        return alone

    def _read_new(self, X: Any, known: Any) -> NewObjects:
        """Return checked new objects in the units of the fit."""
        X, known = self._read_data(X, known)
        if self.__sklearn_tags__().input_tags.pairwise:
            X = new_rows(X, self._labels, self.n_features_in_)
        labels = labels_of(X)
        compared = self._compare_new(X)
        V = self._known.of_new(known, compared.n, labels)
        return NewObjects(compared.parts, V, V @ self._coef_standard, labels, compared.dtype)

    def _scaled(self, delta: Array) -> Array:
        """Return new dissimilarities in the units of the fit."""
        return self._transformed(delta.astype(np.float64, copy=False)) * self._scale

    def _transformed(self, delta: Array) -> Array:
        """Return new dissimilarities on the scale of the fitted distances."""
        return delta

    def _place(self, delta: Array, known_map: Array, first: int = 0) -> Array:
        """Return coordinates for new objects, in the units of the fit; ``first`` is the number of the first of them."""
        raise NotImplementedError

    def _compare_new(self, X: Any) -> ComparedNew:
        """Return dissimilarities (new x fitted) for new objects, some rows at a time."""
        height = strip_height(len(self._free_map))
        if self._transformer is not None:
            return compare_new(self._transformer, X, height, self._check_new_cells)
        name = type(self).__name__
        delta = new_dissimilarities(X, self._labels, self.n_features_in_, name, self._check_new_cells)
        return rows_of_new(delta, height)

    def _check_new_cells(self, values: Array) -> None:
        wrong = np.isinf(values) | (values < 0)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"the new dissimilarities have {values[i, j]:g} in row {i}, column {j}; they must be finite and >= 0."
            )
        if float(np.nanmax(values, initial=0.0)) * self._scale > FARTHEST:  # which a single-precision number is not
            raise ValueError(
                f"the new dissimilarities reach {np.nanmax(values):g}, which is more than {FARTHEST:g} times the "
                "fitted ones; pass them in the same units."
            )


def squared_distances(new: Array, fitted: Array) -> Array:
    """Return squared distances between rows; 0 for tables without columns, which cdist does not take."""
    return cdist(new, fitted, "sqeuclidean") if new.shape[1] else np.zeros((len(new), len(fitted)))
