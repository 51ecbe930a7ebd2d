"""Reading objects that are sequences of numbers of any length."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array
from ._family import Reader


def read_sequences(reader: Reader, metric: str) -> list[Array]:
    """Return one float64 array per object, NaN where a value is missing.

    A table has its objects in rows. A list, a Series or a one-dimensional array of objects has one sequence each.
    """
    X = reader.X
    if isinstance(X, list | tuple) or len(getattr(X, "shape", (0, 0))) == 1:
        for name in ("n_features_in_", "feature_names_in_"):
            if not reader.new and hasattr(reader.estimator, name):
                delattr(reader.estimator, name)  # of an earlier fit to a table
        sequences = [_sequence(item, reader.object(row), metric) for row, item in enumerate(X)]
        least = 1 if reader.new else 2
        if len(sequences) < least:
            raise ValueError(f"Found array with {len(sequences)} sample(s) while a minimum of {least} is required.")
        return sequences
    return list(np.asarray(reader.table(ensure_all_finite="allow-nan"), dtype=np.float64))


def _sequence(item: Any, name: str, metric: str) -> Array:
    try:
        values = np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} of X is no sequence of numbers, which metric={metric!r} compares: {error}") from error
    if values.ndim != 1:
        raise ValueError(
            f"Reshape your data: {name} of X has shape {values.shape}, but metric={metric!r} compares sequences of "
            "numbers; pass a list of sequences, or a table with an object in each row."
        )
    if np.isinf(values).any():
        raise ValueError(f"{name} of X holds infinity (inf); replace it.")
    return values


def require_some(values: Array, name: str) -> Array:
    """Return the values of an object; raise if it has none."""
    if not len(values):
        raise ValueError(f"{name} of X has no value at all; leave it out.")
    return values
