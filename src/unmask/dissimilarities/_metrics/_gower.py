"""Gower's dissimilarity for tables with columns of different types and missing cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Number as AnyNumber
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._typing import Array
from ...checking import as_pandas, is_pandas, is_unlabelled, polars_column, quote, require_number, warn_user
from ._family import Family, Reader

if TYPE_CHECKING:
    import pandas as pd

# What pandas' infer_dtype says of the cells of a column.
UNITS = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "numbers"),
    **dict.fromkeys(("datetime64", "datetime", "date"), "dates"),
    **dict.fromkeys(("timedelta64", "timedelta"), "durations"),
}
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_CODE_NAME = re.compile(r"(?i)(zip|postal|post)[ _-]?(code)?s?|postcode|plz|postleitzahl")
CATEGORIES = ("string", "bytes", "boolean", "mixed", "mixed-integer", "empty")


class ColumnComparison:
    """How the cells of one column are coded as numbers (NaN where missing) and compared: by default equal or not."""

    def code(self, cells: pd.Series) -> Array:
        """Return the cells as numbers."""
        raise NotImplementedError

    def difference(self, x: Array, y: Array) -> Array:
        """Return 1 where two cells differ."""
        return np.asarray(x != y, dtype=np.float64)

    def counts(self, x: Array, y: Array) -> Any:
        """Return True for pairs of cells that are compared (neither is missing); None if all are."""
        missing_x, missing_y = np.isnan(x), np.isnan(y)
        return ~(missing_x | missing_y) if missing_x.any() or missing_y.any() else None


@dataclass(frozen=True)
class Quantity(ColumnComparison):
    """Numbers, dates and durations: the difference as a share of the range among the fitted objects."""

    name: str
    span: float
    unit: str | None

    @classmethod
    def learn(cls, name: str, cells: pd.Series) -> Quantity:
        """Find the range; a column without one is compared as equal or not."""
        values, unit = _numbers(name, cells)
        return cls(name, _span(values), unit)

    def code(self, cells: pd.Series) -> Array:
        """Return numbers in units of the range."""
        values, _ = _numbers(self.name, cells, self.unit)
        return values / self.span if self.span > 0 else values

    def difference(self, x: Array, y: Array) -> Array:
        """Return the distance, which exceeds 1 where a new object lies outside the range."""
        if self.span == 0:
            return super().difference(x, y)
        difference = x - y
        return np.abs(difference, out=difference)


@dataclass(frozen=True)
class Ranks(Quantity):
    """Ordered categories: the difference of their ranks as a share of the range of ranks."""

    levels: dict[Any, int]

    @classmethod
    def learn(cls, name: str, cells: pd.Series) -> Ranks:
        """Number the levels in their order."""
        levels = {level: rank for rank, level in enumerate(cells.cat.categories)}
        return cls(name, _span(_coded(name, cells, levels)), None, levels)

    def code(self, cells: pd.Series) -> Array:
        """Return ranks in units of their range."""
        ranks = _coded(self.name, cells, self.levels)
        if (ranks < 0).any():
            unseen = cells.iloc[int(np.argmax(ranks < 0))]
            raise ValueError(
                f"column {self.name!r} has the level {unseen!r}, which has no place in the fitted order "
                f"{quote(self.levels)}; recode it."
            )
        return ranks / self.span if self.span > 0 else ranks


@dataclass(frozen=True)
class Category(ColumnComparison):
    """Categories: equal or not; one that was not seen in the fit equals none."""

    name: str
    levels: dict[Any, int]

    @classmethod
    def learn(cls, name: str, cells: pd.Series) -> Category:
        """Number the categories."""
        try:
            return cls(name, {level: code for code, level in enumerate(dict.fromkeys(cells[cells.notna()]))})
        except TypeError as error:
            raise ValueError(
                f"column {name!r} holds cells that cannot be compared as categories ({error}); leave it out."
            ) from error

    def code(self, cells: pd.Series) -> Array:
        """Return the numbers of the categories, -1 for a new one."""
        return _coded(self.name, cells, self.levels)


@dataclass(frozen=True)
class Presence(ColumnComparison):
    """Presence and absence; pairs of which both are absent do not count."""

    name: str

    @classmethod
    def learn(cls, name: str, cells: pd.Series) -> Presence:
        """Check that all cells are presence or absence."""
        column = cls(name)
        column.code(cells)
        return column

    def code(self, cells: pd.Series) -> Array:
        """Return 1 for presence and 0 for absence."""
        values = _coded(self.name, cells, {0: 0, 1: 1})  # False and True are found as 0 and 1
        if (values < 0).any():
            other = cells.iloc[int(np.argmax(values < 0))]
            raise ValueError(
                f"column {self.name!r} is in metric_params['asymmetric'] but holds {other!r}; an asymmetric column "
                "holds 0 and 1, or False and True."
            )
        return values

    def counts(self, x: Array, y: Array) -> Any:
        """Return True where at least one of two cells is 1 and neither is missing."""
        return (x + y) > 0  # NaN is not


class Gower(Family):
    """Gower's dissimilarity (1971): the weighted mean, over the columns both objects have, of their differences."""

    parameters = ("asymmetric", "weights")
    allow_nan = True
    may_miss = True
    text = True

    def __init__(self, name: str, params: Mapping[str, Any]) -> None:
        super().__init__(name, params)
        self.columns: list[ColumnComparison] = []
        self.weights: list[float] = []

    def fit(self, reader: Reader) -> Array:
        """Detect the type of each column, and the ranges."""
        cells = _columns(reader)
        names = list(cells)
        asymmetric = self._asymmetric(names)
        self.columns = [
            Presence.learn(name, column) if name in asymmetric else _kind_of(name, column)
            for name, column in cells.items()
        ]
        self.weights = self._weights(names)
        return self._coded(cells)

    def read(self, reader: Reader) -> Array:
        """Return the table coded as numbers."""
        return self._coded(_columns(reader))

    def _coded(self, cells: dict[str, pd.Series]) -> Array:
        coded = [column.code(values) for column, values in zip(self.columns, cells.values(), strict=True)]
        return np.asarray(np.column_stack(coded), order="F")

    def between(self, rows: Array, columns: Array) -> Array:
        """Return the mean differences; 0/0, NaN, where two objects share no column."""
        total = np.zeros((len(rows), len(columns)))
        weights: Any = 0.0
        for k, (column, weight) in enumerate(zip(self.columns, self.weights, strict=True)):
            x, y = rows[:, k, None], columns[None, :, k]
            difference = column.difference(x, y)
            difference *= weight
            counts = column.counts(x, y)
            if counts is None:
                total += difference
                weights = weights + weight
            else:
                np.add(total, difference, out=total, where=counts)
                weights = weights + weight * counts
        return np.asarray(total / weights)

    def _asymmetric(self, names: list[str]) -> list[str]:
        given = self.params.get("asymmetric", [])
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise ValueError(f"metric_params['asymmetric']={given!r} must be a list of columns.")
        chosen = [str(name) for name in given]
        _require_columns("asymmetric", chosen, names)
        return chosen

    def _weights(self, names: list[str]) -> list[float]:
        """Return one weight per column, given by name (the others have 1) or in order."""
        given = self.params.get("weights")
        if given is None:
            return [1.0] * len(names)
        if is_pandas(given) and not is_unlabelled(given.index):
            given = given.to_dict()  # by name, as a dict is: its order may be another
        if isinstance(given, Mapping):
            by_name = {str(name): weight for name, weight in given.items()}
            _require_columns("weights", list(by_name), names)
            given = [by_name.get(name, 1.0) for name in names]
        elif len(given) != len(names):
            raise ValueError(
                f"metric_params['weights'] has {len(given)} entries but X has {len(names)} columns; pass one for each, "
                "or a dict by name."
            )
        plain = [weight.item() if isinstance(weight, np.generic) else weight for weight in given]
        weights = [require_number("metric_params['weights']", weight, 0.0) for weight in plain]
        if not any(weights):
            raise ValueError("metric_params['weights'] are all 0; give some column a weight.")
        return weights


