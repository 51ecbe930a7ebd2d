"""Known features: aligned with the objects, coded, centred, scaled and freed of redundancy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ..checking import (
    KnownFeatureWarning,
    align_rows,
    as_pandas,
    is_pandas,
    polars_column,
    quote,
    require_real,
    warn_user,
)
from ._blocks import Block, CommonBlock, DenseBlock
from ._types import feature_type, inferred_type
from ._types._base import Coding

if TYPE_CHECKING:
    import pandas as pd

# A column whose part not explained by the columns before it is below this share of its spread is redundant.
DEPENDENCE = 1e-6

Blocks = list[tuple[tuple[int, ...], type[Block]]]  # coded columns that share coefficients, and how


class KnownColumn(NamedTuple):
    """One column of the known table: its name, its own label (a tuple below a two-level header), its cells."""

    name: str
    label: Any
    cells: Any


@dataclass(frozen=True)
class Feature:
    """A known feature: its coding, the places of its coded columns, and whether its type was declared."""

    name: str
    coding: Coding
    columns: tuple[int, ...]
    declared: bool
    missing: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # rows
    counts: tuple[int, ...] = ()  # of the objects of each level


@dataclass(frozen=True)
class KnownFeatures:
    """Known features as columns of numbers in standard units, and how to bring others into the same units.

    ``names``, ``reference``, ``centre`` and ``scale`` are of every coded column; ``values`` holds the kept ones only,
    centred with unit standard deviation, 0 where a cell is missing; ``groups`` are positions in it, and ``block_types``
    say how the columns of a group share coefficients.
    """

    names: tuple[str, ...]
    kept: tuple[int, ...]
    values: Array
    reference: Array  # of every column: subtracted first, exactly, so that a shift by 1e9 costs no digits
    centre: Array
    scale: Array
    groups: tuple[tuple[int, ...], ...]
    redundant: dict[str, str] = field(default_factory=dict)
    block_types: tuple[type[Block], ...] = ()
    features: tuple[Feature, ...] = ()

    @classmethod
    def nothing(cls, n: int) -> KnownFeatures:
        """Return an empty set of known features, for ordinary multidimensional scaling."""
        empty = np.empty(0)
        return cls((), (), values=np.empty((n, 0)), reference=empty, centre=empty, scale=empty, groups=())

    @property
    def n_kept(self) -> int:
        return len(self.kept)

    @property
    def n_dimensions(self) -> int:
        """Number of dimensions of the fitted space that the known features take."""
        return sum(1 if kind.one_axis else len(g) for g, kind in zip(self.groups, self.block_types, strict=True))

    @property
    def errors(self) -> dict[int, float]:
        """Standard deviations of the measurement errors of kept columns, in standard units; only those above 0."""
        measured = [(feature.columns[0], feature.coding.error) for feature in self.features if feature.coding.error]
        return {self.kept.index(at): error / float(self.scale[at]) for at, error in measured if at in self.kept}

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def require_no_error(self, estimator: str) -> None:
        """Raise if a feature is declared with a measurement error, for estimators that take values as exact."""
        measured = [feature.name for feature in self.features if feature.coding.error]
        if measured:
            raise ValueError(
                f"known_types declares {quote(measured)} with a measurement error, which {estimator} does not take "
                "into account; declare it without, or use ConditionalMDS."
            )

    def take(self, rows: IntArray) -> KnownFeatures:
        """Return the known features of some of the objects, in the same units."""
        features = tuple(
            replace(feature, missing=np.flatnonzero(np.isin(rows, feature.missing))) for feature in self.features
        )
        return replace(self, values=self.values[rows], features=features)

    def with_residuals_in_order(self, number: int, order: IntArray) -> KnownFeatures:
        """Return the features with the residuals of one of them, given the others, in another order.

        The part that a regression on the other features predicts stays, so that correlations are kept. A missing cell
        moves with its row of residuals; in the other features a missing cell counts as the mean.
        """
        feature = self.features[number]
        own, values = self.columns_of(feature), self.values.copy()
        present = np.setdiff1d(np.arange(len(values)), feature.missing)
        others = np.column_stack([np.ones(len(values)), np.delete(values, own, axis=1)])
        columns: Array = values[:, own]
        predicted = others @ np.linalg.lstsq(others[present], columns[present], rcond=None)[0]
        columns = predicted + (columns - predicted)[order]
        missing = np.flatnonzero(np.isin(order, feature.missing))
        columns[missing] = 0.0
        values[:, own] = columns
        moved = replace(feature, missing=missing)
        features = (*self.features[:number], moved, *self.features[number + 1 :])
        return replace(self, values=values, features=features)

    def standardise(self, raw: Array) -> Array:
        """Return the kept columns of coded values (all columns) in the units of the fit."""
        columns = list(self.kept)
        return np.asarray((raw[:, columns] - self.reference[columns] - self.centre[columns]) / self.scale[columns])

    def restore(self, standard: Array, column: int) -> Array:
        """Return values of a kept column in the units they were coded in."""
        at = self.kept[column]
        return np.asarray(standard * self.scale[at] + self.centre[at] + self.reference[at])

    def blockwise(self, make: Callable[[list[int]], Array]) -> Array:
        """Return a matrix with a block for each group of columns that share coefficients, and 0 elsewhere."""
        matrix = np.zeros((self.n_kept, self.n_kept))
        for group in self.groups:
            matrix[np.ix_(group, group)] = make(list(group))
        return matrix

    def columns_of(self, feature: Feature) -> list[int]:
        """Return where a feature's columns are among the kept ones."""
        return [self.kept.index(c) for c in feature.columns if c in self.kept]

    def vertices_of(self, feature: Feature) -> Array | None:
        """Return the rows that a missing cell is a mixture of, in standard units; None if any number will do."""
        vertices = feature.coding.vertices()
        if vertices is None:
            return None
        raw = np.zeros((len(vertices), len(self.names)))
        raw[:, list(feature.columns)] = vertices
        return self.standardise(raw)[:, self.columns_of(feature)]

    def bounds_of(self, feature: Feature) -> tuple[float, float]:
        """Return the smallest and the largest possible value of a numeric feature, in standard units."""
        at = feature.columns[0]
        low, high = ((bound - self.reference[at] - self.centre[at]) / self.scale[at] for bound in feature.coding.bounds)
        return float(low), float(high)

    def encode(self, table: list[KnownColumn]) -> Array:
        """Return all coded columns for new objects; no cell may be missing."""
        coded = [feature.coding.encode(column.cells) for feature, column in zip(self.features, table, strict=True)]
        for feature, columns in zip(self.features, coded, strict=True):
            if not np.isfinite(columns).all():
                row = int(np.argmax(~np.isfinite(columns).all(axis=1)))
                raise ValueError(
                    f"known has no finite value in column {feature.name!r}, row {row}; a new object is placed by its "
                    "known features: fill the cell, or leave the object out."
                )
        return np.column_stack(coded) if coded else np.empty((0, 0))

    def of_new(self, known: Any, rows: int, labels: pd.Index | None) -> Array:
        """Return the known features of new objects, coded and in the units of the fit."""
        if not self.features:
            if known is not None:
                raise ValueError("known was given, but the map was fitted without known features; fit it with known=….")
            return np.empty((rows, 0))
        if known is None:
            raise ValueError(
                f"known is needed: the map was fitted given {', '.join(self.feature_names)}; "
                "pass these features of the new objects too."
            )
        known = as_pandas(known)
        table = known_table(known, rows, labels)
        names, wanted = [column.name for column in table], self.feature_names
        named = hasattr(known, "columns") or getattr(known, "name", None) is not None
        if named and set(names) == set(wanted):
            table = [table[names.index(name)] for name in wanted]
        elif named or len(table) != len(wanted):
            raise ValueError(f"known has columns {names} but the map was fitted given {list(wanted)}.")
        return self.standardise(self.encode(table))


