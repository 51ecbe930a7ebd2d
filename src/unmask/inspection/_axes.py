"""Naming axes and directions of a map by external features, with tests corrected for their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import svd
from scipy.stats import false_discovery_control
from sklearn.utils import check_random_state

from .._typing import Array
from ..checking import as_frame, count, require_choice, require_integer
from ..problem.chance import as_large, holm, wilks_p_value
from ..problem.linalg import orthonormal_basis
from ._correlations import standard_units
from ._inputs import align, axis_names, read_table, require_rows

if TYPE_CHECKING:
    import pandas as pd

CORRECTIONS = (None, "holm", "fdr")
# A weaker correlation is rounding, as with a feature that the map was adjusted for: its direction would be chance.
NOTHING = 1e-8


def name_axes(
    embedding: Any,
    external: Any,
    *,
    correction: str | None = "holm",
    n_permutations: int = 0,
    random_state: Any = None,
) -> pd.DataFrame:
    """Find the external features that are correlated with an axis, or with any direction, of a map.

    Features often run across a map at an angle to its axes. The best direction is for numbers that in which they grow
    (with the multiple correlation), for categories the one that separates them most (with eta, the root of the
    explained share of the variance). The tests take the objects as independent and the map as given.

    Parameters
    ----------
    embedding : array-like of shape (n_objects, n_components), fitted estimator, or ordination of scikit-bio
        The map.
    external : DataFrame, Series or array-like of shape (n_objects, n_features)
        Features that were not known to the fit, aligned by label. Text, booleans and categoricals are categories. A
        feature with missing cells is tested on the other objects.
    correction : {"holm", "fdr", None}, default="holm"
        Correction of the p-values for the number of rows of the table: ``"holm"`` bounds the chance of any false name,
        ``"fdr"`` (Benjamini and Hochberg) the share of false names.
    n_permutations : int, default=0
        0: p-values of the F test (for a direction and categories, of Wilks' lambda in Rao's approximation, which is
        exact in up to two dimensions). Otherwise p-values of this many permutations of the objects.
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Returns
    -------
    DataFrame
        Rows ``(feature, direction)``: each axis and, if there are several, ``"best"``. Columns: ``type``, ``n``
        (objects), ``correlation`` (signed for numbers along an axis), ``angle`` (degrees from the first axis towards
        the second, on maps of two dimensions), one direction cosine per axis (``cos_…``), ``p_value``,
        ``p_corrected``. A constant feature has NaN; one whose correlation is 0 has no best direction.

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
    features = _as_frame(align(external, axes.labels, "external", "embedding"))
    require_rows(features, n, "external", "embedding")
    rng, rows = check_random_state(random_state), []
    for position, name in enumerate(map(str, features.columns)):
        cells = features.iloc[:, position]
        present = cells.notna().to_numpy()
        kind, Y = _coded(cells[present], name, p)
        U = axes.values[present]
        ways: list[tuple[str, Array, Array | None]] = [
            (axes.names[axis], U[:, [axis]], unit) for axis, unit in enumerate(np.eye(p))
        ]
        ways += [("best", U, None)] if p > 1 else []  # on a line the axis is the only direction
        for direction, part, unit in ways:
            correlation, cosines, p_value = _tested(part, Y, kind, n_permutations, rng)
            if unit is not None:
                correlation, cosines = correlation * (cosines[0] if kind == "numeric" and correlation else 1.0), unit
            angle = float(np.degrees(np.arctan2(cosines[1], cosines[0]))) if p == 2 else np.nan
            rows.append((name, direction, kind, len(U), correlation, angle, *cosines, p_value))
    names = [f"cos_{name}" for name in axes.names]
    columns = ["feature", "direction", "type", "n", "correlation", "angle", *names, "p_value"]
    table = pd.DataFrame(rows, columns=columns).set_index(["feature", "direction"])
    table["p_corrected"] = table["p_value"]
    tested = table["p_value"].notna()
    if correction is not None and tested.any():
        correct = false_discovery_control if correction == "fdr" else holm
        table.loc[tested, "p_corrected"] = correct(table.loc[tested, "p_value"].to_numpy())
    return table


