"""Columns of an external table compared with a map, with p-values corrected for the number of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._typing import Array, IntArray
from ..inspection import name_axes
from ..problem.chance import as_small, rao_p_value
from ..problem.linalg import orthonormal_basis


def _nobody() -> None:
    """Do not listen."""


def compare_columns(
    embedding: pd.DataFrame, table: pd.DataFrame, orders: IntArray, begin: Callable[[], None] = _nobody
) -> list[ComparedColumn]:
    """Return how strongly every column is related to the map, in which direction, and how surely.

    The p-values are those of Westfall and Young: of the orders of the objects, the share in which *any* column is
    related to the map as strongly as this one is in truth. Strength is measured by the p-value of Wilks' lambda, in
    which columns of different types can be compared; columns that say the same thing are counted once. ``begin`` is
    called before each column.
    """
    columns = [_read(embedding, table[name]) for name in table.columns]
    tested = [column for column in columns if column.basis is not None]
    p_values = dict(zip((column.name for column in tested), _p_values(tested, embedding, orders, begin), strict=True))
    return [replace(column, p_value=p_values.get(column.name, np.nan)) for column in columns]


def _p_values(
    tested: list[ComparedColumn], embedding: pd.DataFrame, orders: IntArray, begin: Callable[[], None]
) -> list[float]:
    """Return the step-down p-values: each column against chance in it and in those that are related less strongly."""
    if not tested:
        return []
    U = embedding.to_numpy()
    own = np.array([column.chances(U, np.arange(len(U))[None])[0] for column in tested])
    chance = np.empty((len(tested), len(orders)))
    for column, chances in zip(tested, chance, strict=True):
        begin()
        chances[:] = column.chances(U, orders)
    ranking = np.argsort(own, kind="stable")
    least = np.minimum.accumulate(chance[ranking][::-1], axis=0)[::-1]
    beaten = np.sum(as_small(least, own[ranking][:, None]), axis=1)
    p_values = np.empty(len(own))
    p_values[ranking] = np.maximum.accumulate((1 + beaten) / (1 + orders.shape[0]))
    return [float(p) for p in p_values]


@dataclass(frozen=True)
class ComparedColumn:
    """A column of an external table, and how it is related to a map.

    `basis` spans the values of the objects that have any (`present`); a column without one was not tested, and `note`
    says why.
    """

    name: str
    strength: float
    direction: Array
    present: NDArray[np.bool_]
    basis: Array | None
    note: str = ""
    p_value: float = np.nan

    def chances(self, U: Array, orders: IntArray) -> Array:
        """Return the p-value of Wilks' lambda with the rows of the map in each of the given orders."""
        assert self.basis is not None
        X = U[orders][:, self.present]  # orders x objects x axes
        X = X - X.mean(axis=1, keepdims=True)
        Q = np.linalg.qr(X)[0]
        shared = np.swapaxes(Q, 1, 2) @ self.basis
        rest = np.eye(U.shape[1]) - shared @ np.swapaxes(shared, 1, 2)
        log_lambda = np.log(np.clip(np.linalg.det(rest), 1e-300, 1.0))
        return rao_p_value(log_lambda, len(self.basis), U.shape[1], self.basis.shape[1])


def _read(embedding: pd.DataFrame, column: pd.Series[Any]) -> ComparedColumn:
    """Return a column with its strongest relation to the map, or with a note on why it cannot be tested."""
    name, present = str(column.name), column.notna().to_numpy()
    nothing = np.full(embedding.shape[1], np.nan)
    try:
        rows = name_axes(embedding, column.to_frame(), correction=None)
    except ValueError as error:
        return ComparedColumn(name, np.nan, nothing, present, None, f"not tested: {error}")
    best = rows.iloc[-1]  # on a line the only axis
    strength = float(abs(best["correlation"]))
    direction = best[[f"cos_{axis}" for axis in embedding.columns]].to_numpy(dtype=np.float64)
    if not np.isfinite(strength):
        return ComparedColumn(name, np.nan, nothing, present, None, "not tested: all objects are the same")
    if embedding.shape[1] == 1 and best["correlation"] < 0:
        direction = -direction
    basis = _basis(column[present], numeric=best["type"] == "numeric")
    return ComparedColumn(name, strength, direction, present, basis)


def _basis(cells: pd.Series[Any], *, numeric: bool) -> Array:
    if numeric:
        return orthonormal_basis(cells.to_numpy(dtype=np.float64)[:, None])
    codes = pd.factorize(cells)[0]
    return orthonormal_basis((codes[:, None] == np.arange(1, codes.max() + 1)).astype(np.float64))
