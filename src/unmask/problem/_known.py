"""Known features: aligned with the objects, centred, scaled and freed of redundancy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ..checking import RedundantKnownWarning, align_rows, is_pandas, numbers, quote, warn_user

if TYPE_CHECKING:
    import pandas as pd

# A column whose part not explained by the columns before it is below this share of its spread is redundant.
DEPENDENCE = 1e-6

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class KnownFeatures:
    """Known features in standard units, and how to bring others into the same units.

    ``values`` holds the kept columns only, centred with unit standard deviation; ``groups`` are positions in it.
    """

    names: tuple[str, ...]
    kept: tuple[int, ...]
    values: Array
    reference: Array  # of every column: subtracted first, exactly, so that a shift by 1e9 costs no digits
    centre: Array
    scale: Array
    groups: Groups
    redundant: dict[str, str] = field(default_factory=dict)

    @property
    def n_kept(self) -> int:
        return len(self.kept)

    def standardise(self, raw: Array) -> Array:
        """Return the kept columns of raw values (all columns) in the units of the fit."""
        columns = list(self.kept)
        return np.asarray((raw[:, columns] - self.reference[columns] - self.centre[columns]) / self.scale[columns])


def nothing_known(n: int) -> KnownFeatures:
    """Return the known features of ordinary multidimensional scaling: none."""
    empty = np.empty(0)
    return KnownFeatures((), (), np.empty((n, 0)), empty, empty, empty, ())


def check_known(data: Any, n: int, labels: pd.Index | None, coef: str | Sequence[Sequence[Any]]) -> KnownFeatures:
    """Check, align and standardise known features; ``coef`` says which columns share a block of coefficients."""
    if data is None:
        return nothing_known(n)
    raw, names, columns = known_table(data, n, labels)
    if raw.shape[1] == 0:
        return nothing_known(n)
    reference = raw[0].copy()
    shifted = raw - reference
    spread = np.abs(shifted).max(axis=0)
    constant = spread <= 8 * np.finfo(float).eps * np.abs(raw).max(axis=0)
    unit = np.where(constant, 1.0, spread)  # divide before squaring: the squares of 1e200 overflow
    centre = (shifted / unit).mean(axis=0) * unit
    deviation = ((shifted - centre) / unit).std(axis=0) * unit
    scale = np.where(constant, 1.0, deviation)
    standard = (shifted - centre) / scale
    groups = resolve_groups(coef, names, columns)
    redundant = {names[c]: "constant" for c in np.flatnonzero(constant)}
    redundant |= _dependent(standard, names, groups, set(np.flatnonzero(constant).tolist()))
    if redundant:
        _warn_redundant(redundant)
    kept = tuple(c for c in range(len(names)) if names[c] not in redundant)
    place = {column: position for position, column in enumerate(kept)}
    kept_groups = tuple(tuple(place[c] for c in group if c in place) for group in groups)
    return KnownFeatures(
        names, kept, standard[:, list(kept)], reference, centre, scale, tuple(g for g in kept_groups if g), redundant
    )


def known_table(data: Any, n: int, labels: pd.Index | None) -> tuple[Array, tuple[str, ...], tuple[Any, ...]]:
    """Return the aligned values (n x q, float64), the columns' names and the columns' own labels."""
    data = align_rows(data, labels, "known")
    if is_pandas(data) and not hasattr(data, "columns"):
        data = data.to_frame(data.name if data.name is not None else "known0")
    if hasattr(data, "columns"):
        _require_distinct(names_of(list(data.columns)))
    values = _as_table(data)
    if len(values) != n:
        raise ValueError(f"known has {len(values)} rows but there are {n} objects; pass one row per object.")
    columns = list(data.columns) if hasattr(data, "columns") else [f"known{c}" for c in range(values.shape[1])]
    names = names_of(columns)
    _require_finite(values, names)
    return values, names, tuple(columns)


def names_of(columns: list[Any]) -> tuple[str, ...]:
    """Return columns' labels as text, levels joined by a slash."""
    return tuple("/".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in columns)


