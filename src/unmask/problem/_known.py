"""Known features: aligned with the objects, coded, centred, scaled and freed of redundancy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import Array, IntArray
from ..checking import (
    KnownFeatureWarning,
    align_rows,
    as_frame,
    as_pandas,
    is_pandas,
    quote,
    require_real,
    warn_user,
)
from ._blocks import Block, CommonBlock, DenseBlock
from ._types import feature_type, inferred_type
from ._types._base import FeatureType

if TYPE_CHECKING:
    import pandas as pd

# A column whose part not explained by the columns before it is below this share of its spread is redundant.
DEPENDENCE = 1e-6

Blocks = list[tuple[tuple[int, ...], type[Block]]]  # coded columns that share coefficients, and how


class KnownColumn(NamedTuple):
    """A column of the known table: its name, its label in the header (a tuple if that has two levels), its cells."""

    name: str
    label: Any
    cells: Any


@dataclass(frozen=True)
class Feature:
    """A known feature: its type, the places of its coded columns, and whether the type was declared."""

    name: str
    coding: FeatureType
    columns: tuple[int, ...]  # among all coded columns
    declared: bool
    missing: IntArray  # rows
    counts: tuple[int, ...] = ()  # of the objects of each level
    at: tuple[int, ...] = ()  # the columns among those that are kept

    def encode(self, cells: Any) -> Array:
        """Return the coded columns of these cells."""
        return self.coding.encode(cells, self.name)


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

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @property
    def n_kept(self) -> int:
        return len(self.kept)

    @property
    def n_dimensions(self) -> int:
        """Number of dimensions of the fitted space that the known features take."""
        widths = zip(self.groups, self.block_types, strict=True)
        return sum(1 if kind.one_axis else len(group) for group, kind in widths)

    @property
    def errors(self) -> dict[int, float]:
        """Standard deviations of the measurement errors of kept columns, in standard units; only those above 0."""
        measured = [feature for feature in self.features if feature.coding.error and feature.at]
        return {self.columns_of(f)[0]: f.coding.error / float(self.scale[f.columns[0]]) for f in measured}

    @classmethod
    def nothing(cls, n: int) -> KnownFeatures:
        """Return an empty set of known features, for ordinary multidimensional scaling."""
        empty = np.empty(0)
        return cls((), (), values=np.empty((n, 0)), reference=empty, centre=empty, scale=empty, groups=())

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
        own, values = list(feature.at), self.values.copy()
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
        return list(feature.at)

    def vertices_of(self, feature: Feature) -> Array | None:
        """Return the rows that a missing cell is a mixture of, in standard units; None if any number will do."""
        vertices = feature.coding.vertices()
        if vertices is None:
            return None
        raw = np.zeros((len(vertices), len(self.names)))
        raw[:, list(feature.columns)] = vertices
        return self.standardise(raw)[:, feature.at]

    def bounds_of(self, feature: Feature) -> tuple[float, float]:
        """Return the smallest and the largest possible value of a numeric feature, in standard units."""
        at = feature.columns[0]
        low, high = ((bound - self.reference[at] - self.centre[at]) / self.scale[at] for bound in feature.coding.bounds)
        return float(low), float(high)

    def encode(self, table: list[KnownColumn]) -> Array:
        """Return all coded columns for new objects; no cell may be missing."""
        coded = [feature.encode(column.cells) for feature, column in zip(self.features, table, strict=True)]
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
    """Return known features, checked, aligned, coded and standardised; ``coef`` chooses the blocks of coefficients."""
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
    names = [feature.name + suffix for feature in features for suffix in feature.coding.suffixes]
    redundant = dict.fromkeys(np.flatnonzero(constant).tolist(), "constant")
    if len(names) > 1:
        redundant = _with_explained(redundant, standard, names, features, blocks)
    kept = np.setdiff1d(np.arange(len(names)), list(redundant))
    place = np.full(len(names), -1)  # of each column among the kept ones
    place[kept] = np.arange(len(kept))
    placed = [replace(feature, at=_kept_of(feature.columns, place)) for feature in features]
    groups = [(_kept_of(columns, place), kind) for columns, kind in blocks]
    return KnownFeatures(
        names=tuple(names),
        kept=tuple(kept.tolist()),
        values=standard[:, kept],
        reference=reference,
        centre=centre,
        scale=scale,
        groups=tuple(group for group, _ in groups if group),
        block_types=tuple(kind for group, kind in groups if group),
        redundant=_report(redundant, names, features) if redundant else {},
        features=tuple(placed),
    )


def _kept_of(columns: tuple[int, ...], place: IntArray) -> tuple[int, ...]:
    """Return where the kept ones of some coded columns are among all that are kept."""
    return tuple(at for at in place[list(columns)].tolist() if at >= 0)


def _code(table: list[KnownColumn], types: Mapping[Any, Any]) -> tuple[list[Feature], Array]:
    """Return the features and their coded columns side by side, NaN where a cell is missing."""
    declared: dict[int, Any] = {}
    for key, value in types.items():
        declared[_find_column(key, table, "known_types")] = value
    features, coded, first = [], [], 0
    for at, (name, _, cells) in enumerate(table):
        require_real(cells, f"known: column {name!r}")
        kind = feature_type(declared[at], name) if at in declared else inferred_type(cells, name)
        coding = kind.learn(cells, name)
        columns = coding.encode(cells, name)
        missing = np.flatnonzero(np.isnan(columns).any(axis=1))
        if len(missing) == len(columns):
            raise ValueError(f"known has no value at all in column {name!r}; leave the column out.")
        corners = coding.vertices() if coding.levels else None
        counts = [] if corners is None else (columns[:, None] == corners).all(axis=2).sum(axis=0).tolist()
        places = tuple(range(first, first := first + columns.shape[1]))
        features.append(Feature(name, coding, places, at in declared, missing, tuple(counts)))
        coded.append(columns)
    return features, np.column_stack(coded)


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
    data = as_frame(align_rows(data, labels, "known"))
    if is_pandas(data):
        frame = data if hasattr(data, "columns") else data.to_frame("known0" if data.name is None else data.name)
        names = ["/".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in frame.columns]
        columns = [KnownColumn(name, frame.columns[at], frame.iloc[:, at]) for at, name in enumerate(names)]
        repeated = dict.fromkeys(name for name in names if names.count(name) > 1)
        if repeated:
            raise ValueError(
                f"known has duplicate column names: {quote(repeated)}; give every feature a name of its own."
            )
    else:
        array = np.asarray(np.ma.filled(data.astype(np.float64), np.nan) if np.ma.isMaskedArray(data) else data)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"known has {array.ndim} dimensions; pass one row per object and one column per feature.")
        columns = [KnownColumn(f"known{c}", c, column) for c, column in enumerate(array.T)]
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


def _blocks_of(features: list[Feature], coef: str | Sequence[Sequence[Any]], table: list[KnownColumn]) -> Blocks:
    """Return groups of coded columns with their kind of block, which a feature's type or else ``coef`` decides."""
    group: Sequence[Any] = range(len(table))  # of each feature; for "diagonal" one each
    if coef == "full" or (coef == "auto" and all(feature.coding.is_number for feature in features)):
        group = [0] * len(table)
    elif coef in ("auto", "grouped"):
        # One block per feature: the columns below one label of a two-level header, or each column.
        group = [column.label[0] if isinstance(column.label, tuple) else column.label for column in table]
    elif not isinstance(coef, str):
        group = _given_groups(coef, table)
    blocks: Blocks = []
    together: dict[Any, tuple[int, ...]] = {}
    for feature, number in zip(features, group, strict=True):
        if feature.coding.block is None:
            together[number] = together.get(number, ()) + feature.columns
        else:
            blocks.append((feature.columns, feature.coding.block))
    for columns in together.values():
        # A diagonal B gives a nominal feature one coefficient: its levels are equally far from each other.
        blocks.append((columns, CommonBlock if coef == "diagonal" and len(columns) > 1 else DenseBlock))
    return sorted(blocks, key=itemgetter(0))