def check_known(
    data: Any,
    n: int,
    labels: pd.Index | None,
    coef: str | Sequence[Sequence[Any]],
    *,
    types: Mapping[Any, Any] | None = None,
) -> KnownFeatures:
    """Check, align, code and standardise known features; ``coef`` says which columns share a block of coefficients."""
    if isinstance(data, KnownFeatures):
        return data
    if types is not None and not isinstance(types, Mapping):
        raise ValueError(f"known_types={types!r} must be a dictionary from known columns to their types.")
    if data is None and types:
        raise ValueError(f"known_types names {quote(types)} but no known features were given; pass known to fit.")
    table = [] if data is None else known_table(data, n, labels)
    if not table:
        return KnownFeatures.nothing(n)
    features, raw = _code(table, types or {})
    blocks = _blocks_of(features, coef, table)
    reference, centre, scale, constant = _units(raw, blocks)
    standard = np.nan_to_num((raw - reference - centre) / scale)
    constant = constant | (np.abs(standard).max(axis=0) <= DEPENDENCE)
    names = tuple(feature.name + suffix for feature in features for suffix in feature.coding.suffixes)
    redundant = _redundant_columns(standard, constant, names, features, blocks)
    kept = [c for c in range(len(names)) if c not in redundant]
    left = [(tuple(kept.index(c) for c in columns if c in kept), kind) for columns, kind in blocks]
    return KnownFeatures(
        names=names,
        kept=tuple(kept),
        values=standard[:, kept],
        reference=reference,
        centre=centre,
        scale=scale,
        groups=tuple(group for group, _ in left if group),
        redundant=_report(redundant, names, features) if redundant else {},
        block_types=tuple(kind for group, kind in left if group),
        features=features,
    )


