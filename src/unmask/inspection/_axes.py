"""Naming axes and directions of a map by external features, with tests corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.stats import false_discovery_control
from sklearn.utils import check_random_state

from .._typing import Array
from ..checking import as_large, count, holm, require_choice, require_integer, wilks_p_value
from ..problem.linalg import orthonormal_basis
from ._correlations import standard_units
from ._inputs import LabelledTable, align, as_frame, axis_names, read_table, require_rows

if TYPE_CHECKING:
    import pandas as pd

CORRECTIONS = (None, "holm", "fdr")


def name_axes(
    embedding: Any,
    external: Any,
    *,
    correction: str | None = "holm",
    n_permutations: int = 0,
    random_state: Any = None,
) -> pd.DataFrame:
    """Find the external features that are correlated with an axis, or with any direction, of a map.

    Axes are a convention: a feature often runs across the map at an angle. For each feature this gives its correlation
    with each axis and the direction in which it correlates most. For a feature of numbers that direction is the one in
    which it grows, and the correlation is the multiple correlation of the feature with all axes. For a feature of
    categories it is the direction that separates them best, and correlations are roots of the share of variance
    that the categories explain (eta).

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), fitted estimator, or ordination of scikit-bio
        The map.
    external : DataFrame, Series or array-like of shape (n_objects, n_features)
        Features that were not used to make the map, aligned by label. Text, booleans and categoricals are categories;
        convert codes with ``astype("category")``. A feature with gaps is tested on the objects that have it.
    correction : {"holm", "fdr", None}, default="holm"
        How p-values are corrected for the number of tests, which is the number of rows of the table. ``"holm"`` keeps
        the chance of any false name below the level; ``"fdr"`` (Benjamini and Hochberg) the share of false ones among
        those named.
    n_permutations : int, default=0
        0: p-values of the F test (for a direction and categories, of Wilks' lambda in Rao's approximation, exact
        in up to two dimensions). Otherwise those of this many random permutations of the objects, which assume no
        distribution; none can be smaller than 1 / (`n_permutations` + 1).
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Returns
    -------
    DataFrame
        Rows ``(feature, direction)`` with the axes and, on maps of two or more dimensions, ``"best"``. Columns:
        ``type``, ``n`` (objects), ``correlation`` (signed for numbers along an axis), ``angle`` (degrees from the first
        axis towards the second, on maps of two dimensions), one direction cosine per axis (``cos_…``), ``p_value``,
        ``p_corrected``. Correlations and p-values of a constant feature are NaN, and count as no tests.

    Notes
    -----
    The tests take objects as independent and the map as given. A feature that was known to the fit is no external one:
    its absence from the map is by construction.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from unmask.inspection import name_axes
    >>> U = np.random.default_rng(0).normal(size=(50, 2))
    >>> external = pd.DataFrame({"slope": U[:, 0] + U[:, 1], "noise": np.tile([0.0, 1.0], 25)})
    >>> table = name_axes(U, external)
    >>> best = table.xs("best", level="direction")[["correlation", "angle", "p_corrected"]]
    >>> print(best.round(2).to_string(index_names=False))
           correlation  angle  p_corrected
    slope          1.0  45.00         0.00
    noise          0.2  27.66         0.76
    """
    import pandas as pd

    require_choice("correction", correction, CORRECTIONS)
    require_integer("n_permutations", n_permutations, 0)
    axes = read_table(embedding, "embedding")
    _require_spread(axes)
    rng = check_random_state(random_state)
    rows = [row for feature in _features(external, axes) for row in _rows(axes, feature, _Test(n_permutations, rng))]
    cosines = [f"cos_{name}" for name in axes.names]
    columns = ["feature", "direction", "type", "n", "correlation", "angle", *cosines, "p_value"]
    table = pd.DataFrame(rows, columns=columns).set_index(["feature", "direction"])
    table["p_corrected"] = corrected(table["p_value"].to_numpy(dtype=np.float64), correction)
    return table


def _require_spread(axes: LabelledTable) -> None:
    n, p = axes.values.shape
    rank = orthonormal_basis(axes.values).shape[1]
    if rank < p or p == 0:
        raise ValueError(
            f"embedding has {p} columns but its objects spread in {count(rank, 'dimension')} only; leave out columns "
            "that are constant or follow from others."
        )
    if n < p + 3:
        raise ValueError(
            f"embedding has {n} objects in {count(p, 'dimension')}, too few for a test; there must be {p + 3}."
        )


# ---- reading the external table


@dataclass(frozen=True)
class External:
    """An external feature as columns: one of numbers, or an indicator per category; for the objects that have it."""

    name: str
    kind: str
    present: NDArray[np.bool_]  # of all objects
    columns: Array  # of those present

    @property
    def basis(self) -> Array:
        """Orthonormal columns of the same span; the one of a numeric feature rises with it. None if it is constant."""
        if self.kind == "nominal":
            return orthonormal_basis(self.columns)
        units = standard_units(self.columns)
        return units[:, np.isfinite(units).all(axis=0)]


def _features(external: Any, axes: LabelledTable) -> Iterator[External]:
    table = as_frame(align(external, axes.labels, "external", "embedding"), lambda count: axis_names(count, "feature"))
    require_rows(table, len(axes.values), "external", "embedding")
    for position, name in enumerate(table.columns):
        yield _external(table.iloc[:, position], str(name), axes.values.shape[1])


def _external(column: pd.Series[Any], name: str, p: int) -> External:
    import pandas as pd

    present = column.notna().to_numpy()
    cells = column[present]
    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype):
        kind, coded = "numeric", cells.to_numpy(dtype=np.float64)[:, None]
        if not np.isfinite(coded).all():
            raise ValueError(f"external has an infinite value in column {name!r}; replace it, or use NaN for missing.")
    elif pd.api.types.is_datetime64_any_dtype(cells.dtype):
        raise ValueError(
            f"external: column {name!r} holds dates or times; convert them, such as to days since the first."
        )
    else:
        kind, coded = "nominal", _indicators(cells)
    width = coded.shape[1]
    if len(coded) < p + width + 2:
        raise ValueError(
            f"external: column {name!r} has {len(coded)} values and takes {width} columns, too few to test on a map of "
            f"{count(p, 'dimension')}; there must be {p + width + 2}. Join categories, or leave the column out."
        )
    return External(name, kind, present, coded)


def _indicators(cells: pd.Series[Any]) -> Array:
    """Return a column for each category but the first; a single zero column if there is only one."""
    import pandas as pd

    codes = pd.factorize(cells, sort=False)[0]
    levels = np.arange(1, max(2, codes.max(initial=0) + 1))
    return np.asarray(codes[:, None] == levels, dtype=np.float64)


# ---- correlations and tests


@dataclass(frozen=True)
class _Test:
    """How p-values are computed: by the F test, or by permutations."""

    n_permutations: int
    rng: Any

    def p_value(self, X: Array, Y: Array) -> float:
        """Return the p-value for two orthonormal bases not being correlated."""
        n = len(X)
        if self.n_permutations == 0:
            return wilks_p_value(svd(X.T @ Y, compute_uv=False), n, X.shape[1], Y.shape[1])
        observed = _shared(X, Y)
        permuted = [_shared(X, Y[self.rng.permutation(n)]) for _ in range(self.n_permutations)]
        return float(np.sum(as_large(permuted, observed, slack=1e-12)) + 1) / (self.n_permutations + 1)


def _shared(X: Array, Y: Array) -> float:
    """Return 1 less Wilks' lambda: the product of 1 - r² over the canonical correlations."""
    squares = svd(X.T @ Y, compute_uv=False) ** 2
    return float(1.0 - np.prod(1.0 - np.minimum(squares, 1.0)))


