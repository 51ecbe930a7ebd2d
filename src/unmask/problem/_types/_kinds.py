"""The types of known features: levels without and with an order, numbers, numbers that come round, smooth curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from ..._typing import Array
from ...checking import is_missing, quote, require_integer
from .._blocks import CommonBlock, FunctionBlock, MonotoneBlock
from ._base import FeatureType, cells_of, is_ordered, looks_nominal, occurring_levels, to_numbers


class LevelType(FeatureType):
    """A type whose values are levels, each with a row of coded columns: its vertex."""

    has_levels = True

    def learn(self, column: Any, name: str) -> FeatureType:
        """Return the type with the levels that occur, in the declared order."""
        occurring = occurring_levels(column)
        if self.levels is None:
            return replace(self, levels=occurring)  # type: ignore[type-var]
        levels = tuple(self.levels)
        others = [level for level in occurring if level not in levels]
        if others or len(set(levels)) < len(levels):
            raise ValueError(
                f"known_types: the levels declared for {name!r} ({quote(levels)}) must be distinct and hold all that "
                f"occur; {f'missing: {quote(others)}' if others else 'some are repeated'}."
            )
        return replace(self, levels=tuple(level for level in levels if level in occurring))  # type: ignore[type-var]

    def encode(self, column: Any, name: str) -> Array:
        place = {level: position for position, level in enumerate(self.levels)}
        cells = cells_of(column)
        unseen = [cell for cell in cells if not is_missing(cell) and cell not in place]
        if unseen:
            raise ValueError(
                f"known: {quote(dict.fromkeys(unseen))} in column {name!r} did not occur in the fit; its levels "
                f"are {quote(self.levels)}. A level without data has no place."
            )
        vertices = self.vertices()
        assert vertices is not None
        rows = np.vstack([vertices, np.full(vertices.shape[1], np.nan)])  # the last is that of a missing cell
        return np.asarray(rows[[-1 if is_missing(cell) else place[cell] for cell in cells]])


@dataclass(frozen=True)
class Nominal(LevelType):
    """A feature of unordered levels, at the corners of a regular simplex: L - 1 columns for L levels.

    Parameters
    ----------
    levels : sequence, optional
        The levels; by default those that occur.
    """

    kind = "nominal"
    signature = "Nominal([…])"
    forms = ("nominal",)

    levels: Any = None  # a tuple once it is learnt

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        return looks_nominal(column, name)

    @property
    def suffixes(self) -> tuple[str, ...]:  # type: ignore[override]
        if len(self.levels) == 2:
            return (f"[{self.levels[1]}]",)
        return tuple(f"[{c + 1}]" for c in range(max(1, len(self.levels) - 1)))

    def vertices(self) -> Array:
        number = len(self.levels)
        corners = np.zeros((number, max(1, number - 1)))
        for c in range(number - 1):  # Helmert's contrasts, each column of the same length; edges of length 1
            corners[: c + 1, c] = -1.0
            corners[c + 1, c] = c + 1.0
            corners[:, c] /= np.sqrt(2.0 * (c + 1) * (c + 2))
        return corners

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        """Return the level with the largest share in a mixture of levels, and that share."""
        vertices = self.vertices()
        system = np.vstack([vertices.T, np.ones(len(vertices))])
        shares = np.linalg.lstsq(system, np.append(coded, 1.0), rcond=None)[0]
        return self.levels[int(np.argmax(shares))], float(shares.max())


@dataclass(frozen=True)
class Ordinal(LevelType):
    """A feature of ordered levels, whose distances are estimated: a column for each step from one to the next.

    Parameters
    ----------
    levels : sequence, optional
        The levels from lowest to highest; by default those of an ordered categorical, or numbers in their order.
    """

    kind = "ordinal"
    signature = "Ordinal([…])"
    forms = ("ordinal", "ordinal:low<mid<high")
    block = MonotoneBlock
    ordered = True

    levels: Any = None  # a tuple once it is learnt

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        return bool(is_ordered(column))

    def learn(self, column: Any, name: str) -> FeatureType:
        learnt = super().learn(column, name)
        if self.levels is None and not is_ordered(column) and any(isinstance(level, str) for level in learnt.levels):
            raise ValueError(
                f"known_types: {name!r} is declared ordinal but holds text ({quote(learnt.levels)}) without an order; "
                f"declare Ordinal([{learnt.levels[0]!r}, …]) from lowest to highest, or pass an ordered categorical."
            )
        return learnt

    @property
    def suffixes(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"[>={level}]" for level in self.levels[1:]) or ("",)

    def vertices(self) -> Array:
        return np.tri(len(self.levels), max(1, len(self.levels) - 1), -1)

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        # The levels are on a line, where many mixtures have one place: only the place was estimated.
        levels = np.linalg.norm(places - places[0], axis=1)
        along = float(np.linalg.norm(here - places[0]))
        nearest = int(np.argmin(np.abs(levels - along)))
        off = along - levels[nearest]
        beyond = np.abs(levels - levels[nearest])[(levels - levels[nearest]) * off > 0]
        return self.levels[nearest], float(1.0 - abs(off) / beyond.min()) if len(beyond) else 1.0


@dataclass(frozen=True)
class Numeric(FeatureType):
    """A measured feature, which enters linearly or by its logarithm.

    Parameters
    ----------
    lower, upper : float, optional
        The smallest and the largest possible value. A missing cell is estimated within them, and a value outside is an
        error.
    log : bool, default=False
        Whether the natural logarithm of the feature enters, so that equal ratios count alike. All values must be above
        0, and so is an estimated one. Importance and coefficients are then per unit of the logarithm: of a value and
        one that is 2.72 times as large.
    error : float, optional
        Standard deviation of the measurement error, in the column's own units; not with ``log=True``, where the
        logarithms can be passed as the feature. :class:`ConditionalMDS` and :class:`ConditionalIsomap` then move the
        values, at a price: a move by one standard deviation costs the mean squared residual of the fit in which they
        are exact; see ``known_corrected_``. Other estimators refuse it, and functions that describe or compare maps
        use the values as measured.

    Examples
    --------
    >>> from unmask import Numeric
    >>> Numeric(lower=0, log=True)
    Numeric(lower=0, upper=None, log=True, error=None)
    """

    kind = "numeric"
    signature = "Numeric(lower, upper, log, error)"
    forms = ("numeric", "numeric:log", "numeric:lower=0:upper=100", "numeric:error=0.5")

    is_number = True

    lower: Any = None  # numbers once they are learnt
    upper: Any = None
    log: bool = False
    error: Any = None

    def learn(self, column: Any, name: str) -> Numeric:
        if not isinstance(self.log, bool | np.bool_):
            raise ValueError(f"known_types: log={self.log!r} of the Numeric of {name!r} must be True or False.")
        numbers = []
        for option, unset in (("lower", -np.inf), ("upper", np.inf), ("error", 0.0)):
            value = getattr(self, option)
            if not (value is None or _is_number(value)) or (option == "error" and value and not 0 <= value < np.inf):
                rule = "a number of at least 0" if option == "error" else "a number"
                raise ValueError(f"known_types: {option}={value!r} of the Numeric of {name!r} must be {rule}, or None.")
            numbers.append(unset if value is None else float(value))
        lower, upper, error = numbers
        if lower >= upper or (self.log and upper <= 0):
            least = max(lower, 0.0) if self.log else lower
            raise ValueError(f"known_types: upper={upper:g} of the Numeric of {name!r} must be above {least:g}.")
        if error and self.log:
            raise ValueError(
                f"known_types: error={error!r} of the Numeric of {name!r} with log=True: an error in the units of the "
                "column does not fit its logarithm; pass the logarithms as the feature, with their error."
            )
        return replace(self, lower=lower, upper=upper, log=bool(self.log), error=error)

    @classmethod
    def recognises(cls, column: Any, name: str) -> bool:
        """Return True: numbers are what remains."""
        return True

    @property
    def suffixes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("[log]",) if self.log else ("",)

    @property
    def bounds(self) -> tuple[float, float]:
        if not self.log:
            return self.lower, self.upper
        return float(np.log(self.lower)) if self.lower > 0 else -np.inf, float(np.log(self.upper))

    def encode(self, column: Any, name: str) -> Array:
        values = to_numbers(column, name)  # NaN where a cell is missing, which passes
        if self.log and (wrong := values[values <= 0]).size:
            raise ValueError(
                f"known: column {name!r} holds {wrong[0]:g}, which has no logarithm, but is declared "
                "Numeric(log=True); correct the value, add a constant to the column, or leave log out."
            )
        if (wrong := values[(values < self.lower) | (values > self.upper)]).size:
            raise ValueError(
                f"known: column {name!r} holds {wrong[0]:g}, which is outside the bounds that Numeric declares "
                f"({self.lower:g} to {self.upper:g}); correct the value, or widen the bounds."
            )
        return (np.log(values) if self.log else values)[:, None]

    def restore(self, coded: Array) -> Array:
        if not self.log:
            return coded
        with np.errstate(over="ignore"):  # the end of a wide interval
            return np.asarray(np.exp(coded))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not np.isnan(float(value))


@dataclass(frozen=True)
class Cyclic(FeatureType):
    """A feature that comes round: hours of the day (``Cyclic(24)``), directions (``Cyclic(360)``).

    It becomes a sine and a cosine with one common coefficient.

    Parameters
    ----------
    period : float
        The value at which the feature is back where it was at 0.
    """

    kind = "cyclic"
    signature = "Cyclic(period)"
    forms = ("cyclic:24",)
    block = CommonBlock
    suffixes = ("[cos]", "[sin]")

    period: float

    def learn(self, column: Any, name: str) -> Cyclic:
        if not _is_number(self.period) or not 0 < self.period < np.inf:
            raise ValueError(f"known_types: Cyclic({self.period!r}) of {name!r} needs a period above 0.")
        return replace(self, period=float(self.period))

    def encode(self, column: Any, name: str) -> Array:
        radius = self.period / (2 * np.pi)
        angle = to_numbers(column, name) / radius
        return radius * np.column_stack([np.cos(angle), np.sin(angle)])

    def vertices(self) -> Array:
        return self.encode(np.arange(12) * (self.period / 12), "")  # mixtures of these fill the disc but for its rim

    def decode(self, coded: Array, here: Array, places: Array) -> tuple[Any, float]:
        radius = self.period / (2 * np.pi)
        angle = float(np.arctan2(coded[1], coded[0])) % (2 * np.pi)
        return angle * radius, float(np.hypot(*coded)) / radius


@dataclass(frozen=True)
class Spline(FeatureType):
    """A numeric feature with a smooth effect that need not be linear.

    The feature's place in the fitted distances is a cubic spline of its value.

    Parameters
    ----------
    df : int, default=4
        Degrees of freedom: number of columns of the basis. 1 is linear, 2 a parabola, and so on.
    """

    kind = "spline"
    signature = "Spline(df)"
    forms = ("spline", "spline:3")
    block = FunctionBlock

    df: int = 4

    @property
    def suffixes(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"[s{c + 1}]" for c in range(self.df))

    def learn(self, column: Any, name: str) -> FittedSpline:
        from sklearn.preprocessing import SplineTransformer

        df = require_integer(f"known_types: df of the Spline of {name!r}", self.df, 1)
        values = to_numbers(column, name)
        values = values[~np.isnan(values)]
        distinct = len(np.unique(values))
        if distinct <= df:
            raise ValueError(
                f"known_types: Spline({df}) of {name!r} needs more than {df} distinct values but there are {distinct}; "
                "lower df, or declare the feature numeric or ordinal."
            )
        degree = min(3, df)
        basis = SplineTransformer(df - degree + 2, degree=degree, include_bias=False, extrapolation="linear")
        return FittedSpline(df, basis.fit(values[:, None]))


@dataclass(frozen=True)
class FittedSpline(Spline):
    """A smooth effect over the range of the values it was fitted to, and linear beyond."""

    basis: Any = None

    def encode(self, column: Any, name: str) -> Array:
        values = to_numbers(column, name)
        if np.isnan(values).any():
            raise ValueError(
                f"known has missing cells in column {name!r}, which is declared a spline; a missing cell can be "
                "estimated for numeric, nominal, ordinal and cyclic features. Fill it, or declare another type."
            )
        return np.asarray(self.basis.transform(values[:, None]))