def _code(table: list[KnownColumn], types: Mapping[Any, Any]) -> tuple[tuple[Feature, ...], Array]:
    """Return the features and their coded columns side by side, NaN where a cell is missing."""
    declared = {_find_column(key, table, "known_types"): value for key, value in types.items()}
    features, coded, first = [], [], 0
    for at, (name, _, cells) in enumerate(table):
        kind = feature_type(declared[at], name) if at in declared else None
        require_real(cells, f"known: column {name!r}")
        coding = (kind or inferred_type(cells, name)).learn(cells, name)
        columns = coding.encode(cells)
        missing = np.flatnonzero(np.isnan(columns).any(axis=1))
        if len(missing) == len(columns):
            raise ValueError(f"known has no value at all in column {name!r}; leave the column out.")
        places = tuple(range(first, first + columns.shape[1]))
        corners = coding.vertices() if coding.levels else None
        counts = () if corners is None else tuple(int((columns == corner).all(axis=1).sum()) for corner in corners)
        features.append(Feature(name, coding, places, at in declared, missing, counts))
        coded.append(columns)
        first += columns.shape[1]
    return tuple(features), np.column_stack(coded)


def _units(raw: Array, blocks: Blocks) -> tuple[Array, Array, Array, Array]:
    """Return each coded column's reference, its centre from there, its scale, and whether it is constant."""
    present = np.isfinite(raw)
    reference = np.where(present.any(axis=0), raw[np.argmax(present, axis=0), np.arange(raw.shape[1])], 0.0)
    shifted = raw - reference
    spread = np.nanmax(np.abs(shifted), axis=0, initial=0.0)
    constant = spread <= 8 * np.finfo(float).eps * np.nanmax(np.abs(raw), axis=0, initial=0.0)
    unit, number = np.where(constant, 1.0, spread), np.maximum(present.sum(axis=0), 1)
    # Divided before squaring: the squares of 1e200 overflow.
    centre = np.nansum(shifted / unit, axis=0) / number * unit
    deviation = np.sqrt(np.nansum(((shifted - centre) / unit) ** 2, axis=0) / number) * unit
    scale = np.where(constant, 1.0, deviation)
    for columns, kind in blocks:
        if kind.one_scale:
            scale[list(columns)] = np.sqrt(np.mean(scale[list(columns)] ** 2))
    return reference, centre, scale, constant


# ---- reading the table


def known_table(data: Any, n: int, labels: pd.Index | None) -> list[KnownColumn]:
    """Return the columns of a table, its rows aligned with the objects."""
    data = align_rows(data, labels, "known")
    if is_pandas(data) and not hasattr(data, "columns"):
        data = data.to_frame(data.name if data.name is not None else "known0")
    if hasattr(data, "columns"):
        cells = [data.iloc[:, at] if is_pandas(data) else polars_column(data, c) for at, c in enumerate(data.columns)]
        names = ["/".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in data.columns]
        columns = [KnownColumn(*column) for column in zip(names, data.columns, cells, strict=True)]
    else:
        if isinstance(data, np.ma.MaskedArray):
            data = np.ma.filled(data.astype(np.float64), np.nan)
        array = np.asarray(data)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"known has {array.ndim} dimensions; pass one row per object and one column per feature.")
        columns = [KnownColumn(f"known{c}", c, array[:, c]) for c in range(array.shape[1])]
        names = [column.name for column in columns]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ValueError(
            f"known has duplicate column names: {quote(sorted(repeated))}; give every feature a name of its own."
        )
    if columns and len(columns[0].cells) != n:
        raise ValueError(f"known has {len(columns[0].cells)} rows but there are {n} objects; pass one row per object.")
    return columns


def _find_column(member: Any, table: Sequence[KnownColumn], what: str) -> int:
    """Return the position of a column that is named by its label, by its name as text, or else by its position."""
    labels, names = [column.label for column in table], [column.name for column in table]
    if member in labels:
        return labels.index(member)
    if str(member) in names:
        return names.index(str(member))
    if isinstance(member, int | np.integer) and 0 <= member < len(names):
        return int(member)
    raise ValueError(f"{what} names {member!r}, which is not a known column; the columns are {quote(names)}.")


