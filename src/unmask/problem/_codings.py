"""Types of known features: each turns a column as people have it into columns of numbers.

A type (what the user declares, or what is inferred) looks at a column and becomes a coding, which remembers what it saw
and codes new values the same way. How the coded columns share coefficients is the ``tie`` of the coding:

``"free"``      one coefficient per column, or a block of them, as ``coef`` says;
``"common"``    all columns share one coefficient;
``"function"``  the columns are a basis, and the feature is one function in it;
``"monotone"``  the same, and the function must not fall.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Protocol

import numpy as np

from .._typing import Array, IntArray
from ..checking import is_missing, quote, require_integer

TYPES = ("numeric", "nominal", "ordinal")


# Beyond these, differences of numbers and their inverses are no numbers any more.
SMALLEST, LARGEST = 1e-300, 1e300


class Coding(Protocol):
    """How one known feature is coded."""

    @property
    def kind(self) -> str: ...
    @property
    def tie(self) -> str: ...
    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return what is added to the feature's name for each coded column."""

    @property
    def levels(self) -> tuple[Any, ...]:
        """Return the levels; none for numbers."""

    def encode(self, column: Any) -> Array:
        """Return the coded columns; a row of NaN where the cell is missing."""

    def vertices(self) -> Array | None:
        """Return what a missing cell is a mixture of, in coded columns; None if any number will do."""

    def decode(self, coded: Array) -> tuple[Any, float]:
        """Return the value nearest to a coded row, and how sure it is (1: it is that value)."""


class FeatureType(Protocol):
    """A declared or inferred type of a known feature."""

    def learn(self, column: Any, name: str) -> Coding:
        """Look at a column and return its coding."""


# ---- numbers


@dataclass(frozen=True)
class NumericCoding:
    """A number is a number, or its natural logarithm; no cell is outside its bounds."""

    name: str
    lower: float = -np.inf
    upper: float = np.inf
    log: bool = False
    kind: str = "numeric"
    tie: str = "free"
    levels: tuple[Any, ...] = ()

    @property
    def suffixes(self) -> tuple[str, ...]:
        return ("[log]",) if self.log else ("",)

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the bounds in coded units."""
        if not self.log:
            return self.lower, self.upper
        return float(np.log(self.lower)) if self.lower > 0 else -np.inf, float(np.log(self.upper))

    def encode(self, column: Any) -> Array:
        values = to_numbers(column, self.name)
        self._require_within(values)
        return (np.log(values) if self.log else values)[:, None]

    def _require_within(self, values: Array) -> None:
        """Raise on a value that the declared type rules out; a missing cell is NaN and passes."""
        if self.log and (wrong := values[values <= 0]).size:
            raise ValueError(
                f"known: column {self.name!r} holds {wrong[0]:g}, which has no logarithm, but is declared "
                "Numeric(log=True); correct the value, add a constant to the column, or leave log out."
            )
        if (wrong := values[(values < self.lower) | (values > self.upper)]).size:
            raise ValueError(
                f"known: column {self.name!r} holds {wrong[0]:g}, which is outside the bounds that Numeric declares "
                f"({self.lower:g} to {self.upper:g}); correct the value, or widen the bounds."
            )

    def vertices(self) -> Array | None:
        return None

    def restore(self, coded: Array) -> Array:
        """Return coded numbers in the feature's own units."""
        if not self.log:
            return coded
        with np.errstate(over="ignore"):  # the end of a wide interval
            return np.asarray(np.exp(coded))

    def decode(self, coded: Array) -> tuple[Any, float]:
        return float(self.restore(coded[0])), np.nan  # the fit says how sure a number is, not the number


