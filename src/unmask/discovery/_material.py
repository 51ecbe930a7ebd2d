"""What a study starts from: dissimilarities, what is known, and an external table, with the same objects in each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..checking import (
    MissingDissimilarityWarning,
    align_columns,
    align_rows,
    as_frame,
    check_dissimilarities,
    is_pandas,
    labels_of,
    numbers,
    quote,
)
from ..dissimilarities import Metric, compare, float_type
from ..estimators import some_objects
from ..kernels import Workers, resolve_threads
from ..problem import feature_type
from ._data import ComparedFeatures, Data, SquareTable, is_many, large_file
from ._records import read_only
from ._values import plain, require_text

WRITABLE = "use text, whole numbers or numbers."


@dataclass(frozen=True)
class Material:
    """What a study begins with: tables with one row per object, in the same order.

    Attributes
    ----------
    data : Data
        What the maps are made from: a table of dissimilarities or, of many objects, their features or a file.
    dissimilarities : DataFrame
        The square table, NaN where missing; not of more than 20,000 objects that are kept by their features.
    known : DataFrame
        What is known from the start; without columns if nothing is.
    table : DataFrame
        External columns, not known to the fits; without columns if none were given.
    weights : DataFrame or None
        Weights of the pairs.
    known_types : dict
        Types that were declared for columns of `known`.
    pictures : dict
        Pictures of objects by their label, as the bytes of a PNG, JPEG, GIF or WebP file.
    """

    data: Data
    known: pd.DataFrame
    table: pd.DataFrame
    weights: pd.DataFrame | None = None
    known_types: dict[str, Any] = field(default_factory=dict)
    pictures: dict[Any, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("known", "table", "weights"):
            table = getattr(self, name)
            object.__setattr__(self, name, None if table is None else read_only(table))

    @property
    def objects(self) -> pd.Index:
        """Labels of the objects."""
        return self.data.objects

    @property
    def dissimilarities(self) -> pd.DataFrame:
        """The square table of dissimilarities."""
        return self.data.square()

    def among(self, positions: Any) -> pd.DataFrame:
        """Return the square table of dissimilarities among some objects."""
        return self.data.among(np.asarray(positions))


def read_material(
    dissimilarities: Any,
    known: Any,
    table: Any,
    weights: Any,
    known_types: Any,
    transformer: Any = None,
) -> Material:
    """Check the tables of a study and bring them into the order of the dissimilarities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingDissimilarityWarning)  # every fit says so
        data, labels = _read_data(dissimilarities, transformer)
    features = read_columns(known, labels, data.objects, "known")
    return Material(
        data,
        features,
        read_columns(table, labels, data.objects, "table"),
        _read_weights(weights, labels, data.objects),
        read_types(known_types, features),
    )


def _read_data(given: Any, transformer: Any) -> tuple[Data, pd.Index | None]:
    """Return what maps are made from, and the labels by which other tables are aligned, if there are any."""
    if transformer is not None and is_many(transformer, given):
        return _read_features(given, transformer)
    in_file = large_file(given) if transformer is None else None
    data = given if in_file is None else in_file.fitted
    some = None if in_file is None else some_objects  # a fit checks what it reads
    with Workers(resolve_threads(None)) as workers:
        values, labels = (data, None) if transformer is None else compare(transformer, data)
        checked = check_dissimilarities(values, workers=workers, among=some)
    if in_file is not None:
        return in_file, None
    labels = checked.labels if labels is None else labels
    objects = pd.RangeIndex(checked.n) if labels is None else _plain_labels(labels)
    return SquareTable(pd.DataFrame(np.array(checked.array_for("a study")), index=objects, columns=objects)), labels


def _read_features(given: Any, metric: Metric) -> tuple[Data, pd.Index | None]:
    """Return the features of many objects."""
    labels = labels_of(given)
    objects = pd.RangeIndex(len(given)) if labels is None else _plain_labels(labels)
    features = read_columns(given, None, objects, "features")
    return ComparedFeatures(features, metric.metric, metric.metric_params or {}, float_type(given) == "float32"), labels


def _plain_labels(labels: pd.Index) -> pd.Index:
    if labels.nlevels > 1:
        raise ValueError(
            "dissimilarities has labels of several levels; give every object one label, for example by "
            "index.map('/'.join)."
        )
    if labels.isna().any():
        raise ValueError("dissimilarities has a missing label; give every object a label.")
    cells = [plain(label, "a label of dissimilarities", WRITABLE) for label in labels]
    name = None if labels.name is None else require_text(str(labels.name), "the name of the labels")
    index: pd.Index = pd.Index(cells, name=name, tupleize_cols=False)
    return index


