"""Checking what is to be drawn: coordinates, tables of numbers, and data with one entry per object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import as_pandas, find_labels, is_pandas, labelled_frame, labels_of, numbers, quote, refuse_path
from ..estimators import labels_of_fit

if TYPE_CHECKING:
    import pandas as pd


def as_map(embedding: Any) -> Any:
    """Return the map of a fitted estimator or an ordination, with its objects' labels if it has any; others as is."""
    if not hasattr(embedding, "embedding_"):
        refuse_path(embedding, "embedding")
        return labelled_frame(embedding)
    labels = labels_of_fit(embedding)
    if labels is None:
        return embedding.embedding_
    import pandas as pd

    return pd.DataFrame(embedding.embedding_, index=labels, columns=[""] * embedding.embedding_.shape[1])


def check_embedding(embedding: Any, what: str = "embedding") -> tuple[Array, list[str]]:
    """Return the two columns to draw (the second zero if there is only one) and the names of those that exist."""
    values = np.asarray(embedding, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"{what} has shape {values.shape}; pass one row per object and at least one column.")
    wrong = ~np.isfinite(values)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{what} has {values[row, column]} in row {row}, column {column}; every coordinate must be finite: "
            "leave the object out."
        )
    names = [_axis_name(str(name)) for name in list(getattr(embedding, "columns", []))[:2]]
    if values.shape[1] == 1:
        values = np.column_stack([values, np.zeros(len(values))])
        return values, names or [""]
    return values[:, :2], names or ["", ""]


def _axis_name(name: str) -> str:
    """Return the name of an axis: that of the column, or "dimension 1" … for names that an estimator or study makes."""
    made = re.fullmatch(r"([a-z]+?)(\d+)", name)
    if made is None:
        return name
    maker, number = made[1], int(made[2])
    if maker == "axis":  # of a study, which counts from 1
        return f"dimension {number}"
    return f"dimension {number + 1}" if maker in _estimators() else name


def _estimators() -> set[str]:
    """Return the names of estimators in lower case, with which scikit-learn's names of output columns begin."""
    from sklearn.base import ClassNamePrefixFeaturesOutMixin

    from .. import estimators  # noqa: F401 - so that its classes are known, whoever made the map

    names, new = set(), [ClassNamePrefixFeaturesOutMixin]
    while new:
        new = [kind for parent in new for kind in parent.__subclasses__()]
        names |= {kind.__name__.lower() for kind in new}
    return names


def check_table(table: Any, what: str) -> tuple[Array, list[str]]:
    """Return a table of finite numbers and the names of its columns."""
    if is_pandas(table) and not hasattr(table, "columns"):
        table = table.to_frame()
    elif not hasattr(table, "columns") and np.ndim(table) == 1:
        table = np.asarray(table)[:, None]
    values = np.asarray(numbers(table, what), dtype=np.float64)
    names = [str(name) for name in getattr(table, "columns", range(values.shape[1]))]
    wrong = ~np.isfinite(values)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{what} has {values[row, column]} in row {row} of column {names[column]!r}; every cell must be a finite "
            "number: fill it, or leave the column or the object out."
        )
    return values, names


def require_varying(values: Array, names: list[str], what: str) -> None:
    """Raise if a column is constant."""
    constant = [name for name, same in zip(names, np.ptp(values, axis=0) == 0, strict=True) if same]
    if constant:
        raise ValueError(f"{what} has columns in which all objects are the same: {quote(constant)}; leave them out.")


def is_frame(data: Any) -> bool:
    """Tell whether data are a pandas DataFrame."""
    return is_pandas(data) and hasattr(data, "columns")


def table_of(given: Any, attribute: str, what: str, holder: str = "a fitted estimator") -> Any:
    """Return a table that an estimator has as an attribute, or that is given itself."""
    table = getattr(given, attribute, given)
    if not is_frame(table):
        raise ValueError(
            f"{what} is of type {type(given).__name__} and has no {attribute}; pass {holder}, or its {attribute}."
        )
    return table


def one_per_object(name: str, given: Any, n: int, index: pd.Index | None, whole: str = "embedding") -> Any:
    """Return ``given`` in the order of the objects, after checking that it has one entry per object."""
    if given is None:
        return None
    if len(given) != n:
        holder = "the map" if whole == "embedding" else whole
        raise ValueError(f"{name} has {len(given)} entries but {holder} has {n} objects; pass one per object.")
    labels, given = labels_of(given), as_pandas(given)
    if index is None or labels is None or labels.equals(index):
        return given
    unique = labels.is_unique and index.is_unique
    at = find_labels(labels, index) if unique else np.full(n, -1)
    if (at < 0).any():
        raise ValueError(
            f"{name} and {whole} disagree on labels ({quote(labels)} and {quote(index)}); use the same labels, "
            f"each once, or pass {name}.to_numpy() to match by position."
        )
    return given.iloc[at]


def as_series(given: Any, name: str) -> pd.Series[Any]:
    """Return data with a name, numbered from 0."""
    import pandas as pd

    return pd.Series(given).reset_index(drop=True).rename(name)


def name_of(given: Any) -> str:
    """Return the name of a Series, "" for data without a name."""
    name = getattr(given, "name", None)
    return "" if name is None else str(name)