@dataclass(frozen=True)
class Numeric:
    """A measured feature, which enters linearly or by its logarithm.

    Parameters
    ----------
    lower, upper : float, optional
        The smallest and the largest value that is possible: a missing cell is estimated within them, and a value
        outside is an error.
    log : bool, default=False
        Whether the natural logarithm of the feature enters: equal ratios then count alike, not equal differences.
        All values must be above 0, and so is whatever is estimated for a missing cell. Importance and coefficients
        are then per unit of the logarithm: of a value and one that is 2.72 times as large.

    Examples
    --------
    >>> from unmask import Numeric
    >>> Numeric(lower=0, log=True)
    Numeric(lower=0, upper=None, log=True)
    """

    lower: float | None = None
    upper: float | None = None
    log: bool = False

    def learn(self, column: Any, name: str) -> NumericCoding:
        if not isinstance(self.log, bool | np.bool_):
            raise ValueError(f"known_types: log={self.log!r} of the Numeric of {name!r} must be True or False.")
        lower = -np.inf if self.lower is None else self._bound("lower", self.lower, name)
        upper = np.inf if self.upper is None else self._bound("upper", self.upper, name)
        if lower >= upper or (self.log and upper <= 0):
            least = max(lower, 0.0) if self.log else lower
            raise ValueError(f"known_types: upper={upper:g} of the Numeric of {name!r} must be above {least:g}.")
        return NumericCoding(name, lower, upper, bool(self.log))

    def _bound(self, which: str, bound: Any, name: str) -> float:
        if isinstance(bound, bool) or not isinstance(bound, Real) or np.isnan(float(bound)):
            raise ValueError(f"known_types: {which}={bound!r} of the Numeric of {name!r} must be a number, or None.")
        return float(bound)


@dataclass(frozen=True)
class CyclicCoding:
    """A point on a circle whose circumference is the period, so that near values are as far apart as they differ."""

    name: str
    period: float
    kind: str = "cyclic"
    tie: str = "common"
    suffixes: tuple[str, ...] = ("[cos]", "[sin]")
    levels: tuple[Any, ...] = ()

    @property
    def _radius(self) -> float:
        return self.period / (2 * np.pi)

    def encode(self, column: Any) -> Array:
        angle = to_numbers(column, self.name) / self._radius
        return self._radius * np.column_stack([np.cos(angle), np.sin(angle)])

    def vertices(self) -> Array | None:
        angle = np.arange(12) * (2 * np.pi / 12)  # mixtures of these fill the disc but for its rim
        return np.asarray(self._radius * np.column_stack([np.cos(angle), np.sin(angle)]))

    def decode(self, coded: Array) -> tuple[Any, float]:
        angle = float(np.arctan2(coded[1], coded[0])) % (2 * np.pi)
        return angle * self._radius, float(np.hypot(*coded)) / self._radius


@dataclass(frozen=True)
class Cyclic:
    """A feature that comes round: hours of the day (``Cyclic(24)``), directions (``Cyclic(360)``).

    It becomes a sine and a cosine with one common coefficient.

    Parameters
    ----------
    period : float
        The value at which the feature is back where it was at 0.
    """

    period: float

    def learn(self, column: Any, name: str) -> CyclicCoding:
        if isinstance(self.period, bool) or not isinstance(self.period, Real) or not 0 < self.period < np.inf:
            raise ValueError(f"known_types: Cyclic({self.period!r}) of {name!r} needs a period above 0.")
        return CyclicCoding(name, float(self.period))


@dataclass(frozen=True)
class SplineCoding:
    """A cubic spline basis over the range of the fitted values, linear beyond it."""

    name: str
    basis: Any
    kind: str = "spline"
    tie: str = "function"
    levels: tuple[Any, ...] = ()

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(f"[s{c + 1}]" for c in range(self.basis.n_features_out_))

    def encode(self, column: Any) -> Array:
        values = to_numbers(column, self.name)
        if np.isnan(values).any():
            raise ValueError(
                f"known has missing cells in column {self.name!r}, which is declared a spline; a missing cell can be "
                "estimated for numeric, nominal, ordinal and cyclic features. Fill it, or declare another type."
            )
        return np.asarray(self.basis.transform(values[:, None]))

    def vertices(self) -> Array | None:
        return None

    def decode(self, coded: Array) -> tuple[Any, float]:  # pragma: no cover - no cell of a spline is estimated
        raise NotImplementedError


