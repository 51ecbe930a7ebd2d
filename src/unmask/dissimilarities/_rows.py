"""The data of one call of ``fit`` or ``transform`` of :class:`Metric`, checked and named for messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._typing import Array
from ..checking import (
    computed,
    is_pandas,
    is_unlabelled,
    labelled_frame,
    labels_of,
    name_object,
    quote,
    refuse_source,
    require_features,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Rows:
    """Objects to compare: those of a fit, or new ones."""

    estimator: Any
    X: Any
    new: bool

    def __post_init__(self) -> None:
        self.X = labelled_frame(computed(self.X))
        refuse_source(self.X, "pass features to compare")
        require_features(self.X)

    @property
    def labels(self) -> pd.Index | None:
        return labels_of(self.X)

    @property
    def least(self) -> int:
        """The smallest number of objects allowed."""
        return 1 if self.new else 2

    def table(self, **options: Any) -> Any:
        """Return X as a table of numbers, with the options of :func:`sklearn.utils.validation.validate_data`."""
        # Always in C order, because the rounding of sums over columns depends on the order in memory.
        options = {"dtype": [np.float64, np.float32], "order": "C", "ensure_min_samples": self.least, **options}
        try:
            return validate_data(self.estimator, self.X, reset=not self.new, **options)
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            raise ValueError(f"{error}: this metric needs numbers; metric='gower' takes mixed tables.") from error

    def object(self, row: int) -> str:
        """Name an object for a message."""
        return ("new " if self.new else "") + name_object(self.labels, int(row))

    def column(self, position: int) -> str:
        """Name a column for a message."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return f"column {position if names is None else repr(str(names[position]))}"

    def refuse_cells(self, values: Array, wrong: Any, why: str, before: str = "") -> None:
        """Raise if cells are marked as wrong, naming the first."""
        for row, column in np.argwhere(wrong)[:1]:
            cell = f"{float(values[row, column]):g} ({self.object(row)}, {self.column(column)})"
            raise ValueError(f"{before}X holds {cell}, {why}")

    def require_rows(self, sound: Any, what: str) -> None:
        """Raise unless all objects are marked as sound, naming the first."""
        if not np.all(sound):
            raise ValueError(
                f"metric={self.estimator.metric!r} is not defined for {self.object(int(np.argmin(sound)))} of X: it "
                f"{what} ({int(np.sum(~sound))} such in all); leave it out, or use metric='euclidean'."
            )

    def amounts(self, values: Array) -> Array:
        """Return numbers after checking that none is below 0."""
        why = f"but metric={self.estimator.metric!r} compares amounts; use metric='euclidean' for values of both signs."
        self.refuse_cells(values, values < 0, why, "Negative values in data: ")
        return values

    def shares(self, values: Array) -> Array:
        """Return amounts, in double precision, after checking that each object has some."""
        self.require_rows(self.amounts(values).any(axis=1), "is all zeros, which cannot be shares")
        return values.astype(np.float64)

    def per_column(self, key: str, given: Any, length: int, least: float = 0.0) -> Array:
        """Return a parameter with one number per column; a Series is matched with the columns by name."""
        what, names = f"metric_params[{key!r}]", getattr(self.estimator, "feature_names_in_", None)
        if names is not None and is_pandas(given) and not is_unlabelled(given.index):
            if sorted(map(str, given.index)) != sorted(map(str, names)):
                raise ValueError(f"{what} names {quote(given.index)}, but X has the columns {quote(names)}.")
            given = given.loc[list(names)]
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{what} must hold one number for each column of X: {error}.") from error
        if values.shape != (length,):
            raise ValueError(f"{what} has shape {values.shape} but X has {length} columns; pass one number for each.")
        for wrong in values[~(np.isfinite(values) & (values >= least))][:1]:
            rule = "finite" if least == -np.inf else f"finite and at least {least:g}"
            raise ValueError(f"{what} holds {wrong:g}; each number must be {rule}.")
        return values
