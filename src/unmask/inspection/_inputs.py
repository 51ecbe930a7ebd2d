"""Reading maps, tables and known features: finite numbers, with rows of the same objects in the same order."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import Array
from ..checking import (
    Dissimilarities,
    KnownFeatureWarning,
    align_rows,
    as_pandas,
    check_dissimilarities,
    is_file,
    labels_of,
    open_file,
)
from ..dissimilarities import compare, make_transformer
from ..estimators import labels_of_fit, number_of_objects
from ..kernels import MOST_SQUARED, Workers, resolve_threads
from ..problem import KnownFeatures, check_known

if TYPE_CHECKING:
    import pandas as pd


class LabelledTable(NamedTuple):
    """Numbers with one row per object, the labels of the objects if there are any, and the names of the columns."""

    values: Array
    labels: pd.Index | None
    names: list[str]


def is_fitted_map(data: Any) -> bool:
    """Return whether data are a fitted estimator."""
    return hasattr(data, "embedding_")


def axis_names(count: int, prefix: str = "axis") -> list[str]:
    """Return names such as axis1, axis2."""
    return [f"{prefix}{c + 1}" for c in range(count)]


def labels_or_numbers(labels: pd.Index | None, n: int) -> pd.Index:
    """Return the labels of n objects, or their numbers if they have none."""
    import pandas as pd

    return pd.RangeIndex(n) if labels is None else labels


def _with_labels(data: Any) -> tuple[Any, pd.Index | None]:
    """Return a table or the map of a fitted estimator, in pandas if it has labels, and its labels."""
    import pandas as pd

    if not is_fitted_map(data):
        return as_pandas(data), labels_of(data)
    U, labels = data.embedding_, labels_of_fit(data)
    return U if labels is None else pd.DataFrame(U, index=labels, columns=axis_names(U.shape[1])), labels


def align(data: Any, labels: pd.Index | None, name: str, reference: str) -> Any:
    """Return the rows of a table in the order of the labels; without labels on both sides as they are."""
    data, given = _with_labels(data)
    matched = labels is None or given is None or given.equals(labels)
    return data if matched else align_rows(data, labels, name, reference)


def read_table(data: Any, name: str, prefix: str = "axis") -> LabelledTable:
    """Return a table, or the map of a fitted estimator, as finite numbers with one row per object."""
    import pandas as pd

    data, labels = _with_labels(data)
    try:
        values = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} holds cells that are not numbers; convert them, or leave their columns out."
        ) from None
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must be a table of finite numbers, one row per object; it has shape {values.shape}"
            f"{' and cells that are missing or infinite' if values.ndim == 2 else ''}."
        )
    names = [data.name] if isinstance(data, pd.Series) and data.name is not None else getattr(data, "columns", None)
    columns = axis_names(values.shape[1], prefix) if names is None else list(map(str, names))
    return LabelledTable(values, labels, columns)


def require_rows(values: Any, n: int, name: str, reference: str) -> None:
    """Raise unless there is one row per object."""
    if len(values) != n:
        raise ValueError(f"{name} has {len(values)} rows and {reference} has {n}; pass one row per object in both.")


def read_aligned(
    data: Any, labels: pd.Index | None, n: int, name: str, reference: str = "dissimilarities", prefix: str = "axis"
) -> LabelledTable:
    """Return a table or a map with one row for each of n objects, in the order of their labels."""
    table = read_table(align(data, labels, name, reference), name, prefix)
    require_rows(table.values, n, name, reference)
    return table


def read_pair(first: Any, second: Any, names: tuple[str, str]) -> tuple[LabelledTable, LabelledTable]:
    """Return two tables of the same objects, the second in the order of the first."""
    one = read_table(first, names[0])
    return one, read_aligned(second, one.labels, len(one.values), names[1], names[0], "feature")


def code_known(
    known: Any, n: int, labels: pd.Index | None, types: dict[Any, Any] | None, reference: str
) -> KnownFeatures:
    """Return known features as numbers in standard units; none may be missing.

    Redundant columns are left out without a warning, because only the space that the columns span is used.
    """
    if known is None:
        return KnownFeatures.nothing(n)
    known = align(known, labels, "known", reference)
    if hasattr(known, "__len__"):
        require_rows(known, n, "known", reference)
    with warnings.catch_warnings(action="ignore", category=KnownFeatureWarning):
        coded = check_known(known, n, None, "auto", types=types)
    for feature in coded.features:
        if len(feature.missing):
            raise ValueError(
                f"known has {len(feature.missing)} missing cells in column {feature.name!r}; fill them (ConditionalMDS "
                "estimates them: known_imputed_), or leave the column out."
            )
    return coded


def require_few(purpose: str, data: Any, *, ready: bool) -> None:
    """Raise if a table of all pairs would be too large, before anything is read; ``ready`` dissimilarities are square.

    Nothing is raised if the number of objects cannot be told without reading.
    """
    n = number_of_objects(open_file(data) if ready and is_file(data) else as_pandas(data), ready=ready) or 0
    if n > MOST_SQUARED:
        raise ValueError(
            f"{purpose} needs all pairs of the objects at once, and {n:,} objects are more than the {MOST_SQUARED:,} "
            "that it takes; pass a random sample of them, such as 2,000."
        )


def read_dissimilarities(
    data: Any, metric: Any = "precomputed", *, complete_for: str | None = None, warn: bool = False
) -> Dissimilarities:
    """Return checked dissimilarities, computed from features unless the metric is "precomputed".

    If ``complete_for`` names a purpose that needs all of them, missing ones are an error; ``warn`` warns of them.
    """
    transformer = make_transformer(metric)
    require_few("this function", data, ready=transformer is None)
    values, labels = (data, None) if transformer is None else compare(transformer, data)
    with Workers(resolve_threads(None)) as workers:
        checked = check_dissimilarities(values, workers=workers, complete_for=complete_for, warn=warn)
    return checked if transformer is None else replace(checked, labels=labels)