@dataclass(frozen=True)
class Spline:
    """A numeric feature with a smooth effect that need not be linear.

    The feature's place in the fitted distances is a cubic spline of its value.

    Parameters
    ----------
    df : int, default=4
        Degrees of freedom: number of columns of the basis. 1 is linear, 2 a parabola, and so on.
    """

    df: int = 4

    def learn(self, column: Any, name: str) -> SplineCoding:
        from sklearn.preprocessing import SplineTransformer

        df = require_integer(f"known_types: df of the Spline of {name!r}", self.df, 1)
        values = to_numbers(column, name)
        distinct = len(np.unique(values[~np.isnan(values)]))
        if distinct <= df:
            raise ValueError(
                f"known_types: Spline({df}) of {name!r} needs more than {df} distinct values but there are {distinct}; "
                "lower df, or declare the feature numeric or ordinal."
            )
        degree = min(3, df)
        basis = SplineTransformer(df - degree + 2, degree=degree, include_bias=False, extrapolation="linear")
        return SplineCoding(name, basis.fit(values[~np.isnan(values), None]))


# ---- levels


@dataclass(frozen=True)
class NominalCoding:
    """Levels at the corners of a regular simplex with edges of length 1: L - 1 columns for L levels."""

    name: str
    levels: tuple[Any, ...]
    kind: str = "nominal"
    tie: str = "free"

    @property
    def suffixes(self) -> tuple[str, ...]:
        if len(self.levels) == 2:
            return (f"[{self.levels[1]}]",)
        return tuple(f"[{c + 1}]" for c in range(max(1, len(self.levels) - 1)))

    def encode(self, column: Any) -> Array:
        return _of_levels(_positions(column, self.levels, self.name), self.vertices())

    def vertices(self) -> Array:
        number = len(self.levels)
        corners = np.zeros((number, max(1, number - 1)))
        for c in range(number - 1):  # Helmert's contrasts, each column of the same length
            corners[: c + 1, c] = -1.0
            corners[c + 1, c] = c + 1.0
            corners[:, c] /= np.sqrt(2.0 * (c + 1) * (c + 2))
        return corners

    def decode(self, coded: Array) -> tuple[Any, float]:
        return _nearest_level(coded, self.vertices(), self.levels)


@dataclass(frozen=True)
class Nominal:
    """A feature of unordered levels.

    Parameters
    ----------
    levels : sequence, optional
        The levels; by default those that occur.
    """

    levels: tuple[Any, ...] | None = None

    def learn(self, column: Any, name: str) -> NominalCoding:
        levels = occurring_levels(column) if self.levels is None else _check_levels(self.levels, column, name)
        return NominalCoding(name, levels)


@dataclass(frozen=True)
class OrdinalCoding:
    """Levels in an order: a column for each step from one to the next."""

    name: str
    levels: tuple[Any, ...]
    kind: str = "ordinal"
    tie: str = "monotone"

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(f"[>={level}]" for level in self.levels[1:]) or ("",)

    def encode(self, column: Any) -> Array:
        return _of_levels(_positions(column, self.levels, self.name), self.vertices())

    def vertices(self) -> Array:
        number = len(self.levels)
        steps = np.zeros((number, max(1, number - 1)))
        steps[:, : number - 1] = np.tri(number, number - 1, -1)
        return steps

    def decode(self, coded: Array) -> tuple[Any, float]:
        return _nearest_level(coded, self.vertices(), self.levels)


