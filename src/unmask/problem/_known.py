"""Known features: aligned with the objects, centred, scaled and freed of redundancy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from ._dissimilarities import require_numbers
from ._exceptions import RedundantKnownWarning
from ._labels import align_rows, is_pandas, quote

if TYPE_CHECKING:
    import pandas as pd

# A column whose part not explained by the columns before it is below this share of its spread is redundant.
DEPENDENCE = 1e-8

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
    raw, names, features = known_table(data, n, labels)
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
    groups = resolve_groups(coef, names, features)
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
    """Return the aligned values (n x q, float64), the columns' names and the feature each column belongs to."""
    data = align_rows(data, labels, "known")
    if is_pandas(data) and not hasattr(data, "columns"):
        data = data.to_frame(data.name if data.name is not None else "known0")
    columns = list(data.columns) if hasattr(data, "columns") else None
    require_numbers(data, "known")
    values = np.asarray(data, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2:
        raise ValueError(f"known has {values.ndim} dimensions; pass one row per object and one column per feature.")
    if len(values) != n:
        raise ValueError(f"known has {len(values)} rows but there are {n} objects; pass one row per object.")
    if columns is None:
        columns = [f"known{c}" for c in range(values.shape[1])]
    names = tuple("/".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in columns)
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"known has duplicate column names: {quote(repeated)}; give every feature a name of its own.")
    _require_finite(values, names)
    return values, names, tuple(c[0] if isinstance(c, tuple) else c for c in columns)


def _require_finite(values: Array, names: tuple[str, ...]) -> None:
    wrong = ~np.isfinite(values)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"known has {values[row, column]} in column {names[column]!r}, row {row}; every object needs a finite "
            "value: leave the column or the object out, or fill the cell."
        )


def resolve_groups(coef: str | Sequence[Sequence[Any]], names: tuple[str, ...], features: tuple[Any, ...]) -> Groups:
    """Return which columns share a block of coefficients."""
    if isinstance(coef, str):
        if coef == "full":
            return (tuple(range(len(names))),)
        if coef == "diagonal":
            return tuple((c,) for c in range(len(names)))
        order = list(dict.fromkeys(features))
        return tuple(tuple(c for c, feature in enumerate(features) if feature == name) for name in order)
    groups = tuple(tuple(_column(member, names) for member in group) for group in coef)
    flat = sorted(c for group in groups for c in group)
    if flat != list(range(len(names))):
        raise ValueError(
            f"coef={list(coef)!r} must name every known column exactly once; the columns are {quote(names)}."
        )
    return groups


def _column(member: Any, names: tuple[str, ...]) -> int:
    if isinstance(member, int | np.integer) and 0 <= member < len(names):
        return int(member)
    if str(member) in names:
        return names.index(str(member))
    raise ValueError(f"coef names {member!r}, which is not a known column; the columns are {quote(names)}.")


def _dependent(standard: Array, names: tuple[str, ...], groups: Groups, skip: set[int]) -> dict[str, str]:
    """Name the columns that repeat others.

    Within a block any linear combination of earlier columns is redundant. Across blocks (a diagonal B) only a
    proportional copy is: there the squared differences of a + b are not combinations of those of a and of b.
    """
    found: dict[str, str] = {}
    for column in range(len(names)):
        if column in skip:
            continue
        group = next(g for g in groups if column in g)
        earlier = [c for c in range(column) if c not in skip and names[c] not in found]
        copies = [c for c in earlier if _unexplained(standard, column, [c]) < DEPENDENCE]
        partners = [c for c in earlier if c in group]
        if copies:
            found[names[column]] = f"a copy of {names[copies[0]]!r}"
        elif len(partners) > 1 and _unexplained(standard, column, partners) < DEPENDENCE:
            found[names[column]] = "a linear combination of " + quote(names[c] for c in partners)
    return found


def _unexplained(standard: Array, column: int, others: list[int]) -> float:
    """Return the root mean square of what the others leave of a column (in its standard deviations)."""
    design, target = standard[:, others], standard[:, column]
    rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(np.sqrt(np.mean(rest**2)))


def _warn_redundant(redundant: dict[str, str]) -> None:
    listed = "; ".join(f"{name!r} is {why}" for name, why in redundant.items())
    warnings.warn(
        f"known columns carry no information of their own: {listed}. The fit goes on without "
        f"{'them' if len(redundant) > 1 else 'it'} (coefficient 0).",
        RedundantKnownWarning,
        stacklevel=5,
    )