def _require_columns(key: str, given: list[str], names: list[str]) -> None:
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"metric_params[{key!r}] names {quote(unknown)}, but X has the columns {quote(names)}.")


def _columns(reader: Reader) -> dict[str, pd.Series]:
    """Return the columns by name, with text that holds dates turned into dates."""
    return {name: _as_dates(cells) for name, cells in _raw_columns(reader).items()}


def _raw_columns(reader: Reader) -> dict[str, pd.Series]:
    """Return the columns by name; the columns of an array are named by their numbers."""
    import pandas as pd

    X = as_pandas(reader.X)
    if is_pandas(X) or hasattr(X, "get_column"):
        names = _names(X, least=1 if reader.new else 2)
        reader.note_columns()
        if is_pandas(X):
            return {name: X.iloc[:, k] for k, name in enumerate(names)}
        columns = [polars_column(X, column) for column in X.columns]
        series = [column if is_pandas(column) else pd.Series(column.to_list()) for column in columns]
        return dict(zip(names, series, strict=True))
    return {str(k): pd.Series(column) for k, column in enumerate(_array(reader).T)}


def _as_dates(cells: pd.Series) -> pd.Series:
    """Return text that is a date in every cell (2024-12-31, also with a time) as dates, and other columns as given."""
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


def _warn_of_codes(name: str, cells: pd.Series) -> None:
    """Warn if numbers that look like codes are compared by their size."""
    values = cells[cells.notna()].to_numpy(dtype=np.float64, na_value=np.nan)
    whole = len(values) >= 5 and bool(np.all((values == np.round(values)) & (values >= 1e4)))
    alike = whole and len(set(np.floor(np.log10(values)))) == 1
    named = _CODE_NAME.fullmatch(name.strip()) is not None
    if named or alike:
        why = "is named like a code" if named else "holds numbers of as many digits each, as codes are"
        warn_user(
            f"column {name!r} {why}, and its cells are compared as numbers; if only equal codes are alike, make them "
            "text by astype(str).",
            UserWarning,
        )