@dataclass(frozen=True)
class Ordinal:
    """A feature of ordered levels, whose distances are estimated.

    Parameters
    ----------
    levels : sequence, optional
        The levels from lowest to highest; by default those of an ordered categorical, or numbers in their order.
    """

    levels: tuple[Any, ...] | None = None

    def learn(self, column: Any, name: str) -> OrdinalCoding:
        if self.levels is not None:
            return OrdinalCoding(name, _check_levels(self.levels, column, name))
        levels = occurring_levels(column)
        if not _is_ordered(column) and any(isinstance(level, str) for level in levels):
            raise ValueError(
                f"known_types: {name!r} is declared ordinal but holds text ({quote(levels)}) without an order; "
                f"declare Ordinal([{levels[0]!r}, …]) from lowest to highest, or pass an ordered categorical."
            )
        return OrdinalCoding(name, levels)


@dataclass(frozen=True)
class Inferred:
    """What a column looks like: ordered categories, other categories and text, or numbers."""

    def learn(self, column: Any, name: str) -> Coding:
        if _is_ordered(column):
            return Ordinal().learn(column, name)
        if looks_nominal(column):
            _require_no_numbers_as_text(column, name)
            return Nominal().learn(column, name)
        return Numeric().learn(column, name)


DECLARED: dict[str, FeatureType] = {"numeric": Numeric(), "nominal": Nominal(), "ordinal": Ordinal()}


@dataclass(frozen=True)
class Feature:
    """A known feature: its coding, the places of its coded columns, and whether its type was declared."""

    name: str
    coding: Coding
    columns: tuple[int, ...]
    declared: bool
    missing: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # rows
    counts: tuple[int, ...] = ()  # of the objects of each level


def feature_type(declared: Any, name: str) -> FeatureType:
    """Return the type a user declared."""
    if isinstance(declared, str) and declared in DECLARED:
        return DECLARED[declared]
    if isinstance(declared, Numeric | Nominal | Ordinal | Cyclic | Spline):
        return declared
    ways = {"cyclic": "Cyclic(period)", "spline": "Spline(df)", "log": "Numeric(log=True)"}
    if isinstance(declared, str) and declared in ways:
        raise ValueError(f"known_types: {name!r} is declared {declared!r}; declare it {ways[declared]}.")
    raise ValueError(
        f"known_types: {name!r} is declared {declared!r}, which is none of {', '.join(map(repr, TYPES))}, "
        "Numeric(lower, upper, log), Nominal([…]), Ordinal([…]), Cyclic(period), Spline(df)."
    )


# ---- reading cells


def to_numbers(column: Any, name: str) -> Array:
    """Return a column as floats, NaN where a cell is missing."""
    cells = _cells(column)
    if cells.dtype.kind not in "fiub":
        _require_numbers(cells, name)
        cells = np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    values = cells.astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"known has an infinite value in column {name!r}, row {int(np.argmax(np.isinf(values)))}; every value must "
            "be finite, and a missing one NaN."
        )
    _require_moderate(values, name)
    return values


def _require_moderate(values: Array, name: str) -> None:
    """Raise where differences of a column would be infinite or nothing, and the column seem constant."""
    size = np.where(np.isnan(values), 0.0, np.abs(values))
    at = int(np.argmax(size)) if len(size) else 0
    if len(size) and size[at] > 0 and not SMALLEST <= size[at] <= LARGEST:
        raise ValueError(
            f"known has {values[at]:g} in column {name!r}, row {at}; the largest value of a column must be between "
            f"{SMALLEST:g} and {LARGEST:g}: multiply or divide the column by one number."
        )


def _require_numbers(cells: Array, name: str) -> None:
    """Raise naming the first cell that is no number and not missing."""
    for cell in cells:
        if isinstance(cell, str | bytes):
            raise ValueError(
                f"known: column {name!r} holds text ({cell!r}) but is declared a feature of numbers; "
                "convert it, or declare it nominal or ordinal in known_types."
            )
        if not (is_missing(cell) or hasattr(cell, "__float__")):
            raise ValueError(
                f"known: column {name!r} holds {cell!r}, which is no number; convert it (dates, say, to days since "
                "the first), or declare it nominal or ordinal in known_types."
            )