def _as_frame(data: Any) -> pd.DataFrame:
    """Return features as a DataFrame whose columns keep their types."""
    import pandas as pd

    data = as_frame(data)
    frame = pd.DataFrame(data)
    if hasattr(data, "columns") or getattr(data, "name", None) is not None:
        return frame
    return frame.set_axis(axis_names(frame.shape[1], "feature"), axis=1).infer_objects()


def _coded(cells: pd.Series[Any], name: str, p: int) -> tuple[str, Array]:
    """Return the type of a feature, and an orthonormal basis of its columns: empty if it is constant.

    Numbers are one column, which the basis rises with; categories are an indicator each but the first.
    """
    import pandas as pd

    types = pd.api.types
    if types.is_datetime64_any_dtype(cells.dtype):
        raise ValueError(
            f"external: column {name!r} holds dates or times; convert them, such as to days since the first."
        )
    numeric = types.is_numeric_dtype(cells.dtype) and not types.is_bool_dtype(cells.dtype)
    if numeric:
        columns = cells.to_numpy(dtype=np.float64)[:, None]
        if not np.isfinite(columns).all():
            raise ValueError(f"external has an infinite value in column {name!r}; replace it, or use NaN for missing.")
    else:
        codes = pd.factorize(cells)[0]
        columns = (codes[:, None] == np.arange(1, codes.max(initial=0) + 1)).astype(np.float64)
    needed = p + columns.shape[1] + 2
    if len(columns) < needed:
        raise ValueError(
            f"external: column {name!r} has {len(columns)} values and takes {columns.shape[1]} columns, too few to "
            f"test on a map of {count(p, 'dimension')}; there must be {needed}. Join categories, or leave the column "
            "out."
        )
    if not numeric:
        return "nominal", orthonormal_basis(columns)
    units = standard_units(columns)
    return "numeric", units[:, np.isfinite(units).all(axis=0)]


def _tested(U: Array, Y: Array, kind: str, n_permutations: int, rng: Any) -> tuple[float, Array, float]:
    """Return the strongest correlation of a feature with a direction of U, that direction, and its p-value."""
    X = orthonormal_basis(U)
    if Y.shape[1] == 0 or X.shape[1] < U.shape[1]:
        return np.nan, np.full(U.shape[1], np.nan), np.nan
    left, singular, right = svd(U - U.mean(axis=0), full_matrices=False)
    shared = left.T @ Y
    if shared.shape[1] > 1:
        vectors, values, _ = svd(shared, full_matrices=False)
        shared = vectors[:, [0]] * values[0]
    strength = float(np.linalg.norm(shared))
    if strength < NOTHING:
        return 0.0, np.full(U.shape[1], np.nan), _p_value(X, Y, n_permutations, rng)
    direction = right.T @ (shared[:, 0] / singular)
    direction /= np.linalg.norm(direction)
    if kind == "nominal":  # the largest part is positive, the first of equally large ones
        sizes = np.abs(direction)
        direction *= np.sign(direction[np.argmax(sizes >= (1 - 1e-6) * sizes.max())])
    return min(strength, 1.0), direction, _p_value(X, Y, n_permutations, rng)


def _p_value(X: Array, Y: Array, n_permutations: int, rng: Any) -> float:
    """Return the p-value of two orthonormal bases being uncorrelated, by the F test or by permutations."""
    n = len(X)
    if n_permutations == 0:
        return wilks_p_value(svd(X.T @ Y, compute_uv=False), n, X.shape[1], Y.shape[1])

    def strength(Y: Array) -> float:  # 1 less Wilks' lambda
        squares = svd(X.T @ Y, compute_uv=False) ** 2
        return float(1.0 - np.prod(1.0 - np.minimum(squares, 1.0)))

    permuted = [strength(Y[rng.permutation(n)]) for _ in range(n_permutations)]
    return float(np.sum(as_large(permuted, strength(Y), slack=1e-12)) + 1) / (n_permutations + 1)
