"""Checking dissimilarities: one sentence for each thing that can be wrong with a square table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from .._typing import Array, IntArray
from ..kernels import STRIP, ArraySource, Source, Sums, Survey, Workers, rectangle, square_array
from ._exceptions import MapWarning, MissingDissimilarityWarning, WrongPair, warn_user
from ._forms import is_source, refuse_source, square_table
from ._parameters import require_real
from ._tables import align_columns, as_frame, is_pandas, name_object

if TYPE_CHECKING:
    import pandas as pd

MIN_OBJECTS = 3
_NUMPY_NUMBERS = {type(np.dtype(kind)) for kind in "?bhilqBHILQefdg"}
# A memory map that would have to be copied into more bytes than these is refused: it was made to avoid that.
LARGE_COPY = 2**30


@dataclass(frozen=True)
class Dissimilarities:
    """A checked square table: symmetric up to rounding, non-negative, zero diagonal, NaN where missing."""

    source: Source
    labels: pd.Index | None
    missing: int  # pairs
    largest: float
    sums: Sums | None = None  # if all pairs were looked at

    @property
    def n(self) -> int:
        return self.source.n

    def array_for(self, purpose: str) -> Array:
        """Return the square array for a purpose that needs all of it at once; the error names it if there is none."""
        return square_array(self.source, purpose)

    def in_full(self, purpose: str, instead: str) -> Dissimilarities:
        """Return the same with the square array as their source; the error names the purpose and a way out."""
        return replace(self, source=ArraySource(square_array(self.source, purpose, instead)))

    def note_objects(self, estimator: Any) -> None:
        """Set what scikit-learn asks of an estimator that was fitted to these: the number and names of the columns."""
        estimator.n_features_in_ = self.n
        vars(estimator).pop("feature_names_in_", None)
        if self.labels is not None and {*map(type, self.labels)} <= {str, np.str_}:
            estimator.feature_names_in_ = np.asarray(self.labels, dtype=object)


def rounding_level(values: Any, largest: float) -> float:
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
    data: Any,
    *,
    workers: Workers,
    complete_for: str | None = None,
    warn: bool = True,
    among: Callable[[Source], IntArray] | None = None,
) -> Dissimilarities:
    """Check dissimilarities in any form; the array behind a square table is not copied when its type allows.

    A :class:`Source` is surveyed part by part and handed on as it is. Missing dissimilarities are an error if
    ``complete_for`` says what needs them all; ``warn=False`` leaves it to the caller to speak of them. With ``among``
    only the pairs among the objects that it picks are looked at.
    """
    sparse = sp.issparse(data)
    data, labels = square_table(data)
    source: Any
    if is_source(data):
        require_objects(data.n)
        given = source = data
    else:
        values = _square_array(data)
        # A Fortran array of a symmetric matrix is a C-contiguous one already, seen from the other side.
        turned = values.flags.f_contiguous and not values.flags.c_contiguous
        given, source = ArraySource(values), ArraySource(values.T if turned else np.ascontiguousarray(values))
    seen, names = source, labels
    if among is not None:
        at = among(source)
        given = seen = ArraySource(np.ascontiguousarray(rectangle(given, at, at)))
    survey = seen.survey(workers)
    if among is None:
        given, at = given.suspects()
    if at is not None:
        import pandas as pd

        names = pd.Index(at) if labels is None else labels[at]
    _require_sound(given, survey, names, sparse, seen.n * (seen.n - 1) // 2)
    if survey.missing and complete_for is not None:
        instead = "solver='lbfgs'" if complete_for.startswith("solver=") else "ConditionalMDS"
        raise ValueError(
            f"{2 * survey.missing} cells of dissimilarities are missing (NaN, or absent from a sparse matrix) and "
            f"{complete_for} needs all of them; use {instead}, or fill them. A graph of neighbours goes into "
            "ConditionalIsomap."
        )
    if survey.missing and warn and source.references is None:  # which were chosen
        warn_user(
            f"{survey.missing} of {source.n * (source.n - 1) // 2} pairs have no dissimilarity (NaN); "
            "they are treated as missing (weight 0).",
            MissingDissimilarityWarning,
        )
    sums = survey.sums if among is None else None
    return Dissimilarities(source, labels, survey.missing, survey.largest, sums)


def _square_array(data: Any) -> Array:
    """Return a square table as an array; raise where a large memory map would have to be copied."""
    if isinstance(data, np.memmap) and 8 * data.size > LARGE_COPY:
        why = ""
        if data.dtype not in (np.float32, np.float64):
            why = f"it holds {data.dtype} rather than float64 or float32, and would be copied to convert it"
        elif not (data.flags.c_contiguous or data.flags.f_contiguous):
            why = "it is a part of a larger one, and would be copied to bring its rows together"
        if why:
            raise ValueError(f"dissimilarities is a memory map: {why}; pass numpy.array(X) if it fits into memory.")
    values = numbers(data, "dissimilarities")
    n, columns = values.shape
    require_objects(n)
    if n != columns:
        # scikit-learn's checks expect to hear of such cells even here.
        gaps = "" if np.isfinite(values.sum()) else " and NaN or infinite cells"
        raise ValueError(
            f"dissimilarities has shape ({n}, {columns}){gaps} but must be square, one row and one column per object; "
            "for a table of features choose a metric such as metric='euclidean'."
        )
    return values


def warn_of_square_features(data: Any) -> None:
    """Warn of a table of features that is almost surely one of dissimilarities, and raise on a source of them."""
    refuse_source(data, "use metric='precomputed', or pass features to compare")
    shape = (len(data), *np.shape(data[0])) if isinstance(data, list) and data else getattr(data, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1] or (is_pandas(data) and list(data.index) != list(data.columns)):
        return
    values = data if sp.issparse(data) else np.asarray(data)
    if values.dtype.kind not in "iuf":
        return
    largest = float(abs(values).max())
    level = rounding_level(values, largest)
    if largest > 0 and values.min() >= 0 and values.diagonal().max() <= level and abs(values - values.T).max() <= level:
        warn_user(
            f"X is a symmetric table of {shape[0]} rows with zeros on its diagonal, as dissimilarities are, but is "
            "taken for features, whose rows are compared. If it holds dissimilarities, use metric='precomputed'.",
            MapWarning,
        )


def new_dissimilarities(
    data: Any, labels: pd.Index | None, n_fitted: int, reader: str, check: Callable[[Array], None]
) -> Array:
    """Return the dissimilarities of new objects to the fitted ones, columns matched by label and cells checked."""
    values = numbers(align_columns(data, labels, "the header of the new dissimilarities"), "dissimilarities")
    check(values)
    if values.shape[1] != n_fitted:
        raise ValueError(
            f"X has {values.shape[1]} features, but {reader} is expecting {n_fitted} features as input: "
            "one dissimilarity to each fitted object."
        )
    return values


def numbers(data: Any, what: str) -> Array:
    """Return a table as a float array, NaN where a cell is missing or masked; copied only if it must be."""
    data = as_frame(data)
    if is_pandas(data) and hasattr(data, "columns"):
        if not {*map(type, data.dtypes)} <= _NUMPY_NUMBERS:
            _require_numbers([(name, data.iloc[:, at]) for at, name in enumerate(data.columns)], what)
            # pandas' own types and columns that could hold anything, with pd.NA
            data = np.column_stack([column.to_numpy(dtype=np.float64, na_value=np.nan) for _, column in data.items()])
    else:
        array = np.asarray(data)
        require_real(array, what)
        if array.dtype.kind in "OUS" and array.ndim == 2:
            _require_numbers([(at, array[:, at]) for at in range(array.shape[1])], what)
    if isinstance(data, np.ma.MaskedArray):
        data = np.where(np.ma.getmaskarray(data), np.nan, np.ma.getdata(data))
    values: Array = check_array(data, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name=what)
    return values


def _require_numbers(columns: list[tuple[Any, Any]], what: str) -> None:
    """Raise naming the first column that does not hold numbers, and the first cell in it that is not one."""
    for name, column in columns:
        require_real(column, f"{what}: column {str(name)!r}")
        kind = getattr(column.dtype, "kind", "O")
        if kind in "biufc":
            continue
        cells = np.asarray(column, dtype=object)
        texts = [cell for cell in cells if isinstance(cell, str | bytes)]
        if kind in "Mm" or texts:
            held, cell = ("dates or times", np.asarray(column)[0]) if kind in "Mm" else ("text", texts[0])
            raise ValueError(
                f"{what}: column {str(name)!r} holds {held} ({cell!r}); every cell must be a number or NaN. "
                "Convert it; if the first column of a file holds labels, read it as the index."
            )


def require_objects(n: int) -> None:
    """Raise where there are too few objects for any map."""
    if n < MIN_OBJECTS:
        raise ValueError(f"there are only n_samples={n} objects; a map needs at least {MIN_OBJECTS}.")


def _require_sound(source: Source, survey: Survey, labels: pd.Index | None, sparse: bool, pairs: int) -> None:
    """Raise if an entry is infinite, negative or asymmetric, the diagonal is not 0, or no dissimilarity is positive."""
    if survey.infinite or survey.smallest < 0:
        wrong: Any = np.isinf if survey.infinite else partial(np.greater, 0.0)
        rule = "replace it, or use NaN for missing." if survey.infinite else f"it must be at least 0. {_SIMILARITIES}"
        i, j, value, other = _first_pair(source, lambda row, column: wrong(row) | wrong(column))
        i, j, value = (i, j, value) if wrong(value) else (j, i, other)
        start = "Negative values in data: " if value < 0 else ""  # as scikit-learn's checks expect it
        pair = f"the pair ({name_object(labels, i)}, {name_object(labels, j)})"
        raise WrongPair(f"{start}dissimilarities has {value:g} for {pair}; {rule}", (i, j))
    level = rounding_level(source, survey.largest)
    for first in range(0, source.n, STRIP):
        tile = slice(first, min(first + STRIP, source.n))
        diagonal = np.nan_to_num(np.diagonal(source.tile(tile, tile)), nan=0.0)
        if np.any(np.abs(diagonal) > level):
            at = int(np.argmax(np.abs(diagonal) > level))
            raise WrongPair(
                f"dissimilarities has {diagonal[at]:g} on the diagonal, for {name_object(labels, first + at)}; "
                f"an object's dissimilarity to itself must be 0. {_SIMILARITIES}",
                (first + at, first + at),
            )
    if survey.one_sided or survey.asymmetry > level:
        i, j, here, there = _first_pair(
            source, lambda row, column: (np.abs(row - column) > level) | (np.isnan(row) != np.isnan(column))
        )
        raise WrongPair(_asymmetry(here, there, name_object(labels, i), name_object(labels, j), source, sparse), (i, j))
    if survey.missing == pairs:
        raise ValueError(f"all {survey.missing} pairs are missing (NaN); there is nothing to map.")
    if survey.largest == 0:
        raise ValueError("all dissimilarities are zero; there is nothing to map.")
    require_range(survey.largest)


_SIMILARITIES = (
    "Are these similarities? similarity_to_dissimilarity(S, 'correlation'), or similarity='correlation' when a file is "
    "read, turns those of this kind into dissimilarities."
)


def _first_pair(source: Source, wrong: Callable[[Array, Array], Any]) -> tuple[int, int, float, float]:
    """Return the first pair of objects for which ``wrong`` holds, and its dissimilarities in both directions."""
    for i in range(source.n):
        row = source.tile(slice(i, i + 1), slice(i + 1, source.n))[0]
        column = source.tile(slice(i + 1, source.n), slice(i, i + 1))[:, 0]
        flags = wrong(row, column)
        if flags.any():
            at = int(np.argmax(flags))
            return i, i + 1 + at, float(row[at]), float(column[at])
    raise AssertionError("the survey found what the second look did not")  # pragma: no cover


def _asymmetry(here: float, there: float, one: str, other: str, source: Source, sparse: bool) -> str:
    """Return what is wrong with the dissimilarities of a pair in its two directions, and the way out."""
    one_missing = np.isnan(here) != np.isnan(there)
    if sparse and one_missing:
        value, start, end = (there, other, one) if np.isnan(here) else (here, one, other)
        return (
            f"dissimilarities has {value:g} from {start} to {end} but none from {end} to {start}, as a graph of "
            "neighbours has; ConditionalIsomap(metric='precomputed') takes a graph in which an edge is stored one way. "
            "Otherwise add the absent entries, for example by D.maximum(D.T)."
        )
    way_out = "fill in the missing one, or make both missing" if one_missing else f"correct it, or {source.average}"
    return f"dissimilarities is not symmetric: {here:g} and {there:g} for the pair ({one}, {other}); {way_out}."
