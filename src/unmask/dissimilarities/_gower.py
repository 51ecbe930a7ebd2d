"""Gower's dissimilarity for tables with columns of different types and missing cells."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._typing import Array
from ..checking import as_frame, as_pandas, is_pandas, is_unlabelled, quote, require_number
from ._rows import Rows

if TYPE_CHECKING:
    import pandas as pd

# Types of cells as pandas' infer_dtype names them.
UNITS = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "numbers"),
    **dict.fromkeys(("datetime64", "datetime", "date"), "dates"),
    **dict.fromkeys(("timedelta64", "timedelta"), "durations"),
}
CATEGORIES = ("string", "bytes", "boolean", "mixed", "mixed-integer", "empty", "categorical")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


@dataclass(frozen=True)
class Column:
    """How the cells of a column become numbers (NaN where missing), and how two of these are compared.

    With a range (``span``) the difference is a share of it; without one, cells are equal or not.
    """

    name: str
    weight: float
    levels: dict[Any, int] | None = None  # numbers of categories
    unit: str | None = None
    span: float = 0.0
    ordered: bool = False
    asymmetric: bool = False  # whether two cells of 0 are left out

    def code(self, cells: pd.Series) -> Array:
        """Return the cells as numbers; a category that was not fitted is -1 and differs from all others."""
        if self.levels is None:
            values = _numbers(self.name, cells, self.unit)
        else:
            values = _coded(cells, self.levels)
            if (self.ordered or self.asymmetric) and (values < 0).any():
                rule = "the levels in their order" if self.ordered else "an asymmetric column"
                raise ValueError(
                    f"column {self.name!r} holds {cells.iloc[int(np.argmax(values < 0))]!r}, but the fit has "
                    f"{quote(self.levels)} as {rule}; recode it."
                )
        return values / self.span if self.span > 0 else values


def gower(x: Array, y: Array, columns: list[Column]) -> Array:
    """Return the weighted mean difference over the columns that both objects have; NaN where they share none.

    Differences exceed 1 where a new object lies outside the range of the fitted ones.
    """
    total = np.zeros((len(x), len(y)))
    weights: Any = 0.0
    for k, column in enumerate(columns):
        a, b = x[:, k, None], y[None, :, k]
        difference = np.abs(a - b) if column.span > 0 else np.asarray(a != b, dtype=np.float64)
        counted: Any = True
        if column.asymmetric:
            counted = (a + b) > 0  # False for NaN
        elif np.isnan(a).any() or np.isnan(b).any():
            counted = ~(np.isnan(a) | np.isnan(b))
        difference *= column.weight
        np.add(total, difference, out=total, where=counted)
        weights = weights + column.weight * counted
    return np.asarray(total / weights)


def code_columns(_rows: Rows, cells: dict[str, pd.Series], columns: list[Column]) -> Array:
    """Return the table as numbers."""
    coded = [column.code(values) for column, values in zip(columns, cells.values(), strict=True)]
    return np.asarray(np.column_stack(coded), order="F")


# ---- learning


def learn_columns(_rows: Rows, cells: dict[str, pd.Series], params: Mapping[str, Any]) -> list[Column]:
    """Return the type, range and weight of each column."""
    names, asymmetric = list(cells), params.get("asymmetric", [])
    if isinstance(asymmetric, str) or not hasattr(asymmetric, "__iter__"):
        raise ValueError(f"metric_params['asymmetric']={asymmetric!r} must be a list of columns.")
    asymmetric = [str(name) for name in asymmetric]
    _require_columns("asymmetric", asymmetric, names)
    presence = {"levels": {0: 0, 1: 1}, "asymmetric": True}  # False and True are found as 0 and 1
    weights = _weights(names, params.get("weights"))
    return [
        Column(name, weight, **(presence if name in asymmetric else _learn(name, column)))
        for (name, column), weight in zip(cells.items(), weights, strict=True)
    ]


def _weights(names: list[str], given: Any) -> list[float]:
    """Return one weight per column, given in order, or by name (1 for all others)."""
    if is_pandas(given) and not is_unlabelled(given.index):
        given = given.to_dict()
    if given is None or isinstance(given, Mapping):
        by_name = {str(name): weight for name, weight in (given or {}).items()}
        _require_columns("weights", list(by_name), names)
        given = [by_name.get(name, 1.0) for name in names]
    if len(given) != len(names):
        raise ValueError(
            f"metric_params['weights'] has {len(given)} entries but X has {len(names)} columns; pass one for each, "
            "or a dict by name."
        )
    weights = [require_number("metric_params['weights']", weight, 0.0) for weight in np.asarray(given).tolist()]
    if not any(weights):
        raise ValueError("metric_params['weights'] are all 0; give some column a weight.")
    return weights


def _require_columns(key: str, given: list[str], names: list[str]) -> None:
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"metric_params[{key!r}] names {quote(unknown)}, but X has the columns {quote(names)}.")


def _learn(name: str, cells: pd.Series) -> dict[str, Any]:
    """Return how to compare a column, from the type of its cells."""
    present, kind = cells.dropna(), _kind(cells)
    if kind in UNITS.values():
        return {"unit": kind if len(present) else None, "span": _span(_numbers(name, cells, kind))}
    if kind == "categorical" and cells.cat.ordered:
        levels = {level: rank for rank, level in enumerate(cells.cat.categories)}
        return {"levels": levels, "span": _span(_coded(cells, levels)), "ordered": True}
    if kind not in CATEGORIES or not all(isinstance(cell, Hashable) for cell in present):
        raise ValueError(
            f"{kind.capitalize()} data not supported: column {name!r} holds {present.iloc[0]!r}; "
            "make it numbers, dates, text or categories."
        )
    is_number = [isinstance(cell, Number) and not isinstance(cell, bool | np.bool_) for cell in present]
    if kind != "categorical" and any(is_number) and not all(is_number):  # usually a mistake
        number, other = present.iloc[is_number.index(True)], present.iloc[is_number.index(False)]
        raise ValueError(
            f"column {name!r} holds numbers ({number!r}) and other things ({other!r}); replace these by NaN if they "
            "stand for missing numbers, or make all cells text if they are categories."
        )
    return {"levels": {level: code for code, level in enumerate(dict.fromkeys(present))}}


def _kind(cells: pd.Series) -> str:
    """Return "numbers", "dates" or "durations", or the name that pandas has for cells of another type."""
    import pandas as pd

    inferred = pd.api.types.infer_dtype(cells, skipna=True)
    return UNITS.get(inferred, inferred)


# ---- reading


def read_columns(rows: Rows) -> dict[str, pd.Series]:
    """Return the columns by name (an array's by number), with text that holds dates turned into dates."""
    import pandas as pd

    X = as_pandas(rows.X)
    if not is_pandas(X) and not hasattr(X, "get_column"):
        return {str(k): _as_dates(pd.Series(column)) for k, column in enumerate(_array(rows).T)}
    if getattr(X, "ndim", 2) != 2 or X.shape[0] < rows.least or not X.shape[1]:
        raise ValueError(f"X has shape {X.shape}; metric='gower' needs at least {rows.least} rows and a column.")
    names = [str(name) for name in X.columns]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ValueError(f"X has several columns of the name {quote(sorted(repeated))}; rename them.")
    validate_data(rows.estimator, rows.X, reset=not rows.new, skip_check_array=True)  # notes names of columns only
    X = as_frame(X)
    return {name: _as_dates(X.iloc[:, k]) for k, name in enumerate(names)}


def _array(rows: Rows) -> Any:
    """Return an array; numpy would turn the numbers of a mixed list into text."""
    if isinstance(rows.X, list | tuple):
        rows = Rows(rows.estimator, np.array(rows.X, dtype=object), rows.new)
    array = rows.table(dtype=None, ensure_all_finite=False)
    if array.dtype.kind in "US":
        raise ValueError(
            "X is an array of text, in which numbers would be taken for categories; pass a DataFrame, or an array of "
            "dtype object."
        )
    return array


def _as_dates(cells: pd.Series) -> pd.Series:
    """Return text that is a date in every cell (2024-12-31, also with a time) as dates; other columns unchanged."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(cells.dtype) or isinstance(cells.dtype, pd.CategoricalDtype):
        return cells
    present = cells[cells.notna()]
    if not len(present) or not all(isinstance(cell, str) and _DATE.fullmatch(cell) for cell in present):
        return cells
    try:
        return pd.to_datetime(cells, format="ISO8601")
    except ValueError:  # the 31st of February, or some with a zone and others without
        return cells


def _numbers(name: str, cells: pd.Series, unit: str | None) -> Array:
    """Return cells as float64, dates and durations in nanoseconds, NaN where missing.

    ``unit`` is that of the fitted cells; None if all of them were missing, and any will do.
    """
    import pandas as pd

    values, there = np.full(len(cells), np.nan), cells.notna().to_numpy()
    present, kind = cells[there], _kind(cells[there])
    if not len(present):
        return values
    if kind not in UNITS.values() or kind != (unit or kind):
        raise ValueError(
            f"column {name!r} holds {present.iloc[0]!r} but held {unit or 'numbers'} in the fit; convert it."
        )
    if kind == "numbers":
        values[there] = present.to_numpy(dtype=np.float64)
    elif kind == "dates":
        values[there] = pd.DatetimeIndex(pd.to_datetime(present)).as_unit("ns").asi8
    else:
        values[there] = pd.TimedeltaIndex(pd.to_timedelta(present)).as_unit("ns").asi8
    if np.isinf(values).any():
        raise ValueError(f"column {name!r} holds infinity (inf); replace it, or use NaN for a missing cell.")
    return values


def _span(values: Array) -> float:
    present = values[~np.isnan(values)]
    return float(np.ptp(present)) if len(present) else 0.0


def _coded(cells: pd.Series, levels: dict[Any, int]) -> Array:
    """Return the numbers of levels: -1 for an unknown one, NaN for a missing cell."""
    missing = cells.isna().to_numpy()
    codes = [np.nan if gone else levels.get(cell, -1) for cell, gone in zip(cells, missing, strict=True)]
    return np.array(codes, dtype=np.float64)
