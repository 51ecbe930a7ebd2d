"""Checking dissimilarities: everything that can be wrong with a square table, said in one sentence each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array

from .. import kernels
from .._typing import Array
from ..kernels import ArraySource, Source, Survey, Workers, square_array
from ._exceptions import MissingDissimilarityWarning, SquareFeaturesWarning, warn_user
from ._forms import square_table
from ._labels import align_columns, as_pandas, is_pandas, is_unlabelled, name_object, require_unique
from ._parameters import require_real

if TYPE_CHECKING:
    import pandas as pd

MIN_OBJECTS = 3


@dataclass(frozen=True)
class Dissimilarities:
    """A checked square table: symmetric up to rounding, non-negative, zero diagonal, NaN where missing."""

    source: Source
    labels: pd.Index | None
    missing: int  # pairs
    largest: float
    asymmetry: float = 0.0  # share of the sum of squares that averaging the two halves threw away

    @property
    def n(self) -> int:
        return self.source.n

    @property
    def values(self) -> Array:
        """The square array, for what needs the whole of it at once."""
        return square_array(self.source, "this")


def rounding_level(values: Array, largest: float) -> float:
    """Return the difference between two entries that rounding alone explains."""
    relative = 1e-5 if values.dtype == np.float32 else 1e-10
    return relative * largest


def require_range(largest: float, least: float = 1e-300, most: float = 1e300) -> None:
    """Raise where numbers of this size, or their squares where these are needed, are beyond floating point."""
    if not least <= largest <= most:
        raise ValueError(
            f"the largest dissimilarity is {largest:g}; it must be between {least:g} and {most:g}: "
            "multiply or divide all of them by one number."
        )


def check_dissimilarities(
    data: Any, *, symmetrize: str | None, workers: Workers, allow_missing: bool = True
) -> Dissimilarities:
    """Check dissimilarities in any form; the array behind a square table is not copied when its type allows."""
    data, labels = square_table(as_pandas(data))
    if labels is not None:
        require_unique_index(labels)
    elif is_pandas(data):
        data, labels = _square_frame(data)
    values = numbers(data, "dissimilarities")
    if not allow_missing:
        _require_complete(values)
    _require_square(values)
    asymmetry = 0.0
    if symmetrize == "mean":
        asymmetry = _skew_share(values)
        values = _mean_of_both_halves(values)
    contiguous = _contiguous(values)
    survey = kernels.fused().survey(ArraySource(contiguous), workers)
    _require_sound(values, survey, labels)
    if survey.missing:
        warn_user(
            f"{survey.missing} of {values.shape[0] * (values.shape[0] - 1) // 2} pairs have no dissimilarity (NaN); "
            "they are treated as missing (weight 0).",
            MissingDissimilarityWarning,
        )
    return Dissimilarities(ArraySource(contiguous), labels, survey.missing, survey.largest, asymmetry)


def warn_of_square_features(data: Any, values: Array) -> None:
    """Warn of a table of features that is almost surely one of dissimilarities: its rows would be compared."""
    if values.shape[0] != values.shape[1] or (is_pandas(data) and list(data.index) != list(data.columns)):
        return
    largest = float(np.abs(values).max())
    level = rounding_level(values, largest)
    symmetric = np.abs(values - values.T).max() <= level
    if largest > 0 and values.min() >= 0 and np.diagonal(values).max() <= level and symmetric:
        warn_user(
            f"X is a symmetric table of {len(values)} rows with zeros on its diagonal, as dissimilarities are, but is "
            "taken for features, whose rows are compared. If it holds dissimilarities, use metric='precomputed'.",
            SquareFeaturesWarning,
        )


def require_finite_distances(features: Array, distances: Array) -> None:
    """Raise if numbers among the features are so large that distances between their rows are none."""
    largest = float(np.abs(features).max())
    # Squares of anything below this are finite; whatever else a metric cannot tell is no question of size.
    if largest > 1e150 and not np.isfinite(distances).all():
        raise ValueError(
            f"X has {largest:g} among its features, too large for the distances between its rows to be finite numbers; "
            "divide the features by a common number."
        )


def numbers(data: Any, what: str) -> Array:
    """Return a table as a float array, NaN where a cell is missing or masked; copied only if it must be."""
    require_numbers(data, what)
    if isinstance(data, np.ma.MaskedArray):
        data = np.where(np.ma.getmaskarray(data), np.nan, np.ma.getdata(data))
    if is_pandas(data) and any(not isinstance(dtype, np.dtype) or dtype.kind == "O" for dtype in data.dtypes):
        # pandas' own types and columns that could hold anything, with pd.NA
        data = np.column_stack([column.to_numpy(dtype=np.float64, na_value=np.nan) for _, column in data.items()])
    values: Array = check_array(data, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name=what)
    return values


def _require_complete(values: Array) -> None:
    """Raise on a missing dissimilarity; a finite sum is the cheap proof that there is none."""
    missing = 0 if np.isfinite(values.sum()) else int(np.isnan(values).sum())
    if missing:
        raise ValueError(
            f"{missing} cells of dissimilarities are missing (NaN, or absent from a sparse matrix) and the closed "
            "form needs all of them; "
            "use ConditionalMDS, or fill them."
        )
    if np.isinf(values).any():
        raise ValueError("dissimilarities has infinite values (inf); replace them.")


def require_numbers(data: Any, what: str) -> None:
    """Raise naming the first column that holds text; plain arrays of numbers pass at once."""
    columns: list[tuple[Any, Any]]
    if is_pandas(data) and hasattr(data, "columns"):
        columns = [(name, data.iloc[:, position]) for position, name in enumerate(data.columns)]
    elif hasattr(data, "columns") and hasattr(data, "get_column"):
        columns = [(name, data.get_column(name).to_numpy()) for name in data.columns]  # polars
    else:
        array = np.asarray(data)
        require_real(array, what)
        if array.dtype.kind not in "OUS" or array.ndim != 2:
            return
        columns = [(index, array[:, index]) for index in range(array.shape[1])]
    for name, column in columns:
        require_real(column, f"{what}: column {str(name)!r}")
        for value, kind in _no_number_in(column):
            raise ValueError(
                f"{what}: column {str(name)!r} holds {kind} ({value!r}); every cell must be a number or NaN. "
                "Convert it; if the first column of a file holds labels, read it as the index."
            )


def _no_number_in(column: Any) -> list[tuple[Any, str]]:
    """Return the first cell that is no number and what it is; nothing for numeric columns."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "biufc":
        return []
    if kind in "Mm":
        return [(np.asarray(column)[0], "dates or times")]
    cells = np.asarray(column, dtype=object)
    return [(value, "text") for value in cells if isinstance(value, str | bytes)][:1]