def _rows(axes: LabelledTable, feature: External, test: _Test) -> Iterator[tuple[Any, ...]]:
    """Return a row of the table for each axis, and one for the best direction."""
    U = axes.values[feature.present]
    p = U.shape[1]
    for axis, unit in enumerate(np.eye(p)):
        correlation, sign, p_value = _tested(U[:, [axis]], feature, test)
        correlation *= sign[0] if feature.kind == "numeric" else 1.0
        yield (feature.name, axes.names[axis], feature.kind, len(U), correlation, _angle(unit), *unit, p_value)
    if p > 1:  # on a line the axis is the only direction, and no test is made twice
        correlation, direction, p_value = _tested(U, feature, test)
        yield (feature.name, "best", feature.kind, len(U), correlation, _angle(direction), *direction, p_value)


def _tested(U: Array, feature: External, test: _Test) -> tuple[float, Array, float]:
    """Return the strongest correlation of the feature with a direction of U, that direction, and its p-value."""
    X, Y = orthonormal_basis(U), feature.basis
    if Y.shape[1] == 0 or X.shape[1] < U.shape[1]:
        return np.nan, np.full(U.shape[1], np.nan), np.nan
    correlation, direction = _strongest(U, Y)
    return correlation, direction if feature.kind == "numeric" else _without_sign(direction), test.p_value(X, Y)


def _strongest(U: Array, Y: Array) -> tuple[float, Array]:
    """Return the largest correlation of a direction of U with the space of Y, and that direction (of length 1).

    Against one column it is the direction in which this grows.
    """
    left, singular, right = svd(U - U.mean(axis=0), full_matrices=False)
    shared = left.T @ Y
    if shared.shape[1] > 1:
        vectors, values, _ = svd(shared, full_matrices=False)
        shared = vectors[:, [0]] * values[0]
    direction = right.T @ (shared[:, 0] / singular)
    return min(float(np.linalg.norm(shared)), 1.0), direction / np.linalg.norm(direction)


def _without_sign(direction: Array) -> Array:
    """Return a direction with the sign that makes its largest part positive, the first of equally large ones."""
    sizes = np.abs(direction)
    return np.asarray(direction * np.sign(direction[np.argmax(sizes >= (1 - 1e-6) * sizes.max())]))


def _angle(direction: Array) -> float:
    return float(np.degrees(np.arctan2(direction[1], direction[0]))) if len(direction) == 2 else np.nan


def corrected(p_values: Array, correction: str | None) -> Array:
    """Return p-values corrected for their number; NaN does not count as a test."""
    adjusted = np.array(p_values, dtype=np.float64)
    tested = np.isfinite(adjusted)
    if correction is None or not tested.any():
        return adjusted
    adjusted[tested] = false_discovery_control(adjusted[tested]) if correction == "fdr" else holm(adjusted[tested])
    return adjusted