def _names(frame: Any, least: int) -> list[str]:
    """Return the names of a frame's columns."""
    if getattr(frame, "ndim", 2) != 2 or frame.shape[0] < least or not frame.shape[1]:
        raise ValueError(f"X has shape {frame.shape}; metric='gower' needs at least {least} rows and a column.")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        repeated = {name for name in names if names.count(name) > 1}
        raise ValueError(f"X has several columns of the name {quote(sorted(repeated))}; rename them.")
    return names


def _array(reader: Reader) -> Any:
    """Return an array without making text of numbers, as numpy does with a list that holds both."""
    X = reader.X
    if isinstance(X, list | tuple):
        reader = Reader(reader.estimator, np.array(X, dtype=object), reader.new)
    array = reader.table(dtype=None, ensure_all_finite=False)
    if array.dtype.kind in "US":
        raise ValueError(
            "X is an array of text, in which numbers would be taken for categories; pass a DataFrame, or an array of "
            "dtype object."
        )
    return array


def _kind_of(name: str, cells: pd.Series) -> ColumnComparison:
    """Return how to compare a column, from the type of its cells."""
    import pandas as pd

    if isinstance(cells.dtype, pd.CategoricalDtype):
        return Ranks.learn(name, cells) if cells.cat.ordered else Category.learn(name, cells)
    inferred = pd.api.types.infer_dtype(cells, skipna=True)
    if inferred in UNITS:
        if UNITS[inferred] == "numbers":
            _warn_of_codes(name, cells)
        return Quantity.learn(name, cells)
    if inferred not in CATEGORIES:
        raise ValueError(
            f"{inferred.capitalize()} data not supported: column {name!r} holds {cells.dropna().iloc[0]!r}; "
            "make it numbers, dates, text or categories."
        )
    _require_one_kind(name, cells)
    return Category.learn(name, cells)


def _require_one_kind(name: str, cells: pd.Series) -> None:
    """Raise if a column mixes numbers with something else, which is usually a mistake."""
    present = list(cells[cells.notna()])
    counted = [isinstance(cell, AnyNumber) and not isinstance(cell, bool | np.bool_) for cell in present]
    if any(counted) and not all(counted):
        number, other = present[counted.index(True)], present[counted.index(False)]
        raise ValueError(
            f"column {name!r} holds numbers ({number!r}) and other things ({other!r}); replace these by NaN if they "
            "stand for missing numbers, or make all cells text if they are categories."
        )


def _numbers(name: str, cells: pd.Series, unit: str | None = None) -> tuple[Array, str | None]:
    """Return numbers as float64 (dates and durations in nanoseconds; NaN where missing) and their unit.

    ``unit`` is the unit they must have, if it is known; it stays unknown as long as all cells are missing.
    """
    import pandas as pd

    values = np.full(len(cells), np.nan)
    there = cells.notna().to_numpy()
    if not there.any():
        return values, unit
    present = cells[there]
    present_unit = UNITS.get(pd.api.types.infer_dtype(present, skipna=True))
    if present_unit is None or (unit is not None and present_unit != unit):
        raise ValueError(
            f"column {name!r} holds {present.iloc[0]!r} but held {unit or 'numbers'} in the fit; convert it."
        )
    if present_unit == "dates":
        values[there] = pd.DatetimeIndex(pd.to_datetime(present)).as_unit("ns").asi8
    elif present_unit == "durations":
        values[there] = pd.TimedeltaIndex(pd.to_timedelta(present)).as_unit("ns").asi8
    else:
        values[there] = present.to_numpy(dtype=np.float64)
    if np.isinf(values).any():
        raise ValueError(f"column {name!r} holds infinity (inf); replace it, or use NaN for a missing cell.")
    return values, present_unit


def _span(values: Array) -> float:
    """Return the range of the values that are there."""
    present = values[~np.isnan(values)]
    return float(np.ptp(present)) if len(present) else 0.0


def _coded(name: str, cells: pd.Series, levels: dict[Any, int]) -> Array:
    """Return the numbers of levels, -1 for one that is not among them and NaN for a missing cell."""
    missing = cells.isna().to_numpy()
    try:
        codes = [np.nan if gone else levels.get(cell, -1) for cell, gone in zip(cells, missing, strict=True)]
    except TypeError as error:
        raise ValueError(f"column {name!r} holds cells that are no categories ({error}); recode them.") from error
    return np.array(codes, dtype=np.float64)
