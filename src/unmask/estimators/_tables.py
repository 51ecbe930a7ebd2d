"""Small tables that report what was found about the known features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..problem import Feature, KnownFeatures
from ..problem.linalg import symmetric_root

if TYPE_CHECKING:
    import pandas as pd


def coef_table(known: KnownFeatures, gram: Array, unit: float) -> pd.DataFrame:
    """Return the symmetric positive B per unit of the known features as given, block by block."""
    import pandas as pd

    return pd.DataFrame(coef_values(known, gram, unit), index=list(known.names), columns=list(known.names))


def coef_values(known: KnownFeatures, gram: Array, unit: float) -> Array:
    """Return the numbers of `coef_table`.

    With BB' = RR' and S the scales, it is the symmetric root of (R/S)(R/S)', found from the singular values of R/S: no
    product of two scales is formed, which might overflow.
    """
    kept = list(known.kept)

    def root(group: list[int]) -> Array:
        scaled = symmetric_root(gram[np.ix_(group, group)]) / known.scale[kept][group, None]
        left, singular, _ = np.linalg.svd(scaled)
        return np.asarray((left * singular) @ left.T)

    coef = np.zeros((len(known.names), len(known.names)))
    coef[np.ix_(kept, kept)] = known.blockwise(root) / unit
    return coef


def shared_table(known: KnownFeatures, shared: Array, unit: float) -> pd.DataFrame:
    """Return how far each known column moves an object along the map's axes, per unit of the feature as given."""
    import pandas as pd

    kept, coef = list(known.kept), np.zeros((len(known.names), shared.shape[1]))
    coef[kept] = shared / known.scale[kept, None] / unit
    return pd.DataFrame(coef, index=list(known.names), columns=axis_names(shared.shape[1]))


def axis_names(p: int) -> list[str]:
    """Return the names of p axes in tables."""
    return [f"axis{a + 1}" for a in range(p)]


def importance_table(known: KnownFeatures, gram: Array, unit: float) -> pd.DataFrame:
    """Return each feature's share in the distances: per unit (numbers only) and per standard deviation."""
    import pandas as pd

    columns = ["raw", "standardized"]
    return pd.DataFrame(importance_values(known, gram, unit), index=list(known.feature_names), columns=columns)


def importance_values(known: KnownFeatures, gram: Array, unit: float) -> Array:
    """Return the numbers of `importance_table`."""
    n = len(known.values)
    found = np.full((len(known.features), 2), np.nan)
    for row, feature in zip(found, known.features, strict=True):
        at = known.columns_of(feature)
        # The variance of VB that the feature's own columns make; the values are in standard deviations.
        covariance = known.values[:, at].T @ known.values[:, at] / max(n - 1, 1)
        row[1] = float(np.sqrt(max(np.sum(covariance * gram[np.ix_(at, at)]), 0.0))) / unit
        if feature.coding.is_number:
            row[0] = float(np.sqrt(gram[at[0], at[0]])) / (known.scale[feature.columns[0]] * unit) if at else 0.0
    return found


def summary_table(known: KnownFeatures) -> pd.DataFrame:
    """Return what each known feature was taken for."""
    import pandas as pd

    rows = []
    for feature in known.features:
        source, levels = "declared" if feature.declared else "inferred", ", ".join(map(str, feature.coding.levels))
        columns = len(known.columns_of(feature))
        rows.append((feature.name, feature.coding.kind, source, columns, levels, len(feature.missing)))
    names = ["feature", "type", "source", "columns", "levels", "missing"]
    return pd.DataFrame(rows, columns=names).set_index("feature")


def level_table(known: KnownFeatures, roots: Array) -> pd.DataFrame:
    """Return the fitted positions of the levels of nominal and ordinal features, in principal axes."""
    import pandas as pd

    positions: dict[tuple[str, Any], Array] = {}
    for feature in known.features:
        if not feature.coding.levels:
            continue
        places = level_places(known, feature, roots)
        if not places.shape[1]:  # a single level, of which nothing was fitted
            places = np.zeros((len(places), 1))
        left, size, _ = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
        axes = left * size
        axes = axes[:, : max(1, int(np.sum(size > 1e-6 * size[0])))] if size[0] > 0 else axes[:, :1]
        # Ordered levels rise: the last level that is not in the middle of an axis is on its positive side.
        beside = np.abs(axes[::-1]) > 1e-6 * np.abs(axes).max(axis=0)
        axes *= np.where(axes[::-1][np.argmax(beside, axis=0), np.arange(axes.shape[1])] < 0, -1.0, 1.0)
        positions |= {(feature.name, level): place for level, place in zip(feature.coding.levels, axes, strict=True)}
    width = max((len(place) for place in positions.values()), default=0)
    places = np.full((len(positions), width), np.nan)
    for row, place in zip(places, positions.values(), strict=True):
        row[: len(place)] = place
    index = pd.MultiIndex.from_tuples(list(positions), names=["feature", "level"]) if positions else None
    return pd.DataFrame(places, index=index, columns=axis_names(width))


def level_places(known: KnownFeatures, feature: Feature, roots: Array) -> Array:
    """Return where the levels of a feature are, in the space of the known features."""
    vertices = known.vertices_of(feature)
    assert vertices is not None
    return np.asarray(vertices @ roots[known.columns_of(feature)])
