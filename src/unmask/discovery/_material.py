"""The tables a study starts from, with the same objects in each: dissimilarities, known features, external columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..checking import (
    MissingDissimilarityWarning,
    align_columns,
    align_rows,
    as_frame,
    check_dissimilarities,
    find_labels,
    is_pandas,
    labels_of,
    numbers,
    quote,
)
from ..dissimilarities import compare, float_type
from ..estimators import some_objects
from ..kernels import Workers, resolve_threads
from ..problem import feature_type
from ._data import ComparedFeatures, Data, SquareTable, is_many, large_file, table_among
from ._values import object_array, plain, read_only, require_text

WRITABLE = "use text, whole numbers or numbers."
# A thumbnail has some kilobytes.
MOST_BYTES = 10_000_000
# The first bytes of a picture. SVG is not among them: it may hold a program.
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


@dataclass(frozen=True)
class Material:
    """The tables a study began with: one row per object, in the same order.

    Attributes
    ----------
    data : Data
        A table of dissimilarities; for many objects their features, or a file.
    dissimilarities : DataFrame
        The square table, NaN where missing; not available for more than 20,000 objects.
    known : DataFrame
        Features that are known from the start; without columns if there are none.
    table : DataFrame
        External columns, not known to the fits.
    weights : DataFrame or None
        Weights of the pairs.
    known_types : dict
        Declared types of columns of `known`.
    pictures : dict
        Pictures by label, as the bytes of a PNG, JPEG, GIF or WebP file.
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
        return table_among(self.data)

    def among(self, positions: Any) -> pd.DataFrame:
        """Return the square table of dissimilarities among some objects."""
        return table_among(self.data, np.asarray(positions))


def read_material(
    dissimilarities: Any, known: Any, table: Any, weights: Any, known_types: Any, pictures: Any, transformer: Any
) -> Material:
    """Check the tables of a study and bring them into the order of the dissimilarities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingDissimilarityWarning)  # every fit says so
        data, labels = _read_data(dissimilarities, transformer)
    objects = data.objects
    features = read_columns(known, labels, objects, "known")
    return Material(
        data,
        features,
        read_columns(table, labels, objects, "table"),
        _read_weights(weights, labels, objects),
        read_types(known_types, features),
        _read_pictures(pictures, objects),
    )


def _read_data(given: Any, transformer: Any) -> tuple[Data, pd.Index | None]:
    """Return the dissimilarities or their source, and the labels by which other tables are aligned, if any."""
    if transformer is not None and is_many(transformer, given):
        labels = labels_of(given)
        objects = pd.RangeIndex(len(given)) if labels is None else _plain_labels(labels)
        features, single = read_columns(given, None, objects, "features"), float_type(given) == "float32"
        return ComparedFeatures(features, transformer.metric, transformer.metric_params or {}, single), labels
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
    unknown_columns = [name for name in types if name not in known.columns]
    if unknown_columns:
        raise ValueError(
            f"known_types names {quote(unknown_columns)}, which is not a known column; the columns are "
            f"{quote(known.columns) or 'none'}."
        )
    for name, kind in types.items():
        feature_type(kind, name)
    return types


# ---- labels and pictures


def own_labels(labels: Any, objects: pd.Index, what: str) -> list[Any]:
    """Return labels as the objects have them: text may stand for whole numbers, as in files."""
    labels = list(labels)
    at = find_labels(objects, pd.Index(labels, dtype=object, tupleize_cols=False))
    unknown_labels = [label for label, place in zip(labels, at, strict=True) if place < 0]
    if unknown_labels:
        raise ValueError(f"{what} names {quote(unknown_labels)}, which are not among the objects; correct the labels.")
    return [objects[place] for place in at]


def _read_pictures(pictures: Any, objects: pd.Index) -> dict[Any, bytes]:
    """Return the bytes of pictures by the label of the object, in the order of the objects."""
    if pictures is None:
        return {}
    if not isinstance(pictures, Mapping):
        raise ValueError(f"pictures={type(pictures).__name__} must be a dictionary from labels to bytes or paths.")
    labels = own_labels(pictures, objects, "pictures")
    if len(set(labels)) < len(labels):
        twice = [label for label in objects if labels.count(label) > 1]
        raise ValueError(f"pictures has two for {quote(twice)}; give one for each object.")
    found = {label: _read_picture(given, label) for label, given in zip(labels, pictures.values(), strict=True)}
    return {label: found[label] for label in objects if label in found}


def _read_picture(given: Any, label: Any) -> bytes:
    if isinstance(given, str | PathLike):
        try:
            with Path(fspath(given)).open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ValueError(f"pictures[{label!r}]: {fspath(given)} cannot be read ({reason}).") from error
    elif isinstance(given, bytes | bytearray | memoryview):
        data = bytes(given)
    else:
        raise ValueError(f"pictures[{label!r}] is of type {type(given).__name__}; give bytes, or the path of a file.")
    if len(data) > MOST_BYTES:
        raise ValueError(f"pictures[{label!r}] has more than {MOST_BYTES:,} bytes; make it smaller.")
    if picture_type(data) is None:
        raise ValueError(f"pictures[{label!r}] is no PNG, JPEG, GIF or WebP; convert it to one of them.")
    return data


def picture_type(data: bytes) -> str | None:
    """Return "png", "jpg", "gif" or "webp" by the first bytes of a picture; None if it is something else."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    return next((suffix for magic, suffix in _MAGIC if data.startswith(magic)), None)


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

    kind, missing = column.dtype, column.isna().to_numpy()
    if types.is_datetime64_any_dtype(kind) or types.is_timedelta64_dtype(kind) or types.is_complex_dtype(kind):
        raise ValueError(
            f"{what}: column {name!r} holds {'complex numbers' if types.is_complex_dtype(kind) else 'dates or times'}; "
            "convert them to numbers, such as days since the first."
        )
    cells: Any
    if isinstance(kind, pd.CategoricalDtype):
        for level in kind.categories:
            plain(level, f"{what}: a category of {name!r}", WRITABLE)
        cells = pd.Categorical(column.to_numpy(), dtype=kind)
    elif types.is_bool_dtype(kind) and not missing.any():
        cells = column.to_numpy(dtype=bool)
    elif types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind):
        whole = types.is_integer_dtype(kind) and not missing.any()
        cells = column.to_numpy(dtype=np.int64) if whole else column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        listed = [
            None if gap else plain(cell, f"{what}: a cell of column {name!r}", WRITABLE)
            for cell, gap in zip(column.astype(object), missing, strict=True)
        ]
        numeric = {type(cell) for cell in listed} - {type(None)}
        if numeric and numeric <= {int, float}:
            cells = np.array([np.nan if cell is None else cell for cell in listed], dtype=np.float64)
        else:
            cells = object_array(listed)
    # Or pandas would make its own type of text, which has another way to be missing.
    return pd.Series(cells, index=objects, name=name, dtype=object if cells.dtype == object else None)
