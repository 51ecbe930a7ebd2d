"""Columns of an external table against the directions of a map, with p-values that count how many were tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Array, IntArray
from ..checking import as_small, rao_p_value
from ..inspection import name_axes
from ..problem.linalg import orthonormal_basis

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Finding:
    """A column, how it goes with the map, and in which direction; ``p_value`` is None where it could not be tested."""

    name: str
    kind: str
    strength: float
    direction: Array
    p_value: float | None
    note: str = ""


def compare_columns(embedding: pd.DataFrame, table: pd.DataFrame, orders: IntArray) -> list[Finding]:
    """Return how every column goes with the map.

    The p-values are those of Westfall and Young: of the orders of the objects, the share in which *any* column goes
    with the map as well as this one does in truth. "As well" is measured by the p-value of Wilks' lambda, in which
    columns of different types can be compared; columns that say the same thing are counted once.
    """
    candidates = [_read(embedding, table[name]) for name in table.columns]
    tested = [candidate for candidate in candidates if candidate.basis is not None]
    p_values = dict(zip((candidate.name for candidate in tested), _p_values(tested, embedding, orders), strict=True))
    return [Finding(c.name, c.kind, c.strength, c.direction, p_values.get(c.name), c.note) for c in candidates]


def _p_values(tested: list[_Candidate], embedding: pd.DataFrame, orders: IntArray) -> list[float]:
    """Return the step-down p-values: each column against chance in it and in those that go with the map less well."""
    if not tested:
        return []
    U = embedding.to_numpy()
    own = np.array([candidate.chances(U, np.arange(len(U))[None])[0] for candidate in tested])
    chance = np.array([candidate.chances(U, orders) for candidate in tested])
    ranking = np.argsort(own, kind="stable")
    least = np.minimum.accumulate(chance[ranking][::-1], axis=0)[::-1]
    beaten = np.sum(as_small(least, own[ranking][:, None]), axis=1)
    p_values = np.empty(len(own))
    p_values[ranking] = np.maximum.accumulate((1 + beaten) / (1 + orders.shape[0]))
    return [float(p) for p in p_values]


@dataclass(frozen=True)
class _Candidate:
    """A column as a basis of its own space, for the objects that have it; no basis if it cannot be tested."""

    name: str
    kind: str
    strength: float
    direction: Array
    present: NDArray[np.bool_]
    basis: Array | None
    note: str = ""

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


def _read(embedding: pd.DataFrame, column: pd.Series[Any]) -> _Candidate:
    """Return a column to be tested, or why it cannot be."""
    name, present = str(column.name), column.notna().to_numpy()
    nothing = np.full(embedding.shape[1], np.nan)
    try:
        rows = name_axes(embedding, column.to_frame(), correction=None)
    except ValueError as error:
        return _Candidate(name, "column", np.nan, nothing, present, None, f"not tested: {error}")
    best = rows.iloc[-1]  # on a line the only axis
    strength = float(abs(best["correlation"]))
    direction = best[[f"cos_{axis}" for axis in embedding.columns]].to_numpy(dtype=np.float64)
    if not np.isfinite(strength):
        return _Candidate(name, "column", np.nan, nothing, present, None, "not tested: all objects are the same")
    if embedding.shape[1] == 1 and best["correlation"] < 0:
        direction = -direction
    basis = _basis(column[present], numeric=best["type"] == "numeric")
    return _Candidate(name, str(best["type"]), strength, direction, present, basis)


def _basis(cells: pd.Series[Any], *, numeric: bool) -> Array:
    import pandas as pd

    if numeric:
        return orthonormal_basis(cells.to_numpy(dtype=np.float64)[:, None])
    codes = pd.factorize(cells)[0]
    return orthonormal_basis((codes[:, None] == np.arange(1, codes.max() + 1)).astype(np.float64))