def _given_groups(coef: Sequence[Sequence[Any]], table: list[KnownColumn]) -> list[int]:
    """Return the number of the group in which a user put each feature."""
    group = {_find_column(member, table, "coef"): at for at, members in enumerate(coef) for member in members}
    if sum(map(len, coef)) != len(table) or len(group) != len(table):
        raise ValueError(
            f"coef={list(coef)!r} must name every known column exactly once; the columns are "
            f"{quote(column.name for column in table)}."
        )
    return [group[at] for at in range(len(table))]


# ---- redundancy


def _with_explained(
    redundant: dict[int, str], standard: Array, names: list[str], features: list[Feature], blocks: Blocks
) -> dict[int, str]:
    """Return columns that others explain, and how, beside those that are known to be redundant."""

    def explained(columns: list[int], others: list[int]) -> bool:
        """Return whether others leave next to nothing of each of the columns (in their standard deviations)."""
        design, target = standard[:, others], standard[:, columns]
        rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        share = np.sqrt(np.mean(rest**2, axis=0) / np.maximum(np.mean(target**2, axis=0), 1e-300))
        return not set(columns) & set(redundant) and float(share.max()) < DEPENDENCE

    free = [group for group, kind in blocks if kind.free]
    # Proportional copies of features of one column. The copy in the smaller block goes, because the other acts together
    # with its neighbours.
    company = {c: len(group) for group in free for c in group}
    single = [f.columns[0] for f in features if len(f.columns) == 1 and f.columns[0] in company]
    for column, other in ((column, other) for at, column in enumerate(single) for other in single[:at]):
        if other not in redundant and explained([column], [other]):
            lesser, greater = (column, other) if company[column] <= company[other] else (other, column)
            redundant[lesser] = f"a copy of {names[greater]!r}"
    # Columns of a block that are linear combinations of the columns before them.
    for group in free:
        for at, column in enumerate(group):
            before = [c for c in group[:at] if c not in redundant]
            if before and explained([column], before):
                how = "a copy" if len(before) == 1 else "a linear combination"
                redundant[column] = f"{how} of {quote(names[c] for c in before)}"
    # Blocks within the space of another free block. Of two that are as large, the first is kept.
    left = [[c for c in group if c not in redundant] for group, _ in blocks]
    for at, columns in enumerate(left):
        for other, container in enumerate(left):
            larger = blocks[other][1].free and len(container) > 1 and (len(container), at) > (len(columns), other)
            if larger and columns and other != at and container[0] not in redundant and explained(columns, container):
                redundant |= dict.fromkeys(columns, "a function of " + quote(names[c] for c in container))
    return redundant


def _report(redundant: dict[int, str], names: list[str], features: list[Feature]) -> dict[str, str]:
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