def _require_distinct(names: tuple[str, ...]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"known has duplicate column names: {quote(repeated)}; give every feature a name of its own.")


def _as_table(data: Any) -> Array:
    """Return the values as a float64 table, one column if there is one dimension only."""
    if not hasattr(data, "columns"):
        data = np.asarray(data)
        data = data[:, None] if data.ndim == 1 else data
        if data.ndim != 2:
            raise ValueError(f"known has {data.ndim} dimensions; pass one row per object and one column per feature.")
    if 0 in data.shape:
        return np.empty(data.shape)
    return numbers(data, "known").astype(np.float64, copy=False)


def _require_finite(values: Array, names: tuple[str, ...]) -> None:
    wrong = ~np.isfinite(values)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"known has {values[row, column]} in column {names[column]!r}, row {row}; every object needs a finite "
            "value: leave the column or the object out, or fill the cell."
        )


def resolve_groups(coef: str | Sequence[Sequence[Any]], names: tuple[str, ...], columns: tuple[Any, ...]) -> Groups:
    """Return which columns share a block of coefficients."""
    if isinstance(coef, str):
        if coef == "full":
            return (tuple(range(len(names))),)
        if coef == "diagonal":
            return tuple((c,) for c in range(len(names)))
        # One block per feature: what stands above the columns, or each column.
        features = [column[0] if isinstance(column, tuple) else column for column in columns]
        return tuple(
            tuple(c for c, feature in enumerate(features) if feature == name) for name in dict.fromkeys(features)
        )
    groups = tuple(tuple(_column(member, names, columns) for member in group) for group in coef)
    flat = sorted(c for group in groups for c in group)
    if flat != list(range(len(names))):
        raise ValueError(
            f"coef={list(coef)!r} must name every known column exactly once; the columns are {quote(names)}."
        )
    return groups


def _column(member: Any, names: tuple[str, ...], columns: tuple[Any, ...]) -> int:
    """Find a column by its label, by its name as text, or else by its position."""
    if member in columns:
        return columns.index(member)
    if str(member) in names:
        return names.index(str(member))
    if isinstance(member, int | np.integer) and 0 <= member < len(names):
        return int(member)
    raise ValueError(f"coef names {member!r}, which is not a known column; the columns are {quote(names)}.")


def _dependent(standard: Array, names: tuple[str, ...], groups: Groups, skip: set[int]) -> dict[str, str]:
    """Name the columns that repeat others.

    Within a block any linear combination of earlier columns is redundant. Across blocks (a diagonal B) only a
    proportional copy is: there the squared differences of a + b are not combinations of those of a and of b. Of two
    copies the one in the smaller block goes, because the other acts together with its neighbours.
    """
    found: dict[int, str] = {}
    block = {column: group for group in groups for column in group}
    for column in (c for c in range(len(names)) if c not in skip):
        earlier = [c for c in range(column) if c not in skip and c not in found]
        for copy in (c for c in earlier if _unexplained(standard, column, [c]) < DEPENDENCE):
            lesser, other = (column, copy) if len(block[column]) <= len(block[copy]) else (copy, column)
            found[lesser] = f"a copy of {names[other]!r}"
        partners = [c for c in earlier if c in block[column] and c not in found]
        if column not in found and len(partners) > 1 and _unexplained(standard, column, partners) < DEPENDENCE:
            found[column] = "a linear combination of " + quote(names[c] for c in partners)
    return {names[column]: why for column, why in found.items()}


def _unexplained(standard: Array, column: int, others: list[int]) -> float:
    """Return the root mean square of what the others leave of a column (in its standard deviations)."""
    design, target = standard[:, others], standard[:, column]
    rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(np.sqrt(np.mean(rest**2)))


def _warn_redundant(redundant: dict[str, str]) -> None:
    listed = "; ".join(f"{name!r} is {why}" for name, why in redundant.items())
    warn_user(
        f"known columns carry no information of their own: {listed}. The fit goes on without "
        f"{'them' if len(redundant) > 1 else 'it'} (coefficient 0).",
        RedundantKnownWarning,
    )