def looks_nominal(column: Any) -> bool:
    """Tell categories, booleans and text from numbers."""
    if _is_categorical(column):  # whose categories may be numbers
        return True
    cells = _cells(column)
    if cells.dtype.kind in "fiub":
        return cells.dtype.kind == "b"
    return any(isinstance(cell, str | bytes | bool | np.bool_) for cell in cells)


def _require_no_numbers_as_text(column: Any, name: str) -> None:
    """Raise where every level is text that reads as a number: a file read wrongly more often than a code."""
    levels = [] if _is_categorical(column) else list(occurring_levels(column))
    if levels and all(isinstance(level, str) and _reads_as_number(level) for level in levels):
        raise ValueError(
            f"known: column {name!r} holds text ({levels[0]!r}) that reads as numbers; convert it with astype(float), "
            f"or pass known_types={{{name!r}: 'nominal'}} if it is a code."
        )


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def occurring_levels(column: Any) -> tuple[Any, ...]:
    """Return the levels that occur: in the order of a categorical, else sorted."""
    present = [cell for cell in _cells(column) if not is_missing(cell)]
    found = dict.fromkeys(present)
    if _is_categorical(column):
        return tuple(level for level in column.cat.categories if level in found)
    try:
        return tuple(sorted(found))
    except TypeError:  # levels of several types have no order of their own
        return tuple(sorted(found, key=str))


def _cells(column: Any) -> Array:
    """Return a column's cells as an array, without changing what they are."""
    cells = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if cells.dtype.kind in "Mm" or getattr(getattr(column, "dtype", None), "kind", "O") in "Mm":  # with a time zone
        raise ValueError(
            f"known: column {getattr(column, 'name', None)!r} holds dates or times; convert them to numbers, "
            "such as days since the first."
        )
    return cells.astype(object) if cells.dtype.kind in "US" else cells  # text as Python has it


def _is_categorical(column: Any) -> bool:
    return hasattr(column, "cat") and hasattr(getattr(column, "dtype", None), "categories") and hasattr(column, "iloc")


def _is_ordered(column: Any) -> bool:
    return _is_categorical(column) and bool(column.dtype.ordered)


def _check_levels(levels: Any, column: Any, name: str) -> tuple[Any, ...]:
    levels = tuple(levels)
    others = [level for level in occurring_levels(column) if level not in levels]
    if others or len(set(levels)) < len(levels):
        raise ValueError(
            f"known_types: the levels declared for {name!r} ({quote(levels)}) must be distinct and hold all that "
            f"occur; {f'missing: {quote(others)}' if others else 'some are repeated'}."
        )
    present = set(occurring_levels(column))
    return tuple(level for level in levels if level in present)


def _positions(column: Any, levels: tuple[Any, ...], name: str) -> IntArray:
    """Return each cell's level as a number, -1 where it is missing."""
    place = {level: position for position, level in enumerate(levels)}
    cells = _cells(column)
    unseen = [cell for cell in cells if not is_missing(cell) and cell not in place]
    if unseen:
        raise ValueError(
            f"known: {quote(dict.fromkeys(unseen))} in column {name!r} did not occur in the fit; its levels are "
            f"{quote(levels)}. A level without data has no place."
        )
    return np.array([-1 if is_missing(cell) else place[cell] for cell in cells], dtype=np.int64)


def _of_levels(positions: IntArray, vertices: Array) -> Array:
    coded = vertices[positions]
    coded[positions < 0] = np.nan
    return np.asarray(coded)


def _nearest_level(coded: Array, vertices: Array, levels: tuple[Any, ...]) -> tuple[Any, float]:
    """Return the level with the largest share in a mixture of levels, and that share."""
    system = np.vstack([vertices.T, np.ones(len(vertices))])
    shares = np.linalg.lstsq(system, np.append(coded, 1.0), rcond=None)[0]
    return levels[int(np.argmax(shares))], float(shares.max())