def _read_weights(weights: Any, labels: pd.Index | None, objects: pd.Index) -> pd.DataFrame | None:
    if weights is None:
        return None
    if isinstance(weights, str):
        raise ValueError(f"weights={weights!r} is a scheme, which belongs to a fit: pass it to fit(weights=…).")
    aligned = align_columns(align_rows(weights, labels, "weights"), labels, "weights")
    values = numbers(aligned, "weights").astype(np.float64)
    if values.shape != (len(objects), len(objects)):
        raise ValueError(
            f"weights has shape {values.shape} but there are {len(objects)} objects; pass a square table, one row and "
            "one column per object."
        )
    return pd.DataFrame(values, index=objects, columns=objects)


def read_types(known_types: Any, known: pd.DataFrame) -> dict[str, Any]:
    """Check the declared types of known columns, and return them in a form that can be saved."""
    if known_types is None:
        return {}
    if not isinstance(known_types, Mapping):
        raise ValueError(f"known_types={known_types!r} must be a dictionary from known columns to types.")
    types = {str(name): plain(kind, f"known_types[{name!r}]", "declare a type.") for name, kind in known_types.items()}
    strangers = [name for name in types if name not in known.columns]
    if strangers:
        raise ValueError(
            f"known_types names {quote(strangers)}, which is not a known column; the columns are "
            f"{quote(known.columns) or 'none'}."
        )
    for name, kind in types.items():
        feature_type(kind, name)
    return types


# ---- columns


def read_columns(data: Any, labels: pd.Index | None, objects: pd.Index, what: str) -> pd.DataFrame:
    """Return any table as a DataFrame indexed by the objects, with text as column names and columns fit to be saved."""
    if data is None:
        return pd.DataFrame(index=objects)
    frame = _as_frame(align_rows(data, labels, what), what)
    if len(frame) != len(objects):
        raise ValueError(f"{what} has {len(frame)} rows but there are {len(objects)} objects; pass one row per object.")
    names = [require_text(str(name), f"{what}: a column name") for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{what} has duplicate column names: {quote(repeated)}; give every column a name of its own.")
    columns = {name: tidy(frame.iloc[:, at], objects, name, what) for at, name in enumerate(names)}
    return pd.DataFrame(columns, index=objects)


def _as_frame(data: Any, what: str) -> pd.DataFrame:
    frame: pd.DataFrame
    data = as_frame(data)
    if is_pandas(data):
        frame = data if hasattr(data, "columns") else data.to_frame(f"{what}0" if data.name is None else data.name)
    elif isinstance(data, Mapping):
        frame = pd.DataFrame(data)
    else:
        array = np.asarray(data)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"{what} has {array.ndim} dimensions; pass one row per object and one column per feature.")
        frame = pd.DataFrame(array, columns=[f"{what}{c}" for c in range(array.shape[1])])
    if frame.columns.nlevels > 1:
        raise ValueError(f"{what} has {frame.columns.nlevels} rows of column names; join them into one.")
    return frame


def tidy(column: pd.Series[Any], objects: pd.Index, name: str, what: str) -> pd.Series[Any]:
    """Return a column as one of the types that a study can save: numbers, booleans, categories, text or mixed cells."""
    from pandas.api import types

    kind = column.dtype
    if types.is_datetime64_any_dtype(kind) or types.is_timedelta64_dtype(kind) or types.is_complex_dtype(kind):
        raise ValueError(
            f"{what}: column {name!r} holds {'complex numbers' if types.is_complex_dtype(kind) else 'dates or times'}; "
            "convert them to numbers, such as days since the first."
        )
    if isinstance(kind, pd.CategoricalDtype):
        for level in kind.categories:
            plain(level, f"{what}: a category of {name!r}", WRITABLE)
        cells: Any = pd.Categorical(column.to_numpy(), dtype=kind)
    else:
        cells = _tidy_cells(column, name, what)
    # Or pandas would make its own type of text, which has another way to be missing.
    return pd.Series(cells, index=objects, name=name, dtype=object if cells.dtype == object else None)


def _tidy_cells(column: pd.Series[Any], name: str, what: str) -> Any:
    from pandas.api import types

    missing = column.isna().to_numpy()
    if types.is_bool_dtype(column.dtype) and not missing.any():
        return column.to_numpy(dtype=bool)
    if types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype):
        if types.is_integer_dtype(column.dtype) and not missing.any():
            return column.to_numpy(dtype=np.int64)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    cells = [
        None if gap else plain(cell, f"{what}: a cell of column {name!r}", WRITABLE)
        for cell, gap in zip(column.astype(object), missing, strict=True)
    ]
    present = [cell for cell in cells if cell is not None]
    if present and all(type(cell) in (int, float) for cell in present):
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    return np.array([*cells, None], dtype=object)[:-1]  # or numpy would unpack tuples
