"""What a family of metrics is, and the reader that checks its data and names objects and columns in messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from ..._typing import Array, IntArray
from ...checking import is_pandas, is_unlabelled, labels_of, name_object, quote, refuse_source, require_features

if TYPE_CHECKING:
    import pandas as pd

FLOATS = [np.float64, np.float32]


def count(objects: Any) -> int:
    """Return the number of objects; sparse matrices have no length."""
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def take(objects: Any, which: slice | IntArray) -> Any:
    """Return some objects, by a slice or by their positions; sequences of any length are in a list."""
    if isinstance(objects, list) and not isinstance(which, slice):
        return [objects[at] for at in which]
    return objects[which]


@dataclass(frozen=True)
class Reader:
    """The data of one call of ``fit`` (``new=False``) or ``transform``, checked as scikit-learn does."""

    estimator: Any
    X: Any
    new: bool

    def __post_init__(self) -> None:
        refuse_source(self.X, "pass features to compare")
        require_features(self.X)

    @property
    def labels(self) -> pd.Index | None:
        return labels_of(self.X)

    def table(self, **options: Any) -> Any:
        """Return a checked table of numbers; options are those of :func:`sklearn.utils.validation.validate_data`."""
        least = 1 if self.new else 2
        # In one order: sums over columns round by the order in memory, and DataFrames come in either.
        options = {"dtype": FLOATS, "order": "C", "ensure_min_samples": least, **options}
        try:
            return validate_data(self.estimator, self.X, reset=not self.new, **options)
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            raise ValueError(f"{error}: this metric needs numbers; metric='gower' takes mixed tables.") from error

    def note_columns(self) -> None:
        """Remember, or compare with those of the fit, the number and names of the columns, and nothing else."""
        validate_data(self.estimator, self.X, reset=not self.new, skip_check_array=True)

    def object(self, row: int) -> str:
        """Name an object for a message."""
        return ("new " if self.new else "") + name_object(self.labels, int(row))

    def column(self, position: int) -> str:
        """Name a column for a message."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return f"column {position if names is None else repr(str(names[position]))}"

    def by_column(self, given: Any, what: str) -> Any:
        """Return a Series in the order of the columns, if these have names; everything else as it is."""
        names = getattr(self.estimator, "feature_names_in_", None)
        if names is None or not is_pandas(given) or is_unlabelled(given.index):
            return given
        if sorted(map(str, given.index)) != sorted(map(str, names)):
            raise ValueError(f"{what} names {quote(given.index)}, but X has the columns {quote(names)}.")
        return given.loc[list(names)]

    def cell(self, row: int, position: int) -> str:
        """Name a cell for a message."""
        return f"{self.object(row)}, {self.column(position)}"

    def first_cell(self, values: Array, wrong: Any) -> str:
        """Name the first of the cells marked as wrong, with its value."""
        row, column = np.argwhere(wrong)[0]
        return f"{float(values[row, column]):g} ({self.cell(row, column)})"


class Family:
    """Base of the families: ``fit`` and ``read`` bring objects into a form that ``between`` compares.

    An object of a family belongs to one fit and keeps what was learnt from all fitted objects (ranges, variances).
    ``between`` runs in several threads at once, and each pair's value depends on that pair only.
    """

    parameters: tuple[str, ...] = ()
    releases_lock: bool = True  # whether several tiles can be compared at once
    threads: int = 1  # for a family that shares out a tile itself
    may_miss: bool = False  # whether NaN says that two objects have nothing to compare, rather than an error
    allow_nan: bool = False
    sparse: bool = False
    positive_only: bool = False
    text: bool = False
    largest: float = 0.0  # among the features, where a sum of squares can become too large
    tile: int = 512  # 512 x 512 pairs take 2 MB, which stay in the cache while they are mirrored
    way_out: str = "leave one of them out, or choose another metric"

    def __init__(self, name: str, params: Mapping[str, Any]) -> None:
        self.name = name
        self.params = dict(params)
        self.check_params()

    def check_params(self) -> None:
        """Raise on parameters that the metric does not take."""
        unknown = [key for key in self.params if key not in self.parameters]
        if unknown:
            takes = f"it takes {quote(self.parameters)}" if self.parameters else "it takes none"
            raise ValueError(f"metric_params has {quote(unknown)}, which metric={self.name!r} does not take; {takes}.")

    def fit(self, reader: Reader) -> Any:
        """Return the fitted objects after learning from all of them; most families have nothing to learn."""
        return self.read(reader)

    def read(self, reader: Reader) -> Any:
        """Return objects, checked."""
        raise NotImplementedError

    def between(self, rows: Any, columns: Any) -> Array:
        """Return the dissimilarities of some objects to others, (n_rows, n_columns)."""
        raise NotImplementedError

    def coordinates(self, objects: Any) -> tuple[str, Array] | None:
        """Return a formula of compiled code and the rows to which it does what ``between`` does to the objects.

        None where there is no such formula.
        """
        return None

    def vector(self, key: str, length: int, least: float, reader: Reader) -> Array:
        """Return a parameter that has one number per column, checked; a Series with names is matched by name."""
        given = reader.by_column(self.params[key], f"metric_params[{key!r}]")
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"metric_params[{key!r}] must hold one number for each column of X: {error}.") from error
        if values.shape != (length,):
            raise ValueError(
                f"metric_params[{key!r}] has shape {values.shape} but X has {length} columns; pass one number for each."
            )
        if not np.all(np.isfinite(values) & (values >= least)):
            wrong = values[~(np.isfinite(values) & (values >= least))][0]
            rule = "finite" if least == -np.inf else f"finite and at least {least:g}"
            raise ValueError(f"metric_params[{key!r}] holds {wrong:g}; each number must be {rule}.")
        return values