def _square_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Index]:
    """Return a frame whose columns follow its index, and the labels."""
    if not hasattr(frame, "columns"):
        raise ValueError("dissimilarities is one column; pass a square table, one row and one column per object.")
    if frame.shape[0] != frame.shape[1]:
        return frame, frame.index  # refused right after, with the shape in the message
    if is_unlabelled(frame.index) and not is_unlabelled(frame.columns):
        return frame.set_axis(frame.columns, axis=0), require_unique_index(frame.columns)
    if is_unlabelled(frame.columns):
        return frame, require_unique_index(frame.index)
    return align_columns(frame, require_unique_index(frame.index), "the header"), frame.index


def require_unique_index(labels: pd.Index) -> pd.Index:
    """Return the labels if each occurs once."""
    require_unique(labels, "the table of dissimilarities")
    return labels


def _require_square(values: Array) -> None:
    n, columns = values.shape
    if n < MIN_OBJECTS:
        raise ValueError(f"there are only n_samples={n} objects; a map needs at least {MIN_OBJECTS}.")
    if n != columns:
        raise ValueError(
            f"dissimilarities has shape ({n}, {columns}) but must be square, one row and one column per object; "
            "for a table of features choose a metric such as metric='euclidean'."
        )


def _contiguous(values: Array) -> Array:
    """Return C-contiguous values; a Fortran array of a symmetric matrix is one already, seen from the other side."""
    if values.flags.f_contiguous and not values.flags.c_contiguous:
        return values.T
    return np.ascontiguousarray(values)


def _mean_of_both_halves(values: Array) -> Array:
    """Average the two dissimilarities of each pair; where one is missing the other stands alone."""
    mean = (values + values.T) / 2
    return np.where(np.isnan(mean), np.where(np.isnan(values), values.T, values), mean)


def _skew_share(values: Array) -> float:
    """Return the share of the sum of squares in the skew-symmetric part, of the pairs given both ways."""
    both = np.where(np.isfinite(values) & np.isfinite(values.T), values, 0.0).astype(np.float64)
    size = float(np.abs(both).max(initial=0.0))
    if size == 0.0:
        return 0.0
    both /= size
    return float(np.sum((both - both.T) ** 2) / 4 / np.sum(both**2))


def _require_sound(values: Array, survey: Survey, labels: pd.Index | None) -> None:
    """Raise on what no dissimilarity may be; where something is wrong, look again, slowly, for the first place."""
    if survey.infinite:
        raise ValueError(f"dissimilarities has {_first(values, np.isinf, labels)}; replace it, or use NaN for missing.")
    if survey.smallest < 0:
        found = _first(values, lambda row: row < 0, labels)
        raise ValueError(
            f"Negative values in data: dissimilarities has {found}; it must be at least 0. Are these similarities?"
        )
    level = rounding_level(values, survey.largest)
    diagonal = np.where(np.isnan(np.diagonal(values)), 0.0, np.diagonal(values))
    if np.any(np.abs(diagonal) > level):
        at = int(np.argmax(np.abs(diagonal) > level))
        raise ValueError(
            f"dissimilarities has {diagonal[at]:g} on the diagonal, for {name_object(labels, at)}; "
            "an object's dissimilarity to itself must be 0. Are these similarities?"
        )
    if survey.one_sided or survey.asymmetry > level:
        raise ValueError(_asymmetry(values, level, labels))
    n = len(values)
    if survey.missing == n * (n - 1) // 2:
        raise ValueError(f"all {survey.missing} pairs are missing (NaN); there is nothing to map.")
    if survey.largest == 0:
        raise ValueError("all dissimilarities are zero; there is nothing to map.")
    require_range(survey.largest)


def _first(values: Array, wrong: Any, labels: pd.Index | None) -> str:
    for i, row in enumerate(values):
        flags = wrong(row)
        flags[i] = False
        if flags.any():
            j = int(np.argmax(flags))
            return f"{row[j]:g} for the pair ({name_object(labels, i)}, {name_object(labels, j)})"
    raise AssertionError("the survey found what the second look did not")  # pragma: no cover


def _asymmetry(values: Array, level: float, labels: pd.Index | None) -> str:
    for i, row in enumerate(values):
        column = values[:, i]
        with np.errstate(invalid="ignore"):
            flags = (np.abs(row - column) > level) | (np.isnan(row) != np.isnan(column))
        flags[: i + 1] = False
        if flags.any():
            j = int(np.argmax(flags))
            return (
                f"dissimilarities is not symmetric: {row[j]:g} and {column[j]:g} for the pair "
                f"({name_object(labels, i)}, {name_object(labels, j)}); correct it, "
                "or pass symmetrize='mean' to average the two."
            )
    raise AssertionError("the survey found what the second look did not")  # pragma: no cover