def _blocks_of(features: tuple[Feature, ...], coef: str | Sequence[Sequence[Any]], table: list[KnownColumn]) -> Blocks:
    """Return groups of coded columns and the block of each: that of the type of feature, or else as ``coef`` says."""
    every = list(range(len(features)))
    if coef == "auto":
        coef = "full" if all(feature.coding.is_number for feature in features) else "grouped"
    if coef == "full":
        groups = [every]
    elif coef == "diagonal":
        groups = [[f] for f in every]
    elif isinstance(coef, str):
        # One block per feature: the columns below one label of a two-level header, or each column.
        above = [column.label[0] if isinstance(column.label, tuple) else column.label for column in table]
        groups = [[f for f in every if above[f] == name] for name in dict.fromkeys(above)]
    else:
        groups = [[_find_column(member, table, "coef") for member in group] for group in coef]
        if sorted(f for group in groups for f in group) != every:
            raise ValueError(
                f"coef={list(coef)!r} must name every known column exactly once; the columns are "
                f"{quote(column.name for column in table)}."
            )
    blocks: Blocks = [(f.columns, f.coding.block) for f in features if f.coding.block is not None]
    for group in groups:
        columns = tuple(c for f in group if features[f].coding.block is None for c in features[f].columns)
        if columns:
            # A diagonal B gives a nominal feature one coefficient: its levels are equally far from each other.
            blocks.append((columns, CommonBlock if coef == "diagonal" and len(columns) > 1 else DenseBlock))
    return sorted(blocks, key=lambda block: block[0][0])


# ---- redundancy


def _redundant_columns(
    standard: Array, constant: Array, names: tuple[str, ...], features: tuple[Feature, ...], blocks: Blocks
) -> dict[int, str]:
    """Return coded columns without information of their own, and why: constant, or explained by others."""
    redundant = dict.fromkeys(np.flatnonzero(constant).tolist(), "constant")

    def explained(columns: list[int], others: list[int]) -> bool:
        """Return whether others leave next to nothing of each of the columns (in their standard deviations)."""
        design, target = standard[:, others], standard[:, columns]
        rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        share = np.sqrt(np.mean(rest**2, axis=0) / np.maximum(np.mean(target**2, axis=0), 1e-300))
        return float(share.max()) < DEPENDENCE

    free = [columns for columns, kind in blocks if kind.free]
    # Proportional copies of features of one column. The copy in the smaller block goes, because the other acts together
    # with its neighbours.
    company = {c: len(group) for group in free for c in group}
    single = [f.columns[0] for f in features if len(f.columns) == 1 and f.columns[0] in company]
    for column, other in ((column, other) for at, column in enumerate(single) for other in single[:at]):
        if not {column, other} & set(redundant) and explained([column], [other]):
            lesser, greater = (column, other) if company[column] <= company[other] else (other, column)
            redundant[lesser] = f"a copy of {names[greater]!r}"
    # Columns of a block that are linear combinations of the columns before them.
    for columns in free:
        before: list[int] = []
        for column in (c for c in columns if c not in redundant):
            if before and explained([column], before):
                how = "a copy" if len(before) == 1 else "a linear combination"
                redundant[column] = f"{how} of {quote(names[c] for c in before)}"
            else:
                before.append(column)
    # Blocks within the space of another free block. Of two that are as large, the first is kept.
    left = [([c for c in group if c not in redundant], kind.free) for group, kind in blocks]
    for at, (group, _) in enumerate(left):
        for other, (container, can_hold) in enumerate(left):
            larger = (len(container), at) > (len(group), other)
            usable = can_hold and len(container) > 1 and other != at and not set(container) & set(redundant)
            if group and larger and usable and explained(group, container):
                redundant |= dict.fromkeys(group, "a function of " + quote(names[c] for c in container))
                break
    return redundant


def _report(redundant: dict[int, str], names: tuple[str, ...], features: tuple[Feature, ...]) -> dict[str, str]:
    """Return the redundant columns by name, all of a feature under its name, and warn about them."""
    report: dict[str, str] = {}
    for feature in features:
        if all(c in redundant for c in feature.columns):
            report[feature.name] = redundant[feature.columns[0]]
        else:
            report |= {names[c]: redundant[c] for c in feature.columns if c in redundant}
    listed = "; ".join(f"{name!r} is {why}" for name, why in report.items())
    warn_user(
        f"known columns carry no information of their own: {listed}. The fit goes on without "
        f"{'them' if len(report) > 1 else 'it'} (coefficient 0).",
        KnownFeatureWarning,
    )
    return report
